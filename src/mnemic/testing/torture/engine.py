"""The audit of a mnemic store after torture: it verifies, it shows what was promised, its journal is the one told."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final, cast

from mnemic.collecting.expiring import START, ExpiredItems, find_expired, retire_expired
from mnemic.core.clock import SystemClock
from mnemic.core.ids import ItemId
from mnemic.core.items import State, Version
from mnemic.core.queries import Filter
from mnemic.core.tokens import terms
from mnemic.errors import MnemicError, NotFound, Refused
from mnemic.flow import Request, run
from mnemic.store.contract import Store
from mnemic.store.engine import compaction, journal_io
from mnemic.store.engine.snapshot import Snapshot
from mnemic.store.requests import Look
from mnemic.store.sqlite.sqlite_store import SqliteStore
from mnemic.testing.torture.carried import carried
from mnemic.testing.torture.life import link_text, tenant_text
from mnemic.testing.torture.subject import ActReport, Audit, promises

TENANT: Final = "default"
LINK: Final = "about"
"""The one type of link that lives make, and promises speak of."""
_PAGE: Final = 500
EXPIRES: Final = timedelta(hours=1)
"""After how long what lives write to expire does so."""
LEAST: Final = 4
"""Entries that make a pack here, and vectors that make one of signs."""
_MOMENT: Final = 1e-9
"""So short a slice is one step."""


def audit(path: Path, said: Sequence[ActReport]) -> Audit:
    """Open the store again and hold it against what was said."""
    begun = time.perf_counter()
    problems: list[str] = residue(path.parent, said, "as found")
    try:
        with closing(SqliteStore(path)) as store:
            with store.read() as snapshot:
                snapshot.tenant(TENANT)
            milliseconds = (time.perf_counter() - begun) * 1000
            problems += _broken(store, said)
    except MnemicError as error:
        return Audit(problems=(f"cannot be read: {error!r}",), acks=0, milliseconds=0.0)
    problems += residue(path.parent, said, "after closing")
    return Audit(problems=tuple(problems), acks=sum(act.done for act in said), milliseconds=milliseconds)


def residue(folder: Path, said: Sequence[ActReport], when: str) -> list[str]:
    """Erased texts of which some file still holds words or token hashes, though their receipt said none does."""
    gone = [text.split()[0] for act in said if act.done for text in act.gone]
    if not gone:
        return []
    files = [(path.name, path.read_bytes()) for path in sorted(folder.iterdir()) if path.is_file()]
    return [
        f"erased {word} is in {name} {when}"
        for word in gone
        for name, content in files
        if word.encode() in content or terms(word) in content
    ]


def _broken(store: Store, said: Sequence[ActReport]) -> Iterator[str]:
    yield from (f"verify: {fault.where}: {fault.problem}" for fault in store.verify())
    with store.read() as snapshot:
        tenant = snapshot.tenant(TENANT)
        loaded = [(name, _carried_hash(snapshot, id)) for id, name in snapshot.tenants() if name != TENANT]
        for who, promise in promises(said).items():
            seen = set() if tenant is None else _seen(snapshot, tenant, who)
            seen |= {tenant_text(name, digest) for name, digest in loaded if name.startswith(f"{who}:")}
            yield from promise.problems(who, seen)
        yield from _journal(snapshot, tenant, said)


def _seen(snapshot: Snapshot, tenant: int, who: str) -> set[str]:
    space = snapshot.space(tenant, who)
    if space is None:
        return set()
    # What rules make of random words is nobody's promise.
    shown = {version.item.text for _, version in _all(snapshot, space.id, Filter()) if not version.item.source}
    # What ties something that was forgotten goes with it once its past is given up.
    kept = Filter(states=tuple(state for state in State if state is not State.RETIRED))
    ids = {version.item.id for _, version in _all(snapshot, space.id, kept)}
    links = [link for link in snapshot.links((space.id,), list(ids)) if link.type == LINK]
    return shown | {link_text(link.src, link.dst) for link in links if ids.issuperset((link.src, link.dst))}


def _carried_hash(snapshot: Snapshot, tenant: int) -> str:
    """The hash of the last commit that came with a tenant that was loaded; "" where it did not come."""
    return next((change.hash.hex() for change in snapshot.changes(tenant, carried().commits - 1, 1)), "")


def _all(snapshot: Snapshot, space: int, where: Filter) -> Iterator[tuple[int, Version]]:
    after = 0
    while page := snapshot.scan((space,), where, after=after, limit=_PAGE):
        yield from page
        after = page[-1][0]


def _journal(snapshot: Snapshot, tenant: int | None, said: Sequence[ActReport]) -> Iterator[str]:
    ways = journals(said)
    last = max(seq for way in ways for seq in (0, *way))
    digests = (
        {}
        if tenant is None
        else {change.seq: change.hash.hex() for change in snapshot.changes(tenant, 0, max(1, last))}
    )
    off = min(([seq for seq, digest in way.items() if digests.get(seq) != digest] for way in ways), key=len)
    for seq in off:
        yield f"commit {seq} is {'another' if seq in digests else 'gone'}"


def journals(said: Sequence[ActReport]) -> list[dict[int, str]]:
    """The commits that must be there, with their hashes: in two ways if a rewind was never heard of again."""
    ways: list[dict[int, str]] = [{}]
    for act in said:
        if act.act == "rewind":
            back = [{seq: digest for seq, digest in way.items() if seq <= act.seq} for way in ways]
            ways = back if act.done else [*ways, *back]
        if act.act == "collect" and not act.done:
            ways = [{seq: digest for seq, digest in way.items() if seq >= act.seq} for way in ways]
        if act.done and act.seq:
            ways = [{**way, act.seq: act.hash} for way in ways]
        ways = [way for place, way in enumerate(ways) if way not in ways[:place]]
    return ways


def collect(store: Store, horizon: int) -> None:
    """Give up the past before a commit, in slices of a step each; a job that still reads there keeps all of it."""
    try:
        store.transact(compaction.move, TENANT, horizon)
    except Refused:
        return
    while store.sweep(TENANT, _MOMENT).more:
        pass


class AheadClock:
    """The machine's clock, ahead of its time for whoever looks at what will have expired. Safe for many threads."""

    def __init__(self) -> None:
        self._machine, self._ahead = SystemClock(), threading.local()

    def now(self) -> int:
        return self._machine.now() + getattr(self._ahead, "by", 0)

    @contextmanager
    def ahead(self) -> Iterator[None]:
        """Be past the moment at which what lives write expires, in this thread."""
        self._ahead.by = 2 * EXPIRES // timedelta(microseconds=1)
        try:
            yield
        finally:
            self._ahead.by = 0


