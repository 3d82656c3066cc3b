"""Our vector index beside others."""
