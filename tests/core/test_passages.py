"""What a passage that is embedded begins with: who said it, or what it stands under."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from mnemic.core.ids import from_bytes
from mnemic.core.items import Channel, Item, Kind, Slot
from mnemic.core.parts import passage_texts

WHEN = datetime(2024, 5, 6, tzinfo=UTC)


@pytest.mark.parametrize(
    ("kind", "channel", "slots", "passage"),
    [
        pytest.param(Kind.TURN, Channel.USER, {}, "user: I live in Bern.", id="a turn without a role"),
        pytest.param(Kind.TURN, Channel.USER, {"role": "user"}, "user: I live in Bern.", id="the user's"),
        pytest.param(Kind.TURN, Channel.USER, {"speaker": "Ada"}, "Ada: I live in Bern.", id="somebody's by name"),
        pytest.param(Kind.TURN, Channel.USER, {"title": "Home"}, "Home: I live in Bern.", id="under a title"),
        pytest.param(Kind.TURN, Channel.TOOL, {}, "I live in Bern.", id="a tool's"),
        pytest.param(Kind.FACT, Channel.USER, {}, "I live in Bern.", id="a fact"),
    ],
)
def test_a_passage_begins_with_who_said_it(kind: Kind, channel: Channel, slots: dict[str, Slot], passage: str) -> None:
    item = Item(id=from_bytes(bytes(16)), kind=kind, text="I live in Bern.", said=WHEN, channel=channel, slots=slots)
    assert passage_texts(item) == [passage]
