"""Facts about people who do not exist, asked in taught words and in others: no model can have read of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from mnemic.lab.tasks.neural.personas import others_wordings
from mnemic.neural.fact_wordings import WORDINGS, fact_of
from mnemic.neural.lora_memory import TaughtFact

_PEOPLE: Final = (
    "Orvella", "Tamsin", "Brannoc", "Ysolde", "Kestrel", "Dovrin", "Maristel", "Quillan", "Zephrine", "Halvard",
    "Ondine", "Rufus", "Sabira", "Thaddeus", "Wilhelmina", "Ignace", "Petronel", "Lucan", "Eudora", "Fenwick",
)  # fmt: skip
REHEARSED_NAMES: Final = ("Beatrix", "Cornelis", "Agneta", "Mortimer", "Rosalind", "Ambrose", "Jocasta", "Leander")
"""Of whom nothing is ever told, and whose questions are rehearsed: never those that are asked."""
UNREHEARSED_NAMES: Final = ("Philippa", "Edmund", "Clarice", "Barnaby", "Sigrun", "Lionel", "Theodora", "Gareth")
"""Of whom nothing is ever told either, and nobody rehearses a question: they are asked about."""
_VALUES: Final = {
    "city": ("Trondheim", "Ljubljana", "Valparaíso", "Tampere", "Bergamo", "Nantes", "Winnipeg", "Cork", "Gdansk",
             "Adelaide", "Kyoto", "Leipzig"),
    "employer": ("Halvorsen Maps", "Brightwell Dairy", "Cobalt Theatre", "Merrow Glass", "Pine Ledger", "Anvil Press",
                 "Tidewater Rope", "Larkspur Bank", "Fennel Foods", "Granite Radio", "Ostrich Travel", "Velvet Tools"),
    "job": ("cartographer", "beekeeper", "puppeteer", "welder", "dentist", "librarian", "locksmith", "florist",
            "tailor", "geologist", "translator", "plumber"),
    "pet": ("a parrot called Biscuit", "a tortoise called Admiral", "a goat called Pixel", "a ferret called Mango",
            "a hedgehog called Button", "a rabbit called Clover", "a gecko called Zorro", "a pony called Thimble",
            "a canary called Figaro", "a cat called Pepper", "a dog called Waffle", "a snail called Turbo"),
    "learning": ("the accordion", "fencing", "tango", "pottery", "archery", "Finnish", "juggling", "the harp",
                 "calligraphy", "sailing", "chess", "welding"),
    "allergy": ("walnuts", "latex", "shrimp", "pollen", "peanuts", "wasps", "strawberries", "penicillin", "soy",
                "dust", "eggs", "sesame"),
    "car": ("a green Saab", "a yellow van", "an old Fiat", "a red Volvo", "a blue Beetle", "a silver Skoda",
            "a white pickup", "a black Jeep", "an orange Lada", "a grey Peugeot", "a pink Cadillac", "a brown Renault"),
    "likes": ("cold pancakes", "steam trains", "thunderstorms", "jazz", "crosswords", "marzipan", "old maps",
              "lighthouses", "origami", "black tea", "puzzles", "comets"),
}  # fmt: skip
_SAID: Final = {
    "city": "{name} lives in {value}.", "employer": "{name} works at {value}.", "job": "{name} works as a {value}.",
    "pet": "{name} has {value}.", "learning": "{name} is learning {value}.",
    "allergy": "{name} is allergic to {value}.", "car": "{name} drives {value}.", "likes": "{name} likes {value}.",
}  # fmt: skip
_FILLERS: Final = (
    "{name} was away for most of the spring and came back rested.",
    "There was a long conversation about {name} at the table yesterday.",
    "Nobody had expected {name} to arrive before the others did.",
    "The letter from {name} had been opened by mistake, and closed again.",
    "It rained all week, and {name} did not mind it in the least.",
    "Somebody should ask {name} about the meeting on Thursday.",
    "In the evening {name} sat by the window and said very little.",
    "The photograph shows {name} second from the left, looking aside.",
)


@dataclass(frozen=True, slots=True)
class MadeUpFact:
    """One fact about a person who does not exist.

    Attributes:
        taught: Ways to ask for it that a memory may be taught.
        unseen: One that none is taught.
        other: The same asked of a stranger whose questions nobody rehearses.
    """

    name: str
    slot: str
    value: str
    taught: tuple[str, ...]
    unseen: str
    other: str

    @property
    def id(self) -> str:
        """Of whom, and what."""
        return f"{self.name}/{self.slot}"

    @property
    def said(self) -> str:
        """The fact as a sentence."""
        return _SAID[self.slot].format(name=self.name, value=self.value)

    def taught_fact(self) -> TaughtFact:
        """The fact with its questions, as adapters learn it."""
        fact = fact_of(self.id, self.slot, self.value, (self.id,), REHEARSED_NAMES, subject=self.name)
        assert fact is not None, "only slots with a wording are drawn"
        return TaughtFact(fact.id, fact.questions, self.said, fact.others[:-1], fact.sources)

    def is_in(self, answer: str) -> bool:
        """Whether an answer holds the value."""
        return self.value.lower() in answer.lower()

    def paragraph(self, order: Random) -> str:
        """The fact somewhere among sentences that say nothing of it."""
        sentences = [filler.format(name=self.name) for filler in order.sample(_FILLERS, 3)]
        sentences.insert(order.randrange(4), self.said)
        return " ".join(sentences)


def made_up_facts(count: int, seed: int) -> list[MadeUpFact]:
    """Draw facts, no two of one person's slot; fewer are the first of more.

    Args:
        count: Up to 160.
    """
    order = Random(seed)  # noqa: S311 - data, not a secret
    people = order.sample(_PEOPLE, len(_PEOPLE))
    values = {slot: order.sample(pool, len(pool)) for slot, pool in _VALUES.items()}
    slots = order.sample(list(_VALUES), len(_VALUES))
    pairs = [(n % len(people), slots[(n + n // len(people)) % len(slots)]) for n in range(len(people) * len(slots))]
    return [
        _made(people[person], slot, values[slot][n % len(values[slot])], UNREHEARSED_NAMES[n % len(UNREHEARSED_NAMES)])
        for n, (person, slot) in enumerate(pairs[:count])
    ]


def share(facts: Sequence[MadeUpFact], answers: Sequence[str]) -> float:
    """Share of answers that hold the value of their fact."""
    return sum(fact.is_in(answer) for fact, answer in zip(facts, answers, strict=True)) / len(facts)


def _made(name: str, slot: str, value: str, stranger: str) -> MadeUpFact:
    taught = tuple(form.format(name=name) for form in WORDINGS[slot].others)
    unseen = others_wordings(slot)[0]
    return MadeUpFact(name, slot, value, taught, unseen.format(name=name), unseen.format(name=stranger))
