"""The strategy `reme` keeps pieces of experience under when they are of use, and drops those that were of none.

Cao et al., "Remember Me, Refine Me: A Dynamic Procedural Memory Framework for Experience-Driven Agent Evolution"
(arXiv:2512.10696), and its code, version 0.1: of a success, a failure, and a success beside a failure of the same task
pieces of experience are drawn, one to three of each; what says the same as another is not kept twice; recall takes the
ten whose use is nearest and shows five; and what was shown at least so often, and helped in less than so large a
share, is dropped.

Departures. The same words are the same piece: it then rests on one experience more. Pieces are searched by their task
and their own words together, the published code's `when_to_use` written by a model. The model's judgement whether a
piece is valid, and its rewriting of what is recalled, are left out: `judged` holds an answer to what was shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from mnemic.core.items import Item, Kind, Strength
from mnemic.core.queries import Filter
from mnemic.strategies.base import Asked, Budget, Derivation, Edits, Given, Pick, Revision, known
from mnemic.strategies.experience_records import counterpart_tag, latest, record_of
from mnemic.strategies.judging import judged
from mnemic.strategies.rules.merge_ops import wording_digest
from mnemic.strategies.strategy_requests import search, strengths
from mnemic.strategies.tasks.learning import CONTRAST_LESSONS, EXPERIENCE_PIECES
from mnemic.strategies.trajectories import Contrast, LessonOp, experiences
from mnemic.strategies.try_learner import TryLearner

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mnemic.core.ids import ItemId
    from mnemic.flow import Flow
    from mnemic.strategies.trajectories import Trajectory

MOST: Final = 3
"""Pieces of one kind of one try (the code)."""
CANDIDATES: Final = 10
SHOWN: Final = 5
TRIED: Final = 5
USEFUL: Final = 0.3
"""Uses from which a piece is judged by them, and the share that must have helped (ours; the paper leaves them open)."""
_PIECES: Final = Filter(kinds=(Kind.INSIGHT,), by=("reme",))


@dataclass(frozen=True, slots=True, kw_only=True)
class ReMe(TryLearner):
    """Keeps pieces of experience: one question to a model for a try, two where an earlier one ended the other way.

    Over the bundled conversation, which tells of no try at anything, it takes 0.00 calls and 0 tokens a message.
    """

    name: ClassVar[str] = "reme"
    by: ClassVar[str] = "reme"
    budget: ClassVar[Budget] = Budget(calls=8, tokens=160_000)
    asks: ClassVar[tuple[str, ...]] = (EXPERIENCE_PIECES.id, CONTRAST_LESSONS.id)

    def on_write(self, given: Given) -> Flow[Edits]:
        """Draw pieces from each try, and from it beside the latest one of its task that ended the other way."""
        write: list[Derivation] = []
        revise: dict[ItemId, Revision] = {}
        for item, trajectory in experiences(given.as_written):
            write.append(record_of(self.by, item, trajectory))
            drawn = yield from self._drawn(item, trajectory)
            fresh = {derivation.key for derivation in write}
            for text, source in drawn.items():
                old = yield from known(Filter(kinds=_PIECES.kinds, by=_PIECES.by, tags=(wording_digest(text),)), 1)
                piece = _piece(item, trajectory, text, source)
                if old:
                    revise[old[0].id] = Revision(
                        id=old[0].id, source=tuple(s for s in source if s not in old[0].source)
                    )
                elif piece.key not in fresh:
                    write.append(piece)
        return Edits(write=tuple(write), revise=tuple(revise.values()))

    def on_recall(self, asked: Asked) -> Flow[Sequence[Pick]]:
        """Show the five pieces nearest to what is asked, of ten, without those that proved to be of no use."""
        hits = yield from search(asked.text, _PIECES, CANDIDATES)
        told = yield from strengths(*(hit.item.id for hit in hits))
        useful = [hit for hit in hits if is_of_use(told.get(hit.item.id, Strength()))]
        return [Pick(item=hit.item, score=hit.score, why="learnt from a task like it") for hit in useful[:SHOWN]]

    def _drawn(self, item: Item, trajectory: Trajectory) -> Flow[dict[str, tuple[ItemId, ...]]]:
        """Draw pieces, by their words, each with what it rests on."""
        drawn: dict[str, tuple[ItemId, ...]] = {}
        for text in (yield from judged(EXPERIENCE_PIECES, trajectory))[:MOST]:
            drawn[text] = (item.id,)
        for record, other in (yield from latest(self.by, counterpart_tag(trajectory), 1)):
            success, failure = (trajectory, other) if trajectory.succeeded else (other, trajectory)
            changes = yield from judged(CONTRAST_LESSONS, Contrast(successes=(success,), failure=failure))
            added = [change.text for change in changes if change.op is LessonOp.ADD]
            drawn |= {text: (item.id, record.id) for text in added[:MOST] if text not in drawn}
        return drawn


def is_of_use(strength: Strength) -> bool:
    """Whether a piece stays: it was used too seldom to be judged, or helped in a large enough share of its uses."""
    uses = strength.useful + strength.harms
    return uses < TRIED or strength.useful / uses >= USEFUL


def _piece(item: Item, trajectory: Trajectory, text: str, source: tuple[ItemId, ...]) -> Derivation:
    digest = wording_digest(text)
    return Derivation(
        key=f"{ReMe.name}:{item.id}:{digest}",
        kind=Kind.INSIGHT,
        text=text,
        words=f"{trajectory.task} {text}",
        slots={"by": ReMe.by},
        tags=(digest,),
        source=source,
        said=item.said,
        said_offset=item.said_offset,
    )
