"""Lessons with counters, which trajectories add, confirm, put in other words or take back: ExpeL's rule, in one place.

Zhao et al., "ExpeL: LLM Agents Are Experiential Learners" (arXiv:2308.10144, section 4.2): a lesson begins at 2, goes
up by one when it is confirmed or edited, down by one when it is taken back (by three where the list is full), and at 0
it is dropped.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from mnemic.core.items import Item, Kind, Sight
from mnemic.core.queries import Filter
from mnemic.strategies.base import Derivation, Edits, Revision, known
from mnemic.strategies.rules.merge_ops import wording_digest
from mnemic.strategies.trajectories import LessonChange, LessonOp

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mnemic.core.ids import ItemId
    from mnemic.flow import Flow

START: Final = 2
_TAKEN_BACK: Final = 1
_TAKEN_BACK_FULL: Final = 3
_ORDER: Final = {LessonOp.REMOVE: 0, LessonOp.AGREE: 1, LessonOp.EDIT: 2, LessonOp.ADD: 3}
"""The order in which changes are made (the published code)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """A lesson and how much it counts.

    Attributes:
        item: As it stands; None for one that the run adds.
        source: What it rests on besides what `item` does.
        context: What lessons rest on that are not written yet, and that a model was shown when it chose these words.
        after: The experience that taught it.
    """

    text: str
    count: int
    item: Item | None = None
    source: tuple[ItemId, ...] = ()
    context: tuple[ItemId, ...] = ()
    after: Item | None = None


class LessonBook:
    """The lessons of one strategy while a run changes them."""

    def __init__(self, by: str, items: Sequence[Item], most: int) -> None:
        """Begin with the lessons that stand, the first written first."""
        self._by, self._most = by, most
        self._lessons = [Lesson(text=item.text, count=count_of(item), item=item) for item in items]
        self._shown = tuple(item.id for item in items)
        self._dropped: list[ItemId] = []

    @property
    def texts(self) -> tuple[str, ...]:
        """The lessons in order: places of changes are places in this."""
        return tuple(lesson.text for lesson in self._lessons)

    def apply(self, changes: Sequence[LessonChange], after: Item, source: tuple[ItemId, ...]) -> None:
        """Make changes that rest on these sources, the experience `after` which they came first among them."""
        held: list[Lesson | None] = list(self._lessons)
        unwritten = tuple(id for lesson in self._lessons for id in (*lesson.source, *lesson.context))
        full = len(held) >= self._most
        for change in sorted(changes, key=lambda change: _ORDER[change.op]):
            if change.op is LessonOp.ADD:
                if wording_digest(change.text) not in {wording_digest(lesson.text) for lesson in held if lesson}:
                    held.append(Lesson(text=change.text, count=START, source=source, context=unwritten, after=after))
            elif change.lesson is not None and (lesson := held[change.lesson]) is not None:
                held[change.lesson] = self._changed(lesson, change, source, unwritten, full=full)
        self._lessons = [lesson for lesson in held if lesson is not None]
        self._cut()

    def _changed(
        self, lesson: Lesson, change: LessonChange, source: tuple[ItemId, ...], unwritten: tuple[ItemId, ...], *,
        full: bool,
    ) -> Lesson | None:  # fmt: skip
        if change.op is LessonOp.REMOVE:
            left = lesson.count - (_TAKEN_BACK_FULL if full else _TAKEN_BACK)
            if left <= 0:
                self._drop(lesson)
                return None
            return replace(lesson, count=left)
        rests_on = tuple(dict.fromkeys((*lesson.source, *source)))
        confirmed = replace(lesson, count=lesson.count + 1, source=rests_on)
        if change.op is not LessonOp.EDIT:
            return confirmed
        return replace(confirmed, text=change.text, context=(*lesson.context, *unwritten))

    def _cut(self) -> None:
        """Drop what counts least, of equals the oldest, until no more than the most are held."""
        while len(self._lessons) > self._most:
            least = min(self._lessons, key=lambda lesson: lesson.count)
            self._drop(least)
            self._lessons.remove(least)

    def _drop(self, lesson: Lesson) -> None:
        if lesson.item is not None:
            self._dropped.append(lesson.item.id)

    def edits(self, *, told: bool = False) -> Edits:
        """What is to be written, revised and retired.

        Args:
            told: A model chose the words, so each may hold what it was shown: the lessons so far.
        """
        write = [self._written(lesson, lesson.after, told=told) for lesson in self._lessons if lesson.after is not None]
        revise = [
            _revised(lesson, lesson.item, self._context(lesson, told=told))
            for lesson in self._lessons
            if lesson.item and _differs(lesson)
        ]
        return Edits(write=tuple(write), revise=tuple(revise), retire=tuple(self._dropped))

    def _context(self, lesson: Lesson, *, told: bool) -> tuple[ItemId, ...]:
        """What a model was shown beside the sources of a lesson."""
        shown = (*self._shown, *lesson.context) if told else ()
        return tuple(id for id in dict.fromkeys(shown) if id not in lesson.source)

    def _written(self, lesson: Lesson, after: Item, *, told: bool) -> Derivation:
        digest = wording_digest(lesson.text)
        return Derivation(
            key=f"{self._by}:{after.id}:{digest}",
            kind=Kind.INSIGHT,
            text=lesson.text,
            slots={"by": self._by, "count": lesson.count},
            tags=(digest,),
            source=lesson.source,
            context=self._context(lesson, told=told),
            said=after.said,
            said_offset=after.said_offset,
            sight=Sight.OWN,
        )


def lesson_filter(by: str) -> Filter:
    """Which items are lessons of a strategy."""
    return Filter(kinds=(Kind.INSIGHT,), by=(by,))


def lessons_of(by: str, most: int) -> Flow[LessonBook]:
    """Open the book of a strategy: the lessons that stand."""
    items = yield from known(lesson_filter(by), most)
    return LessonBook(by, tuple(reversed(items)), most)


def count_of(item: Item) -> int:
    """How much a lesson counts."""
    count = item.slots.get("count")
    return count if isinstance(count, int) and not isinstance(count, bool) else START


def _differs(lesson: Lesson) -> bool:
    item = lesson.item
    return item is not None and (lesson.text != item.text or lesson.count != count_of(item) or bool(lesson.source))


def _revised(lesson: Lesson, item: Item, context: tuple[ItemId, ...]) -> Revision:
    new_words = lesson.text != item.text
    return Revision(
        id=item.id,
        text=lesson.text if new_words else None,
        slots={**item.slots, "count": lesson.count},
        tags=(wording_digest(lesson.text),) if new_words else None,
        source=tuple(id for id in lesson.source if id not in item.source),
        context=context if new_words else (),
    )
