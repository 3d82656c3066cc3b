"""Care of a whole store: is it sound, how big is it, how is it copied, what may be dropped."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from mnemic.arguments import held_to_the_table
from mnemic.core.clock import SystemClock
from mnemic.core.events import Change
from mnemic.core.ids import ItemId, SystemEntropy
from mnemic.core.listing import LISTED, Cursors, Listing, one_page
from mnemic.core.mask import mask, refuse_secrets
from mnemic.core.scope import Shared
from mnemic.core.uninterrupted import import_whole
from mnemic.derive.runs import MAINTAIN, awaiting_more, evidence_left
from mnemic.errors import Invalid, ModelError, NotFound, StoreError
from mnemic.lanes.following import choice_of, follows, lost_lanes
from mnemic.lanes.slices import EMBED, EXPIRE, JOBS, PACK, SLOTS
from mnemic.meaning import WORDS_ALONE
from mnemic.models.base import Embedder
from mnemic.opening import Opened, When, chosen_embedder
from mnemic.past.journal_views import log_page
from mnemic.registry import STRATEGIES
from mnemic.reindexing import Reindexed, reindex
from mnemic.settings import Settings
from mnemic.store.engine import compaction, holds, job_queue, journal_io, lane_cursors
from mnemic.store.engine.job_queue import DIGEST
from mnemic.store.engine.model_meter import spendings_of
from mnemic.store.engine.snapshot import Snapshot
from mnemic.store.requests import Erase
from mnemic.store.seal_key import seal_key
from mnemic.store.urls import open_at, options_of, path_of, real_path
from mnemic.store.values.drafts import Erasure
from mnemic.store.values.heads import Check, Hold, Info, SpaceHead
from mnemic.store.values.receipts import ErasureReceipt, Fault, Loaded, MovedTenant, Rewound
from mnemic.store.values.spending import Spending, summed
from mnemic.store.values.work import JobState, Order, embedding_lane, slot_lane
from mnemic.timekeeping import Checkpoint, checkpoints_of, commit_at, going_back, rewind, take_checkpoint
from mnemic.watching.vitals import Vitals, vitals, vitals_of
from mnemic.worker.gc_job import GC, gc_chore, gc_slices
from mnemic.worker.job_types import rerun_order
from mnemic.worker.status import WorkEntry, dead_letters, work_status

if TYPE_CHECKING:
    from mnemic.collecting.housekeeping import Collected
    from mnemic.credentials.keys import Keys
    from mnemic.store.moving import NamedStore, Probe, Progress
    from mnemic.strategies.base import Strategy
    from mnemic.watching.feed import TenantFeed
    from mnemic.watching.metering import Meters


_USERS: Final = Cursors("users", 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class UserStats:
    """Counts of one user's items, commits and branches.

    Attributes:
        user: None for the tenant's shared space.
        items: Items of the memory itself, without those that were written to its branches.
        commits: The last commit of the tenant that touched it.
        branches: How many branches it has.
    """

    tenant: str
    user: str | None
    items: int
    commits: int
    branches: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """A store's size, its users, and the state of its processes and background work.

    Attributes:
        items: How many items are shown now, of all users, without what is on branches.
        user_count: How many users there are; what a tenant shares counts as one.
        users: The first of them, as `Admin.users` lists them.
        artefact_bytes: Bytes beside the store of what models have computed.
    """

    url: str
    bytes: int
    format: int
    items: int
    user_count: int
    users: Listing[UserStats]
    vitals: Vitals
    artefact_bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Behind:
    """The backlog of one lane: a strategy's, such as `house` for rules, or an embedder's.

    Attributes:
        lane: `embed` for an embedder that has never answered: it has no lane of its own yet.
        embedder: The embedder's name; "" for a strategy's lane.
        pending: How many passages it has not read yet, of the kinds that its strategy reads.
        begun: How many passages beside those make no unit yet: its strategy reads them once more is said.
        lacks: What is yet to be said until they make one, such as "143 more tokens"; "" where several memories wait.
        error: How it failed last in some space, or why its embedder cannot be asked here; "" if nothing went wrong.
        dead: How many passages it gave up (`dead`).
    """

    lane: str
    embedder: str
    pending: int
    error: str
    dead: int = 0
    begun: int = 0
    lacks: str = ""


@held_to_the_table
class Admin:
    """The verbs on a store as a whole, over all users; they show numbers of every user, and words of none."""

    def __init__(self, opened: Opened) -> None:
        self._opened, self._store = opened, opened.store
        opened.background.job_types.setdefault(GC, gc_slices(opened.store, opened.settings))
        opened.background.chores.setdefault(GC, gc_chore(opened.answering, opened.kernel.desk))

    @property
    def settings(self) -> Settings:
        """Return the settings that the store was opened with."""
        return self._opened.settings

    @property
    def access_keys(self) -> Keys:
        """Return the access keys of this store, as `Memory.keys` does."""
        import_whole("mnemic.credentials.keys")
        from mnemic.credentials.keys import Keys

        return Keys(self._store, self._opened.clock)

    def info(self) -> Info:
        """Describe the store: engine, settings, size."""
        return self._store.info()

    def ping(self) -> None:
        """Ask the store for as little as can be asked.

        Raises:
            StoreError: it does not answer.
        """
        with self._store.read():  # a file that was taken away is noticed by whoever begins to read
            pass
        self._store.moved()

    def stats(self, *, limit: int = LISTED) -> Stats:
        """Count items, users and the bytes of the files, and what each of the first `limit` users has."""
        info = self._store.info()
        with self._store.read() as snapshot:
            users = _users_page(snapshot, (0, 0), limit, _USERS)
            items, user_count = snapshot.shown_total(), snapshot.owner_count()
            now_in_store = vitals_of(snapshot, info, self._opened.meters, self._opened.clock.now())
        folder = self._store.artefacts
        return Stats(
            artefact_bytes=0 if folder is None else folder.size(),
            url=info.url, bytes=info.bytes, format=info.format, items=items, user_count=user_count, users=users,
            vitals=now_in_store,
        )  # fmt: skip

    def users(
        self,
        *,
        limit: int = LISTED,
        after: str | None = None,
        tenant: str | None = None,
        user: str | Shared | None = None,
    ) -> Listing[UserStats]:
        """List what each user has, by tenant and in the order in which they first wrote, a page at a time.

        Args:
            after: The `next` of the page before, or of `stats().users`.
            tenant: Only of this one; left out, of all.
            user: Only this one, of the setting `tenant` if none is named.
        """
        cursors = _USERS if tenant is None else Cursors(repr(("users", tenant)), 2)
        place = (0, 0) if after is None else cursors.read(after)
        if user is not None:
            return self._one_user(tenant or self._opened.settings.tenant, user)
        with self._store.read() as snapshot:
            number = None if tenant is None else snapshot.tenant(tenant)
            if tenant is not None and number is None:
                return Listing()
            return _users_page(snapshot, (place[0], place[1]), limit, cursors, number)

    def _one_user(self, tenant: str, user: str | Shared) -> Listing[UserStats]:
        with self._store.read() as snapshot:
            number = snapshot.tenant(tenant)
            head = None if number is None else snapshot.space(number, user)
            return Listing(() if head is None else _user_stats(snapshot, [head]))

    def spending(self, *, user: str | None = None, tenant: str | None = None) -> list[Spending]:
        """List what language models have taken, by strategy, task and model, the dearest in tokens first.

        Args:
            user: Only of this one; left out, of all users, those that were erased since included.
            tenant: Only of this one; left out, of all, and for a user the setting `tenant`.
        """
        with self._store.read() as snapshot:
            if user is None:
                numbers = [number for number, name in snapshot.tenants() if tenant in (None, name)]
                return summed(each for number in numbers for each in spendings_of(snapshot, number))
            number = snapshot.tenant(tenant or self._opened.settings.tenant)
            head = None if number is None else snapshot.space(number, user)
            return [] if number is None or head is None else spendings_of(snapshot, number, head.number)

    def vitals(self) -> Vitals:
        """Read what processes do just now, what waits, and how big the files are, as `mnemic top` shows it."""
        return vitals(self._store, self._opened.meters, self._opened.clock.now())

    @property
    def meters(self) -> Meters:
        """Where this process counts and times what it does."""
        return self._opened.meters

    def tail(self, tenant: str | None = None) -> TenantFeed:
        """Follow the commits of all users of a tenant from now on, for a process that hands each on to many listeners.

        Args:
            tenant: Left out, that of the settings.
        """
        import_whole("mnemic.watching.feed")
        from mnemic.watching.feed import TenantFeed

        opened = self._opened
        return TenantFeed(opened.journal, opened.answering.attend, tenant or opened.settings.tenant)

    def verify(self) -> list[Fault]:
        """Check the journal, its hash chain, all tables and packs against it; return what is wrong.

        A pack that is not what was kept is made anew by the next `flush`, of this process or another.
        """
        import_whole("mnemic.index.pack_audit")
        from mnemic.index.pack_audit import verify_with_packs

        background = self._opened.background
        return verify_with_packs(self._store, lambda row: background.want_packs(row.space, (row,)))

    def state_hash(self, tenant: str | None = None) -> str:
        """Hash a tenant's retained versions and links."""
        with self._store.read() as snapshot:
            return snapshot.state_hash(tenant or self._opened.settings.tenant)

    def backup(self, dest: str | Path) -> Path:
        """Write a consistent copy while writers go on; never overwrite a file."""
        self._opened.uses.flush()
        path = Path(dest).expanduser()
        self._store.backup(path)
        return path

    def checkpoint(self, name: str = "", *, tenant: str | None = None) -> Checkpoint:
        """Write a consistent copy to the folder `checkpoints` beside the store, while writers go on.

        Until it is dropped, the horizon cannot pass its commit. What is erased from the store is erased from it too.

        Args:
            name: A name in any script that can name a file on every system; left out, the date and time.

        Raises:
            NotFound: the tenant has nothing that it could hold.
            Conflict: there is one of that name.
            Invalid: the name cannot name a file, or the store is not one.
        """
        if self._opened.settings.mask_secrets:
            refuse_secrets({"name": name})
        return take_checkpoint(self._opened, name, tenant or self._opened.settings.tenant)

    def checkpoints(self, *, tenant: str | None = None) -> list[Checkpoint]:
        """List the checkpoints of a tenant, by commit."""
        return checkpoints_of(self._opened, tenant or self._opened.settings.tenant)

    def drop_checkpoint(self, name: str) -> None:
        """Delete a checkpoint and its file."""
        self._store.drop_checkpoint(name)

    def commit_at(self, to: int | When, *, tenant: str | None = None) -> int:
        """Return the commit that `rewind` to this would end at; change nothing.

        Raises:
            Invalid: there is no such commit, or nothing had been recorded by then.
            Compacted: it lies behind the horizon.
        """
        return commit_at(self._opened, to, tenant or self._opened.settings.tenant)

    def rewind(self, to: int | When, *, tenant: str | None = None) -> Rewound:
        """Bring this store back to exactly what it was after a commit, or at a recorded moment, and delete all since.

        It is one transaction: cut short, it has happened or not. What was erased since stays erased. To be able to
        return, take a checkpoint first; to go back by a commit that can be undone, use `ScopedMemory.revert`.

        Raises:
            Compacted: it lies behind the horizon.
            Refused: something that would go is under legal hold.
        """
        return rewind(self._opened, to, tenant or self._opened.settings.tenant)

    def export(self, tenant: str | None = None) -> Iterator[bytes]:
        """Export a tenant's whole journal as lines of JSON; legal holds are not in it."""
        return self._store.export(tenant or self._opened.settings.tenant)

    def load(
        self,
        lines: Iterable[bytes],
        *,
        tenant: str | None = None,
        progress: Callable[[int, int], None] = lambda done, of: None,
    ) -> Loaded:
        """Apply an exported journal, as a tenant beside those that the store has; all of it, or nothing.

        Ids, commits, hashes and times are kept. Others who write wait until it is done.

        Args:
            tenant: What to call it here; left out, what the journal calls it.
            progress: Called now and then with how many commits are written, and of how many.

        Raises:
            Conflict: a tenant of this name is here already.
            Invalid: these are not the lines of an export, or they do not hold together.
        """
        loaded = self._store.transact(journal_io.load, iter(lines), tenant, progress)
        for lane in self._chosen(loaded.tenant):
            while self._store.transact(lane_cursors.follow, lane):
                pass
        return loaded

    def _chosen(self, tenant: str) -> set[str]:
        """The strategies of ours that users of a tenant have chosen."""
        with self._store.read() as snapshot:
            number = snapshot.tenant(tenant)
            spaces = [] if number is None else snapshot.all_spaces(number)
            return {name for head in spaces for name in choice_of(snapshot, head.id) or () if name in STRATEGIES}

    def erase_tenant(self, tenant: str, *, reason: str = "") -> ErasureReceipt:
        """Erase a whole tenant for good."""
        reason = mask(reason)[0] if self._opened.settings.mask_secrets else reason
        erasure = Erasure(tenant=tenant, user=None, whole=True, actor="admin", reason=reason)
        receipt: ErasureReceipt = self._opened.answering.attend(Erase(erasure))
        return receipt

    def behind(self) -> list[Behind]:
        """Count what strategies and embedders have not read yet, lane by lane."""
        meaning, background = self._opened.meaning, self._opened.background
        with self._store.read() as snapshot:
            dead, followed = snapshot.dead_counts(DIGEST), background.strategies(snapshot)
            default = background.by_default
            lanes = [_strategy_behind(snapshot, strategy, dead, default) for strategy in followed]
            lost = lost_lanes(snapshot, default).items()
            lanes += [_lost_behind(snapshot, name, dead, default, why) for name, why in lost]
            lanes += [
                _behind(
                    snapshot,
                    lane,
                    name,
                    snapshot.backlog(lane),
                    dead,
                    meaning.trouble(name) or _first_failure(snapshot, lane),
                )
                for lane, name in self._embedding(snapshot)
            ]
        unread = {EMBED, *(name for name, _ in lost)}  # where nothing waits, nothing is wrong
        return [lane for lane in lanes if lane.lane not in unread or lane.pending or lane.dead]

    def reindex(
        self, embedder: str | Embedder | None = None, progress: Callable[[int], None] = lambda done: None
    ) -> Reindexed:
        """Make every vector anew with another embedder, or drop all for `none`; until then the old ones answer.

        With the one that serves, vectors that were made before it told traits are given theirs, and no others are made.

        Args:
            embedder: Left out, the one that serves.
            progress: Called after each slice with how many passages it embedded.

        Raises:
            Invalid: no embedder goes by that name; or none is named, and none serves or a change to another was begun.
            ModelError: the embedder failed; the old vectors still serve, and the next call goes on from there.
            NotFound: another process has dismissed the embedder meanwhile.
        """
        opened = self._opened
        chosen = opened.meaning.serving() if embedder is None else chosen_embedder(embedder, opened.settings)
        return reindex(opened, chosen, progress)

    def jobs(self, *, over: bool = False, limit: int = LISTED, after: str | None = None) -> Listing[WorkEntry]:
        """List the lanes with work to do, then the jobs: who works on each, since when, and the last error.

        Args:
            over: Also list jobs that are done or cancelled.
            after: The `next` of the page before.
        """
        background = self._opened.background
        now = self._opened.clock.now()
        with self._store.read() as snapshot:
            lanes = dict.fromkeys(self._strategy_lanes(snapshot), "") | lost_lanes(snapshot, background.by_default)
            trouble = self._opened.meaning.trouble
            lanes |= {slot_lane(slot): "" for slot in self._opened.settings.indexed}
            lanes |= {lane: trouble(name) or _first_failure(snapshot, lane) for lane, name in self._embedding(snapshot)}
            followed = background.strategies(snapshot)
            default = background.by_default
            return work_status(snapshot, lanes, default, now, limit, after, over=over, strategies=followed)

    def dead(self, *, limit: int = LISTED, after: str | None = None) -> Listing[WorkEntry]:
        """List the dead letters: items on which a strategy or embedder failed too often and which it left out.

        Args:
            after: The `next` of the page before.
        """
        now = self._opened.clock.now()
        with self._store.read() as snapshot:
            return dead_letters(snapshot, now, limit, after)

    def retry(self, id: int) -> None:
        """Have a dead or cancelled job done once more.

        Raises:
            NotFound: there is no such job.
        """
        self._store.transact(job_queue.steer, id, JobState.WAITING)

    def cancel(self, id: int) -> None:
        """Cancel a job that waits.

        Raises:
            NotFound: there is no such job.
        """
        self._store.transact(job_queue.steer, id, JobState.CANCELLED)

    def order(self, order: Order) -> int:
        """Queue a job, which the next free worker does once; return its number."""
        if order.name not in self._opened.background.job_types:
            known = ", ".join(sorted(self._opened.background.job_types))
            raise Invalid("name", f"{order.name!r} is no work that is known here", f"Known: {known}.")
        return self._store.transact(job_queue.order, order)

    def rerun(self, strategy: str, *, user: str, tenant: str | None = None) -> int:
        """Queue a job in which a strategy retires all it made for a user, in one commit, and reads all turns again.

        Answers of models that were kept (setting `keep_answers`) are not asked for again. Nothing that the user wrote
        is touched, and what they hid stays hidden, unless they hid all that the strategy had derived (`forget_by`).

        Returns:
            The number of the job that does it.

        Raises:
            Invalid: the strategy is not followed here. NotFound: nothing was ever remembered for this user.
        """
        background = self._opened.background
        with self._store.read() as snapshot:
            background.strategies(snapshot)
            background.context.strategy(strategy)
            number = snapshot.tenant(tenant or self._opened.settings.tenant)
            head = None if number is None else snapshot.space(number, user)
        if head is None:
            raise NotFound(f"nothing was ever remembered for {user!r}")
        order = rerun_order(head.id, strategy, f"{strategy}@{head.seq}")
        return self._store.transact(job_queue.order, order)

    def serve(self, stop: threading.Event, **how: Any) -> None:
        """Be a worker for every user of the store until `stop` is set; see `Background.serve`."""
        self._opened.background.serve(stop, **how)

    def lane_names(self) -> list[str]:
        """List what a worker can be told to do: strategies by name, `embed`, `jobs`, `pack`, `expire`, `slots`."""
        with self._store.read() as snapshot:
            followed = self._opened.background.strategies(snapshot)
        return [*(strategy.name for strategy in followed), EMBED, JOBS, PACK, EXPIRE, SLOTS]

    def _strategy_lanes(self, snapshot: Snapshot) -> list[str]:
        """The lanes of strategies, and of their upkeep."""
        known = self._opened.background.strategies(snapshot)
        return [
            name
            for strategy in known
            for name in (strategy.name, *([strategy.name + MAINTAIN] if strategy.maintain else []))
        ]

    def _embedding(self, snapshot: Snapshot) -> list[tuple[str, str]]:
        """The lanes of embedders with their names; one that has never answered goes by `embed`."""
        never_answered = self._opened.meaning.never_answered()
        rows = [(embedding_lane(row.id), row.name) for row in snapshot.embedders() if row.name != WORDS_ALONE]
        return [*rows, (EMBED, never_answered)] if never_answered else rows

    def settle(self) -> bool:
        """Complete a pending erasure; return whether every one has reached every file."""
        return self._store.settle()

    def gc(
        self,
        *,
        dry_run: bool = False,
        collectors: Sequence[str] | None = None,
        keep: str | None = None,
        slice_seconds: float | None = None,
        tenant: str | None = None,
        progress: Callable[[int], None] = lambda done: None,
    ) -> Collected:
        """Collect garbage: retire what collectors choose, then drop what lies behind the horizon, a slice at a time.

        Args:
            dry_run: Only say what would be retired, and why.
            collectors: Who chooses, by name; left out, the setting `collectors`.
            keep: How much of the past stays: `all`, `30 days`, `10000 commits`; left out, the setting `keep_past`.
            slice_seconds: How long one slice may keep a writer waiting, about.
            progress: Called after each slice with how much it dealt with.

        Raises:
            Invalid: a name or a span cannot be taken.
        """
        import_whole("mnemic.collecting.housekeeping")
        from mnemic.collecting.housekeeping import gc, plan_for, read_past

        slices = {} if slice_seconds is None else {"slice_seconds": slice_seconds}
        past = None if keep is None else read_past(keep)
        named = {"collectors": collectors, "keep": past, "dry_run": dry_run}
        plan = plan_for(self._opened.settings, tenant, **named, **slices)  # type: ignore[arg-type]
        return gc(self._store, self._opened.kernel.desk, self._opened.answering.perform, plan, progress)

    def log(
        self, *, limit: int = 20, after: int | str = 0, newest: bool = True, tenant: str | None = None
    ) -> Listing[Change]:
        """A tenant's commits that are in no user's journal: what collecting dropped and freed, where the past begins.

        Args:
            after: Only commits after this seq; or the `next` of the page before, to go on from it.
            newest: The last ones, newest first.
        """
        name = tenant or self._opened.settings.tenant
        with self._store.read() as snapshot:
            number = snapshot.tenant(name)
            if number is None:
                return Listing()
            commits = partial(snapshot.spaceless_commits, number, newest=newest)
            return log_page(commits, limit, after, Cursors(repr(("log", name, newest)), 2), newest=newest)

    def hold(
        self,
        *,
        user: str | Shared | None = None,
        item: ItemId | None = None,
        session: str | None = None,
        whole: bool = False,
        reason: str = "",
        actor: str = "admin",
        tenant: str | None = None,
    ) -> int:
        """Set a legal hold on a user, an item or session of theirs, or all of a tenant: nothing of it is taken out.

        Erasing it is refused, collectors pass it by, and the horizon does not pass the commit at which it was set.

        Args:
            whole: All of the tenant, in place of one user.

        Returns:
            Its number, which `release_hold` takes.

        Raises:
            Invalid: neither a user nor `whole` is said, or both are.
            NotFound: there is no such tenant, user, item or session.
        """
        import_whole("mnemic.collecting.housekeeping")
        from mnemic.collecting.housekeeping import hold

        if whole and (user, item, session) != (None, None, None):
            raise Invalid("user", "comes with whole=True", "Say just one of them.")
        if not whole and (user, item, session) == (None, None, None):
            raise Invalid("user", "is missing", "Say whose memory is to be held, or whole=True for all of the tenant.")
        of = tenant or self._opened.settings.tenant
        if self._opened.settings.mask_secrets:
            refuse_secrets({"user": user, "session": session, "actor": actor, "tenant": of})
            reason = mask(reason)[0]
        order = Hold(tenant=of, user=user, item=item, session=session, reason=reason, actor=actor)
        return hold(self._store, self._opened.settings, order)

    def holds(self, *, tenant: str | None = None, limit: int = LISTED, after: str | None = None) -> Listing[Hold]:
        """The legal holds, the oldest first, a page at a time.

        Args:
            after: The `next` of the page before.
        """
        name = tenant or self._opened.settings.tenant
        cursors = Cursors(repr(("holds", name)), 1)
        (past,) = (0,) if after is None else cursors.read(after)
        with self._store.read() as snapshot:
            number = snapshot.tenant(name)
            held_items = [] if number is None else snapshot.holds(number, past, limit + 1)
        return one_page(held_items, limit, lambda last: cursors.write(last.id))

    def release_hold(self, hold: int, *, tenant: str | None = None) -> None:
        """Release a legal hold."""
        name = tenant or self._opened.settings.tenant
        self._store.transact(holds.lift, name, hold)

    def compact(self, horizon: int, *, tenant: str | None = None) -> int:
        """Drop versions closed at or before commit `horizon`; the past behind it can no longer be asked for."""
        return compaction.compact(self._store, tenant or self._opened.settings.tenant, horizon)

    def doctor(self) -> list[Check]:
        """Look at what the store stands on: engine, settings, disk, permissions, and whether vectors lack traits."""
        return [*self._store.doctor(), *self._trait_check()]

    def _trait_check(self) -> Iterator[Check]:
        try:
            lacking = sum(self._opened.meaning.lacking_traits().values())
        except (ModelError, StoreError):
            return  # what it would tell is not known; why it fails is said where it is asked in earnest
        if lacking:
            who, theirs = ("vector has", "it its own") if lacking == 1 else ("vectors have", "them theirs")
            found = f"{lacking:,} {who} none yet: `mnemic reindex` gives {theirs}"
            yield Check(name="traits", ok=True, found=found)


