"""What memory takes to be so of the user: the profile, and the facts about them that strategies keep, side by side.

Facts that say the same in the same words are one belief, whoever derived them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mnemic.core.items import ENDED, Kind
from mnemic.core.queries import Filter
from mnemic.extract.speakers import is_users_role
from mnemic.recall.profile import matter_of_slot, may_be_over

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from mnemic.core.ids import ItemId
    from mnemic.core.items import Item, Version
    from mnemic.recall.doubt import Doubt

ABOUT_USERS: Final = Filter(kinds=(Kind.PROFILE, Kind.FACT))
"""Among these items are all beliefs."""

_USER: Final = frozenset({"user", "the user", "i", "me", "用户", "我"})
"""Whom statements mean by the user of a memory, beside names."""
_NAMES: Final = frozenset({"name", "nickname"})
_BEHIND_SUBJECT: Final = re.compile(r"(?:['’]s)?\s+\w|[\u4e00-\u9fff](?<![们妈爸妹姐哥弟爷奶老朋同女儿男家孩])")
"""Behind the name of whom a text is about; 我妈 and 我们 are somebody else."""
_SIGNS: Final = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Belief:
    """Something that memory takes to be so of the user, or the profile of somebody the user talks with.

    Attributes:
        facts: The items that say so, those of the profile first, then the oldest.
        subject: Of whom, as the fact names them; "user" for whose memory it is.
        matter: What it is about: `residence`, `work`, ... or the slot of the profile; "" if that is not known.
        evidence: The sources that the view shows, oldest first.
        doubt: What was said later that puts it in doubt.
        former: What it took the place of, the latest first; only where history was asked for.
        ended: It was so, and nothing has taken its place; only where history was asked for.
    """

    facts: tuple[Item, ...]
    subject: str
    matter: str
    evidence: tuple[Item, ...] = ()
    doubt: Doubt | None = None
    former: tuple[Item, ...] = ()
    ended: bool = False

    @property
    def text(self) -> str:
        return self.facts[0].text

    @property
    def by(self) -> tuple[str, ...]:
        """Who derived it, each once: `rules`, the name of a strategy; "" for what was written by hand."""
        return tuple(dict.fromkeys(fact.author or "" for fact in self.facts))


def names_of(user: str, profile: Iterable[Item]) -> frozenset[str]:
    """List what a user goes by, in small letters: the name of the memory, and the names in their profile."""
    names = {user.casefold(), *_USER}
    own = [item for item in profile if item.slots.get("slot") in _NAMES and isinstance(item.slots.get("value"), str)]
    names |= {str(item.slots["value"]).casefold() for item in own if _subject(item) in names}
    return frozenset(names)


def user_called(user: str, evidence: Iterable[Item]) -> str:
    """Tell what a user is called by who speaks: by the one name that the role of the user bears, else as the memory is.

    Args:
        user: The name of the memory.
        evidence: Turns of it, in any order.
    """
    speakers = (item.slots.get("speaker") for item in evidence if is_users_role(item.slots.get("role")))
    names = {speaker.strip().casefold(): speaker.strip() for speaker in speakers if isinstance(speaker, str)}
    return next(iter(names.values())) if len(names) == 1 else user


def believed(items: Iterable[Item], user: str) -> list[Belief]:
    """Make beliefs of the items that state who somebody is; facts count if they are about the user.

    They come by subject, the user first, then by matter, then by when they were said.

    Args:
        items: Of the kinds of `ABOUT_USERS`, as the view shows them; what says that something is over is passed over.
    """
    standing = [item for item in items if item.slots.get(ENDED) is not True]
    names = names_of(user, (item for item in standing if item.kind is Kind.PROFILE))
    same: dict[tuple[str, str], list[Item]] = {}
    for item in sorted(standing, key=lambda each: (each.kind is not Kind.PROFILE, each.said, len(each.text), each.id)):
        if item.kind is Kind.PROFILE or _is_about(item, names):
            subject = _subject(item)
            whom = "user" if item.kind is Kind.FACT or subject in names else str(item.slots.get("subject"))
            same.setdefault((whom, _wording(item.text, names)), []).append(item)
    beliefs = [
        Belief(facts=tuple(facts), subject=whom, matter=next(filter(None, map(matter_of, facts)), ""))
        for (whom, _), facts in same.items()
    ]
    return sorted(beliefs, key=lambda each: (each.subject != "user", each.subject, not each.matter, each.matter))


def matter_of(fact: Item) -> str:
    """Name the matter of a fact: that of its slot, or the slot, or that of the slot its relation is; "" if neither."""
    slot, relation = fact.slots.get("slot"), fact.slots.get("relation")
    if isinstance(slot, str):
        return matter_of_slot(slot)
    return matter_of_slot(relation) if isinstance(relation, str) and may_be_over(relation) else ""


def chained(facts: Sequence[Item], older: Mapping[ItemId, Sequence[Item]]) -> tuple[Item, ...]:
    """Choose what facts took the place of, directly or along a chain, the latest first.

    Args:
        older: By its id, what each item took the place of.
    """
    chain: dict[ItemId, Item] = {}
    front = list(facts)
    while front:
        front = [old for newer in front for old in older.get(newer.id, ()) if old.id not in chain]
        chain |= {old.id: old for old in front}
    given = {fact.id for fact in facts}
    former = (old for old in chain.values() if old.id not in given)
    return tuple(sorted(former, key=lambda item: (item.said, item.id), reverse=True))


def is_quote(fact: Item, sources: Mapping[ItemId, Version]) -> bool:
    """Whether a fact of a strategy's only repeats, word for word, what it was derived from.

    What was said is shown as evidence. That it is so still nobody looks after: "I live in Oslo and I work as a nurse".
    """
    if fact.kind is not Kind.FACT or not fact.slots.get("by"):
        return False
    return any(id in sources and fact.text in sources[id].item.text for id in fact.source)


def _wording(text: str, names: Collection[str]) -> str:
    """A text as texts are compared: in small letters, without signs, and without the user as its speaker before it."""
    low = text.casefold()
    speaker, colon, rest = low.partition(": ")
    return _SIGNS.sub(" ", rest if colon and speaker in names else low).strip()


def _subject(item: Item) -> str:
    return str(item.slots.get("subject") or "user").casefold()


def _is_about(fact: Item, names: Collection[str]) -> bool:
    """Whether a fact has the user for its subject, by its slots; without such slots, by how its text begins.

    What indexes a passage by its triples is nothing that somebody keeps current.
    """
    if "triples" in fact.slots:
        return False
    if "subject" in fact.slots:
        return _subject(fact) in names
    if "entity" in fact.slots:
        return str(fact.slots["entity"]).casefold() in names
    low = fact.text.casefold()
    return any(low.startswith(name) and _BEHIND_SUBJECT.match(low[len(name) :]) for name in names)
