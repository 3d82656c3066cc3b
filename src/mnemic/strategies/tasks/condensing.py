"""Say in fewer words: summaries within a budget, and the notes of a reader."""

from __future__ import annotations

from typing import Any, Final

from mnemic.core.json_schema import many, shape, text
from mnemic.core.sanitize import without_unseen
from mnemic.core.tokens import count_tokens
from mnemic.models.chat.soundness import Unfit
from mnemic.strategies.judging import JudgeTask
from mnemic.strategies.knowledge import Condensing, Overwriting, PassageSummary, ReadingNote
from mnemic.strategies.rules.extractive_summary import extractive_summary
from mnemic.strategies.rules.overwritten_notes import overwritten_notes
from mnemic.strategies.showing import block, in_line, numbered, spoken_by
from mnemic.strategies.tasks.answers import cited, one_line, reasoned, short


def _shown(given: Condensing) -> str:
    if not given.passages:
        return ""
    told = f"Most tokens of the summary: {given.budget}"
    return f"{told}\n\n{block('Passages', numbered(map(spoken_by, given.passages)))}"


def _summary(given: Condensing, answer: Any) -> PassageSummary:
    summary = without_unseen(answer["summary"]).strip()
    tokens = count_tokens(summary)
    if not summary or tokens > given.budget:
        raise Unfit(f"the summary has {tokens} tokens, and 1 to {given.budget} are allowed")
    return PassageSummary(text=summary, source=tuple(range(len(given.passages))))


SUMMARIZE: Final = JudgeTask(
    id="summarize",
    schema=reasoned(summary=text()),
    show=_shown,
    sound=_summary,
    rules=extractive_summary,
)
"""Passages in fewer words."""


def _shown_step(given: Overwriting) -> str:
    if not given.segment:
        return ""
    notes = [f"{in_line(note.text)} {_citations(note)}" for note in given.notes] or ["(none yet)"]
    blocks = (
        block("Question", [in_line(given.question)]),
        block("Notes so far", notes),
        block("Next segment", numbered(given.segment, given.first + 1)),
        f"Most tokens of the new notes together: {given.budget}",
    )
    return "\n\n".join(blocks)


def _citations(note: ReadingNote) -> str:
    return "".join(f"[{piece + 1}]" for piece in note.source)


def _notes(given: Overwriting, answer: Any) -> tuple[ReadingNote, ...]:
    """Read the new notes: what they cite stands in the segment, or was cited before."""
    known = {piece for note in given.notes for piece in note.source}
    known |= set(range(given.first, given.first + len(given.segment)))
    found: list[ReadingNote] = []
    for one in answer["notes"]:
        source = tuple(dict.fromkeys(handle - 1 for handle in one["from"]))
        if unknown := [piece for piece in source if piece not in known]:
            raise Unfit(f"there is no [{unknown[0] + 1}] in the notes or in the segment")
        found.append(ReadingNote(text=one_line(one["text"]), source=source))
    tokens = sum(count_tokens(note.text) for note in found)
    if tokens > given.budget:
        raise Unfit(f"the notes have {tokens} tokens, and {given.budget} are allowed")
    return tuple(found)


OVERWRITE_FOLD: Final = JudgeTask(
    id="overwrite_fold",
    schema=reasoned(notes=many(shape({"text": short(1000), "from": cited()}), maxItems=64)),
    show=_shown_step,
    sound=_notes,
    rules=overwritten_notes,
    limit=2048,
)
"""The notes of a reader after one more segment: MemAgent (arXiv:2507.02259, section 2.2)."""
