"""`chat`: a conversation in the terminal that remembers, and shows what it remembered and why."""
