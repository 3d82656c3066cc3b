"""Promotion: turns that left a window wait here until they are written as segments, each shown there as one line."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from typing import Final, NamedTuple

from mnemic.core.clock import moment
from mnemic.core.ids import ItemId
from mnemic.core.items import Item, Kind, Slot, Version
from mnemic.core.scope import Scope
from mnemic.core.tokens import BY_RULES, count_tokens
from mnemic.tiers.segments import LeftTurn, Segment, segments
from mnemic.tiers.write_back import Writing
from mnemic.window.layout import SEGMENT, brief

_BEFORE_TURNS: Final = 1 << 40
"""Segments lie before all turns of their session, so that none is taken for a turn's neighbour."""


class SegmentLine(NamedTuple):
    """One line that stands for a segment in a window, its tokens, and the turns that it may quote."""

    text: str
    tokens: int
    sources: tuple[ItemId, ...]


class Promotion:
    """Keeps the turns that left the window and are in no segment yet, and the lines of the last segments.

    Attributes:
        waiting: By id, each such turn with the commit that last wrote it.
        number: The number that the next segment gets.
    """

    def __init__(self, writing: Writing) -> None:
        self.waiting: dict[ItemId, tuple[LeftTurn, int]] = {}
        self.number = 0
        self._writing, self._enough = writing, writing.promote
        self._previous: ItemId | None = None
        self._lines: dict[ItemId, SegmentLine] = {}
        self._silent: frozenset[ItemId] = frozenset()

    @property
    def lines(self) -> list[tuple[str, int]]:
        """List the lines of the segments that the window shows, oldest first, each with its tokens."""
        return [(line.text, line.tokens) for line in self._shown]

    @property
    def ids(self) -> tuple[ItemId, ...]:
        """List the items that waiting turns and lines come from: turns, segments, and the turns that these quote."""
        return (*self.waiting, *self._lines, *(turn for line in self._lines.values() for turn in line.sources))

    @property
    def cost(self) -> int:
        """Count the tokens of the lines that the window shows."""
        return sum(line.tokens for line in self._shown)

    @property
    def _shown(self) -> list[SegmentLine]:
        return [line for segment, line in self._lines.items() if segment not in self._silent]

    def choose_lines(self, resident: Container[ItemId], room: int) -> None:
        """Choose the lines that the window shows: of segments not wholly back in it, as many as `room` tokens hold.

        The oldest are left out first, and shown again when there is room.
        """
        silent = {segment for segment, line in self._lines.items() if all(turn in resident for turn in line.sources)}
        cost = sum(line.tokens for segment, line in self._lines.items() if segment not in silent)
        for segment, line in self._lines.items():
            if cost <= room:
                break
            if segment not in silent:
                silent.add(segment)
                cost -= line.tokens
        self._silent = frozenset(silent)

    def due(self, *, everything: bool) -> list[Segment]:
        """Split the waiting turns into the segments to be written now, if enough wait; the last one may still grow."""
        waiting, enough = len(self.waiting), self._writing.promote
        if not waiting or (waiting < self._enough and not everything):
            return []
        whole = segments(turn for turn, _ in self.waiting.values())
        due = whole if everything or waiting > 4 * enough else whole[:-1]
        # It is not looked at again for every turn.
        self._enough = enough + waiting - sum(len(segment.turns) for segment in due)
        return due

    def expected(self, new_segments: Sequence[Segment]) -> dict[ItemId, int]:
        """Name for each turn of these segments the commit that must still be its last."""
        return {turn.id: self.waiting[turn.id][1] for segment in new_segments for turn in segment.turns}

    def items(self, new_segments: Sequence[Segment], scope: Scope, fresh: Callable[[], ItemId]) -> list[Item]:
        """Make an item of each segment: it cites its turns and names the segment before it."""
        items: list[Item] = []
        for number, segment in enumerate(new_segments, start=self.number):
            previous = items[-1].id if items else self._previous
            slots: dict[str, Slot] = {
                "segment": number, "first": segment.first, "last": segment.last, "keywords": list(segment.keywords),
                "previous": previous, "by": BY_RULES,
            }  # fmt: skip
            item = Item(
                id=fresh(), kind=Kind.EPISODE, text=segment.line, said=moment(segment.turns[-1].at), slots=slots,
                tags=(SEGMENT,), source=tuple(turn.id for turn in segment.turns), agent=scope.agent,
                session=scope.session, pos=number - _BEFORE_TURNS, channel=segment.channel,
            )  # fmt: skip
            items.append(item)
        return items

    def written(self, item: Item, segment: Segment, room: int) -> int:
        """Note that a segment is stored: its turns wait no longer. Returns its number."""
        for turn in segment.turns:
            del self.waiting[turn.id]
        number = self.number
        self.take_up(item, room)
        return number

    def take_up(self, item: Item, room: int) -> None:
        """Add the line of a stored segment; above `room` tokens the older half of the lines is dropped at once."""
        number = item.slots.get("segment")
        self.number = max(self.number, number + 1 if isinstance(number, int) else 0)
        self._previous = item.id
        text = brief(item)
        self._lines[item.id] = SegmentLine(text, count_tokens(text) + 1, item.source)
        if sum(line.tokens for line in self._lines.values()) > room:
            for old in list(self._lines)[: -max(1, len(self._lines) // 2)]:
                del self._lines[old]

    def forget(self, item: ItemId) -> None:
        """Drop an item that is gone for good, and the line of every segment that may quote it."""
        self.waiting.pop(item, None)
        for segment in [key for key, line in self._lines.items() if item == key or item in line.sources]:
            del self._lines[segment]

    def check(self, standing: Mapping[ItemId, Version]) -> None:
        """Keep those waiting turns that still stand, with the commits that they are of now."""
        self.waiting = {
            item: (turn, standing[item].seq_from) for item, (turn, _) in self.waiting.items() if item in standing
        }
