"""What a notebook shows of a recall holds everything and escapes it."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic import Memory

ALLOWED = {"table", "tbody", "tr", "td", "div", "p"}


class Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        assert [name for name, _ in attrs if name != "style"] == []

    def handle_data(self, data: str) -> None:
        self.text += data


def shown(html: str) -> Page:
    page = Page()
    page.feed(html)
    page.close()
    return page


def test_evidence_its_reasons_and_what_is_always_at_hand_are_shown() -> None:
    with Memory("memory:", embedder="none") as memory:
        me = memory.scope(user="ada")
        me.observe("I moved to Lisbon.", speaker="Ada")
        me.observe("From now on, answer in metric units.")
        context = me.context("where did Ada move to?")
        page = shown(context._repr_html_())
    for said in ("I moved to Lisbon.", "answer in metric units", "always at hand", *context.items[0].reasons):
        assert said in page.text


def test_an_empty_memory_says_so() -> None:
    with Memory("memory:", embedder="none") as memory:
        assert "Nothing is remembered" in memory.scope(user="ada").recall("anything")._repr_html_()


@pytest.mark.parametrize("hostile", ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "</td><b>&amp;"])
@given(st.text(alphabet="<>&\"'/ab", max_size=20))
def test_no_word_of_it_becomes_markup(hostile: str, more: str) -> None:
    with Memory("memory:", embedder="none") as memory:
        me = memory.scope(user="ada")
        me.observe(f"fox {hostile} {more}", speaker="Ada <b>")
        page = shown(me.recall("fox")._repr_html_())
    assert set(page.tags) <= ALLOWED
    assert hostile in page.text


def test_the_time_is_that_of_the_sources_own_clock() -> None:
    with Memory("memory:", embedder="none") as memory:
        me = memory.scope(user="ada")
        me.observe("fox", said=datetime(2026, 3, 1, 19, 7, tzinfo=timezone(timedelta(hours=1))))
        found = me.recall("fox")
        assert "2026-03-01 19:07" in shown(found._repr_html_()).text
        assert found[0] == next(iter(found))
