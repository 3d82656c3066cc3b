"""From what a caller gives to the ops of a commit: checked, masked, split where it is long, sealed with a key."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from mnemic.core.checking import clean_name, clean_text, listed, mapping, member, optional, record, shown, within, words
from mnemic.core.clock import Clock, aware, expiry, instant, micros, moment, moment_or_span, offset_minutes
from mnemic.core.events import Verb
from mnemic.core.ids import Entropy, ItemId, new_id
from mnemic.core.items import Channel, Item, Kind, Slot
from mnemic.core.mask import mask, mask_name
from mnemic.core.parts import entry_terms
from mnemic.core.scope import Scope
from mnemic.core.tokens import cut
from mnemic.core.uninterrupted import import_whole
from mnemic.errors import Invalid
from mnemic.ingest.chat_message import from_chat
from mnemic.ingest.message import Message
from mnemic.settings import Settings
from mnemic.store.engine.codec import canonical
from mnemic.store.values.drafts import Put
from mnemic.tiers.retention import TAG

_BYTES_A_TOKEN: Final = 8
"""Most bytes of a chunk that count as one token, so that chunks cut by tokens stay under the limit in bytes."""
KEY_LIMIT: Final = 1024


@dataclass(frozen=True, slots=True)
class Puts:
    """The ops that write something, and how many secrets were masked on the way, by kind."""

    puts: tuple[Put, ...]
    masked: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Desk:
    """What turning words into items needs from outside.

    Attributes:
        strategies: The names of those that are followed for users who have chosen none. Where the house's rules are
            followed, readers are shown what they make of unread turns.
    """

    clock: Clock
    entropy: Entropy
    settings: Settings
    strategies: tuple[str, ...] = ("house",)

    def evidence(self, scope: Scope, messages: Sequence[Message], channel: Channel, *, lasting: bool) -> Puts:
        """The ops that remember `messages`, in order: one each, or a document and its chunks where one is long.

        Raises:
            Invalid, TooLarge: a message cannot be taken; the field is named with its place.
        """
        masked: Counter[str] = Counter()
        puts = [
            put
            for i, m in enumerate(messages)
            for put in self._message(scope, m, channel, f"messages[{i}].", masked, lasting)
        ]
        return Puts(tuple(puts), tuple(sorted(masked.items())))

    def item(
        self,
        item: Item,
        key: str | None,
        said: datetime | None = None,
        expires: datetime | timedelta | None = None,
    ) -> Puts:
        """The op that writes one derived or stated item; `said` and `expires` are as its caller gave them."""
        clean_text("text", item.text, self.settings.item_limit, "item_limit")
        masked: Counter[str] = Counter()
        text = self._masked(item.text, masked)
        slots = self._masked_slots(clean_slots(item.slots, self.settings.item_limit), masked)
        tags = self._masked_tags(clean_tags(item.tags), masked)
        checked = replace(item, text=text, slots=slots, tags=tags)
        content = b"" if key is None else _statement_content(checked, said, self.expiry_as_given(expires))
        return Puts((self.put(Verb.WROTE, checked, key=_key(key), content=content),), tuple(sorted(masked.items())))

    def put(
        self, verb: Verb, item: Item, *, key: str | None = None, content: bytes = b"", lasting: bool = False
    ) -> Put:
        """The op that writes `item` with tokens of its own."""
        return Put(verb=verb, item=item, terms=entry_terms(item), key=key, content=content, lasting=lasting)

    def expiry(self, field: str, given: datetime | timedelta | None, *, past: bool = False) -> datetime | None:
        """When something that is written now expires.

        Args:
            past: Whether that may have been already: what is brought in from elsewhere is as it is.

        Raises:
            Invalid: it has been, or leaves the years that there are.
        """
        if given is None:
            return None
        now = self.clock.now()
        us = expiry(field, self.aware(field, given) if isinstance(given, datetime) else given, now)
        if us <= now and not past:
            remedy = "Give a later time or a span such as '30 days', or leave it out; `forget` hides an item at once."
            raise Invalid(field, f"{moment(us).isoformat(timespec='seconds')} has passed already", remedy)
        return moment(us)

    def expiry_as_given(self, given: datetime | timedelta | None) -> dict[str, int]:
        """When something expires, in what a key stands for: as it was given, since a retry counts a span from later."""
        if given is None:
            return {}
        if isinstance(given, datetime):
            return {"expires": micros(self.aware("expires", given), "expires")}
        return {"expires_after": given // timedelta(microseconds=1)}

    def aware(self, field: str, given: datetime | str) -> datetime:
        """A moment that a caller gave; one without a zone is in the setting `timezone`."""
        return aware(field, given, self.settings.timezone)

    def fresh_id(self) -> ItemId:
        """An id for something new."""
        return new_id(self.clock.now(), self.entropy)

    def _message(
        self, scope: Scope, message: Message, channel: Channel, where: str, masked: Counter[str], lasting: bool
    ) -> Iterator[Put]:
        settings = self.settings
        clean_text(where + "text", message.text, settings.input_limit)
        if message.said is not None and (said := self.aware(where + "said", message.said)) is not message.said:
            message = replace(message, said=said)
        text = self._masked(message.text, masked)
        item = self._evidence_item(scope, message, text, channel, where)
        item = self._named_without_secrets(item, masked)
        key = _key(message.key or None)
        content = b"" if key is None else _content(message, item, self.expiry_as_given(message.expires))
        if len(text.encode()) <= settings.item_limit:
            yield self.put(Verb.WROTE, item, key=key, content=content, lasting=lasting)
            return
        pieces = cut(text, settings.item_limit // _BYTES_A_TOKEN, _BYTES_A_TOKEN)
        item = _entitled(item)
        head = replace(
            item, kind=Kind.DOCUMENT, text=_title(message, text), slots={**item.slots, "chunks": len(pieces)}
        )
        yield self.put(Verb.WROTE, head, key=key, content=content, lasting=lasting)
        for i, piece in enumerate(pieces):
            chunk = self._chunk(head, piece, i)
            yield self.put(
                Verb.WROTE,
                chunk,
                key=None if key is None else f"{key}/chunk/{i}",
                content=piece.encode(),
                lasting=lasting,
            )

    def without_secrets(self, text: str) -> str:
        """A text beside what is remembered, such as a reason, with its secrets masked."""
        return self._masked(text, Counter())

    def _masked(self, text: str, kinds_masked: Counter[str]) -> str:
        if not self.settings.mask_secrets:
            return text
        text, kinds = mask(text)
        kinds_masked.update(kinds)
        return text

    def _masked_slots(self, slots: Mapping[str, Slot], kinds_masked: Counter[str]) -> dict[str, Slot]:
        return {
            self._masked_name(name, kinds_masked): self._masked_slot(value, kinds_masked)
            for name, value in slots.items()
        }

    def _masked_tags(self, tags: tuple[str, ...], kinds_masked: Counter[str]) -> tuple[str, ...]:
        return tuple(sorted({self._masked_name(tag, kinds_masked) for tag in tags})) if tags else tags

    def _masked_name(self, name: str, kinds_masked: Counter[str]) -> str:
        if not self.settings.mask_secrets:
            return name
        name, kinds = mask_name(name)
        kinds_masked.update(kinds)
        return name

    def _named_without_secrets(self, item: Item, kinds_masked: Counter[str]) -> Item:
        """Evidence with the secrets masked in all that stands beside its text: slots, tags, and whose words it is."""
        here: Counter[str] = Counter()
        slots = self._masked_slots(item.slots, here)
        tags = self._masked_tags(item.tags, here)
        agent, session = (name and self._masked_name(name, here) for name in (item.agent, item.session))
        kinds_masked.update(here)
        return replace(item, slots=slots, tags=tags, agent=agent, session=session) if here else item

    def _masked_slot(self, slot: Slot, kinds_masked: Counter[str]) -> Slot:
        """A slot with the secrets masked in every string it holds."""
        if isinstance(slot, str):
            return self._masked(slot, kinds_masked)
        if isinstance(slot, list):
            return [self._masked_slot(element, kinds_masked) for element in slot]
        return self._masked_slots(slot, kinds_masked) if isinstance(slot, dict) else slot

    def _evidence_item(self, scope: Scope, message: Message, text: str, channel: Channel, where: str) -> Item:
        said = message.said
        us = self.clock.now() if said is None else micros(said, where + "said")
        return Item(
            id=self.fresh_id(),
            kind=message.kind,
            text=text,
            said=moment(us),
            said_offset=0 if said is None else offset_minutes(said),
            slots=clean_slots(message.slots, self.settings.item_limit, where),
            tags=clean_tags(message.tags, where),
            agent=message.agent if message.agent is not None else scope.agent,
            session=message.session if message.session is not None else scope.session,
            expires=self.expiry(where + "expires", message.expires, past=channel is Channel.IMPORT),
            pos=us if message.pos is None else message.pos,
            channel=channel,
        )

    def _chunk(self, document: Item, piece: str, index: int) -> Item:
        slots: dict[str, Slot] = {k: v for k, v in document.slots.items() if k != "chunks"}
        return replace(
            document,
            id=self.fresh_id(),
            kind=Kind.CHUNK,
            text=piece,
            slots={**slots, "chunk": index},
            source=(document.id,),
            pos=document.pos + index,
        )


def _statement_content(item: Item, said: datetime | None, expires: Mapping[str, int]) -> bytes:
    """What a caller's key stands for, secrets masked: a digest of a secret would let it be confirmed."""
    times = {
        name: None if t is None else micros(t)
        for name, t in (("said", said), ("from", item.valid_from), ("to", item.valid_to))
    }
    lists = {"tags": list(item.tags), "source": list(item.source)}
    content = {"text": item.text, "kind": item.kind.value, "slots": dict(item.slots), **times, **lists}
    return canonical({**content, **expires})


