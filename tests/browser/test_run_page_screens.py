"""Every page of the laboratory as a person sees it: on a phone, in the dark, sorted, on paper; it asks for nothing."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from laboratory_pages import CROWD, PAGES
from page_faults import faults

pytestmark = pytest.mark.browser
IMAGES = Path(__file__).resolve().parent.parent.parent / "docs" / "images"
PHONE, TABLET, DESK = (360, 740), (768, 1024), (1400, 900)
PAPER = (1030, 700)
"""A4 across, in pixels, without its margins."""

_COLUMN = """(head) => [...head.closest("table").tBodies[0].rows].map((row) => row.cells[head.cellIndex])
  .map((cell) => [cell.textContent, cell.dataset.value ?? null])"""


@pytest.fixture(scope="module")
def page_files(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Makes each page once, when it is first looked at."""
    return cache(lambda name: PAGES[name](tmp_path_factory.mktemp(name)))


@pytest.fixture
def seen(browser: Any, page_files: Callable[[str], Path]) -> Iterator[Callable[..., Any]]:
    """Opens a page; afterwards it has said nothing on its console, and asked for nothing but itself."""
    wrong: list[str] = []
    with ExitStack() as stack:

        def opened(name: str, size: tuple[int, int] = DESK, *, dark: bool = False) -> Any:
            shape = {"width": size[0], "height": size[1]}
            page = browser.new_page(viewport=shape, color_scheme="dark" if dark else "light")
            stack.callback(page.close)
            page.on("console", lambda told: wrong.append(told.text))
            page.on("pageerror", lambda error: wrong.append(str(error)))
            page.on("request", lambda asked: asked.url.startswith("file:") or wrong.append(asked.url))
            page.goto(page_files(name).as_uri())
            return page

        yield opened
    assert wrong == []


@pytest.mark.parametrize("name", PAGES)
def test_a_page_can_be_read_at_any_width_in_light_and_in_dark_folded_or_not(
    seen: Callable[..., Any], name: str
) -> None:
    for size in (PHONE, TABLET, DESK):
        for dark in (False, True):
            page = seen(name, size, dark=dark)
            page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
            assert faults(page) == [], (size, dark)


@pytest.mark.parametrize("name", PAGES)
def test_every_column_is_sorted_by_mouse_and_by_keys_with_dashes_last(seen: Callable[..., Any], name: str) -> None:
    page = seen(name)
    for head in page.locator("thead th").all():
        words = "words" in (head.get_attribute("class") or "")
        head.locator("button").click()
        assert head.get_attribute("aria-sort") == ("ascending" if words else "descending")
        first = head.evaluate(_COLUMN)
        page.keyboard.press("Enter")
        assert head.get_attribute("aria-sort") == ("descending" if words else "ascending")
        second = head.evaluate(_COLUMN)
        assert _ordered(first, words=words, up=words), head.inner_text()
        assert _ordered(second, words=words, up=not words), head.inner_text()
        assert head.evaluate("(head) => head.closest('tr').querySelectorAll('[aria-sort]').length") == 1


def _ordered(cells: list[tuple[str, str | None]], *, words: bool, up: bool) -> bool:
    """Whether a column stands in order, cells without a figure at its end."""
    if words:
        return bool(cells)  # which order is the browser's, and is tested by names of its own
    values = [math.nan if value is None else float(value.replace("Infinity", "inf")) for _, value in cells]
    known = [value for value in values if not math.isnan(value)]
    assert all(text in ("-", "") for text, value in cells if value is None)
    return known == sorted(known, reverse=not up) and not any(map(math.isnan, values[: len(known)]))


def test_names_are_sorted_as_words_and_figures_within_them_as_figures(seen: Callable[..., Any]) -> None:
    page = seen("crowded")
    board = page.locator("table").nth(1)
    board.locator("thead button").first.click()
    peers = [name for name in board.locator("tbody th").all_inner_texts() if name.startswith("peer")]
    assert peers == [f"peer {n}" for n in range(11)]


def test_everybody_stands_in_every_picture_of_a_crowd(seen: Callable[..., Any]) -> None:
    page = seen("crowded", PHONE)
    for figure in page.locator("figure").all():
        named = figure.locator(".name, .keys li").count()
        assert named == len(CROWD) + 1, figure.locator("figcaption").inner_text()


def test_a_first_column_leaves_room_for_others(seen: Callable[..., Any]) -> None:
    for size in (PHONE, DESK):
        page = seen("crowded", size)
        widest = page.evaluate(
            "Math.max(...[...document.querySelectorAll('tr > :first-child')].map((c) => c.offsetWidth))"
        )
        assert widest <= 0.4 * size[0]


def test_a_bad_question_opens_to_what_was_answered(seen: Callable[..., Any]) -> None:
    page = seen("answered", PHONE)
    question = page.locator("details").last
    question.locator("summary").focus()
    page.keyboard.press("Enter")
    assert question.locator("li").first.is_visible()
    assert "right answer" in question.inner_text()
    assert "wanted" in question.inner_text()


def test_a_run_in_which_all_crashed_says_so_and_draws_nothing(seen: Callable[..., Any]) -> None:
    page = seen("crashed", PHONE)
    assert page.locator("p.bad").count() == 2
    assert page.locator("figure").count() == 0
    assert page.locator("table").first.inner_text().count("(failed)") == 2


@pytest.mark.parametrize("name", PAGES)
def test_paper_is_light_shows_whole_tables_and_what_was_folded(seen: Callable[..., Any], name: str) -> None:
    page = seen(name, PAPER, dark=True)
    page.emulate_media(media="print", color_scheme="dark")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details:not([open])").count() == 0
    cut = "[...document.querySelectorAll('.wide')].filter((each) => each.scrollWidth > each.clientWidth + 1).length"
    assert page.evaluate(cut) == 0
    ink = page.evaluate("getComputedStyle(document.body).color")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("details[open]").count() == 0
    page.emulate_media(media="screen", color_scheme="light")
    assert ink == page.evaluate("getComputedStyle(document.body).color")


def test_the_first_screen_has_who_ran_and_how_they_did(seen: Callable[..., Any]) -> None:
    page = seen("self_made", (1200, 800))
    board = page.locator("table").first
    assert board.bounding_box()["y"] + board.bounding_box()["height"] <= 800
    assert board.locator("tbody tr").count() == 4
    if os.environ.get("KEEP_PICTURES"):
        page.screenshot(path=IMAGES / "laboratory-run.png")


def test_light_and_dark_are_two_papers(seen: Callable[..., Any]) -> None:
    papers = {
        seen("alone", dark=dark).evaluate("getComputedStyle(document.body).backgroundColor") for dark in (False, True)
    }
    assert len(papers) == 2