def _users_page(
    snapshot: Snapshot, place: tuple[int, int], limit: int, cursors: Cursors, tenant: int | None = None
) -> Listing[UserStats]:
    owners = snapshot.owners(place, limit + 1, tenant=tenant)
    page = one_page(owners, limit, lambda last: cursors.write(last.tenant, last.number))
    return Listing(_user_stats(snapshot, page.items), page.next)


def _user_stats(snapshot: Snapshot, heads: Sequence[SpaceHead]) -> tuple[UserStats, ...]:
    counts = snapshot.owned_counts([head.id for head in heads])
    return tuple(
        UserStats(
            tenant=snapshot.tenant_name(head.tenant), user=None if isinstance(head.user, Shared) else head.user,
            items=counts[head.id][0], commits=head.seq, branches=counts[head.id][1],
        )
        for head in heads
    )  # fmt: skip


def _strategy_behind(
    snapshot: Snapshot, strategy: Strategy, dead: Mapping[bytes, int], by_default: Sequence[str]
) -> Behind:
    name = strategy.name
    followers = [place for place in snapshot.backlog(name) if follows(snapshot, place[0], name, by_default)]
    begun = {place: awaiting_more(snapshot, strategy, place[0]) for place in followers}
    waiting = [place for place, more in begun.items() if more is None]
    behind, passages = _behind(snapshot, name, "", waiting, dead), snapshot.pending(waiting)
    pending = sum(evidence_left(snapshot, strategy, place, passages.get(place[0], 0)) for place in waiting)
    unfinished = [more for more in begun.values() if more is not None]
    lacks = unfinished[0].lacks if len(unfinished) == 1 else ""
    return replace(behind, pending=pending, begun=sum(more.items for more in unfinished), lacks=lacks)


