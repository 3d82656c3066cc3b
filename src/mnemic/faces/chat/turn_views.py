"""Shows a turn: the answer, and beside it what was recalled and why, and what was written.

In two columns, as plain text in order, or as a line of JSON.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, Protocol

from mnemic.core.items import Kind
from mnemic.faces.chat.folding import BREAK, Fold, folded
from mnemic.faces.cli.item_ids import LEAST
from mnemic.faces.cli.item_words import said_time, source_label
from mnemic.faces.cli.output import cut, flat, many, plain, width
from mnemic.faces.set_aside import set_aside_records, unweighed_lines, unweighed_record
from mnemic.models.chat.base import CutOff
from mnemic.operations.records import context_record, item_record, receipt_record

if TYPE_CHECKING:
    from mnemic.core.items import Item
    from mnemic.core.queries import Context
    from mnemic.faces.chat.conversation import Turn
    from mnemic.faces.cli.output import Output

WIDE: Final = 96
"""Columns from which a terminal has room for two."""

_SHARE: Final = 0.5
_BAR: Final = " │ "
_NAME: Final = 40
"""Columns that a model's name may take."""


SHOWN: Final = 5
"""Recalled items that are shown at once; `/why` shows all."""

_TEXT: Final = 140
"""Columns of an item's text that are shown at once."""


class TurnView(Protocol):
    """Shows one turn after the other."""

    def begin(self, turn: Turn) -> None:
        """Show what was recalled and written; the answer is to come."""

    def piece(self, text: str) -> None:
        """Show more of the answer."""

    def end(self, turn: Turn) -> None:
        """Finish the turn: the answer is over, for whatever reason."""


class Columns:
    """The answer on the left as it comes, memory on the right, line by line; nothing on the screen is ever moved."""

    def __init__(self, output: Output, columns: int, name: str) -> None:
        self._output, self._name = output, name
        self._left = int(columns * _SHARE)
        self._right = columns - self._left - len(_BAR) - 1
        self._rows: deque[str] = deque()
        self._fold = Fold(self._left)
        self._used = 0

    def begin(self, turn: Turn) -> None:
        self._fold, self._used = Fold(self._left), 0
        self._add(recalled_rows(turn.context))
        self._add(written_rows(turn))
        self._write(self._name, styled=self._output.bold(self._name))
        self._end_line()

    def piece(self, text: str) -> None:
        for part in self._fold.feed(text):
            self._put(part)

    def end(self, turn: Turn) -> None:
        for part in self._fold.end():
            self._put(part)
        self._add(answer_rows(turn))
        self._add(prompt_rows(turn))
        self._add(learnt_rows(turn))
        if outcome := _outcome(turn):
            self._end_line()
            for line in folded(outcome, self._left):
                self._write(line, styled=self._output.ink(line, fg="red"))
                self._end_line()
        while self._rows or self._used:
            self._end_line()
        print(flush=True)

    def _add(self, rows: Iterable[Row]) -> None:
        for row in rows:
            indent = " " * row.indent
            lines = folded(indent + row.text, self._right, hang=row.indent + 2)
            self._rows += [_inked(self._output, row, line) for line in lines]

    def _put(self, part: str) -> None:
        if part == BREAK:
            self._end_line()
        else:
            self._write(part)

    def _write(self, text: str, *, styled: str | None = None) -> None:
        self._used += width(text)
        print(text if styled is None else styled, end="", flush=True)

    def _end_line(self) -> None:
        right = self._rows.popleft() if self._rows else ""
        gap = " " * (self._left - self._used)
        print(f"{gap}{self._output.dim(_BAR)}{right}" if right else "", flush=True)
        self._used = 0


