"""Once a turn is erased, nothing that was derived holds a word that this turn alone said, whoever was shown it."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import pytest

from mnemic import Filter, Kind, Memory, ScopedMemory, Settings, State
from mnemic.core.ids import ItemId
from mnemic.extract import instruction_meaning, withdrawal_meaning
from mnemic.extract.instruction_meaning import EMBEDDER
from mnemic.extract.withdrawal_meaning import DOUBTS, OF_NEARNESS
from mnemic.lab.kit.scripted_readers import ScriptedReader
from mnemic.registry import STRATEGIES
from mnemic.strategies.base import Strategy
from mnemic.strategies.expel import Expel
from mnemic.strategies.gmemory import GMemory
from mnemic.strategies.hippo2 import Hippo2
from mnemic.strategies.house import House
from mnemic.strategies.mem0 import Mem0
from mnemic.strategies.memoryos import MemoryOS
from mnemic.strategies.reflexion import Reflexion
from mnemic.strategies.reme import ReMe
from mnemic.strategies.skills import Skills
from mnemic.strategies.stream import Stream
from mnemic.strategies.trajectories import ActionStep, Trajectory
from mnemic.strategies.units import TokensUnit
from mnemic.strategies.zep import Zep
from mnemic.testing.generators import ManualClock

sys.path.insert(0, str(Path(__file__).parent))
from echoing import CANARY, echoed
from graph_world import GraphModel, Told, graph_memory, items, tell
from wishing import Wishing

EVERYTHING: Final = Filter(states=tuple(State))
START: Final = datetime(2026, 3, 1, 12, tzinfo=UTC)
KEPT: Final = tuple(f"I keep the zq{letter}na by the river, near the old mill." for letter in "abcdefgh")
PROFILE: Final = (
    "I live in Zqbna.", "Not Zqbna, I meant Zqcna.", "Always end an answer with zqdna.", "I work at Zqena.",
    "I quit my job.", "I work at Zqfna. I quit my job.",
)  # fmt: skip
SMALL: Final = TokensUnit(60)


def _tries(*, done: str, task: str = "Polish the bowl") -> tuple[str, ...]:
    """Tries, one for each letter, of which those in `done` succeeded."""
    return tuple(
        Trajectory(
            task=task.format(letter),
            steps=(ActionStep("go to cellar", "Dust."), ActionStep(f"rub bowl with zq{letter}na", "So it went.")),
            succeeded=letter in done,
        ).text
        for letter in "abcdefgh"
    )


FOLLOWED: Final[dict[str, tuple[Strategy, tuple[str, ...]]]] = {
    "house": (House(), PROFILE),
    "mem0": (Mem0(unit=SMALL), KEPT),
    "stream": (Stream(unit=SMALL, threshold=2), KEPT),
    "memoryos": (MemoryOS(), KEPT),
    "memoryos, each page apart": (MemoryOS(by_words=9, hot=1.5), KEPT),
    "hippo2": (Hippo2(), KEPT),
    "zep": (Zep(), KEPT),
    "reflexion": (Reflexion(), _tries(done="d")),
    "expel": (Expel(), _tries(done="bdeg")),
    "skills": (Skills(), _tries(done="abcdefgh", task="Polish bowl {}")),
    "reme": (ReMe(), _tries(done="bdeg")),
    "gmemory": (GMemory(), _tries(done="bdeg")),
}


@contextmanager
def followed(path: Path, strategy: Strategy) -> Iterator[tuple[Memory, ScopedMemory]]:
    clock = ManualClock(int(START.timestamp() + 86_400) * 1_000_000, step=1)
    model = ScriptedReader("scripted:echoing", echoed)
    settings = Settings(background=False)
    with Memory(path, settings=settings, clock=clock, embedder="none", strategies=[strategy], model=model) as memory:
        yield memory, memory.scope(user="ada")


def canaries(me: ScopedMemory, *, derived: bool) -> set[str]:
    """The canaries that stand in what was derived, in words, keys, slots and tags; or in what was said."""
    every = [one.item for one in me.list(where=EVERYTHING, limit=1000)]
    told = (f"{one.text} {one.key} {one.slots} {one.tags}" for one in every if bool(one.source) is derived)
    return {canary for text in told for canary in CANARY.findall(text.casefold())}


def test_every_bundled_strategy_is_looked_at() -> None:
    assert {strategy.name for strategy, _ in FOLLOWED.values()} == set(STRATEGIES)


@pytest.mark.parametrize("name", FOLLOWED)
def test_no_derived_item_keeps_a_word_of_an_erased_turn(name: str, tmp_path: Path) -> None:
    strategy, turns = FOLLOWED[name]
    ids: list[ItemId] = []
    with followed(tmp_path / "whole.mnemic", strategy) as (memory, me):
        for place, text in enumerate(turns):
            said = START + timedelta(minutes=place)
            ids += me.observe(text, role="user", speaker="Ada", said=said).ids
            me.observe("I see.", role="assistant", speaker="assistant", said=said)
            assert memory.flush()
        assert len(canaries(me, derived=True)) > len(turns) // 2
    for place, id in enumerate(ids):
        path = tmp_path / f"{place}.mnemic"
        shutil.copy(tmp_path / "whole.mnemic", path)
        with followed(path, strategy) as (memory, me):
            me.erase(id)
            assert canaries(me, derived=True) <= canaries(me, derived=False), turns[place]
            assert memory.flush()
            assert canaries(me, derived=True) <= canaries(me, derived=False), turns[place]
            assert memory.admin.verify() == []


def test_a_fact_that_begins_anew_goes_with_the_turn_that_worded_it() -> None:
    """It cites who said it again; its words are of who said it first, in another session."""
    stated = {
        "Paris!": [Told("Ada", "lives in", "Paris", "Ada zqana in Paris.")],
        "Paris again.": [Told("Ada", "lives in", "Paris", "Ada is still in Paris.")],
        "Rome.": [Told("Ada", "lives in", "Rome", "Ada is in Rome.")],
    }
    with graph_memory(GraphModel(stated)) as (memory, _):
        shelves = [memory.scope(user="ada", session=name) for name in ("first", "second", "third")]
        (first,) = tell(memory, shelves[0], ("2020-01-01", "Paris!"))
        tell(memory, shelves[1], ("2022-01-01", "Paris again."))
        tell(memory, shelves[2], ("2021-01-01", "Rome."))
        me = memory.scope(user="ada")
        assert [one.text for one in items(me)] == ["Ada zqana in Paris."]
        me.erase(first)
        assert "zqana" not in canaries(me, derived=True)
        assert memory.flush()
        assert [one.text for one in items(me)] == ["Ada is still in Paris."]


def test_a_doubt_goes_with_the_instruction_that_it_quotes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(withdrawal_meaning, "withdraws", lambda vector, low: DOUBTS - OF_NEARNESS - 0.05)
    monkeypatch.setattr(instruction_meaning, "AGAINST", -99.0)  # what rules find stands
    path, embedder = tmp_path / "m.db", Wishing(EMBEDDER, wishes=False)
    with Memory(path, settings=Settings(background=False), embedder=embedder) as memory:
        me = memory.scope(user="ada")
        order = me.observe("Never use docker in zqsample code.", role="user").ids[0]
        assert memory.flush()
        me.observe("We lost the docker fight at work.", role="user")
        assert memory.flush()
        assert me.review()
        assert me.erase(order).status == "clean"
        assert me.review() == []
        assert "zqsample" not in str([one.item for one in me.list(where=EVERYTHING, limit=1000)])
        assert memory.admin.verify() == []
        assert not any(b"zqsample" in file.read_bytes() for file in tmp_path.iterdir())


def test_what_was_put_right_goes_with_the_fact_that_it_took_its_slot_from(tmp_path: Path) -> None:
    with followed(tmp_path / "m.db", House()) as (memory, me):
        wrong = me.observe("I live in Zqbna.", role="user").ids[0]
        assert memory.flush()
        me.observe("Not Zqbna, I meant Zqcna.", role="user")
        assert memory.flush()
        (right,) = me.list(where=Filter(kinds=(Kind.PROFILE,)))
        assert "Zqcna" in right.item.text
        me.erase(wrong)
        assert memory.flush()
        assert list(me.list(where=Filter(kinds=(Kind.PROFILE,)))) == []
