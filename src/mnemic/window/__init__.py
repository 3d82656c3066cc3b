"""A session's window: what it holds, what is kept of it, how it is laid out."""