class Plain:
    """The answer, then memory, in order; for a narrow terminal, a pipe or a file."""

    def __init__(self, output: Output, name: str) -> None:
        self._output, self._name = output, name

    def begin(self, turn: Turn) -> None:
        print(f"{self._name}> ", end="", flush=True)

    def piece(self, text: str) -> None:
        print(plain(text), end="", flush=True)

    def end(self, turn: Turn) -> None:
        outcome = _outcome(turn)
        print(f"{' ' if turn.answer and outcome else ''}{outcome}", flush=True)
        parts = (
            recalled_rows(turn.context),
            written_rows(turn),
            answer_rows(turn),
            prompt_rows(turn),
            learnt_rows(turn),
        )
        for row in chain.from_iterable(parts):
            self._output.line("  " + " " * row.indent + plain(row.text))
        self._output.line()


class Lines:
    """One JSON document a turn, on a line."""

    def __init__(self, output: Output, session: str, model: str | None) -> None:
        self._output, self._session, self._model = output, session, model

    def begin(self, turn: Turn) -> None:
        """Wait: nothing is printed before the turn is whole."""

    def piece(self, text: str) -> None:
        """Wait: nothing is printed before the turn is whole."""

    def end(self, turn: Turn) -> None:
        self._output.record({"session": self._session, "model": self._model, **turn_record(turn)})


def turn_record(turn: Turn) -> dict[str, Any]:
    """Make the record of a turn: what was said and answered, recalled and written."""
    return {
        "said": turn.message,
        "answer": turn.answer,
        "stopped": turn.stopped,
        "error": None if turn.error is None else {"type": type(turn.error).__name__, "message": str(turn.error)},
        "recalled": context_record(turn.context),
        "written": receipt_record(turn.written),
        "derived": [item_record(item) for item in turn.derived],
        "closed": [item_record(item) for item in turn.closed],
        "kept": None if turn.reply is None else receipt_record(turn.reply),
        "prompt": prompt_record(turn),
    }


def _outcome(turn: Turn) -> str:
    """Say how an answer ended if not as it should; else ""."""
    if isinstance(turn.error, CutOff):
        return f"[cut off at {turn.error.limit} tokens; --limit allows more]"
    if turn.error is not None:
        return f"[error: {flat(str(turn.error))}]"
    return "[stopped]" if turn.stopped else ""


def _inked(output: Output, row: Row, line: str) -> str:
    if row.heading:
        return output.bold(line)
    return output.dim(line) if row.aside else line


def view(output: Output, session: str, model: str | None) -> TurnView:
    """Choose the view that fits where the output goes."""
    if output.json:
        return Lines(output, session, model)
    name = cut(flat(model or "memory"), _NAME)
    if sys.stdout.isatty() and output.columns is not None and output.columns >= WIDE:
        return Columns(output, output.columns, name)
    return Plain(output, name)


@dataclass(frozen=True, slots=True)
class Row:
    """One line beside an answer: what it says, how far it is set in, and whether it is a heading or an aside."""

    text: str
    indent: int = 0
    heading: bool = False
    aside: bool = False


def short(id: str) -> str:
    """Shorten an id to what still names it in a command: its end."""
    return id[-LEAST:]


def recalled_rows(context: Context) -> Iterator[Row]:
    """Yield the rows about what was recalled, best first, each with its reasons."""
    if not context.items and not context.always:
        yield Row("recalled nothing", heading=True)
        return
    yield Row(
        f"recalled {many(len(context.items), 'item')} of {context.considered:,}, {many(context.tokens, 'token')}, "
        f"confidence {context.confidence:.2f}",
        heading=True,
    )
    for rank, recalled in enumerate(context.items[:SHOWN], start=1):
        yield Row(
            f"{rank} {short(recalled.id)} {said_time(recalled.item)} {source_label(recalled.item)}, "
            f"score {recalled.score:.2f}",
            indent=1,
        )
        yield Row(_quoted(recalled.item), indent=3)
        if recalled.reasons:
            yield Row("why: " + "; ".join(map(flat, recalled.reasons)), indent=3, aside=True)
    if len(context.items) > SHOWN:
        yield Row(f"and {len(context.items) - SHOWN} more: /why", indent=1, aside=True)
    for item in context.always:
        yield Row(f"always {short(item.id)} {_sort(item)}: {_quoted(item)}", indent=1)
    for note in context.notes:
        yield Row(flat(note), indent=1, aside=True)


