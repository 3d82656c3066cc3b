"""Memories that others have published: what runs in a process and an environment of each one's own.

Nothing here imports more of mnemic than `peer_wire`, or of anything else than the peer's own package: its environment
has nothing more.
"""
