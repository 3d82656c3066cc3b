"""`expect`: whoever changes an item says which version they have read, and is refused if another stands by now."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from mnemic import Memory, Receipt, ScopedMemory, Settings, Stale
from mnemic.errors import Conflict, Invalid


@pytest.fixture
def me() -> Iterator[ScopedMemory]:
    with Memory("memory:", settings=Settings(embedder="none", background=False)) as memory:
        yield memory.scope(user="ada")


CHANGES: dict[str, Callable[..., Receipt]] = {
    "revise": lambda me, id, **more: me.revise(id, "Ada likes water.", **more),
    "expires": lambda me, id, **more: me.revise(id, expires="30 days", **more),
    "supersede": lambda me, id, **more: me.supersede(id, "Ada likes water.", **more),
    "correct": lambda me, id, **more: me.correct(id, "Ada likes water.", **more),
    "pin": lambda me, id, **more: me.pin(id, **more),
    "forget": lambda me, id, **more: me.forget(id, **more),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=list(CHANGES))
def test_a_change_goes_by_the_version_that_was_read(me: ScopedMemory, change: Callable[..., Receipt]) -> None:
    id = me.write("Ada likes tea.").id
    read = me.get(id).seq_from
    me.revise(id, "Ada likes coffee.")
    before = me.log(limit=1)[0].seq
    with pytest.raises(Stale, match=id):
        change(me, id, expect=read)
    with pytest.raises(Stale):
        change(me, id, expect=10_000)
    assert me.log(limit=1)[0].seq == before
    assert change(me, id, expect=me.get(id).seq_from).seq > before


def test_evidence_too(me: ScopedMemory) -> None:
    turn = me.observe("I moved to Basel.").id
    read = me.get(turn).seq_from
    me.pin(turn)
    with pytest.raises(Stale):
        me.correct(turn, "I moved to Bern.", expect=read)
    assert me.get(turn).item.pinned


def test_each_of_several_must_stand_as_it_was_read(me: ScopedMemory) -> None:
    one, two = me.observe(["One.", "Two."]).ids
    read = me.get(one).seq_from
    assert me.pin(one, two, expect=read).repeated == 0
    with pytest.raises(Stale):
        me.forget(one, me.observe("Three.").id, expect=me.get(one).seq_from)


def test_what_is_so_already_is_refused_all_the_same(me: ScopedMemory) -> None:
    id = me.write("Ada likes tea.").id
    read = me.get(id).seq_from
    me.pin(id)
    with pytest.raises(Stale):
        me.pin(id, expect=read)
    with pytest.raises(Stale):
        me.revise(id, "Ada likes tea.", expect=read)


@pytest.mark.parametrize("verb", ["supersede", "correct"])
def test_a_retry_with_its_key_is_answered_as_the_first_time(me: ScopedMemory, verb: str) -> None:
    id = me.write("Ada likes tea.").id
    given: dict[str, Any] = {"key": "k", "expect": me.get(id).seq_from}
    change = getattr(me, verb)
    first = change(id, "Ada likes coffee.", **given)
    assert change(id, "Ada likes coffee.", **given).seq == first.seq
    with pytest.raises(Conflict) as other:
        change(id, "Ada likes water.", **given)
    assert not isinstance(other.value, Stale)


def test_of_those_who_read_the_same_one_writes(me: ScopedMemory) -> None:
    id = me.write("Ada likes tea.").id
    read, start = me.get(id).seq_from, threading.Barrier(8)
    came: list[str] = []

    def change(n: int) -> None:
        start.wait()
        try:
            me.revise(id, f"Ada likes tea number {n}.", expect=read)
        except Stale:
            came.append("stale")
        else:
            came.append("written")

    threads = [threading.Thread(target=change, args=(n,)) for n in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert sorted(came) == ["stale"] * 7 + ["written"]
    assert len(me.history(id)) == 2


def test_it_is_the_number_of_a_commit(me: ScopedMemory) -> None:
    id = me.write("Ada likes tea.").id
    for odd in (-1, True, 1.0, "1"):
        with pytest.raises(Invalid, match="expect"):
            me.forget(id, expect=odd)  # type: ignore[arg-type]
