"""The two readers of an item's bytes say the same: the one that makes an item, and the one that checks its rows."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.core.ids import from_bytes
from mnemic.core.items import Channel, Item, Kind, State
from mnemic.core.parts import entry_terms, terms_of
from mnemic.errors import StoreCorrupt
from mnemic.store.engine.codec import canonical, columns, decode_item, encode_item, read_body

NAME = from_bytes(b"an item's number")
TIMES = st.datetimes(timezones=st.just(UTC))
NAMES = st.none() | st.text(min_size=1, max_size=8)
ITEMS = st.builds(
    Item,
    id=st.just(NAME),
    kind=st.sampled_from(Kind),
    text=st.text(max_size=40) | st.just("We met yesterday in May 2021"),
    said=TIMES,
    said_offset=st.integers(-840, 840),
    key=NAMES,
    slots=st.dictionaries(st.sampled_from(("speaker", "title", "caption", "by")), st.text(max_size=8)),
    tags=st.lists(st.text(max_size=4), max_size=2).map(tuple),
    source=st.sampled_from(((), (NAME,))),
    context=st.sampled_from(((), (NAME,))),
    state=st.sampled_from(State),
    pinned=st.booleans(),
    known_to=st.none() | TIMES,
    valid_from=st.none() | TIMES,
    valid_to=st.none() | TIMES,
    expires=st.none() | TIMES,
    agent=NAMES,
    session=NAMES,
    pos=st.integers(0, 9),
    channel=st.sampled_from(Channel),
)


@given(ITEMS)
def test_a_body_says_what_its_item_says(item: Item) -> None:
    body = read_body(encode_item(item))
    assert decode_item(NAME, encode_item(item)) == item
    assert body.columns == columns(item)
    assert (body.agent, body.session, body.pinned) == (item.agent, item.session, item.pinned)
    assert (body.source, body.context) == (item.source, item.context)
    assert (body.tags, body.wording.slots) == (item.tags, item.slots)
    assert terms_of(body.wording) == entry_terms(item)


RECORD = {"kind": "turn", "text": "We met", "said": 0}


@pytest.mark.parametrize(
    "body",
    [
        b"", b"[]", b"7", b"null", b'"kind"', b"{}", b"\xff", canonical(RECORD) + b" ", canonical(RECORD) + b"{}",
        *(canonical({**RECORD, **wrong}) for wrong in (
            {"kind": "tune"}, {"said": 2**63}, {"said": "now"}, {"state": 9}, {"channel": "ether"}, {"tags": 7},
            {"source": 7}, {"expires": 2**63}, {"valid_to": []}, {"known_to": "never"}, {"kind": []},
        )),
    ],
)  # fmt: skip
def test_what_no_item_was_written_as_is_read_by_neither(body: bytes) -> None:
    for read in (lambda: decode_item(NAME, body), lambda: read_body(body)):
        with pytest.raises(StoreCorrupt):
            read()


def test_the_last_moment_of_years_has_a_body() -> None:
    last = datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)
    item = Item(id=NAME, kind=Kind.TURN, text="late", said=last)
    assert read_body(encode_item(item)).columns == columns(item)
