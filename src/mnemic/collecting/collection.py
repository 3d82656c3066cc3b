"""Garbage collection, one slice at a time, as flows: collectors choose, ordinary commits retire, compaction drops.

What collectors take is retired in commits like any other, each with an event that says who chose, why, and for which
trigger: `undo` brings it back until the horizon has passed. Then the horizon moves as far as the retention allows, and
what lies behind it goes for good, slice by slice. What a run did is journaled as one event, by `conclude`.
"""

from __future__ import annotations

import json
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from mnemic.collecting.surveying import rested_on, survey, used_by_others
from mnemic.core.clock import micros
from mnemic.core.events import Verb
from mnemic.core.ids import ItemId
from mnemic.core.items import State, Version
from mnemic.core.queries import Filter, View
from mnemic.core.scope import Shared
from mnemic.core.transitions import retired
from mnemic.errors import Conflict, Refused
from mnemic.flow import Flow
from mnemic.lanes.slices import DERIVER, Slice
from mnemic.registry import COLLECTORS, load
from mnemic.settings import Settings
from mnemic.store.engine.codec import canonical
from mnemic.store.engine.compaction import SLICE_SECONDS, enter, jot, move
from mnemic.store.engine.snapshot import Snapshot
from mnemic.store.requests import commit, look, sweep, transact
from mnemic.store.values.drafts import Draft, Note, Op, Put
from mnemic.store.values.heads import SpaceHead
from mnemic.store.values.receipts import Swept
from mnemic.tiers.collectors.base import Choice, Collector, chosen, in_layers
from mnemic.tiers.retention import RetainedPast, Retention
from mnemic.tiers.schedule import Bandit, Measures, Thresholds, firing, reward
from mnemic.writing import Desk

ASKED: Final = "asked"
"""The trigger of a run that somebody asked for."""

MEMO: Final = "collecting"
"""The name of the fact that is kept from run to run: when the last one ended, how big the store was, what paid."""

BATCH: Final = 64
"""Most items that one commit retires: some milliseconds of the writer's time."""

_OWN: Final = (Verb.COLLECTED, Verb.COMPACTED)
"""What a commit of collecting notes: that it retired, moved the horizon, or tells of a run."""

_DONE: Final = Slice()


def collectors_named(names: Sequence[str]) -> tuple[Collector, ...]:
    """Load collectors by their names in the registry.

    Raises:
        Invalid: none goes by a name.
    """
    return tuple(load(COLLECTORS, name)() for name in names)


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionPlan:
    """The order for a garbage collection run: whose, by which collectors, how much of the past stays.

    Attributes:
        past: How much of the journal is kept; with all of it nothing is dropped. Commits of collecting do not count.
        seconds: How long one slice may keep a writer waiting, about.
        choose_only: Stop once it is known what would be taken.
    """

    tenant: str
    collectors: tuple[Collector, ...]
    retention: Retention = field(default_factory=Retention)
    past: RetainedPast = field(default_factory=RetainedPast)
    trigger: str = ASKED
    seconds: float = SLICE_SECONDS
    choose_only: bool = False


@dataclass(frozen=True, slots=True)
class Taken:
    """An item that a collector retired, or would retire: its user, the collector and the reason."""

    user: str | None
    id: ItemId
    collector: str
    reason: str


@dataclass(slots=True)
class Collection:
    """The state of a garbage collection run: its plan, its progress, what it has done so far.

    Attributes:
        taken: What was retired, or with `choose_only` what would be.
        passed: What was chosen, and left because meanwhile it changed, was held, or something came to rest on it.
        unknown: Retention classes that tags name and the settings do not, by how many items do.
        horizon: Where the horizon stands now, and where it stood before.
        held_back: What kept the horizon from going as far as the retention allows; "" for nothing.
        pauses: Seconds that each slice had the write lock: the most that it may have kept a writer waiting.
        seq: The commit that journals the run; None while it has done nothing.
    """

    plan: CollectionPlan
    taken: list[Taken] = field(default_factory=list)
    passed: int = 0
    unknown: Counter[str] = field(default_factory=Counter)
    horizon: tuple[int, int] = (0, 0)
    held_back: str = ""
    swept: Swept = field(default_factory=Swept)
    pauses: list[float] = field(default_factory=list)
    done: bool = False
    seq: int | None = None
    _spaces: deque[SpaceHead] | None = None
    _batches: deque[tuple[SpaceHead, str, list[Choice]]] = field(default_factory=deque)
    _seen: dict[ItemId, int] = field(default_factory=dict)
    """The commits of which what was chosen, and its heirs, stood then."""
    _commits: int = 0
    """How many commits would retire what would be taken."""
    _versions: int = 0
    """How many versions those would close or retire: of each item two, and one of its heir."""
    _moved: bool = False
    _dropped: bool = False


