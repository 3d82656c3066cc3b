"""The always-on part of a context: standing instructions, what is pinned, and the profile, in bytes that stay the same.

It stands first and changes only when one of its items does, so that a provider's or an engine's prefix cache keeps
hitting. What was derived from evidence that the view no longer shows is left out with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from mnemic.core.items import ENDED, Kind
from mnemic.core.sanitize import LABELS
from mnemic.core.tokens import BY_MODEL, BY_RULES, count_tokens, told_cost
from mnemic.core.uninterrupted import import_whole
from mnemic.recall.pack import render

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mnemic.core.ids import ItemId
    from mnemic.core.items import Item, Version
    from mnemic.core.queries import Context

_OPEN: Final = '<memory-always note="what the user wants in every answer, what is pinned, and who they are">'
_CLOSE: Final = "</memory-always>"
_IN_DOUBT: Final = 4
"""The rank of a fact in doubt, behind those that are certain."""


@dataclass(frozen=True, slots=True)
class Always:
    """The always-on block: its text, its tokens, the items it shows; how many found no room, what the first cost."""

    text: str = ""
    tokens: int = 0
    items: tuple[Item, ...] = ()
    left_out: int = 0
    first_cost: str = ""

    @property
    def notes(self) -> tuple[str, ...]:
        """One line if items were left out for want of room; empty otherwise."""
        first = f" (the first takes {self.first_cost})" if "blanks" in self.first_cost else ""
        return (f"no room for {self.left_out} of what is always on{first}",) if self.left_out else ()

    def answers(self, question: str, evidence: Context) -> bool:
        """Whether the block tells what a question asks to heed: it holds, or rests on, what bears on the matter.

        Nobody says "careful" of an allergy, so that the words of such a question tell nothing of what is known.
        """
        import_whole("mnemic.recall.heeded")
        from mnemic.recall.heeded import asks_what_to_heed, nearest_to_matter

        if not asks_what_to_heed(question):
            return False
        nearest = nearest_to_matter(evidence)
        return nearest is not None and any(nearest.id in (item.id, *item.source) for item in self.items)


def always_on(
    versions: Sequence[Version],
    visible: Mapping[ItemId, Version],
    user: str,
    room: int,
    doubted: Mapping[ItemId, str] = MappingProxyType({}),
) -> Always:
    """Lay out instructions, pinned items and the profile in at most `room` tokens.

    Args:
        versions: The candidates, as the view shows them.
        visible: Those of their sources that the view shows.
        user: Whose context it is: facts about others come after those about this one.
        doubted: Facts in doubt, and the line that tells each with what puts it in doubt; these stand last.

    Instructions come before what is pinned, and this before the profile; in each the older first. Where room is short
    the profile goes before what is pinned, and of equals the older one goes, but for the name, which goes last.
    """
    kept = [v.item for v in versions if _belongs(v.item) and supported(v.item, visible)]

    def rank(item: Item) -> int:
        return _IN_DOUBT if item.id in doubted else _rank(item, user)

    ordered = sorted(kept, key=lambda item: (rank(item), not _is_name(item), -item.said.timestamp(), item.id))
    tokens = count_tokens(_OPEN) + count_tokens(_CLOSE) + 2
    chosen: list[tuple[Item, str]] = []
    too_dear = ""
    for item in ordered:
        line = render(item, doubted.get(item.id, item.text), _label(item))
        cost = count_tokens(line) + 1
        if tokens + cost <= room:
            tokens += cost
            chosen.append((item, line))
        else:
            too_dear = too_dear or line
    first_cost = told_cost(too_dear) if too_dear else ""
    if not chosen:
        return Always(left_out=len(kept), first_cost=first_cost)
    chosen.sort(key=lambda pair: (rank(pair[0]), pair[0].said, pair[0].id))
    text = "\n".join((_OPEN, *(line for _, line in chosen), _CLOSE))
    return Always(text, tokens, tuple(item for item, _ in chosen), len(kept) - len(chosen), first_cost)


def _belongs(item: Item) -> bool:
    return item.pinned or is_fact(item) or is_standing(item)


def is_fact(item: Item) -> bool:
    """Whether an item says who somebody is, and not what they are no longer."""
    return item.kind is Kind.PROFILE and item.slots.get(ENDED) is not True


def _is_name(item: Item) -> bool:
    return is_fact(item) and item.slots.get("slot") == "name"


def is_standing(item: Item) -> bool:
    """Whether an item is an instruction that holds until it is taken back."""
    return item.kind is Kind.PROCEDURE and item.slots.get("standing") is True


def supported(item: Item, visible: Mapping[ItemId, Version]) -> bool:
    """Whether an item rests on nothing, or on something that is shown."""
    return not item.source or any(source in visible for source in item.source)


def _label(item: Item) -> str:
    """Say what a derived item is, and of whom, in place of who said it; "" for any other."""
    if item.slots.get("by") not in (BY_RULES, BY_MODEL):
        return ""
    subject = item.slots.get("subject")
    label = LABELS[0] if is_standing(item) else LABELS[1]
    return f"{label} of {subject}" if subject else label


def _rank(item: Item, user: str) -> int:
    if is_standing(item):
        return 0
    if item.pinned:
        return 1
    subject = str(item.slots.get("subject") or "user").casefold()
    return 2 if subject in ("user", user.casefold()) else 3
