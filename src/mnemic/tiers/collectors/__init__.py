"""Collectors, one to a file: each chooses items that may go, with reasons."""
