"""`mnemic.memory`, awaited: the same flows, with the store's work in a thread and every commit shielded."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from mnemic.admin import Admin
from mnemic.aio_admin import AsyncAdmin
from mnemic.core.events import Change, Receipt
from mnemic.core.ids import ItemId
from mnemic.core.items import Channel, Link, Slot, Strength, Version
from mnemic.core.queries import Context, Filter, Lost
from mnemic.core.scope import Shared
from mnemic.flow import Flow, Request, arun, name_of
from mnemic.handles import Front, Handle, as_revision, as_statement
from mnemic.past.branching import Branch
from mnemic.past.history import Difference
from mnemic.past.merging import Merge
from mnemic.store.receipts import ErasureReceipt
from mnemic.verbs.recalling import Ask
from mnemic.verbs.statements import Statement
from mnemic.verbs.transacting import Edits
from mnemic.watching.feed import AsyncWatch, Notice, changes, written
from mnemic.writing import Given, as_messages

if TYPE_CHECKING:
    from mnemic.recall.answer import Answer
    from mnemic.session import AsyncSession
    from mnemic.store.pages import PageRow, SessionRow
    from mnemic.tiers.base import Policy
    from mnemic.tiers.pager import Marks
    from mnemic.tiers.writing import Writing
    from mnemic.window.terms import Reach

T = TypeVar("T")


class AsyncScopedMemory(Handle):
    """One user's memory, now or at a moment of its past (`at`, `as_of`, `valid_at`), awaited."""

    # Writing

    async def observe(
        self,
        messages: Given | Sequence[Given],
        *,
        speaker: str | None = None,
        role: str | None = None,
        said: datetime | None = None,
        slots: Mapping[str, Slot] | None = None,
        tags: Sequence[str] = (),
        key: str | None = None,
        channel: Channel = Channel.USER,
    ) -> Receipt:
        """Remember what was said or read, in the words it was given."""
        given = as_messages(messages, speaker=speaker, role=role, said=said, slots=slots, tags=tags, key=key)
        return await self._run(self._kernel.observe(self._who, given, channel))

    async def write(self, text: str | Statement, **fields: Any) -> Receipt:
        """Remember a statement: a fact, a profile slot, a plan. `fields` are those of `Statement`."""
        return await self._run(self._kernel.write(self._who, as_statement(text, fields)))

    async def revise(self, id: ItemId, text: str | None = None, **fields: Any) -> Receipt:
        """Correct a statement (`text`, `slots`, `tags`, `valid_from`, `valid_to`); evidence is never revised."""
        return await self._run(self._kernel.revise(self._who, id, as_revision(text, fields)))

    async def supersede(self, id: ItemId, text: str | Statement, **fields: Any) -> Receipt:
        """Say that the world has changed: the new statement holds from its `valid_from`, the old one until then."""
        return await self._run(self._kernel.supersede(self._who, id, as_statement(text, fields)))

    async def correct(self, id: ItemId, text: str | Statement, **fields: Any) -> Receipt:
        """Say that something was never so: a statement is revised, evidence hidden behind what is right."""
        return await self._run(self._kernel.correct(self._who, id, as_statement(text, fields)))

    async def transact(self, where: Filter, think: Callable[[Sequence[Version]], Edits[T]]) -> T:
        """Read what stands, think, and write in one commit, as if nobody else had written in between."""
        return await self._run(self._kernel.transact(self._who, where, think))

    async def link(
        self, src: ItemId, dst: ItemId, type: str, *, weight: float = 1.0, evidence: Sequence[ItemId] = ()
    ) -> Receipt:
        """Tie two items."""
        tie = Link(src=src, dst=dst, type=type, weight=weight, evidence=tuple(evidence))
        return await self._run(self._kernel.link(self._who, tie))

    async def unlink(self, src: ItemId, dst: ItemId, type: str) -> Receipt:
        """Untie two items."""
        return await self._run(self._kernel.link(self._who, Link(src=src, dst=dst, type=type), remove=True))

    async def pin(self, *ids: ItemId) -> Receipt:
        """Keep items at hand, whatever a policy says."""
        return await self._run(self._kernel.pin(self._who, ids, pinned=True))

    async def unpin(self, *ids: ItemId) -> Receipt:
        """Let pinned items go again."""
        return await self._run(self._kernel.pin(self._who, ids, pinned=False))

    async def forget(self, *ids: ItemId) -> Receipt:
        """Hide items from now and from `as_of`; `undo` of the receipt's seq brings them back."""
        return await self._run(self._kernel.forget(self._who, ids))

    async def feedback(self, *ids: ItemId, useful: bool) -> Receipt:
        """Say that items helped, or misled."""
        return await self._run(self._kernel.feedback(self._who, ids, useful=useful))

    async def undo(self, seq: int, *, cascade: bool = False) -> Receipt:
        """Invert a commit with its consequences; undoing that is redo."""
        return await self._run(self._kernel.undo(self._who, seq, cascade=cascade))

    async def erase(
        self, *ids: ItemId, session: str | None = None, source: str | None = None, reason: str = ""
    ) -> ErasureReceipt:
        """Take items, a session or a named source out for good, with all that was derived from them."""
        return await self._run(self._kernel.erase(self._who, ids, session=session, source=source, reason=reason))

    async def erase_user(self, *, reason: str = "") -> ErasureReceipt:
        """Take this user out for good: every item, every name, every trace but the numbers of the commits."""
        return await self._run(self._kernel.erase_user(self._who, reason))

    # Branches

    async def branch(self, name: str, *, understand: bool = False) -> Self:
        """A branch of this memory: opened, or made at the commit that this handle reads (`at(5).branch("try")`).

        It reads through to what was there then, and what is written to it stays on it until it is merged. Recall finds
        that by its words; with `understand` rules and the embedder follow it too.

        Raises:
            NotFound: nothing has been remembered yet to branch from.
            Invalid: this handle reads a moment by which nothing had been remembered yet. A commit is taken at its word.
        """
        await self._run(self._kernel.branch(self._who, name, understand=understand))
        return self.on_branch(name)

    async def branches(self) -> Sequence[Branch]:
        """Every branch of this user's memory, in the order they were made."""
        return await self._run(self._kernel.branches(self._who))

    async def merge(self, name: str, *, prefer: str | None = None, dry_run: bool = False) -> Merge:
        """Take over what a branch has changed since they were last one, in one commit that `undo` takes back.

        What both have changed differently is a conflict: it is reported and nothing is written, unless `prefer` says
        whose word counts: "branch" or "parent". Merging again brings only what is new on the branch, and where nothing
        is, tells what the last merge did (`repeated`): one whose answer was lost needs no key to be asked for again.
        """
        return await self._run(self._kernel.merge(self._who, name, prefer or "", dry_run=dry_run))

    async def drop_branch(self, name: str) -> ErasureReceipt:
        """Take a branch out for good, with what was written to it alone.

        Raises:
            Conflict: another branch comes off it.
        """
        return await self._run(self._kernel.drop_branch(self._who, name))

    async def revert(self, seq: int) -> Receipt:
        """Bring this memory back to what it was after a commit, by one commit that `undo` takes back.

        Counters stay, and what was erased does not come back. What was only understood since, from what stood at `seq`,
        stays: nobody would read it again.

        Raises:
            Compacted: it lies behind the horizon.
        """
        return await self._run(self._kernel.revert(self._who, seq))

    # Reading

    async def recall(
        self,
        query: str,
        *,
        k: int | None = None,
        budget: int | None = None,
        where: Filter = Filter(),
        now: datetime | None = None,
        explain: bool = False,
    ) -> Context:
        """The best evidence for a question, best first, each item with its provenance, scores and reasons."""
        ask = Ask(query=query, k=k, budget=budget, where=where, now=now, explain=explain)
        return await self._recalled(self._kernel.recall(self._who, ask), query)

    async def context(
        self,
        query: str,
        *,
        budget: int | None = None,
        k: int | None = None,
        now: datetime | None = None,
        explain: bool = False,
    ) -> Context:
        """A block ready for a prompt: what is always at hand, then as much evidence as fits the budget.

        The always-on part (standing instructions, pinned items, the profile) comes first and in bytes that stay the
        same. `budget` left out is the setting (2,000 tokens).
        """
        asked = self._asked_for_a_block(query, budget, k, now, explain=explain)
        return await self._recalled(self._kernel.context(self._who, asked), query)

    async def ask(self, query: str, *, k: int | None = None, now: datetime | None = None) -> Answer:
        """An answer in the words of the evidence, cited; or, in `known`, that memory does not hold it. No model."""
        return await self._run(self._kernel.ask(self._who, Ask(query=query, k=k, now=now)), query)

    async def why_not(
        self, query: str, id: ItemId, *, k: int | None = None, budget: int | None = None, now: datetime | None = None
    ) -> Lost:
        """At which stage this recall lost an item, and why."""
        return await self._run(self._kernel.why_not(self._who, Ask(query=query, k=k, budget=budget, now=now), id))

    async def get(self, id: ItemId) -> Version:
        """One item."""
        return await self._run(self._kernel.get(self._who, id))

    async def list(self, *, where: Filter = Filter(), limit: int = 20) -> Sequence[Version]:
        """What was written last, newest first."""
        return await self._run(self._kernel.list(self._who, where, limit))

    async def count(self, *, where: Filter = Filter()) -> int:
        """How many items there are."""
        return await self._run(self._kernel.count(self._who, where))

    async def links(self, id: ItemId) -> Sequence[Link]:
        """Links that start or end at an item."""
        return await self._run(self._kernel.links(self._who, id))

    async def strength(self, id: ItemId) -> Strength:
        """How often an item was shown, was useful, misled."""
        return await self._run(self._kernel.strength(self._who, id))

    async def history(self, id: ItemId) -> Sequence[Version]:
        """Every version of an item, and of what it superseded or was superseded by, oldest first."""
        return await self._run(self._kernel.history(self._who, id))

    async def log(self, *, limit: int = 20, after: int = 0, newest: bool = True) -> Sequence[Change]:
        """The journal of this user's space."""
        return await self._run(self._kernel.log(self._who, limit, after, newest=newest))

    async def diff(self, a: int, b: int | None = None) -> Sequence[Difference]:
        """What differs between two commits; `b` left out is now."""
        return await self._run(self._kernel.diff(self._who, a, b))

    # A window on it

    def session(
        self,
        name: str | None = None,
        *,
        budget: int | None = None,
        policy: str | Policy | None = None,
        marks: Marks | None = None,
        writing: Writing | None = None,
        reach: Reach | None = None,
    ) -> AsyncSession:
        """A window for one talk, taken up where it was left: `async with me.session("chat-1") as s`."""
        from mnemic.session import AsyncSession
        from mnemic.window.terms import terms

        return AsyncSession(self._opened, self._who, name, terms(budget, policy, marks, writing, reach))

    async def sessions(self) -> Sequence[tuple[str, SessionRow]]:
        """The windows that talks have, by name, as they were written down last."""
        return await self._run(self._kernel.read(self._who, lambda s, _, own: [] if own is None else s.sessions(own)))

    async def session_pages(self, name: str) -> Sequence[PageRow]:
        """The page table of a talk: its residents in order, and its turns that left and are in no segment yet."""
        from mnemic.window.kept import at_hand

        return await self._run(self._kernel.read(self._who, lambda s, _, own: at_hand(s, own, name)))

    async def find_ids(self, typed: str, *, limit: int = 100) -> Sequence[ItemId]:
        """Ids that begin with some characters of their alphabet, or, if none does, that end with them, ascending.

        Args:
            typed: 1 to 26 of the characters `0123456789abcdefghjkmnpqrstvwxyz`; items in whatever state count.
        """
        return await self._run(self._kernel.find_ids(self._who, typed, limit))

    async def visible(self, ids: Sequence[ItemId]) -> Sequence[Version]:
        """Those of these items that can be seen now, in no order."""
        return await self._run(self._kernel.read(self._who, lambda s, spaces, _: list(s.get(spaces, ids).values())))

    # Watching

    async def changes(self, *, after: int | str = 0, limit: int = 100) -> Sequence[Notice]:
        """The commits of this memory and the shared one after commit `after`, oldest first; on a branch, of it alone.

        With an agent or a session named, what they did to items of that shelf, in both memories: to what `recall` and
        `list` show here. What belongs to no agent is on no agent's shelf.

        Args:
            after: The `mark` of a notice, or a commit's number; 0 begins with what is kept.

        Raises:
            NotFound: the branch is not there.
            Compacted: commits after `after` lie behind the horizon and are gone, or the journal was brought back to
                before it. Once there are as many commits again, only a mark can tell.
        """
        return await self._run(changes(self._who, after, limit))

    async def written(self, seq: int) -> Sequence[Version]:
        """What a commit wrote, as it left it, but for what was erased since."""
        return await self._run(written(self._who, seq))

    def watch(self, *, after: int | str | None = None) -> AsyncWatch:
        """The commits of this memory and the shared one as they are made, by any thread or process; as of `changes`.

        An iterator that waits for the next one and ends when it is closed, or the memory is.

        Args:
            after: Where to begin: the `mark` of an earlier watch goes on from it; left out, with what is committed from
                now on.

        Raises:
            NotFound: the branch is not there; the iterator, once it was dropped.
            Compacted: of the iterator, as of `changes`.
        """
        return AsyncWatch(self._opened, self._who, after)

    async def _recalled(self, flow: Flow[Context], asked: str) -> Context:
        context = await self._run(flow, asked)
        self._opened.count_use(self._who, context)
        return context

    async def _run(self, flow: Flow[T], asked: str = "") -> T:
        with self._opened.meters.verb(name_of(flow), self._who, asked) as timed:
            return timed(await arun(flow, self._perform))

    async def _perform(self, request: Request) -> Any:
        # Shielded: a cancelled write lands or fails as a whole, it is never cut in two.
        return await asyncio.shield(asyncio.to_thread(self._opened.perform, request))


