"""The store's promise: commit is the only way to write, and a snapshot the only way to read.

A store keeps and returns; it never scores. Ranking, fusion, decay and tokenising live above it, once.
Two keepers pass the one suite in `mnemic.testing.store_contract`: `sqlite` and `memory`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from mnemic.core.events import Receipt, Verb
from mnemic.store.drafts import Draft, Erasure, JobStep
from mnemic.store.following import Answer, EmbedderState, Job, JobState, Lane, Order, Vectors
from mnemic.store.heads import Hold, Info
from mnemic.store.receipts import ErasureReceipt, Fault, Rewound, Swept
from mnemic.store.snapshot import Snapshot


class Store(Protocol):
    """A keeper of memory. All methods are safe to call from many threads."""

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

    def enlist(self, name: str, dims: int, state: EmbedderState) -> int:
        """The id of an embedder, made known if it is not; one that is known keeps its state, unless it was retiring.

        Raises:
            Conflict: an embedder of this name has other dimensions.
        """
        ...

    def appoint(self, model: int, state: EmbedderState) -> None:
        """Say what an embedder's vectors are for from now on.

        Raises:
            NotFound: there is no such embedder.
        """
        ...

    def dismiss(self, model: int) -> None:
        """Take out an embedder with its lanes and vectors, in slices that let writers through; cut short, it goes on
        when it is called again, and meanwhile the embedder is retiring. Nothing to do for one that is not there.
        """
        ...

    def claim(self, space: int, lane: str, owner: str, seconds: float) -> Lane | None:
        """Lease a lane, or prolong one's own lease; None while another's lives, before its time, in an erased space."""
        ...

    def release(
        self, space: int, lane: str, owner: str, error: str = "", not_before: int = 0, stride: int = 0, reach: int = 0
    ) -> None:
        """Give a lease back; with an error, one more failed attempt. Without effect if the lease has passed on.

        A run that failed keeps the commit it is pinned to, so that the next one may repeat it.

        Args:
            stride, reach: With an error, the most versions that a run may take until the cursor has come to `reach`.
        """
        ...

    def bury(self, space: int, lane: str, owner: str, after: int, ver: int, error: str) -> int:
        """Give up a version: the lane goes past it, and a dead job keeps it. Returns the job's number.

        Raises:
            Conflict: the cursor or the lease is another's.
        """
        ...

    def prolong(self, space: int, owner: str, seconds: float, job: int = 0) -> bool:
        """Prolong the leases that a run holds: those of a space's lanes and of a job that are `owner`'s still.

        Returns:
            Whether there were any. Those that have passed on, or that an erasure has taken, are not had back.
        """
        ...

    def record(self, answer: Answer) -> bool:
        """Keep what a model answered, until the lane's run lands or something is erased that it may hold.

        Where something that was given to models goes in another way, by compaction or back in time, answers go too.

        Returns:
            Whether the lease is held still. If an erasure has taken it, of something that the run was not given, the
            answer is kept all the same, for whoever repeats the run.

        Raises:
            Conflict: the lease has passed on, or what the run was given was erased.
        """
        ...

    def order(self, order: Order) -> int:
        """The number of a job, ordered if it was not; durable when this returns.

        Raises:
            NotFound: its space is not here, or was erased.
        """
        ...

    def claim_job(self, names: Sequence[str], owner: str, seconds: float) -> Job | None:
        """Lease the most urgent job of these names that may be done now and that nobody does; None for none."""
        ...

    def end_job(self, step: JobStep, state: JobState, error: str = "", not_before: int = 0) -> bool:
        """Say what became of a job; with an error, one more failed attempt. False if the lease has passed on.

        `WAITING` gives it back to be gone on with, not before its time.
        """
        ...

    def steer_job(self, job: int, state: JobState) -> Job:
        """Cancel a job that waits, or have one done that is dead or was cancelled; others stay as they are.

        Raises:
            NotFound: there is no such job.
        """
        ...

    def moved(self) -> tuple[int, ...]:
        """Numbers that are others as soon as anybody, in whatever process, has written."""
        ...

    def keep(self, batch: Vectors) -> int:
        """Write vectors and move the lane's cursor in one transaction, durably; returns how many were written.

        A row whose part is gone, erased meanwhile, is left out.

        Raises:
            Conflict: the cursor is not where the batch begins, the lease is another's, or the embedder retires.
            NotFound: there is no such embedder, or the space was erased.
            Invalid: a row is of the wrong size or outside the step.
        """
        ...

    def read(self) -> AbstractContextManager[Snapshot]:
        """One read transaction; it belongs to the thread that opened it."""
        ...

    def wait(self, tenant: str, after: int, seconds: float) -> bool:
        """Whether the tenant's journal has gone past commit `after`; waits for that, but not longer than `seconds`.

        A commit of this process is heard at once, another process's within a fifth of a second.
        """
        ...

    def carry(self, told: Callable[[], tuple[str, bytes] | None]) -> None:
        """Write what `told` says, a process's name and its figures, along with commits, for others to see (`meters`).

        At most every two seconds, and without a transaction or a sync of its own: while nothing is committed nothing
        is written. `told` is called inside a commit: it must be quick, and must not use the store. None is nothing new.
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

    def compact(self, tenant: str, horizon: int) -> int:
        """Move the horizon and sweep until nothing is left behind it; returns how many versions went.

        Raises:
            NotFound, Invalid, Refused: as `move_horizon` does.
        """
        ...

    def move_horizon(self, tenant: str, horizon: int) -> int:
        """Give up the past before commit `horizon`: reads there raise `Compacted`. Returns where the horizon was.

        Raises:
            NotFound: there is no such tenant.
            Invalid: it lies ahead of the journal, or behind the horizon.
            Refused: a branch, a checkpoint, a legal hold or a leased job still needs that past.
        """
        ...

    def sweep(self, tenant: str, seconds: float) -> Swept:
        """Drop some of what lies behind the horizon; a writer waits for about `seconds` at most, a reader never.

        What goes: closed versions; items that were retired, unless something kept rests on them; links closed or
        untied; journal rows of which none is left; then free pages go back to the disk. Call it again while there is
        more: it leaves others time to write before it comes back. Cut short at any moment, another finds what is left.
        """
        ...

    def jot(self, tenant: str, memos: Mapping[str, bytes]) -> None:
        """Keep small facts about a tenant, and journal nothing.

        Raises:
            NotFound: there is no such tenant.
        """
        ...

    def enter(self, tenant: str, verb: Verb, payload: bytes, memos: Mapping[str, bytes]) -> int:
        """Journal an event about the tenant itself, and keep small facts with it; returns its seq.

        Raises:
            NotFound: there is no such tenant.
        """
        ...

    def hold(self, hold: Hold) -> int:
        """Set a legal hold, and return its number: from now on `erase` and `move_horizon` are refused, what it keeps
        is not swept.

        Raises:
            NotFound: there is no such tenant, user or item.
            Invalid: it names an item or a session, and no user.
        """
        ...

    def lift(self, tenant: str, hold: int) -> None:
        """Release a legal hold.

        Raises:
            NotFound: this tenant has no such hold.
        """
        ...

    def verify(self) -> Iterator[Fault]:
        """Check chain, digests, projections and entries against each other."""
        ...

    def state_hash(self, tenant: str) -> str:
        """SHA-256 over ids, seqs and digests of the retained versions and links."""
        ...

    def export(self, tenant: str) -> Iterator[bytes]:
        """The tenant's journal with its content, one JSON line a record, in an order that never varies."""
        ...

    def load(self, lines: Iterator[bytes]) -> int:
        """Apply an exported journal to a store that has no such tenant; ids, salts, seqs and hashes are kept."""
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

    def rewind(self, tenant: str, seq: int) -> Rewound:
        """Bring a tenant back to exactly what it was after commit `seq`, in one transaction; caches start over.

        State hash and journal are those of then. What was erased since stays erased, which takes a commit more.

        Raises:
            NotFound: there is no such tenant.
            Invalid: there is no such commit.
            Compacted: it lies behind the horizon.
            Refused: something that would go is under legal hold.
        """
        ...

    def info(self) -> Info:
        """What it is and how it is set."""
        ...

    def close(self) -> None:
        """Finish what is under way and let go of every file."""
        ...
