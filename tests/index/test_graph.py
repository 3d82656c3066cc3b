from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.core.items import Kind
from mnemic.core.names import Naming, keys, name_token
from mnemic.core.tokens import terms
from mnemic.index.graph import Pairs, as_naming, join, mentions, places_of, says, spelled, tokens_of
from mnemic.index.reading import Reading

FILLER = 600
"""Enough turns that what came before them lies in a compressed segment, and what comes after in the tail."""


def library(world: Any, **titled: str) -> Reading:
    for title, text in titled.items():
        world.say(text, kind=Kind.DOCUMENT, slots={"speaker": None, "title": title.replace("_", " ")})
    readings: list[Reading] = world.readings()
    return readings[0]


def stream(text: str) -> tuple[Any, Any]:
    tokens = np.frombuffer(terms(text), dtype="<u8").astype(np.uint64)
    return tokens, np.zeros(len(tokens), dtype=np.intp)


def mention(name: str) -> int:
    return name_token(keys([name])[0], Naming.MENTION)


pairs = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=12, unique=True).map(sorted)


def paired(given: list[tuple[int, int]]) -> Pairs:
    return Pairs(np.array([a for a, _ in given], dtype=np.intp), np.array([b for _, b in given], dtype=np.intp))


@given(pairs, pairs)
def test_a_join_is_every_pair_of_values_with_one_key(left: list[tuple[int, int]], right: list[tuple[int, int]]) -> None:
    joined = zip(*(column.tolist() for column in join(paired(left), paired(right))), strict=True)
    assert sorted(joined) == sorted((a, b, d) for a, b in left for c, d in right if a == c)


def test_a_name_keeps_its_key_from_one_naming_to_another() -> None:
    title = tokens_of(np.array(keys(["Orla Mill"]), dtype=np.uint64), Naming.TITLE)
    assert title.tolist() == [name_token(keys(["Orla Mill"])[0], Naming.TITLE)]
    assert as_naming(title, Naming.MENTION).tolist() == [mention("Orla Mill")]
    assert says(title, Naming.TITLE).all()
    assert not says(title, Naming.MENTION).any()


@pytest.mark.parametrize("filler", [0, FILLER])
def test_what_is_found_at_once_is_what_is_found_one_by_one(world: Any, filler: int) -> None:
    library(world, Orla_Mill="The mill stands in Brell.", Brell="A town on the Vell.")
    for n in range(filler):
        world.say(f"filler {n}")
    reading = library(world, Vell="The river of Brell and Oakmoor.")
    asked = np.array([mention("Brell"), mention("Nowhere"), mention("Vell")], dtype=np.uint64)
    at_once = places_of(reading, asked)
    one_by_one = [(i, place) for i, token in enumerate(asked.tolist()) for place in sorted(reading.find(token)[0])]
    assert at_once.keys.tolist() == sorted(at_once.keys.tolist())
    assert sorted(zip(at_once.keys.tolist(), at_once.values.tolist(), strict=True)) == one_by_one
    assert len(one_by_one) == 3


def test_a_reading_does_not_find_what_came_later(world: Any) -> None:
    before = library(world, Brell="A town.")
    library(world, Orla_Mill="The mill of Brell.")
    world.readings()
    assert len(places_of(before, np.array([mention("Brell")], dtype=np.uint64)).keys) == 0


@pytest.mark.parametrize("filler", [0, FILLER])
@pytest.mark.parametrize(
    ("text", "titles"),
    [
        ("we walked to the orla mill and back", ["Orla Mill"]),
        ("the orla mill museum is shut", ["Orla Mill Museum"]),
        ("brell is one word", []),
        ("我们在青禾镇住过", ["青禾镇"]),
        ("", []),
    ],
)
def test_a_name_is_found_without_capitals_if_it_is_not_a_single_word(
    world: Any, filler: int, text: str, titles: list[str]
) -> None:
    library(world, Orla_Mill="x", Orla_Mill_Museum="x", Brell="x", 青禾镇="x")
    for n in range(filler):
        world.say(f"filler {n}")
    names, _ = spelled(world.readings()[0], *stream(text))
    assert names.tolist() == [name_token(key, Naming.TITLE) for key in keys(titles)]


def test_a_name_does_not_reach_from_one_text_into_the_next(world: Any) -> None:
    reading = library(world, Orla_Mill="x")
    tokens, _ = stream("orla mill")
    assert len(spelled(reading, tokens, np.array([0, 1], dtype=np.intp))[0]) == 0
    assert spelled(reading, tokens, np.array([3, 3], dtype=np.intp))[1].tolist() == [3]


def test_an_entry_holds_what_it_names_and_what_it_is_called(world: Any) -> None:
    reading = library(world, Orla_Mill="It stands in Brell, near the old stone bridge.", Old_Stone_Bridge="A bridge.")
    tokens, holding, called = mentions(reading, np.array([0], dtype=np.intp))
    held = {mention(name) for name in ("Orla Mill", "Brell", "Old Stone Bridge")}
    assert {int(tokens[key]) for key in holding.keys} == held
    assert [int(tokens[key]) for key in called.keys] == [mention("Orla Mill")]
    assert tokens.tolist() == sorted(held)


def test_no_documents_make_no_links(world: Any) -> None:
    world.say("Ada Obi lives in Brell")
    reading = world.readings()[0]
    tokens, holding, called = mentions(reading, np.empty(0, dtype=np.intp))
    assert not len(tokens) + len(holding.keys) + len(called.keys)
    assert not len(mentions(reading, np.array([0], dtype=np.intp))[0])
