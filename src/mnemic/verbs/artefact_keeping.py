"""The verbs that keep what a model has computed: one derived item for each artefact, whose bytes lie beside the store.

The file has its name before its item is committed, and the item cites what the bytes were made of; so they go with any
of it, and an item never names a file that was not there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from mnemic.artefacts.artefact_files import Wall
from mnemic.artefacts.artefact_records import ARTEFACT, Artefact, artefact_of, file_tag
from mnemic.core.checking import clean_text
from mnemic.core.clock import micros, moment
from mnemic.core.events import Verb
from mnemic.core.ids import ItemId
from mnemic.core.items import Channel, Item, Kind, Sight, State, Version
from mnemic.core.queries import Filter
from mnemic.errors import Conflict, Invalid, NotFound
from mnemic.flow import Flow
from mnemic.store.requests import look
from mnemic.verbs.who import (
    Who,
    cited_versions,
    committed,
    compare_and_commit,
    draft_of,
    last_commit,
    own_or_none,
    refuse_uncited,
    scanned,
    shelved,
    standing_version,
    view_of,
    writable,
)
from mnemic.writing import clean_slots, clean_tags

if TYPE_CHECKING:
    from mnemic.store.engine.snapshot import Snapshot
    from mnemic.store.values.drafts import Draft
    from mnemic.writing import Desk

_KEPT: Final = Filter(kinds=(Kind.RESOURCE,), tags=(ARTEFACT,))


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptArtefact:
    """An artefact, and the version of the item that says what it is."""

    version: Version
    artefact: Artefact

    @property
    def id(self) -> ItemId:
        """The id of its item."""
        return self.version.item.id


class ArtefactKeeping:
    """The verbs that keep artefacts, of a `Kernel`; whoever calls them has brought the file to its name."""

    __slots__ = ()
    desk: Desk

    def artefact_wall(self, who: Who) -> Flow[Wall]:
        """The wall behind which this user's files lie.

        Raises:
            NotFound: nothing has been remembered for this user, so nothing can be made of it.
        """
        return (yield from look(lambda s: _wall(s, who)))

    def keep_artefact(
        self, who: Who, artefact: Artefact, text: str, sources: Sequence[ItemId], replaces: ItemId | None = None
    ) -> Flow[KeptArtefact]:
        """Commit the item of an artefact, or a new version of the one that it takes the place of.

        Raises:
            Invalid: it cites no source.
            NotFound: a source is not there any more, and so the bytes may not be either.
            Conflict: a source, or what it replaces, has changed in this very moment.
        """
        scope = writable(who)
        if not sources:
            raise Invalid("sources", "is empty", "Name the items that the bytes were made of.")
        cited, own, before = yield from look(lambda s: _read(s, who, sources, replaces))
        refuse_uncited(cited, sources)
        now = moment(self.desk.clock.now())
        item = Item(
            id=self.desk.fresh_id() if before is None else before.item.id,
            kind=Kind.RESOURCE,
            text=self.desk.without_secrets(text),
            said=now,
            slots=artefact.slots(),
            tags=(ARTEFACT, file_tag(artefact.stored.sha256)),
            source=tuple(dict.fromkeys(sources)),
            sight=Sight.NONE,
            agent=scope.agent if before is None else before.item.agent,
            session=scope.session if before is None else before.item.session,
            pos=micros(now),
            channel=Channel.MODEL,
        )
        put = self.desk.put(Verb.WROTE if before is None else Verb.REVISED, item)
        # Erased between a look and the commit, a source would leave its bytes with us.
        expect = {id: version.seq_from for id, version in own.items()}
        if before is not None:
            expect[item.id] = before.seq_from
        receipt = yield from committed(who, (put,), expect=expect)
        version = Version(item=item, seq_from=receipt.seq, seq_to=None, recorded=now)
        return KeptArtefact(version=version, artefact=artefact)

    def bring_artefact(self, who: Who, item: Item, why_not: Callable[[Snapshot], str]) -> Flow[None]:
        """Commit the item of an artefact that was made elsewhere, under the id that it had there, if it is not here.

        Args:
            why_not: Says why it cannot stand here; "" if it can. Nothing is committed upon anything later.

        Raises:
            Invalid, TooLarge: it is none that could be written here.
            NotFound: a source is not here.
            Conflict: it cannot stand here, or a source has changed in this very moment.
        """
        writable(who)
        brought = as_brought(self.desk, item)
        yield from compare_and_commit(who, lambda s: (None, self._bringing(s, who, brought, why_not(s))))

    def _bringing(self, snapshot: Snapshot, who: Who, item: Item, why_not: str) -> Draft:
        """The commit that brings an artefact's item in; of nothing where it is here."""
        if why_not:
            raise Conflict(f"artefact {item.id} is not brought in: {why_not}")
        cited, own, before = _read(snapshot, who, item.source, item.id)
        refuse_uncited(cited, item.source)
        expect = {id: version.seq_from for id, version in own.items()}
        expect[item.id] = 0 if before is None else before.seq_from
        put = self.desk.put(Verb.WROTE if before is None else Verb.REVISED, item)
        ops = () if before is not None and before.item == item else (put,)
        return replace(draft_of(who, ops, expect=expect), upon=last_commit(snapshot, who))

    def artefacts(self, who: Who, mechanism: str = "") -> Flow[tuple[KeptArtefact, ...]]:
        """The artefacts that this view shows, in the order in which they were written; of one mechanism, if named."""
        where = shelved(who.scope, _KEPT)
        versions = yield from look(lambda s: tuple(scanned(s, own_or_none(s, who), where, view_of(s, who))))
        return tuple(kept for kept in _described(versions) if mechanism in ("", kept.artefact.mechanism))

    def artefact(self, who: Who, id: ItemId) -> Flow[KeptArtefact]:
        """One artefact, as it stands.

        Raises:
            NotFound: there is no such item here, or it is no artefact, or it was forgotten.
        """
        version = yield from look(lambda s: standing_version(s, who, id))
        for kept in _described((version,)):
            if version.item.state is State.ACTIVE:
                return kept
        raise NotFound(f"{id} is no artefact that stands here; `mnemic neural list` shows them")


