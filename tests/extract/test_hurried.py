"""What is typed in a hurry, without capitals and stops, states facts like anything else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mnemic.extract.hurried import with_capitals, written_out
from mnemic.extract.patterns import SlotAct
from mnemic.extract.slots import slots
from mnemic.recall.asked_for import AnswerType, surely_held

HURRIED = Path(__file__).parent.parent / "fixtures" / "hurried"
SAID = 1_756_728_000_000_000
READ_ELSEWHERE = frozenset(
    ["age", "job", "diet", "allergy", "family", "marital_status", "likes", "dislikes", "avoids", "possession", "home"]
)
"""Slots that the sentences were not labelled for."""


def facts_in(text: str) -> set[tuple[str, str, bool]]:
    return {
        (found.slot, str(found.value).casefold(), found.act is SlotAct.ENDS)
        for found in slots(text, "user", SAID)
        if found.slot
    }


@pytest.mark.parametrize(("half", "least"), [("try", 0.88), ("check", 0.86)])
def test_most_facts_typed_in_a_hurry_are_found_and_next_to_nothing_else(half: str, least: float) -> None:
    lines = (HURRIED / f"facts_{half}.jsonl").read_text("utf-8").splitlines()
    wanted = right = wrong = fooled = negatives = 0
    for row in map(json.loads, lines):
        want = {(slot, value.casefold(), ends) for slot, value, ends in row["facts"]}
        found = facts_in(row["text"])
        if want:
            wanted += len(want)
            right += len(want & found)
            wrong += sum(slot not in READ_ELSEWHERE and bool(value) for slot, value, _ in found - want)
        else:
            negatives += 1
            fooled += bool(found)
    assert wanted > 50
    assert negatives > 55
    assert right >= least * wanted
    assert wrong <= 1
    assert fooled <= 1


@pytest.mark.parametrize(
    ("typed", "written"),
    [
        ("my sister anna lives in leeds", "my sister Anna lives in Leeds"),
        ("u can call me gus", "you can call me Gus"),
        ("i'm 34 live in lyon married to ana", "i'm 34, i live in Lyon, i'm married to Ana"),
        ("i moved to tears", "i moved to tears"),
        ("i moved to reading", "i moved to Reading"),
        ("i love reading", "i love reading"),
        ("my gf is called nora", "my girlfriend is called Nora"),
        ("my wife called twice", "my wife called twice"),
        ("I told Anna u moved to york", "I told Anna u moved to york"),
        ("my mother tongue is rusty", "my mother tongue is rusty"),
        ("when i moved to york i was sad", "when i moved to York, i was sad"),
        ("sold my car to a dealer", "sold my car to a dealer"),
    ],
)
def test_a_hurried_sentence_is_written_out(typed: str, written: str) -> None:
    assert written_out(typed) == written


def test_capitals_change_no_letter_and_no_length() -> None:
    for half in ("try", "check"):
        for line in (HURRIED / f"facts_{half}.jsonl").read_text("utf-8").splitlines():
            text = json.loads(line)["text"]
            assert with_capitals(text).lower() == text


def test_a_long_hurried_text_takes_no_longer_than_it_is_long() -> None:
    text = "my sister and my brother and my dog and "
    assert with_capitals(text * 200).lower() == text * 200


def test_what_is_given_in_short_stands_in_the_text_as_it_was_typed(world: Any) -> None:
    text = "my sister anna lives in leeds"
    item = world.say(text, by="user")
    assert surely_held(AnswerType.PLACE, text, item, "where does my sister live") == "leeds"
