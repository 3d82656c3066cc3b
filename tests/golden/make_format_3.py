"""Make `format-3.db`: a store of format 3 with something of everything, and `format-3.txt`, which says what it holds.

Run it only while format 3 has not been released; afterwards the file is what old stores look like, and stays.
"""

import tempfile
from contextlib import closing
from pathlib import Path

from mnemic.core.items import Kind
from mnemic.store.base import Draft, EmbedderState, Fork, Hold, Order, VectorRow, Vectors, embedding_lane
from mnemic.store.pages import PageRow, Paging
from mnemic.store.schema import FORMAT
from mnemic.store.sqlite import SqliteStore
from mnemic.testing.generators import ManualClock, SeededEntropy
from mnemic.testing.store_contract.carrying import busy
from mnemic.testing.store_contract.world import TENANT, World

HERE = Path(__file__).parent
DIMS = 4


def main() -> None:
    assert FORMAT <= 3, "today's code makes files of another format; this one is as it was made, and stays"
    path = HERE / "format-3.db"
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
    page(world)
    branch(world)
    model, space = store.enlist("golden-1", DIMS, EmbedderState.SERVING), world.space()
    embed(store, space, model)
    store.order(Order(name="gc", key="golden", space=space, priority=3))
    store.hold(Hold(tenant=TENANT, user="ada", session="chat", reason="a letter from the court"))
    return told(store, world, space, model)


def page(world: World) -> None:
    """A turn with the window of its session."""
    turn = world.item("shall we page?", kind=Kind.TURN, session="chat")
    world.commit(world.put(turn))
    row = PageRow(turn.id, True, 7, 1, 2, 3, 1, True, 0, -1, 0.25, 0.5, 4)
    paging = Paging("chat", "maker", 0.0, 4000, "lru", 9, 1, 5, (row,))
    op = world.put(world.item("let us", kind=Kind.TURN, session="chat"))
    world.store.commit(Draft(tenant=TENANT, user="ada", actor="tester", ops=(op,), paging=paging))


def branch(world: World) -> None:
    """A branch with something of its own."""
    op = world.put("stands on the branch")
    world.store.commit(Draft(tenant=TENANT, user="ada", actor="tester", ops=(op,), branch="try", fork=Fork()))


def embed(store: SqliteStore, space: int, model: int) -> None:
    """Give all but the last entry a vector that says whose it is."""
    with store.read() as snapshot:
        entries = list(snapshot.entries(space))[:-1]
    rows = tuple(VectorRow(e.ver, e.part, bytes([e.ver, e.part]) * DIMS) for e in entries)
    lane = embedding_lane(model)
    store.claim(space, lane, "maker", 60)
    store.keep(Vectors(space=space, model=model, rows=rows, lane=lane, owner="maker", after=0, upto=entries[-1].ver))
    store.release(space, lane, "maker")


def told(store: SqliteStore, world: World, space: int, model: int) -> str:
    """What the store says of itself."""
    with store.read() as snapshot:
        chat = snapshot.session(space, "chat")
        assert chat is not None
        try_out = snapshot.space(1, "ada", "try")
        assert try_out is not None
        lines = {
            "state": store.state_hash(TENANT),
            "head": snapshot.head(1).hash.hex(),
            "texts": "|".join(world.texts()),
            "embedder": f"golden-1 {DIMS} SERVING",
            "vectors": b"".join(row.f16 for row in snapshot.vectors(space, model)).hex(),
            "cursor": snapshot.lane(space, embedding_lane(model)).cursor,
            "core": "|".join(version.item.text for version in snapshot.core((space,))),
            "pages": "|".join(str(tuple(row)) for row in snapshot.pages(space, chat.session)),
            "branch": "|".join(v.item.text for _, v in snapshot.scan((try_out.id,))),
            "jobs": "|".join(f"{job.order.name} {job.order.key} {job.order.priority}" for job in snapshot.jobs()),
            "holds": "|".join(f"{hold.user} {hold.session} {hold.reason}" for hold in snapshot.holds(1)),
        }
    return "".join(f"{name} {value}\n" for name, value in lines.items())


if __name__ == "__main__":
    main()