def _lost_behind(
    snapshot: Snapshot, name: str, dead: Mapping[bytes, int], by_default: Sequence[str], why: str
) -> Behind:
    """Count what waits for a strategy that is followed and not known here."""
    followers = [place for place in snapshot.backlog(name) if follows(snapshot, place[0], name, by_default)]
    return _behind(snapshot, name, "", followers, dead, why)


def _behind(
    snapshot: Snapshot,
    lane: str,
    embedder: str,
    waiting: Sequence[tuple[int, int, int]],
    dead: Mapping[bytes, int],
    trouble: str = "",
) -> Behind:
    pending, spaces = sum(snapshot.pending(waiting).values()), {space for space, _, _ in waiting}
    errors = (error for space, error in snapshot.failing(lane) if space in spaces) if spaces else iter(())
    error = next(errors, "") or (trouble if pending else "")
    return Behind(lane=lane, embedder=embedder, pending=pending, error=error, dead=dead.get(lane.encode(), 0))


def _first_failure(snapshot: Snapshot, lane: str) -> str:
    """Find why an embedder never answered, as whichever process asked it noted at one space."""
    return next((error for _, error in snapshot.failing(EMBED)), "") if lane == EMBED else ""


def restore(
    backup: str | Path,
    into: str | Path,
    *,
    without_tombstones: bool = False,
    to: int | When | None = None,
    tenant: str = "default",
    settings: Settings | None = None,
) -> int:
    """Put a backup in a store's place and erase again what that store had erased since; returns how many items.

    Args:
        backup: A file, or the name of a checkpoint of the store that it goes into.
        to: The commit of `tenant`, or the recorded moment, that the copy is brought back to first; None for its last.

    Raises:
        NotFound: there is no such file and no such checkpoint.
        Invalid: there is no store to take tombstones from, and `without_tombstones` does not say that this is known.
        Refused: that store holds something under a legal hold that the backup has not.
        StoreLocked: this process or another has the store open.
    """
    import_whole("mnemic.store.offline")
    from mnemic.store.offline import replace_store, source_of

    dest = real_path(into)
    source = source_of(backup, dest)
    back = None if to is None else going_back(to, tenant, settings or Settings(), SystemClock().now())
    seal = seal_key(settings.seal) if settings else b""
    return replace_store(source, dest, without_tombstones=without_tombstones, then=back, seal=seal)


