"""Memories inside a model, measured in processor time, each figure beside a control of the same run."""
