"""Observe a store: the feed of commits, meters, vitals, the profiler log, traces."""
