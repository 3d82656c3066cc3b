"""A run as one HTML page that needs nothing else: tables to sort, pictures, answers and marks, the worst questions."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mnemic.lab.kit.answer_report import by_reader
from mnemic.lab.kit.comparison import price_notes, price_tables, prices
from mnemic.lab.kit.html_page import html_page, in_html, is_ours, write_html
from mnemic.lab.kit.run_pictures import bars, pictures
from mnemic.lab.kit.run_report import (
    BadQuestion,
    ShownDoc,
    TaskReport,
    best_first,
    chief,
    marked,
    marked_name,
    of_faults,
    overview,
    overview_notes,
    provenance,
    tables,
    worst,
)
from mnemic.lab.kit.tables import signed

if TYPE_CHECKING:
    from mnemic.lab.kit.answer_report import AnswerReport
    from mnemic.lab.kit.metrics import Estimate
    from mnemic.lab.kit.run_report import RunReport, SystemRow
    from mnemic.lab.kit.tables import TextTable

_PICTURES: Final = re.compile("[ ▏▎▍▌▋▊▉█]*")
"""Bars of characters, of any length, which a page draws better."""

_NUMBER: Final = re.compile(r"[+-]?\d[\d,]*(?:\.\d+)?")
_NOTHING: Final = "<td>-</td>"


def write_page(run_report: RunReport, path: Path, behind: Iterable[str] = ()) -> Path:
    """Write the page of a run.

    Args:
        behind: Lines of HTML that follow the tasks.

    Raises:
        Invalid: the file cannot be written.
    """
    return write_html(page(run_report, behind), path)


def page(run_report: RunReport, behind: Iterable[str] = ()) -> str:
    """The page of a run, and what follows its tasks."""
    names = ", ".join(map(marked_name, run_report.tasks))
    shown = (line for each in run_report.tasks for line in _task(each, run_report.seed))
    glance = _at_a_glance(run_report) if len(run_report.tasks) > 1 else ()
    return html_page(f"mnemic bench: {names}", (*_head(run_report, names), *glance, *shown, *behind))


def _at_a_glance(run_report: RunReport) -> Iterator[str]:
    """The headline of every task, and the way to each."""
    table = overview(run_report)
    yield f"<h3>{in_html(table.title)}</h3>"
    yield from page_table(table)
    if notes := overview_notes(run_report):
        yield f"<ul>{''.join(f'<li>{in_html(note)}</li>' for note in notes)}</ul>"
    links = (f'<a href="#{in_html(each.task.name)}">{in_html(each.task.name)}</a>' for each in run_report.tasks)
    yield f"<p>{' · '.join(links)}</p>"


def tables_section(title: str, tables: Iterable[TextTable]) -> Iterator[str]:
    """Tables under a title of their own, as lines of HTML."""
    yield f"<h2>{in_html(title)}</h2>"
    for table in tables:
        yield f"<h3>{in_html(table.title)}</h3>"
        yield from page_table(table)


def _head(run_report: RunReport, names: str) -> Iterator[str]:
    yield f"<h1>{in_html(names)}</h1>"
    yield f'<p class="dim">{"; ".join(map(in_html, provenance(run_report)))}</p>'
    if not run_report.complete:
        yield '<p class="bad">This run was cut short: figures cover what was answered until then.</p>'


def _task(of: TaskReport, seed: int) -> Iterator[str]:
    yield f'<h2 id="{in_html(of.task.name)}">{in_html(marked_name(of))}</h2>'
    yield f"<p>{in_html(of.task.about)}</p>"
    for row in of.rows:
        if row.failure:
            yield f'<p class="bad">{in_html(row.system)} did not come to its end: {in_html(row.failure)}</p>'
    yield f"<h3>Leaderboard: {in_html(of.task.headline)} with its 95 % intervals</h3>"
    yield from _board(of)
    yield from plots(pictures(of))
    if any(row.categories for row in of.rows):
        yield f"<h3>{in_html(of.task.headline)} by category</h3>"
        yield from _categories(of)
    if of.answers is not None:
        yield f"<h3>Answers: {in_html(of.answers.rows[0].rule)}, and what judges found right, with 95 % intervals</h3>"
        yield from _answers(of.answers)
    worth = prices(of, seed)
    for table in (*tables(of), *(marked(each, of) for each in price_tables(of, worth))):
        yield f"<h3>{in_html(table.title)}</h3>"
        yield from page_table(table)
    notes = (*of.notes, *price_notes(of, worth))
    yield f"<ul>{''.join(f'<li>{in_html(note)}</li>' for note in notes)}</ul>"
    faults = of.run.header["data"][of.task.name]
    if faults["faults"]:
        yield f"<details><summary>{of_faults(faults['faults'])}</summary><ul>"
        yield from (f"<li>{in_html(f['where'])}: {in_html(f['what'])}</li>" for f in faults["faults_listed"])
        yield "</ul></details>"
    name = chief(of)
    if bad := worst(of, name):
        yield f"<h3>The worst {len(bad)} questions of {in_html(name)}: what was wanted, and what came first</h3>"
        for question in bad:
            yield from _question(question)


def plots(drawn: Iterable[str]) -> Iterator[str]:
    """Pictures beside each other; nothing where there are none."""
    if drawn := list(drawn):
        yield '<div class="plots">'
        yield from drawn
        yield "</div>"


def _board(of: TaskReport) -> Iterator[str]:
    beside_it = (f"beside {of.against}", "by conversation") if of.against else ()
    heads = (
        "contestant", "n", of.task.headline, "by question, by conversation", *beside_it, "tokens", "p50 ms", "CPU ms",
        "bytes/doc",
    )  # fmt: skip
    yield from _table_of(_columns(heads), (_on_board(of, row) for row in best_first(of)))


def _on_board(of: TaskReport, row: SystemRow) -> _Line:
    score, size = row.scores[of.task.headline], row.cost.bytes_per_message if row.cost else None
    cells = (
        _number(score.n),
        _number(100 * score.mean, 1),
        _drawn(score.mean, bars(score, row.clustered)),
        *((_difference(row.gain), _difference(row.clustered_gain)) if of.against else ()),
        _number(row.tokens),
        _number(row.p50_ms, 2),
        _number(row.cpu_ms, 2),
        _number(math.nan if size is None else size),
    )
    return _Line(row.system, f"{row.system} (failed)" if row.failure else row.system, cells)


def _categories(of: TaskReport) -> Iterator[str]:
    names = list(dict.fromkeys(name for row in of.rows for name in row.categories))
    lines = (
        _Line(row.system, row.system, [_interval(row.categories.get(name, {}).get(of.task.headline)) for name in names])
        for row in of.rows
    )
    yield from _table_of(_columns(("contestant", *names)), lines)


def _answers(of: AnswerReport) -> Iterator[str]:
    judges = list(dict.fromkeys(row.judge for row in of.judges))
    marks = {(row.system, row.reader, row.judge): row.right for row in of.judges}
    heads = (
        "contestant / reader",
        "n",
        of.rows[0].rule,
        f"beside {of.against}",
        *(f"right, by {judge}" for judge in judges),
        "calls",
    )
    lines = (
        _Line(
            row.system,
            by_reader(row.system, row.reader),
            (
                _number(row.scores[row.rule].n),
                _interval(row.scores[row.rule]),
                _difference(row.gain),
                *(_interval(marks.get((row.system, row.reader, judge))) for judge in judges),
                _number(row.calls),
            ),
        )
        for row in of.rows
    )
    yield from _table_of(_columns(heads), lines)


def _interval(score: Estimate | None) -> str:
    if score is None or math.isnan(score.mean):
        return _NOTHING
    return _drawn(score.mean, f"{100 * score.mean:.1f} {bars(score, wide=110)}")


def page_table(table: TextTable) -> Iterator[str]:
    """A table whose columns a reader sorts by: figures as figures, words as words."""
    shown = [
        n for n, _ in enumerate(table.columns) if n == 0 or not all(_PICTURES.fullmatch(row[n]) for row in table.rows)
    ]
    words = {n for n in shown if n in (0, *table.words) or _is_of_words([row[n] for row in table.rows])}
    lines = (
        _Line(row[0], row[0], [(_words if n in words else _figure)(row[n]) for n in shown[1:]]) for row in table.rows
    )
    yield from _table_of((_column(table.columns[n], words=n in words) for n in shown), lines)


def _is_of_words(column: Sequence[str]) -> bool:
    return any(cell not in ("", "-") for cell in column) and all(sorted_by(cell) is None for cell in column)


def sorted_by(cell: str) -> float | None:
    """The number that a cell begins with, by which it is sorted; None for a dash, and for words."""
    if cell == "at once":
        return math.inf
    begins = _NUMBER.match(cell)
    return float(begins[0].replace(",", "")) if begins else None


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of a table: whose it is, its name as it is shown, and its other cells."""

    system: str
    name: str
    cells: Iterable[str]


