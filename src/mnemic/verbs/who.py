"""Who asks, of which past; which spaces they may read, which items they name, and the draft of what they write."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, TypeVar

from mnemic.core.checking import text_field, whole
from mnemic.core.events import Receipt
from mnemic.core.ids import ItemId
from mnemic.core.items import Item, Kind, State, Strength, Version
from mnemic.core.listing import Cursors
from mnemic.core.queries import Filter, View
from mnemic.core.scope import Scope, Shared
from mnemic.core.transitions import last_open, reopened
from mnemic.derive.strategy_lane import house_slice
from mnemic.derive.unread import NOTHING, FarBehind, Underived
from mnemic.errors import Conflict, Invalid, NotFound, Refused, Stale, StoreReadOnly
from mnemic.flow import Flow
from mnemic.lanes.following import follows
from mnemic.lanes.slices import HOUSE
from mnemic.store.engine.snapshot import Snapshot
from mnemic.store.requests import Commit, Look, commit, look
from mnemic.store.values.drafts import Draft, Erasure, Op
from mnemic.store.values.heads import SpaceHead
from mnemic.store.values.prompt_messages import PromptMessage

if TYPE_CHECKING:
    from mnemic.derive.unread import UnreadRules
    from mnemic.store.values.drafts import Paging
    from mnemic.writing import Desk

T = TypeVar("T")

_NOW: Final = View()

_PAGE: Final = 1_000
"""Versions that are read at once."""

TRIES: Final = 1_000
"""How often a transaction is thought again because others wrote meanwhile; one of them got through each time."""


# Who asks, and what they may read


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """Which past a handle reads: a commit or a moment for `at`, moments (microseconds) for the others."""

    at_seq: int | None = None
    at_moment: int | None = None
    as_of: int | None = None
    valid_at: int | None = None

    @property
    def is_now(self) -> bool:
        return self == Past()


@dataclass(frozen=True, slots=True, kw_only=True)
class Who:
    """Whose memory, on which branch of it, seen from which moment, by whom."""

    scope: Scope
    actor: str
    past: Past = Past()
    branch: str = ""


def writable(who: Who) -> Scope:
    """Where to write; `Refused` for who looks at the past."""
    if not who.past.is_now:
        raise Refused("this handle looks at the past, which is not written to; use the one it came from")
    return who.scope


def spaces_of(snapshot: Snapshot, who: Who) -> tuple[int, ...]:
    """A read sees its own user's space and the tenant's shared one, never another's."""
    own, shared = _owned(snapshot, who)
    heads = (own,) if isinstance(who.scope.user, Shared) else (own, shared)
    return tuple(head.id for head in heads if head is not None)


def _owned(snapshot: Snapshot, who: Who) -> tuple[SpaceHead | None, SpaceHead | None]:
    """This user's space on this branch, and the tenant's shared one."""
    own, shared = snapshot.owned(who.scope.tenant, who.scope.user, who.branch)
    if own is None and who.branch:
        raise NotFound(f"no branch {who.branch!r} here")
    return own, shared


def own_or_none(snapshot: Snapshot, who: Who) -> tuple[int, ...]:
    """This user's space on this branch; none before the first write."""
    own, _ = _owned(snapshot, who)
    return () if own is None else (own.id,)


def own_space(snapshot: Snapshot, who: Who) -> int:
    """This user's space on this branch; `NotFound` before the first write."""
    own = own_or_none(snapshot, who)
    if not own:
        raise NotFound("nothing has been remembered for this user yet")
    return own[0]


def named_branch(snapshot: Snapshot, who: Who, name: str) -> SpaceHead | None:
    """Another branch of this user's memory, if it is there."""
    tenant = snapshot.tenant(who.scope.tenant)
    return None if tenant is None else snapshot.space(tenant, who.scope.user, name)


