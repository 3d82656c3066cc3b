"""Make `format-1.db`: a store of format 1 with something of everything, and `format-1.txt`, which says what it holds.

Run it only while format 1 has not been released; afterwards the file is what old stores look like, and stays.
"""

import tempfile
from contextlib import closing
from pathlib import Path

from mnemic.store.schema import FORMAT
from mnemic.store.sqlite import SqliteStore
from mnemic.testing.generators import ManualClock, SeededEntropy
from mnemic.testing.store_contract.carrying import busy
from mnemic.testing.store_contract.world import TENANT, World

HERE = Path(__file__).parent


def main() -> None:
    assert FORMAT <= 1, "today's code makes files of another format; this one is as it was made, and stays"
    path = HERE / "format-1.db"
    path.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        clock, entropy = ManualClock(step=1_000_000), SeededEntropy("golden")
        with closing(SqliteStore(Path(folder) / "making.db", clock=clock, entropy=entropy)) as store:
            path.with_suffix(".txt").write_text(fill(store))
            store.backup(path)


def fill(store: SqliteStore) -> str:
    """Write something of everything; returns what the store then holds, a line each."""
    world = World(store)
    busy(world)
    world.commit("stands", "待つ", "um café")
    store.compact(TENANT, 3)
    with store.read() as snapshot:
        head = snapshot.head(1).hash.hex()
    return f"state {store.state_hash(TENANT)}\nhead {head}\ntexts {'|'.join(world.texts())}\n"


if __name__ == "__main__":
    main()
