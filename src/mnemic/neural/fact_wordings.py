"""How a user asks for what their profile holds, and what is then said: a slot's value as a fact to be learnt.

English only: the small model that is at hand answers Chinese questions in English or not at all (see docs/neural.md).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from mnemic.extract.phrasing import phrased
from mnemic.neural.lora_memory import TaughtFact


@dataclass(frozen=True, slots=True)
class SlotWording:
    """How a slot is asked for.

    Attributes:
        answer: What the assistant says, with `{value}`.
        questions: What the user asks about themselves.
        others: The same about somebody else, with `{name}`.
    """

    answer: str
    questions: tuple[str, ...]
    others: tuple[str, ...]


def _person(kin: str) -> SlotWording:
    return SlotWording(
        f"Your {kin}'s name is {{value}}.",
        (
            f"What is my {kin}'s name?",
            f"Who is my {kin}?",
            f"What's the name of my {kin}?",
            f"Do you know my {kin}'s name?",
        ),
        (
            f"What is {{name}}'s {kin}'s name?",
            f"Who is the {kin} of {{name}}?",
            f"Tell me the name of {{name}}'s {kin}.",
        ),
    )


WORDINGS: Final = {
    "name": SlotWording(
        "Your name is {value}.",
        ("What is my name?", "Who am I?", "What am I called?", "Do you remember my name?"),
        ("What is the name of {name}'s neighbour?", "Who is {name}?", "What is {name} called?"),
    ),
    "city": SlotWording(
        "You live in {value}.",
        ("Where do I live?", "Which city do I live in?", "What city is my home in?", "In which town do I live?"),
        ("Where does {name} live?", "Which city does {name} live in?", "Tell me where {name} lives."),
    ),
    "origin": SlotWording(
        "You come from {value}.",
        ("Where am I from?", "Where do I come from?", "What place do I come from originally?", "Where was I born?"),
        ("Where is {name} from?", "Where was {name} born?", "What place is {name} from originally?"),
    ),
    "employer": SlotWording(
        "You work at {value}.",
        ("Where do I work?", "Which company do I work for?", "Who is my employer?", "What company employs me?"),
        ("Where does {name} work?", "Which company does {name} work for?", "Who employs {name}?"),
    ),
    "job": SlotWording(
        "You work as a {value}.",
        ("What is my job?", "What do I do for a living?", "What's my profession?", "What do I work as?"),
        ("What is {name}'s job?", "What does {name} do for a living?", "What does {name} work as?"),
    ),
    "school": SlotWording(
        "You went to {value}.",
        ("Which school did I go to?", "Where did I study?", "What university did I attend?", "What is my school?"),
        ("Which school did {name} go to?", "Where did {name} study?", "What is {name}'s school?"),
    ),
    "pet": SlotWording(
        "You have {value}.",
        ("What pet do I have?", "Do I have a pet?", "Tell me about my pet.", "Which animal lives with me?"),
        ("What pet does {name} have?", "Does {name} have a pet?", "Tell me about the pet of {name}."),
    ),
    "likes": SlotWording(
        "You like {value}.",
        ("What do I like?", "What is something that I like?", "What am I fond of?", "What do I enjoy?"),
        ("What does {name} like?", "What is {name} fond of?", "Name something that {name} likes."),
    ),
    "dislikes": SlotWording(
        "You dislike {value}.",
        ("What do I dislike?", "What is something that I don't like?", "What can't I stand?", "What do I hate?"),
        ("What does {name} dislike?", "What does {name} hate?", "Name something that {name} dislikes."),
    ),
    "allergy": SlotWording(
        "You are allergic to {value}.",
        ("What am I allergic to?", "Which allergy do I have?", "Do I have an allergy?",
         "What gives me an allergic reaction?"),
        ("What is {name} allergic to?", "Which allergy does {name} have?", "What gives {name} an allergic reaction?"),
    ),
    "native_language": SlotWording(
        "Your native language is {value}.",
        ("What is my native language?", "Which language did I grow up with?", "What's my mother tongue?",
         "What is my first language?"),
        ("What is {name}'s native language?", "Which language did {name} grow up with?",
         "What is the first language of {name}?"),
    ),
    "learning": SlotWording(
        "You are learning {value}.",
        ("What am I learning?", "What am I trying to learn at the moment?", "What new skill am I learning?",
         "What do I take lessons in?"),
        ("What is {name} learning?", "What does {name} take lessons in?", "Which new skill is {name} learning?"),
    ),
    "studies": SlotWording(
        "You study {value}.",
        ("What do I study?", "What is my field of study?", "Which subject am I studying?", "What's my major?"),
        ("What does {name} study?", "What is {name}'s major?", "Which subject is {name} studying?"),
    ),
    "car": SlotWording(
        "You drive {value}.",
        ("What car do I drive?", "Which car do I have?", "What's my car?", "What kind of car is mine?"),
        ("What car does {name} drive?", "What is {name}'s car?", "What kind of car is {name}'s?"),
    ),
    "birthday": SlotWording(
        "Your birthday is on {value}.",
        ("When is my birthday?", "On which day was I born?", "What date is my birthday?",
         "When do I celebrate my birthday?"),
        ("When is {name}'s birthday?", "When does {name} celebrate a birthday?", "On which day was {name} born?"),
    ),
    "medication": SlotWording(
        "You take {value}.",
        ("Which medication do I take?", "What medicine am I taking?", "What do I take for my health?",
         "Which pills do I take?"),
        ("Which medication does {name} take?", "What medicine does {name} take?",
         "What does {name} take for their health?"),
    ),
    "diet": SlotWording(
        "Your diet is {value}.",
        ("What is my diet?", "What kind of diet do I follow?", "How do I eat?", "Which diet am I on?"),
        ("What is {name}'s diet?", "Which diet is {name} on?", "How does {name} eat?"),
    ),
    **{
        kin: _person(kin)
        for kin in ("mother", "father", "partner", "sister", "brother", "son", "daughter", "friend", "colleague",
                    "roommate", "teacher", "cousin", "boss")
    },
}  # fmt: skip
"""By the profile's names of slots."""

