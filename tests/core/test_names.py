from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.core.ids import from_bytes
from mnemic.core.items import Item, Kind
from mnemic.core.names import Naming, called, keys, mention_terms, name_key, name_token, names, own_terms
from mnemic.core.parts import entry_terms
from mnemic.core.tokens import Field, hash_term, tokenise


def document(text: str = "", kind: Kind = Kind.DOCUMENT, /, **slots: Any) -> Item:
    return Item(id=from_bytes(bytes(16)), kind=kind, text=text, said=datetime(2024, 5, 6, tzinfo=UTC), slots=slots)


def tokens(stream: bytes) -> list[int]:
    return [int.from_bytes(stream[i : i + 8], "little") for i in range(0, len(stream), 8)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("she met Ada Obi in Lagos", ["Ada Obi", "Lagos"]),
        ("The mill stands in Tarn County, Vell. It was", ["Tarn County", "Vell"]),
        ("J. K. Moss of St. Albin", ["J K Moss of St Albin", "J K Moss", "St Albin"]),
        ("the University of Brell", ["University of Brell", "University", "Brell"]),
        ("the Orbit 7 mission", ["Orbit 7", "Orbit"]),
        ("我读了《青禾纪事》。", ["青禾纪事"]),
        ("nothing here", []),
        ("", []),
    ],
)
def test_a_run_of_capitals_is_a_name_and_so_are_its_pieces(text: str, found: list[str]) -> None:
    assert [name for name in names(text) if keys([name])] == found


def test_a_sentence_does_not_end_in_a_name_nor_begin_with_one() -> None:
    assert "Vell It" not in names("They left Vell. It rained.")
    assert names("It rained.") == []


def test_a_text_in_capitals_is_cut_into_names() -> None:
    assert max(len(name.split()) for name in names("RIVER " * 50)) <= 8


@pytest.mark.parametrize(
    ("slots", "text", "name"),
    [
        ({"title": "Brell (town)"}, "", ["Brell"]),
        ({"title": "Oakmoor, Vell"}, "", ["Oakmoor, Vell", "Oakmoor"]),
        ({"title": "青禾镇（小说）"}, "", ["青禾镇"]),
        ({"title": "Guide", "heading": "Start > Second Steps"}, "", ["Guide", "Second Steps"]),
        ({}, "It was the Orla Mill that stood on the Vell.", ["Orla Mill"]),
        ({}, "nothing to call it by", []),
    ],
)
def test_a_document_is_called_by_its_title_or_by_the_first_name_in_it(
    slots: dict[str, str], text: str, name: list[str]
) -> None:
    assert called(document(text, **slots)) == name


def test_a_later_chunk_is_called_as_its_document_or_not_at_all() -> None:
    assert called(document("Ada Obi went on.", Kind.CHUNK, chunk=2)) == []
    assert called(document("Ada Obi went on.", Kind.CHUNK, chunk=2, title="Brell")) == ["Brell"]


def test_an_article_makes_no_other_name_and_stop_words_make_none() -> None:
    assert keys(["The Orla Mill"]) == keys(["Orla Mill", "orla mill"])
    assert keys(["It", "The", ""]) == []


@given(st.lists(st.text(st.sampled_from("abc青禾"), min_size=1, max_size=3), min_size=1, max_size=6))
def test_a_key_is_the_polynomial_of_its_tokens(words: list[str]) -> None:
    hashes = [hash_term(token) for token in tokenise(" ".join(words))]
    key = 0
    for token in hashes:
        key = (key * 0x9E3779B97F4A7C15 + token) % 2**64
    assert name_key(hashes) == key
    assert name_token(key, Naming.TITLE) >> 60 == Field.ENTITY << 2 | Naming.TITLE


def test_every_part_of_a_document_holds_its_names_and_a_turn_holds_none() -> None:
    item = document("Ada Obi lives in Brell. " * 200, title="Oakmoor")
    parts = entry_terms(item)
    assert len(parts) > 1
    own, mentioned = tokens(own_terms(item)), tokens(mention_terms("Ada Obi and Brell"))
    assert all(set(own) <= set(tokens(part)) for part in parts)
    assert name_token(keys(["Ada Obi"])[0], Naming.MENTION) in mentioned
    turn = entry_terms(document("Ada Obi lives in Brell", Kind.TURN, speaker="Ada"))
    assert not [token for token in tokens(turn[0]) if token >> 62 == Field.ENTITY]
