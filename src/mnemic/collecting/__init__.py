"""Garbage collection: survey a space, run collectors in slices, move the horizon, drop what lies behind it."""
