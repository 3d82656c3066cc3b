"""Random histories: long runs of verbs on both real stores and the plain model, side by side, from a seed."""
