"""Branches, merging, undoing, going back."""
