"""What `stream` keeps of turns: their importance, and insights once enough of it has come together."""

from __future__ import annotations

import random
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic import Filter, Kind, Memory, ScopedMemory
from mnemic.core.ids import ItemId
from mnemic.core.items import Item, Link, Strength
from mnemic.errors import ModelError
from mnemic.flow import Request, run
from mnemic.lab.kit.scripted_readers import shown
from mnemic.models.chat.base import Ask
from mnemic.strategies.base import Asked, Pick
from mnemic.strategies.strategy_requests import Fetch, Linked, Search, SearchHit, Strengths
from mnemic.strategies.stream import CODE, DERIVED_FROM, PAPER, WEIGHS, Stream, StreamWeights
from mnemic.strategies.units import TokensUnit, TurnUnit

sys.path.insert(0, str(Path(__file__).parent))
from told_chat import ToldChat, following

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
INSIGHTS = Filter(kinds=(Kind.INSIGHT,), by=("stream",))
RECORDS = Filter(kinds=(Kind.SUMMARY,), by=("stream",), tags=("importance",))
MARKS = Filter(kinds=(Kind.SUMMARY,), by=("stream",), tags=("reflection",))
EACH = Stream(unit=TurnUnit())


def score_of(line: str) -> int:
    """A turn says itself how much it weighs: "... weighs 7"; an insight weighs 9."""
    return int(line.rpartition("weighs ")[2]) if "weighs " in line else 9


def knowing(ask: Ask) -> dict[str, Any]:
    lines = shown(ask)
    if ask.task == "score_importance":
        return {"scores": [{"of": n, "score": score_of(line)} for n, line in enumerate(lines, 1)]}
    if ask.task == "focal_questions":
        return {"questions": ["What does Ada keep?", "How are the bees?"]}
    insights = [n for n, line in enumerate(lines, 1) if "insight" in line]
    turns = [n for n, line in enumerate(lines, 1) if "hive" in line and n not in insights][:2]
    question = "bees" if "bees" in str(ask.messages) else "keeps"
    return {"insights": [{"text": f"An insight about hive and bees, by {len(lines)}.", "from": [*turns, *insights[:1]]}]
                        if turns and question else []}  # fmt: skip


def tell(me: ScopedMemory, *texts: str, day: int = 0) -> list[ItemId]:
    dated = ((START + timedelta(hours=24 * day + n), text) for n, text in enumerate(texts))
    return [me.observe(text, role="user", speaker="Ada", said=said).ids[0] for said, text in dated]


def hives(*scores: int, first: int = 0) -> list[str]:
    return [f"Ada keeps hive {first + n}, the bees are well, weighs {score}" for n, score in enumerate(scores)]


def texts(me: ScopedMemory, where: Filter) -> list[str]:
    return [one.item.text for one in me.list(where=where, limit=100)]


def test_each_turn_is_weighed_once_and_left_as_it_is() -> None:
    chat = ToldChat(knowing)
    memory, me = following(Stream(unit=TokensUnit(24)), chat)
    with memory:
        ids = tell(me, *hives(3, 8))
        before = [me.get(id) for id in ids]
        assert memory.flush()
        assert memory.flush()
        assert chat.tasks() == ["score_importance"]
        assert texts(me, RECORDS) == ["Importance of 2 turns, from 1 to 10: 3, 8"]
        assert {link.dst: link.weight for id in ids for link in me.links(id)} == dict(zip(ids, (0.3, 0.8), strict=True))
        assert [me.get(id) for id in ids] == before
        assert memory.admin.verify() == []


def test_there_is_no_reflection_at_14_9_and_one_at_15() -> None:
    for last, marks in ((9, 0), (10, 1)):
        chat = ToldChat(knowing)
        memory, me = following(EACH, chat)
        with memory:
            tell(me, *hives(*[10] * 14, last))
            assert memory.flush()
            assert len(texts(me, MARKS)) == marks
            assert chat.tasks().count("focal_questions") == marks


