"""The strategy `expel` draws lessons from successes beside failures, counts how often each held, and shows all of them.

Zhao et al., "ExpeL: LLM Agents Are Experiential Learners" (arXiv:2308.10144, section 4): tries of one task that failed
and that succeeded are compared, and so are eight successes of different tasks; each comparison adds, edits, confirms
or takes back lessons, which are counted (`lesson_book`). Whoever begins a task sees all lessons, and successes of the
tasks nearest to it.

Departures. The paper gathers experience first and draws lessons in the end; here each try is compared as it comes,
with the latest one of its task that ended the other way. Twenty lessons are kept, by count; the paper lets twenty-five
stand before it takes back harder. A success is shown without the steps that were setbacks.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Final

from mnemic.core.items import Item
from mnemic.models.chat.base import Size
from mnemic.models.model_requests import NameModel
from mnemic.strategies.base import Asked, Budget, Edits, Given, Pick, known
from mnemic.strategies.experience_records import SUCCESS, counterpart_tag, latest, record_of, records
from mnemic.strategies.judging import judged
from mnemic.strategies.lesson_book import count_of, lesson_filter, lessons_of
from mnemic.strategies.strategy_requests import search
from mnemic.strategies.tasks.learning import CONTRAST_LESSONS
from mnemic.strategies.trajectories import Contrast, Trajectory, experiences
from mnemic.strategies.try_learner import TryLearner

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mnemic.core.ids import ItemId
    from mnemic.flow import Flow
    from mnemic.strategies.lesson_book import LessonBook

CHUNK: Final = 8
"""Successes that are compared with each other (section 4.2)."""
MOST: Final = 20
"""Lessons (the code, `max_num_rules`)."""
SHOTS: Final = 2
"""Successes that are shown beside them (ALFWorld)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expel(TryLearner):
    """Keeps lessons with counters: one question to a model for each pair of tries, and for each eight successes.

    Over the bundled conversation, which tells of no try at anything, it takes 0.00 calls and 0 tokens a message.

    Attributes:
        most: Lessons that are kept.
        shots: Successes that recall shows beside them.
    """

    name: ClassVar[str] = "expel"
    by: ClassVar[str] = "expel"
    budget: ClassVar[Budget] = Budget(calls=8, tokens=160_000)
    asks: ClassVar[tuple[str, ...]] = (CONTRAST_LESSONS.id,)

    most: int = MOST
    shots: int = SHOTS

    def on_write(self, given: Given) -> Flow[Edits]:
        """Compare each try with an earlier one that ended the other way; every eighth success with those before it."""
        tried = experiences(given.as_written)
        if not tried:
            return Edits()
        book = yield from lessons_of(self.by, self.most)
        told = yield NameModel(Size.LARGE)
        noted = []
        for item, trajectory in tried:
            nth = 1 + (yield from self._successes())
            noted.append(record_of(self.by, item, trajectory, nth=nth if trajectory.succeeded else 0))
            yield from self._compare(book, item, trajectory)
            if trajectory.succeeded and nth % CHUNK == 0:
                yield from self._generalise(book, item, trajectory)
        edits = book.edits(told=bool(told))
        return replace(edits, write=(*noted, *edits.write))

    def on_recall(self, asked: Asked) -> Flow[Sequence[Pick]]:
        """Show all lessons, those that held most often first, and the successes nearest to what is asked."""
        lessons = yield from known(lesson_filter(self.by), self.most)
        ordered = sorted(lessons, key=lambda item: (-count_of(item), item.said, item.text))
        hits = yield from search(asked.text, records(self.by, SUCCESS), self.shots)
        found = [
            *((item, f"a lesson that counts {count_of(item)}") for item in ordered),
            *((hit.item, "a success at a task like it") for hit in hits),
        ]
        return [Pick(item=item, score=1 / (1 + place), why=why) for place, (item, why) in enumerate(found)]

    def _successes(self) -> Flow[int]:
        """How many successes were noted so far."""
        last = yield from latest(self.by, SUCCESS, 1)
        nth = last[0][0].slots.get("nth") if last else 0
        return nth if isinstance(nth, int) else 0

    def _compare(self, book: LessonBook, item: Item, trajectory: Trajectory) -> Flow[None]:
        others = yield from latest(self.by, counterpart_tag(trajectory), 1)
        for record, other in others:
            success, failure = (trajectory, other) if trajectory.succeeded else (other, trajectory)
            yield from change(book, Contrast(successes=(success,), failure=failure), item, (item.id, record.id))

    def _generalise(self, book: LessonBook, item: Item, trajectory: Trajectory) -> Flow[None]:
        others = yield from latest(self.by, SUCCESS, CHUNK - 1)
        chunk = Contrast(successes=(trajectory, *(other for _, other in others)))
        yield from change(book, chunk, item, (item.id, *(record.id for record, _ in others)))


def change(book: LessonBook, given: Contrast, item: Item, source: tuple[ItemId, ...]) -> Flow[None]:
    """Have trajectories compared, with the lessons so far at hand, and change these."""
    changes = yield from judged(CONTRAST_LESSONS, replace(given, lessons=book.texts))
    book.apply(changes, item, source)
