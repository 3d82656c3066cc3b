"""Evidence retrieval on LoCoMo."""
