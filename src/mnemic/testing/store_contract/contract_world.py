"""A store under test, with short methods for what a contract test does to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from mnemic.core.clock import moment
from mnemic.core.events import Change, Receipt, Verb
from mnemic.core.ids import ItemId, new_id
from mnemic.core.items import Item, Kind, Link, State, Strength, Version
from mnemic.core.parts import entry_terms
from mnemic.core.queries import Filter, View
from mnemic.core.scope import Shared
from mnemic.store.contract import Store
from mnemic.store.values.drafts import Draft, Erasure, Op, Put, Tie
from mnemic.store.values.receipts import ErasureReceipt
from mnemic.testing.generators import START, ManualClock, SeededEntropy

TENANT = "t"
ANY_STATE = Filter(states=tuple(State))


def day(number: int) -> datetime:
    """Return the n-th day of the tests' year."""
    return moment(START) + timedelta(days=number)


def us(number: int) -> int:
    """Return that day in microseconds."""
    return START + number * 86_400_000_000


class World:
    """Drives one store under test, as the user `ada` unless another is named."""

    def __init__(self, store: Store, seed: str = "items") -> None:
        self.store = store
        self._entropy = SeededEntropy(seed)

    # Things to write

    def item(self, text: str, **fields: Any) -> Item:
        """Make an item: a fact of day 0, unless the fields say otherwise."""
        fields = {"kind": Kind.FACT, "said": day(0), **fields}
        return Item(id=new_id(START, self._entropy), text=text, **fields)

    def put(self, item: Item | str, verb: Verb = Verb.WROTE, **fields: Any) -> Put:
        """Make the op that writes an item with its own token streams; a keyed one carries its text as content."""
        item = self.item(item) if isinstance(item, str) else item
        if "key" in fields:
            fields = {"content": item.text.encode(), **fields}
        return Put(verb=verb, item=item, **{"terms": entry_terms(item), **fields})

    def superseding(self, old: Item, new: Item) -> tuple[Op, ...]:
        """Make the ops by which `new` supersedes `old`."""
        closed = replace(old, state=State.SUPERSEDED, known_to=new.said, valid_to=new.valid_from or new.said)
        return self.put(new), Put(verb=Verb.SUPERSEDED, item=closed, terms=None)

    # Writing

    def commit(
        self,
        *ops: Op | str,
        user: str | Shared = "ada",
        tenant: str = TENANT,
        actor: str = "tester",
        expect: Mapping[ItemId, int] | None = None,
        used: Mapping[ItemId, Strength] | None = None,
        upon: int | None = None,
        uncited: frozenset[ItemId] = frozenset(),
    ) -> Receipt:
        """Commit ops as one commit; a string stands for a fact with this text."""
        done = tuple(self.put(op) if isinstance(op, str) else op for op in ops)
        kept = {"expect": expect or {}, "used": used or {}, "upon": upon, "uncited": uncited}
        draft = Draft(tenant=tenant, user=user, actor=actor, ops=done, **kept)  # type: ignore[arg-type]
        return self.store.commit(draft)

    def retire(self, item: Item, **where: Any) -> Receipt:
        """Commit the retirement of an item."""
        return self.commit(Put(verb=Verb.RETIRED, item=replace(item, state=State.RETIRED), terms=None), **where)

    def tie(
        self,
        src: ItemId,
        dst: ItemId,
        type: str = "about",
        *,
        verb: Verb = Verb.LINKED,
        evidence: tuple[ItemId, ...] = (),
        **where: Any,
    ) -> Receipt:
        """Commit a link between two items, or its removal."""
        return self.commit(Tie(verb=verb, link=Link(src=src, dst=dst, type=type, evidence=evidence)), **where)

    def erase(
        self, *ids: ItemId, user: str | Shared | None = "ada", whole: bool = False, reason: str = ""
    ) -> ErasureReceipt:
        """Erase items, a user or the tenant."""
        return self.store.erase(Erasure(tenant=TENANT, user=user, ids=ids, whole=whole, actor="tester", reason=reason))

    # Looking

    def seq(self, tenant: str = TENANT) -> int:
        """Return the number of the last commit; 0 before the first."""
        with self.store.read() as snapshot:
            number = snapshot.tenant(tenant)
            return 0 if number is None else snapshot.head(number).seq

    def tenant(self, tenant: str = TENANT) -> int:
        """Return the number of a tenant that exists."""
        with self.store.read() as snapshot:
            number = snapshot.tenant(tenant)
            assert number is not None
            return number

    def space(self, user: str | Shared = "ada", tenant: str = TENANT) -> int:
        """Return the number of a space that exists."""
        with self.store.read() as snapshot:
            number = snapshot.tenant(tenant)
            assert number is not None
            head = snapshot.space(number, user)
            assert head is not None
            return head.id

    def epoch(self, user: str | Shared = "ada") -> int:
        """Return a space's epoch, which rises when content is taken out."""
        with self.store.read() as snapshot:
            return snapshot.spaces((self.space(user),))[0].epoch

    def versions(
        self, where: Filter = Filter(), view: View = View(), *, user: str | Shared = "ada", tenant: str = TENANT
    ) -> list[Version]:
        """List the versions that a view shows of a space, in order of writing, fetched in small pages."""
        space, collected, after = (self.space(user, tenant),), [], 0
        with self.store.read() as snapshot:
            while page := snapshot.scan(space, where, view, after=after, limit=3):
                after = page[-1][0]
                collected += [version for _, version in page]
        return collected

    def texts(self, where: Filter = Filter(), view: View = View(), **space: Any) -> list[str]:
        """List the texts of the versions that a view shows, in order of writing."""
        return [version.item.text for version in self.versions(where, view, **space)]

    def get(self, item: ItemId, view: View = View(), user: str | Shared = "ada") -> Version | None:
        """Read one item as a view shows it."""
        with self.store.read() as snapshot:
            return snapshot.get((self.space(user),), (item,), view).get(item)

    def changes(self, tenant: str = TENANT) -> list[Change]:
        """Read the whole journal."""
        with self.store.read() as snapshot:
            number = snapshot.tenant(tenant)
            return [] if number is None else snapshot.changes(number, 0, 10_000)

    def faults(self) -> list[str]:
        """List the faults that `verify` finds."""
        return [f"{fault.where}: {fault.problem}" for fault in self.store.verify()]


def texts_of(versions: Sequence[Version]) -> list[str]:
    """List the texts of versions."""
    return [version.item.text for version in versions]


@pytest.fixture
def world(store: Store) -> World:
    """Wrap the store under test."""
    return World(store)


@pytest.fixture
def clock() -> ManualClock:
    """Give the clock for the store under test; a store opened with it has its use of time tested."""
    return ManualClock()
