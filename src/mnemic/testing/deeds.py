"""Short words for what a test asks of a store or does to it."""

from __future__ import annotations

from mnemic.store import lanes
from mnemic.store.base import Store


def dismiss(store: Store, model: int) -> None:
    """Take an embedder out, slice by slice."""
    while store.transact(lanes.dismiss, model):
        pass


def state_hash(store: Store, tenant: str) -> str:
    """The hash of a tenant's state as it stands."""
    with store.read() as snapshot:
        return snapshot.state_hash(tenant)
