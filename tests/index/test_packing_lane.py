from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemic.core.events import Verb
from mnemic.core.items import Item, State
from mnemic.core.queries import Context, View
from mnemic.core.tokens import hash_term
from mnemic.flow import run
from mnemic.index.catalogues import Catalogues
from mnemic.index.columns import Column
from mnemic.index.pack_audit import wrong_packs
from mnemic.index.packing import digest_of
from mnemic.index.packing_lane import FAN, next_pack, pack_slice
from mnemic.index.reading import Reading
from mnemic.lanes.slices import BUSY, Slice
from mnemic.store.engine import compaction, rewinding
from mnemic.store.engine.pack_rows import keep_pack
from mnemic.store.engine.relations import PACK
from mnemic.store.engine.rows import Rows
from mnemic.store.requests import Look, Transact
from mnemic.store.values.drafts import Erasure

LEAST = 4
WORDS = ("apple", "pear", "plum", "quince", "fig")


def space_of(world: Any) -> int:
    with world.store.read() as snapshot:
        return int(world.query(snapshot, "").spaces[0])


def step(world: Any, least: int = LEAST) -> Slice:
    """One slice of the lane."""

    def perform(request: Any) -> Any:
        match request:
            case Look(read):
                with world.store.read() as snapshot:
                    return read(snapshot)
            case Transact(work, args, kwargs):
                return world.store.transact(work, *args, **kwargs)

    return run(pack_slice(space_of(world), least), perform)


def pack_all(world: Any, least: int = LEAST) -> int:
    """Pack until nothing is left to pack; how many slices that took."""
    slices = 0
    while step(world, least).done:
        slices += 1
        assert slices < 200
    return slices


def packs(world: Any) -> list[tuple[int, int]]:
    with world.store.read() as snapshot:
        return [(row.upto - row.after, row.rows) for row in snapshot.packs(space_of(world))]


def fresh(world: Any, *, pack_rows: int, view: View = View()) -> Reading:
    """What a process that has just started reads."""
    world.catalogues = Catalogues(1 << 26, pack_rows)
    (reading,) = world.readings(view=view)
    return reading  # type: ignore[no-any-return]


def shown(reading: Reading) -> dict[str, Any]:
    """All that recall can ask of a reading."""
    places = np.arange(reading.size)
    found = {word: [part.tolist() for part in reading.find(hash_term(word))] for word in ("appl", *WORDS, "none")}
    return {
        **{column.name: reading.values(column, places).tolist() for column in Column},
        "streams": [reading.stream(place).tolist() for place in places.tolist()],
        "window": reading.window.tolist(),
        "joined": [joined.tolist() for joined in reading.joined.values()],
        "totals": reading.totals,
        "rows": reading.rows.tolist(),
        **found,
    }


def answers(context: Context) -> list[tuple[str, float, dict[str, float], tuple[str, ...]]]:
    return [(hit.item.id, hit.score, dict(hit.components), hit.reasons) for hit in context.items]


def same_with_and_without(world: Any, views: tuple[View, ...] = (View(),)) -> None:
    for view in views:
        assert shown(fresh(world, pack_rows=LEAST, view=view)) == shown(fresh(world, pack_rows=0, view=view))
    asked = []
    for pack_rows in (LEAST, 0):
        world.catalogues = Catalogues(1 << 26, pack_rows)
        asked.append([answers(world.recall(question)) for question in ("apple pear", "when was the plum eaten", "fig")])
    assert asked[0] == asked[1]


def no_faults(world: Any) -> None:
    with world.store.read() as snapshot:
        assert list(wrong_packs(snapshot)) == []


ACTS = st.lists(
    st.tuples(
        st.sampled_from(["say"] * 4 + ["change", "retire", "erase", "compact", "rewind", "pack", "step", "read"]),
        st.integers(0, 10**6),
    ),
    min_size=10,
    max_size=60,
)


@settings(max_examples=25)
@given(ACTS)
def test_whatever_happens_a_new_catalogue_reads_the_same_with_packs_and_without(worlds: Any, acts: list[Any]) -> None:
    world = worlds()
    kept = world.catalogues
    for act, number in [("say", 1), ("say", 2), *acts, ("read", 0)]:
        world.catalogues = kept
        live_through(world, act, number)
        if act == "read":
            followed = shown(world.readings()[0])
            assert followed["streams"] == shown(fresh(world, pack_rows=LEAST))["streams"]
    seq = head_of(world)
    same_with_and_without(world, (View(), View(at=seq), View(at=max(seq - 1, horizon_of(world)))))
    no_faults(world)


