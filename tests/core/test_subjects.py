from __future__ import annotations

from datetime import UTC, datetime

import pytest

from mnemic.core.ids import from_bytes
from mnemic.core.items import Item, Kind
from mnemic.core.parts import entry_terms, passage_texts
from mnemic.core.subjects import subjects
from mnemic.core.tokens import terms

LONG = "Orla May Brin (born 1950) is a painter. " + "She walked along the river and slept. " * 80


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Orla May Brin (born 3 May 1950) is a painter.", ["Orla May Brin", "Orla Brin"]),
        ('Orla Ann "Mo" Brin, Jr. is a painter.', ["Orla Ann Brin", "Orla Brin", "Mo Brin"]),
        ("Orla Brin, better known as Mo Tarn, is a painter.", ["Orla Brin", "Mo Tarn"]),
        ("Sir Orla Brin was a judge.", ["Sir Orla Brin", "Orla Brin"]),
        ("The hollow reed is a plant.", []),
        ("La Bestia humana is a film.", ["La Bestia humana"]),
        ("Tarn: The Long Way is a film.", ["Tarn: The Long Way", "Tarn"]),
        ("Orla Brin or Mo Tarn was a poet.", ["Orla Brin", "Mo Tarn"]),
        ('"Time to Mend" is a song.', ["Time to Mend"]),
        ("青禾镇（旧称禾塘）是一座江南小镇。", ["青禾镇"]),
        ("She is a painter.", []),
        ("In May 1950 the mill was sold.", []),
        ("Whoever walks along the river in the evening to the mill of Tarn is late.", []),
        ("Tarn rose in May. It was late.", []),
        ("St. Albin was a port.", ["St. Albin", "Albin"]),
        ("这条河很长，她是画家。", []),
        ("no verb, no subject", []),
        ("", []),
    ],
)
def test_a_first_sentence_says_what_a_text_is_about_and_its_other_names(text: str, found: list[str]) -> None:
    assert subjects(text) == found


def document(text: str, **slots: str) -> Item:
    when = datetime(2024, 5, 6, tzinfo=UTC)
    return Item(id=from_bytes(bytes(16)), kind=Kind.DOCUMENT, text=text, said=when, slots=dict(slots))


def test_later_parts_of_a_document_without_a_title_hold_its_subject() -> None:
    first, *later = entry_terms(document(LONG))
    assert later
    words = terms("Orla May Brin")
    assert first.count(words) == 1  # as it says itself
    assert all(words in part for part in later)
    assert all(passage.startswith("Orla May Brin: ") for passage in passage_texts(document(LONG))[1:])


def test_a_title_is_what_a_document_is_called_whatever_its_first_sentence_says() -> None:
    assert all(terms("Orla May Brin") not in part for part in entry_terms(document(LONG, title="Tarn"))[1:])
