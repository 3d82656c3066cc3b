"""Erasure by replay: a memory whose sum cannot be unpicked keeps what was written, and forgets by writing the rest.

    s_n = write(w_n, s_{n-1})        forget(w_i):   s' = write(w_n, … write(w_{i+1}, write(w_{i-1}, …)))

What w_i has changed of a fast weight, a pool or a running sum lies in every later write too, so it cannot be
subtracted. Replayed without it, the state is to the bit that of a memory that never saw it. The log grows with what is
written, and holds it: it lies in the same state, and so goes wherever that goes.

State, beside that of the memory itself under `state.`: `log.N.given`, and `log.N.sources` (n, 32), digests.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from torch import Tensor

from mnemic.neural.base import Family, Identity, MemoryModule, State, cited, source_digests


@dataclass(frozen=True, slots=True)
class LoggedWrite:
    """One write, and what it came from.

    Attributes:
        given: What the memory takes.
        sources: Names, of which digests are kept.
    """

    given: Tensor
    sources: tuple[str, ...] = ()


class LoggedMemory:
    """Another memory with a log of its writes, so that it can forget any of them."""

    bounded = False

    def __init__(self, module: MemoryModule[Any]) -> None:
        self.module = module
        self.family: Family = module.family

    @property
    def identity(self) -> Identity:
        """The memory's own, with a log."""
        return replace(self.module.identity, mechanism=f"{self.module.identity.mechanism}+log")

    @property
    def weights(self) -> Mapping[str, Tensor]:
        """The memory's own."""
        return self.module.weights

    def empty(self) -> State:
        """The memory's own, and an empty log."""
        return _with_log(self.module.empty(), [])

    def write(self, given: LoggedWrite, state: State) -> State:
        """Write, and keep what was written; `state` stands as it was."""
        written = given.given.detach().clone().contiguous()
        entry = {"given": written, "sources": source_digests(given.sources)}
        return _with_log(self.module.write(given.given, _inner(state)), [*_log(state), entry])

    def read(self, asked: Tensor, state: State) -> Tensor:
        """As the memory itself."""
        return self.module.read(asked, _inner(state))

    def forget(self, sources: Collection[str], state: State) -> State:
        """Return the state of a memory that never saw a write in which one of these sources has a part."""
        log = _log(state)
        left = [entry for entry in log if not cited(entry["sources"], sources)]
        if len(left) == len(log):
            return dict(state)
        return _with_log(replayed(self.module, [entry["given"] for entry in left]), left)


def replayed(module: MemoryModule[Any], writes: Sequence[Any]) -> State:
    """The state after these writes and no others."""
    state = module.empty()
    for given in writes:
        state = module.write(given, state)
    return state


def _inner(state: State) -> State:
    return {name.removeprefix("state."): tensor for name, tensor in state.items() if name.startswith("state.")}


def _log(state: State) -> list[dict[str, Tensor]]:
    count = sum(name.endswith(".given") for name in state if name.startswith("log."))
    return [{part: state[f"log.{n}.{part}"] for part in ("given", "sources")} for n in range(count)]


def _with_log(inner: State, log: Sequence[Mapping[str, Tensor]]) -> State:
    entries = {f"log.{n}.{part}": tensor for n, entry in enumerate(log) for part, tensor in entry.items()}
    return {**{f"state.{name}": tensor for name, tensor in inner.items()}, **entries}
