from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.core.clock import FOREVER
from mnemic.core.queries import Entry
from mnemic.core.tokens import hash_term
from mnemic.index.columns import Column, EntryColumns, TokenStreams
from mnemic.index.packing import pack, unpack
from mnemic.index.reading import compress

WORDS = [hash_term(word) for word in "abcdefgh"]
TWINS = [(5 << 20) + 1, (5 << 20) + 2, 5 << 20]
"""Tokens that a posting list does not tell apart."""

times = st.one_of(st.integers(-(2**40), 2**55), st.just(FOREVER), st.sampled_from([0, 1_000_000, 86_400_000_000]))
numbers = st.one_of(st.integers(0, 3), st.integers(0, 2**33))
documents = st.lists(st.sampled_from(WORDS + TWINS), max_size=12)


@st.composite
def histories(draw: st.DrawFn) -> list[Entry]:
    """Entries of a space, ascending by (ver, part)."""
    entries: list[Entry] = []
    ver = 0
    for _ in range(draw(st.integers(0, 25))):
        ver += draw(st.one_of(st.just(1), st.integers(1, 2**34)))
        for part in range(draw(st.sampled_from([1, 1, 1, 3]))):
            integers = [draw(numbers) for _ in range(4)]
            moments = [draw(times) for _ in range(4)]
            shelves = [draw(numbers) for _ in range(7)]
            terms = np.array(draw(documents), dtype="<u8").tobytes()
            entries.append(Entry(ver, part, *integers, *moments, *shelves, terms))
    return entries


def columns_of(entries: Sequence[Entry]) -> EntryColumns:
    columns = EntryColumns()
    if entries:
        columns.add(entries)
    return columns


def packed(entries: Sequence[Entry], first: int = 0) -> tuple[bytes, EntryColumns]:
    """The bytes of some entries, and the columns that begin with them."""
    body = pack(columns_of(entries))
    return body, EntryColumns([unpack(np.frombuffer(body, np.uint8), first)])


def streams(columns: EntryColumns) -> list[list[int]]:
    _, held = columns.arrays
    assert isinstance(held, TokenStreams)
    return [held.stream(row).tolist() for row in range(columns.rows)]


def same(one: EntryColumns, other: EntryColumns) -> None:
    assert one.rows == other.rows
    for column in Column:
        assert one.column(column).tolist() == other.column(column).tolist(), column
    assert streams(one) == streams(other)
    assert one.worded.tolist() == other.worded.tolist()
    assert (one.groups, one.last_ver) == (other.groups, other.last_ver)
    assert one.layout().rows.tolist() == other.layout().rows.tolist()


@given(histories())
def test_columns_and_streams_come_back_as_they_were(entries: list[Entry]) -> None:
    _, columns = packed(entries)
    same(columns, columns_of(entries))


@given(histories(), st.integers(0, 7))
def test_a_pack_finds_what_a_segment_of_the_same_entries_finds(entries: list[Entry], first: int) -> None:
    columns = columns_of(entries)
    segment = compress(first, columns.tokens, columns.sizes)
    postings = unpack(np.frombuffer(pack(columns), np.uint8), first).postings
    assert (postings.first, postings.rows) == (segment.first, segment.rows)
    assert postings.tokens.tolist() == segment.tokens.tolist()
    assert postings.starts.tolist() == segment.starts.tolist()
    for token in WORDS + TWINS:
        found, expected = postings.find(token), segment.find(token)
        assert (found is None) == (expected is None)
        if found is not None and expected is not None:
            assert [part.tolist() for part in found] == [part.tolist() for part in expected]
            assert [part.dtype for part in found] == [part.dtype for part in expected]


@given(histories(), st.data())
def test_packs_and_entries_after_them_are_as_one(entries: list[Entry], data: st.DataObject) -> None:
    vers = sorted({entry.ver for entry in entries})
    cuts = sorted(data.draw(st.sets(st.sampled_from(vers), max_size=3))) if vers else []
    bounds = [0, *cuts, FOREVER]
    parts = [[e for e in entries if low < e.ver <= high] for low, high in pairwise(bounds)]
    *before, rest = parts
    bodies = [np.frombuffer(pack(columns_of(part)), np.uint8) for part in before]
    columns = EntryColumns([unpack(body) for body in bodies])
    for entry in rest:
        columns.add([entry])
    same(columns, columns_of(entries))
    assert pack(columns) == pack(columns_of(entries))
    _, held = columns.arrays
    rows = data.draw(st.lists(st.integers(0, columns.rows - 1), max_size=6)) if columns.rows else []
    tokens, sizes = held.end_to_end(np.array(rows, np.intp))
    assert [each.tolist() for each in np.split(tokens, np.cumsum(sizes))[:-1]] == [streams(columns)[r] for r in rows]


@given(histories())
def test_the_same_entries_make_the_same_bytes_however_they_came(entries: list[Entry]) -> None:
    columns = EntryColumns()
    for entry in entries:
        columns.add([entry])
    body, again = packed(entries)
    assert pack(columns) == body == pack(again)


@given(histories(), st.data())
def test_closing_versions_of_packed_rows_is_closing_those_of_entries(entries: list[Entry], data: st.DataObject) -> None:
    vers = sorted({entry.ver for entry in entries})
    closed = [(ver, n + 7) for n, ver in enumerate(data.draw(st.permutations(vers))[:4])] if vers else []
    _, columns = packed(entries)
    columns.close([*closed, (3 + 2**40, 1)])
    ended = dict(closed)
    same(columns, columns_of([entry._replace(seq_to=ended.get(entry.ver, entry.seq_to)) for entry in entries]))


@pytest.mark.parametrize("rows", [300, 70_000])
def test_numbers_grow_as_wide_as_the_rows_need(rows: int) -> None:
    terms = np.array([WORDS[0]] * 300, "<u8").tobytes()
    entries = [
        Entry(n + 1, 0, n, FOREVER, 0, 0, n * 10**6, FOREVER, n, FOREVER, 0, 1, n, 0, 0, 0, 0, b"") for n in range(rows)
    ]
    entries[-1] = entries[-1]._replace(terms=terms)
    _, columns = packed(entries)
    same(columns, columns_of(entries))


def test_a_row_takes_few_bytes() -> None:
    """A turn of fifteen tokens, one minute after the other, in sessions of twenty turns."""
    rng = np.random.default_rng(7)
    words = rng.integers(0, 2**62, 20_000, dtype=np.uint64)
    weights = 1 / np.arange(1, len(words) + 1)
    drawn = rng.choice(words, (4096, 15), p=weights / weights.sum())
    entries = [
        Entry(n + 1, 0, n + 1, FOREVER, 0, 0, n * 60_000_000, FOREVER, n * 60_000_000, FOREVER, 1, n // 20, n % 20, 0,
              0, 0, 0, drawn[n].astype("<u8").tobytes())
        for n in range(len(drawn))
    ]  # fmt: skip
    assert len(pack(columns_of(entries))) < 150 * len(entries)
