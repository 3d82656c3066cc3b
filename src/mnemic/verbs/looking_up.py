"""The verbs that look things up: an item, lists, counts, histories, links, the log, what differs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Final, TypeVar

from mnemic.core.checking import whole
from mnemic.core.clock import micros
from mnemic.core.events import Change
from mnemic.core.ids import ALPHABET, ItemId, prefix_range, suffix_bytes
from mnemic.core.items import Item, Link, State, Strength, Version
from mnemic.core.listing import Cursors, Listing, one_page
from mnemic.core.queries import Filter, View
from mnemic.core.uninterrupted import import_whole
from mnemic.errors import Invalid, NotFound
from mnemic.flow import Flow
from mnemic.store.engine.snapshot import Snapshot
from mnemic.store.requests import look
from mnemic.strategies.loading import strategy_called
from mnemic.verbs.who import (
    Who,
    absent,
    as_then,
    cursors_of,
    evidence_of,
    look_ahead,
    on_shelf,
    own_or_none,
    own_space,
    scanned,
    shelved,
    spaces_of,
    underived_nearby,
    unread_versions,
    view_of,
)

if TYPE_CHECKING:
    from mnemic.derive.unread import UnreadRules
    from mnemic.past.holdings import Holding
    from mnemic.past.journal_views import Difference
    from mnemic.recall.entity_graph import EntityGraph
    from mnemic.store.values.prompt_messages import PromptMessage
    from mnemic.store.values.row_values import SessionRow
    from mnemic.strategies.base import Strategy
    from mnemic.writing import Desk

T = TypeVar("T")

LIST_LIMIT: Final = 1_000_000
"""Most rows one call may ask for."""


class LookingUp:
    """The verbs that look things up, of a `Kernel`."""

    __slots__ = ()
    desk: Desk
    unread: UnreadRules
    followed: tuple[str | Strategy, ...]

    def read(self, who: Who, of: Callable[[Snapshot, tuple[int, ...], int | None], T]) -> Flow[T]:
        """What `of` makes of a snapshot, the spaces that may be read in it, and one's own (None before a write)."""
        return (
            yield from look_ahead(
                who, self.desk, lambda s: of(s, spaces_of(s, who), next(iter(own_or_none(s, who)), None))
            )
        )

    def prompt_messages(self, who: Who, names: Sequence[str]) -> Flow[Mapping[str, PromptMessage]]:
        """What memory has done about messages of prompts, by name."""

        def kept(snapshot: Snapshot) -> dict[str, PromptMessage]:
            own = next(iter(own_or_none(snapshot, who)), None)
            return {} if own is None else snapshot.prompt_messages(own, names)

        return (yield from look(kept))

    def get(self, who: Who, item: ItemId) -> Flow[Version]:
        """One item as the view shows it."""
        version = yield from look_ahead(who, self.desk, lambda s: self._shown(s, who, item))
        if version is None or not on_shelf(who.scope, version.item):
            raise absent(item)
        return version

    def _shown(self, snapshot: Snapshot, who: Who, item: ItemId) -> Version | None:
        version = snapshot.get(spaces_of(snapshot, who), [item], view_of(snapshot, who)).get(item)
        if version is not None:
            return version
        ahead = unread_versions(snapshot, who, self.desk, self.unread).get(item)
        return ahead if ahead is not None and ahead.item.state is State.ACTIVE else None

    def list(self, who: Who, where: Filter, limit: int, after: str | None) -> Flow[Listing[Version]]:
        """The items last written, newest first: what the journal has, and so not what rules have yet to write.

        Every page shows what was there when the first was read, but for what was erased or has expired since.
        """
        whole("limit", limit, low=1, high=LIST_LIMIT)
        shelf = shelved(who.scope, where)
        cursors = cursors_of("list", who, shelf, size=3)
        place = None if after is None else cursors.read(after)
        return (yield from look(lambda s: _items_page(s, spaces_of(s, who), who, shelf, limit, place, cursors)))

    def find_ids(self, who: Who, typed: str, limit: int) -> Flow[Sequence[ItemId]]:
        """Ids, whatever the state of their items, that begin with what was typed; if none does, those that end so.

        Among them are those of what rules will make of unread turns, for a reader is shown them.
        """
        whole("limit", limit, low=1, high=LIST_LIMIT)
        if not isinstance(typed, str) or not 1 <= len(typed) <= 26 or set(typed) - set(ALPHABET):
            raise Invalid("typed", f"{typed!r:.60} is no part of an id", f"An id is 26 characters of {ALPHABET}.")

        def matching(snapshot: Snapshot) -> Sequence[ItemId]:
            spaces, where = spaces_of(snapshot, who), shelved(who.scope, Filter(states=tuple(State)))
            ahead = underived_nearby(snapshot, who, self.desk, self.unread).items.values()
            shown = [item.id for item in ahead if on_shelf(who.scope, item)]
            beginning = prefix_range(typed)
            begin = snapshot.ids_between(spaces, *beginning, where=where) if beginning else ()
            if ids := {*islice(begin, limit), *(id for id in shown if id.startswith(typed))}:
                return sorted(ids)[:limit]
            low, high = bytes(16), b"\xff" * 16
            end = snapshot.ids_between(spaces, low, high, suffix_bytes(typed), where)
            ids = {
                *islice((id for id in end if id.endswith(typed)), limit),
                *(id for id in shown if id.endswith(typed)),
            }
            return sorted(ids)[:limit]

        return (yield from look(matching))

    def count(self, who: Who, where: Filter) -> Flow[int]:
        """How many items the view shows, of those that are written."""
        shelf = shelved(who.scope, where)
        return (yield from look(lambda s: s.count(spaces_of(s, who), shelf, view_of(s, who))))

    def history(self, who: Who, item: ItemId) -> Flow[Sequence[Version]]:
        """Every version of an item and of what it superseded or was superseded by, oldest first."""
        versions = yield from look_ahead(who, self.desk, lambda s: self._story(s, who, item))
        if not any(v.item.id == item and on_shelf(who.scope, v.item) for v in versions):
            raise absent(item)
        return versions

    def _story(self, snapshot: Snapshot, who: Who, item: ItemId) -> Sequence[Version]:
        import_whole("mnemic.past.journal_views")
        from mnemic.past.journal_views import story

        versions = story(snapshot, spaces_of(snapshot, who), item, view_of(snapshot, who))
        ahead = None if versions else unread_versions(snapshot, who, self.desk, self.unread).get(item)
        return versions if ahead is None else (ahead,)

    def links(self, who: Who, item: ItemId) -> Flow[Sequence[Link]]:
        """Links that start or end at an item; where only a reader ahead of the rules knows it, those it will have."""
        return (yield from look(lambda s: self._linked(s, who, item)))

    def _linked(self, snapshot: Snapshot, who: Who, item: ItemId) -> Sequence[Link]:
        spaces = spaces_of(snapshot, who)
        written = _links(snapshot, spaces, item, view_of(snapshot, who))
        if written or item in snapshot.standing(spaces, [item]):
            return written
        return [
            link
            for link in underived_nearby(snapshot, who, self.desk, self.unread).links
            if item in (link.src, link.dst)
        ]

    def graph(self, who: Who, *, by: str | None, around: str | None, steps: int, limit: int) -> Flow[EntityGraph]:
        """The graph of entities and facts, what ended among them.

        Raises:
            NotFound: nothing is called as `around` says.
        """
        return (yield from look(lambda s: self._graph(s, who, by, around, steps, limit)))

    def _graph(
        self, snapshot: Snapshot, who: Who, by: str | None, name: str | None, steps: int, limit: int
    ) -> EntityGraph:
        import_whole("mnemic.recall.entity_graph")
        from mnemic.recall.entity_graph import DRAWN, around, drawn, limited

        where = shelved(who.scope, DRAWN if by is None else replace(DRAWN, by=(strategy_called(by, self.followed).by,)))
        spaces, view = spaces_of(snapshot, who), view_of(snapshot, who)
        when = next((at for at in (view.as_of, view.valid_at) if at is not None), self.desk.clock.now())
        known = replace(view, as_of=None)  # what had ended by then is drawn, too
        items = [version.item for version in scanned(snapshot, spaces, where, known)]
        if view.as_of is not None:
            said = [item for item in items if micros(item.said) <= view.as_of]
            items = [as_then(snapshot, spaces, view, item) if _ended_since(item, view.as_of) else item for item in said]
        links = snapshot.links(spaces, [item.id for item in items], View(at=view.at))
        graph = drawn(items, links, when)
        if name is not None and graph.nodes:
            graph = around(graph, name, steps)
            if not graph.nodes:
                raise NotFound(f"nothing in the graph is called {name!r}")
        graph = limited(graph, limit)
        sources = evidence_of(snapshot, spaces, view, graph.items)
        return replace(graph, evidence={id: version.item for id, version in sources.items()})

    def strength(self, who: Who, item: ItemId) -> Flow[Strength]:
        """An item's counters of use."""
        return (yield from look(lambda s: s.strength(own_space(s, who), [item]).get(item, Strength())))

    def holdings(self, who: Who, limit: int, after: str | None) -> Flow[Listing[Holding]]:
        """All that is held of this user, in pages as `list` has them, without what is shared."""
        import_whole("mnemic.past.holdings")
        from mnemic.past.holdings import holdings_of

        where = shelved(who.scope, Filter(states=tuple(State)))
        cursors = cursors_of("holdings", who, size=3)
        place = None if after is None else cursors.read(after)

        def held(snapshot: Snapshot) -> Listing[Holding]:
            for own in own_or_none(snapshot, who):
                page = _items_page(snapshot, (own,), who, where, limit, place, cursors)
                return Listing(tuple(holdings_of(snapshot, own, page)), page.next)
            return Listing()

        return (yield from look(held))

    def log(
        self, who: Who, limit: int, after: int | str, *, newest: bool, every: bool = False
    ) -> Flow[Listing[Change]]:
        """The commits that touched this user's space; with `every`, also those that only count what was shown."""
        import_whole("mnemic.past.journal_views")
        from mnemic.past.journal_views import commits_shown, log_page

        whole("limit", limit, low=1, high=LIST_LIMIT)
        cursors = cursors_of("log", who, newest, every, size=2)

        def shown(snapshot: Snapshot) -> Listing[Change]:
            own, at = own_or_none(snapshot, who), view_of(snapshot, who).at
            commits = partial(commits_shown, snapshot, own, at, newest=newest, every=every)
            return log_page(commits, limit, after, cursors, newest=newest)

        return (yield from look(shown))

    def sessions(self, who: Who, limit: int, after: str | None) -> Flow[Listing[tuple[str, SessionRow]]]:
        """The sessions that have a window, in the order in which their names were first said."""
        cursors = cursors_of("sessions", who, size=1)
        (past,) = (0,) if after is None else cursors.read(after)

        def shown(snapshot: Snapshot) -> Listing[tuple[str, SessionRow]]:
            own = own_or_none(snapshot, who)
            rows = snapshot.sessions(own[0], past, limit + 1) if own else []
            page = one_page(rows, limit, lambda last: cursors.write(last[0]))
            return Listing(tuple((name, row) for _, name, row in page), page.next)

        return (yield from look(shown))

    def find_session(self, who: Who, name: str) -> Flow[SessionRow | None]:
        """The window of one session; None where it has none."""
        return (yield from look(lambda s: next((s.session(own, name) for own in own_or_none(s, who)), None)))

    def diff(self, who: Who, a: int, b: int | None) -> Flow[Sequence[Difference]]:
        """What differs between the commits `a` and `b` (left out: the head)."""
        import_whole("mnemic.past.journal_views")
        from mnemic.past.journal_views import differences

        return (yield from look(lambda s: differences(s, own_space(s, who), a, b)))


