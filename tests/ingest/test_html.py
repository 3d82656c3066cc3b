"""HTML: headings, lists, tables; what is no text is left out, and no page takes long."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.core.items import Kind
from mnemic.errors import Invalid, TooLarge
from mnemic.ingest import Message, Skipped, read
from mnemic.ingest.html import _Page
from mnemic.ingest.markup import Tag, events

Write = Callable[[str, str | bytes], Path]

PAGE = """<!DOCTYPE html><html><head><title>Garden &amp; kitchen</title>
<meta property="article:published_time" content="2025-05-01T08:00:00+02:00">
<style>p { color: red }</style><script>if (a < b) { "</p>" }</script></head>
<body><nav><ul><li><a href=/>Home</a></ul></nav>
<p>Before  any <b>head</b>ing.
<h1>Beds</h1>
<h2>Tomatoes<br>early</h2>
<p>Plant them <i>deep</i>,
and water.<p>Again.</p>
<ul><li>one</li><li>two<ol><li>inner<li>second</ol></li></ul>
<table><tr><th>Name<th>Days</tr><tr><td>Matina<td>60</td></tr></table>
<pre>code
  kept</pre>
<img src=x alt="a red tomato">
<h2>Beans &lt;3</h2><div>Sow <!-- hidden --> late.</div>
<script>never closed
"""


UNITS = (
    '<a |<!--|<div>|<a b=\'|<a b="x" |<! x|</a |<script>|<a =|<a|<title>|&|<h1>|<nav>|<p>x|<ul><li>|<td>|<pre>|'
    "<h1>x</h1>|<a b= |<meta name='x|<|</|<?"
)


def messages(path: Path, **options: int) -> list[Message]:
    return [m for m in read(path, **options) if isinstance(m, Message)]  # type: ignore[arg-type]


def test_a_page_becomes_a_document_for_each_heading_under_its_path(write: Write) -> None:
    documents = messages(write("a.html", PAGE))
    assert [(d.key, d.slots.get("heading"), d.kind) for d in documents] == [
        ("a::section-0", None, Kind.DOCUMENT),
        ("a::section-2", "Beds > Tomatoes early", Kind.DOCUMENT),
        ("a::section-3", "Beds > Beans <3", Kind.DOCUMENT),
    ]
    assert {d.slots["title"] for d in documents} == {"Garden & kitchen"}
    assert {d.said for d in documents} == {datetime(2025, 5, 1, 6, tzinfo=UTC)}


def test_lists_tables_and_what_is_preformatted_stay_lines(write: Write) -> None:
    before, tomatoes, beans = (d.text for d in messages(write("a.html", PAGE)))
    assert before == "Before any heading."
    assert tomatoes == (
        "Tomatoes early\n\nPlant them deep, and water.\n\nAgain.\n- one\n- two\n  1. inner\n  2. second\n\n"
        "Name | Days\nMatina | 60\n\ncode\n  kept\n\n[a red tomato]"
    )
    assert beans == "Beans <3\n\nSow late."


def test_navigation_is_left_out_and_said_to_be(write: Write) -> None:
    skipped = [one for one in read(write("a.html", PAGE)) if isinstance(one, Skipped)]
    assert [one.where for one in skipped] == ["<nav>"]


def test_navigation_that_never_closes_ends_where_the_page_itself_begins(write: Write) -> None:
    (document,) = messages(write("a.html", "<nav>Home<main><p>Words.</p></main>"))
    assert document.text == "Words."


def test_a_date_without_zone_is_kept_as_it_was_written(write: Write) -> None:
    (document,) = messages(write("a.html", '<meta name=date content="1 May 2025"><p>Words.'))
    assert document.said is None
    assert document.slots["metadata"] == {"published": "1 May 2025"}


def test_a_page_of_another_encoding_is_read_by_what_it_declares(write: Write) -> None:
    page = '<html><head><meta charset="gb2312"><title>花园</title><body><p>番茄要种得深。'
    (document,) = messages(write("a.html", page.encode("gb2312")))
    assert (document.slots["title"], document.text) == ("花园", "番茄要种得深。")
    for declared in ("", '<meta charset="no-such">', '<meta charset="ascii">'):
        with pytest.raises(Invalid, match="UTF-8"):
            messages(write("b.html", f"<p>fine</p>{declared}\n<p>caf\xe9".encode("latin-1")))


def test_a_page_over_the_limit_is_refused(write: Write) -> None:
    with pytest.raises(TooLarge):
        messages(write("a.html", "<p>" + "words " * 20_000), limit=1_000)


def test_attributes_are_found_however_they_are_quoted() -> None:
    (tag,) = events("<meta NAME='a > b' content=\"x &amp; y\" lang=en hidden>")
    assert isinstance(tag, Tag)
    assert [tag.attribute(name) for name in ("name", "content", "lang", "hidden", "none")] == [
        "a > b", "x & y", "en", "", "",
    ]  # fmt: skip


def test_what_only_looks_like_a_tag_is_text() -> None:
    assert "".join(one for one in events("1 < 2 <3 & a<b>c</b>") if isinstance(one, str)) == "1 < 2 <3 & ac"


@pytest.mark.parametrize("unit", UNITS.split("|"))
def test_a_broken_page_takes_time_that_grows_with_its_length(unit: str) -> None:
    begun = time.process_time()
    page = _Page()
    for event in events(unit * (200_000 // len(unit))):
        page.take(event)
    page.end()
    assert time.process_time() - begun < 20  # a second or two; a quadratic reader takes minutes


@given(st.text("<>/!-ab ='\"&;hp1\n", max_size=200))
def test_no_page_is_too_broken_to_be_read(text: str) -> None:
    page = _Page()
    for event in events(text):
        page.take(event)
    page.end()
    assert "<script" not in "".join(section.text for section in page.sections)


@given(st.lists(st.text("abc xyz.,", min_size=1), max_size=8))
def test_every_word_of_every_paragraph_is_somewhere(paragraphs: list[str]) -> None:
    page = _Page()
    for event in events("<h2>head</h2>".join(f"<p>{one}</p>" for one in paragraphs)):
        page.take(event)
    page.end()
    kept = " ".join(section.text for section in page.sections).split()
    assert [word for word in kept if word != "head"] == " ".join(paragraphs).split()
