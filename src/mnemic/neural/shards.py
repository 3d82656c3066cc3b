"""What is taught lies in shards, each by itself and beside its sources: forgetting drops few and leaves the rest.

A state holds each tensor of a shard as `shard.NUMBER.NAME`. Among these are `sources`, digests (n, 32) of all that the
shard was learnt from. It is learnt as a whole: what is forgotten takes its shard along, which is learnt again from what
is left. In which shard something lies is told by its id alone, whatever else is known.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final, Protocol, TypeVar

import torch
from torch import Tensor

from mnemic.errors import DamagedState, TooLarge
from mnemic.neural.base import State, cited

_IN_A_SHARD: Final = 5
"""How much lies in a shard of a small memory, at most, where that can be had: so much is set aside where one moves."""
_FEW: Final = 4
"""Shards that a small memory does with, if they are alike: each takes a training of its own, whatever it holds."""
_MORE: Final = 3
"""How many numbers of shards are tried, from the fewest that would do: where ids put what lies there nobody chooses."""
_CROWDED: Final = 20
"""What lies in a shard, on average, from which a larger memory has more of them."""


class Taught(Protocol):
    """What lies in a shard: a fact, an edit, an experience."""

    @property
    def id(self) -> str:
        """Says which shard it lies in."""
        ...


T = TypeVar("T", bound=Taught)


def shard_of(identifier: str, shards: int) -> int:
    """The number of the shard, of so many, in which something of this id lies."""
    return int.from_bytes(hashlib.sha256(identifier.encode()).digest()[:8]) % shards


def count_for(ids: Collection[str], before: int = 0) -> int:
    """How many shards these are spread over where nobody says so: the fewest in which none holds more than some five.

    Another number has all of them learnt anew, and what is erased is to cost its own shards only: so a number that was
    chosen before stands until shards would hold twice as much, on average, as they should.

    Args:
        before: How many there are; 0 for none.
    """
    few = min(_FEW, -(-len(ids) // _IN_A_SHARD))
    wanted = max(1, few, -(-len(ids) // _CROWDED))
    if before and (wanted <= before or len(ids) <= 2 * _IN_A_SHARD * before):
        return before
    if len(ids) <= _IN_A_SHARD:
        return 1

    def excess(count: int) -> int:
        return max(0, *Counter(shard_of(one, count) for one in ids).values()) - _IN_A_SHARD

    return min(range(wanted, wanted + _MORE), key=lambda count: (max(0, excess(count)), count))


def lying(given: Iterable[T], shards: int, limit: int, what: str) -> dict[int, list[T]]:
    """What is taught by the shard in which it lies, in the order given; shards by number.

    Args:
        what: Names it in an error.

    Raises:
        TooLarge: more than the limit lies in one shard.
    """
    by_number: dict[int, list[T]] = {}
    for one in given:
        by_number.setdefault(shard_of(one.id, shards), []).append(one)
    if (most := max(map(len, by_number.values()), default=0)) > limit:
        count = sum(map(len, by_number.values()))
        remedy = f"A shard takes {limit}: give more shards."
        raise TooLarge(what, f"are {count}, and {most} of them in one shard", remedy)
    return dict(sorted(by_number.items()))


def numbers(state: State) -> list[int]:
    """The numbers of the shards that a state holds."""
    return sorted({_number(name) for name in state})


def part(state: State, number: int) -> State:
    """What a state holds of one shard, by the names that it has there; empty where there is no such shard."""
    start = f"shard.{number}."
    return {name.removeprefix(start): tensor for name, tensor in state.items() if name.startswith(start)}


def complete(state: State, number: int, names: Collection[str]) -> State:
    """A shard that holds all of these; empty where there is no such shard.

    Raises:
        DamagedState: the half of a shard is there.
    """
    held = part(state, number)
    if held and (missing := sorted(set(names) - held.keys())):
        rest = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise DamagedState(f"shard {number} lacks {missing[0]}{rest}. Learn it again.")
    return held


def whole(parts: Mapping[int, State]) -> State:
    """The state that holds these shards: `part` the other way."""
    return {f"shard.{number}.{name}": tensor for number, of in parts.items() for name, tensor in of.items()}


def without(state: State, sources: Collection[str]) -> State:
    """What is left of a state without the shards that one of these sources has a part in.

    A shard that does not say what it was learnt from may have been learnt from any of these, and goes too.
    """
    named = {number: state.get(f"shard.{number}.sources") for number in numbers(state)}
    gone = {number for number, digests in named.items() if digests is None or cited(digests, sources)}
    return {name: tensor for name, tensor in state.items() if _number(name) not in gone}


def digest(said: Any) -> Tensor:
    """A digest (32,) of all that was taught, given as what JSON can say."""
    return torch.frombuffer(bytearray(hashlib.sha256(json.dumps(said).encode()).digest()), dtype=torch.uint8)


def _number(name: str) -> int:
    return int(name.split(".")[1])
