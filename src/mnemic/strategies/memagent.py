"""Read a long text segment by segment for a question, with notes of a fixed size that each segment overwrites.

Source: Yu et al., "MemAgent: Reshaping Long-Context LLM with Multi-Conv RL-based Memory Agent" (arXiv:2507.02259),
section 2.2. The text is cut into segments of 5,000 tokens. For each the model is shown the question, its notes (at most
1,024 tokens, none at first) and the segment, and what it writes takes the place of the notes. At the end it is shown
the question and the notes alone, and answers.

Departures:

- What is read are sentences, numbered through the whole reading. A note cites the sentences that say so, and those that
  the notes cite are kept word for word with where they stand; the paper's notes point nowhere.
- A sentence belongs to the segment in which it begins: none is cut in two, there are still ceil(N / 5000) segments, and
  one is over its size by no more than its last sentence.
- The paper trains a model to take notes, by reinforcement learning. Here any model does it by the task
  `overwrite_fold`; one that is not trained for it reads worse. Where there is none, and where two answers in a row are
  not sound, rules choose the sentences that bear on the question (`rules.overwritten_notes`). A policy that is given
  chooses among sentences in place of either (`rules.policy_notes`); `neural.reading_policy` is one that has learnt so.
- The notes after each segment are a version of an item (`verbs.note_taking`): a reading that was killed goes on.

Costs: ceil(N / 5000) + 1 calls of at most 2,048 tokens of answer, one after another, and a repair for each bad answer;
O(N) time, and memory for one segment. It is no `Strategy` of a lane: lanes digest what is written whatever will be
asked, and here the question comes first. `me.read` and `mnemic read` run it.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeVar

from mnemic.core.mask import mask
from mnemic.core.tokens import count_tokens, cut
from mnemic.core.uninterrupted import import_whole
from mnemic.errors import MnemicError
from mnemic.flow import Flow
from mnemic.models.chat.soundness import Unfit
from mnemic.models.model_requests import CountJudged
from mnemic.strategies.judging import JudgeTask, judged
from mnemic.strategies.knowledge import NotesPolicy, Overwriting, ReadingNote, WordCounts
from mnemic.strategies.rules.overwritten_notes import counted_words
from mnemic.strategies.rules.policy_notes import notes_by_policy
from mnemic.strategies.tasks.condensing import OVERWRITE_FOLD

T = TypeVar("T")

SEGMENT: Final = 5_000
"""Tokens of a segment: section 2.2 of the paper, as are the other two."""
NOTES: Final = 1_024
"""Most tokens of the notes."""
QUESTION: Final = 1_024
"""Most tokens of the question."""
PIECE: Final = 128
"""Most tokens of a piece: a longer sentence is cut where a word ends."""
BY_POLICY: Final = "policy"
"""Who has judged a step whose notes a policy chose."""
_SENTENCE: Final = 4_096
"""Most characters that are looked through for the end of a sentence."""
_CITED: Final = 12 * 1024
"""Most bytes of the sentences that notes cite together: they are kept with each version of the notes."""


@dataclass(frozen=True, slots=True)
class TextStretch:
    """A text to read, or some of one, as it comes from its source.

    Attributes:
        source: What the source is called.
        part: Which of its records this is, such as the key of a message or the id of an item; "" where there is one.
        start: Characters of the part that came before.
        speaker: Who says it; "" where nobody is named.
        ends: Nothing more of this part follows.
    """

    text: str
    source: str
    part: str = ""
    start: int = 0
    speaker: str = ""
    ends: bool = True


@dataclass(frozen=True, slots=True)
class SourcePiece:
    """A sentence as it stands in its source, or a part of a long one: characters `[start, end)` of its part."""

    text: str
    source: str
    part: str
    start: int
    end: int
    speaker: str = ""

    @property
    def line(self) -> str:
        """The piece on one line, with who says it."""
        line = " ".join(self.text.split())
        return f"{self.speaker}: {line}" if self.speaker else line


@dataclass(frozen=True, slots=True)
class CitedPiece:
    """A sentence that the notes cite, and in which segment it was read."""

    piece: SourcePiece
    segment: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TextSegment:
    """What is read in one step.

    Attributes:
        number: From 1.
        first: The number of its first piece.
        tokens: Of this segment alone.
        digest: Of all pieces up to its end: two readings of one digest have read the same.
    """

    number: int
    first: int
    pieces: tuple[SourcePiece, ...]
    tokens: int
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderState:
    """What a reader knows after a segment: all that the next step is told.

    Attributes:
        segment: How many segments were read; 0 before the first.
        cited: The pieces that the notes cite, by number.
        judged: How many steps were judged by whom (`models.model_requests.JudgedBy`, or `BY_POLICY`).
    """

    segment: int = 0
    tokens: int = 0
    digest: str = ""
    notes: tuple[ReadingNote, ...] = ()
    cited: Mapping[int, CitedPiece] = field(default_factory=dict)
    counts: WordCounts = field(default_factory=WordCounts)
    judged: Mapping[str, int] = field(default_factory=dict)


def pieces_of(stretches: Iterable[TextStretch]) -> Iterator[SourcePiece]:
    """Cut texts into sentences as they come; of a part that goes on, the last sentence waits for what follows."""
    import_whole("mnemic.extract.sentences")
    from mnemic.extract.sentences import sentence_spans, unwrapped

    held = ""
    for stretch in stretches:
        text, base = held + stretch.text, stretch.start - len(held)
        spans = [
            (at, min(at + _SENTENCE, end))
            for begin, end in sentence_spans(unwrapped(text))
            for at in range(begin, end, _SENTENCE)
        ]
        waits = not stretch.ends and bool(spans) and spans[-1][1] - spans[-1][0] < _SENTENCE
        held = text[spans.pop()[0] :] if waits else ""
        for begin, end in spans:
            at = base + begin
            for text_of in cut(text[begin:end], PIECE):
                if line := text_of.strip():
                    start = at + text_of.index(line)
                    yield SourcePiece(line, stretch.source, stretch.part, start, start + len(line), stretch.speaker)
                at += len(text_of)


def segments_of(pieces: Iterable[SourcePiece], size: int = SEGMENT) -> Iterator[TextSegment]:
    """Gather pieces into segments of `size` tokens, each piece in the one in which it begins."""
    number, first, upto, tokens = 1, 0, 0, 0
    digest = hashlib.blake2b(digest_size=12)
    held: list[SourcePiece] = []
    for place, piece in enumerate(pieces):
        if upto >= number * size:
            yield TextSegment(number=number, first=first, pieces=tuple(held), tokens=tokens, digest=digest.hexdigest())
            number, first, tokens, held = number + 1, place, 0, []
        cost = count_tokens(piece.line)
        upto, tokens = upto + cost, tokens + cost
        held.append(piece)
        digest.update(repr((piece.text, piece.source, piece.part, piece.start, piece.speaker)).encode())
    if held:
        yield TextSegment(number=number, first=first, pieces=tuple(held), tokens=tokens, digest=digest.hexdigest())


def without_secrets(segment: TextSegment) -> TextSegment:
    """Mask the secrets of a segment, before a model or a note is shown them."""
    masked, kinds = mask("\n".join(piece.line for piece in segment.pieces))
    if not kinds:
        return segment
    lines = masked.split("\n")
    whole = len(lines) == len(segment.pieces)
    pieces = [
        piece if whole and line == piece.line else replace(piece, text=mask(piece.text)[0])
        for piece, line in zip(segment.pieces, lines if whole else [""] * len(segment.pieces), strict=True)
    ]
    if whole:  # what only its neighbours show to be a secret
        pieces = [
            replace(piece, text=line, speaker="") if piece.line != line else piece
            for piece, line in zip(pieces, lines, strict=True)
        ]
    return replace(segment, pieces=tuple(pieces))


def folded(
    question: str, state: ReaderState, segment: TextSegment, budget: int = NOTES, policy: NotesPolicy | None = None
) -> Flow[ReaderState]:
    """Read one segment: its notes take the place of those before.

    Args:
        policy: Chooses what the notes hold; no model is asked.

    Raises:
        ModelError: the model failed; the state before stands.
        Invalid: the policy names what is not there; likewise.
    """
    lines = tuple(piece.line for piece in segment.pieces)
    counts = counted_words(question, lines, state.counts)
    step = Overwriting(
        question=question, notes=state.notes, segment=lines, first=segment.first, budget=budget, counts=counts
    )
    cited = {**state.cited, **{segment.first + n: CitedPiece(p, segment.number) for n, p in enumerate(segment.pieces)}}
    by: tuple[str, ...]
    if policy is not None:
        notes, by = notes_by_policy(step, policy), (BY_POLICY,)
    else:
        notes, by = yield from judged_by(judged(_fold_task(cited), step))
    return ReaderState(
        segment=segment.number,
        tokens=state.tokens + segment.tokens,
        digest=segment.digest,
        notes=notes,
        cited={number: cited[number] for note in notes for number in note.source},
        counts=counts,
        judged=Counter(state.judged) + Counter(by),
    )


def _fold_task(pieces: Mapping[int, CitedPiece]) -> JudgeTask[Overwriting, tuple[ReadingNote, ...]]:
    """Make the task of a step, which also holds an answer to how much it may cite."""

    def sound(given: Overwriting, answer: Any) -> tuple[ReadingNote, ...]:
        notes = OVERWRITE_FOLD.sound(given, answer)
        cited = {number for note in notes for number in note.source}
        if sum(len(pieces[number].piece.text.encode()) for number in cited) > _CITED:
            raise Unfit("the notes cite too many lines; name for each note the one or two that say so")
        return notes

    return replace(OVERWRITE_FOLD, sound=sound)


def judged_by(flow: Flow[T]) -> Flow[tuple[T, tuple[str, ...]]]:
    """Drive the flow of a judgement, and note who judged: nobody, where there was nothing to judge."""
    by: list[str] = []
    try:
        request = next(flow)
        while True:
            if isinstance(request, CountJudged):
                by.append(request.by.value)
            try:
                answer = yield request
            except MnemicError as error:
                request = flow.throw(error)
            else:
                request = flow.send(answer)
    except StopIteration as done:
        return done.value, tuple(by)
    finally:
        flow.close()
