"""Seeing what goes on: the feed, meters, the profiler log, traces."""
