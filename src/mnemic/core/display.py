"""What a notebook shows of a recall: a table to look at, every word of it escaped."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final

from mnemic.core.tokens import local_time

if TYPE_CHECKING:
    from mnemic.core.items import Item
    from mnemic.core.queries import Context, Recalled

_CELL: Final = 'style="text-align:left;vertical-align:top;padding:.3em .8em"'
_DIM: Final = 'style="opacity:.65;font-size:90%"'
_WIDEST: Final = 100
"""Pixels of the bar of the best score."""


def context_html(context: Context) -> str:
    """A context as HTML: what is always at hand, then the evidence with a bar for its score and the reasons for it.

    What was remembered was written by anybody: nothing of it becomes markup.
    """
    best = max((one.score for one in context.items), default=0.0)
    rows = [_at_hand(item) for item in context.always] + [_evidence(one, best) for one in context.items]
    table = f"<table><tbody>{''.join(rows)}</tbody></table>" if rows else "<p>Nothing is remembered about this.</p>"
    return f"{table}<p {_DIM}>{escape(_summary(context))}</p>"


def _summary(context: Context) -> str:
    told = [
        f"{len(context.items)} of {context.considered} considered",
        f"{context.tokens} tokens",
        f"confidence {context.confidence:.2f}",
        f"{context.milliseconds:.1f} ms",
        *([f"{context.pending} not yet read for meaning"] if context.pending else []),
        *context.notes,
    ]
    return " · ".join(told)


def _at_hand(item: Item) -> str:
    return _row("always at hand", item, "")


def _evidence(one: Recalled, best: float) -> str:
    share = max(0.0, one.score / best) if best > 0 else 0.0
    bar = f'<div style="height:.5em;width:{_WIDEST * share:.0f}px;background:#4c8bf5"></div>'
    return _row("; ".join(one.reasons), one.item, bar)


def _row(why: str, item: Item, bar: str) -> str:
    who = item.slots.get("speaker") or item.slots.get("title") or item.kind.value
    when = f"{local_time(item.said, item.said_offset):%Y-%m-%d %H:%M}"
    about = f"<div {_DIM}>{escape(when)} · {escape(str(who))} · {escape(item.id)}</div>"
    return f"<tr><td {_CELL}>{about}{escape(item.text)}</td><td {_CELL}>{bar}<div {_DIM}>{escape(why)}</div></td></tr>"
