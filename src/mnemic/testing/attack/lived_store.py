"""A small closed store in which something of everything has happened, as the bytes of its file."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from mnemic.core.clock import FOREVER
from mnemic.core.events import Verb
from mnemic.core.items import Kind, Link, State, Strength
from mnemic.core.scope import SHARED
from mnemic.credentials.keys import add_credential
from mnemic.index.packing_lane import next_pack
from mnemic.store.engine import compaction, holds, job_queue, lane_cursors
from mnemic.store.engine.pack_rows import keep_pack
from mnemic.store.sqlite.sqlite_store import SqliteStore
from mnemic.store.values.drafts import Draft, Fork, Note, Paging, Tie
from mnemic.store.values.heads import Hold
from mnemic.store.values.meters import MeterRow
from mnemic.store.values.row_values import CredentialKind, CredentialRow, PageRow
from mnemic.store.values.work import EmbedderState, Order, RecordedAnswer, VectorRow, Vectors, embedding_lane
from mnemic.testing.generators import ManualClock, SeededEntropy
from mnemic.testing.store_contract.contract_world import TENANT, World

DIMS: Final = 24
"""Numbers of a vector: enough that vectors fill a good part of the file."""


@cache
def lived_store(seal: bytes = b"") -> bytes:
    """The file of that store, with no log beside it, sealed if a key is given."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "memory.db"
        options = {"clock": ManualClock(step=1_000_000), "entropy": SeededEntropy("lived")}
        with closing(SqliteStore(path, seal=seal, **options)) as store:  # type: ignore[arg-type]
            live(World(store))
            store.checkpoint("before")
            store.checkpoint("after")
            store.settle()
        return path.read_bytes()


def live(world: World) -> None:
    """Do something of everything to an empty store."""
    _write(world)
    _derive(world)
    _page_and_branch(world)
    _take_out(world)
    _work(world)


def _write(world: World) -> None:
    for n in range(4):
        world.commit(f"before the horizon {n}", user="bob")
    world.commit(world.put("an old plan"), actor="planner")
    (old,) = world.versions()
    world.commit(world.put(replace(old.item, text="a new plan"), Verb.REVISED))
    compaction.compact(world.store, TENANT, 3)
    one, two = (world.item(text, kind=Kind.TURN, session="chat", slots={"speaker": "Ada"}) for text in ("tea", "milk"))
    world.commit(world.put(one, key="one"), world.put(two, key="two", lasting=True))
    world.commit(world.put(world.item("always answer in verse", kind=Kind.PROCEDURE, slots={"standing": True})))
    world.commit(world.put(world.item("the door code is 7", pinned=True, tags=("home",))))
    world.commit(Tie(verb=Verb.LINKED, link=Link(src=one.id, dst=two.id, type="about", weight=0.5, evidence=(two.id,))))
    world.tie(two.id, one.id, "before")
    world.tie(two.id, one.id, "before", verb=Verb.UNLINKED)
    payload = b'{"%s":[2,1,0,1700000000000000]}' % one.id.encode()
    world.commit(Note(verb=Verb.USED, payload=payload), used={one.id: Strength(uses=2, useful=1)})
    world.retire(two)
    for n in range(12):
        world.commit(world.put(f"on Monday {n} we met in the park and spoke of the river"))
    for user in ("bob", "cleo"):
        world.commit("a wish of " + user, user=user)
    world.commit("known to all", user=SHARED)
    world.commit("of another house", tenant="other")


def _derive(world: World) -> None:
    turns = [version.item.id for version in world.versions()][:2]
    fact = world.item("likes tea", source=tuple(turns))
    world.commit(world.put(fact))
    world.commit(world.put(replace(fact, text="likes green tea", state=State.ACTIVE), Verb.REVISED))
    store, space = world.store, world.space()
    model = store.transact(lane_cursors.enlist, "lived-1", DIMS, EmbedderState.SERVING)
    with store.read() as snapshot:
        entries = list(snapshot.entries(space))
    rows = tuple(VectorRow(e.ver, e.part, bytes([e.ver % 251, e.part + 1]) * DIMS) for e in entries)
    lane = embedding_lane(model)
    store.transact(lane_cursors.claim, space, lane, "maker", 60)
    upto = entries[-1].ver
    batch = Vectors(space=space, model=model, rows=rows, lane=lane, owner="maker", after=0, upto=upto)
    store.transact(lane_cursors.keep, batch)
    store.transact(lane_cursors.release, space, lane, "maker")
    given = tuple(turns)
    answer = RecordedAnswer(space=space, lane="noting", request=b"who?", answer=b"ada", inputs=given)
    store.transact(job_queue.record, answer)


def _page_and_branch(world: World) -> None:
    turn = world.item("shall we page?", kind=Kind.TURN, session="chat")
    rows = tuple(
        PageRow(item, True, 7, n, 2, 3, 1, n == 1, n, -1, 0.25, 0.5, 4)
        for n, item in enumerate((turn.id, world.versions()[0].item.id))
    )
    paging = Paging("chat", "maker", 0.0, 4000, "lru", 9, 1, 5, rows)
    world.store.commit(Draft(tenant=TENANT, user="ada", actor="tester", ops=(world.put(turn),), paging=paging))
    note = Note(verb=Verb.BRANCHED, payload=b"{}")
    for name in ("try", "other"):
        forked = Draft(tenant=TENANT, user="ada", actor="tester", ops=(note,), branch=name, fork=Fork())
        world.store.commit(forked)
    kept = world.put("stands on the branch")
    world.store.commit(Draft(tenant=TENANT, user="ada", actor="tester", ops=(kept,), branch="try"))


def _take_out(world: World) -> None:
    for text in ("a secret", "another secret"):
        done = world.commit(text)
        world.erase(*done.ids, reason="asked for")
    world.erase(user="cleo", whole=True)


def _work(world: World) -> None:
    store, space = world.store, world.space()
    for name in ("noting", embedding_lane(1)):
        store.transact(lane_cursors.follow, name)
    store.transact(job_queue.order, Order(name="gc", key="lived", space=space, priority=3))
    store.transact(job_queue.order, Order(name="gc", key="again", space=space, payload=b"{}"))
    store.transact(holds.place, Hold(tenant=TENANT, user="ada", session="chat", reason="a letter from the court"))
    store.transact(holds.place, Hold(tenant=TENANT, user="bob", reason="another letter"))
    store.transact(compaction.jot, TENANT, {"collected": b"7", "bytes": b"4096"})
    for id, user in (("0123456789ab", "ada"), ("0123456789ac", None)):
        hashed = bytes(range(32))
        made = CredentialRow(id, CredentialKind.KEY, hashed, "laptop", TENANT, user, 2, 0, "", 1, FOREVER, 2, 3)
        store.transact(add_credential, made, 0)
    store.transact(lambda rows: rows.notes.set_meter(MeterRow("lived-process", rows.now(), b"{}")))
    with store.read() as snapshot:
        pack = next_pack(snapshot, space, 4)
    assert pack is not None
    store.transact(keep_pack, pack)