def last_commit(snapshot: Snapshot, who: Who) -> int:
    """The last commit of this user's own space; 0 before the first."""
    own = own_or_none(snapshot, who)
    return snapshot.spaces(own)[0].seq if own else 0


def view_of(snapshot: Snapshot, who: Who) -> View:
    """The past that is looked at, its moment turned into a commit.

    Raises:
        Invalid: it is a commit that is not there yet.
    """
    past = who.past
    if past.is_now:
        return _NOW
    tenant, at = snapshot.tenant(who.scope.tenant), past.at_seq
    if at is not None:
        last = 0 if tenant is None else snapshot.head(tenant).seq
        if at > last:
            raise Invalid("at", f"commit {at} is not between 0 and {last}", "`mnemic log` shows the commits.")
    if past.at_moment is None:
        return View(at=at, as_of=past.as_of, valid_at=past.valid_at)
    commit = 0 if tenant is None else snapshot.seq_at(tenant, past.at_moment)
    looked = max(past.at_moment, past.as_of or past.at_moment) if at is None or commit <= at else None
    return View(at=commit if at is None else min(at, commit), as_of=past.as_of, valid_at=past.valid_at, moment=looked)


def shelved(scope: Scope, where: Filter) -> Filter:
    """A filter as it is asked from this shelf; `Invalid` where it names another."""
    shelves: dict[str, str | None] = {}
    for name in ("agent", "session"):
        wanted, mine = getattr(where, name), getattr(scope, name)
        if wanted is not None:
            text_field(name, wanted)
        if None not in (wanted, mine) and wanted != mine:
            raise Invalid(name, f"{wanted!r} is not this handle's {mine!r}", "Use a handle without that shelf.")
        shelves[name] = mine if wanted is None else wanted
    for name in ("said_from", "said_to"):
        if getattr(where, name) is not None:
            whole(name, getattr(where, name), low=-(2**62))
    if shelves == {"agent": where.agent, "session": where.session}:
        return where
    return replace(where, agent=shelves["agent"], session=shelves["session"])


def on_shelf(scope: Scope, item: Item) -> bool:
    """Whether an item is shown to who reads from this shelf."""
    return scope.agent in (None, item.agent) and scope.session in (None, item.session)


def always_shown(scope: Scope, versions: Iterable[Version]) -> list[Version]:
    """Keep the versions that are always on here: one that belongs to no agent, or no session, is so for all of them."""
    agents = None if scope.agent is None else (None, scope.agent)
    sessions = None if scope.session is None else (None, scope.session)
    return [
        version
        for version in versions
        if (agents is None or version.item.agent in agents) and (sessions is None or version.item.session in sessions)
    ]


def cursors_of(verb: str, who: Who, *asked: object, size: int) -> Cursors:
    """The cursors of what a verb lists to somebody who asks for it so."""
    return Cursors(repr((verb, who.scope, who.branch, who.past, asked)), size)


def scanned(snapshot: Snapshot, spaces: Sequence[int], where: Filter, view: View = View()) -> Iterator[Version]:
    """Every version that a view shows and that passes a filter, in the order in which each space wrote them."""
    for space in spaces:
        after = 0
        while page := snapshot.scan((space,), where, view, after=after, limit=_PAGE):
            yield from (version for _, version in page)
            after = page[-1][0]


# What they name


def standing_versions(snapshot: Snapshot, who: Who, ids: Sequence[ItemId]) -> dict[ItemId, Version]:
    """The standing versions of items, in whatever state, in the order given.

    Raises:
        NotFound: one of them is not this user's own, or not on this shelf.
    """
    standing = snapshot.standing(own_or_none(snapshot, who), ids) if ids else {}
    for item in ids:
        if item not in standing or not on_shelf(who.scope, standing[item].item):
            raise absent(item)
    return standing


def standing_version(snapshot: Snapshot, who: Who, item: ItemId) -> Version:
    """The standing version of one item, in whatever state; `NotFound` as above."""
    return standing_versions(snapshot, who, (item,))[item]