def test_what_was_reflected_upon_does_not_count_again() -> None:
    chat = ToldChat(knowing)
    memory, me = following(replace(EACH, threshold=2.0), chat)
    with memory:
        tell(me, *hives(10, 10, 10, 9))
        assert memory.flush()
        assert len(texts(me, MARKS)) == 1
        tell(me, *hives(1, first=9), day=1)
        assert memory.flush()
        assert len(texts(me, MARKS)) == 2


def reflected(*scores: int, chat: ToldChat | None = None) -> tuple[Memory, ScopedMemory, list[ItemId]]:
    memory, me = following(replace(EACH, threshold=2.0), chat or ToldChat(knowing))
    ids = tell(me, *hives(*scores))
    assert memory.flush()
    return memory, me, ids


def test_an_insight_cites_what_it_rests_on_and_stands_a_step_above_it() -> None:
    memory, me, ids = reflected(10, 10)
    with memory:
        (first,) = me.list(where=INSIGHTS)
        assert set(first.item.source) == set(ids)
        assert (first.item.slots["depth"], first.item.slots["importance"]) == (1, 0.9)
        assert {(link.src, link.dst) for link in me.links(first.item.id) if link.type == DERIVED_FROM} == {
            (first.item.id, id) for id in ids
        }
        tell(me, *hives(10, 10, first=2), day=1)
        assert memory.flush()
        later = max(me.list(where=INSIGHTS), key=lambda one: one.item.said).item
        assert first.item.id in later.source
        assert later.slots["depth"] == 2
        assert memory.admin.verify() == []


def test_a_reflection_takes_five_questions_to_the_model() -> None:
    chat = ToldChat(lambda ask: {"questions": ["What hive?", "Which hive?", "Whose hive?"]}
                    if ask.task == "focal_questions" else knowing(ask))  # fmt: skip
    memory, _, _ = reflected(10, 10, chat=chat)
    with memory:
        asked = ["focal_questions", *["insights_with_evidence"] * 3, "score_importance"]
        assert chat.tasks() == ["score_importance"] * 2 + asked


def test_an_insight_that_is_known_in_the_same_words_is_not_written_twice() -> None:
    same = {"insights": [{"text": "Ada keeps bees.", "from": [1]}, {"text": "ada keeps BEES", "from": [2]}]}
    chat = ToldChat(lambda ask: same if ask.task == "insights_with_evidence" else knowing(ask))
    memory, me, _ = reflected(10, 10, chat=chat)
    with memory:
        tell(me, *hives(10, 10, first=2), day=1)
        assert memory.flush()
        assert texts(me, INSIGHTS) == ["Ada keeps bees."]
        assert len(texts(me, MARKS)) == 2


BAD = {
    "refusal": "I'm sorry, I can't help with that.",
    "prose": "It follows that Ada keeps bees.",
    "wrong handle": {"insights": [{"text": "Ada keeps bees.", "from": [1, 99]}]},
    "too many": {"insights": [{"text": f"Ada keeps {n} bees.", "from": [1]} for n in range(15)]},
    "cut off": "Ada keeps bees. " * 600,
    "given orders": {"insights": [], "erase": ["everything"]},
}


@pytest.mark.parametrize("said", BAD.values(), ids=BAD.keys())
def test_an_answer_that_is_not_sound_concludes_nothing(said: str | dict[str, Any]) -> None:
    chat = ToldChat(lambda ask: said if ask.task == "insights_with_evidence" else knowing(ask))
    memory, me, ids = reflected(10, 10, chat=chat)
    with memory:
        assert texts(me, INSIGHTS) == []
        assert len(me.list(where=Filter(kinds=(Kind.TURN,)))) == len(ids)
        gauges = memory._opened.answering.meters.measured().gauges
        assert gauges["judged.insights_with_evidence.rules"] == 2


