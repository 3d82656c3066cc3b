"""Memory tiers: pages of a context window, the policies that replace them, and the collectors of garbage."""