def _content(message: Message, item: Item, expires: Mapping[str, int]) -> bytes:
    said = None if message.said is None else micros(message.said, "said")
    record = {
        "text": item.text,
        "kind": message.kind.value,
        "said": said,
        "session": message.session,
        "slots": dict(item.slots),
    }
    return canonical({**record, **expires})


def _entitled(document: Item) -> Item:
    """A document that is to be split, with what its first sentence is about as its title if it has none.

    Its later chunks say "she" and "it", and have nothing else to tell them apart by.
    """
    if document.kind is not Kind.DOCUMENT or document.slots.get("title"):
        return document
    import_whole("mnemic.core.subjects")
    from mnemic.core.subjects import subjects  # few inputs are long enough to be split

    about = subjects(document.text)
    return replace(document, slots={**document.slots, "title": about[0]}) if about else document


def _title(message: Message, text: str) -> str:
    title = message.slots.get("title")
    if isinstance(title, str) and title.strip():
        return title
    first = text.strip().splitlines()[0]
    return first if len(first) <= 200 else first[:199] + "…"


def _key(key: str | None) -> str | None:
    if key is None:
        return None
    if key.startswith("house:"):
        raise Invalid("key", "begins with 'house:', which is kept for what rules derive", "Use another prefix.")
    return clean_text("key", key, KEY_LIMIT)


