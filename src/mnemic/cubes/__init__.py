"""A user's memory as one file: the journal as text, and what models computed of it; written, checked, brought in."""