def as_brought(desk: Desk, item: Item) -> Item:
    """The item of an artefact that was made elsewhere, as it is written here: masked, and seen by no recall.

    Raises:
        Invalid, TooLarge: it is none that could be written here.
    """
    limit = desk.settings.item_limit
    text = desk.without_secrets(clean_text("text", item.text, limit, "item_limit"))
    return replace(item, text=text, slots=clean_slots(item.slots, limit), tags=clean_tags(item.tags), sight=Sight.NONE)


def _wall(snapshot: Snapshot, who: Who) -> Wall:
    tenant = snapshot.tenant(who.scope.tenant)
    home = None if tenant is None else snapshot.space(tenant, who.scope.user)
    if tenant is None or home is None:
        raise NotFound("nothing has been remembered for this user yet")
    return Wall(tenant, home.id)


def _read(
    snapshot: Snapshot, who: Who, sources: Sequence[ItemId], replaces: ItemId | None
) -> tuple[dict[ItemId, Version], dict[ItemId, Version], Version | None]:
    """What is cited, those of it that are this user's own, and what is to be replaced, if it stands."""
    cited = cited_versions(snapshot, who, sources)
    own = snapshot.standing(own_or_none(snapshot, who), sources)
    before = snapshot.standing(own_or_none(snapshot, who), (replaces,)).get(replaces) if replaces else None
    if before is not None and before.item.state is not State.ACTIVE:
        before = None  # what was forgotten stays so: this is another one
    return cited, dict(own), before


def _described(versions: Iterable[Version]) -> Iterable[KeptArtefact]:
    for version in versions:
        item = version.item
        artefact = artefact_of(item.kind, item.channel, item.tags, item.slots)
        if artefact is not None:
            yield KeptArtefact(version=version, artefact=artefact)
