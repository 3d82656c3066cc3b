"""The verbs that say which strategies a user's memory follows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from mnemic.core.events import Receipt, Verb
from mnemic.core.ids import ItemId
from mnemic.core.items import HIDDEN_WHOLE, Kind, Sight, Slot, State, Version
from mnemic.core.queries import Filter
from mnemic.core.transitions import retired
from mnemic.errors import NotFound
from mnemic.flow import Flow
from mnemic.lanes.following import CHOICES, FOLLOWS, choice_of
from mnemic.store.engine import lane_cursors
from mnemic.store.engine.snapshot import Snapshot
from mnemic.store.requests import commit, look, transact
from mnemic.strategies.loading import author_called, is_known, unknown_strategy
from mnemic.verbs.changing import Changing
from mnemic.verbs.statements import Statement, stated
from mnemic.verbs.who import Who, draft_of, own_or_none, scanned, standing_versions, view_of, writable

if TYPE_CHECKING:
    from mnemic.strategies.base import Strategy


class Choosing(Changing):
    """`follow`, `following`, of a `Kernel`."""

    __slots__ = ()
    followed: tuple[str | Strategy, ...]

    def follow(self, who: Who, names: Sequence[str]) -> Flow[Receipt]:
        """Have a user's memory be understood by these strategies and by no others, from its first turn on.

        What others derived before stays.

        Raises:
            Invalid: there is no strategy of a name.
        """
        writable(who)
        names = list(dict.fromkeys(names))
        for name in names:
            self._known(name)
        for name in names:
            while (yield from transact(lane_cursors.follow, name)):
                pass
        slots: dict[str, Slot] = {"follows": list(names)}
        text = f"This memory follows {', '.join(names) or 'no strategy'}."
        standing = yield from look(lambda s: _choices(s, who))
        if standing:
            return (yield from self.revise(who, standing[0].item.id, {"text": text, "slots": slots}))
        statement = Statement(text=text, kind=Kind.RESOURCE, slots=slots, tags=(FOLLOWS,))
        (put,) = stated(self.desk, who, statement, {}).puts
        choice = self.desk.put(Verb.WROTE, replace(put.item, sight=Sight.NONE))  # a setting answers no question
        return (yield from commit(draft_of(who, (choice,))))

    def follow_default(self, who: Who) -> Flow[Receipt]:
        """Have a user's memory follow again what the settings say.

        Raises:
            NotFound: it does so already.
        """
        writable(who)
        standing = yield from look(lambda s: _choices(s, who))
        if not standing:
            raise NotFound("this memory follows what the settings say already")
        return (yield from self.forget(who, [version.item.id for version in standing]))

    def forget_by(self, who: Who, name: str) -> Flow[Receipt]:
        """Hide all that a strategy derived of a user's memory, until a rerun derives it anew.

        Raises:
            Invalid: there is no strategy of this name, and nothing was derived by one.
            NotFound: nothing that it derived stands.
        """
        writable(who)
        derived = yield from look(lambda s: _derived_by(s, who, author_called(name, self.followed)))
        if not derived:  # of one that was taken out, what it derived may go all the same
            self._known(name)
            raise NotFound(f"nothing that {name} derived stands")
        named = partial(standing_versions, who=who, ids=derived)
        return (
            yield from self._marked(
                who, named, derived, Verb.RETIRED, lambda item: retired(item, **{HIDDEN_WHOLE: True}), None
            )
        )

    def _known(self, name: str) -> None:
        if not is_known(name, self.followed):
            raise unknown_strategy("strategy", name, self.desk.strategies)

    def following(self, who: Who) -> Flow[tuple[str, ...]]:
        """List the strategies that a user's memory follows."""

        def read(snapshot: Snapshot) -> tuple[str, ...]:
            choices = [choice_of(snapshot, space) for space in own_or_none(snapshot, who)]
            return next((choice for choice in choices if choice is not None), self.desk.strategies)

        return (yield from look(read))


def _derived_by(snapshot: Snapshot, who: Who, author: str) -> list[ItemId]:
    """The items that an author derived in a user's own memory, what has been superseded among them."""
    own = own_or_none(snapshot, who)
    where = Filter(by=(author,), states=(State.ACTIVE, State.SUPERSEDED))
    return [version.item.id for version in scanned(snapshot, own, where)]


def _choices(snapshot: Snapshot, who: Who) -> list[Version]:
    """The choices that stand in a user's own memory, the last written first."""
    own = own_or_none(snapshot, who)
    return snapshot.latest(own, CHOICES, view_of(snapshot, who)) if own else []
