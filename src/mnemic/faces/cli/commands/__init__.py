"""The commands, those that are read together in one file."""
