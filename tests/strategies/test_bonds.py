"""A link rests on what it was tied for: it goes with that, and is tied again of what stays."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from mnemic import Invalid, Memory, ScopedMemory, Settings
from mnemic.core.events import Verb
from mnemic.core.ids import ItemId
from mnemic.core.items import Link
from mnemic.flow import Flow
from mnemic.store.values.drafts import Draft, Tie
from mnemic.strategies.base import Bond, Edits, Given, known
from mnemic.strategies.triggers import EachEvent
from mnemic.testing.generators import ManualClock

sys.path.insert(0, str(Path(__file__).parent))
from scripted import Scripted, Think, opened

TYPE = "zqxfriendof"
"""A type that only turns name, so that a link of it says what they said."""
WHY = f"they are {TYPE}"


def tying(only: str = "") -> Think:
    """Tie the two oldest turns in each run with turns that name the type; the weight is how many do.

    Args:
        only: The bond cites those turns that have this word in them; without, its default.
    """

    def think(given: Given) -> Flow[Edits]:
        causes = [item for item in given.evidence if TYPE in item.text]
        if not causes:
            return Edits()
        ada, bob = (yield from known(limit=100))[::-1][:2]
        cited = tuple(item.id for item in causes if only in item.text) if only else None
        return Edits(tie=(Bond(src=ada.id, dst=bob.id, type=TYPE, weight=len(causes), source=cited),))

    return think


def told(memory: Memory, me: ScopedMemory, *texts: str) -> tuple[ItemId, ...]:
    """Write two turns and have them read; then those with these texts, in one run."""
    ids = me.observe(["Ada is here", "Bob is here"]).ids
    assert memory.flush()
    later = me.observe(list(texts)).ids
    assert memory.flush()
    return (*ids, *later)


def weights(me: ScopedMemory, id: ItemId) -> list[float]:
    return [link.weight for link in me.links(id) if link.type == TYPE]


def kept(folder: Path, strategy: Scripted) -> Memory:
    """A memory in a file."""
    return Memory(
        folder / "memory.db", settings=Settings(background=False), clock=ManualClock(step=1), embedder="none",
        strategies=[strategy],  # type: ignore[list-item]  # attributes of an instance do for a lane
    )  # fmt: skip


def bytes_in(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_a_link_between_older_items_leaves_no_byte_once_the_turn_it_was_tied_for_is_erased(tmp_path: Path) -> None:
    with kept(tmp_path, Scripted(tying())) as memory:
        me = memory.scope(user="ada")
        ada, bob, why = told(memory, me, WHY)
        assert weights(me, ada) == weights(me, bob) == [1]
        receipt = me.erase(why)
        assert (receipt.ids, receipt.links, receipt.status) == ((why,), 1, "clean")
        assert weights(me, ada) == weights(me, bob) == []
        assert memory.flush()
        assert weights(me, ada) == []
        assert memory.admin.verify() == []
        assert TYPE.encode() not in b"".join(memory.admin.export())
        assert TYPE.encode() not in bytes_in(tmp_path)
    assert TYPE.encode() not in bytes_in(tmp_path)


def test_of_what_stays_it_is_tied_again_by_who_tied_it() -> None:
    for upkeep in (False, True):
        strategy = Scripted(on_maintain=tying()) if upkeep else Scripted(tying())
        strategy.maintain = (EachEvent(),)
        memory, me = opened(strategy)
        with memory:
            ada, _, one, *_ = told(memory, me, WHY, WHY + " indeed", WHY + " truly")
            assert [(link.weight, link.by, link.upkeep) for link in me.links(ada)] == [(3, "scripted", upkeep)]
            me.erase(one)
            assert weights(me, ada) == []
            assert memory.flush()
            assert weights(me, ada) == [2]
            assert memory.admin.verify() == []


def test_what_a_bond_says_it_does_not_rest_on_it_outlives() -> None:
    memory, me = opened(Scripted(tying(only="truly")))
    with memory:
        ada, _, why, truly = told(memory, me, WHY, WHY + " truly")
        me.erase(why)
        assert weights(me, ada) == [2]
        me.erase(truly)
        assert weights(me, ada) == []
        assert memory.admin.verify() == []


def test_a_bond_that_rests_on_its_ends_alone_keeps_no_evidence() -> None:
    def tied(given: Given) -> Flow[Edits]:
        yield from ()
        one, two, *_ = given.evidence
        return Edits(tie=(Bond(src=one.id, dst=two.id, type=TYPE, source=()),))

    memory, me = opened(Scripted(tied))
    with memory:
        one, two, three = me.observe(["one", "two", "three"]).ids
        assert memory.flush()
        (link,) = me.links(one)
        assert link.evidence == ()
        me.erase(three)
        assert me.links(one) == [link]
        me.erase(two)
        assert me.links(one) == []


def test_what_was_tied_before_and_since_goes_too_as_one_weight_may_be_made_of_another() -> None:
    strategy = Scripted(tying())
    memory, me = opened(strategy)
    with memory:
        ada, bob, one = told(memory, me, WHY)
        (two,) = me.observe(WHY + " still").ids
        assert memory.flush()
        for gone in (one, two):
            clone = me.branch(f"without {gone}")
            assert weights(clone, ada) == [1]
        me.erase(one)
        assert all(weights(where, end) == [] for where in (me, clone) for end in (ada, bob))
        assert memory.flush()
        assert weights(me, ada) == [1]
        me.erase(two)
        assert memory.flush()
        assert weights(me, ada) == []
        assert memory.admin.verify() == []


def test_it_rests_on_nothing_that_the_run_was_not_shown() -> None:
    nobody = ItemId("0" * 26)

    def tied(given: Given) -> Flow[Edits]:
        yield from ()
        one, two = given.evidence
        return Edits(tie=(Bond(src=one.id, dst=two.id, type=TYPE, source=(nobody,)),))

    memory, me = opened(Scripted(tied))
    with memory:
        me.observe(["one", "two"])
        with pytest.raises(Invalid, match=r"link of type 'zqxfriendof' cites 0+, which was neither"):
            memory.flush()


def test_what_is_erased_while_a_run_thinks_of_it_ties_nothing() -> None:
    doomed: list[ItemId] = []

    def think(given: Given) -> Flow[Edits]:
        edits = yield from tying()(given)
        if doomed:
            me.erase(doomed.pop())
        return edits

    memory, me = opened(Scripted(think))
    with memory:
        ada, *_ = me.observe(["Ada is here", "Bob is here"]).ids
        assert memory.flush()
        doomed += me.observe(WHY).ids
        assert memory.flush()
        assert weights(me, ada) == []
        assert memory.admin.verify() == []


def test_undoing_what_it_was_tied_for_unties_it_and_redoing_ties_it() -> None:
    memory, me = opened(Scripted(tying()))
    with memory:
        ada, _, *_ = told(memory, me, "nothing of it")
        why, more = me.observe(WHY), me.observe(WHY + " indeed")
        assert memory.flush()
        assert weights(me, ada) == [2]
        me.undo(more.seq)
        assert weights(me, ada) == [2]
        undone = me.undo(why.seq)
        assert weights(me, ada) == []
        me.undo(undone.seq)
        assert weights(me, ada) == [2]
        assert memory.admin.verify() == []


def test_going_back_keeps_what_was_tied_late_for_what_stood_and_takes_back_the_rest() -> None:
    memory, me = opened(Scripted(tying()))
    with memory:
        ada, bob = me.observe(["Ada is here", "Bob is here"]).ids
        before = me.observe(WHY).seq
        assert memory.flush()
        me.link(bob, ada, "knows", evidence=[ada])
        me.revert(before)
        assert weights(me, ada) == [1]
        assert [link.type for link in me.links(ada)] == [TYPE]
        me.revert(before - 1)
        assert weights(me, ada) == []


def test_what_a_person_ties_goes_with_its_evidence_and_nobody_ties_it_again(tmp_path: Path) -> None:
    strategy = Scripted(tying())
    with kept(tmp_path, strategy) as memory:
        me = memory.scope(user="ada")
        one, two, three, four = me.observe(["one", "two", "three", "four"]).ids
        me.link(one, two, TYPE, evidence=[three, four])
        assert me.erase(three).links == 1
        assert memory.flush()
        assert weights(me, one) == []
        assert TYPE.encode() not in bytes_in(tmp_path)
        assert memory.admin.verify() == []


def test_an_export_says_whose_it_is_and_what_it_rests_on(tmp_path: Path) -> None:
    memory, me = opened(Scripted(tying()))
    with memory:
        ada, _, why = told(memory, me, WHY)
        lines = list(memory.admin.export())
    with kept(tmp_path, Scripted()) as again:
        again.admin.load(lines)
        loaded = again.scope(user="ada")
        (link,) = loaded.links(ada)
        assert (link.evidence, link.by) == ((why,), "scripted")
        loaded.erase(why)
        assert loaded.links(ada) == []
        assert again.admin.verify() == []


def test_a_copy_beside_the_store_keeps_no_byte_of_it_either(tmp_path: Path) -> None:
    with kept(tmp_path, Scripted(tying())) as memory:
        me = memory.scope(user="ada")
        *_, why = told(memory, me, WHY)
        memory.admin.checkpoint("before")
        assert TYPE.encode() in bytes_in(tmp_path / "checkpoints")
        assert me.erase(why).status == "clean"
        assert TYPE.encode() not in bytes_in(tmp_path)


def test_after_going_back_in_time_it_is_tied_again_unless_its_turn_was_erased() -> None:
    memory, me = opened(Scripted(tying()))
    with memory:
        ada, bob = me.observe(["Ada is here", "Bob is here"]).ids
        assert memory.flush()
        why = me.observe(WHY)
        assert memory.flush()
        memory.admin.rewind(why.seq)
        assert weights(me, ada) == []
        assert memory.flush()
        assert weights(me, ada) == [1]
        tied = me.observe("something else").seq
        me.erase(why.id)
        memory.admin.rewind(tied)
        assert memory.flush()
        assert weights(me, ada) == weights(me, bob) == []
        assert memory.admin.verify() == []


def test_verify_tells_of_a_link_that_rests_on_what_was_erased() -> None:
    memory, me = opened()
    with memory:
        one, two, three = me.observe(["one", "two", "three"]).ids
        me.erase(three)
        link = Link(src=one, dst=two, type="about", evidence=(three,))
        memory._opened.store.commit(
            Draft(tenant="default", user="ada", actor="me", ops=(Tie(verb=Verb.LINKED, link=link),))
        )
        (fault,) = memory.admin.verify()
        assert fault.problem == f"rests on item {three}, which was erased"
