"""Collectors, one file each: what may go, and why."""
