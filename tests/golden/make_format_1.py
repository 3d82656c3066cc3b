"""Make `format-1.db`: a store of format 1 with something of everything, and `format-1.txt`, which says what it holds.

Run it only while format 1 has not been released; afterwards the file is what old stores look like, and stays.
"""

from golden_store import lived, make

from mnemic.store.engine import compaction
from mnemic.store.sqlite.sqlite_store import SqliteStore
from mnemic.testing.deeds import state_hash
from mnemic.testing.store_contract.contract_world import TENANT


def fill(store: SqliteStore) -> str:
    """Write something of everything; returns what the store then holds, a line each."""
    world = lived(store)
    compaction.compact(store, TENANT, 3)
    with store.read() as snapshot:
        head = snapshot.head(1).hash.hex()
    return f"state {state_hash(store, TENANT)}\nhead {head}\ntexts {'|'.join(world.texts())}\n"


if __name__ == "__main__":
    make(1, fill)
