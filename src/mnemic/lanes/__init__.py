"""Cursors over a space's versions: one slice of a lane at a time, how a failed one is repeated, what lies before it."""
