"""Plain text and Markdown: documents, dialogues, headings and front matter."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.core.items import Kind
from mnemic.errors import Invalid
from mnemic.ingest import Message, Skipped, detect, read
from mnemic.ingest.markdown import _heading, _Section
from mnemic.ingest.text_files import looks_spoken

Write = Callable[[str, str | bytes], Path]


def messages(path: Path, format: str | None = None, zone: str | None = None) -> list[Message]:
    return [m for m in read(path, format, zone) if isinstance(m, Message)]


def test_plain_text_is_one_document_exactly_as_it_was_written(write: Write) -> None:
    text = "Bread: flour, water and time.\r\n\r\nIt wants a hot oven, and patience.\n"
    (document,) = messages(write("bread.txt", text))
    assert (document.text, document.kind, document.key) == (text, Kind.DOCUMENT, "bread::document")
    assert document.slots == {"title": "bread"}


def test_lines_that_open_with_a_speaker_are_a_dialogue(write: Write) -> None:
    path = write("talk.txt", "Ada: good morning\nBo Li: hello\n  and welcome\n\nAda: thank you\n")
    assert detect(path) == "dialogue"
    turns = messages(path)
    assert [(m.slots["speaker"], m.text) for m in turns] == [
        ("Ada", "good morning"),
        ("Bo Li", "hello\n  and welcome"),
        ("Ada", "thank you"),
    ]
    assert [(m.key, m.session, m.pos) for m in turns] == [
        ("talk::line-1", "talk", 0),
        ("talk::line-2", "talk", 1),
        ("talk::line-5", "talk", 2),
    ]


def test_a_chinese_dialogue_has_wide_colons(write: Write) -> None:
    turns = messages(write("talk.txt", "阿达：早上好\n罗莎：你好！今天几点上课？\n阿达：七点：老时间\n"))
    assert [(m.slots["speaker"], m.text) for m in turns][-1] == ("阿达", "七点：老时间")


def test_a_dialogue_may_carry_times_in_brackets(write: Write) -> None:
    path = write("talk.txt", "[2025-04-06 19:30+01:00] Ada: hello\n[2025-04-06 19:31] Bo: hi\n")
    turns = list(read(path, "dialogue"))
    assert isinstance(turns[0], Message)
    assert turns[0].said == datetime(2025, 4, 6, 18, 30, tzinfo=UTC)
    assert isinstance(turns[1], Skipped)
    assert "--zone" in turns[1].why


def test_what_stands_before_the_first_speaker_is_reported(write: Write) -> None:
    first, *_ = read(write("talk.txt", "A talk in the park\nAda: hello\nBo: hi\nAda: bye\n"), "dialogue")
    assert first == Skipped(where="line 1", why="stands before the first speaker")


@pytest.mark.parametrize(
    "prose",
    [
        "Note: buy milk.\nThen go home.\nIt rained all day.\n",
        "Flour: 500 g\nWater: 350 g\nSalt: 10 g\nYeast: 3 g\n",
        "https://example.org: a page\nhttps://example.net: another\nhttps://example.org: a third\n",
        "She said: no.\n",
        "Name: Ada\nCity: Lisbon\n",
        "",
    ],
)
def test_prose_and_lists_are_no_dialogue(prose: str) -> None:
    assert not looks_spoken(prose)


def test_a_text_over_the_limit_of_one_input_is_skipped(write: Write) -> None:
    (skipped,) = read(write("big.txt", "a " * 600), "text", limit=1_000)
    assert isinstance(skipped, Skipped)
    assert "1,000 bytes" in skipped.why


def test_a_text_that_stops_being_utf8_is_refused(write: Write) -> None:
    with pytest.raises(Invalid, match=r"is not UTF-8 \(byte 5"):
        list(read(write("a.txt", b"fine\n\xe9t\xe9\n")))


NOTES = """---
title: Garden book
date: 2025-05-01T08:00:00+02:00
tags: [garden, "plans"]
season: spring   # roughly
helpers:
  - Rosa
  - Nuno
---
Opening words.

# Beds

## Tomatoes
Plant them deep.

```sh
# not a heading
```

## Beans ##
Sow after frost.

