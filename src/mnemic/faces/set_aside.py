"""Shards that are set aside, as a command and a chat tell of them: which, why, and what to run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from mnemic.faces.cli.output import flat

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mnemic.learnt_shards import Shard

LEARN_AGAIN: Final = "`mnemic neural learn` learns what holds now"


def set_aside_lines(shards: Iterable[Shard]) -> Iterator[str]:
    """Yield a line for each shard that does not stand, with the reasons."""
    for shard in shards:
        if not shard.stands:
            why = "; ".join(flat(str(fact)) for fact in shard.stale)
            yield f"shard {shard.number + 1} of {shard.of} is set aside ({why}); {LEARN_AGAIN}"


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
