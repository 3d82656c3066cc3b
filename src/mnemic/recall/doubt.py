"""Facts of a profile, and standing instructions, that something said later puts in doubt.

"Handed in my badge, a new desk on Monday" fills no slot, and yet "The user works for Acme" is no longer certain. A
doubt is worked out when a profile is read, and kept nowhere: it is there with the sentence, and goes with it.

First the catalogue is asked which later turns may touch the matter of a fact: by words of the matter, and by what the
heads of `recall.currency` make of their vectors. Of these few the texts are read. A turn puts a fact in doubt if its
speaker is whom the fact is about, no rule has read a statement of the matter in it, and it (1) names the fact's value
and an end, (2) speaks of a change of the matter, and its vector does not object, or (3) is likely to by its vector, and
holds at least a word of a change. What is asked, supposed, planned or dreamt puts nothing in doubt.

What may take back a standing instruction is found by rules and vectors as it is written (`strategies.house`), and kept
as an item that names the instruction: it is in doubt as long as that item and its source are shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

import numpy as np

from mnemic.core.clock import micros
from mnemic.core.items import DOUBTS, Kind
from mnemic.core.tokens import hash_term, local_time, tokenise
from mnemic.extract.chinese import has_chinese
from mnemic.extract.entities import canonical
from mnemic.extract.patterns import SlotAct
from mnemic.extract.sentences import sentences
from mnemic.extract.slots import slots
from mnemic.index.columns import Column
from mnemic.recall.always import is_standing, supported
from mnemic.recall.answer import Answer, Citation
from mnemic.recall.currency import (
    ACTS,
    MATTERS,
    OF_ACTS,
    OF_MATTERS,
    OF_SUBJECTS,
    likelihoods,
    weights,
)
from mnemic.recall.doubt_words import (
    change_tokens,
    denies,
    ends_likely,
    forms_of,
    hints_at_change,
    is_asserted,
    is_of_others,
    is_own,
    matter_tokens,
    names,
    settles_here,
    speaks_of,
    speaks_of_another,
    tells_change,
    touches,
)
from mnemic.recall.profile import CONFIRMED, ENDING, MATTER_OF, certain_since, matter_of_slot
from mnemic.recall.scoring import SCORING
from mnemic.recall.sentence_cues import SentenceCue, counted_each
from mnemic.recall.understand import ASSISTANT_TOKENS
from mnemic.store.engine.codec import kind_number
from mnemic.strategies.house import speaker

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from mnemic.core.ids import ItemId
    from mnemic.core.items import Item, Version
    from mnemic.extract.sentences import Sentence
    from mnemic.extract.slots import Finding
    from mnemic.index.reading import Reading

    Floats = NDArray[np.float32]
    Places = NDArray[np.intp]

LIKELY: Final = 0.7
"""Likelihood, by its vector, from which a turn with a word of a change speaks of a change of a matter."""

OBJECTS: Final = 0.4
"""Likelihood below which a vector objects to what words say."""

UNSURE: Final = 0.45
"""Confidence of an answer that is in doubt: below a half, whatever else speaks for it."""

LOOKED_AT: Final = 8_000
"""Most turns of a space, the newest ones that hold a word of a change, that are looked at."""

_READ: Final = 24
"""Most turns whose texts are read for one fact, the newest ones."""

_SHOWN: Final = 200
"""Most characters of a turn that are shown as the sentence that puts a fact in doubt."""

_CHANGING: Final = slice(ACTS.index("change"), ACTS.index("negate") + 1)
_CUES: Final = [SentenceCue.CHANGE, SentenceCue.END, SentenceCue.NOT, SentenceCue.NOW, SentenceCue.CORRECT]
_BROAD: Final = frozenset({"possession"})
"""Matters of which a slot is a small part: by its vector a sentence may tell of anything that somebody has."""

_BESIDE_ITS_MATTER: Final = frozenset({"allergy"})
"""Slots whose values are spoken of in many ways: an end ends one only beside a word of its matter ("no nuts left")."""

_ENDED: Final = "names it, and an end"
_CHANGED: Final = "speaks of a change of the same matter"
_MEANT: Final = "seems, by its meaning, to speak of a change of the same matter"
_TAKEN_BACK: Final = "may take it back"


@dataclass(frozen=True, slots=True)
class Doubt:
    """A fact of a profile or a standing instruction that something said later puts in doubt.

    Attributes:
        fact: What the profile says, or the instruction.
        newer: The turn that puts it in doubt.
        sentence: What of this turn does so, word for word.
        reason: Why it does.
    """

    fact: Item
    newer: Item
    sentence: str
    reason: str


@dataclass(frozen=True, slots=True)
class Suspect:
    """A version that may put a fact in doubt, and how likely it tells of a change by its vector; None without one."""

    space: int
    ver: int
    said: int
    likely: float | None


_Asked = tuple[tuple[tuple[str, str, str, int], ...], tuple[tuple[int, str], ...], int | None]

_SUSPECTED: Final[WeakKeyDictionary[Reading, tuple[_Asked, list[list[Suspect]]]]] = WeakKeyDictionary()
"""What was found last in each reading that is still in use, and what was asked."""


def probe(embedder: str) -> Floats | None:
    """The direction in which an embedder's vectors of changes lie, of unit length; None for one that has no heads."""
    learned = weights().get(embedder)
    if learned is None or not embedder:
        return None
    direction = learned.said[:-1, _CHANGING].mean(axis=1) + learned.said[:-1, OF_SUBJECTS.start]
    unit: Floats = (direction / np.linalg.norm(direction)).astype(np.float32)
    return unit


