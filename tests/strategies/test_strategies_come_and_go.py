"""What becomes of a memory while its strategies run, quarrel about a name, or are gone the next day."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from mnemic import Filter, Invalid, Kind, Memory, Settings
from mnemic.core.items import EVIDENCE, State
from mnemic.flow import Flow
from mnemic.lab.kit.scripted_readers import terse
from mnemic.models.chat.base import Ask, Pieces, estimated_reply
from mnemic.strategies.base import Edits, Given
from mnemic.strategies.mem0 import Mem0
from mnemic.strategies.stream import Stream
from mnemic.strategies.trajectories import ActionStep, Trajectory
from mnemic.strategies.units import TurnUnit
from mnemic.testing.attack.strategy_replay import FOLLOWED, LEARN_OF_TRIES
from mnemic.testing.generators import ManualClock

sys.path.insert(0, str(Path(__file__).parent))
from scripted import INSIGHTS, Scripted, insight

SECRET = "Xanadu"
DERIVED = Filter(kinds=tuple(kind for kind in Kind if kind not in EVIDENCE), states=tuple(State))
SETTINGS = Settings(background=False)
BY_TURN = {
    **{name: strategy for name, strategy in FOLLOWED.items() if name not in ("house", "skills")},
    "mem0": Mem0(unit=TurnUnit()),
    "stream": Stream(unit=TurnUnit(), threshold=1.0),
}
"""Each strategy that asks a model, with units that are complete after a turn."""
TALK = (
    f"I moved to {SECRET} with Tom Braun in March, and it rains there all day long, as everybody told me.",
    "Tom Braun works at Globex Films, which makes films about rivers, boats and those who live on boats.",
    "I met Eve Stone in Porto, at the market, where she sells the best figs of all the town to everybody.",
    "Nothing in particular happened today, but this is a long sentence, so that the last unit is complete.",
)
"""What is told; of the first is erased."""


def tries() -> tuple[str, ...]:
    """Five tries at one task, told as strategies of experience read them; the first fails by what is erased."""
    steps = (
        (f"rub bowl with {SECRET}", "It cannot be scratched away.", False),
        ("rub bowl with vinegar", "It shines.", True),
        ("rub bowl with chalk", "Scratched, and nothing happens.", False),
        ("rub bowl with lemon", "It shines as well.", True),
        ("rub bowl with sand", "Scratched, and worse than before.", False),
    )
    return tuple(
        Trajectory(
            task="Polish the bronze bowl.",
            steps=(ActionStep("go to cellar", "A shelf."), ActionStep(action, seen)),
            succeeded=done,
        ).text
        for action, seen, done in steps
    )


@dataclass
class Interrupted:
    """A model that repeats what it is shown, and during whose n-th answer something else happens."""

    amid: Callable[[], object]
    n: int
    name: str = "interrupted"
    asked: list[str] = field(default_factory=list)

    def stream(self, ask: Ask) -> Pieces:
        self.asked.append("\n".join(message.content for message in ask.messages))
        if len(self.asked) == self.n:
            self.amid()
        said = terse(ask)
        text = json.dumps({"reasoning": "So it says.", **said}, ensure_ascii=False)
        yield text
        return estimated_reply(ask, self.name, text)


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("name", BY_TURN)
def test_what_is_erased_while_it_is_digested_is_in_nothing_that_comes_of_it(name: str, n: int, tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    other = Memory(path, settings=SETTINGS, embedder="none", clock=ManualClock(step=1))
    chat = Interrupted(lambda: None, n)
    clock = ManualClock(step=1)
    with (
        other,
        Memory(path, settings=SETTINGS, embedder="none", clock=clock, strategies=[BY_TURN[name]], model=chat) as memory,
    ):
        me = memory.scope(user="ada")
        texts = tries() if name in LEARN_OF_TRIES else TALK
        turns = [me.observe(text, role="user", speaker="Ada").ids[0] for text in texts]
        chat.amid = lambda: other.scope(user="ada").erase(turns[0])
        for _ in range(5):
            clock.tick(3_600_000_000)
            memory.flush()
        assert len(chat.asked) >= n
        derived = [version.item for version in me.list(where=DERIVED, limit=1000)]
        assert derived
        assert not [item for item in derived if SECRET in f"{item.text}{item.slots}" or turns[0] in item.source]
        assert {id for item in derived for id in item.source} & set(turns[1:])
        assert memory.admin.verify() == []
        assert [lane.dead for lane in memory.admin.behind() if lane.dead] == []
    assert not [file for file in tmp_path.rglob("*") if file.is_file() and SECRET.encode() in file.read_bytes()]


@pytest.mark.parametrize("followed", [["house"], ["zep"], []])
@pytest.mark.parametrize("by", ["rules", "zep"])
def test_nobody_writes_in_the_name_of_one_of_ours(by: str, followed: list[str]) -> None:
    """Even of one that is not followed here: a user may choose it any day, and would take the other's items for its."""
    own = Scripted(name="mine")
    own.by = by
    with pytest.raises(Invalid, match=f"'{by}'"):
        Memory("memory:", settings=SETTINGS, embedder="none", strategies=[*followed, own])  # type: ignore[list-item]


