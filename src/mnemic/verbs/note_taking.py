"""The verb that reads a long text: the notes after each segment are a version of one item, and a reading goes on there.

The mechanism is `strategies.memagent`; here its steps are looked up and committed. What the notes cite of this
memory is the item's source, so that they go with it when it is erased; what they cite of files stands in slots. Notes
grow by being overwritten: a model may word them by whatever it was shown for any note that led to them. So the turns of
each segment that changed the notes are the item's context, cited or not, and the notes go with any of these, too; what
rules note is quoted from what is cited, and has none.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from mnemic.core.clock import micros, moment
from mnemic.core.events import Verb
from mnemic.core.ids import ItemId, derived_id
from mnemic.core.items import Channel, Item, Kind, Sight, Slot, State, Version
from mnemic.core.queries import Context, Filter, Recalled
from mnemic.core.tokens import count_tokens
from mnemic.core.uninterrupted import import_whole
from mnemic.flow import Flow
from mnemic.models.chat.base import Size
from mnemic.models.model_requests import NameModel
from mnemic.store.engine.codec import canonical
from mnemic.store.engine.snapshot import Snapshot
from mnemic.store.requests import look
from mnemic.strategies.judging import judged
from mnemic.strategies.knowledge import NotesAnswer, NotesPolicy, NotesRead, ReadingNote, WordCounts, notes_text
from mnemic.verbs.who import Who, cited_versions, committed, own_or_none, refuse_uncited, writable

if TYPE_CHECKING:
    from mnemic.settings import Settings
    from mnemic.strategies.memagent import CitedPiece, ReaderState, TextSegment
    from mnemic.writing import Desk

READING: Final = "reading"
"""The slot that names what is read, for which question, by whom: of the notes of a long reading."""
_NONE_YET: Final = "(no notes)"
_HOW_ASKED: Final = (
    "called named name names kind type sort colour color size number time times year years month day date place city "
    "country many much long often 叫什么 名字 什么名字 种类 颜色 号码 时候 日期 地方 城市 国家 多少"
)
"""Words that say what is asked for, and not of what: a note that shares these alone tells of something else."""
_READINGS: Final = 20
"""Most readings of the same question and sources, as these changed, that are looked up: the last ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LongQuestion:
    """What is to be read, for which question, and how.

    Attributes:
        question: With secrets masked.
        labels: What the sources are called, in their order.
        held: Those of them whose parts are items of this memory.
        notes, segment: Most tokens of the notes, and those of a segment.
        judge: The name of the model; "" where rules read.
        policy: Chooses what the notes hold after each segment, in place of either.
    """

    question: str
    labels: tuple[str, ...]
    held: frozenset[str] = frozenset()
    notes: int
    segment: int
    judge: str = ""
    policy: NotesPolicy | None = None

    @property
    def key(self) -> str:
        """What tells this reading from others; what the sources say is told by digests of what was read."""
        identity = {"question": self.question, "labels": list(self.labels), "judge": self.judge}
        sizes = {"notes": self.notes, "segment": self.segment}
        by = {} if self.policy is None else {"policy": self.policy.name}
        return hashlib.blake2b(canonical(identity | sizes | by), digest_size=12).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptNotes:
    """The notes after a segment, as they stand in memory.

    Attributes:
        seq: The commit that wrote them.
        answer: Of a reading that came to its end.
        stands: No later segment was read from here; otherwise whoever goes on reads another text that begins alike.
    """

    item: Item
    seq: int
    state: ReaderState
    answer: NotesAnswer | None = None
    stands: bool = True


@dataclass(frozen=True, slots=True)
class EarlierNotes:
    """What readings of the same have noted already.

    Attributes:
        by_digest: By the digest of all that was read until then.
        missing: Numbers of segments after which more was read, and whose own notes lie behind the horizon.
    """

    by_digest: Mapping[str, KeptNotes]
    missing: frozenset[int]


