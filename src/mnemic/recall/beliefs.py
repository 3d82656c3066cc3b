"""What memory takes to be so of the user: the profile, and the facts about them that strategies keep, side by side.

Facts that say the same in the same words are one belief, whoever derived them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mnemic.core.items import ENDED, Kind
from mnemic.core.queries import Filter
from mnemic.recall.profile import matter_of_slot

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from mnemic.core.ids import ItemId
    from mnemic.core.items import Item
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
    """Name the matter of a fact: that of its slot, or the slot; "" for one that fills none."""
    slot = fact.slots.get("slot", fact.slots.get("relation"))
    if not isinstance(slot, str):
        return ""
    return matter_of_slot(slot) if "slot" in fact.slots else ""


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


def _wording(text: str, names: Collection[str]) -> str:
    """A text as texts are compared: in small letters, without signs, and without the user as its speaker before it."""
    low = text.casefold()
    speaker, colon, rest = low.partition(": ")
    return _SIGNS.sub(" ", rest if colon and speaker in names else low).strip()


def _subject(item: Item) -> str:
    return str(item.slots.get("subject") or "user").casefold()


def _is_about(fact: Item, names: Collection[str]) -> bool:
    """Whether a fact has the user for its subject, by its slots; without such slots, by how its text begins."""
    if "subject" in fact.slots:
        return _subject(fact) in names
    triples = fact.slots.get("triples")
    if isinstance(triples, list):
        stated = (triple for triple in triples if isinstance(triple, list) and len(triple) == 3 and triple[1])
        return any(str(subject).casefold() in names for subject, _, _ in stated)
    if "entity" in fact.slots:
        return str(fact.slots["entity"]).casefold() in names
    low = fact.text.casefold()
    return any(low.startswith(name) and _BEHIND_SUBJECT.match(low[len(name) :]) for name in names)