def move(
    source: str,
    dest: str,
    tenants: Sequence[str] = (),
    *,
    settings: Settings | None = None,
    progress: Progress = lambda what, done, of: None,
    probe: Probe = lambda point: None,
) -> Iterator[MovedTenant]:
    """Move tenants to another store, of the same kind or another, and tell of each when it is there.

    Vectors, lanes, windows, jobs, holds and access keys come along; nothing is embedded or understood anew. The source
    keeps all as it was. Cut short at any moment, the other store shows no half of a tenant, and a second run goes on.

    Args:
        source, dest: Paths or URLs; the store that is moved to is made if it is not there.
        tenants: Which ones; left out, all that the source has.

    Raises:
        NotFound: there is no such store or tenant to move from.
        Conflict: a tenant is there already, or was written to while it was moved.
    """
    given = settings or Settings()
    path = path_of(source)
    if path is not None and not path.exists():
        raise NotFound(f"there is no store at {path} to move from")
    import_whole("mnemic.store.moving")
    from mnemic.store.moving import move_tenant, tenants_of

    with closing(_opened(source, given, create=False)) as old, closing(_opened(dest, given, create=True)) as new:
        for name in tenants or tenants_of(old):
            yield move_tenant(old, new, name, progress=progress, probe=probe)


def _opened(where: str, settings: Settings, *, create: bool) -> NamedStore:
    options = {"create": create, "seal": seal_key(settings.seal) if settings.seal else b""}
    taken = {name: value for name, value in options.items() if name in options_of(where)}
    return cast("NamedStore", open_at(where, SystemClock(), SystemEntropy(), settings.busy_timeout, **taken))


def faults_of(store: str | Path, settings: Settings) -> list[Fault]:
    """Check a store that cannot be opened since something is wrong with it, as `Admin.verify` does one that is open."""
    import_whole("mnemic.store.offline")
    from mnemic.store import offline

    return offline.faults_of(real_path(store), seal_key(settings.seal) if settings.seal else b"")


def seal(store: str | Path, settings: Settings) -> None:
    """Seal a store that has no seal with the key that the setting `seal` names, as it stands, if it is sound.

    From then on every program that writes to it needs that setting. A store that is new with it is sealed at once.

    Raises:
        Invalid: the setting names no key.
        StoreCorrupt: something is wrong with the store, or it is sealed already.
    """
    import_whole("mnemic.store.offline")
    from mnemic.store.offline import seal_store

    if not settings.seal:
        raise Invalid("seal", "is empty", "Name a file with the key, or `!` and a command that prints it.")
    seal_store(real_path(store), seal_key(settings.seal))
