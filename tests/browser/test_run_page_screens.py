"""The page of a run as a person sees it: on a phone, in the dark, sorted by a column; it asks nobody for anything."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mnemic.lab.kit.answer_stage import AnswerPlan
from mnemic.lab.kit.run import RunPlan, run
from mnemic.lab.kit.run_page import write_page
from mnemic.lab.kit.run_report import report

pytestmark = pytest.mark.browser

TWO_PEOPLE = Path(__file__).resolve().parent.parent / "lab" / "two_people.json"
LONG = "scripted:" + "a-name-that-is-longer-than-a-phone-is-wide-" * 3


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    asked = AnswerPlan(model=LONG, judges=("scripted:RIGHT", "scripted:RIGHT|WRONG"), pairwise=True)
    rows = ("no memory", "BM25 turns", "recent window", "0.6 BM25+date + 0.4 window")
    log = run(RunPlan(tasks={"locomo": TWO_PEOPLE}, rows=rows, answers=asked), folder / "a.jsonl")
    return write_page(report(log), folder / "a.html")


@pytest.fixture
def seen(browser: Any, page_file: Path) -> Callable[..., Any]:
    """Opens the page; whatever it says on its console, or asks of others, is kept in `wrong`."""

    def opened(*, phone: bool = False, dark: bool = False) -> tuple[Any, list[str]]:
        size = {"width": 400, "height": 820} if phone else {"width": 1280, "height": 800}
        page = browser.new_page(viewport=size, color_scheme="dark" if dark else "light")
        wrong: list[str] = []
        page.on("console", lambda told: wrong.append(told.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("request", lambda asked: asked.url.startswith("file:") or wrong.append(asked.url))
        page.goto(page_file.as_uri())
        return page, wrong

    return opened


@pytest.mark.parametrize("phone", [True, False])
def test_a_page_is_never_wider_than_its_screen(seen: Callable[..., Any], phone: bool) -> None:
    page, wrong = seen(phone=phone)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    first = page.evaluate("Math.max(...[...document.querySelectorAll('td:first-child')].map((c) => c.offsetWidth))")
    assert first < page.viewport_size["width"] * 0.6
    assert wrong == []


def test_a_column_is_sorted_by_a_press_on_its_head(seen: Callable[..., Any]) -> None:
    page, wrong = seen()
    board = page.locator("table").first

    def values() -> list[float]:
        cells = board.locator("tbody tr td:nth-child(3)")
        return [float(cells.nth(n).get_attribute("data-value")) for n in range(cells.count())]

    board.locator("th:nth-child(3) button").click()
    assert values() == sorted(values(), reverse=True)
    board.locator("th:nth-child(3) button").click()
    assert values() == sorted(values())
    assert board.locator("th:nth-child(3)").get_attribute("aria-sort") == "ascending"
    assert wrong == []


def test_light_and_dark_are_two_pages_that_can_be_read(seen: Callable[..., Any]) -> None:
    shown = []
    for dark in (False, True):
        page, wrong = seen(dark=dark)
        style = "getComputedStyle(document.body)"
        shown.append((page.evaluate(f"{style}.backgroundColor"), page.evaluate(f"{style}.color")))
        assert wrong == []
    (light_paper, light_ink), (dark_paper, dark_ink) = shown
    assert light_paper != dark_paper
    assert light_ink != dark_ink
    assert {light_paper, dark_paper}.isdisjoint({light_ink, dark_ink})


def test_a_bad_question_opens_to_what_was_answered(seen: Callable[..., Any]) -> None:
    page, _ = seen(phone=True)
    first = page.locator("details").last
    first.locator("summary").click()
    assert first.locator("li").first.is_visible()
    assert "right answer" in first.inner_text()
