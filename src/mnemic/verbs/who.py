"""Who asks, from which shelf, on which branch, of which past; the spaces, view and filter that this comes to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from mnemic.checking import text_field, whole
from mnemic.core.items import Item, Version
from mnemic.core.queries import Filter, View
from mnemic.core.scope import SHARED, Scope, Shared
from mnemic.errors import Invalid, NotFound, Refused
from mnemic.store.engine.snapshot import Snapshot
from mnemic.store.values.heads import SpaceHead


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
    tenant, own = snapshot.tenant(who.scope.tenant), own_or_none(snapshot, who)
    shared = None if tenant is None or isinstance(who.scope.user, Shared) else snapshot.space(tenant, SHARED)
    return own if shared is None else (*own, shared.id)


def own_or_none(snapshot: Snapshot, who: Who) -> tuple[int, ...]:
    """This user's space on this branch; none before the first write."""
    tenant = snapshot.tenant(who.scope.tenant)
    head = None if tenant is None else snapshot.space(tenant, who.scope.user, who.branch)
    if head is None and who.branch:
        raise NotFound(f"no branch {who.branch!r} here")
    return () if head is None else (head.id,)


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
    past, tenant = who.past, snapshot.tenant(who.scope.tenant)
    at = past.at_seq
    if at is not None:
        last = 0 if tenant is None else snapshot.head(tenant).seq
        if at > last:
            raise Invalid("at", f"commit {at} is not between 0 and {last}", "`mnemic log` shows the commits.")
    if past.at_moment is not None:
        found = 0 if tenant is None else snapshot.seq_at(tenant, past.at_moment)
        at = found if at is None else min(at, found)
    return View(at=at, as_of=past.as_of, valid_at=past.valid_at)


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
