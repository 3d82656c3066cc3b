"""Reading, thinking and writing as one: committed as if nobody else had written in between."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from mnemic.core.events import Verb
from mnemic.core.ids import ItemId
from mnemic.core.items import EVIDENCE, Item, State, Version
from mnemic.core.queries import Filter
from mnemic.core.transitions import retired
from mnemic.errors import Conflict, Invalid
from mnemic.flow import Flow
from mnemic.index.standing import Standings
from mnemic.store.engine.snapshot import Snapshot
from mnemic.store.requests import commit, look
from mnemic.store.values.drafts import Op, Put
from mnemic.verbs.looking_up import LIST_LIMIT
from mnemic.verbs.statements import Statement, revision, stated
from mnemic.verbs.who import (
    TRIES,
    Who,
    absent,
    chunks_of,
    cited_versions,
    draft_of,
    last_commit,
    own_or_none,
    refuse_uncited,
    shelved,
    writable,
)
from mnemic.writing import Desk

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Transaction(Generic[T]):
    """What a transaction writes in one commit, and what it answers.

    Attributes:
        revise: By id, the fields of an item that change, as `revise` takes them; evidence is never revised.
        retire: What is hidden from now, as `forget` does.
    """

    answer: T
    write: tuple[Statement, ...] = ()
    revise: Mapping[ItemId, Mapping[str, object]] = field(default_factory=dict)
    retire: tuple[ItemId, ...] = ()


class Transacting:
    """`transact`, of a `Kernel`."""

    __slots__ = ()
    desk: Desk
    standings: Standings

    def transact(self, who: Who, where: Filter, think: Callable[[Sequence[Version]], Transaction[T]]) -> Flow[T]:
        """Read what stands, think, write: as if nobody else had written in between, or it is thought again.

        Args:
            think: Pure, and called again whenever the space has moved on; what it raises ends it, nothing written.

        Raises:
            Conflict: a key came with other content; or others were quicker `TRIES` times.
        """
        writable(who)
        for _ in range(TRIES):
            upon, versions = yield from look(lambda s: self._own_standing(s, who, where))
            edits = think(versions)
            ops = yield from self._edited(who, edits, versions)
            if not ops:
                return edits.answer
            try:
                yield from commit(replace(draft_of(who, ops), upon=upon))
            except Conflict:
                if (yield from look(lambda s: last_commit(s, who))) == upon:
                    raise
            else:
                return edits.answer
        raise Conflict(f"others were quicker {TRIES} times in a row; try again once less is written")

    def _own_standing(self, snapshot: Snapshot, who: Who, where: Filter) -> tuple[int, Sequence[Version]]:
        """What stands in this user's own space, in the order it was written, and the commit it stands as of."""
        own = own_or_none(snapshot, who)
        if not own:
            return 0, ()
        if who.branch:  # what is followed from commit to commit is one space's own
            shelf = shelved(who.scope, where)
            return last_commit(snapshot, who), [v for _, v in snapshot.scan(own, shelf, limit=LIST_LIMIT)]
        return self.standings.read(snapshot, snapshot.spaces(own)[0], shelved(who.scope, where))

    def _edited(self, who: Who, edits: Transaction[T], versions: Sequence[Version]) -> Flow[tuple[Op, ...]]:
        """The ops that edits are, checked as the verbs of their own check them."""
        named = {*edits.revise, *edits.retire}
        standing = {v.item.id: v for v in versions if v.item.id in named} if named else {}
        if unseen := [item for item in named if item not in standing]:
            raise absent(unseen[0])
        cited = list(dict.fromkeys(source for statement in edits.write for source in statement.source))
        hiding = [standing[item] for item in dict.fromkeys(edits.retire)]
        sources, chunks = yield from look(lambda s: (cited_versions(s, who, cited), chunks_of(s, who, hiding)))
        refuse_uncited(sources, cited)
        written = [
            put
            for new_item in edits.write
            for put in stated(self.desk, who, new_item, _of(sources, new_item.source)).puts
        ]
        revised = [self._changed(standing[item].item, changes) for item, changes in edits.revise.items()]
        every = {version.item.id: version.item for version in (*hiding, *chunks.values())}
        hidden = (
            Put(verb=Verb.RETIRED, item=retired(item), terms=None)
            for item in every.values()
            if item.state is not State.RETIRED
        )
        return (*written, *(put for put in revised if put is not None), *hidden)

    def _changed(self, before: Item, changes: Mapping[str, object]) -> Put | None:
        if before.kind in EVIDENCE:
            raise Invalid("revise", f"{before.id} is evidence, which is never revised", "Write a statement instead.")
        after = self.desk.item(revision(self.desk, before, changes), None).puts[0].item
        return None if after == before else self.desk.put(Verb.REVISED, after)


def _of(sources: Mapping[ItemId, Version], ids: Sequence[ItemId]) -> dict[ItemId, Version]:
    return {item: sources[item] for item in ids}
