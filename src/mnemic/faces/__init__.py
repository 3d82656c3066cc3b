"""Doors and windows: they parse, call and print, and decide nothing."""