class NoteTaking:
    """The verb that reads long texts, of a `Kernel`; whoever calls it brings one segment after another."""

    __slots__ = ()
    desk: Desk
    settings: Settings

    def begin_reading(self, who: Who, question: LongQuestion) -> Flow[tuple[LongQuestion, EarlierNotes]]:
        """Say who will read, and what readings of the same have noted already.

        Raises:
            Refused: this handle looks at the past.
        """
        writable(who)
        model: str = yield NameModel(Size.LARGE)
        asked = replace(question, question=self.desk.without_secrets(question.question), judge=model)
        return asked, (yield from look(lambda s: _noted(s, who, asked.key)))

    def take_notes(
        self, who: Who, question: LongQuestion, before: KeptNotes | None, segment: TextSegment
    ) -> Flow[KeptNotes]:
        """Read one segment, and commit the notes that it leaves.

        Args:
            before: The notes so far; None for none.

        Raises:
            ModelError: the model failed; what was noted before stands.
            Conflict: somebody else goes on with this reading, or took it back.
        """
        import_whole("mnemic.strategies.memagent")
        from mnemic.strategies.memagent import ReaderState, folded, without_secrets

        shown = without_secrets(segment) if self.settings.mask_secrets else segment
        state = ReaderState() if before is None else before.state
        state = yield from folded(question.question, state, shown, question.notes, question.policy)
        return (yield from self._keep(who, question, before, state, None, _fed(question, before, state, segment)))

    def answer_notes(self, who: Who, question: LongQuestion, before: KeptNotes) -> Flow[KeptNotes]:
        """Answer the question out of the notes alone, and commit that.

        Raises:
            ModelError, Conflict: as `take_notes`.
        """
        import_whole("mnemic.strategies.memagent", "mnemic.strategies.tasks.condensing")
        from mnemic.strategies.memagent import judged_by
        from mnemic.strategies.tasks.condensing import answer_task

        given = NotesRead(question=question.question, notes=before.state.notes)
        answer, by = yield from judged_by(judged(answer_task(extractive_answer), given))
        counted = {name: before.state.judged.get(name, 0) + by.count(name) for name in (*before.state.judged, *by)}
        state = replace(before.state, judged=counted)
        return (yield from self._keep(who, question, before, state, answer, before.item.erased_with))

    def _keep(
        self,
        who: Who,
        question: LongQuestion,
        before: KeptNotes | None,
        state: ReaderState,
        answer: NotesAnswer | None,
        fed: Sequence[ItemId],
    ) -> Flow[KeptNotes]:
        """Commit a state of the notes, which these items fed: a version of the item before, or a new one."""
        now = moment(self.desk.clock.now())
        source = tuple(
            dict.fromkeys(ItemId(c.piece.part) for c in state.cited.values() if c.piece.source in question.held)
        )
        context = tuple(dict.fromkeys(id for id in fed if id not in source))
        rests_on = (*source, *context)
        refuse_uncited((yield from look(lambda s: cited_versions(s, who, rests_on))), rests_on)
        fields: dict[str, Any] = {
            "text": notes_text(state.notes) or _NONE_YET,
            "slots": _slots(question, state, answer),
            "source": source,
            "context": context,
            "said": now,
            "channel": Channel.MODEL if question.judge else Channel.IMPORT,
        }
        if before is None or not before.stands:
            scope = who.scope
            item = Item(
                id=self.desk.fresh_id(),
                kind=Kind.SUMMARY,
                sight=Sight.NONE,
                agent=scope.agent,
                session=scope.session,
                pos=micros(now),
                **fields,
            )
        else:
            item = replace(before.item, **fields)
        written = self.desk.item(item, None)
        revised = before is not None and before.stands
        put = replace(written.puts[0], verb=Verb.REVISED) if revised else written.puts[0]
        expect = {item.id: before.seq} if before is not None and before.stands else None
        receipt = yield from committed(who, (put,), expect=expect, masked=written.masked)
        return _kept(put.item, receipt.seq)


def _fed(
    question: LongQuestion, before: KeptNotes | None, state: ReaderState, segment: TextSegment
) -> tuple[ItemId, ...]:
    """The items that may have given the notes their words once a segment was read, cited or not."""
    if not question.judge or question.policy is not None or not state.notes:
        return ()  # rules and policies quote what is cited
    earlier = () if before is None else before.item.erased_with
    if before is not None and state.notes == before.state.notes:
        return earlier
    here = (ItemId(piece.part) for piece in segment.pieces if piece.source in question.held)
    return tuple(dict.fromkeys((*earlier, *here)))