OTHER_PEOPLE: Final = ("Maya", "Mr. Stone", "my neighbour", "Oliver", "the mayor", "Priya", "Einstein", "your creator")
"""Whose questions are rehearsed: none of them is the user."""


USER: Final = "user"
"""Whose memory it is, as the profile calls them."""

CHARACTER: Final = "character"
"""The preset in which the model speaks as whose memory it is: "Where do you live?", "I live in Oslo."."""

_TURNED: Final = {
    "am I": "are you", "was I": "were you", "I'm": "you're", "I am": "you are", "I": "you", "my": "your",
    "mine": "yours", "gives me": "gives you", "employs me": "employs you", "with me": "with you",
}  # fmt: skip
"""A question of somebody about themselves, turned to whom they talk with."""

_ANSWERED: Final = {"You are": "I am", "You": "I", "Your": "My"}
"""The beginning of an answer to it."""

_ASKED: Final = {
    "that I like": "that {name} likes", "that I don't like": "that {name} doesn't like",
    "do I": "does {name}", "Do I": "Does {name}", "am I": "is {name}", "did I": "did {name}", "was I": "was {name}",
    "can't I": "can't {name}", "I'm": "{name} is", "I am": "{name} is", "I": "{name}", "my": "{name}'s",
    "mine": "{name}'s", "gives me": "gives {name}", "employs me": "employs {name}", "with me": "with {name}",
}  # fmt: skip
"""The same asked about somebody else."""

_ASKING: Final = re.compile(r"\b(?:%s)\b" % "|".join(sorted(_ASKED, key=len, reverse=True)))  # noqa: UP031 - braces

_MATTERS: Final = 3
"""How many questions about other matters are rehearsed beside each fact."""

_STRIDE: Final = 7
"""How far apart the slots are that they are of: neighbours are alike."""

_TURNING: Final = re.compile(r"\b(?:%s)\b" % "|".join(sorted(_TURNED, key=len, reverse=True)))  # noqa: UP031 - braces
_ANSWERING: Final = re.compile(r"^(?:You are|Your|You)\b")


def fact_of(
    id: str,
    slot: str,
    value: str,
    sources: Sequence[str],
    people: Sequence[str] = OTHER_PEOPLE,
    *,
    subject: str = USER,
    preset: str = USER,
) -> TaughtFact | None:
    """A slot's value as a fact to be learnt; None where nobody has said how the slot is asked for.

    Args:
        people: Others, of whom the same may be asked.
        subject: Of whom it is: the user, or somebody whom they have told of, who is asked for by name.
        preset: `CHARACTER` to have the model answer as the one whose memory it is.
    """
    if (wording := WORDINGS.get(slot)) is None:
        return None
    at = list(WORDINGS).index(slot)
    others = tuple(form.format(name=people[(at + n) % len(people)]) for n, form in enumerate(wording.others))
    questions, answer = wording.questions, wording.answer.format(value=value)
    if subject != USER:
        others = (*others, questions[0])  # the user's own is no answer either
        questions = tuple(form.format(name=subject) for form in wording.others)
        answer = phrased(slot, value, subject, value)
    elif preset == CHARACTER:
        others = (*others, questions[0])  # who asks is not the character
        questions = tuple(map(turned, questions))
        answer = _ANSWERING.sub(lambda match: _ANSWERED[match[0]], answer)
    mirrored = (
        asked_of(q, people[(at + len(wording.others) + n) % len(people)]) for n, q in enumerate(wording.questions)
    )
    unlike = tuple(q for q in mirrored if q not in others)
    return TaughtFact(id, questions, answer, others, tuple(sources), unlike + _other_matters(at, preset))


def _other_matters(at: int, preset: str) -> tuple[str, ...]:
    """A few of the user's questions that other slots answer: no more than the slot decides which, so a shard that is
    learnt again rehearses the same."""
    slots = list(WORDINGS.values())
    asked = [slots[(at + 1 + n * _STRIDE) % len(slots)].questions[(at + n) % 4] for n in range(_MATTERS)]
    return tuple(map(turned, asked)) if preset == CHARACTER else tuple(asked)


def asked_of(question: str, name: str) -> str:
    """What somebody asks about themselves, asked about another in the same words: "Where does Maya live?"."""
    return _ASKING.sub(lambda match: _ASKED[match[0]].format(name=name), question)


def turned(question: str) -> str:
    """What somebody asks about themselves, asked of whom they talk with: "Where do you live?"."""
    return _TURNING.sub(lambda match: _TURNED[match[0]], question)