def expected_commit(version: Version, expect: int | None, key: str | None = None) -> int:
    """The commit as of which an item must still stand when the caller's change of it is written.

    With a key it is not looked at here: the change may have landed before, and the store looks for the key first.

    Args:
        expect: What the caller went by; None for the version that was just read.

    Raises:
        Stale: it stands as of another commit by now.
    """
    if expect is None:
        return version.seq_from
    if key is None and version.seq_from != expect:
        problem = f"{version.item.id} is of commit {version.seq_from} by now, not {expect}"
        raise Stale(f"{problem}; read it again, and decide anew")
    return expect


def absent(item: str) -> NotFound:
    """What to raise for an item that is not there, or not shown."""
    return NotFound(f"no item {item} here")


def cited_versions(snapshot: Snapshot, who: Who, ids: Sequence[ItemId]) -> dict[ItemId, Version]:
    """The evidence that is cited, as far as it is there."""
    return snapshot.standing(spaces_of(snapshot, who), ids) if ids else {}


def evidence_of(
    snapshot: Snapshot, spaces: tuple[int, ...], view: View, items: Iterable[Item]
) -> dict[ItemId, Version]:
    """The sources of items that the view shows; that something held may be said of it long after it did."""
    ids = list({id for item in items for id in item.source})
    return dict(snapshot.get(spaces, ids, replace(view, valid_at=None)))


def refuse_uncited(versions: Mapping[ItemId, Version], ids: Sequence[ItemId]) -> None:
    """Raise `NotFound` for a source that is cited and not there."""
    missing = [item for item in ids if item not in versions]
    if missing:
        raise NotFound(f"no item {missing[0]} here to cite as a source")


def chunks_of(snapshot: Snapshot, who: Who, versions: Iterable[Version]) -> dict[ItemId, Version]:
    """The chunks of the documents among these versions: a document is forgotten as a whole."""
    documents = [version.item.id for version in versions if version.item.kind is Kind.DOCUMENT]
    spaces = own_or_none(snapshot, who) if documents else ()
    parts = [part for space in spaces for part in snapshot.derived(space, documents)]
    return {i: v for i, v in snapshot.standing(spaces, parts).items() if v.item.kind is Kind.CHUNK}


def as_then(snapshot: Snapshot, spaces: tuple[int, ...], view: View, item: Item) -> Item:
    """An item that a view shows, without the end that became known only after the moment it is seen as of."""
    if view.as_of is None or item.state is not State.SUPERSEDED:
        return item
    versions = snapshot.history(spaces, item.id)
    former = last_open(versions)
    return reopened(item if former is None else former.item, versions)


def underived_nearby(snapshot: Snapshot, who: Who, desk: Desk, unread: UnreadRules) -> Underived:
    """What rules would write, change and link for this user, unless very much waits for them; nothing in the past."""
    heads = _heads_ahead(snapshot, who, desk)
    return unread.read_if_near(snapshot, desk, heads[0]) if heads else NOTHING


def unread_versions(
    snapshot: Snapshot, who: Who, desk: Desk, unread: UnreadRules, *, only_near: bool = False
) -> dict[ItemId, Version]:
    """What rules would write or change for this user if they ran now, by id, in whatever state; nothing in the past.

    Args:
        only_near: Nothing where very much waits for them, for who does not wait.
    """
    read = unread.read_if_near if only_near else unread.read
    return {
        id: Version(item=item, seq_from=head.seq, seq_to=None, recorded=item.said)
        for head in _heads_ahead(snapshot, who, desk)
        for id, item in read(snapshot, desk, head).items.items()
    }


def _heads_ahead(snapshot: Snapshot, who: Who, desk: Desk) -> list[SpaceHead]:
    """The user's own space, if what is read of it is read ahead of rules."""
    if not who.past.is_now or isinstance(who.scope.user, Shared):
        return []
    return snapshot.spaces(own_or_none(snapshot, who))


