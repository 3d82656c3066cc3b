"""From new evidence to a strategy's edits: when a run is due, what it is given, what it asks, what it writes."""
