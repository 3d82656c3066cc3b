"""A user's memory as a folder of Markdown that a person edits: written, compared with what stands, and brought back."""