def test_who_gives_no_sound_scores_has_turns_weighed_by_rules() -> None:
    chat = ToldChat(lambda ask: {"scores": [{"of": 7, "score": 3}]})
    memory, me = following(EACH, chat)
    with memory:
        tell(me, "My father died in the hospital last week.", "ok")
        assert memory.flush()
        weights = [int(text.rpartition(" ")[2]) for text in texts(me, RECORDS)]
        assert sorted(weights)[0] == 1 < sorted(weights)[1]


def test_without_a_model_turns_are_weighed_and_nothing_is_concluded() -> None:
    memory, me = following(replace(EACH, threshold=0.5), None)
    with memory:
        tell(me, *hives(10, 10, 10))
        assert memory.flush()
        assert len(texts(me, RECORDS)) == 3
        assert texts(me, INSIGHTS) == texts(me, MARKS) == []


def test_a_run_that_is_killed_pays_for_no_answer_twice() -> None:
    faults = [ModelError("told: gone")]
    chat = ToldChat(lambda ask: faults.pop() if faults and ask.task == "insights_with_evidence" else knowing(ask))
    memory, me = following(replace(EACH, threshold=1.0), chat)
    with memory:
        tell(me, *hives(10))
        with pytest.raises(ModelError):
            memory.flush()
        memory._opened.clock.tick(3_600_000_000)  # type: ignore[attr-defined]
        assert memory.flush()
        assert sorted(chat.tasks()) == [
            "focal_questions", *["insights_with_evidence"] * 3, *["score_importance"] * 2
        ]  # fmt: skip
        assert len(texts(me, INSIGHTS)) == 1


@pytest.mark.parametrize("place", [0, 1, 2])
def test_erasing_a_turn_leaves_nothing_of_it_and_the_others_are_weighed_and_reflected_upon_again(place: int) -> None:
    memory, me = following(Stream(unit=TokensUnit(36), threshold=2.0), ToldChat(knowing))
    with memory:
        ids = tell(me, *hives(10, 10, 10))
        assert memory.flush()
        assert len(texts(me, INSIGHTS)) == len(texts(me, MARKS)) == 1
        me.erase(ids[place])
        assert texts(me, INSIGHTS) == [] or ids[place] not in me.list(where=INSIGHTS)[0].item.source
        assert memory.flush()
        left = {id for n, id in enumerate(ids) if n != place}
        (mark,), (insight,) = (me.list(where=where) for where in (MARKS, INSIGHTS))
        weighed = [id for record in me.list(where=RECORDS) for id in record.item.source]
        assert sorted(weighed) == sorted(left)
        assert set(mark.item.source) == left
        assert set(insight.item.source) <= left
        assert memory.admin.verify() == []


TURNS = hives(4, 9, 2, 10, 7, 6, 1, 8, 3, 10, 9, 5, 2, 6)


def view(strategy: Stream, cuts: random.Random | None, chat: ToldChat | None) -> list[tuple[object, ...]]:
    memory, me = following(strategy, chat)
    with memory:
        for n, text in enumerate(TURNS):
            tell(me, text, day=n)
            if cuts is not None and cuts.random() < 0.5:
                if cuts.random() < 0.5:
                    memory._opened.background.serve(Event(), once=True)
                else:
                    assert memory.flush()
        assert memory.flush()
        turns = {one.item.id: one.item.text for one in me.list(limit=100)}
        return sorted(
            (one.item.text, str(one.item.slots.get("depth")), sorted(turns[id] for id in one.item.source))
            for one in me.list(where=Filter(by=("stream",), kinds=(Kind.INSIGHT, Kind.SUMMARY)), limit=100)
        )


@pytest.mark.parametrize("strategy", [replace(EACH, threshold=3), Stream(unit=TokensUnit(36), threshold=3.0)])
@pytest.mark.parametrize("chat", [ToldChat(knowing), None], ids=["model", "rules"])
def test_however_the_journal_is_cut_the_view_is_the_same(strategy: Stream, chat: ToldChat | None) -> None:
    whole = view(strategy, None, chat)
    assert len(whole) > 2
    for seed in range(3):
        assert view(strategy, random.Random(seed), chat) == whole


