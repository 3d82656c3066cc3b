"""Make `format-3.db`: a store of format 3 with something of everything, and `format-3.txt`, which says what it holds.

Run it only while format 3 has not been released; afterwards the file is what old stores look like, and stays.
"""

from golden_store import DIMS, at_hand, embed, lived, make

from mnemic.core.items import Kind
from mnemic.store.engine import compaction, holds, job_queue, lane_cursors
from mnemic.store.sqlite.sqlite_store import SqliteStore
from mnemic.store.values.drafts import Draft, Fork, Paging
from mnemic.store.values.heads import Hold
from mnemic.store.values.row_values import PageRow
from mnemic.store.values.work import EmbedderState, Order, RecordedAnswer, embedding_lane
from mnemic.testing.deeds import state_hash
from mnemic.testing.store_contract.contract_world import TENANT, World


def fill(store: SqliteStore) -> str:
    """Write something of everything; returns what the store then holds, a line each."""
    world = lived(store)
    at_hand(world)
    compaction.compact(store, TENANT, 3)
    page(world)
    branch(world)
    model, space = store.transact(lane_cursors.enlist, "golden-1", DIMS, EmbedderState.SERVING), world.space()
    embed(store, space, model)
    store.transact(job_queue.order, Order(name="gc", key="golden", space=space, priority=3))
    with store.read() as snapshot:
        given = tuple(version.item.id for version in snapshot.core((space,)))
    store.transact(
        job_queue.record, RecordedAnswer(space=space, lane="noting", request=b"who?", answer=b"ada", inputs=given)
    )
    store.transact(holds.place, Hold(tenant=TENANT, user="ada", session="chat", reason="a letter from the court"))
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


def told(store: SqliteStore, world: World, space: int, model: int) -> str:
    """What the store says of itself."""
    with store.read() as snapshot:
        chat = snapshot.session(space, "chat")
        assert chat is not None
        try_out = snapshot.space(1, "ada", "try")
        assert try_out is not None
        lines = {
            "state": state_hash(store, TENANT),
            "head": snapshot.head(1).hash.hex(),
            "texts": "|".join(world.texts()),
            "embedder": f"golden-1 {DIMS} SERVING",
            "vectors": b"".join(row.f16 for row in snapshot.vectors(space, model)).hex(),
            "cursor": snapshot.lane(space, embedding_lane(model)).cursor,
            "core": "|".join(version.item.text for version in snapshot.core((space,))),
            "pages": "|".join(str(tuple(row)) for row in snapshot.pages(space, chat.session)),
            "branch": "|".join(v.item.text for _, v in snapshot.scan((try_out.id,))),
            "jobs": "|".join(f"{job.order.name} {job.order.key} {job.order.priority}" for job in snapshot.jobs()),
            "answer": snapshot.recorded(space, "noting", b"who?"),
            "holds": "|".join(f"{hold.user} {hold.session} {hold.reason}" for hold in snapshot.holds(1)),
        }
    return "".join(f"{name} {value}\n" for name, value in lines.items())


if __name__ == "__main__":
    make(3, fill)