def suspects(
    facts: Sequence[Item], readings: Sequence[Reading], embedders: Mapping[int, str], until: int | None
) -> dict[ItemId, list[Suspect]]:
    """Find, for each fact, the versions that may put it in doubt, the newest first.

    Args:
        readings: Made with the `probe` of each of these embedders.
        embedders: Their names, by their number in the store; of several the first counts.
        until: Nothing that was said later is looked at, microseconds; None for no limit.
    """
    suspected: dict[ItemId, list[Suspect]] = {fact.id: [] for fact in facts}
    with SCORING:
        for reading in readings:
            for fact, some in zip(facts, _known_suspects(facts, reading, embedders, until), strict=True):
                suspected[fact.id] += some
    return {fact: sorted(some, key=lambda suspect: -suspect.said) for fact, some in suspected.items()}


def _known_suspects(
    facts: Sequence[Item], reading: Reading, embedders: Mapping[int, str], until: int | None
) -> list[list[Suspect]]:
    """The suspects of each fact in one reading, found anew only where the reading or what is asked of it is another.

    A reading never changes: whatever is written, erased or embedded makes another, and with the old one goes what is
    kept of it.
    """
    asked = (
        tuple((fact.id, str(fact.slots["slot"]), str(fact.slots["value"]), certain_since(fact)) for fact in facts),
        tuple(embedders.items()),
        until,
    )
    known = _SUSPECTED.get(reading)
    if known is None or known[0] != asked:
        known = _SUSPECTED[reading] = asked, _suspects_in(facts, reading, embedders, until)
    return known[1]


def _suspects_in(
    facts: Sequence[Item], reading: Reading, embedders: Mapping[int, str], until: int | None
) -> list[list[Suspect]]:
    values = [hash_term(token) for fact in facts for token in tokenise(str(fact.slots["value"]))]
    later = _later(reading, min(map(certain_since, facts)), until, values)
    if not len(later):
        return [[] for _ in facts]
    heads = _heads(reading, later, embedders)
    return [_suspects_of(fact, reading, later, heads) for fact in facts]


def _later(reading: Reading, since: int, until: int | None, values: Sequence[int]) -> Places:
    """The places of turns, no assistant's, said after a moment, that hold a word of a change or of some values; the
    newest first.
    """
    if not reading.size:
        return np.empty(0, np.intp)
    kept = reading.said > since
    if until is not None:
        kept &= reading.said <= until
    held = reading.holding_any(change_tokens()).copy()
    for token in values:
        held[reading.find(token)[0]] = True
    places = np.flatnonzero(kept & held & ~reading.holding_any(ASSISTANT_TOKENS))
    places = places[reading.values(Column.KIND, places) == kind_number(Kind.TURN)]
    newest: Places = places[np.argsort(-reading.said[places], kind="stable")][:LOOKED_AT]
    return newest


def _heads(reading: Reading, places: Places, embedders: Mapping[int, str]) -> tuple[Floats, NDArray[np.bool_]]:
    """What the heads make of the vectors at some places, and which of these have one here."""
    for model, name in embedders.items():
        learned, direction = weights()[name], probe(name)
        if direction is not None:
            vectors = reading.vectors(model, places)
            here = vectors.any(axis=1) & np.isin(reading.rows[places], reading.looked_at(model, direction))
            return likelihoods(vectors, learned.said), here
    return np.zeros((len(places), 0), np.float32), np.zeros(len(places), np.bool_)