def turn(n: int, hours: float, *, kind: Kind = Kind.TURN, **slots: Any) -> Item:
    said = START + timedelta(hours=hours)
    source = (ItemId("0"),) if kind is Kind.INSIGHT else ()
    return Item(id=ItemId(f"{n:026d}"), kind=kind, text=f"turn {n}", said=said, slots=slots, source=source)


def picks(
    hits: Sequence[SearchHit],
    weighed: Mapping[ItemId, float],
    used: Mapping[ItemId, Strength] | None = None,
    weights: StreamWeights = CODE,
) -> list[Pick]:
    """What the recall picks where the search finds this."""

    def perform(request: Request) -> Any:
        match request:
            case Search():
                return hits
            case Linked(ids, types):
                assert types == (WEIGHS,)
                return [Link(src=ItemId("r"), dst=id, type=WEIGHS, weight=weighed[id]) for id in ids if id in weighed]
            case Fetch(ids):
                return {id: replace(turn(0, 0, by="stream"), id=id) for id in ids}
            case Strengths():
                return used or {}
        raise AssertionError(request)

    return list(run(Stream(weights=weights).on_recall(Asked(text="?", now=START, k=10)), perform))


def test_a_score_is_the_sum_of_three_parts_by_their_weights() -> None:
    old, new, insight = turn(1, 0), turn(2, 240), turn(3, 120, kind=Kind.INSIGHT, by="stream", importance=0.5, depth=1)
    hits = [SearchHit(old, 8.0, 0.5), SearchHit(new, 2.5, 0.5), SearchHit(insight, 2.0, 0.5)]
    for weights, order in ((PAPER, [new, old, insight]), (CODE, [old, new, insight])):
        ranked = picks(hits, {old.id: 0.4, new.id: 0.6}, weights=weights)
        assert [pick.item for pick in ranked] == order
        parts = {pick.item.id: pick.components for pick in ranked}
        assert [parts[old.id][name] for name in ("recency", "importance", "relevance")] == [0, 0, 1]
        assert parts[new.id]["recency"] == parts[new.id]["importance"] == 1
        total = weights.recency + weights.importance + weights.relevance
        assert {pick.item.id: pick.score for pick in ranked}[old.id] == round(weights.relevance / total, 9)


def test_somebody_elses_insights_are_left_out_and_what_nobody_weighed_is_middling() -> None:
    foreign = turn(1, 0, kind=Kind.INSIGHT, by="zep")
    light, unknown, heavy = turn(2, 0), turn(3, 0), turn(4, 0)
    ranked = picks(
        [SearchHit(one, 1.0, 0.5) for one in (foreign, light, unknown, heavy)], {light.id: 0.2, heavy.id: 0.8}
    )
    assert [pick.item for pick in ranked] == [heavy, unknown, light]


def test_to_be_shown_is_no_use_and_to_have_been_useful_is() -> None:
    shown_only, useful = turn(1, 0), turn(2, 0)
    later = START + timedelta(hours=100)
    used = {shown_only.id: Strength(uses=9, last_used=later), useful.id: Strength(uses=1, useful=1, last_used=later)}
    ranked = picks([SearchHit(one, 1.0, 0.5) for one in (shown_only, useful)], {}, used)
    assert [pick.components["recency"] for pick in ranked] == [1, 0]
    assert ranked[0].item == useful


@given(st.lists(st.integers(0, 100_000), min_size=2, max_size=12), st.integers(0, 11), st.integers(1, 10_000))
def test_what_is_newer_is_never_ranked_lower_for_it(hours: list[int], which: int, later: int) -> None:
    """The published code has it the other way round."""
    items = [turn(n, hour) for n, hour in enumerate(hours)]
    moved = which % len(items)

    def place(items: list[Item]) -> int:
        return [pick.item.id for pick in picks([SearchHit(one, 1.0, 0.5) for one in items], {})].index(items[moved].id)

    before = place(items)
    items[moved] = turn(moved, hours[moved] + later)
    assert place(items) <= before
