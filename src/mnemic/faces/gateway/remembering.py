"""What the gateway does with memory around one request: it recalls into the prompt before, and observes after.

All of it is calls of verbs, made in a worker thread. Nothing is held while the model answers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from mnemic.core.items import Channel
from mnemic.errors import Invalid, MnemicError
from mnemic.faces.gateway.placed_blocks import PlacedBlock, PlacedBlocks, StripedLocks, Written, withdrawn
from mnemic.faces.gateway.wire_shapes import Completion, Document, WireMessage, WireShape, asked

if TYPE_CHECKING:
    from mnemic.core.ids import ItemId
    from mnemic.memory import Memory, ScopedMemory

QUESTION: Final = 4_000
"""Characters of a message that are asked of memory: of a longer one its end, where the question usually stands."""

REGENERATED_SECONDS: Final = 600.0
"""For so long a message that comes again, with all before it, is taken for the same: its answer was asked for anew."""

_STRIPES: Final = 64

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
        body: As it came.
        messages: Of it, first first.
        keys: Names each message among all conversations of all users, by all that stands before it.
        session: The shelf that its turns are kept on.
    """

    caller: Caller
    shape: WireShape
    body: Document
    messages: tuple[WireMessage, ...]
    keys: tuple[bytes, ...]
    session: str

    @property
    def asked(self) -> list[WireMessage]:
        """What the user has said since the last answer."""
        return asked(self.messages)


def exchange_of(caller: Caller, shape: WireShape, body: Document) -> Exchange:
    """Read a request.

    Raises:
        Invalid: it holds no messages.
    """
    messages = tuple(shape.messages(body))
    whose = "\x00".join((caller.tenant, caller.user, caller.session or ""))
    keys = tuple(sha256(whose.encode() + message.digest).digest() for message in messages)
    first = next((message.text for message in messages if message.role == "user"), "")
    session = caller.session or f"gateway-{sha256(f'{whose}{first}'.encode()).hexdigest()[:16]}"
    return Exchange(caller=caller, shape=shape, body=body, messages=messages, keys=keys, session=session)


@dataclass(frozen=True, slots=True)
class Recollection:
    """The prompt with what memory adds to it.

    Attributes:
        body: What goes upstream.
        items: What was recalled for the newest message.
    """

    body: Document
    items: tuple[ItemId, ...] = ()


@dataclass(frozen=True, slots=True)
class ObservedExchange:
    """What was written of an exchange.

    Attributes:
        seqs: The commits, in order.
        error: Why not all was written; None where it was.
    """

    seqs: tuple[int, ...] = ()
    error: str | None = None


