"""What the scripts of this folder share: a store made in a temporary folder, and what every format has held."""

import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from mnemic.core.items import Kind
from mnemic.store.engine import lane_cursors
from mnemic.store.sqlite.schema import FORMAT
from mnemic.store.sqlite.sqlite_store import SqliteStore
from mnemic.store.values.work import VectorRow, Vectors, embedding_lane
from mnemic.testing.generators import ManualClock, SeededEntropy
from mnemic.testing.store_contract.carrying_contract import busy
from mnemic.testing.store_contract.contract_world import World

HERE = Path(__file__).parent
DIMS = 4


def make(number: int, fill: Callable[[SqliteStore], str]) -> None:
    """Write `format-N.db` with what `fill` puts in it, and beside it what `fill` says it holds."""
    assert number >= FORMAT, "today's code makes files of another format; this one is as it was made, and stays"
    path = HERE / f"format-{number}.db"
    path.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        clock, entropy = ManualClock(step=1_000_000), SeededEntropy("golden")
        with closing(SqliteStore(Path(folder) / "making.db", clock=clock, entropy=entropy)) as store:
            path.with_suffix(".txt").write_text(fill(store))
            store.backup(path)


def lived(store: SqliteStore) -> World:
    """A world in which everything has happened to an item, and some items stand."""
    world = World(store)
    busy(world)
    world.commit("stands", "待つ", "um café")
    return world


def at_hand(world: World) -> None:
    """What is always at hand, of each kind."""
    world.commit(
        world.put(world.item("always answer in verse", kind=Kind.PROCEDURE, slots={"standing": True})),
        world.put(world.item("lives in Lisbon", kind=Kind.PROFILE)),
        world.put(world.item("the door code is 7", pinned=True)),
    )


def embed(store: SqliteStore, space: int, model: int) -> None:
    """Give all but the last entry a vector that says whose it is."""
    with store.read() as snapshot:
        entries = list(snapshot.entries(space))[:-1]
    rows = tuple(VectorRow(e.ver, e.part, bytes([e.ver, e.part]) * DIMS) for e in entries)
    lane = embedding_lane(model)
    store.transact(lane_cursors.claim, space, lane, "maker", 60)
    store.transact(
        lane_cursors.keep,
        Vectors(space=space, model=model, rows=rows, lane=lane, owner="maker", after=0, upto=entries[-1].ver),
    )
    store.transact(lane_cursors.release, space, lane, "maker")
