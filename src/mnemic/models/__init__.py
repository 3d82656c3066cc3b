"""The telephone: embedders, each a port with one contract; `none` and `scripted` are first class."""
