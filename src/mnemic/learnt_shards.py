"""Shards that a local model has learnt of one user, as memory sees them: what each holds, and whether it still stands.

A shard is weighed in as a whole, so it stands only while every fact in it does. What stands is decided by the profile
alone, read ahead of what rules have yet to write: it is known with the very write that ends a fact or puts it in doubt.
Nothing here needs torch.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from mnemic.core.ids import ItemId
from mnemic.core.items import State
from mnemic.core.tokens import words

if TYPE_CHECKING:
    from mnemic.core.items import Item, Slot, Version
    from mnemic.neural.lora_memory import TaughtFact
    from mnemic.recall.answer import Answer
    from mnemic.recall.beliefs import Belief
    from mnemic.verbs.artefact_keeping import KeptArtefact


class StaleReason(StrEnum):
    """The reasons why a shard does not stand, each as it is told."""

    OVER = "holds no longer"
    CORRECTED = "was corrected since it was learnt"
    IN_DOUBT = "is in doubt"
    FORGOTTEN = "something that it was learnt from was forgotten"
    UNLISTED = "it was kept without a list of the facts in it"
    NO_BYTES = "its bytes are gone"
    CHANGED = "its bytes are not what was kept"


RELEARNT: Final = frozenset({StaleReason.CORRECTED, StaleReason.UNLISTED, StaleReason.NO_BYTES, StaleReason.CHANGED})
"""Reasons that no look at what is to be learnt tells: a shard that has one is learnt again from the same facts."""


class UnweighedReason(StrEnum):
    """The reasons why nothing that was learnt is weighed in for a question, each as it is told."""

    NOTHING_LEARNT = "nothing is learnt yet"
    NOT_NAMED = "recall names none of what was learnt for it"
    SET_ASIDE = "the shard that it is of is set aside"
    OTHER_MODEL = "another model learnt it"
    UNREADABLE = "its bytes cannot be used"


@dataclass(frozen=True, slots=True)
class StaleFact:
    """Something that a shard was learnt from and that does not stand any more.

    Attributes:
        text: What it stated; "" where that is not to be read any more.
        against: What was said later and puts it in doubt, word for word; "" unless that is the reason.
    """

    reason: StaleReason
    text: str = ""
    against: str = ""

    def __str__(self) -> str:
        said = f'"{self.text}" {self.reason.value}' if self.text else self.reason.value
        return f'{said}, since "{self.against}" was said later' if self.against else said


@dataclass(frozen=True, kw_only=True, eq=False)
class Shard:
    """A shard that was learnt.

    Attributes:
        kept: Its artefact.
        stale: What of it does not stand any more: where there is any, the shard is weighed in for nothing.
    """

    kept: KeptArtefact
    stale: tuple[StaleFact, ...] = ()

    @property
    def stands(self) -> bool:
        """Whether all that it was learnt from still stands: else it is not used."""
        return not self.stale

    @property
    def is_unusable(self) -> bool:
        """Whether it is to be learnt again though its facts are the same."""
        return any(fact.reason in RELEARNT for fact in self.stale)

    @property
    def number(self) -> int:
        """Which of the shards."""
        return _number(self.kept, "shard")

    @property
    def of(self) -> int:
        """How many there are."""
        return _number(self.kept, "shards")

    @property
    def sources(self) -> frozenset[ItemId]:
        """The items that its facts were read from."""
        return frozenset(self.kept.version.item.source)

    @cached_property
    def stated(self) -> frozenset[ItemId]:
        """Those of its sources that state its facts."""
        return frozenset(stated_in(self.kept))

    def taught(self, question: str) -> ItemId | None:
        """The fact that it was taught to answer a question with, in just these words; None if it was not."""
        taught = self.kept.artefact.details.get("taught")
        fact = taught.get(_digest_of_words(question)) if isinstance(taught, dict) else None
        return None if fact is None else ItemId(str(fact))


@dataclass(frozen=True, slots=True)
class Unweighed:
    """Why nothing that was learnt is weighed in for a question.

    Attributes:
        shard: The shard that the question is of, where it is of one.
        detail: What its bytes were found to be, where these are the reason.
    """

    reason: UnweighedReason
    shard: Shard | None = None
    detail: str = ""


def stated_in(kept: KeptArtefact) -> dict[ItemId, str]:
    """The sources of a shard that state its facts, as it was kept, each with the digest of what it stated."""
    stated = kept.artefact.details.get("stated")
    return {ItemId(str(id)): str(digest) for id, digest in stated.items()} if isinstance(stated, dict) else {}


def digest_of_fact(fact: Item) -> str:
    """A digest of what a fact states: one that is corrected keeps its id."""
    return _digest_of_words(f"{fact.slots.get('value', '')} {fact.text}")


def shard_number(kept: KeptArtefact) -> int:
    """Which of the shards an artefact is."""
    return _number(kept, "shard")


def shard_details(
    number: int, shards: int, facts: Sequence[TaughtFact], stated: Mapping[ItemId, str], **more: Slot
) -> dict[str, Any]:
    """What the artefact of a shard says of it, in numbers, ids and digests: none of the words that it was made of.

    Args:
        stated: The items that state facts, of any shard, each with the digest of what it states.
    """
    here = {source for fact in facts for source in fact.sources}
    return {
        "shard": number, "shards": shards, "facts": len(facts),
        "stated": {id: digest for id, digest in sorted(stated.items()) if id in here},
        "taught": taught_questions(facts), **more,
    }  # fmt: skip


def taught_questions(facts: Iterable[TaughtFact]) -> dict[str, Slot]:
    """The fact that each taught question is answered with, by a digest of its words; none of two that differ."""
    taught: dict[str, Slot] = {}
    several: set[str] = set()
    for fact in facts:
        for question in map(_digest_of_words, fact.questions):
            if taught.setdefault(question, fact.sources[0]) != fact.sources[0]:
                several.add(question)
    return {question: fact for question, fact in taught.items() if question not in several}


def stale_facts(
    kept: KeptArtefact, beliefs: Sequence[Belief], versions: Mapping[ItemId, Version], flaw: StaleReason | None
) -> tuple[StaleFact, ...]:
    """What of a shard does not stand any more, each once.

    Args:
        beliefs: What the profile states now, read ahead of rules.
        versions: What is written of the shard's sources, as far as they are there.
        flaw: What is wrong with its file; None for nothing.
    """
    if flaw is not None:
        return (StaleFact(flaw),)
    stated = stated_in(kept)
    if not stated:
        return (StaleFact(StaleReason.UNLISTED),)
    by_fact = {fact.id: belief for belief in beliefs for fact in belief.facts}
    stale: dict[StaleFact, None] = {}
    for id in kept.version.item.source:
        belief, version = by_fact.get(id), versions.get(id)
        if belief is not None:
            if belief.doubt is not None:
                stale[StaleFact(StaleReason.IN_DOUBT, belief.text, belief.doubt.sentence)] = None
            elif id in stated and digest_of_fact(next(f for f in belief.facts if f.id == id)) != stated[id]:
                stale[StaleFact(StaleReason.CORRECTED, belief.text)] = None
        elif version is None or version.item.state is State.RETIRED:
            stale[StaleFact(StaleReason.FORGOTTEN)] = None
        elif id in stated or version.item.state is not State.ACTIVE:
            stale[StaleFact(StaleReason.OVER, version.item.text)] = None
    return tuple(stale)


def shard_for(named: Sequence[ItemId], shards: Sequence[Shard]) -> Shard | None:
    """The shard that is weighed in for a question: the first that holds one of the facts that were named for it."""
    return _first_holding(named, [shard for shard in shards if shard.stands])


def why_unweighed(named: Sequence[ItemId], shards: Sequence[Shard], model: str) -> Unweighed:
    """Say why nothing is weighed in for a question, where nothing is.

    Args:
        shards: All that were learnt.
        model: The digest of the model that is asked.
    """
    if not shards:
        return Unweighed(UnweighedReason.NOTHING_LEARNT)
    shard = shard_for(named, shards) or _first_holding(named, shards)
    if shard is None:
        return Unweighed(UnweighedReason.NOT_NAMED)
    if not shard.stands:
        return Unweighed(UnweighedReason.SET_ASIDE, shard)
    is_of = shard.kept.artefact.made_by.get("model") == model
    return Unweighed(UnweighedReason.UNREADABLE if is_of else UnweighedReason.OTHER_MODEL, shard)


def _first_holding(named: Sequence[ItemId], shards: Sequence[Shard]) -> Shard | None:
    holding = (next((shard for shard in shards if id in shard.stated), None) for id in named)
    return next((shard for shard in holding if shard is not None), None)


def facts_answering(question: str, answer: Answer, facts: Iterable[Item]) -> tuple[ItemId, ...]:
    """The facts that memory's answer to a question gives, the likeliest first.

    A turn says more than one thing: "My sister Clara lives in Porto" answers where Clara lives, and what was learnt of
    it is only what the sister is called. So a fact answers if what is cited states it, and its value is what the answer
    names, and not what the question names already.
    """
    asked, short = frozenset(words(question)), frozenset(words(answer.short))
    ranked: list[tuple[int, int, ItemId]] = []
    for place, fact in enumerate(facts):
        value = frozenset(words(str(fact.slots.get("value", "")).partition(" (")[0]))  # "Moss (cat)": Moss
        quotes = [citation.quote for citation in answer.citations if citation.id in (fact.id, *fact.source)]
        said = short if short and not short <= _YES_OR_NO else frozenset(w for quote in quotes for w in words(quote))
        if quotes and value and not value <= asked and value & said:
            ranked.append((-len(asked.intersection(words(fact.text))), place, fact.id))
    return tuple(id for _, _, id in sorted(ranked))


_YES_OR_NO: Final = frozenset({"yes", "no"})


def _digest_of_words(question: str) -> str:
    """A digest of a question's bare words: an artefact's item holds none of the words themselves."""
    return hashlib.sha256(" ".join(words(question)).encode()).hexdigest()[:16]


def _number(kept: KeptArtefact, name: str) -> int:
    value = kept.artefact.details.get(name)
    return value if isinstance(value, int) else 0
