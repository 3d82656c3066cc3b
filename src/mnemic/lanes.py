"""What follows a write: one slice of a lane at a time, as flows. A lane is a cursor over a space's versions.

Two lanes follow every space. `house` reads evidence by rules and writes what these find: standing instructions and the
profile, each citing its source. `embed:<model>` gives every passage its vector. A slice claims its lane, reads what
lies past the cursor, and moves the cursor in the same transaction that keeps what came of it, so that nothing is done
twice and nothing is lost, whoever is killed when.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby, islice, takewhile
from typing import TYPE_CHECKING, Final

from mnemic.core.clock import micros
from mnemic.core.events import Verb
from mnemic.core.items import Item, Kind, Link, State, Version
from mnemic.core.passages import passage_texts
from mnemic.core.scope import Shared
from mnemic.errors import Conflict, MnemicError, NotFound
from mnemic.flow import Flow
from mnemic.models.requests import embed
from mnemic.store.base import Advance, Draft, Lane, Op, Put, Snapshot, Tie, VectorRow, Vectors, embedding_lane
from mnemic.store.requests import claim, commit, keep, look, release
from mnemic.undoing import SUPERSEDES
from mnemic.writing import Desk, closed_by

if TYPE_CHECKING:
    from mnemic.core.ids import ItemId
    from mnemic.strategies.house import Derivation

HOUSE: Final = "house"
"""The lane of the strategy `house`."""

DERIVER: Final = "mnemic"
"""Who acts, for the journal, where nobody asked for it."""

LEASE_SECONDS: Final = 60.0
"""How long a slice may take before another worker may claim its lane."""

EMBED_PARTS: Final = 64
"""Most passages of one slice: about a second's work, so that little is done again after a kill."""

HOUSE_VERSIONS: Final = 500
"""Most versions that one slice reads by rules."""

KNOWN: Final = 10_000
"""Most standing instructions and profile facts of one space that rules compare with."""

BACKOFF_SECONDS: Final = (1, 2, 5, 15, 60)
"""How long a lane waits after its first, second ... failure in a row."""


@dataclass(frozen=True, slots=True)
class Slice:
    """What one slice did.

    Attributes:
        done: How many passages or versions it dealt with.
        busy: Another worker has the lane, or it waits after a failure.
    """

    done: int = 0
    busy: bool = False


BUSY: Final = Slice(busy=True)


def embed_slice(space: int, model: int, owner: str, now: int) -> Flow[Slice]:
    """Give the passages past the cursor their vectors.

    Raises:
        ModelError: the embedder failed; the lane waits, and nothing is lost.
    """
    name = embedding_lane(model)
    lane = yield from claim(space, name, owner, LEASE_SECONDS)
    if lane is None:
        return BUSY
    limit = max(1, EMBED_PARTS >> lane.attempt)
    found = yield from look(lambda s: _unembedded(s, space, model, lane.cursor, limit))
    try:
        vectors = (yield from embed(model, [text for _, _, text in found.passages])) if found.passages else []
    except MnemicError as error:
        yield from release(space, name, owner, error=str(error), not_before=now + _backoff(lane))
        raise
    rows = tuple(VectorRow(ver, part, v) for (ver, part, _), v in zip(found.passages, vectors, strict=True))
    batch = Vectors(space=space, model=model, rows=rows, lane=name, owner=owner, after=lane.cursor, upto=found.upto)
    try:
        yield from keep(batch)
    except (Conflict, NotFound):
        return BUSY  # the lease ran out and somebody else went on, or the space was erased meanwhile
    yield from release(space, name, owner)
    return Slice(done=max(1, len(found.passages)))


@dataclass(frozen=True, slots=True)
class _Unembedded:
    """Passages without a vector: (ver, part, text), and how far they reach."""

    passages: list[tuple[int, int, str]]
    upto: int


def _unembedded(snapshot: Snapshot, space: int, model: int, cursor: int, limit: int) -> _Unembedded:
    """At least one whole version; at most about `limit` passages."""
    vers = _next_vers(snapshot, space, cursor, limit)
    if not vers:
        return _Unembedded([], cursor)
    ahead = snapshot.vectors(space, model, cursor)
    have = {(row.ver, row.part) for row in takewhile(lambda row: row.ver <= vers[-1], ahead)}
    versions = snapshot.versions(space, vers)
    passages = [
        (ver, part, text)
        for ver in vers
        if ver in versions
        for part, text in enumerate(passage_texts(versions[ver].item))
        if (ver, part) not in have
    ]
    return _Unembedded(passages, vers[-1])


def _next_vers(snapshot: Snapshot, space: int, cursor: int, limit: int) -> list[int]:
    """The next versions, as many as have about `limit` parts."""
    ahead = islice(snapshot.entries(space, cursor), limit)
    return [ver for ver, _ in groupby(entry.ver for entry in ahead)]