def _table_of(heads: Iterable[str], lines: Iterable[_Line]) -> Iterator[str]:
    yield f'<div class="wide"><table><thead><tr>{"".join(heads)}</tr></thead><tbody>'
    for line in lines:
        kind = ' class="ours"' if is_ours(line.system) else ""
        yield f'<tr{kind}><th scope="row">{in_html(line.name)}</th>{"".join(line.cells)}</tr>'
    yield "</tbody></table></div>"


def _question(question: BadQuestion) -> Iterator[str]:
    about = f"{question.category}, {question.id}, {100 * question.score:.0f} %"
    asked = in_html(question.text or question.id)
    yield f"<details><summary>{asked} <span class='dim'>{in_html(about)}</span></summary>"
    if question.answers:
        yield f"<p>right answer: {in_html(question.right) or 'none'}</p><ul>"
        for reader, words, marks in question.answers:
            yield f"<li>{in_html(words) or 'nothing'} <span class='dim'>{in_html(reader)}{in_html(marks)}</span></li>"
        yield "</ul>"
    yield '<div class="sides">'
    for title, docs in (("wanted", question.wanted), ("came first", question.recalled)):
        yield f"<div><h4>{title}</h4><ul>{''.join(map(_document, docs))}</ul></div>"
    yield "</div></details>"


