"""What was learnt and is not weighed in, as a command and a chat tell of it: which, why, and what to run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from mnemic.faces.cli.output import flat
from mnemic.learnt_shards import Unweighed, UnweighedReason

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mnemic.learnt_shards import Shard

LEARN_AGAIN: Final = "`mnemic neural learn` learns what holds now"
NOTHING_LEARNT: Final = "`mnemic neural learn` learns the facts of this memory"
_REMEDIES: Final = {
    UnweighedReason.NOTHING_LEARNT: NOTHING_LEARNT,
    UnweighedReason.NOT_NAMED: "`mnemic ask` answers out of memory itself",
    UnweighedReason.SET_ASIDE: LEARN_AGAIN,
    UnweighedReason.OTHER_MODEL: "`mnemic neural learn --model NAME` has the model learn that is asked",
    UnweighedReason.UNREADABLE: "`mnemic neural learn` makes it anew",
}


def set_aside_lines(shards: Iterable[Shard]) -> Iterator[str]:
    """Make a line for each shard that does not stand, with the reasons."""
    return (f"{why}; {LEARN_AGAIN}" for why in set_aside_whys(shards))


def set_aside_whys(shards: Iterable[Shard]) -> Iterator[str]:
    """Yield the same without what to run."""
    for shard in shards:
        if not shard.stands:
            yield _set_aside(shard, "; ".join(flat(str(fact)) for fact in shard.stale))


def set_aside_records(shards: Iterable[Shard]) -> list[dict[str, Any]]:
    """Make a record of each shard that does not stand, with the reasons."""
    return [
        {
            "id": shard.kept.id,
            "shard": shard.number,
            "why": [
                {"reason": fact.reason.name.lower(), "text": fact.text, "against": fact.against} for fact in shard.stale
            ],
        }
        for shard in shards
        if not shard.stands
    ]


def unweighed_lines(unweighed: Unweighed, shards: Iterable[Shard]) -> Iterator[str]:
    """Yield the lines that say why nothing is weighed in: of the shard that a question is of, or of all set aside.

    Args:
        shards: Those that were learnt.
    """
    shard, reason = unweighed.shard, unweighed.reason
    if shard is None:
        yield f"{reason.value}; {_REMEDIES[reason]}"
        yield from set_aside_lines(shards)
    elif reason is UnweighedReason.SET_ASIDE:
        yield from set_aside_lines((shard,))
    else:
        yield f"{_set_aside(shard, flat(unweighed.detail) or reason.value)}; {_REMEDIES[reason]}"


def unweighed_record(unweighed: Unweighed | None) -> dict[str, Any] | None:
    """Make a record of why nothing is weighed in; None where something is."""
    if unweighed is None:
        return None
    return {
        "reason": unweighed.reason.name.lower(),
        "shard": None if unweighed.shard is None else unweighed.shard.number,
        "detail": unweighed.detail or unweighed.reason.value,
        "remedy": _REMEDIES[unweighed.reason],
    }


def _set_aside(shard: Shard, why: str) -> str:
    return f"shard {shard.number + 1} of {shard.of} is set aside ({why})"
