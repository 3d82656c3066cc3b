"""Make `format-2.db`: a store of format 2 with something of everything, and `format-2.txt`, which says what it holds.

Run it only while format 2 has not been released; afterwards the file is what old stores look like, and stays.
"""

from golden_store import DIMS, at_hand, embed, lived, make

from mnemic.store.engine import compaction, lane_cursors
from mnemic.store.sqlite.sqlite_store import SqliteStore
from mnemic.store.values.work import EmbedderState, embedding_lane
from mnemic.testing.deeds import state_hash
from mnemic.testing.store_contract.contract_world import TENANT


def fill(store: SqliteStore) -> str:
    """Write something of everything; returns what the store then holds, a line each."""
    world = lived(store)
    at_hand(world)
    compaction.compact(store, TENANT, 3)
    model, space = store.transact(lane_cursors.enlist, "golden-1", DIMS, EmbedderState.SERVING), world.space()
    embed(store, space, model)
    with store.read() as snapshot:
        head = snapshot.head(1).hash.hex()
        core = "|".join(version.item.text for version in snapshot.core((space,)))
        vectors = b"".join(row.f16 for row in snapshot.vectors(space, model)).hex()
        cursor = snapshot.lane(space, embedding_lane(model)).cursor
    return (
        f"state {state_hash(store, TENANT)}\nhead {head}\ntexts {'|'.join(world.texts())}\n"
        f"embedder golden-1 {DIMS} SERVING\nvectors {vectors}\ncursor {cursor}\ncore {core}\n"
    )


if __name__ == "__main__":
    make(2, fill)
