"""The tasks that strategies have judged: each a schema, what a model is shown, what is sound, and rules."""
