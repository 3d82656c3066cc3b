"""The card catalogues: rebuilt from the store whenever they are lost, never the truth."""
