"""Make `format-2.db`: a store of format 2 with something of everything, and `format-2.txt`, which says what it holds.

Run it only while format 2 has not been released; afterwards the file is what old stores look like, and stays.
"""

import tempfile
from contextlib import closing
from pathlib import Path

from mnemic.core.items import Kind
from mnemic.store.base import EmbedderState, VectorRow, Vectors, embedding_lane
from mnemic.store.schema import FORMAT
from mnemic.store.sqlite import SqliteStore
from mnemic.testing.generators import ManualClock, SeededEntropy
from mnemic.testing.store_contract.carrying import busy
from mnemic.testing.store_contract.world import TENANT, World

HERE = Path(__file__).parent
DIMS = 4


def main() -> None:
    assert FORMAT <= 2, "today's code makes files of another format; this one is as it was made, and stays"
    path = HERE / "format-2.db"
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
    world.commit(
        world.put(world.item("always answer in verse", kind=Kind.PROCEDURE, slots={"standing": True})),
        world.put(world.item("lives in Lisbon", kind=Kind.PROFILE)),
        world.put(world.item("the door code is 7", pinned=True)),
    )
    store.compact(TENANT, 3)
    model, space = store.enlist("golden-1", DIMS, EmbedderState.SERVING), world.space()
    embed(store, space, model)
    with store.read() as snapshot:
        head = snapshot.head(1).hash.hex()
        core = "|".join(version.item.text for version in snapshot.core((space,)))
        vectors = b"".join(row.f16 for row in snapshot.vectors(space, model)).hex()
        cursor = snapshot.lane(space, embedding_lane(model)).cursor
    return (
        f"state {store.state_hash(TENANT)}\nhead {head}\ntexts {'|'.join(world.texts())}\n"
        f"embedder golden-1 {DIMS} SERVING\nvectors {vectors}\ncursor {cursor}\ncore {core}\n"
    )


def embed(store: SqliteStore, space: int, model: int) -> None:
    """Give all but the last entry a vector that says whose it is."""
    with store.read() as snapshot:
        entries = list(snapshot.entries(space))[:-1]
    rows = tuple(VectorRow(e.ver, e.part, bytes([e.ver, e.part]) * DIMS) for e in entries)
    lane = embedding_lane(model)
    store.claim(space, lane, "maker", 60)
    store.keep(Vectors(space=space, model=model, rows=rows, lane=lane, owner="maker", after=0, upto=entries[-1].ver))
    store.release(space, lane, "maker")


if __name__ == "__main__":
    main()
