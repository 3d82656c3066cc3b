"""The store's promise: drafts are committed, rows are written in one transaction, a snapshot is the only way to read.

A store keeps and returns; it never scores. Ranking, fusion, decay and tokenising live above it, once.
Every store passes the one suite in `mnemic.testing.store_contract`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from mnemic.artefacts.artefact_files import ArtefactFolder
from mnemic.core.events import Receipt
from mnemic.store.engine.rows import Rows
from mnemic.store.engine.snapshot import Snapshot
from mnemic.store.values.drafts import Draft, Erasure
from mnemic.store.values.heads import Check, Info
from mnemic.store.values.meters import Figures
from mnemic.store.values.receipts import ErasureReceipt, Fault, Swept

P = ParamSpec("P")
T = TypeVar("T")


class Store(Protocol):
    """A keeper of memory. All methods are safe to call from many threads.

    Attributes:
        artefacts: Where the files of what models have computed lie; None for a store that has no folder for them, which
            holds none.
    """

    artefacts: ArtefactFolder | None

    def commit(self, draft: Draft) -> Receipt:
        """Write all of a draft, durably, or nothing.

        When every op of it has landed before under its key with the same content, nothing is written and the first
        receipt comes back.

        Raises:
            Conflict: a key came with other content, an item in `expect` has changed, the space has moved on from
                `upon`, the lane's cursor or lease is another's, or what its step cites has been erased; nothing was
                written.
            StoreError: the write may or may not have landed; the same keys make a retry safe.
        """
        ...

    def transact(self, work: Callable[Concatenate[Rows, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Apply `work` to the rows of one write transaction, beside the queue of commits; durable when this returns.

        An error of `work` takes back all that it wrote. Lanes, jobs, embedders, legal holds, the horizon and going back
        in time are functions over rows, for use here. Fault injection knows them by the names of the functions: a probe
        is told of `claim:before-commit` and `claim:after-commit`.
        """
        ...

    def moved(self) -> tuple[int, ...]:
        """Numbers that are others as soon as anybody, in whatever process, has written."""
        ...

    def read(self) -> AbstractContextManager[Snapshot]:
        """One read transaction; it belongs to the thread that opened it."""
        ...

    def wait(self, moved: tuple[int, ...], seconds: float) -> bool:
        """Whether anybody has written since the store said `moved`; waits for that, but not longer than `seconds`.

        A commit of this process is heard at once, another process's within a twenty-fifth of a second.
        """
        ...

    def carry(self, figures: Figures) -> None:
        """Write a process's name and `figures`, along with commits, for others to see (`meters`).

        At most every two seconds, and without a transaction or a sync of its own: while nothing is committed nothing
        is written. `figures` is called inside a commit: it must be quick and not use the store. None is nothing new.
        """
        ...

    def erase(self, erasure: Erasure) -> ErasureReceipt:
        """Take content out for good: bytes, tokens, salts, counters, and every cache of every process.

        Raises:
            NotFound: there is no such tenant or user.
            Refused: a legal hold keeps some of it; nothing was taken out.
        """
        ...

    def settle(self) -> bool:
        """Whether every erasure has reached every file; tries once more if one is pending."""
        ...

    def sweep(self, tenant: str, seconds: float) -> Swept:
        """Drop some of what lies behind the horizon; a writer waits for about `seconds` at most, a reader never.

        What goes: closed versions; items that were retired, unless something kept rests on them; links closed or
        untied; journal rows of which none is left; then free pages go back to the disk. Call it again while there is
        more: it leaves others time to write before it comes back. Cut short at any moment, another finds what is left.
        """
        ...

    def verify(self) -> Iterator[Fault]:
        """Check chain, digests, projections and entries against each other."""
        ...

    def export(self, tenant: str) -> Iterator[bytes]:
        """The tenant's journal with its content, one JSON line a record, in an order that never varies."""
        ...

    def backup(self, dest: Path) -> None:
        """A consistent copy of the whole store, taken while writers go on."""
        ...

    def checkpoint(self, name: str) -> None:
        """A copy in the folder `checkpoints` beside the store, made while writers go on, and known to it by name.

        Raises:
            Conflict: there is one of that name.
        """
        ...

    def drop_checkpoint(self, name: str) -> None:
        """Let a checkpoint go, with its file; a file of that name that the store does not know goes too.

        Raises:
            NotFound: there is none of that name.
        """
        ...

    def info(self) -> Info:
        """What it is and how it is set."""
        ...

    def doctor(self) -> list[Check]:
        """Look at what it stands on: engine, settings, disk, permissions."""
        ...

    def close(self) -> None:
        """Finish what is under way and let go of every file."""
        ...