def _suspects_of(fact: Item, reading: Reading, later: Places, heads: tuple[Floats, NDArray[np.bool_]]) -> list[Suspect]:
    """The newest versions that may put one fact in doubt, and those that name its value."""
    chances, here = heads
    matter = MATTER_OF.get(str(fact.slots["slot"]))
    likely = _change_of(chances, matter) if matter and chances.shape[1] else np.zeros(len(later), np.float32)
    naming = np.zeros(len(later), np.bool_)
    for form in _forms(fact):
        naming |= np.logical_and.reduce([reading.holds(hash_term(token), later) for token in tokenise(form)])
    after = reading.said[later] > certain_since(fact)
    chosen = after & naming
    if matter is not None:
        worded = reading.holding_any(matter_tokens()[_topic(fact)])[later]
        by_words = np.flatnonzero(after & worded & ~here)
        cues = counted_each([reading.stream(int(place)) for place in later[by_words]])[:, _CUES].any(axis=1)
        chosen |= after & here & (likely >= np.where(worded, OBJECTS, LIKELY))
        chosen[by_words[cues]] = True
    some = []
    for at in islice(np.flatnonzero(chosen).tolist(), _READ):
        place = int(later[at])
        chance = float(likely[at]) if here[at] else None
        some.append(Suspect(reading.space, reading.value(Column.VER, place), int(reading.said[place]), chance))
    return some


def _forms(fact: Item) -> tuple[str, ...]:
    return forms_of(str(fact.slots["slot"]), str(fact.slots["value"]))


def _topic(fact: Item) -> str:
    """What a fact's sentence of a change speaks of: its matter, or of what is owned the thing itself."""
    slot = str(fact.slots["slot"])
    return slot if MATTER_OF.get(slot) in _BROAD else matter_of_slot(slot)


def _change_of(chances: Floats, matter: str) -> Floats:
    """How likely a speaker tells of a change of a matter of their own; a plain statement counts a quarter."""
    acts = chances[:, OF_ACTS]
    changes = acts[:, _CHANGING].sum(axis=1) + acts[:, 0] / 4
    own = chances[:, OF_SUBJECTS.start]
    of_it = chances[:, OF_MATTERS.start + MATTERS.index(matter)]
    likely: Floats = np.sqrt(changes * own * of_it)
    return likely


def doubt_of(
    fact: Item, suspected: Iterable[tuple[Suspect, Item]], understood: frozenset[tuple[ItemId, str]], user: str
) -> Doubt | None:
    """The newest turn that puts a fact in doubt, unless a later one states the same fact again.

    Args:
        told: Its suspects with their items, the newest first.
        understood: Turns, and the matters of which facts were derived from them.
        user: Whose memory it is.
    """
    slot, forms = str(fact.slots["slot"]), _forms(fact)
    for suspect, turn in suspected:
        if not touches(turn.text, forms) or turn.id in fact.source:
            continue  # what follows takes some hundred microseconds
        said_by = speaker(turn, user)
        if said_by is None or said_by.casefold() != _subject(fact):
            continue
        spoken = tuple(sentences(turn.text))
        doubt = _doubt_by(fact, turn, spoken, suspect.likely)
        if doubt is None and not any(names(sentence, forms) for sentence in spoken):
            continue
        findings = slots(turn.text, said_by, micros(turn.said), turn.said_offset, spoken)
        if any(_confirms(finding, fact) for finding in findings) or (
            matter_of_slot(slot) == "residence" and settles_here(turn.text)
        ):
            return None
        read = (turn.id, matter_of_slot(slot)) in understood or any(_reads(finding, fact) for finding in findings)
        if doubt and not read:
            return doubt
    return None


def doubts_of_instructions(core: Iterable[Item], sources: Mapping[ItemId, Version]) -> list[Doubt]:
    """What may take back standing instructions, the newest for each, unless a later confirmation outweighs it.

    Args:
        core: What is always on, and what rules derived beside it.
        sources: The turns that these were derived from and the view shows.
    """
    items = sorted((item for item in core if supported(item, sources)), key=lambda item: (item.said, item.id))
    standing = {(_subject(item), canonical(item.text)): item for item in items if is_standing(item)}
    doubts: dict[ItemId, Doubt] = {}
    for doubt_item in items:
        fact = (
            standing.get((_subject(doubt_item), canonical(str(doubt_item.slots[DOUBTS]))))
            if DOUBTS in doubt_item.slots
            else None
        )
        if (
            fact is None
            or micros(doubt_item.said) < certain_since(fact)
            or fact.slots.get(CONFIRMED) == micros(doubt_item.said)
        ):
            continue
        turns = [sources[source].item for source in doubt_item.source if source in sources]
        doubts[fact.id] = Doubt(fact, turns[0] if turns else doubt_item, doubt_item.text, _TAKEN_BACK)
    return list(doubts.values())


