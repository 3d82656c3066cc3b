"""What is at hand: pages of a context window, what replaces them, and what may be collected."""