def _backoff(lane: Lane) -> int:
    return BACKOFF_SECONDS[min(lane.attempt, len(BACKOFF_SECONDS) - 1)] * 1_000_000


def house_slice(desk: Desk, space: int) -> Flow[Slice]:
    """Read the evidence past the cursor by rules, and write what they find, each with its evidence.

    No lease: it takes milliseconds, and of two workers that did the same the second is refused by the cursor.
    """
    work = yield from look(lambda s: _undigested(s, space, desk.clock.now()))
    if work is None:
        return BUSY
    draft = derived(desk, work)
    try:
        yield from commit(draft)
    except Conflict:
        return BUSY  # somebody else went on, or changed what this rests on: it is read again from where they left it
    return Slice(done=work.count)


@dataclass(frozen=True, slots=True)
class Undigested:
    """Evidence that rules have not read.

    Attributes:
        known: What stands of what was derived, or said of the same things.
        step: Where the lane stands, and where it stands then.
        count: How many versions the step covers.
    """

    tenant: str
    user: str | Shared
    evidence: tuple[Item, ...]
    known: tuple[Version, ...]
    step: Advance
    count: int


def house_failed(space: int, owner: str, now: int, error: str) -> Flow[None]:
    """Have the rules' lane of a space wait, and say why."""
    if (lane := (yield from claim(space, HOUSE, owner, LEASE_SECONDS))) is not None:
        yield from release(space, HOUSE, owner, error=error, not_before=now + _backoff(lane))


def _undigested(snapshot: Snapshot, space: int, now: int) -> Undigested | None:
    """The next evidence of a space; None for a space that is gone, that has none left, or whose lane waits.

    What was said to all users at once instructs none of them. A turn that something was derived from was read before:
    it is here again because it was pinned, say.
    """
    (head,) = snapshot.spaces((space,))
    lane = snapshot.lane(space, HOUSE)
    vers = _next_vers(snapshot, space, lane.cursor, HOUSE_VERSIONS)
    if head.user is None or not vers or lane.not_before > now:
        return None
    versions = {} if isinstance(head.user, Shared) else snapshot.versions(space, vers)
    turns = [v.item for v in versions.values() if v.seq_to is None and _is_said(v.item)]
    spent = {
        i
        for v in snapshot.standing((space,), snapshot.derived(space, [i.id for i in turns])).values()
        for i in v.item.source
    }
    return Undigested(
        tenant=dict(snapshot.tenants())[head.tenant],
        user=head.user,
        evidence=tuple(sorted((i for i in turns if i.id not in spent), key=lambda item: item.said)),
        known=tuple(snapshot.core((space,), limit=KNOWN)),
        step=Advance(name=HOUSE, owner=lane.owner, after=lane.cursor, upto=vers[-1]),
        count=len(vers),
    )


def _is_said(item: Item) -> bool:
    return item.kind is Kind.TURN and item.state is State.ACTIVE


def derived(desk: Desk, work: Undigested) -> Draft:
    """The commit of what rules find: what they write, what that takes the place of, and the step of the lane."""
    from mnemic.strategies.house import digest

    known = {version.item.id: version for version in work.known}
    found = digest(work.evidence, [version.item for version in work.known], str(work.user))
    evidence = {item.id: item for item in work.evidence}
    fresh = [_derived_item(desk, d, evidence[d.source[0]]) for d in found]
    closed: dict[ItemId, Item] = {}
    ties: list[Op] = []
    for newer, d in zip(fresh, found, strict=True):
        for ref in ([] if d.supersedes is None else [d.supersedes]) + list(d.revokes):
            older = fresh[ref] if isinstance(ref, int) else known[ref].item
            closed[older.id] = closed_by(older, newer)
            ties.append(Tie(verb=Verb.LINKED, link=Link(src=newer.id, dst=older.id, type=SUPERSEDES)))
    puts = [desk.put(Verb.WROTE, closed.get(i.id, i), key=d.key) for i, d in zip(fresh, found, strict=True)]
    ends = [Put(verb=Verb.SUPERSEDED, item=item, terms=None) for id, item in closed.items() if id in known]
    return Draft(
        tenant=work.tenant,
        user=work.user,
        actor=DERIVER,
        ops=(*puts, *ends, *ties),
        expect={id: known[id].seq_from for id in closed if id in known},
        lane=work.step,
    )


def _derived_item(desk: Desk, d: Derivation, evidence: Item) -> Item:
    """It belongs to the user and the agent it was said to, not to the session it was said in."""
    return Item(
        id=desk.fresh_id(),
        kind=d.kind,
        text=d.text,
        slots=d.slots,
        source=d.source,
        said=d.said,
        said_offset=d.said_offset,
        valid_from=d.valid_from,
        agent=evidence.agent,
        pos=micros(d.said),
    )
