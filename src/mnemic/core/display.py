"""The table that a notebook shows of a recall, as HTML with every word escaped."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final

from mnemic.core.tokens import local_time

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mnemic.core.items import Item

_CELL: Final = 'style="text-align:left;vertical-align:top;padding:.3em .8em"'
_DIM: Final = 'style="opacity:.65;font-size:90%"'
_WIDEST: Final = 100
"""Pixels of the bar of the best score."""


def evidence_html(
    always: Sequence[Item], evidence: Sequence[tuple[Item, float, Sequence[str]]], figures: Sequence[str]
) -> str:
    """Lay out as HTML what is always in a context, then its evidence with a bar for each score, then its figures.

    What was remembered was written by anybody: nothing of it becomes markup.
    """
    best = max((score for _, score, _ in evidence), default=0.0)
    rows = [_row("always at hand", item, "") for item in always]
    rows += [_row("; ".join(reasons), item, _bar(score, best)) for item, score, reasons in evidence]
    table = f"<table><tbody>{''.join(rows)}</tbody></table>" if rows else "<p>Nothing is remembered about this.</p>"
    return f"{table}<p {_DIM}>{escape(' · '.join(figures))}</p>"


def _bar(score: float, best: float) -> str:
    share = max(0.0, score / best) if best > 0 else 0.0
    return f'<div style="height:.5em;width:{_WIDEST * share:.0f}px;background:#4c8bf5"></div>'


def _row(why: str, item: Item, bar: str) -> str:
    who = item.slots.get("speaker") or item.slots.get("title") or item.kind.value
    when = f"{local_time(item.said, item.said_offset):%Y-%m-%d %H:%M}"
    about = f"<div {_DIM}>{escape(when)} · {escape(str(who))} · {escape(item.id)}</div>"
    return f"<tr><td {_CELL}>{about}{escape(item.text)}</td><td {_CELL}>{bar}<div {_DIM}>{escape(why)}</div></td></tr>"
