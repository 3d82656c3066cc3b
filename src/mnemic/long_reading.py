"""Reading long texts for a question, as `me.read` does it: sources come in streams, and each step stays.

Here sources are opened and steps follow each other; what a step is, `strategies.memagent` says, and what stays of it,
`verbs.note_taking`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import IO, Any, Final, TypeAlias, TypeVar

from mnemic.core.ids import ItemId
from mnemic.core.items import EVIDENCE, Item, Kind, Version
from mnemic.core.queries import Filter
from mnemic.core.tokens import count_tokens
from mnemic.errors import Conflict, Invalid, NotFound, TooLarge
from mnemic.flow import Flow, Request
from mnemic.ingest.long_texts import LongTexts
from mnemic.ingest.message import Skipped
from mnemic.models.chat.base import Ask
from mnemic.opening import Opened
from mnemic.store.engine.snapshot import Snapshot
from mnemic.store.requests import look
from mnemic.store.values.spending import Spending
from mnemic.strategies.knowledge import NotesPolicy
from mnemic.strategies.memagent import NOTES, QUESTION, SEGMENT, TextStretch, pieces_of, segments_of
from mnemic.verbs.note_taking import KeptNotes, LongQuestion
from mnemic.verbs.who import Who, chunks_of, spaces_of, view_of
from mnemic.watching.metering import Sort, Timed
from mnemic.watching.model_calls import metered

T = TypeVar("T")

LongSource: TypeAlias = Path | str | IO[str] | IO[bytes] | Iterable[str] | Iterable[bytes]
"""What `read` reads: a file, folder or zip by its path, a text, a file object, or an iterable of texts."""

_NAME: Final = "memagent"
"""As whom a reading asks models, in meters."""
_PAGE: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidencePlace:
    """A sentence that a note rests on, word for word, and where it stands.

    Attributes:
        source: What the source is called: a path, `text 1`, `session NAME`, an id.
        part: Which of its records: the key of a message, the id of an item; "" where the source is one text.
        segment: In which step it was read, from 1.
        start, end: Characters of the part, `[start, end)`. Its secrets are masked in `quote`.
    """

    source: str
    part: str
    segment: int
    start: int
    end: int
    quote: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CitedNote:
    """A note, and the sentences that say so."""

    text: str
    evidence: tuple[EvidencePlace, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LongReading:
    """What a long text says to a question.

    Attributes:
        id: The item that the notes are: `history` shows how they grew, `erase` takes them out.
        seq: The commit that wrote them last.
        answer: "" where the notes do not hold it.
        evidence: What the answer rests on.
        notes: In the order in which they were read, as rules leave them, or as the model wrote them.
        tokens, segments: What was read in all.
        resumed: How many of the segments had been read before: nobody was asked about them again.
        judged: How many steps each judged: `answer` and `repair` are the model, `rules_alone` no model, `rules` those
            that stood in for answers that were not sound, `policy` a policy that was given.
        skipped: What could not be read of the sources, and why.
    """

    id: ItemId
    seq: int
    question: str
    answer: str
    evidence: tuple[EvidencePlace, ...]
    notes: tuple[CitedNote, ...]
    tokens: int
    segments: int
    resumed: int
    judged: Mapping[str, int]
    skipped: tuple[Skipped, ...] = ()

    @property
    def known(self) -> bool:
        """Whether there is an answer."""
        return bool(self.answer)

    def __str__(self) -> str:
        return self.answer


@dataclass(frozen=True, slots=True)
class ReadingProgress:
    """How far a reading is.

    Attributes:
        taken, total: Bytes of the sources; `total` is None where nobody knows.
    """

    segment: int
    tokens: int
    taken: int
    total: int | None


ReadingReport: TypeAlias = Callable[[ReadingProgress], object]


class LongReader:
    """Reads sources for one question, once.

    Args:
        session: A session of this memory to read behind the sources: its turns and documents, in their order.
        ids: Items of this memory to read behind that; of a document its chunks.
        policy: Chooses what the notes hold, in place of model or rules.

    Raises:
        Invalid, TooLarge: there is nothing to read, or the question is too long; nothing was read.
    """

    def __init__(
        self,
        opened: Opened,
        who: Who,
        question: str,
        sources: Sequence[LongSource],
        *,
        session: str | None = None,
        ids: Sequence[ItemId] = (),
        notes: int | None = None,
        segment: int | None = None,
        progress: ReadingReport | None = None,
        policy: NotesPolicy | None = None,
    ) -> None:
        if not sources and session is None and not ids:
            raise Invalid("sources", "are missing", "Give files, texts, a session, or ids of items.")
        if (tokens := count_tokens(question)) > QUESTION:
            remedy = f"A question has at most {QUESTION:,} tokens; what it is about belongs into a source."
            raise TooLarge("question", f"has {tokens:,} tokens", remedy)
        settings = opened.settings
        self._opened, self._who, self._progress = opened, who, progress
        self._texts = LongTexts(sources, limit=settings.input_limit, own_zone=settings.timezone)
        self._session, self._ids = session, tuple(dict.fromkeys(ids))
        held = (*((f"session {session}",) if session is not None else ()), *self._ids)
        self._question = LongQuestion(
            question=question,
            labels=(*self._texts.labels, *held),
            held=frozenset(held),
            notes=NOTES if notes is None else notes,
            segment=SEGMENT if segment is None else segment,
            policy=policy,
        )

    def read(self) -> LongReading:
        """Read everything, step by step, and answer.

        Raises:
            ModelError: the model failed; what was noted stands, and reading again goes on from there.
            Conflict: a file was changed meanwhile, or somebody else reads the same.
        """
        kernel, who = self._opened.kernel, self._who
        self._question, earlier = self._run(kernel.begin_reading(who, self._question))
        kept: KeptNotes | None = None
        number = tokens = resumed = 0
        for segment in segments_of(pieces_of(chain(self._texts.stretches(), self._held())), self._question.segment):
            number, tokens = segment.number, tokens + segment.tokens
            if (known := earlier.by_digest.get(segment.digest)) is not None:
                kept, resumed = known, number
            elif number not in earlier.missing:
                if (0 if kept is None else kept.state.segment) < number - 1:
                    raise _gone()
                kept = self._run(kernel.take_notes(who, self._question, kept, segment))
            self._report(number, tokens)
        if kept is None or kept.state.segment < number:
            raise _gone()
        if kept.answer is None:
            kept = self._run(kernel.answer_notes(who, self._question, kept))
        return self._result(kept, resumed)

    def _run(self, flow: Flow[T]) -> T:
        """Drive one step as a verb, and add what its calls of a model take to this user's meter, also if they fail."""
        answering, spendings = self._opened.answering, list[Spending]()

        def attend(request: Request) -> Any:
            if not isinstance(request, Ask):
                return answering.attend(request)
            with metered(_NAME, request, answering.language_model.name(request.size), spendings.append) as call:
                call.reply = answering.attend(request)
                return call.reply

        name = getattr(flow, "__name__", "")
        try:
            return answering.drive(flow, attend, Timed(Sort.VERB, name, self._who, ""))
        finally:
            for spending in spendings:
                with suppress(NotFound):  # of somebody new, whose first step has failed, there is nothing to add it to
                    answering.verb(self._opened.kernel.spend(self._who, spending), self._who)

    def _report(self, segment: int, tokens: int) -> None:
        if self._progress is not None:
            self._progress(ReadingProgress(segment, tokens, self._texts.taken, self._texts.total))

    def _held(self) -> Iterator[TextStretch]:
        """What is read of this memory, item by item, each fetched when its turn has come.

        Raises:
            NotFound: there is no such session or item; or nothing was said in it.
        """
        if self._session is not None:
            label, ids = f"session {self._session}", self._said_in(self._session)
            if not ids:
                raise NotFound(f"nothing was said in a session {self._session!r} here")
            yield from self._items(label, ids)
        for id in self._ids:
            yield from self._items(id, self._parts(id))

    def _said_in(self, session: str) -> list[ItemId]:
        """The turns, documents and chunks of a session, in their order."""
        turns: list[tuple[int, ItemId]] = []
        where, after = Filter(session=session, kinds=tuple(EVIDENCE)), None
        while True:
            page = self._look(self._opened.kernel.list(self._who, where, _PAGE, after))
            turns += [(version.item.pos, version.item.id) for version in page if not version.item.slots.get("chunks")]
            after = page.next
            if after is None:
                return [id for _, id in sorted(turns)]

    def _parts(self, id: ItemId) -> list[ItemId]:
        """An item, or the chunks of a document."""
        version = self._look(self._opened.kernel.get(self._who, id))
        if version.item.kind is not Kind.DOCUMENT or not version.item.slots.get("chunks"):
            return [id]
        chunks = self._look(look(lambda s: chunks_of(s, self._who, (version,))))
        return [chunk.item.id for chunk in sorted(chunks.values(), key=lambda chunk: chunk.item.pos)]

    def _items(self, label: str, ids: Sequence[ItemId]) -> Iterator[TextStretch]:
        for at in range(0, len(ids), _PAGE):
            some = ids[at : at + _PAGE]
            versions = self._look(look(partial(_shown, who=self._who, ids=some)))
            for id in some:
                if id in versions:  # what was erased or hidden meanwhile is not read
                    item = versions[id].item
                    yield TextStretch(item.text, label, id, speaker=_speaker(item))

    def _look(self, flow: Flow[T]) -> T:
        return self._opened.answering.verb(flow, self._who)

    def _result(self, kept: KeptNotes, resumed: int) -> LongReading:
        state, answer = kept.state, kept.answer
        assert answer is not None
        places = {
            number: EvidencePlace(
                source=place.piece.source,
                part=place.piece.part,
                segment=place.segment,
                start=place.piece.start,
                end=place.piece.end,
                quote=place.piece.text,
            )
            for number, place in state.cited.items()
        }
        return LongReading(
            id=kept.item.id,
            seq=kept.seq,
            question=self._question.question,
            answer=answer.text,
            evidence=tuple(places[number] for number in answer.source),
            notes=tuple(
                CitedNote(text=place.text, evidence=tuple(places[n] for n in place.source)) for place in state.notes
            ),
            tokens=state.tokens,
            segments=state.segment,
            resumed=resumed,
            judged=dict(state.judged),
            skipped=tuple(self._texts.skipped),
        )


def _shown(snapshot: Snapshot, who: Who, ids: Sequence[ItemId]) -> dict[ItemId, Version]:
    return snapshot.get(spaces_of(snapshot, who), ids, view_of(snapshot, who))


def _speaker(item: Item) -> str:
    named = (item.slots.get("speaker") or item.slots.get("role")) if item.kind is Kind.TURN else None
    return named if isinstance(named, str) else ""


def _gone() -> Conflict:
    """What to raise where a text has changed amid what was read, and the notes from before that are no longer kept."""
    problem = (
        "the sources are not those that were read before, and the notes from before they differ are no longer kept"
    )
    return Conflict(f"{problem}; forget the earlier reading (`list` shows it), and read again from the beginning")