def retire(
    store: Store, perform: Callable[[Request], Any], clock: AheadClock, who: str, items: Sequence[ItemId]
) -> int:
    """Have the lane of expiry retire these items of a user, as if their time had run out; the commit, 0 for none."""

    def ahead(request: Request) -> Any:
        if not isinstance(request, Look):
            return perform(request)
        with clock.ahead():
            return perform(request)

    space = space_of(store, who)
    going, after = list[ItemId](), cast("tuple[int, int] | None", START)
    while after is not None:
        expired: ExpiredItems = ahead(Look(partial(find_expired, after=after)))
        going += [item for item in expired.by_space.get(space, ()) if item in items]
        after = expired.last
    if not going or not run(retire_expired(space, going), ahead).done:
        return 0
    with store.read() as snapshot:
        return snapshot.standing((space,), going[:1])[going[0]].seq_from


def space_of(store: Store, who: str) -> int:
    """The id of a user's space in the tortured tenant, which must be there."""
    with store.read() as snapshot:
        tenant = snapshot.tenant(TENANT)
        space = None if tenant is None else snapshot.space(tenant, who)
    if space is None:
        raise NotFound(f"nothing of {who} here")
    return space.id


def load(store: Store, tenant: str) -> None:
    """Load another tenant beside the tortured one."""
    store.transact(journal_io.load, iter(carried().lines), tenant)


def head(store: Store) -> tuple[int, str]:
    """Where the journal of the tortured tenant stands."""
    with store.read() as snapshot:
        tenant = snapshot.tenant(TENANT)
        if tenant is None:
            return 0, ""
        tenant_head = snapshot.head(tenant)
    return tenant_head.seq, tenant_head.hash.hex()
