"""From short to middle term: turns that left a window wait here, become segments, and are told in brief."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from typing import Final, NamedTuple

from mnemic.core.clock import moment
from mnemic.core.cut import count_tokens
from mnemic.core.ids import ItemId
from mnemic.core.items import Item, Kind, Slot, Version
from mnemic.core.scope import Scope
from mnemic.core.tokens import BY_RULES
from mnemic.tiers.segments import LeftTurn, Segment, segments
from mnemic.tiers.write_back import Writing
from mnemic.window.layout import SEGMENT, brief

_BEFORE_TURNS: Final = 1 << 40
"""Segments lie before all turns of their session, so that none is taken for a turn's neighbour."""


class Told(NamedTuple):
    """A segment's line in brief, what it costs, and the turns that it may quote."""

    text: str
    tokens: int
    sources: tuple[ItemId, ...]


class Promotion:
    """Turns out of the window that are in no segment yet, and the lines that stand for the last segments.

    Attributes:
        waiting: By id, each turn and the commit it is of.
        number: Of the next segment.
    """

    def __init__(self, writing: Writing) -> None:
        self.waiting: dict[ItemId, tuple[LeftTurn, int]] = {}
        self.number = 0
        self._writing, self._enough = writing, writing.promote
        self._previous: ItemId | None = None
        self._lines: dict[ItemId, Told] = {}
        self._silent: frozenset[ItemId] = frozenset()

    @property
    def lines(self) -> list[tuple[str, int]]:
        """What was said before in brief, each line with its tokens; it grows at its end."""
        return [(told.text, told.tokens) for told in self._told]

    @property
    def ids(self) -> tuple[ItemId, ...]:
        """What it holds something of: turns, segments, and the turns that these quote."""
        return (*self.waiting, *self._lines, *(turn for told in self._lines.values() for turn in told.sources))

    @property
    def cost(self) -> int:
        """Tokens of the lines."""
        return sum(told.tokens for told in self._told)

    @property
    def _told(self) -> list[Told]:
        return [told for segment, told in self._lines.items() if segment not in self._silent]

    def tell(self, here: Container[ItemId], room: int) -> None:
        """Say nothing of segments all whose turns are in the window again, and no more than there is room for.

        The oldest lines give way first; all of them are told again when there is room.
        """
        silent = {segment for segment, told in self._lines.items() if all(turn in here for turn in told.sources)}
        cost = sum(told.tokens for segment, told in self._lines.items() if segment not in silent)
        for segment, told in self._lines.items():
            if cost <= room:
                break
            if segment not in silent:
                silent.add(segment)
                cost -= told.tokens
        self._silent = frozenset(silent)

    def due(self, *, everything: bool) -> list[Segment]:
        """The segments to be written now: once enough waits, all but the last, which may go on."""
        waiting, enough = len(self.waiting), self._writing.promote
        if not waiting or (waiting < self._enough and not everything):
            return []
        made = segments(turn for turn, _ in self.waiting.values())
        due = made if everything or waiting > 4 * enough else made[:-1]
        self._enough = enough + waiting - sum(len(one.turns) for one in due)  # not looked at again for every turn
        return due

    def expected(self, made: Sequence[Segment]) -> dict[ItemId, int]:
        """The commits that the turns of these segments must still be of."""
        return {turn.id: self.waiting[turn.id][1] for one in made for turn in one.turns}

    def items(self, made: Sequence[Segment], scope: Scope, fresh: Callable[[], ItemId]) -> list[Item]:
        """Segments as items, each with the one before it, citing its turns."""
        items: list[Item] = []
        for number, one in enumerate(made, start=self.number):
            previous = items[-1].id if items else self._previous
            slots: dict[str, Slot] = {
                "segment": number, "first": one.first, "last": one.last, "keywords": list(one.keywords),
                "previous": previous, "by": BY_RULES,
            }  # fmt: skip
            item = Item(
                id=fresh(), kind=Kind.EPISODE, text=one.line, said=moment(one.turns[-1].at), slots=slots,
                tags=(SEGMENT,), source=tuple(turn.id for turn in one.turns), agent=scope.agent,
                session=scope.session, pos=number - _BEFORE_TURNS, channel=one.channel,
            )  # fmt: skip
            items.append(item)
        return items

    def written(self, item: Item, one: Segment, room: int) -> int:
        """A segment is in the store: its turns wait no longer; its number."""
        for turn in one.turns:
            del self.waiting[turn.id]
        number = self.number
        self.take_up(item, room)
        return number

    def take_up(self, item: Item, room: int) -> None:
        """One more line; when they take more than `room` tokens the older half goes, in one go. The last one stays."""
        number = item.slots.get("segment")
        self.number = max(self.number, number + 1 if isinstance(number, int) else 0)
        self._previous = item.id
        text = brief(item)
        self._lines[item.id] = Told(text, count_tokens(text) + 1, item.source)
        if sum(told.tokens for told in self._lines.values()) > room:
            for old in list(self._lines)[: -max(1, len(self._lines) // 2)]:
                del self._lines[old]

    def forget(self, item: ItemId) -> None:
        """What is gone for good waits no longer, and is not told of, nor is a segment that may quote it."""
        self.waiting.pop(item, None)
        for segment in [one for one, told in self._lines.items() if item == one or item in told.sources]:
            del self._lines[segment]

    def check(self, standing: Mapping[ItemId, Version]) -> None:
        """Keep what still stands of the turns that wait, as it stands now."""
        self.waiting = {
            item: (turn, standing[item].seq_from) for item, (turn, _) in self.waiting.items() if item in standing
        }
