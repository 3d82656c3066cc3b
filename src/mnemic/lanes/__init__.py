"""Lanes, cursors over a space's versions: slices of a lane, retries of a failed one, the backlog past each cursor."""
