"""A conversation over a session of memory: recall, remember what was said, answer, remember the answer."""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Final

from mnemic.core.events import Verb as Did
from mnemic.core.items import Channel
from mnemic.errors import Compacted, MnemicError, ModelError, NotFound, StoreError
from mnemic.faces.chat.prompt import prompt, rules, told_today
from mnemic.faces.cli.invocation import CATCH_UP_SECONDS
from mnemic.models.chat.base import Ask, pieces_of
from mnemic.watching.model_calls import metered

if TYPE_CHECKING:
    from mnemic.core.events import Change, Receipt
    from mnemic.core.ids import ItemId
    from mnemic.core.items import Item, Slot
    from mnemic.core.queries import Context
    from mnemic.engine_adapters import EngineAdapters
    from mnemic.engine_memory import Attached, EngineMemory
    from mnemic.learnt_shards import Shard, Unweighed
    from mnemic.memory import Memory, ScopedMemory
    from mnemic.models.chat.base import Chat, ChatMessage
    from mnemic.models.chat.engine_slot import PromptWork
    from mnemic.recall.answer import Answer
    from mnemic.session import Session
    from mnemic.store.values.spending import Spending

_DERIVATIONS: Final = 50
"""Commits that are looked through for what a turn led to."""


@dataclass(slots=True, kw_only=True)
class Turn:
    """What one person said, what memory made of it, and what was answered.

    Attributes:
        context: The window of the session with what was recalled, before this turn was written.
        prompt: What the model was given; empty where there is none.
        written: The commit of what the person said.
        derived: What rules read in it: standing instructions, facts of the profile.
        closed: What that took the place of.
        answer: As far as it came.
        reply: The commit of the answer; None where there is nothing of the model's to keep.
        stopped: It was stopped by the person.
        error: Why the model did not answer, or not to the end.
        shown: Every item whose words the prompt shows.
        attached: What the engine had of the prompt, where it is one of this process and keeps that.
        work: What it did for the prompt.
        read_ahead: Tokens that it had read in the background since the answer before.
        first_token: Seconds until its first word came.
        named: The items out of which memory would answer: by them it is chosen what of the learnt is weighed in.
        learnt: The shard of what the model has learnt of this person that is weighed in; None for none.
        unweighed: Why none of what was learnt is weighed in; None where some is, or nothing was learnt.
        set_aside: The shards that are weighed in for nothing, since something that they hold stands no more.
    """

    message: str
    context: Context
    prompt: tuple[ChatMessage, ...] = ()
    written: Receipt
    derived: tuple[Item, ...] = ()
    closed: tuple[Item, ...] = ()
    answer: str = ""
    reply: Receipt | None = None
    stopped: bool = False
    error: ModelError | None = None
    shown: tuple[ItemId, ...] = ()
    attached: Attached | None = None
    work: PromptWork | None = None
    read_ahead: int = 0
    first_token: float = 0.0
    named: tuple[ItemId, ...] = ()
    learnt: Shard | None = None
    unweighed: Unweighed | None = None
    set_aside: tuple[Shard, ...] = ()


