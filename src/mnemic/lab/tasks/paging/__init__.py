"""Replacement policies over traces, beside Belady's optimum."""
