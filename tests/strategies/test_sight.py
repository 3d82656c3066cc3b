"""Who sees what a strategy derived: everybody, that strategy and who asks for what it made, or nobody."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from mnemic import Filter, Invalid, Kind, Memory, ScopedMemory, Settings
from mnemic.core.queries import Recalled
from mnemic.flow import Flow
from mnemic.models.scripted_embedder import ScriptedEmbedder
from mnemic.strategies import Derivation, Edits, Given, Sight, search
from mnemic.testing.generators import ManualClock

sys.path.insert(0, str(Path(__file__).parent))
from scripted import Scripted, opened

TURNS = ("The red kite nests by the mill.", "A second kite was seen on Tuesday.", "Nothing else about birds.")


def deriving(name: str, *sights: Sight, kind: Kind = Kind.INSIGHT) -> Scripted:
    """A strategy that says of each turn, once for each sight, who it is and who sees it."""

    def derive(given: Given) -> Flow[Edits]:
        yield from ()
        return Edits(
            write=tuple(
                Derivation(
                    key=f"{name}:{turn.id}:{n}", kind=kind, text=f"kite {name} {sight}", slots={"by": name},
                    source=(turn.id,), said=turn.said, sight=sight,
                )
                for turn in given.evidence
                for n, sight in enumerate(sights)
            )
        )  # fmt: skip

    return Scripted(derive, name=name)


def texts(found: Sequence[Recalled]) -> set[str]:
    return {one.text for one in found if one.item.source}


def test_recall_sees_what_everybody_sees_and_by_its_author_all_but_what_nobody_does() -> None:
    memory, me = opened(deriving("scripted", *Sight), deriving("other", *Sight))
    with memory:
        me.observe("A kite.")
        memory.flush()
        by = Filter(by=("scripted",))
        assert texts(me.recall("kite", k=20)) == {"kite scripted all", "kite other all"}
        assert me.recall("kite", k=20).considered == 3
        assert texts(me.recall("kite", k=20, where=by)) == {"kite scripted all", "kite scripted own"}
        assert len(me.recall("kite", k=20, where=by)) == 2
        everyone = Filter(by=("scripted", "other"))
        assert len(texts(me.recall("kite", k=20, where=everyone))) == 4
        mine = {f"kite scripted {sight}" for sight in Sight}
        assert {version.item.text for version in me.list(where=by)} == mine
        assert (me.count(where=by), me.count(where=everyone), me.count()) == (3, 6, 7)
        assert me.count(where=Filter(by=("scripted",), kinds=(Kind.TURN,))) == 0
        assert {version.item.sight for version in me.list(limit=20)} == set(Sight)
        assert memory.admin.verify() == []


def test_what_somebody_wrote_under_the_name_of_a_strategy_is_theirs() -> None:
    memory, me = opened(deriving("scripted", Sight.OWN))
    with memory:
        me.write("A kite of mine.", kind=Kind.FACT, slots={"by": "scripted"})
        assert me.count(where=Filter(by=("scripted",))) == 0
        assert len(me.recall("kite")) == 1


def test_what_a_strategy_keeps_moves_nothing_in_recall_by_words_or_by_meaning() -> None:
    """Neither the ranks nor the scores, of which counts of words and means of cosines are a part."""
    plain, told = [], []
    for found, sight in ((plain, None), (told, Sight.OWN)):
        settings = Settings(background=False)
        strategies = [] if sight is None else [deriving("scripted", *[sight] * 30)]
        with Memory(
            "memory:", settings=settings, clock=ManualClock(step=1), embedder=ScriptedEmbedder(),
            strategies=strategies,
        ) as memory:  # fmt: skip
            me = memory.scope(user="ada")
            me.observe(list(TURNS))
            assert memory.flush()
            for question in ("kite", "Which birds nest by the mill?", "was it on Tuesday"):
                context = me.recall(question, k=10)
                assert context.pending == 0
                found.append([context.confidence, *((one.text, one.score, one.components) for one in context)])
            if sight is Sight.OWN:
                context = me.recall("kite", k=100, where=Filter(by=("scripted",)))
                assert len(context) > 0
                assert context.pending == 0
                assert all("hub" in one.components for one in context)  # compared with the mean of their vectors
    assert plain == told


def test_a_strategy_searches_what_everybody_sees_and_what_it_keeps_itself() -> None:
    seen: list[set[str]] = []

    def looking(given: Given) -> Flow[Edits]:
        hits = yield from search("kite", k=50)
        seen.append({hit.item.text for hit in hits if hit.item.source})
        made = yield from deriving("scripted", *Sight).write(given)
        return made

    memory, me = opened(deriving("other", *Sight), Scripted(looking))
    with memory:
        me.observe("A kite.")
        memory.flush()
        me.observe("Another kite.")
        memory.flush()
        assert seen[-1] == {"kite other all", "kite scripted all", "kite scripted own"}


def test_a_profile_that_a_strategy_keeps_is_in_no_context_until_somebody_pins_it() -> None:
    memory, me = opened(deriving("scripted", *Sight, kind=Kind.PROFILE))
    with memory:
        me.observe("A kite.")
        memory.flush()
        assert {item.text for item in me.context("").always} == {"kite scripted all"}
        (own,) = (version.item for version in me.list() if version.item.sight is Sight.OWN)
        me.pin(own.id)
        assert {item.text for item in me.context("").always} == {"kite scripted all", "kite scripted own"}


def test_a_run_is_given_as_known_nothing_that_others_keep() -> None:
    known: list[set[str]] = []

    def noting(given: Given) -> Flow[Edits]:
        known.append({item.text for item in given.known})
        return (yield from deriving("scripted", *Sight, kind=Kind.PROFILE).write(given))

    memory, me = opened(deriving("other", *Sight, kind=Kind.PROFILE), Scripted(noting))
    with memory:
        for text in ("A kite.", "Another kite."):
            me.observe(text)
            memory.flush()
        assert known[-1] == {"kite other all", *(f"kite scripted {sight}" for sight in Sight)}


def test_why_an_item_was_not_recalled_names_who_keeps_it() -> None:
    memory, me = opened(deriving("scripted", *Sight))
    with memory:
        me.observe("A kite.")
        memory.flush()
        item = {version.item.sight: version.item.id for version in me.list(where=Filter(by=("scripted",)))}
        assert "scripted keeps it" in me.why_not("kite", item[Sight.OWN]).reason
        assert "nobody's recall" in me.why_not("kite", item[Sight.NONE]).reason


def _state(me: ScopedMemory) -> list[set[str]]:
    by = Filter(by=("scripted",))
    return [
        texts(me.recall("kite", k=100)),
        texts(me.recall("kite", k=100, where=by)),
        {version.item.text for version in me.list(where=by, limit=100)},
    ]


@pytest.mark.parametrize("pack_rows", [0, 4])
def test_who_sees_what_survives_whatever_a_memory_goes_through(tmp_path: Path, pack_rows: int) -> None:
    strategies = [deriving("scripted", *Sight)]
    settings = Settings(background=False, embedder="none", pack_rows=pack_rows)

    def memory_at(name: str, *, follow: bool = False) -> Memory:
        given = strategies if follow else []
        return Memory(tmp_path / name, settings=settings, clock=ManualClock(step=1), strategies=given)

    with memory_at("m.db", follow=True) as memory:
        me = memory.scope(user="ada")
        first = me.observe(list(TURNS))
        memory.flush()
        everything = _state(me)
        assert [len(some) for some in everything] == [1, 2, 3]
        me.branch("try")
        assert _state(me.on_branch("try")) == everything
        own = [v.item for v in me.list(limit=100) if v.item.sight is Sight.OWN]
        me.forget(own[0].id)
        me.undo(memory.scope(user="ada").log(limit=1)[0].seq)
        assert _state(me) == everything
        memory.admin.backup(tmp_path / "copy.db")
        exported = list(memory.admin.export())
        me.erase(first.ids[0])
        assert _state(me) == everything
        me.drop_branch("try")
        memory.admin.compact(me.log(limit=1)[0].seq)
        assert _state(me) == everything
        assert memory.admin.verify() == []
    for name in ("m.db", "copy.db"):
        with memory_at(name) as memory:
            assert _state(memory.scope(user="ada")) == everything
    with memory_at("loaded.db") as memory:
        memory.admin.load(exported)
        assert _state(memory.scope(user="ada")) == everything
        assert _state(memory.scope(user="ada").on_branch("try")) == everything
        assert memory.admin.verify() == []


def test_a_filter_by_author_names_strategies() -> None:
    memory, me = opened()
    with memory, pytest.raises(Invalid, match="by"):
        me.list(where=Filter(by=("",)))
