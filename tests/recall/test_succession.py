"""What recall puts first as newer gives way where it is likely of another matter; weights fit what the model reads."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from mnemic.core.ids import ItemId
from mnemic.core.items import Item, Kind
from mnemic.core.queries import Recalled
from mnemic.recall import sureness
from mnemic.recall.answer import UNFOLLOWED
from mnemic.recall.succession import SUCCESSION_INPUTS, rival, succession, without_first
from mnemic.recall.sureness import likely_succeeds


def recalled(n: int, text: str, bearing: float, place: int) -> Recalled:
    item = Item(id=ItemId(f"{n:026}"), kind=Kind.TURN, text=text, said=datetime(2025, 1, 1 + n, tzinfo=UTC))
    return Recalled(item=item, seq=n, score=1.0, components={}, reasons=(), tokens=9, bearing=bearing, succession=place)


NEWER = recalled(3, "Actually it's fifty that I owe Priya, not forty.", 0.4, 1)
OLDER = recalled(1, "My address is 18 Orchard Lane.", 4.2, 2)
MOVED = recalled(3, "New address for me: 5 Mill Row.", 4.4, 1)
OTHER = recalled(2, "Rain all day.", -2.0, 0)


def test_the_weights_fit_what_the_model_reads() -> None:
    for learned in sureness.weights().values():
        assert len(learned.succession) == len(SUCCESSION_INPUTS) + 1
    assert succession("What's my address?", NEWER, OLDER, 2).shape == (len(SUCCESSION_INPUTS),)


def test_the_rival_is_the_older_state_that_bears_most() -> None:
    third = recalled(0, "I have an address in Rome.", 1.0, 3)
    assert rival([NEWER, third, OTHER, OLDER]) is OLDER
    assert rival([OTHER, NEWER, OLDER]) is None
    assert rival([]) is None


def test_without_the_first_the_next_state_leads_and_the_rest_are_numbered_anew() -> None:
    third = recalled(0, "I have an address in Rome.", 1.0, 3)
    lead, *rest = without_first([NEWER, OTHER, OLDER, third])
    assert (lead.id, lead.succession) == (OLDER.id, 1)
    assert [(one.id, one.succession) for one in rest] == [(NEWER.id, 0), (OTHER.id, 0), (third.id, 2)]
    assert without_first([NEWER, OLDER])[0].succession == 0


@pytest.mark.parametrize("question", ["What's my address?", "What is my address now?"])
def test_a_statement_of_something_else_is_less_likely_to_take_a_place_than_one_of_the_same(question: str) -> None:
    unlike, alike = (likely_succeeds(question, [newer, OLDER], OLDER) for newer in (NEWER, MOVED))
    assert unlike < UNFOLLOWED < alike


def test_what_recall_holds_for_one_matter_is_likelier_to_take_its_place() -> None:
    question, newer = "Where do I live?", recalled(3, "The commute from Swindon is killing me.", 0.4, 1)
    odds = [
        likely_succeeds(question, [replace(newer, same_matter=same), OLDER], OLDER) for same in (-4.0, 0.0, 4.0, None)
    ]
    assert odds[0] < odds[1] == odds[3] < odds[2]
