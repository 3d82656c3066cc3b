"""Short words for what a test asks of a store or does to it."""

from __future__ import annotations

from mnemic.store.contract import Store
from mnemic.store.engine import lane_cursors


def dismiss(store: Store, model: int) -> None:
    """Take an embedder out, slice by slice."""
    while store.transact(lane_cursors.dismiss, model):
        pass


def state_hash(store: Store, tenant: str) -> str:
    """The hash of a tenant's state as it stands."""
    with store.read() as snapshot:
        return snapshot.state_hash(tenant)
