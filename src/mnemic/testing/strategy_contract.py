"""What every strategy promises, as tests; a strategy proves itself with one import and one or two fixtures::

    import pytest
    from mnemic.testing.strategy_contract import *


    @pytest.fixture
    def strategy() -> Strategy:
        return MyStrategy()

`texts` may be overridden with what it has something to say to, and `model` with how a model answers its questions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

from mnemic.core.clock import moment
from mnemic.core.ids import from_bytes
from mnemic.core.items import EVIDENCE, Item, Kind, Sight, Strength
from mnemic.core.parts import entry_terms
from mnemic.core.queries import Filter, View
from mnemic.derive.memory_reads import MemoryReads
from mnemic.derive.own_recall import has_own_recall
from mnemic.flow import Flow, Pause, Request, run
from mnemic.memory import Memory, ScopedMemory
from mnemic.models.chat.base import Ask
from mnemic.models.model_requests import AskEach, CountJudged, NameModel
from mnemic.registry import STRATEGIES
from mnemic.settings import Settings
from mnemic.strategies.base import Asked, Edits, Given, Known, Revision, Strategy, known
from mnemic.strategies.strategy_requests import (
    EmbedTexts,
    Fetch,
    Keyed,
    Linked,
    ScoreItems,
    Search,
    SearchHit,
    Spread,
    Strengths,
)
from mnemic.testing.generators import START
from mnemic.testing.replying import replying
from mnemic.testing.reseeded import thought_reseeded
from mnemic.verbs.who import spaces_of

Model = Callable[[Ask], str]
HASH_SEEDS: Final = (1, 2)
DERIVED: Final = Filter(kinds=tuple(kind for kind in Kind if kind not in EVIDENCE))


@pytest.fixture
def texts() -> list[str]:
    """What people say."""
    return [
        "I moved from Paris to Lisbon in March.",
        "From now on, answer in French.",
        "My name is Ada and I can't stand cilantro.",
        "我住在北京。",
        "ok",
    ]


@pytest.fixture
def model() -> Model:
    """How a language model answers: the same for the same question."""
    return lambda ask: f"Noted: {ask.messages[-1].content[:40]}"


@pytest.fixture
def given(strategy: Strategy, texts: list[str]) -> Given:
    """All of it, once of every kind that the strategy reads."""
    kinds = sorted(strategy.reads)
    items = (
        Item(
            id=from_bytes((n + 1).to_bytes(16, "big")),
            kind=kinds[n % len(kinds)],
            text=text,
            said=moment(START) + timedelta(hours=n),
            slots={"speaker": "Ada"},
        )
        for n, text in enumerate(texts * len(kinds))
    )
    return Given(user="ada", evidence=tuple(items))


def thought(strategy: Strategy, given: Given, model: Model, *, maintain: bool = False) -> tuple[Edits, list[Request]]:
    """Run a strategy over evidence; return its edits, and the requests it made."""
    asked: list[Request] = []

    def perform(request: Request) -> Any:
        asked.append(request)
        if isinstance(request, AskEach):
            asked.extend(request.asks)
        return answered(request, given, model)

    flow = strategy.on_maintain(given) if maintain else strategy.on_write(given)
    return run(flow, perform), asked


def answered(request: Request, given: Given, model: Model) -> Any:
    """Answer a request of a strategy that runs without a store: there is what it was given as known, and no more."""
    match request:
        case Pause():
            return None
        case Known():
            return list(given.known)
        case Search():
            return [SearchHit(item, 1.0, 0.0) for item in given.known[: request.k]]
        case ScoreItems():
            return [(item.id, 1.0) for item in given.known[: request.k]]
        case Fetch(ids):
            return {item.id: item for item in given.known if item.id in ids}
        case Strengths(ids):
            return {id: Strength() for id in ids}
        case Spread(seeds):
            return {id: weight / sum(seeds.values()) for id, weight in seeds.items()}
        case Keyed():
            return {}
        case Linked() | EmbedTexts():
            return []
        case Ask():
            return replying(model)(request)
        case AskEach(asks):
            return tuple(map(replying(model), asks))
        case NameModel():
            return "told"
        case CountJudged():
            return None
    raise AssertionError(f"a strategy may not ask {type(request).__name__}: see strategies.base")


def test_it_says_what_it_is(strategy: Strategy) -> None:
    assert re.fullmatch(r"[a-z][a-z0-9_]*", strategy.name)
    assert strategy.name not in ("embed", "jobs")
    assert strategy.by
    assert strategy.reads
    assert strategy.triggers or strategy.maintain
    assert strategy.batch >= 1
    assert min(strategy.budget.calls, strategy.budget.tokens, strategy.budget.seconds) >= 0


def test_nothing_comes_of_nothing(strategy: Strategy, given: Given, model: Model) -> None:
    for maintain in (False, True):
        edits, asked = thought(strategy, replace(given, evidence=()), model, maintain=maintain)
        assert edits == Edits()
        assert not [request for request in asked if isinstance(request, Ask)]


def test_given_the_same_it_asks_and_edits_the_same(strategy: Strategy, given: Given, model: Model) -> None:
    for maintain in (False, True):
        first = thought(strategy, given, model, maintain=maintain)
        assert thought(strategy, given, model, maintain=maintain) == first


def test_the_order_of_sets_changes_nothing(strategy: Strategy, given: Given, model: Model) -> None:
    """A strategy that goes through a set writes in another order, or cuts elsewhere, in another process."""

    def perform(request: Request) -> Any:
        return answered(request, given, model)

    for step in ("on_write", "on_maintain"):
        edits = [thought_reseeded(strategy, step, given, perform, seed) for seed in HASH_SEEDS]
        assert edits == edits[:1] * len(edits)


def test_it_keeps_its_budget(strategy: Strategy, given: Given, model: Model) -> None:
    _, asked = thought(strategy, given, model)
    assert sum(isinstance(request, Ask) for request in asked) <= strategy.budget.calls


def test_what_it_writes_is_signed_and_cites_what_it_was_given(strategy: Strategy, given: Given, model: Model) -> None:
    edits, _ = thought(strategy, given, model)
    ids = {item.id for item in (*given.evidence, *given.known)}
    keys = [derivation.key for derivation in edits.write]
    assert len(set(keys)) == len(keys)
    for derivation in edits.write:
        assert derivation.key.startswith(f"{strategy.name}:")
        assert derivation.slots["by"] == strategy.by
        assert derivation.source
        assert set(derivation.source) <= ids
        assert derivation.kind not in EVIDENCE
        assert derivation.text.strip()


def test_the_same_evidence_has_the_same_keys_whatever_comes_with_it(
    strategy: Strategy, given: Given, model: Model
) -> None:
    whole, _ = thought(strategy, given, model)
    half, _ = thought(strategy, replace(given, evidence=given.evidence[: len(given.evidence) // 2]), model)
    cited = {source for derivation in half.write for source in derivation.source}
    assert {derivation.key for derivation in half.write} <= {
        derivation.key for derivation in whole.write if set(derivation.source) & cited
    } or (
        strategy.budget.calls > 0  # a model may say less of less
    )


@pytest.fixture
def memory(strategy: Strategy, model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    """A store in which this strategy alone is followed."""
    monkeypatch.setitem(STRATEGIES, strategy.name, f"{type(strategy).__module__}:{type(strategy).__qualname__}")
    settings = Settings(strategies=strategy.name, background=False, embedder="none")
    with Memory(tmp_path / "m.db", settings=settings) as memory:
        monkeypatch.setattr(memory._opened.answering.language_model, "answer", replying(model))
        yield memory


def test_lanes_run_it_once_and_what_it_made_goes_with_its_evidence(
    strategy: Strategy, memory: Memory, texts: list[str]
) -> None:
    me = memory.scope(user="ada")
    if Kind.TURN not in strategy.reads:
        pytest.skip("it reads no turns")
    receipt = me.observe(texts, speaker="Ada")
    assert memory.flush()
    first = [version.item.text for version in me.list(where=DERIVED, limit=1000)]
    assert memory.flush()
    assert [version.item.text for version in me.list(where=DERIVED, limit=1000)] == first
    assert memory.admin.verify() == []
    me.erase(*receipt.ids)
    assert me.list(where=DERIVED, limit=1000) == []


def test_it_is_never_called_on_nothing_or_on_what_it_made(
    strategy: Strategy, memory: Memory, texts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[Given] = []
    for name in ("on_write", "on_maintain"):
        _observe_calls(type(strategy), name, calls, monkeypatch)
    me = memory.scope(user="ada")
    for text in texts:
        me.observe(text, speaker="Ada")
        assert memory.flush()
    assert all(call.evidence for call in calls)
    assert not [item.text for call in calls for item in call.evidence if item.slots.get("by") == strategy.by]
    assert {lane.pending for lane in memory.admin.behind()} <= {0}


def _observe_calls(kind: type[Strategy], name: str, calls: list[Given], monkeypatch: pytest.MonkeyPatch) -> None:
    method = getattr(kind, name)

    def observed(self: Strategy, given: Given) -> Flow[Edits]:
        calls.append(given)
        edits: Edits = yield from method(self, given)
        return edits

    monkeypatch.setattr(kind, name, observed)


def test_what_it_looked_up_it_may_revise(
    strategy: Strategy, memory: Memory, texts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    me = memory.scope(user="ada")
    me.observe(texts, speaker="Ada")
    memory.flush()
    before = {version.item.id for version in me.list(where=DERIVED, limit=1000)}
    if not before:
        pytest.skip("it makes nothing of these texts")
    on_write = type(strategy).on_write

    def revising(self: Strategy, given: Given) -> Flow[Edits]:
        edits = yield from on_write(self, given)
        looked_up = yield from known(DERIVED, 1000)
        marks = (Revision(id=item.id, slots={**item.slots, "seen": True}) for item in looked_up)
        return replace(edits, revise=tuple(mark for mark in marks if mark.id in before))

    monkeypatch.setattr(type(strategy), "on_write", revising)
    me.observe("Nothing in particular.", speaker="Ada")
    assert memory.flush()
    assert {v.item.id for v in me.list(where=DERIVED, limit=1000) if v.item.slots.get("seen")} == before
    assert memory.admin.verify() == []


def test_what_it_keeps_for_itself_moves_nobodys_recall(strategy: Strategy, memory: Memory, texts: list[str]) -> None:
    """Neither a rank nor a score, of which counts of words are a part; what everybody sees, a bench measures."""
    me = memory.scope(user="ada")
    me.observe(texts, speaker="Ada")

    def ranked() -> list[list[tuple[str, float]]]:
        contexts = (me.recall(text, k=100) for text in texts)
        return [[(recalled.id, recalled.score) for recalled in context] for context in contexts]

    before = ranked()
    assert memory.flush()
    derived = [version.item for version in me.list(where=DERIVED, limit=1000)]
    if any(item.sight is Sight.ALL and any(entry_terms(item)) for item in derived):
        pytest.skip("everybody sees what it makes")
    assert ranked() == before
    assert {item.id for item in derived if item.author == strategy.by} == {
        version.item.id for version in me.list(where=Filter(by=(strategy.by,)), limit=1000)
    }


def test_run_again_it_makes_the_same(strategy: Strategy, memory: Memory, texts: list[str]) -> None:
    me = memory.scope(user="ada")
    me.observe(texts, speaker="Ada")
    memory.flush()
    first = sorted(version.item.text for version in me.list(where=DERIVED, limit=1000))
    memory.admin.rerun(strategy.name, user="ada")
    memory.flush()
    assert sorted(version.item.text for version in me.list(where=DERIVED, limit=1000)) == first
    assert memory.admin.verify() == []


def _remembered(strategy: Strategy, memory: Memory, texts: list[str]) -> ScopedMemory:
    """A memory in which a strategy with a recall of its own has read all texts."""
    if not has_own_recall(strategy):
        pytest.skip("it has no recall of its own")
    me = memory.scope(user="ada")
    me.observe(texts, speaker="Ada")
    assert memory.flush()
    return me


def test_its_recall_is_the_same_whatever_the_order_of_sets(
    strategy: Strategy, memory: Memory, texts: list[str], model: Model
) -> None:
    me = _remembered(strategy, memory, texts)
    with me._opened.store.read() as snapshot:
        spaces, now = spaces_of(snapshot, me._who), snapshot.now
        view = View(at=snapshot.head(snapshot.tenants()[0][0]).seq)
    for text in texts[:2]:
        answers = []
        for seed in HASH_SEEDS:
            reads = MemoryReads(strategy, spaces, view, now)
            perform = partial(_recall_answer, memory, reads, model)
            asked = Asked(text=text, now=moment(now), k=5)
            answers.append((thought_reseeded(strategy, "on_recall", asked, perform, seed), list(reads.shown)))
        assert answers == answers[:1] * len(answers)


def _recall_answer(memory: Memory, reads: MemoryReads, model: Model, request: Request) -> Any:
    """Answer a request of a recall over a store."""
    match request:
        case Ask():
            return replying(model)(request)
        case AskEach(asks):
            return tuple(map(replying(model), asks))
        case NameModel():
            return "told"
    return run(reads.answered(request), memory._opened.answering.perform)


def test_its_recall_picks_what_it_was_shown_and_writes_nothing(
    strategy: Strategy, memory: Memory, texts: list[str]
) -> None:
    me = _remembered(strategy, memory, texts)
    head, held = me.log()[0].seq, memory.admin.stats()
    for text in texts:
        first = me.recall(text, by=strategy.name, k=5)  # `Invalid` for a pick that it was not shown
        assert len(first) <= 5
        assert [recalled.id for recalled in me.recall(text, by=strategy.name, k=5)] == [
            recalled.id for recalled in first
        ]
    assert me.log()[0].seq == head
    assert memory.admin.verify() == []
    assert memory.admin.stats().items == held.items


__all__ = ["given", "memory", "model", "texts", *(name for name in dir() if name.startswith("test_"))]