def _document(doc: ShownDoc) -> str:
    rank = f"rank {doc.rank}{', wanted' if doc.wanted else ''}" if doc.rank else "wanted, not ranked"
    kind = ' class="good"' if doc.wanted and doc.rank else ' class="bad"' if doc.wanted else ""
    return f"<li{kind}>{in_html(doc.text)} <span class='dim'>{in_html(doc.id)}, {rank}</span></li>"


def _columns(names: Sequence[str]) -> Iterator[str]:
    """Heads of a column of names, and of columns of figures."""
    return (_column(name, words=n == 0) for n, name in enumerate(names))


def _column(name: str, *, words: bool = False) -> str:
    kind = ' class="words"' if words else ""
    return f'<th scope="col"{kind}><button>{in_html(name)}</button></th>'


def _words(cell: str) -> str:
    return f'<td class="words">{in_html(cell)}</td>'


def _figure(cell: str) -> str:
    if (value := sorted_by(cell)) is None:
        return f"<td>{in_html(cell)}</td>"
    written = "Infinity" if math.isinf(value) else f"{value:.12g}"  # as a script reads it
    return f'<td data-value="{written}">{in_html(cell)}</td>'


def _drawn(value: float, drawn: str) -> str:
    return _NOTHING if math.isnan(value) else f'<td class="drawn" data-value="{value}">{drawn}</td>'


def _number(value: float, digits: int = 0) -> str:
    return _NOTHING if math.isnan(value) else f'<td data-value="{value}">{value:,.{digits}f}</td>'


def _difference(value: Estimate | None) -> str:
    if value is None or math.isnan(value.mean):
        return _NOTHING
    sure = "" if not value.has_interval else "good" if value.low > 0 else "bad" if value.high < 0 else ""
    return f'<td class="{sure}" data-value="{value.mean}">{in_html(signed(value))}</td>'
