"""The bundled conversation holds together: keys resolve, times rise, facts and questions cite real turns."""

from __future__ import annotations

from datetime import UTC, datetime

from mnemic.demo import conversation, facts, questions
from mnemic.ingest import read


def test_a_year_of_ten_sessions_in_two_languages() -> None:
    turns = conversation()
    assert len(turns) == 135
    assert list(dict.fromkeys(t.session for t in turns)) == [f"s{n:02}" for n in range(1, 11)]
    chinese = {t.session for t in turns if any("\u4e00" <= c <= "\u9fff" for c in t.text)}
    assert chinese == {"s02", "s04", "s06", "s08"}
    assert {t.slots["speaker"] for t in turns} == {"Ada", "Mnemo"}


def test_no_turn_was_left_out_of_the_bundled_file() -> None:
    from importlib.resources import as_file, files

    with as_file(files("mnemic.demo") / "conversation.jsonl") as path:
        assert tuple(read(path, "jsonl", source="demo")) == conversation()


def test_turns_are_said_in_order_on_ada_s_own_clock() -> None:
    said = [t.said for t in conversation() if t.said]
    assert len(said) == 135
    assert said == sorted(said)
    assert len(set(said)) == len(said)
    assert (said[0].date().isoformat(), said[-1].date().isoformat()) == ("2025-02-09", "2026-01-18")


def test_every_fact_cites_turns_said_by_then_and_follows_the_one_it_supersedes() -> None:
    said = {t.key: t.said for t in conversation()}
    before: dict[str, datetime] = {}
    for fact in facts():
        assert fact.source
        assert max(said[key] or datetime.max.replace(tzinfo=UTC) for key in fact.source) == fact.said
        assert fact.supersedes is None or before[fact.supersedes] < fact.said
        before[fact.key] = fact.said
    assert len(before) == 10


def test_every_question_has_gold_that_was_known_when_it_is_asked_about() -> None:
    said = {t.key: t.said for t in conversation()}
    asked = questions()
    assert [q.language for q in asked] == ["en"] * 12 + ["zh"] * 12
    assert sum(q.as_of is not None for q in asked) == 7
    for question in asked:
        assert question.gold
        for key in question.gold:
            told = said[key]
            assert told is not None
            assert question.as_of is None or told < question.as_of
