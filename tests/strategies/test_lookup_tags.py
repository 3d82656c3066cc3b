"""What an earlier version derived lacks the tags by which strategies look it up: it is given them once, by a run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from mnemic import Filter, Memory, ScopedMemory, Settings, State, Version
from mnemic.derive import drafting, strategy_lane
from mnemic.flow import Flow
from mnemic.lab.kit.scripted_readers import ScriptedReader, terse
from mnemic.strategies.base import Strategy
from mnemic.strategies.mem0 import Mem0
from mnemic.strategies.memoryos import MemoryOS
from mnemic.strategies.stream import Stream
from mnemic.strategies.units import TokensUnit, TurnUnit
from mnemic.strategies.zep import Zep
from mnemic.testing.generators import ManualClock

SAID = datetime(2026, 3, 1, tzinfo=UTC)
STRATEGIES: dict[str, Strategy] = {
    "mem0": Mem0(unit=TurnUnit(), add_only=True),
    "memoryos": MemoryOS(unit=TokensUnit(24), hot=3.0),
    "stream": Stream(unit=TurnUnit(), threshold=1.0),
    "zep": Zep(),
}
STANDS = (State.ACTIVE, State.SUPERSEDED)
_LOOKUP = re.compile(r"[0-9a-f]{16}")


@contextmanager
def as_before(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Have items derived as versions before did it: without the tags by which they are looked up now, nor filled in."""
    derived = drafting._derived_item

    def unfilled(*given: Any) -> Flow[None]:
        yield from ()

    def untagged(*given: Any) -> Any:
        item = derived(*given)
        return replace(item, tags=tuple(tag for tag in item.tags if not _LOOKUP.fullmatch(tag)))

    with monkeypatch.context() as patched:
        patched.setattr(drafting, "_derived_item", untagged)
        patched.setattr(strategy_lane, "filled_tags", unfilled)
        yield


def opened(path: Path, strategy: Strategy) -> Memory:
    return Memory(
        path, settings=Settings(background=False), clock=ManualClock(step=1), embedder="none", strategies=[strategy],
        model=ScriptedReader("scripted:terse", terse),
    )  # fmt: skip


def tell(me: ScopedMemory, first: int, upto: int) -> None:
    for n in range(first, upto):
        text = f"I keep jar {n} of the honey on shelf {n % 3} of the cupboard in Lisbon."
        me.observe(text, role="user", speaker="Ada", said=SAID + timedelta(minutes=n))


def own(me: ScopedMemory, name: str) -> list[Version]:
    return list(me.list(where=Filter(by=(name,), states=STANDS), limit=1000).items)


def tags(versions: list[Version]) -> dict[str, set[str]]:
    return {f"{one.item.kind} {one.item.text}": set(one.item.tags) for one in versions}


@pytest.mark.parametrize("name", STRATEGIES)
def test_what_an_older_store_holds_is_found_as_what_is_derived_now(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(tmp_path / "new.db", STRATEGIES[name]) as memory:
        tell(memory.scope(user="ada"), 0, 8)
        assert memory.flush()
        wanted = tags(own(memory.scope(user="ada"), name))
        assert any(_LOOKUP.fullmatch(tag) for each in wanted.values() for tag in each)
    with opened(tmp_path / "old.db", STRATEGIES[name]) as memory:
        me = memory.scope(user="ada")
        with as_before(monkeypatch):
            tell(me, 0, 6)
            memory.flush()
        before = me.log(limit=1)[0].seq
        lacking = tags(own(me, name))
        assert not any(_LOOKUP.fullmatch(tag) for each in lacking.values() for tag in each)
    with opened(tmp_path / "old.db", STRATEGIES[name]) as memory:
        me = memory.scope(user="ada")
        tell(me, 6, 8)
        assert memory.flush()
        assert tags(own(me, name)) == wanted
        assert tags(list(me.at(before).list(where=Filter(by=(name,), states=STANDS), limit=1000).items)) == lacking
        assert memory.admin.verify() == []


def older(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(path, STRATEGIES["mem0"]) as memory, as_before(monkeypatch):
        tell(memory.scope(user="ada"), 0, 4)
        memory.flush()


def facts(me: ScopedMemory) -> list[str]:
    return sorted(version.item.text for version in own(me, "mem0"))


def test_a_fact_of_an_older_store_that_is_said_again_does_not_come_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    older(tmp_path / "m.db", monkeypatch)
    with opened(tmp_path / "m.db", STRATEGIES["mem0"]) as memory:
        me = memory.scope(user="ada")
        before = facts(me)
        tell(me, 0, 4)
        assert memory.flush()
        assert facts(me) == before
        assert len(own(me, "mem0")[0].item.source) == 2


def test_tags_are_filled_in_once_and_a_person_may_take_them_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    older(tmp_path / "m.db", monkeypatch)
    with opened(tmp_path / "m.db", STRATEGIES["mem0"]) as memory:
        me = memory.scope(user="ada")
        tell(me, 4, 5)
        assert memory.flush()
        fact = own(me, "mem0")[0].item
        me.revise(fact.id, tags=("mine",))
        tell(me, 5, 7)
        assert memory.flush()
        assert me.get(fact.id).item.tags == ("mine",)


def test_what_is_loaded_from_an_older_export_is_found_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    older(tmp_path / "m.db", monkeypatch)
    with opened(tmp_path / "m.db", STRATEGIES["mem0"]) as memory:
        lines = list(memory.admin.export())
    with opened(tmp_path / "copy.db", STRATEGIES["mem0"]) as memory:
        memory.admin.load(lines)
        me = memory.scope(user="ada")
        before = facts(me)
        tell(me, 0, 4)
        assert memory.flush()
        assert facts(me) == before


def test_after_going_back_behind_it_they_are_filled_in_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    older(tmp_path / "m.db", monkeypatch)
    with opened(tmp_path / "m.db", STRATEGIES["mem0"]) as memory:
        me = memory.scope(user="ada")
        then, before = me.log(limit=1)[0].seq, facts(me)
        for _ in range(2):
            tell(me, 0, 4)
            assert memory.flush()
            assert facts(me) == before
            memory.admin.rewind(then)
        assert memory.admin.verify() == []
