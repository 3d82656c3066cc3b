"""Erase content: what goes, what follows it, and what the journal keeps to say so."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from mnemic.core.clock import FOREVER
from mnemic.core.events import Verb
from mnemic.core.ids import ItemId, from_bytes, to_bytes
from mnemic.core.items import UPKEEP, State
from mnemic.core.queries import Filter
from mnemic.core.scope import Shared
from mnemic.core.tokens import BY_RULES
from mnemic.core.transitions import SUPERSEDES
from mnemic.errors import Conflict, NotFound
from mnemic.store.engine import codec, holds, job_queue, ledger, lineage
from mnemic.store.engine.codec import canonical
from mnemic.store.engine.job_queue import AGAIN
from mnemic.store.engine.rows import Rows
from mnemic.store.engine.snapshot import Snapshot
from mnemic.store.values.drafts import Erasure, Named
from mnemic.store.values.row_values import LinkRow, SpaceRow, TenantRow, VersionRow
from mnemic.store.values.work import Order

OUTSIDE: Final = (
    "copies and exports that you took out",
    "prompts and logs of programs that were shown it",
)
"""What no store can reach, for the receipt; what is true of its backups each store adds."""


_ALL: Final = tuple(State)


@dataclass(frozen=True, slots=True)
class Erased:
    """What an erasure took out."""

    seq: int | None
    ids: tuple[ItemId, ...]
    versions: int
    links: int


def apply(rows: Rows, erasure: Erasure) -> Erased:
    """Erase inside the transaction that `rows` stands for.

    Items go with all that was derived from them, and leave a tombstone: their id, and nothing of what they said. Links
    go with their ends and with what they rest on.

    Raises:
        NotFound: there is no such tenant or user.
    """
    tenant = rows.spaces.known_tenant(erasure.tenant)
    if erasure.whole and erasure.branch:
        return _branch(rows, tenant, erasure)
    if erasure.whole:
        return _whole(rows, tenant, erasure)
    space = None if erasure.user is None else rows.spaces.space(tenant.id, erasure.user, erasure.branch)
    if space is None:
        raise NotFound("nothing was ever remembered for this user")
    return _items(rows, tenant, space, erasure)


def _items(rows: Rows, tenant: TenantRow, space: SpaceRow, erasure: Erasure) -> Erased:
    own = lineage.kin(rows, space)
    named = [to_bytes(item) for item in erasure.ids]
    there = {item for home in own for item in rows.items.item_rows(home.id, named)}
    known = [item for item in named if item in there]
    # What is shared may have been built upon in every user's space; what is one user's, in their own and its branches.
    reach = rows.spaces.tenant_spaces(tenant.id) if isinstance(space.user, Shared) else own
    going = _with_derived(rows, reach, [(home.id, raw) for raw in known for home in own])
    if not going:
        _drop_names(rows, own, erasure)
        return Erased(None, (), 0, 0)
    holds.refuse_items(rows, tenant.id, going)
    ids = tuple(dict.fromkeys(from_bytes(raw) for _, raw in going))
    owned: dict[int, list[bytes]] = {}
    for home, raw in going:
        owned.setdefault(home, []).append(raw)
    ledger.check_expected(rows, space, ((to_bytes(item), seq) for item, seq in erasure.expect.items()))
    reopen = [put for put in erasure.reopen if (space.id, to_bytes(put.item.id)) not in going]
    resting = _resting(rows, [home.id for home in reach], ids)
    links = {home: [*rows.links.links_of(home, items), *resting.get(home, ())] for home, items in owned.items()}
    links |= {home: links_there for home, links_there in resting.items() if home not in owned}
    ties = sorted({(link.seq_from, link.n) for links_there in links.values() for link in links_there})
    payload = canonical({"ids": list(ids), "links": [list(tie) for tie in ties]})
    orders = [order for home in sorted(owned) for order in _rederiving(rows, home, owned[home], set(named))]
    orders += [order for home, links_there in sorted(resting.items()) for order in _tying_again(home, links_there, ids)]
    actor = rows.names.actor(space.id, erasure.actor)
    seq = ledger.journal(rows, tenant, space, Verb.ERASED, payload, actor, note=_reason(erasure), ops=reopen)
    numbers = {home: list(dict.fromkeys(link.lver for link in links_there)) for home, links_there in links.items()}
    versions = sum(rows.items.drop_items(home, owned.get(home, ()), going, seq) for home, going in numbers.items())
    for place, order in enumerate(dict.fromkeys(orders)):
        job_queue.order(rows, replace(order, key=f"{seq}:{place}"))
    _drop_names(rows, own, erasure)
    for row in rows.spaces.space_rows(sorted({*links, space.id})):
        rows.spaces.set_space(row._replace(seq=seq, epoch=row.epoch + 1))
    return Erased(seq, ids, versions, sum(map(len, numbers.values())))


def _resting(rows: Rows, homes: Sequence[int], going: Sequence[ItemId]) -> dict[int, list[LinkRow]]:
    """Find by space the links that rest on something that goes, each with what stood before and after it.

    What is tied anew may count on what was tied before: its weight may be a sum.
    """
    raw = [to_bytes(item) for item in going]
    rows_resting = [row for home in homes for row in rows.links.links_resting(home, raw)]
    ends = {_ends(row) for row in rows_resting}
    sources = list(dict.fromkeys(row.src for row in rows_resting))
    every = {home: rows.links.links_of(home, sources) for home in homes} if rows_resting else {}
    resting = {home: [row for row in of if _ends(row) in ends] for home, of in every.items()}
    return {home: of for home, of in resting.items() if of}


def _ends(row: LinkRow) -> tuple[bytes, bytes, str]:
    return row.src, row.dst, codec.decode_link(row).type


def _tying_again(space: int, links: Sequence[LinkRow], going: Container[ItemId]) -> list[Order]:
    """Order that what stays of the evidence of links that go is digested again by whoever tied these.

    Nothing is ordered for what a person tied, or what has been untied since.
    """
    standing = {_ends(row) for row in links if row.open and row.seq_to == FOREVER}
    stays: dict[tuple[tuple[bytes, bytes, str], str, bool], dict[ItemId, None]] = {}
    for row in links:
        link = codec.decode_link(row)
        if row.open and link.by and _ends(row) in standing:
            left = dict.fromkeys(source for source in link.evidence if source not in going)
            stays.setdefault((_ends(row), link.by, link.upkeep), {}).update(left)
    return [_again(space, by, list(left), upkeep=upkeep) for (_, by, upkeep), left in stays.items() if left]


def _again(space: int, author: str, sources: Sequence[ItemId], *, upkeep: bool) -> Order:
    """Order that a strategy, or its upkeep, is given these sources again; it has no key yet."""
    payload = canonical({"sources": list(sources), "upkeep": upkeep})
    return Order(name=AGAIN + author, key="", space=space, payload=payload)


def _rederiving(rows: Rows, space: int, going: Sequence[bytes], named: Container[bytes]) -> list[Order]:
    """Order that what stays of the sources of derived items that go is digested again by whoever derived these.

    Sources of items that were made of the same are digested together. Nothing is ordered for what its owner hid, what
    something that stays has superseded, or what rules made: of these each rests on one turn, but for the segments of a
    session, which no strategy made.
    """
    gone, derived = set(going), [item for item in going if item not in named]
    together: dict[tuple[str, bool, frozenset[ItemId]], dict[ItemId, None]] = {}
    for row in (rows.items.standing(space, derived) if derived else {}).values():
        body = codec.read_body(row.body)
        author, stays = body.wording.slots.get("by"), [source for source in body.source if to_bytes(source) not in gone]
        counts = row.state == State.ACTIVE or (row.state == State.SUPERSEDED and _reopens(rows, row, gone))
        if counts and stays and isinstance(author, str) and author != BY_RULES:
            made_of = frozenset(basis for basis in (*stays, *body.context) if to_bytes(basis) not in gone)
            sources = together.setdefault((author, bool(body.wording.slots.get(UPKEEP)), made_of), {})
            sources.update(dict.fromkeys(stays))
    return [_again(space, author, list(ids), upkeep=upkeep) for (author, upkeep, _), ids in together.items()]


def _reopens(rows: Rows, row: VersionRow, gone: Container[bytes]) -> bool:
    """Whether all that has superseded an item, or says that it ended, goes too."""
    links = [link for link in rows.links.links_of(row.space, [row.id]) if link.dst == row.id]
    stand = (link for link in links if link.open and link.seq_to == FOREVER)
    over = [link.src for link in stand if codec.decode_link(link).type == SUPERSEDES]
    return bool(over) and all(newer in gone for newer in over)


def doomed(snapshot: Snapshot, space: int, named: Named) -> tuple[ItemId, ...]:
    """What is to be erased: items by id, and those of a session or of a named source, in every state, on this shelf.

    It is looked for in the owner's own space and in every branch.
    """
    (here,) = snapshot.spaces((space,))
    homes = [head.id for head in snapshot.all_spaces(here.tenant) if head.user == here.user]
    going = [
        item
        for home in homes
        for item, version in snapshot.standing((home,), named.ids).items()
        if named.agent in (None, version.item.agent) and named.shelf in (None, version.item.session)
    ]
    if named.session is None and named.source is None:
        return tuple(dict.fromkeys(going))
    where = Filter(agent=named.agent, session=named.shelf if named.session is None else named.session, states=_ALL)
    for home in homes:
        after = 0
        while page := snapshot.scan((home,), where, after=after, limit=1000):
            after = page[-1][0]
            going += [v.item.id for _, v in page if named.source is None or v.item.slots.get("source") == named.source]
    return tuple(dict.fromkeys(going))


def _drop_names(rows: Rows, spaces: Iterable[SpaceRow], erasure: Erasure) -> None:
    for space in spaces:
        for text in erasure.names:
            rows.names.drop_bare_name(space.id, text)


def _with_derived(rows: Rows, reach: Iterable[SpaceRow], items: Iterable[tuple[int, bytes]]) -> list[tuple[int, bytes]]:
    """Add to items what was derived from them: each in every space of the owner in whose space it was."""
    going = dict.fromkeys(items)
    queue, homes = list(dict.fromkeys(raw for _, raw in going)), list(reach)
    owned: dict[str | Shared | None, list[int]] = {}
    for row in homes:
        owned.setdefault(row.user, []).append(row.id)
    while queue:
        sources, queue = queue, []
        for home in homes:
            for _, derived in rows.links.derived(home.id, sources):
                if (home.id, derived) not in going:
                    going.update(((source, derived), None) for source in owned[home.user])
                    queue.append(derived)
    return list(going)


def _whole(rows: Rows, tenant: TenantRow, erasure: Erasure) -> Erased:
    if erasure.user is None:
        spaces = rows.spaces.tenant_spaces(tenant.id)
        rows.spaces.set_tenant(tenant._replace(name=None))
        rows.notes.drop_credentials(tenant=erasure.tenant)
    else:
        space = rows.spaces.space(tenant.id, erasure.user)
        if space is None:
            raise NotFound("nothing was ever remembered for this user")
        spaces = lineage.kin(rows, space)
        if not isinstance(erasure.user, Shared):  # a key that outlived its user would make them anew by the next write
            rows.notes.drop_credentials(tenant=erasure.tenant, user=erasure.user)
    holds.refuse_spaces(rows, tenant.id, [space.id for space in spaces])
    ids = tuple(dict.fromkeys(from_bytes(row.id) for space in spaces for row in rows.items.all_versions(space.id)))
    counts = [rows.spaces.drop_space(space.id) for space in spaces]
    payload = canonical({"spaces": [space.number for space in spaces]})
    home = None if erasure.user is None else spaces[0]
    # Nobody's name is kept for it: whoever erases a user may well be that user, or an agent that is called after them.
    seq = ledger.journal(rows, tenant, home, Verb.ERASED, payload, note=_reason(erasure))
    for space in spaces:
        rows.spaces.set_space(space._replace(seq=seq, epoch=space.epoch + 1))
    return Erased(seq, ids, sum(v for v, _ in counts), sum(n for _, n in counts))


def _branch(rows: Rows, tenant: TenantRow, erasure: Erasure) -> Erased:
    """Drop a branch; the commit is one of the space that it came off.

    Raises:
        NotFound: there is no such branch.
        Conflict: others come off it.
    """
    space = None if erasure.user is None else rows.spaces.space(tenant.id, erasure.user, erasure.branch)
    if space is None:
        raise NotFound(f"no branch {erasure.branch!r} here")
    if held := lineage.children(rows, space):
        raise Conflict(f"branch {held[0].branch!r} comes off {erasure.branch!r}; drop it first")
    holds.refuse_spaces(rows, tenant.id, [space.id])
    (parent,) = rows.spaces.space_rows((space.parent,))
    versions, links = rows.spaces.drop_space(space.id)
    actor = rows.names.actor(parent.id, erasure.actor)
    payload = canonical({"spaces": [space.number], "what": "branch"})  # not its name, which is gone with it
    seq = ledger.journal(rows, tenant, parent, Verb.ERASED, payload, actor, note=_reason(erasure))
    rows.spaces.set_space(parent._replace(seq=seq))
    rows.spaces.set_space(space._replace(seq=seq, epoch=space.epoch + 1))
    return Erased(seq, (), versions, links)


def _reason(erasure: Erasure) -> bytes | None:
    """Encode the reason as an event of its own: it is content, and can be erased in its turn."""
    return canonical({"reason": erasure.reason}) if erasure.reason else None