def _subject(fact: Item) -> str:
    return str(fact.slots.get("subject") or "user").casefold()


def _reads(finding: Finding, fact: Item) -> bool:
    """Whether rules have read what a turn says of a fact's slot, or state something else of its matter."""
    slot = str(fact.slots["slot"])
    if not finding.slot:
        return canonical(str(fact.slots["value"])) in (canonical(str(finding.value)), canonical(str(finding.wrong)))
    return finding.slot == slot or (
        finding.act is SlotAct.STATES and slot in MATTER_OF and matter_of_slot(finding.slot) == matter_of_slot(slot)
    )


def _confirms(finding: Finding, fact: Item) -> bool:
    same = canonical(str(finding.value)) == canonical(str(fact.slots["value"]))
    return same and finding.slot == fact.slots["slot"] and finding.act is SlotAct.STATES


def _doubt_by(fact: Item, turn: Item, spoken: Sequence[Sentence], likely: float | None) -> Doubt | None:
    slot, forms, topic = str(fact.slots["slot"]), _forms(fact), _topic(fact)
    matter = matter_of_slot(slot)
    asserted = [sentence for sentence in spoken if is_asserted(sentence)]
    naming = [sentence for sentence in asserted if names(sentence, forms)]
    for sentence in naming:
        of_it = slot not in _BESIDE_ITS_MATTER or speaks_of(sentence, topic)
        ended = (of_it and denies(sentence, forms)) or ends_likely(sentence, slot, spoken)
        if ended and not is_of_others(sentence, matter):
            return Doubt(fact, turn, _shown(turn, sentence), _ENDED)
    if naming or slot in ENDING:
        return None  # it speaks of what we know, and does not deny it
    for sentence in asserted:
        theirs = is_of_others(sentence, matter) if likely is not None else not is_own(sentence, matter)
        if tells_change(sentence, topic) and not theirs and (likely is None or likely >= OBJECTS):
            return Doubt(fact, turn, _shown(turn, sentence), _CHANGED)
    hints = [sentence for sentence in asserted if hints_at_change(sentence)]
    meant = likely is not None and likely >= LIKELY and matter not in _BROAD
    if meant and hints and len(asserted) == len(spoken) and not any(speaks_of_another(s, topic) for s in hints):
        return Doubt(fact, turn, _shown(turn, hints[0]), _MEANT)
    return None


def _shown(turn: Item, sentence: Sentence) -> str:
    """The words of a turn that are shown: all of them if they are few, else the sentence."""
    if len(turn.text) <= _SHOWN:
        return turn.text.strip()
    return turn.text[sentence.start : sentence.start + len(sentence.low)][:_SHOWN]


def told_doubt(doubt: Doubt) -> str:
    """A fact in doubt as one line of a prompt: what it says, and what was said later, in the language of the fact."""
    when = local_time(doubt.newer.said, doubt.newer.said_offset).date().isoformat()
    if has_chinese(doubt.fact.text):
        return f"存疑：{doubt.fact.text}后来（{when}）说：“{doubt.sentence}”"
    return f'In doubt: {doubt.fact.text} Later, {when}: "{doubt.sentence}"'


def unsure(doubts: Sequence[Doubt], newest: Item | None = None) -> Answer:
    """An answer that names facts and what puts them in doubt, with less confidence than a half.

    Args:
        newest: What was said of the matter after all that, which is named too.
    """
    lines = []
    for doubt in doubts:
        fact, newer = (
            f'"{text}" [{item.id}]' for text, item in ((doubt.fact.text, doubt.fact), (doubt.sentence, doubt.newer))
        )
        dates = [_day(item) for item in (doubt.fact, doubt.newer)]
        if has_chinese(doubt.fact.text):
            lines.append(f"存疑：{dates[0]}：{fact}；后来，{dates[1]}：{newer}")
        else:
            lines.append(f"In doubt: on {dates[0]} {fact}, but later, on {dates[1]}, {newer}")
    cited = [Citation(*pair) for d in doubts for pair in ((d.newer.id, d.sentence), (d.fact.id, d.fact.text))]
    if newest is not None:
        text = newest.text.strip()[:_SHOWN]
        told = f'"{text}" [{newest.id}]'
        lines.append(f"最近，{_day(newest)}：{told}" if has_chinese(text) else f"And last, on {_day(newest)}, {told}")
        cited.insert(0, Citation(newest.id, text))
    return Answer("\n".join(lines), "", tuple(dict.fromkeys(cited)), UNSURE, known=True)


def _day(item: Item) -> str:
    return local_time(item.said, item.said_offset).date().isoformat()