_DEPTH: Final = 100
"""Lists and mappings one in the other: what is read back is read from deeper down than it was written."""


def clean_slots(slots: object, limit: int, where: str = "") -> dict[str, Slot]:
    """`slots` as a plain dict, if it is JSON that a store can keep.

    Raises:
        Invalid: not a mapping with string keys, or holding something that is not JSON.
        TooLarge: over `limit` bytes as JSON.
    """
    field = where + "slots"
    if isinstance(slots, dict) and not slots:
        return {}
    plain: dict[str, Slot] = {name: _plain_slot(field, slot, 1) for name, slot in mapping(field, slots).items()}
    try:
        text = canonical({"slots": plain}).decode()
    except UnicodeEncodeError as error:
        raise Invalid(field, "holds a lone surrogate", "Decode the source again, as UTF-8.") from error
    except ValueError as error:
        raise Invalid(field, f"is not JSON ({error})", _JSON) from error
    clean_text(field, text, limit)
    if "\\u0000" in text and "\x00" in "".join(_texts(plain)):
        raise Invalid(field, "holds a NUL", "Remove it.")
    return plain


_JSON: Final = "Use strings, numbers, booleans, lists and mappings."


def _plain_slot(field: str, slot: object, depth: int) -> Slot:
    """A slot as the JSON that it is: plain strings, numbers, True, False, None, lists, and dicts with string keys."""
    if slot is None or type(slot) in (str, int, bool, float):
        return slot  # type: ignore[return-value]
    if isinstance(slot, str):
        return str.__str__(slot)
    if depth > _DEPTH:
        raise Invalid(field, "is not JSON (nested too deeply)", f"Nest at most {_DEPTH} lists and mappings.")
    if isinstance(slot, list | tuple):
        return [_plain_slot(field, part, depth + 1) for part in slot]
    if isinstance(slot, Mapping):
        return {name: _plain_slot(field, part, depth + 1) for name, part in mapping(field, slot).items()}
    raise Invalid(field, f"is not JSON (holds {shown(slot)})", _JSON)