def collect_slice(desk: Desk, run: Collection) -> Flow[Slice]:
    """Run one slice of a collection, with the write lock for about the plan's `seconds`; do nothing once `run.done`."""
    if run.done:
        return _DONE
    if run._spaces is None:
        run._spaces = deque((yield from look(lambda s: _owned(s, run.plan.tenant))))
    if run._batches:
        return (yield from _retire(desk, run))
    if run._spaces:
        return (yield from _choose(desk, run, run._spaces.popleft()))
    if run.plan.choose_only:
        run.done = True
        return (yield from _foresee(desk, run))
    if not run._moved:
        return (yield from _move(desk, run))
    if not run._dropped:
        return (yield from _drop(run))
    run.done = True
    return _DONE


def _owned(snapshot: Snapshot, name: str) -> list[SpaceHead]:
    """List users' own spaces: a branch is its owner's to drop."""
    tenant = snapshot.tenant(name)
    heads = [] if tenant is None else snapshot.all_spaces(tenant)
    return [head for head in heads if head.user is not None and not head.branch]


def _choose(desk: Desk, run: Collection, head: SpaceHead) -> Flow[Slice]:
    if not run.plan.collectors:
        return Slice(done=1)
    ground = yield from survey(head, run.plan.retention, desk.clock.now())
    run.unknown.update(name for item in ground.items.values() for name in ground.retention.unknown(item.tags))
    by_collector = chosen(run.plan.collectors, ground)
    if isinstance(head.user, Shared):
        wanted = [choice.id for choices in by_collector.values() for choice in choices]
        used = yield from used_by_others(head.tenant, wanted)
        ground = replace(ground, keep_reasons={**ground.keep_reasons, **used})
        by_collector = chosen(run.plan.collectors, ground)
    for name, choices in in_layers(by_collector, ground):
        if run.plan.choose_only:
            run.taken += _taken(head, name, choices)
            run._commits += -(-len(choices) // BATCH)
            run._versions += sum(2 if choice.heir is None else 3 for choice in choices)
        else:
            run._batches += ((head, name, choices[at : at + BATCH]) for at in range(0, len(choices), BATCH))
            run._seen |= {item: ground.items[item].seq for item in _named(choices)}
    return Slice(done=max(1, len(ground.items)))


def _named(choices: Sequence[Choice]) -> list[ItemId]:
    """List the chosen items and their heirs."""
    return [item for choice in choices for item in (choice.id, choice.heir) if item is not None]


def _taken(head: SpaceHead, collector: str, choices: Sequence[Choice]) -> Iterator[Taken]:
    user = head.user if isinstance(head.user, str) else None
    return (Taken(user, choice.id, collector, choice.reason) for choice in choices)


def _retire(desk: Desk, run: Collection) -> Flow[Slice]:
    """Retire a batch; on a conflict its halves are tried later, and a single item that has changed is passed over."""
    head, name, choices = run._batches.popleft()
    draft, going = yield from look(lambda s: _draft(s, run, head, name, choices))
    run.passed += len(choices) - len(going)
    if not going:
        return Slice(done=len(choices))
    try:
        done = yield from commit(draft)
    except Conflict:
        if len(going) == 1:
            run.passed += 1
        else:
            run._batches.extendleft((head, name, half) for half in (going[len(going) // 2 :], going[: len(going) // 2]))
        return Slice(done=len(choices))
    run.taken += _taken(head, name, going)
    run._seen |= dict.fromkeys(draft.expect, done.seq)  # an heir of this batch may be one of the next
    return Slice(done=len(choices))


def _draft(
    snapshot: Snapshot, run: Collection, head: SpaceHead, collector: str, choices: Sequence[Choice]
) -> tuple[Draft, list[Choice]]:
    """Draft the commit that retires the items still unchanged and free; heirs get their sources, a note the reasons."""
    assert head.user is not None
    ids = [choice.id for choice in choices]
    # What cites these, and goes itself, has gone by now.
    kept = {*snapshot.reasons_to_keep(head.tenant, head.id, ids), *rested_on(snapshot, head.id, ids)}
    standing = snapshot.standing((head.id,), _named(choices))
    same = {item for item, version in standing.items() if version.seq_from == run._seen[item]}
    going = [c for c in choices if c.id not in kept and same.issuperset(_named([c]))]
    puts: list[Op] = [Put(verb=Verb.RETIRED, item=retired(standing[c.id].item), terms=None) for c in going]
    heirs = _inherited(standing, going)
    puts += (Put(verb=Verb.REVISED, item=version.item, terms=None) for version in heirs.values())
    payload = {"collector": collector, "trigger": run.plan.trigger, "items": len(going)}
    reasons = {choice.id: choice.reason for choice in going}
    note = Note(verb=Verb.COLLECTED, payload=canonical({**payload, "reasons": reasons}))
    expect = {item: standing[item].seq_from for item in (*(choice.id for choice in going), *heirs)}
    tenant = dict(snapshot.tenants())[head.tenant]
    return Draft(
        tenant=tenant, user=head.user, actor=DERIVER, ops=(*puts, note), expect=expect,
        uncited=frozenset(choice.id for choice in going),
    ), going  # fmt: skip


def _inherited(standing: Mapping[ItemId, Version], going: Sequence[Choice]) -> dict[ItemId, Version]:
    """Add the sources of retired items to those of their heirs."""
    heirs: dict[ItemId, Version] = {}
    for choice in going:
        if choice.heir is not None and choice.heir in standing:
            heir = heirs.get(choice.heir, standing[choice.heir])
            source = tuple(dict.fromkeys((*heir.item.source, *standing[choice.id].item.source)))
            if source != heir.item.source:
                heirs[choice.heir] = replace(heir, item=replace(heir.item, source=source))
    return heirs


def _move(desk: Desk, run: Collection) -> Flow[Slice]:
    """Move the horizon as far as the retention allows and nothing holds it back."""
    run._moved = True
    now = desk.clock.now()
    stands, wanted, (floor, why) = yield from look(lambda s: _wanted(s, run.plan, now))
    run.horizon = stands, stands
    if wanted > floor:
        run.held_back = why
    upto = min(wanted, floor)
    if upto > stands:
        try:
            yield from transact(move, run.plan.tenant, upto)
            run.horizon = stands, upto
        except Refused as error:
            run.held_back = str(error)  # a branch or a hold came between the look and the deed
    run._dropped = not run.horizon[1]
    return Slice(done=1)


def _foresee(desk: Desk, run: Collection) -> Flow[Slice]:
    """Foresee the horizon's move and count the versions behind it, which is the most that would be dropped."""
    now = desk.clock.now()
    stands, wanted, (floor, why) = yield from look(lambda s: _wanted(s, run.plan, now))
    upto = max(stands, min(wanted, floor))
    run.horizon, run.held_back = (stands, upto), why if wanted > floor else ""
    versions = (yield from look(lambda s: _behind(s, run.plan.tenant, upto))) if upto else 0
    if run.plan.past.nothing and wanted <= floor:  # what it retires lies behind the horizon in the same run
        run.horizon = stands, upto + run._commits
        versions += run._versions
    run.swept = Swept(versions=versions)
    return _DONE


def _behind(snapshot: Snapshot, name: str, upto: int) -> int:
    """Count the versions that were closed, or retired, at or before a commit."""
    tenant = snapshot.tenant(name)
    count = 0
    for head in [] if tenant is None else snapshot.all_spaces(tenant):
        count += sum(1 for _, ended in snapshot.closed(head.id, 0) if ended <= upto)
        if not head.branch:
            count += snapshot.count((head.id,), Filter(states=(State.RETIRED,)), View(at=upto))
    return count


def _wanted(snapshot: Snapshot, plan: CollectionPlan, now: int) -> tuple[int, int, tuple[int, str]]:
    """Find the horizon, the commit where the retention wants it, and the floor it may not pass, with the reason."""
    tenant = snapshot.tenant(plan.tenant)
    if tenant is None:
        return 0, 0, (0, "")
    head = snapshot.head(tenant)
    wanted = head.horizon
    if plan.past.commits is not None:
        wanted = max(wanted, _before_last(snapshot, tenant, plan.past.commits))
    if plan.past.span is not None and now > plan.past.span:
        wanted = max(wanted, snapshot.seq_at(tenant, now - plan.past.span))
    return head.horizon, wanted, snapshot.floor(tenant)


def _before_last(snapshot: Snapshot, tenant: int, commits: int) -> int:
    """Find the commit before the last `commits`; those of collecting are kept along with them, and do not count."""
    head = snapshot.head(tenant)
    before = head.seq - commits
    for seq in reversed(snapshot.note_seqs(tenant, _OWN, head.horizon)):
        if seq <= before:
            break
        before -= 1
    return max(head.horizon, before)


def _drop(run: Collection) -> Flow[Slice]:
    swept = yield from sweep(run.plan.tenant, run.plan.seconds)
    run._dropped = not swept.more
    run.pauses.append(swept.seconds)
    total = run.swept
    counts = {name: getattr(total, name) + getattr(swept, name) for name in _COUNTS}
    run.swept = replace(total, seconds=total.seconds + swept.seconds, **counts)
    return Slice(done=max(1, sum(getattr(swept, name) for name in _COUNTS)))


_COUNTS: Final = ("versions", "links", "events", "names", "pages")


def _record(run: Collection) -> dict[str, object]:
    counts = {name: getattr(run.swept, name) for name in _COUNTS}
    pause = round(1000 * max(run.pauses, default=0.0), 3)
    return {
        "trigger": run.plan.trigger,
        "collected": dict(sorted(Counter(taken.collector for taken in run.taken).items())),
        "horizon": run.horizon[1],
        **counts,
        "slices": len(run.pauses),
        "pause_ms": pause,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionMemo:
    """What a run leaves for the next: when it ended (microseconds), the store's bytes then, which triggers paid."""

    at: int = 0
    bytes: int = 0
    bandit: Bandit = field(default_factory=Bandit)


def recalled(tenant: str) -> Flow[CollectionMemo]:
    """Read the memo that the last run left."""
    raw = yield from look(lambda s: None if (n := s.tenant(tenant)) is None else s.memo(n, MEMO))
    if raw is None:
        return CollectionMemo()
    kept = json.loads(raw)
    return CollectionMemo(at=kept["at"], bytes=kept["bytes"], bandit=Bandit.from_state(kept["paid"]))


def conclude(desk: Desk, run: Collection, before: CollectionMemo, bytes_before: int, bytes_after: int) -> Flow[None]:
    """Journal a finished run and update the memo: a trigger is worth what its runs freed, less their pauses.

    A run that did nothing is not journaled, and one that was asked for leaves no trace then.
    """
    did = run.taken or any(getattr(run.swept, name) for name in _COUNTS)
    if run.plan.trigger != ASKED:
        before.bandit.learn(run.plan.trigger, reward(bytes_before - bytes_after, run.swept.seconds))
    elif not did:
        return
    kept = {MEMO: canonical({"at": desk.clock.now(), "bytes": bytes_after, "paid": before.bandit.state()})}
    if not did:
        yield from transact(jot, run.plan.tenant, kept)
        return
    payload = canonical({**_record(run), "freed": bytes_before - bytes_after})
    tenant = run.plan.tenant
    run.seq = yield from transact(enter, tenant, Verb.COLLECTED, payload, kept)


def _first(snapshot: Snapshot, name: str) -> int:
    """Find the time of a tenant's oldest commit still in the journal (microseconds)."""
    tenant = snapshot.tenant(name)
    first = [] if tenant is None else snapshot.changes(tenant, 0, 1)
    return micros(first[0].at) if first else 0


def due(desk: Desk, tenant: str, size: int, free: int, idle: float) -> Flow[str | None]:
    """Choose the trigger by which a run should begin now, if any: `size` and `free` are the store's bytes."""
    now, record = desk.clock.now(), (yield from recalled(tenant))
    counts = yield from look(lambda s: None if (n := s.tenant(tenant)) is None else s.version_counts(n))
    if counts is None or not counts.versions:
        return None
    began = record.at or (yield from look(lambda s: _first(s, tenant)))
    measures = Measures(
        since=max(0, now - began) / 1e6,
        dead=(counts.closed + counts.retired) / counts.versions,
        free=free / max(1, size),
        grown=max(0.0, size / record.bytes - 1) if record.bytes else 0.0,
        idle=idle,
    )
    return record.bandit.pick(firing(measures, _thresholds(desk.settings).triggers()), seed=now)


def _thresholds(settings: Settings) -> Thresholds:
    return Thresholds(
        seconds=settings.gc_seconds, share=settings.gc_share, growth=settings.gc_growth, idle=settings.gc_idle
    )
