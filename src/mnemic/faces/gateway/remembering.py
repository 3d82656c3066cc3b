"""What the gateway does with memory around one request: it recalls into the prompt before, and observes after.

All of it is calls of verbs, made in a worker thread. Nothing is held while the model answers.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from mnemic.core.items import Channel, Slot
from mnemic.core.queries import Filter
from mnemic.errors import Invalid, MnemicError, TooLarge
from mnemic.faces.gateway.splicing import decoded
from mnemic.faces.gateway.standing_blocks import StandingBlocks
from mnemic.faces.gateway.wire_shapes import Completion, Document, WireMessage, WireShape, asked
from mnemic.ingest.message import ExchangeMessage, Message
from mnemic.recall.unasked import worth_placing
from mnemic.store.values.prompt_messages import PromptMessage

if TYPE_CHECKING:
    from mnemic.core.ids import ItemId
    from mnemic.core.items import Item
    from mnemic.core.queries import Context
    from mnemic.memory import Memory, ScopedMemory

QUESTION: Final = 4_000
"""Characters of a message that are asked of memory: of a longer one its end, where the question usually stands."""

REGENERATED_SECONDS: Final = 600.0
"""For so long a message that comes again, with all before it, is taken for the same: its answer was asked for anew."""

ANSWER_LIMIT: Final = 4 * 1024 * 1024
"""Most bytes of an answer that are remembered."""


class MemoryMode(StrEnum):
    """What memory does for a request: the values of the header `Mnemic-Memory`."""

    OFF = "off"
    READ = "read"
    WRITE = "write"
    BOTH = "both"

    @property
    def reads(self) -> bool:
        return self in (MemoryMode.READ, MemoryMode.BOTH)

    @property
    def writes(self) -> bool:
        return self in (MemoryMode.WRITE, MemoryMode.BOTH)


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """On whose behalf a request comes.

    Attributes:
        actor: Who acts, for the journal; None for the user.
        session: The conversation, as the application calls it; None where it does not say.
    """

    tenant: str
    user: str
    actor: str | None = None
    session: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One request with its place in its conversation.

    Attributes:
        raw: As it came.
        body: What it says.
        messages: Of it, first first.
        names: Of each message among all conversations of all users, by all that stands before it.
        session: The shelf that its turns are kept on.
    """

    caller: Caller
    shape: WireShape
    raw: bytes
    body: Document
    messages: tuple[WireMessage, ...]
    names: tuple[str, ...]
    session: str

    @property
    def asked(self) -> list[WireMessage]:
        """What the user has said since the last answer."""
        return asked(self.messages)

    def with_blocks(self, known: Mapping[str, PromptMessage]) -> bytes:
        """The request with the blocks of its messages; as it came where there are none."""
        blocks = {place: known[name].block for place, name in enumerate(self.names) if name in known}
        placed = {place: block for place, block in blocks.items() if block}
        if not placed:
            return self.raw
        text = self.shape.with_blocks(decoded(self.raw), placed)
        return text.encode(json.detect_encoding(self.raw), "surrogatepass")


def exchange_of(caller: Caller, shape: WireShape, raw: bytes, body: Document) -> Exchange:
    """Find what a request, as it came and as it was read, says of its conversation.

    Raises:
        Invalid: it holds no messages.
    """
    messages = tuple(shape.messages(body))
    whose = "\x00".join((caller.tenant, caller.user, caller.session or ""))
    names = tuple(sha256(whose.encode() + message.digest).hexdigest() for message in messages)
    first = next((message.text for message in messages if message.role == "user"), "")
    session = caller.session or f"gateway-{sha256(f'{whose}{first}'.encode()).hexdigest()[:16]}"
    return Exchange(caller=caller, shape=shape, raw=raw, body=body, messages=messages, names=names, session=session)


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingPart:
    """What a prompt shows whatever is recalled: the blocks in it, and what is always on where that has changed.

    Attributes:
        known: What memory did about the prompt's messages, by name.
        name: The newest message's, if memory is to be asked on it; None where it has its block, or nobody spoke.
        always: The always-on part, if no block before shows the same; else empty.
        tokens: What that costs.
        quoted: The items that it shows.
    """

    known: Mapping[str, PromptMessage]
    name: str | None = None
    always: str = ""
    tokens: int = 0
    quoted: tuple[Item, ...] = ()


@dataclass(frozen=True, slots=True)
class Recollection:
    """The prompt with what memory adds to it.

    Attributes:
        raw: What goes upstream.
        items: What was recalled for the newest message; where that came too late, what is always on.
    """

    raw: bytes
    items: tuple[ItemId, ...] = ()