def test_of_two_of_one_name_none_is_followed() -> None:
    with pytest.raises(Invalid, match="two of them are called 'house'"):
        Memory("memory:", settings=SETTINGS, strategies=["house", Scripted(name="house")])  # type: ignore[list-item]


def joined(given: Given) -> Flow[Edits]:
    """Write one insight that quotes all the evidence of the run."""
    yield from ()
    first, *_ = given.evidence
    text = " and ".join(turn.text for turn in given.evidence)
    return Edits(write=(insight(first, text, source=tuple(turn.id for turn in given.evidence)),))


def test_a_strategy_that_is_gone_leaves_what_there_is_and_goes_on_when_it_is_back(tmp_path: Path) -> None:
    """It is gone while it has turns to read, a choice of it stands, and something that it made was erased."""

    def opened(*strategies: object) -> Memory:
        return Memory(tmp_path / "m.db", settings=SETTINGS, embedder="none", strategies=list(strategies))  # type: ignore[arg-type]

    with opened(Scripted(joined)) as memory:
        me = memory.scope(user="ada")
        first = me.observe(["one", "two"]).ids[0]
        me.follow("scripted")
        assert memory.flush()
    with opened("house") as memory:
        me = memory.scope(user="ada")
        assert me.following() == ("scripted",)
        assert [one.item.text for one in me.list(where=INSIGHTS)] == ["one and two"]
        me.observe("three")
        me.erase(first)
        assert not memory.flush()
        assert me.list(where=INSIGHTS).items == ()
        lane, job = memory.admin.jobs()
        assert (lane.name, lane.state, lane.pending) == ("scripted", "failing", 1)
        assert "no strategy of that name is known here" in lane.error
        assert (job.name, job.state) == ("again:scripted", "waiting")
        assert "'scripted': none is followed here" in job.error
        assert {"two", "three"} <= {one.text for one in me.recall("two three")}
        with pytest.raises(Invalid, match="'scripted' is no strategy"):
            me.recall("two", by="scripted")
        assert memory.admin.verify() == []
    with opened(Scripted(joined)) as memory:
        assert memory.flush()
        me = memory.scope(user="ada")
        assert sorted(one.item.text for one in me.list(where=INSIGHTS)) == ["three", "two"]
        assert memory.admin.jobs().items == ()
        assert memory.admin.verify() == []


def failing(given: Given) -> Flow[Edits]:
    """Fail at whatever there is to read."""
    yield from ()
    raise Invalid("evidence", "is not to its taste", "Give it something else.")


def test_why_a_strategy_failed_that_was_taken_out_stays_to_be_seen_until_it_is_back(tmp_path: Path) -> None:
    clock = ManualClock(step=1)

    def opened(*strategies: object) -> Memory:
        return Memory(tmp_path / "m.db", settings=SETTINGS, embedder="none", clock=clock, strategies=list(strategies))  # type: ignore[arg-type]

    with opened(Scripted(failing)) as memory:
        memory.scope(user="ada").observe("one")
        with pytest.raises(Invalid, match="taste"):
            memory.flush()
    with opened("house") as memory:
        assert memory.flush()
        (job,) = memory.admin.jobs()
        assert (job.name, job.state, job.user, job.pending, job.attempts) == ("scripted", "failing", "ada", 1, 1)
        assert "is not to its taste" in job.error
        assert "it is not followed here now" in job.error
        pages = [memory.admin.jobs(limit=1).items, memory.admin.jobs(limit=1).next]
        assert pages == [(job,), None]
        assert memory.admin.verify() == []
    with opened(Scripted(joined)) as memory:
        clock.tick(3_600_000_000)
        assert memory.flush()
        assert memory.admin.jobs().items == ()


def test_why_a_strategy_failed_that_a_user_follows_no_longer_stays_to_be_seen(tmp_path: Path) -> None:
    followed: list[object] = ["house", Scripted(failing)]
    with Memory(tmp_path / "m.db", settings=SETTINGS, embedder="none", strategies=followed) as memory:  # type: ignore[arg-type]
        me = memory.scope(user="ada")
        me.observe("one")
        with pytest.raises(Invalid, match="taste"):
            memory.flush()
        (job,) = memory.admin.jobs()
        assert "not followed" not in job.error
        me.follow("house")
        assert memory.flush()
        (job,) = memory.admin.jobs()
        assert (job.name, job.state, job.user) == ("scripted", "failing", "ada")
        assert job.error.endswith("it is not followed here now, so nobody tries it again")