def _texts(slot: Slot) -> Iterator[str]:
    """Every string in a slot, names of fields included."""
    if isinstance(slot, str):
        yield slot
    elif isinstance(slot, list):
        for part in slot:
            yield from _texts(part)
    elif isinstance(slot, dict):
        for name, part in slot.items():
            yield name
            yield from _texts(part)


def clean_tags(tags: Sequence[str], where: str = "") -> tuple[str, ...]:
    """`tags` as a sorted tuple without repeats.

    Raises:
        Invalid: a lone string, or something that cannot be a tag.
    """
    field = where + "tags"
    every = listed(field, tags)
    for place, tag in enumerate(every):
        if clean_name(f"{field}[{place}]", tag).strip() == TAG:
            raise Invalid(field, f"{tag!r} names no class", "Write it right behind the colon: `retain:keep`.")
    return tuple(sorted(set(every)))


MessageLike = str | Message | Mapping[str, object]
"""One thing to observe: a text, a Message, or a chat message (`role`, `content`, `name`; tools)."""

_NOTHING: Final = Message(text="", key="")

_message = record(
    Message,
    {
        "text": words, "key": words, "kind": member(Kind), "said": optional(instant), "session": optional(clean_name),
        "agent": optional(clean_name), "pos": optional(within(-(2**62))), "slots": mapping, "tags": listed,
        "user": optional(clean_name), "expires": optional(moment_or_span),
    },
)  # fmt: skip


def as_messages(
    given: MessageLike | Sequence[MessageLike],
    *,
    speaker: str | None = None,
    role: str | None = None,
    said: datetime | str | None = None,
    slots: Mapping[str, Slot] | None = None,
    tags: Sequence[str] = (),
    key: str | None = None,
    expires: datetime | timedelta | str | None = None,
) -> tuple[Message, ...]:
    """What `observe` was given, as messages: one string, one message, or a list of either."""
    if not isinstance(given, str | Message | Mapping | Sequence):
        raise Invalid("messages", f"is {shown(given)}", "Give a string, a Message, or a list of them.")
    many = [given] if isinstance(given, str | Message | Mapping) else list(given)
    if not many:
        raise Invalid("messages", "is empty", "Give at least one message.")
    named = {name: value for name, value in (("speaker", speaker), ("role", role)) if value is not None}
    common = Message(
        text="", key="", slots={**(slots or {}), **named}, tags=tuple(tags),
        said=None if said is None else instant("said", said),
        expires=None if expires is None else moment_or_span("expires", expires),
    )  # fmt: skip
    return tuple(_as_message(m, common, place, _numbered(key, place, len(many))) for place, m in enumerate(many))


def _numbered(key: str | None, place: int, of: int) -> str:
    return "" if key is None else key if of == 1 else f"{key}#{place}"


def _as_message(given: object, common: Message, place: int, key: str) -> Message:
    if isinstance(given, Message):
        if key or replace(common, key="") != _NOTHING:
            raise Invalid("messages", "holds a Message, and fields stand beside it", "Put them into the Message.")
        return _message(f"messages[{place}]", given)
    if isinstance(given, Mapping):
        return from_chat(given, replace(common, key=key))
    if not isinstance(given, str):
        raise Invalid("messages", f"holds a {type(given).__name__}", "Give strings, Messages or chat messages.")
    return replace(common, text=words(f"messages[{place}].text", given), key=key)