@dataclass(frozen=True, slots=True)
class ObservedExchange:
    """What was written of an exchange.

    Attributes:
        seq: The commit; None where there was nothing to write.
        error: Why not all was written; None where it was.
    """

    seq: int | None = None
    error: str | None = None


class Remembering:
    """Recalls into prompts and observes what was said. Safe for many threads.

    Args:
        memory: Open; it stays so.
        budget: Most tokens of a block.
        cache: Most bytes of blocks that are kept in mind until they are kept in the store.
        clock: Seconds since 1970.
    """

    def __init__(self, memory: Memory, *, budget: int, cache: int, clock: Callable[[], float] = time.time) -> None:
        self._memory, self._budget, self._clock = memory, budget, clock
        self._blocks = StandingBlocks(cache)

    def check(self, caller: Caller) -> None:
        """Raise `Invalid` where a name cannot name anything; nothing is read."""
        self._scoped(caller).shelf(session=caller.session)

    def warm(self, caller: Caller) -> None:
        """Ask once for nothing: what a first recall loads takes longer than a request waits for memory."""
        with suppress(MnemicError):
            self._scoped(caller).context("Where do I live?", budget=self._budget)

    def standing_part(self, exchange: Exchange) -> StandingPart:
        """Look up the blocks of a prompt, and what is always on: that needs neither words nor an embedder.

        Raises:
            MnemicError: memory cannot be asked.
        """
        me = self._scoped(exchange.caller)
        known = self._blocks.find(me, exchange.names)
        newest = exchange.asked
        if not newest or ((name := exchange.names[newest[-1].place]) in known and known[name].block is not None):
            return StandingPart(known=known)
        standing = me.context("", budget=self._budget)
        latest = next((block.always for block in reversed([*known.values()]) if block.always), "")
        if standing.text == latest:
            return StandingPart(known=known, name=name)
        quoted = (*standing.always, *(doubt.newer for doubt in me.review()))
        return StandingPart(known=known, name=name, always=standing.text, tokens=standing.tokens, quoted=quoted)

    def recall(self, exchange: Exchange, part: StandingPart) -> Recollection:
        """Add to a prompt what memory holds on its newest message, behind all blocks that stand there already.

        What the prompt shows already, or says word for word, is not asked for again.

        Raises:
            MnemicError: memory cannot be asked.
        """
        if part.name is None:
            return Recollection(exchange.with_blocks(part.known))
        me = self._scoped(exchange.caller)
        besides = dict.fromkeys(id for block in part.known.values() for id in (*block.shows, *block.kept_as))
        question = "\n".join(message.text for message in exchange.asked)[-QUESTION:]
        most = me.settings.k
        context = worth_placing(
            me.recall(question, k=2 * most, budget=max(1, self._budget - part.tokens), besides=tuple(besides)),
            question,
            most,
        )
        return self._placing(exchange, part, context)

    def without_recall(self, exchange: Exchange, part: StandingPart) -> Recollection:
        """Add only what is always on, where a recall came too late; that is then the newest message's block.

        Raises:
            MnemicError: memory cannot be asked.
        """
        return self._placing(exchange, part, None) if part.name else Recollection(exchange.with_blocks(part.known))

    def _placing(self, exchange: Exchange, part: StandingPart, context: Context | None) -> Recollection:
        """Place the newest message's block, unless another request has placed one."""
        assert part.name is not None
        quoted = [*part.quoted, *(() if context is None else (hit.item for hit in context.items))]
        written = {version.item.id for version in self._scoped(exchange.caller).visible([item.id for item in quoted])}
        unwritten = [item for item in quoted if item.id not in written]
        recalled = "" if context is None else context.text
        placed = self._blocks.place(
            PromptMessage(
                name=part.name, block="\n".join(text for text in (part.always, recalled) if text), always=part.always,
                shows=tuple(dict.fromkeys(item.id for item in quoted)), unwritten=tuple(item.id for item in unwritten),
                drawn_from=tuple(dict.fromkeys(id for item in unwritten for id in item.erased_with)),
            )
        )  # fmt: skip
        recalled_ids = set(placed.shows) if context is None else {hit.item.id for hit in context.items}
        items = tuple(id for id in placed.shows if id in recalled_ids)
        return Recollection(exchange.with_blocks({**part.known, part.name: placed}), items)

    def give_up(self, exchange: Exchange) -> None:
        """Note that the newest message goes without a block: where memory came too late, its place is taken."""
        for message in exchange.asked[-1:]:
            self._blocks.place(PromptMessage(name=exchange.names[message.place], block=""))

    def standing(self, exchange: Exchange) -> Recollection:
        """Add only the blocks that stand in a prompt already, less those of which something was erased or forgotten.

        Raises:
            MnemicError: memory cannot be asked.
        """
        return Recollection(exchange.with_blocks(self._blocks.find(self._scoped(exchange.caller), exchange.names)))

    def keep_block(self, exchange: Exchange) -> None:
        """Keep the newest message's block, where nothing else is written; a failure costs no more than a cached prompt.

        Raises:
            MnemicError: it cannot be kept.
        """
        if placed := self._placed(exchange):
            self._scoped(exchange.caller).observe_exchange((), prompts=placed)

    def observe(self, exchange: Exchange, completion: Completion, *, broken: bool) -> ObservedExchange:
        """Write what the user has said and what was answered, in this order; each is written once, however often asked.

        Args:
            broken: The answer broke off.
        """
        error = None
        try:
            me = self._scoped(exchange.caller)
            me = me.shelf(session=_session(me, exchange))
            said = self._said(me, exchange)
            answered = [_answer(exchange, completion, broken=broken)] if completion.text.strip() else []
            if completion.size > ANSWER_LIMIT:
                answered, error = (
                    [],
                    f"TooLarge: answer: is longer than {ANSWER_LIMIT:,} bytes; it was passed on, and not kept",
                )
            try:
                return replace(self._write(me, exchange, [*said, *answered]), error=error)
            except (Invalid, TooLarge) as refused:
                if not answered:
                    raise
                error = f"{type(refused).__name__}: {refused}"
                return replace(self._write(me, exchange, said), error=error)
        except MnemicError as failure:
            return ObservedExchange(error=f"{type(failure).__name__}: {failure}")

    def _write(self, me: ScopedMemory, exchange: Exchange, said: Sequence[ExchangeMessage]) -> ObservedExchange:
        placed = self._placed(exchange)
        if not said and not placed:
            return ObservedExchange()
        receipt = me.observe_exchange(said, prompts=placed)
        return ObservedExchange(receipt.seq if said else None)

    def _said(self, me: ScopedMemory, exchange: Exchange) -> list[ExchangeMessage]:
        """What the user has said since the last answer and is not written yet."""
        asked, now = exchange.asked, self._clock()
        known = me.prompt_messages([exchange.names[message.place] for message in asked])
        said = []
        for message in asked:
            name = exchange.names[message.place]
            before = known[name].kept_at if name in known else 0.0
            if before > now - REGENERATED_SECONDS:
                continue
            key = _key(name, repr(before), str(int(now // REGENERATED_SECONDS)))  # of two at once the first writes it
            turn = Message(text=message.text, key=key, slots={"role": "user"})
            said.append(ExchangeMessage(said=turn, channel=Channel.USER, prompt=name, at=now))
        return said

    def _placed(self, exchange: Exchange) -> list[PromptMessage]:
        """The newest message's block, if it was placed here."""
        placed = (self._blocks.placed(exchange.names[message.place]) for message in exchange.asked[-1:])
        return [block for block in placed if block is not None]

    def _scoped(self, caller: Caller) -> ScopedMemory:
        return self._memory.scope(user=caller.user, tenant=caller.tenant, actor=caller.actor)


def _session(me: ScopedMemory, exchange: Exchange) -> str:
    """The shelf of an exchange: that of the answer which it goes on from, where it says so and names none."""
    if exchange.caller.session is None and (slots := exchange.shape.continued(exchange.body)):
        for version in me.list(where=Filter(slots=tuple(slots.items())), limit=1):
            return version.item.session or exchange.session
    return exchange.session


def _answer(exchange: Exchange, completion: Completion, *, broken: bool) -> ExchangeMessage:
    """An answer as it is kept: once for each id that the endpoint gave it, and wording.

    The id alone does not do: there are servers that draw it out of a thousand.
    """
    prompt = exchange.names[-1] if exchange.names else ""
    slots: dict[str, Slot] = {"role": "assistant", **exchange.shape.answer_slots(completion)}
    if broken:
        slots["unfinished"] = True
    said = Message(text=completion.text, key=_key(prompt, completion.id, completion.text), slots=slots)
    return ExchangeMessage(said=said, channel=Channel.MODEL, prompt=prompt)


def _key(*parts: str) -> str:
    """Name what is written of an exchange, so that it is written once."""
    return "gateway:" + sha256("\x00".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]