class AsyncMemory(Front[AsyncScopedMemory]):
    __doc__ = Front.__doc__
    _handle = AsyncScopedMemory

    @property
    def admin(self) -> AsyncAdmin:
        """Care of the whole store: verify, doctor, backup, export, stats, horizon."""
        return AsyncAdmin(Admin(self._opened))

    def session(
        self,
        session: str,
        *,
        user: str | Shared,
        tenant: str | None = None,
        agent: str | None = None,
        budget: int | None = None,
        policy: str | Policy | None = None,
        marks: Marks | None = None,
        writing: Writing | None = None,
        reach: Reach | None = None,
    ) -> AsyncSession:
        """A window on one user's memory for one talk; see `session` of a scope."""
        scoped = self.scope(user=user, tenant=tenant, agent=agent)
        return scoped.session(session, budget=budget, policy=policy, marks=marks, writing=writing, reach=reach)

    async def flush(self, *, seconds: float | None = None, told: Callable[[str, int], None] | None = None) -> bool:
        """Wait until all that was written is understood and has its vectors; whether that was reached in time."""
        return await asyncio.to_thread(self._opened.background.drain, told, seconds)

    def watch(self, *, user: str | Shared, after: int | str | None = None, tenant: str | None = None) -> AsyncWatch:
        """The commits of one user's memory and the shared one as they are made; see `watch` of a scope."""
        return self.scope(user=user, tenant=tenant).watch(after=after)

    async def close(self) -> None:
        """Write what is gathered and let go of the files; closing twice is fine."""
        await asyncio.to_thread(self._opened.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
