"""Hot tiers of a fixed size, over a large text and over multi-hop questions."""