def written_rows(turn: Turn) -> Iterator[Row]:
    """Yield the rows about what a person's turn wrote, and what rules derived from it."""
    yield Row("written", heading=True)
    ids = turn.written.ids
    more = f" and its {many(len(ids) - 1, 'part')}" if len(ids) > 1 else ""
    yield Row(f"+ {short(ids[0])} what you said{more}, commit {turn.written.seq}", indent=1)
    for item in turn.derived:
        yield Row(f"+ {short(item.id)} {_sort(item)}: {_quoted(item)}", indent=1)
    for item in turn.closed:
        yield Row(f"- {short(item.id)} no longer: {_quoted(item)}", indent=1)
    for kind, count in turn.written.masked:
        yield Row(f"masked before it was written: {count} x {kind}", indent=1)


def answer_rows(turn: Turn) -> Iterator[Row]:
    """Yield the rows about what the answer wrote."""
    if turn.reply is not None:
        yield Row(f"+ {short(turn.reply.id)} what the model said, commit {turn.reply.seq}", indent=1)
        for kind, count in turn.reply.masked:
            yield Row(f"masked before it was written: {count} x {kind}", indent=1)


def prompt_rows(turn: Turn) -> Iterator[Row]:
    """Yield the row about what the engine had of the prompt already, and what it had to read."""
    if turn.attached is None or turn.work is None or not turn.work.prefilled + turn.work.reused:
        return
    attached, work = turn.attached, turn.work
    how = "restored" if attached.restored else "held" if work.reused else f"nothing restored: {attached.miss or 'new'}"
    yield Row(f"prompt {many(attached.tokens, 'token')}", heading=True)
    yield Row(
        f"{work.reused:,} {how}, {work.prefilled:,} read; first word after {turn.first_token:.2f} s"
        if work.reused
        else f"{work.prefilled:,} read, {how}; first word after {turn.first_token:.2f} s",
        indent=1,
        aside=True,
    )


def learnt_rows(turn: Turn) -> Iterator[Row]:
    """Yield what of the learnt is weighed in, or why none of it is."""
    if turn.learnt is not None:
        yield Row(
            f"what was learnt is weighed in: shard {turn.learnt.number + 1} of {turn.learnt.of}", indent=1, aside=True
        )
    if turn.unweighed is not None:
        lines = unweighed_lines(turn.unweighed, turn.set_aside)
        yield from (Row(line, indent=1, aside=True) for line in lines)


def prompt_record(turn: Turn) -> dict[str, Any] | None:
    """Make the record of a prompt's tokens; None where no engine of this process answered."""
    if turn.attached is None or turn.work is None:
        return None
    return {
        "tokens": turn.attached.tokens,
        "restored": turn.attached.restored,
        "reused": turn.work.reused,
        "prefilled": turn.work.prefilled,
        "read_ahead": turn.read_ahead,
        "miss": turn.attached.miss,
        "first_token_seconds": round(turn.first_token, 4),
        "shard": None if turn.learnt is None else turn.learnt.number,
        "set_aside": set_aside_records(turn.set_aside),
        "unweighed": unweighed_record(turn.unweighed),
    }


def _quoted(item: Item) -> str:
    return f'"{cut(flat(item.text), _TEXT)}"'


def _sort(item: Item) -> str:
    from mnemic.recall.always import is_standing

    if is_standing(item):
        return "standing instruction"
    if item.kind is Kind.PROCEDURE and item.slots.get("standing") is False:
        return "instruction taken back"
    return "pinned" if item.pinned else item.kind.value
