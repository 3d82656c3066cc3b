"""Embedders and language models, each kind behind one port with one contract; `none` and `scripted` are first class."""