Harvest
-------
- not a heading
---
In August.
"""


def test_markdown_becomes_a_document_for_each_heading_under_its_path(write: Write) -> None:
    documents = messages(write("garden.md", NOTES))
    assert [(d.key, d.slots.get("heading")) for d in documents] == [
        ("garden::section-0", None),
        ("garden::section-2", "Beds > Tomatoes"),
        ("garden::section-3", "Beds > Beans"),
        ("garden::section-4", "Beds > Harvest"),
    ]
    assert "# not a heading" in documents[1].text
    assert documents[1].text.startswith("## Tomatoes\nPlant them deep.")
    assert documents[2].text == "## Beans ##\nSow after frost."
    assert documents[3].text == "Harvest\n-------\n- not a heading\n---\nIn August."


def test_front_matter_dates_and_names_every_section(write: Write) -> None:
    for document in messages(write("garden.md", NOTES)):
        assert document.said == datetime(2025, 5, 1, 6, tzinfo=UTC)
        assert document.tags == ("garden", "plans")
        assert document.slots["title"] == "Garden book"
        assert document.slots["metadata"] == {"season": "spring", "helpers": ["Rosa", "Nuno"]}


@pytest.mark.parametrize(
    ("written", "title"),
    [
        (r'"The \"boiler\": how it works"', 'The "boiler": how it works'),
        (r'"C:\docs"', r"C:\docs"),
        (r"'a \"b\"'", r"a \"b\""),
    ],
)
def test_double_quotes_in_front_matter_have_their_escapes_read(write: Write, written: str, title: str) -> None:
    (document,) = messages(write("a.md", f"---\ntitle: {written}\n---\n# One\n\nWords.\n"))
    assert document.slots["title"] == title


@pytest.mark.parametrize("date", ["2025-05-01", "2025-05-01 18:30", "'2025-05-01T18:30'"])
def test_a_front_matter_date_needs_no_zone_and_it_is_told_that_one_was_assumed(write: Write, date: str) -> None:
    path, told = write("a.md", f"---\ndate: {date}\n---\n# One\n\nWords.\n\n# Two\n\nMore words.\n"), list[str]()
    hour = 18.5 if "18:30" in date else 0
    for home, offset in (("UTC", 0), ("Europe/Lisbon", 1)):
        for document in read(path, own_zone=home, assumed=told.append):
            assert isinstance(document, Message)
            assert document.said == datetime(2025, 5, 1, tzinfo=UTC) + timedelta(hours=hour - offset)
    assert told == ["UTC", "UTC", "Europe/Lisbon", "Europe/Lisbon"]
    (named, _) = read(path, zone="Asia/Tokyo", assumed=told.append)
    assert isinstance(named, Message)
    assert named.said == datetime(2025, 5, 1, tzinfo=UTC) + timedelta(hours=hour - 9)
    assert len(told) == 4


def test_a_front_matter_date_that_names_its_zone_or_is_none_assumes_nothing(write: Write) -> None:
    told: list[str] = []
    (document,) = read(write("a.md", "---\ndate: 2025-05-01T08:00+02:00\n---\nWords.\n"), assumed=told.append)
    assert isinstance(document, Message)
    assert document.said == datetime(2025, 5, 1, 6, tzinfo=UTC)
    (skipped,) = read(write("b.md", "---\ndate: in spring\n---\nWords.\n"), assumed=told.append)
    assert isinstance(skipped, Skipped)
    assert "is not a time" in skipped.why
    assert told == []


def test_a_rule_on_the_first_line_is_no_front_matter(write: Write) -> None:
    (document,) = messages(write("a.md", "---\nWords after a rule.\n"))
    assert document.text == "---\nWords after a rule."


def test_a_lonely_heading_is_kept(write: Write) -> None:
    assert [d.text for d in messages(write("a.md", "# One\n# Two\n## Three\nwords\n"))] == ["# One", "## Three\nwords"]


def test_everything_but_bare_headings_of_a_markdown_file_is_somewhere(write: Write) -> None:
    body = NOTES.split("---\n", 2)[2]
    kept = "\n".join(d.text for d in messages(write("garden.md", NOTES)))
    assert [line for line in body.splitlines() if line.strip() and line not in kept] == ["# Beds"]


@given(st.text(alphabet="# \ta", max_size=12))
def test_the_title_of_a_heading_is_without_the_marks_around_it(line: str) -> None:
    slow = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))??(?:[ \t]+#+)?[ \t]*").fullmatch(line)  # as CommonMark says it
    heading = _heading(line, _Section(0, 1))
    assert (heading and heading[:2]) == (slow and (len(slow[1]), (slow[2] or "").strip()))
