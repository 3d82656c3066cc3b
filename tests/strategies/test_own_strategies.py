"""A strategy of one's own: named by where it lives or handed over, and refused with what is wrong with it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from noting import Noting

import mnemic.strategies
from mnemic import Filter, Invalid, Kind, Memory, Settings
from mnemic.testing.generators import ManualClock

sys.path.insert(0, str(Path(__file__).parent))
OWN = """
from mnemic import Kind
from mnemic.strategies import Budget, Derivation, EachEvent, Edits, nothing, pause


class Shout:
    name = by = "shout"
    reads, triggers, maintain = frozenset({Kind.TURN}), (EachEvent(),), ()
    budget, batch = Budget(), 8

    def on_write(self, given):
        yield from pause()
        return Edits(
            write=tuple(
                Derivation(
                    key=f"shout:{one.id}:0", kind=Kind.INSIGHT, text=one.text.upper(),
                    slots={"by": self.by}, source=(one.id,), said=one.said,
                )
                for one in given.evidence
            )
        )

    on_maintain = nothing


class Mute:
    name = by = "mute"


class Loud(Shout):
    name = "embed"


class Twin(Shout):
    name = "twin"


number = 3
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "ours_alone.py").write_text(OWN)
    (tmp_path / "broken_alone.py").write_text("import nowhere_to_be_found\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "ours_alone", raising=False)
    return "ours_alone"


def opened(strategies: object = None, named: str = "house") -> Memory:
    settings = Settings(background=False, strategies=named)
    return Memory("memory:", settings=settings, strategies=strategies, clock=ManualClock())  # type: ignore[arg-type]


def shouted(memory: Memory) -> list[str]:
    me = memory.scope(user="ada")
    me.observe("hello")
    memory.flush()
    return [one.item.text for one in me.list(where=Filter(kinds=(Kind.INSIGHT,)))]


def test_a_strategy_is_named_by_where_it_lives(module: str) -> None:
    with opened(named=f"house, {module}:Shout, {module}:Shout") as memory:
        assert shouted(memory) == ["HELLO"]
        assert memory.admin.lane_names()[:2] == ["house", "shout"]
        assert [one.lane for one in memory.admin.behind()] == ["house", "shout"]


def test_a_strategy_is_handed_over_in_place_of_the_setting(module: str) -> None:
    own = __import__(module).Shout
    for given in ([own()], [own], [f"{module}:Shout"], ["house", own()]):
        with opened(given) as memory:
            assert shouted(memory) == ["HELLO"]
    with opened([]) as memory:
        assert memory.admin.lane_names() == ["embed", "jobs"]


@pytest.mark.parametrize(
    ("named", "told"),
    [
        ("dreams", "'dreams' is not known"),
        ("nowhere_at_all:Mine", "there is no module 'nowhere_at_all'"),
        ("broken_alone:Mine", "'broken_alone' cannot be imported: No module named 'nowhere_to_be_found'"),
        ("ours_alone:Absent", "'ours_alone' has no 'Absent'"),
        ("ours_alone:number", "int has no name"),
        ("ours_alone:Mute", "Mute has no reads, triggers, maintain, budget, batch, on_write, on_maintain"),
        ("ours_alone:Loud", "Loud's name 'embed'"),
        ("ours_alone:", "'ours_alone:' is not known"),
        ("ours_alone:Shout, ours_alone:Twin", "two of them write as 'shout'"),
    ],
)
def test_what_is_wrong_with_one_is_said_when_the_store_is_opened(module: str, named: str, told: str) -> None:
    with pytest.raises(Invalid, match=r"^strategies: ") as refused:
        opened(named=named)
    assert told in str(refused.value)


def test_what_is_handed_over_is_looked_at_too() -> None:
    with pytest.raises(Invalid, match="'nope' is not known"):
        opened(["nope"])
    with pytest.raises(Invalid, match="object has no name"):
        opened([object()])
    with pytest.raises(Invalid, match="two of them are called 'noting'"):
        opened([Noting(), Noting()])
    with pytest.raises(Invalid, match="Give a list"):
        opened(Noting())


def test_all_that_a_strategy_needs_has_one_public_place() -> None:
    assert mnemic.Order.__name__ == "Order"
    for name in mnemic.strategies.__all__:
        assert getattr(mnemic.strategies, name) is not None
    wanted = {
        *("Strategy", "Given", "Edits", "Derivation", "Revision", "Bond", "Budget", "known", "pause", "nothing"),
        *("EachEvent", "Buffer", "Importance", "TaskEnd", "Query", "Clock", "Trigger", "Waiting"),
        *("ask", "ChatMessage", "Flow"),
    }
    assert wanted <= set(mnemic.strategies.__all__)