def extractive_answer(given: NotesRead) -> NotesAnswer:
    """Answer a question by quoting notes, as `ask` quotes evidence; not by one that only shares how it is asked."""
    import_whole("mnemic.recall.answer", "mnemic.strategies.rules.sentence_relevance")
    from mnemic.recall.answer import draft_answer
    from mnemic.strategies.rules.sentence_relevance import bm25, content_terms

    scores = bm25(given.question, [content_terms(note.text) for note in given.notes])
    ranked = sorted((place for place, score in enumerate(scores) if score > 0), key=lambda place: -scores[place])
    root = ItemId("0" * 26)
    ids = {derived_id(root, place): place for place in ranked}
    items = tuple(
        Recalled(
            item=Item(id=id, kind=Kind.CHUNK, text=given.notes[place].text, said=moment(0)),
            seq=0,
            score=scores[place],
            components={},
            reasons=(),
            tokens=count_tokens(given.notes[place].text),
        )
        for id, place in ids.items()
    )
    drafted = draft_answer(given.question, Context(text="", tokens=0, items=items, considered=len(items), seq=0))
    if drafted is None:
        return NotesAnswer()
    matter = set(content_terms(given.question)) - set(content_terms(_HOW_ASKED))
    if matter and not any(matter.intersection(content_terms(given.notes[ids[id]].text)) for id, _ in drafted.quotes):
        return NotesAnswer()
    text = drafted.grounds.short or " ".join(quote for _, quote in drafted.quotes)
    pieces = (piece for id, _ in drafted.quotes for piece in given.notes[ids[id]].source)
    return NotesAnswer(text=text, source=tuple(dict.fromkeys(pieces)))


def _noted(snapshot: Snapshot, who: Who, key: str) -> EarlierNotes:
    """What readings under a key have noted, of each up to where it stands: what was taken back counts no more."""
    own = own_or_none(snapshot, who)
    where = Filter(slots=((READING, key),), agent=who.scope.agent, session=who.scope.session)
    by_digest: dict[str, KeptNotes] = {}
    numbers: set[int] = set()
    for standing in reversed(snapshot.latest(own, where, limit=_READINGS) if own else ()):
        last = _kept(standing.item, standing.seq_from)
        story = [v for v in snapshot.history(own, standing.item.id) if _is_step(v, key) and v.seq_to is not None]
        before = [_kept(v.item, v.seq_from, stands=False) for v in story]
        for note in (*(note for note in before if note.state.segment < last.state.segment), last):
            by_digest[note.state.digest] = note
            numbers.add(note.state.segment)
    return EarlierNotes(by_digest, frozenset(range(1, max(numbers, default=0))) - numbers)


def _is_step(version: Version, key: str) -> bool:
    return version.item.state is State.ACTIVE and version.item.slots.get(READING) == key


def _slots(question: LongQuestion, state: ReaderState, answer: NotesAnswer | None) -> dict[str, Slot]:
    """A reader's state as slots; the words of the notes are the item's text."""
    slots: dict[str, Slot] = {
        READING: question.key,
        "question": question.question,
        "segment": state.segment,
        "tokens": state.tokens,
        "digest": state.digest,
        "cites": [list(note.source) for note in state.notes],
        "evidence": {str(number): _placed(cited) for number, cited in state.cited.items()},
        "sentences": state.counts.sentences,
        "holding": dict(state.counts.holding),
        "judged": dict(state.judged),
    }
    return slots if answer is None else {**slots, "answer": {"text": answer.text, "from": list(answer.source)}}


def _placed(cited: CitedPiece) -> list[Slot]:
    piece = cited.piece
    return [piece.source, piece.part, cited.segment, piece.start, piece.end, piece.text, piece.speaker]


def _kept(item: Item, seq: int, *, stands: bool = True) -> KeptNotes:
    """What a version of the notes says."""
    import_whole("mnemic.strategies.memagent")
    from mnemic.strategies.memagent import CitedPiece, ReaderState, SourcePiece

    slots: Mapping[str, Any] = item.slots
    cites = slots["cites"]
    lines = item.text.split("\n") if cites else []
    cited = {
        int(number): CitedPiece(SourcePiece(text, source, part, start, end, speaker), segment)
        for number, (source, part, segment, start, end, text, speaker) in slots["evidence"].items()
    }
    state = ReaderState(
        segment=slots["segment"],
        tokens=slots["tokens"],
        digest=slots["digest"],
        notes=tuple(ReadingNote(text=line, source=tuple(of)) for line, of in zip(lines, cites, strict=True)),
        cited=cited,
        counts=WordCounts(slots["sentences"], slots["holding"]),
        judged=slots["judged"],
    )
    answer_slot = slots.get("answer")
    answer = None if answer_slot is None else NotesAnswer(text=answer_slot["text"], source=tuple(answer_slot["from"]))
    return KeptNotes(item=item, seq=seq, state=state, answer=answer, stands=stands)