def live_through(world: Any, act: str, number: int) -> None:
    alive: list[Item] = [item for item in world.items if item is not None]
    chosen = number % len(alive) if alive else None
    match act:
        case "say":
            text = " ".join(WORDS[number // 7**i % len(WORDS)] for i in range(number % 9))
            session = f"s{number % 3}" if number % 4 else None
            world.say(f"{text} {number}", session=session, pos=number % 50, day=number % 20)
        case "change" if chosen is not None:
            world.change(alive[chosen], Verb.REVISED, text=f"changed {WORDS[number % 5]}")
        case "retire" if chosen is not None:
            world.change(alive[chosen], Verb.RETIRED, state=State.RETIRED)
        case "erase" if chosen is not None and len(alive) > 1:
            world.store.erase(Erasure(tenant="t", user="ada", ids=(alive[chosen].id,)))
            world.items[world.items.index(alive[chosen])] = None
        case "compact":
            compaction.compact(world.store, "t", max(horizon_of(world), number % (head_of(world) + 1)))
        case "rewind":
            back = max(horizon_of(world), 2, head_of(world) - number % 6)
            world.store.transact(rewinding.rewind, "t", back)
            with world.store.read() as snapshot:
                ids = [item.id for item in world.items if item is not None]
                there = snapshot.standing((space_of(world),), ids)
            world.items = [item if item is not None and item.id in there else None for item in world.items]
        case "pack":
            pack_all(world)
        case "step":
            step(world)


def head_of(world: Any) -> int:
    with world.store.read() as snapshot:
        return int(snapshot.head(snapshot.tenant("t")).seq)


def horizon_of(world: Any) -> int:
    with world.store.read() as snapshot:
        return int(snapshot.head(snapshot.tenant("t")).horizon)


def test_a_space_has_few_packs_and_each_entry_is_packed_few_times(world: Any) -> None:
    for n in range(40 * LEAST + 1):
        world.say(f"apple {n}")
    slices = pack_all(world)
    assert [rows for _, rows in packs(world)] == [64, 64, 16, 16]
    assert slices == 40 + 40 // FAN + 2
    world.say("the last one")
    assert pack_all(world) == 0
    same_with_and_without(world)


def test_the_parts_of_one_version_are_never_parted(world: Any) -> None:
    for n in range(3):
        world.say(("apple " * 300 + "\n\n") * 8 + str(n))
    with world.store.read() as snapshot:
        parts = [entry.ver for entry in snapshot.entries(space_of(world))]
    assert len(parts) > 2 * LEAST
    pack_all(world)
    assert sum(rows for _, rows in packs(world)) == len(parts)
    same_with_and_without(world)


def other_bytes(rows: Rows) -> None:
    rows.packs.relations.update(PACK, {"digest": b"0" * 16})


def other_build(rows: Rows) -> None:
    rows.packs.relations.update(PACK, {"build": 99})


def other_seq(rows: Rows) -> None:
    rows.packs.relations.update(PACK, {"seq": 10**6})


def deleted(rows: Rows) -> None:
    rows.packs.relations.drop(PACK, ("rows", "<", 16))


@pytest.mark.parametrize("change", [other_bytes, other_build, other_seq, deleted])
def test_what_is_damaged_is_read_from_entries_and_made_anew(world: Any, change: Callable[[Rows], None]) -> None:
    for n in range(7 * LEAST):
        world.say(f"apple {n}", session=f"s{n % 2}")
    pack_all(world)
    whole = packs(world)
    assert [rows for _, rows in whole] == [16, 4, 4, 4]
    world.store.transact(change)
    told: list[int] = []
    same_with_and_without(world)
    world.catalogues = Catalogues(1 << 26, LEAST)
    world.catalogues.unpacked = lambda space, unsound: told.append(space)
    world.readings()
    assert told == [space_of(world)]
    pack_all(world)
    assert packs(world) == whole
    no_faults(world)
    world.catalogues.clear()
    world.readings()
    assert len(told) == 1
    same_with_and_without(world)


def test_verify_tells_of_a_pack_that_is_torn_or_says_something_else(world: Any) -> None:
    for n in range(LEAST):
        world.say(f"apple {n}")
    pack_all(world)
    with world.store.read() as snapshot:
        (row,) = snapshot.packs(space_of(world))
        body = bytes(snapshot.pack_body(row.id))
    world.store.transact(other_bytes)
    with world.store.read() as snapshot:
        assert ["digested" in fault.problem for fault in wrong_packs(snapshot)] == [True]
    # One that holds together, and was made of other entries.
    world.say("pear")
    pack_all(world, 1)
    world.store.transact(lambda rows: rows.packs.relations.drop(PACK))
    wrong = row._replace(upto=row.upto + 1)
    wrong = wrong._replace(digest=digest_of(wrong, body))
    world.store.transact(lambda rows: rows.packs.add_pack(wrong, body))
    with world.store.read() as snapshot:
        assert ["other entries" in fault.problem for fault in wrong_packs(snapshot)] == [True]


def test_what_was_erased_while_it_was_packed_is_not_kept(world: Any) -> None:
    gone = [world.say(f"apple {n}") for n in range(LEAST)]
    with world.store.read() as snapshot:
        new = next_pack(snapshot, space_of(world), LEAST)
    world.store.erase(Erasure(tenant="t", user="ada", ids=(gone[0].id,)))
    assert new is not None
    assert not world.store.transact(keep_pack, new)
    assert packs(world) == []


def test_of_two_that_pack_the_same_the_second_is_refused_and_looks_again(world: Any) -> None:
    for n in range(LEAST):
        world.say(f"apple {n}")
    space = space_of(world)
    second = pack_slice(space, LEAST)
    with world.store.read() as snapshot:
        made = next(second).read(snapshot)  # type: ignore[attr-defined]
    request = second.send(made)
    assert step(world).done
    with pytest.raises(StopIteration) as ended:
        second.send(world.store.transact(request.work, *request.args))  # type: ignore[attr-defined]
    assert ended.value.value == BUSY
    assert len(packs(world)) == 1


@pytest.fixture(autouse=True)
def few_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Entries are read a few at a time, so that every loop goes round."""
    monkeypatch.setattr("mnemic.index.packing_lane._LOAD", 3)
