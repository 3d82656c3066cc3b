"""Memories of experience streams, by the names of their rows: none, and mnemic with one strategy of experience each.

`none` has one try at a task; `retry` has as many as the others, and remembers nothing: what a memory is worth is what
it has beside that. `recent` shows the last tries, `similar` those nearest to the question by mnemic's own recall of
what was observed (ExpRecent and ExpRAG of Evo-Memory, arXiv:2511.20857); the others are strategies, by their own
recall.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from mnemic.core.checking import did_you_mean
from mnemic.core.items import Kind
from mnemic.core.queries import Filter
from mnemic.errors import Invalid
from mnemic.lab.contestants.strategy_contestant import learns_from_tries
from mnemic.lab.kit.task_stream import Advice
from mnemic.memory import Memory
from mnemic.registry import STRATEGIES, is_place
from mnemic.settings import Settings

if TYPE_CHECKING:
    from mnemic.core.ids import ItemId
    from mnemic.lab.kit.task_stream import StreamMemory
    from mnemic.strategies.trajectories import Trajectory

NONE: Final = "none"
RETRY: Final = "retry"
RECENT: Final = "recent"
SIMILAR: Final = "similar"
WINDOW: Final = 3
"""Tries that `recent` and `similar` show."""
_MOST: Final = 30
_OBSERVED: Final = Filter(kinds=(Kind.TURN,))


class WithoutMemory:
    """Remembers nothing."""

    def advise(self, question: str) -> Sequence[Advice]:
        return ()

    def learn(self, trajectory: Trajectory) -> None:
        pass

    def told(self, ids: Sequence[ItemId], *, useful: bool) -> None:
        pass

    def close(self) -> None:
        pass


class MnemicStreamMemory:
    """A memory of mnemic in this process, which follows one strategy or none, and is asked as anybody would ask it."""

    def __init__(self, way: str) -> None:
        self._way = way
        strategies = () if way in (RECENT, SIMILAR) else (way,)
        settings = Settings(background=False)
        self._memory = Memory("memory:", settings=settings, embedder="none", strategies=strategies)
        self._me = self._memory.scope(user="agent")

    def advise(self, question: str) -> Sequence[Advice]:
        if self._way == RECENT:
            return [Advice(v.item.id, v.item.text) for v in self._me.list(where=_OBSERVED, limit=WINDOW)]
        if self._way == SIMILAR:
            hits = self._me.recall(question, k=WINDOW)
        else:
            hits = self._me.recall(question, by=_lane(self._way), k=_MOST)
        return [Advice(hit.id, hit.text) for hit in hits]

    def learn(self, trajectory: Trajectory) -> None:
        self._me.observe(trajectory.text, role="tool")
        self._memory.flush()

    def told(self, ids: Sequence[ItemId], *, useful: bool) -> None:
        standing = [version.item.id for version in self._me.visible(ids)]
        if standing:
            self._me.feedback(*standing, useful=useful)

    def close(self) -> None:
        self._memory.close()


def rows() -> tuple[str, ...]:
    """The names of all rows that there are."""
    return (NONE, RETRY, RECENT, SIMILAR, *(name for name in STRATEGIES if learns_from_tries(name)))


def memory_of(row: str) -> Callable[[], StreamMemory]:
    """How the memory of a row is made; a strategy of somebody else goes by its place, `package.module:Class`.

    Raises:
        Invalid: there is no such row.
    """
    if row in (NONE, RETRY):
        return WithoutMemory
    if row in rows() or is_place(row):
        return partial(MnemicStreamMemory, row)
    others = f"{did_you_mean(row, rows())} Yours is package.module:Class."
    raise Invalid("with", f"{row!r} is no memory of streams", others)


def _lane(way: str) -> str:
    return way.rpartition(":")[2].lower() if is_place(way) else way