class Remembering:
    """Recalls into prompts and observes what was said. Safe for many threads.

    Args:
        memory: Open; it stays so.
        budget: Most tokens of a block.
        cache: Most bytes of blocks that are kept in mind.
        clock: Seconds that only grow.
    """

    def __init__(self, memory: Memory, *, budget: int, cache: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._memory, self._budget, self._clock = memory, budget, clock
        self._blocks = PlacedBlocks(cache)
        self._writing = StripedLocks(_STRIPES)

    def check(self, caller: Caller) -> None:
        """Raise `Invalid` where a name cannot name anything; nothing is read."""
        self._scoped(caller).shelf(session=caller.session)

    def recall(self, exchange: Exchange) -> Recollection:
        """Add to a prompt what memory holds on its newest message, behind all blocks that stand there already.

        Raises:
            MnemicError: memory cannot be asked.
        """
        me = self._scoped(exchange.caller)
        standing = self._standing(me, exchange)
        fresh = PlacedBlock("")
        if (newest := exchange.asked) and newest[-1].place not in standing:
            shown = {id for block in standing.values() for id in block.items}
            shown.update(self._said_here(exchange))
            fresh = self._new_block(me, newest, tuple(shown), [block.always for block in standing.values()])
            standing[newest[-1].place] = self._blocks.place(exchange.keys[newest[-1].place], fresh)
        return Recollection(exchange.shape.with_blocks(exchange.body, _texts(standing)), fresh.items)

    def give_up(self, exchange: Exchange) -> None:
        """Note that the newest message goes without a block: where a recall came too late, its place is taken."""
        for message in exchange.asked[-1:]:
            self._blocks.place(exchange.keys[message.place], PlacedBlock(""))

    def standing(self, exchange: Exchange) -> Recollection:
        """Add only the blocks that stand in a prompt already, less those of which something was erased or forgotten.

        Raises:
            MnemicError: memory cannot be asked.
        """
        standing = self._standing(self._scoped(exchange.caller), exchange)
        return Recollection(exchange.shape.with_blocks(exchange.body, _texts(standing)))

    def observe(self, exchange: Exchange, completion: Completion, *, broken: bool) -> ObservedExchange:
        """Write what the user has said and what was answered, in this order; each is written once, however often asked.

        Args:
            broken: The answer broke off.
        """
        me = self._scoped(exchange.caller).shelf(session=exchange.session)
        seqs: list[int] = []
        try:
            seqs += self._observe_asked(me, exchange, completion)
            if completion.size > ANSWER_LIMIT:
                raise Invalid("answer", f"is longer than {ANSWER_LIMIT:,} bytes", "It was passed on, and not kept.")
            if completion.text.strip():
                receipt = me.observe(
                    completion.text,
                    role="assistant",
                    key=_key(exchange, completion, completion.text),
                    channel=Channel.MODEL,
                    slots={"unfinished": True} if broken else {},
                )
                seqs.append(receipt.seq)
        except MnemicError as error:
            return ObservedExchange(tuple(seqs), f"{type(error).__name__}: {error}")
        return ObservedExchange(tuple(seqs))

    def _observe_asked(self, me: ScopedMemory, exchange: Exchange, completion: Completion) -> list[int]:
        seqs = []
        for message in exchange.asked:
            key = exchange.keys[message.place]
            with self._writing.of(key):  # who sends the same twice at once writes it once
                if self._blocks.written(key, self._clock() - REGENERATED_SECONDS) is None:
                    name = _key(exchange, completion, message.digest.hex())
                    receipt = me.observe(message.text, role="user", key=name)
                    self._blocks.note_written(key, Written(self._clock(), receipt.ids))
                    seqs.append(receipt.seq)
        return seqs

    def _standing(self, me: ScopedMemory, exchange: Exchange) -> dict[int, PlacedBlock]:
        """The blocks that stand in a prompt, by place, less those of which something was erased or forgotten."""
        blocks = self._blocks.placed(exchange.keys)
        gone = withdrawn(me, list(dict.fromkeys(id for block in blocks.values() for id in block.items)))
        for key, block in blocks.items():
            if gone.intersection(block.items):
                self._blocks.drop(key)
                blocks[key] = replace(block, text="", always="", items=())
        return {n: blocks[key] for n, key in enumerate(exchange.keys) if key in blocks}

    def _said_here(self, exchange: Exchange) -> list[ItemId]:
        """What was written of this conversation itself: the prompt holds it word for word."""
        written = (self._blocks.written(key, float("-inf")) for key in exchange.keys)
        return [id for one in written if one is not None for id in one.items]

    def _new_block(
        self, me: ScopedMemory, newest: Sequence[WireMessage], shown: Sequence[ItemId], always: Sequence[str]
    ) -> PlacedBlock:
        question = "\n".join(message.text for message in newest)[-QUESTION:]
        standing = me.context("", budget=self._budget)
        latest = next((text for text in reversed(always) if text), "")
        changed = standing.text if standing.text != latest else ""
        found = me.recall(question, budget=max(1, self._budget - (standing.tokens if changed else 0)), besides=shown)
        text = "\n".join(part for part in (changed, found.text) if part)
        items = [item.id for item in standing.always] if changed else []
        items += [doubt.newer.id for doubt in me.review()] if changed else []  # the block quotes what doubts
        return PlacedBlock(text, changed, (*items, *(recalled.item.id for recalled in found.items)))

    def _scoped(self, caller: Caller) -> ScopedMemory:
        return self._memory.scope(user=caller.user, tenant=caller.tenant, actor=caller.actor)


def _texts(blocks: Mapping[int, PlacedBlock]) -> dict[int, str]:
    """The words of blocks by place, where there are any."""
    return {place: block.text for place, block in blocks.items() if block.text}


def _key(exchange: Exchange, completion: Completion, content: str) -> str:
    """Name what is written of an exchange, so that it is written once.

    The answer's id alone does not do: there are servers that draw it out of a thousand.
    """
    digest = exchange.keys[-1] if exchange.keys else b""
    return "gateway:" + sha256(b"\x00".join((digest, completion.id.encode(), content.encode()))).hexdigest()[:32]
