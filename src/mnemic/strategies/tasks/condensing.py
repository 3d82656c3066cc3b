"""Say in fewer words: summaries within a budget, and the notes of a reader."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from typing import Any, Final

from mnemic.core.json_schema import many, shape, text, whole
from mnemic.core.sanitize import without_unseen
from mnemic.core.tokens import count_tokens
from mnemic.models.chat.soundness import Unfit
from mnemic.strategies.judging import JudgeTask
from mnemic.strategies.knowledge import (
    Condensing,
    NotesAnswer,
    NotesRead,
    Overwriting,
    PassageSummary,
    ReadingNote,
    notes_text,
)
from mnemic.strategies.rules.extractive_summary import extractive_summary
from mnemic.strategies.rules.overwritten_notes import overwritten_notes
from mnemic.strategies.showing import block, in_line, numbered, spoken_by
from mnemic.strategies.tasks.answers import cited, one_line, reasoned, short


def _shown(given: Condensing) -> str:
    if not given.passages:
        return ""
    limit = f"Most tokens of the summary: {given.budget}"
    return f"{limit}\n\n{block('Passages', numbered(map(spoken_by, given.passages)))}"


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
    blocks = (
        block("Question", [in_line(given.question)]),
        block("Notes so far", _cited_notes(given.notes) or ["(none yet)"]),
        block("Next segment", numbered(given.segment, given.first + 1)),
        f"Most tokens of the new notes together: {given.budget}",
    )
    return "\n\n".join(blocks)


def _cited_notes(notes: Sequence[ReadingNote]) -> list[str]:
    return [f"{in_line(note.text)} {''.join(f'[{piece + 1}]' for piece in note.source)}" for note in notes]


def _known_pieces(handles: Sequence[int], known: Container[int]) -> tuple[int, ...]:
    """The pieces that handles cite, each once.

    Raises:
        Unfit: one is not known.
    """
    source = tuple(dict.fromkeys(handle - 1 for handle in handles))
    if unknown := [piece for piece in source if piece not in known]:
        raise Unfit(f"there is no [{unknown[0] + 1}] in what was shown")
    return source


def _notes(given: Overwriting, answer: Any) -> tuple[ReadingNote, ...]:
    """Read the new notes: what they cite stands in the segment, or was cited before."""
    known = {piece for note in given.notes for piece in note.source}
    known |= set(range(given.first, given.first + len(given.segment)))
    notes: list[ReadingNote] = []
    for answered in answer["notes"]:
        notes.append(ReadingNote(text=one_line(answered["text"]), source=_known_pieces(answered["from"], known)))
    tokens = count_tokens(notes_text(notes))
    if tokens > given.budget:
        raise Unfit(f"the notes have {tokens} tokens, and {given.budget} are allowed")
    return tuple(notes)


OVERWRITE_FOLD: Final = JudgeTask(
    id="overwrite_fold",
    schema=reasoned(notes=many(shape({"text": short(1000), "from": cited()}), maxItems=64)),
    show=_shown_step,
    sound=_notes,
    rules=overwritten_notes,
    limit=2048,
)
"""The notes of a reader after one more segment: MemAgent (arXiv:2507.02259, section 2.2)."""


def _shown_notes(given: NotesRead) -> str:
    if not given.notes:
        return ""
    return "\n\n".join((block("Question", [in_line(given.question)]), block("Notes", _cited_notes(given.notes))))


def _answer(given: NotesRead, answer: Any) -> NotesAnswer:
    """Read an answer: one that says something cites pieces that the notes cite."""
    said = " ".join(without_unseen(answer["answer"]).split())
    source = _known_pieces(answer["from"], {piece for note in given.notes for piece in note.source})
    if said and not source:
        raise Unfit("the answer names no line that says so; where the notes do not hold it, the answer is empty")
    return NotesAnswer(text=said, source=source if said else ())


def answer_task(rules: Callable[[NotesRead], NotesAnswer]) -> JudgeTask[NotesRead, NotesAnswer]:
    """Make the last step of MemAgent, the answer out of the notes alone.

    Args:
        rules: Who answers without a model: reading an answer out of evidence is recall's, which stands above us.
    """
    schema = reasoned(answer=short(1000, least=0), **{"from": many(whole(low=1), maxItems=8)})
    return JudgeTask(id="answer_from_notes", schema=schema, show=_shown_notes, sound=_answer, rules=rules)
