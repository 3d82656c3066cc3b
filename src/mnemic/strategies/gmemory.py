"""The strategy `gmemory` keeps tasks in a graph by likeness, what each did, and insights that tasks vote for.

Zhang et al., "G-Memory: Tracing Hierarchical Memory for Multi-Agent Systems" (arXiv:2506.07398, section 4): below,
what was done for a task, without what did not help; in the middle a graph of tasks, with an edge between those that
are alike; above, insights, each with the tasks that support it. Recall finds tasks near to the question, and those one
step away in the graph; shows what the nearest of them did; and of the insights those that most of them support.

Departures. Insights are drawn each five tasks, as in the code, from the newest tries and not from random ones, so that
a rerun makes the same: each failure beside the latest success of a task, and the successes among themselves. Likeness
is the cosine of vectors from .7 on, or without an embedder that of the sets of words from .5 on; the code's threshold
of .7 is a squared distance. Merging by clusters is left out: its limit asks for no insight at all below nine (the
code). No text is rewritten for a role.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Final

from mnemic.core.items import Item, Strength
from mnemic.models.chat.base import Size
from mnemic.models.model_requests import NameModel
from mnemic.strategies.base import Asked, Bond, Budget, Derivation, Edits, Given, Pick, known
from mnemic.strategies.expel import change
from mnemic.strategies.experience_records import FAILURE, SUCCESS, counterpart_tag, latest, record_of, records, standing
from mnemic.strategies.lesson_book import count_of, lesson_filter, lessons_of
from mnemic.strategies.rules.sentence_relevance import content_terms, similarity
from mnemic.strategies.strategy_requests import fetch, linked, search, strengths
from mnemic.strategies.trajectories import Contrast, experiences, trajectory_of
from mnemic.strategies.try_learner import TryLearner

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mnemic.core.ids import ItemId
    from mnemic.flow import Flow
    from mnemic.strategies.lesson_book import LessonBook
    from mnemic.strategies.strategy_requests import SearchHit
    from mnemic.strategies.trajectories import Trajectory

ROUND: Final = 5
"""Tasks between two rounds of insights (the code, `rounds_per_insights`)."""
MOST: Final = 10
"""Insights, from which on one that is taken back loses three (the code)."""
SUCCESSES, FAILURES, INSIGHTS = 1, 1, 3
"""What recall shows (the runner of the code)."""
NEIGHBOURS: Final = 10
LIKE: Final = "like"
ALIKE: Final = 0.7
ALIKE_IN_WORDS: Final = 0.5
HARM: Final = 2
"""What an insight loses where it was used and the task failed; it gains one where it succeeded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GMemory(TryLearner):
    """Keeps a graph of tasks and insights: one to four questions to a model each five tries.

    Over the bundled conversation, which tells of no try at anything, it takes 0.00 calls and 0 tokens a message.

    Attributes:
        most: Insights that are kept.
    """

    name: ClassVar[str] = "gmemory"
    by: ClassVar[str] = "gmemory"
    budget: ClassVar[Budget] = Budget(calls=12, tokens=200_000)

    most: int = MOST

    def on_write(self, given: Given) -> Flow[Edits]:
        """Note each try, tie it to tasks like it, and draw insights at each fifth."""
        tried = experiences(given.as_written)
        if not tried:
            return Edits()
        book = yield from lessons_of(self.by, self.most)
        told = yield NameModel(Size.LARGE)
        noted: list[Derivation] = []
        ties: list[Bond] = []
        for item, trajectory in tried:
            last = yield from known(records(self.by), 1)
            nth = 1 + (_nth(last[0]) if last else 0)
            hits = yield from search(trajectory.task, records(self.by), NEIGHBOURS)
            ties += [Bond(src=len(noted), dst=id, type=LIKE, weight=w, source=()) for id, w in _alike(trajectory, hits)]
            noted.append(record_of(self.by, item, trajectory, nth=nth))
            if nth % ROUND == 0:
                yield from self._round(book, item, trajectory)
        edits = book.edits(told=bool(told))
        return replace(edits, write=(*noted, *edits.write), tie=tuple(ties))

    def on_recall(self, asked: Asked) -> Flow[Sequence[Pick]]:
        """Show what the nearest success and failure did, and the insights that most tasks nearby support."""
        hits = yield from search(asked.text, records(self.by), NEIGHBOURS)
        near = {hit.item.id: hit.item for hit in hits[:ROUND]}
        links = yield from linked(*near, types=(LIKE,))
        near |= yield from fetch(*sorted({end for link in links for end in (link.src, link.dst)} - set(near)))
        insights = yield from known(lesson_filter(self.by), self.most)
        told = yield from strengths(*(item.id for item in insights))
        voted = _voted(insights, near, told)
        done = [
            *[hit.item for hit in hits if SUCCESS in hit.item.tags][:SUCCESSES],
            *[hit.item for hit in hits if FAILURE in hit.item.tags][:FAILURES],
        ]
        found = [
            *((item, "an insight that tasks like it support") for item in voted[:INSIGHTS]),
            *((item, "what was done for a task like it") for item in done),
        ]
        return [Pick(item=item, score=1 / (1 + place), why=why) for place, (item, why) in enumerate(found)]

    def _round(self, book: LessonBook, item: Item, trajectory: Trajectory) -> Flow[None]:
        """Draw insights from the tries since the last round."""
        noted = yield from known(records(self.by), ROUND - 1)
        read = [(record, trajectory_of(record.text)) for record in noted]
        tries = [(item, trajectory), *((record, done) for record, done in read if done is not None)]
        for one, failed in tries:
            if not failed.succeeded:
                for other, success in (yield from latest(self.by, counterpart_tag(failed), 1)):
                    pair = Contrast(successes=(success,), failure=failed)
                    yield from change(book, pair, item, tuple(dict.fromkeys((item.id, one.id, other.id))))
        successes = [(one, done) for one, done in tries if done.succeeded]
        if len(successes) > 1:
            source = tuple(dict.fromkeys((item.id, *(one.id for one, _ in successes))))
            yield from change(book, Contrast(successes=tuple(done for _, done in successes)), item, source)


def _nth(record: Item) -> int:
    nth = record.slots.get("nth")
    return nth if isinstance(nth, int) else 0


def _alike(trajectory: Trajectory, hits: Sequence[SearchHit]) -> list[tuple[ItemId, float]]:
    """The records of tasks that are alike, each with how much: in meaning if that is known, else in words."""
    alike = []
    terms = frozenset(content_terms(trajectory.task))
    for hit in hits:
        noted = trajectory_of(hit.item.text)
        words = similarity(terms, frozenset(content_terms(noted.task))) if noted else 0.0
        likeness, least = (words, ALIKE_IN_WORDS) if hit.cosine is None else (hit.cosine, ALIKE)
        if likeness >= least:
            alike.append((hit.item.id, round(likeness, 6)))
    return alike


def _voted(insights: Sequence[Item], near: Mapping[ItemId, Item], told: Mapping[ItemId, Strength]) -> list[Item]:
    """Insights that count for anything, those first that most of the tasks nearby support."""
    supported_by = set(near) | {source for item in near.values() for source in item.source}
    votes = Counter({item.id: len(supported_by.intersection(item.source)) for item in insights})
    worth = {item.id: standing(told.get(item.id, Strength()), count_of(item), penalty=HARM) for item in insights}
    trusted = [item for item in insights if worth[item.id] > 0]
    return sorted(trusted, key=lambda item: (-votes[item.id], -worth[item.id], item.said, item.text))
