"""A neural memory's state beside a store: each write is an artefact that cites its source, the state is made of these.

An erased source takes its write along, and with it every state that was made with it, before the receipt is there;
the next look replays the writes that are left, and so has the state of a memory that never saw the source. What
`undo`, a branch or a view of the past shows of the writes is what their state is made of. The state itself can always
be made again, so it is no part of backups; the writes are.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from mnemic.core.ids import ItemId
from mnemic.errors import Conflict, DamagedState, NotFound, StoreCorrupt, StoreError
from mnemic.neural import base
from mnemic.neural.base import MemoryModule, State
from mnemic.neural.write_log import replayed

if TYPE_CHECKING:
    from torch import Tensor

    from mnemic.scope_artefacts import ScopeArtefacts
    from mnemic.verbs.artefact_keeping import KeptArtefact

_GIVEN: Final = "given"


class StoredMemory:
    """One neural memory of one user, session or branch, by its name.

    Args:
        artefacts: Whose: `me.artefacts`.
        module: The memory; its states of other weights or settings are not seen.
        name: Which, where one user has several of one module.
    """

    def __init__(self, artefacts: ScopeArtefacts, module: MemoryModule[Any], name: str = "") -> None:
        self._artefacts, self._module, self._name = artefacts, module, name
        self._mechanism = module.identity.mechanism
        self._made_by = {**asdict(module.identity), "name": name}

    def write(self, given: Tensor, sources: Sequence[ItemId]) -> State:
        """Write, and keep what was written durably; return the state after it.

        Args:
            sources: The items that it came from, at least one: erased, any of them takes the write along.

        Raises:
            NotFound, Conflict, StoreFull, StoreError: the write could not be kept, as `ScopeArtefacts.put`; nothing is
                written. Where it is kept and the state behind it cannot be, the next look replays.
            Invalid: as the memory itself; likewise.
        """
        writes = self._writes()
        state = self._module.write(given, self._after(writes))
        raw = base.packed({_GIVEN: given.detach().contiguous()}, self._module.identity)
        kept = self._artefacts.put(
            raw, mechanism=f"{self._mechanism}-write", made_by=self._made_by, sources=sources,
            text=f"a write of {self._mechanism}",
        )  # fmt: skip
        self._keep(state, (*writes, kept))  # and not what another process has written meanwhile: then it is replayed
        return state

    def state(self) -> State:
        """The state after the writes that this view shows, and no others.

        Raises:
            StoreCorrupt, DamagedState: a write's bytes are not what was kept.
        """
        return self._after(self._writes())

    def read(self, asked: Tensor) -> Tensor:
        """What the memory makes of `asked` with that state."""
        return self._module.read(asked, self.state())

    def _after(self, writes: Sequence[KeptArtefact]) -> State:
        """The state after these writes: as it was kept, if it was made of exactly these, or replayed."""
        kept = self._kept()
        if kept is not None and kept.version.item.source == tuple(write.id for write in writes):
            with suppress(NotFound, StoreCorrupt, DamagedState):  # its bytes had to make room, or are not those kept
                return base.load(self._artefacts.open(kept), self._module.identity)[0]
        return replayed(self._module, [self._given(write) for write in writes])

    def _keep(self, state: State, writes: Sequence[KeptArtefact]) -> None:
        """Keep a state if that can be done: its writes are kept, and whoever tried again would write twice."""
        with suppress(NotFound, Conflict, StoreError):
            before = self._kept()
            self._artefacts.put(
                base.packed(state, self._module.identity), mechanism=self._mechanism, made_by=self._made_by,
                sources=tuple(write.id for write in writes), remade=True, text=f"a state of {self._mechanism}",
                replaces=None if before is None else before.id,
            )  # fmt: skip

    def _given(self, write: KeptArtefact) -> Tensor:
        return base.load(self._artefacts.open(write), self._module.identity)[0][_GIVEN]

    def _writes(self) -> list[KeptArtefact]:
        return self._of(f"{self._mechanism}-write")

    def _kept(self) -> KeptArtefact | None:
        kept = self._of(self._mechanism)
        return kept[-1] if kept else None

    def _of(self, mechanism: str) -> list[KeptArtefact]:
        every = self._artefacts.kept(mechanism)
        return [kept for kept in every if dict(kept.artefact.made_by) == self._made_by]