@dataclass(slots=True)
class Conversation:
    """Turns of one session, written as they are made; recall sees every session.

    Args:
        memory: Open.
        me: The person's memory, no session named.
        session: Open; its window is what a model is given.
        chat: Who answers; None to have memory quoted.
        limit: Most tokens of an answer.
        engine: What the model's engine has computed of this session; None where the model is no engine of this process,
            or the store keeps no artefacts.
        adapters: What that model has learnt of this person; None as for the engine.
    """

    memory: Memory
    me: ScopedMemory
    session: Session
    chat: Chat | None
    limit: int = 512
    engine: EngineMemory | None = None
    adapters: EngineAdapters | None = None
    turns: list[Turn] = field(default_factory=list)
    _acts: list[tuple[Turn | None, list[int]]] = field(default_factory=list)
    _run: str = field(default_factory=lambda: uuid.uuid4().hex)
    _said: int = 0
    _began: date | None = None
    _ahead: int = 0

    def begin(self, message: str) -> Turn:
        """Recall for a message, then write it; what rules read in it is written too when this returns.

        Raises:
            MnemicError: it cannot be kept.
        """
        context = self.session.context(message, explain=True)
        answer = ""
        if self.chat is None:
            answered = self.me.ask(message)
            answer, context = quoted(message, answered), _beside(message, answered, context)
        named = () if self.adapters is None else self.adapters.named_for(message)
        self._said += 1
        receipt = self._observe("user", message, Channel.USER)
        turn = Turn(message=message, context=context, answer=answer, written=receipt, named=named)
        if self.chat is not None:
            turn.prompt = self._prompt(self.session.messages(system=rules(self.began)))
            turn.shown = self.session.shown_ids
        self.turns.append(turn)
        self._acts.append((turn, [receipt.seq]))
        self.understand()
        self._note_derived(turn)
        return turn

    @property
    def began(self) -> date:
        """The day of this talk's first turn that is still known; today where it is just beginning."""
        if self._began is None:
            pages = [page for page in self.me.session_pages(self.session.name) if page.position >= 0]
            known = self.me.visible([page.item for page in sorted(pages, key=lambda page: page.position)[:1]])
            self._began = known[0].item.said.date() if known else datetime.now(UTC).date()
        return self._began

    def prefill(self) -> int:
        """Have the engine read what any next question's prompt begins with; how many tokens it had to.

        Raises:
            ModelError: the engine cannot be had, or failed.
        """
        if self.engine is None:
            return 0
        window, shown = self.session.messages(system=rules(self.began)), self.session.shown_ids
        one, other = (self._prompt([*window, {"role": "user", "content": letter}]) for letter in "ab")
        return self.engine.prefill(one, other, shown)

    def prefill_behind(self) -> None:
        """Do so in the background; the first question waits for what is left of it."""
        if self.engine is not None:
            self.engine.behind(self.prefill)

    def close(self) -> None:
        """Keep what the engine has computed of this talk, and leave nothing of it in the engine."""
        if self.engine is not None:
            self.engine.close()

    def _prompt(self, messages: Sequence[Mapping[str, object]]) -> tuple[ChatMessage, ...]:
        return prompt(told_today(messages, self.began, datetime.now(UTC).date()))

    def answer(self, turn: Turn, on_piece: Callable[[str], None]) -> None:
        """Have the model answer a turn, `on_piece` called with each piece; Ctrl-C stops it. What came is written.

        A quotation is not: memory would quote itself.
        """
        if self.chat is None:
            on_piece(turn.answer)
            return
        asked = time.perf_counter()
        try:
            with closing(self._pieces(self.chat, turn)) as pieces:
                for piece in pieces:
                    turn.first_token = turn.first_token or time.perf_counter() - asked
                    turn.answer += piece
                    on_piece(piece)
        except ModelError as error:
            turn.error = error
        except KeyboardInterrupt:
            turn.stopped = True
        if turn.answer.strip():
            whole = turn.error is None and not turn.stopped
            turn.reply = self._observe("assistant", turn.answer, Channel.MODEL, {} if whole else {"unfinished": True})
            self._acts[-1][1].append(turn.reply.seq)
            self.understand()
        if self.engine is not None and turn.attached is not None:
            said = () if turn.reply is None else turn.reply.ids
            turn.work = self.engine.answered(turn.first_token, said)
            ahead = int(self.engine.counts().get("prefilled_ahead", 0))
            turn.read_ahead, self._ahead = ahead - self._ahead, ahead

    def _pieces(self, chat: Chat, turn: Turn) -> Generator[str, None, None]:
        """Yield the model's words; closing the generator stops the model. What they took is metered."""
        ask = Ask(turn.prompt, self.limit, task="answer")
        if self.engine is not None:
            with suppress(MnemicError):  # the engine reads the whole prompt then, and says so itself if it cannot
                weights = self._weighed(turn)
                turn.attached = self.engine.attach(turn.prompt, turn.shown, weights)
        with metered("chat", ask, chat.name, self._spend) as call:
            call.reply = yield from pieces_of(chat, ask)

    def _weighed(self, turn: Turn) -> Mapping[str, float] | None:
        """How what the model has learnt is weighed for a turn; its shard is then a source of the prompt's state."""
        if self.adapters is None or self.engine is None:
            return None
        self.engine.wait()  # what is kept in the background is of the engine as it is
        self.adapters.refresh()
        weights, turn.learnt = self.adapters.weights_for(turn.named)
        turn.unweighed = self.adapters.why_unweighed(turn.named)
        turn.set_aside = tuple(self.adapters.set_aside)
        if turn.learnt is not None:
            turn.shown = (*turn.shown, turn.learnt.kept.id)
        return weights

    def _spend(self, spending: Spending) -> None:
        with suppress(MnemicError):  # an answer is not given up for a meter that cannot be written
            self.me.spend(spending)

    def forget(self, *ids: ItemId) -> Receipt:
        """Hide items; `undo` brings them back."""
        receipt = self.me.forget(*ids)
        self._acts.append((None, [receipt.seq]))
        return receipt

    def undo(self) -> tuple[list[int], Turn | None]:
        """Take back the last turn or the last forgetting of this conversation; its commits, and the turn if it was one.

        Raises:
            NotFound: there is none left; or this one cannot be undone, now or ever, and is passed over from now on.
            Compacted: likewise.
            StoreError: the store failed; another try may do it.
        """
        if not self._acts:
            raise NotFound("nothing of this conversation is left to undo; `mnemic log` shows what was before")
        turn, seqs = self._acts[-1]
        try:
            for seq in reversed(seqs):
                self.me.undo(seq, cascade=True)
        except (NotFound, Compacted):
            self._acts.pop()
            raise
        self._acts.pop()
        if turn is not None:
            self.turns.remove(turn)
        return seqs, turn

    def _observe(self, role: str, text: str, channel: Channel, slots: dict[str, Slot] | None = None) -> Receipt:
        key = f"chat:{self._run}:{self._said}:{role}"
        return self.session.observe(text, role=role, key=key, channel=channel, slots=slots)

    def understand(self) -> None:
        """Have what was written understood, as far as a moment allows; the rest is understood later."""
        with suppress(ModelError, StoreError):
            self.memory.flush(seconds=CATCH_UP_SECONDS)

    def _note_derived(self, turn: Turn) -> None:
        from mnemic.lanes.slices import DERIVER

        mine = set(turn.written.ids)
        for change in self.me.log(after=turn.written.seq, newest=False, limit=_DERIVATIONS):
            if change.actor == DERIVER:
                fresh = [item for item in self._touched(change, Did.WROTE) if mine & set(item.source)]
                turn.derived += tuple(fresh)
                turn.closed += tuple(self._touched(change, Did.SUPERSEDED)) if fresh else ()

    def _touched(self, change: Change, verb: Did) -> list[Item]:
        """Return the items that a commit did `verb` to, as they stand now, if only in the history."""
        ids = [event.item for event in change.events if event.item is not None and event.verb is verb]
        return [next(v.item for v in reversed(self.me.history(id)) if v.item.id == id) for id in ids]


_ASKS: Final = re.compile(
    r"[?？]|^\W*(?:who|whose|whom|what|which|when|where|why|how|do|does|did|is|are|am|was|were|can|could|have|has|had|will"
    r"|would|should)\b|[吗呢]\W*$|谁|什么|哪|几[点个次位天]|多少|多久|怎么|为何",
    re.IGNORECASE,
)
_CHINESE: Final = re.compile("[\u3400-\u9fff]")


def asks(message: str) -> bool:
    """Whether a message looks like a question, in English or Chinese."""
    return _ASKS.search(message) is not None


def _beside(message: str, answer: Answer, context: Context) -> Context:
    """What was recalled, as it is shown beside an answer: a note of it denies none that is given."""
    from mnemic.recall.answer import in_agreement

    return in_agreement(context, answer) if asks(message) else context


def quoted(message: str, answer: Answer) -> str:
    """Phrase what is answered where no model is asked: the quotation, or that the message was kept."""
    if asks(message):
        return answer.text
    return "记住了。" if _CHINESE.search(message) else "Kept."
