"""The verbs, as flows: a kernel has them all."""
