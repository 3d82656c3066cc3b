"""Memory inside a model: what it has computed and what it has learnt, as states beside its weights (extra `neural`).

Everything that imports torch is here; nothing outside does, and nothing here is imported before it is used. `MODULES`
in the registry lists the mechanisms; `base` is what they have in common, `llama` the decoder that they work in.
"""
