"""Garbage collection: what may go, in slices, and a run from end to end."""
