"""What to make of evidence: each file one way, a pure function from items to what should be written."""