def catch_up(who: Who, desk: Desk) -> Flow[bool]:
    """Have rules read what this user has said, and write what they make of it; whether they wrote anything."""
    spaces = yield from look(lambda s: _followers_of_rules(s, who, desk))
    did = False
    for space in spaces:
        while (yield from house_slice(desk, space)).done:
            did = True
    return did


def _followers_of_rules(snapshot: Snapshot, who: Who, desk: Desk) -> list[int]:
    """The user's own space, if rules read what is said in it."""
    own = () if isinstance(who.scope.user, Shared) else own_or_none(snapshot, who)
    return [space for space in own if follows(snapshot, space, HOUSE, desk.strategies)]


def look_ahead(who: Who, desk: Desk, of: Callable[[Snapshot], T]) -> Flow[T]:
    """Look at a snapshot with what rules make of unread turns; where too many wait for that, rules read them first.

    It ends: a space refuses to be read ahead once for each place that its rules have come to.
    """
    while True:
        try:
            answer: T = yield Look(of)
            return answer
        except FarBehind:
            with suppress(StoreReadOnly):  # where nothing can be written, the last of what waits is read ahead
                yield from catch_up(who, desk)


def look_again(who: Who, desk: Desk, of: Callable[[Snapshot], T]) -> Flow[T]:
    """What a look finds; where it misses something, what rules have not written yet is written first.

    A reader is shown what rules make of a turn before they have written it, and may name it at once.
    """
    try:
        return (yield from look(of))
    except NotFound:
        if not (yield from catch_up(who, desk)):
            raise
    return (yield from look(of))


# What they write


def committed(
    who: Who,
    ops: Sequence[Op],
    *,
    expect: Mapping[ItemId, int] | None = None,
    masked: tuple[tuple[str, int], ...] = (),
    paging: Paging | None = None,
    prompts: tuple[PromptMessage, ...] = (),
) -> Flow[Receipt]:
    """Write `ops` in one commit; how many secrets were `masked` is told in its receipt."""
    receipt: Receipt = yield Commit(draft_of(who, tuple(ops), expect=expect, paging=paging, prompts=prompts))
    return replace(receipt, masked=masked) if masked else receipt


def draft_of(
    who: Who,
    ops: tuple[Op, ...],
    *,
    expect: Mapping[ItemId, int] | None = None,
    used: Mapping[ItemId, Strength] | None = None,
    paging: Paging | None = None,
    prompts: tuple[PromptMessage, ...] = (),
) -> Draft:
    """The commit of `ops` by this one, not written yet."""
    return Draft(
        tenant=who.scope.tenant, user=who.scope.user, actor=who.actor, ops=ops, expect=expect or {},
        used=used or {}, paging=paging, prompts=prompts, branch=who.branch,
    )  # fmt: skip


def compare_and_commit(
    who: Who, think: Callable[[Snapshot], tuple[T, Draft]], *, dry_run: bool = False
) -> Flow[tuple[T, Receipt | None]]:
    """Commit what a look at the store comes to, looking again as long as others were quicker."""
    for _ in range(TRIES):
        answer, draft = yield from look(think)
        if dry_run or not draft.ops:
            return answer, None
        try:
            return answer, (yield from commit(draft))
        except Conflict:
            if (yield from look(lambda s: last_commit(s, who))) == draft.upon:
                raise
    raise Conflict(f"others were quicker {TRIES} times in a row; try again once less is written")


def erasure_of(who: Who, *, ids: tuple[ItemId, ...] = (), whole: bool = False, reason: str) -> Erasure:
    """What this one erases: items, which go from every branch, or (`whole`) all that the user has."""
    return Erasure(
        tenant=who.scope.tenant, user=who.scope.user, ids=ids, whole=whole, actor=who.actor, reason=reason,
        branch="" if whole else who.branch,
    )  # fmt: skip