def _ended_since(item: Item, moment: int) -> bool:
    """Whether that an item no longer holds became known only after a moment."""
    return item.known_to is not None and micros(item.known_to) > moment


def _items_page(
    snapshot: Snapshot,
    spaces: tuple[int, ...],
    who: Who,
    where: Filter,
    limit: int,
    place: tuple[int, ...] | None,
    cursors: Cursors,
) -> Listing[Version]:
    """The items last written before a place, which has the commit that the first page showed: the next ones show it."""
    view = snapshot.dated(spaces, view_of(snapshot, who))
    last = max((head.seq for head in snapshot.spaces(spaces)), default=0)
    shown = last if place is None else place[0]
    if shown > last:
        remedy = "The journal was brought back to one before it: begin anew."
        raise Invalid("after", f"goes on from commit {shown}, which is gone", remedy)
    if shown < last and view.at is None:
        view = replace(view, at=shown)
    before = None if place is None else (place[1], place[2])
    versions = snapshot.written_before(before, spaces, where, view, limit=limit + 1)
    page = one_page(versions, limit, lambda last: cursors.write(shown, *last[0]))
    return Listing(tuple(version for _, version in page), page.next)


def _links(snapshot: Snapshot, spaces: tuple[int, ...], item: ItemId, view: View) -> list[Link]:
    """Links of an item; of the past of what was known or held, those whose both ends it shows."""
    links = snapshot.links(spaces, [item], view)
    if view.as_of is None and view.valid_at is None:
        return links
    ends = snapshot.get(spaces, list({end for link in links for end in (link.src, link.dst)}), view)
    return [link for link in links if link.src in ends and link.dst in ends]
