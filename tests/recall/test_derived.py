"""What a person, a model or a strategy derived is found by recall, by its own words, and tied to its evidence."""

from __future__ import annotations

import pytest

from mnemic import Kind, Memory
from mnemic.core.items import Channel
from mnemic.errors import Invalid


@pytest.mark.parametrize("kind", [Kind.FACT, Kind.PROFILE])
@pytest.mark.parametrize("by", [None, "model", "digest"])
def test_a_derived_fact_is_recalled_once_and_names_its_evidence(kind: Kind, by: str | None) -> None:
    slots = {} if by is None else {"by": by}
    with Memory("memory:", embedder="none") as memory:
        me = memory.scope(user="ada")
        said = me.observe("No prawns for me, ever since that night in the clinic.").id
        me.observe("The bus was late again.")
        fact = me.write("Ada has a shellfish allergy.", kind=kind, source=(said,), slots=slots).id
        found = [hit for hit in me.recall("Who has a shellfish allergy?") if hit.id == fact]
        assert len(found) == 1
        assert f"rests on {said}" in found[0].reasons


@pytest.mark.parametrize(
    ("said", "question", "says"),
    [
        ("I live in Lisbon.", "Which city do I live in?", "The user lives in Lisbon."),
        ("我现在住在上海。", "我住在哪座城市？", "用户住在上海。"),
    ],
)
def test_a_recall_does_not_doubt_what_the_profile_states(said: str, question: str, says: str) -> None:
    with Memory("memory:", embedder="none") as memory:
        me = memory.scope(user="user")
        me.observe(said)
        me.observe("The bus was late again.")
        memory.flush()
        notes = me.recall(question).notes
        assert f"the profile says: {says}" in notes
        assert not any(note.startswith("probably not in memory") for note in notes)
        assert me.recall("Who drives the bus to the lighthouse?").notes[-1].startswith("probably not in memory")


@pytest.mark.parametrize(
    ("by_hand", "said", "doubted", "reason"),
    [
        ("The user lives in Paris.", "I moved to Rome yesterday.", "The user lives in Paris.", "said later than"),
        ("用户住在北京。", "我昨天搬到了上海。", "用户住在北京。", "said later than"),
        ("I work at Globex.", "I work at Acme.", "I work at Globex.", "said later than"),
    ],
)
@pytest.mark.parametrize("hand_first", [True, False])
def test_of_a_fact_by_hand_and_one_by_rules_the_later_stands(
    by_hand: str, said: str, doubted: str, reason: str, hand_first: bool
) -> None:
    with Memory("memory:", embedder="none") as memory:
        me = memory.scope(user="user")
        days = ("2026-03-01T09:00:00Z", "2026-05-01T09:00:00Z")
        me.write(by_hand, said=days[not hand_first])
        me.observe(said, said=days[hand_first])
        memory.flush()
        (doubt,) = me.review()
        assert (doubt.fact.text == doubted) is hand_first
        assert (doubt.newer.text == by_hand) is not hand_first
        assert (reason if hand_first else "written by hand later") in doubt.reason
        assert [belief.doubt is not None for belief in me.profile()].count(True) == 1
        if hand_first:
            with pytest.raises(Invalid, match="mnemic revise"):
                me.settle(doubt.fact.id, ended=True)
        kept = me.settle(doubt.fact.id, keep=True)
        assert me.review() == []
        me.undo(kept.seq)
        assert [again.fact.id for again in me.review()] == [doubt.fact.id]


def test_facts_by_hand_of_the_same_value_or_of_somebody_else_are_in_no_doubt() -> None:
    with Memory("memory:", embedder="none") as memory:
        me = memory.scope(user="user")
        me.observe("I live in Paris.")
        me.write("The user lives in Paris.")
        me.write("Clara lives in Rome.")
        memory.flush()
        assert me.review() == []


@pytest.mark.parametrize(
    ("undated", "question"), [("I live in Bruges now.", "Where do I live?"), ("我现在住在布鲁日。", "我住在哪里？")]
)
def test_a_turn_of_a_file_that_names_no_time_says_so(undated: str, question: str) -> None:
    why = "its source names no time: it may be older than its import"
    with Memory("memory:", embedder="none") as memory:
        me = memory.scope(user="user")
        me.observe(undated, channel=Channel.IMPORT)
        me.observe("I live in Ghent. 我住在根特。", said="2025-03-01T10:00:00Z", channel=Channel.IMPORT)
        me.observe("I live in Antwerp. 我住在安特卫普。")
        reasons = {item.text: item.reasons for item in me.recall(question, k=3)}
        assert [text for text, each in reasons.items() if why in each] == [undated]
        assert len(reasons) == 3


@pytest.mark.parametrize(
    ("first", "then", "day", "lives"),
    [
        ("I live in Oslo.", "I moved from Oslo to Trondheim on 1 March.", "2025-02-20", "Oslo"),
        ("I live in Oslo.", "I moved from Oslo to Trondheim on 1 March.", "2025-03-03", "Trondheim"),
        ("我住在北京。", "我3月1日搬到了上海。", "2025-03-03", "上海"),
    ],
)
def test_what_held_before_it_was_said_is_in_the_profile_of_that_time(
    first: str, then: str, day: str, lives: str
) -> None:
    with Memory("memory:", embedder="none") as memory:
        me = memory.scope(user="maya")
        me.observe(first, said="2025-01-10T09:00:00Z")
        me.observe(then, said="2025-03-15T09:00:00Z")
        memory.flush()
        held = me.valid_at(f"{day}T12:00:00Z")
        (residence,) = held.profile()
        assert lives in residence.text
        assert lives in held.context("anything").text


def test_who_speaks_in_the_role_of_the_user_is_the_user_under_whatever_one_name() -> None:
    with Memory("memory:", embedder="none") as memory:
        me = memory.scope(user="me")
        me.observe("I live in Oslo.", slots={"role": "user", "speaker": "Maya"})
        me.observe("I live in Bergen.", slots={"speaker": "Ben"})
        memory.flush()
        assert {belief.text: belief.subject for belief in me.profile()} == {
            "Maya lives in Oslo.": "user",
            "Ben lives in Bergen.": "Ben",
        }
        assert "Oslo" in me.ask("Which city do I live in?").text
        me.observe("I live in Rome.", slots={"role": "user", "speaker": "Carla"})
        memory.flush()
        assert {belief.subject for belief in me.profile()} == {"Maya", "Ben", "Carla"}, "a group: nobody can tell who"
