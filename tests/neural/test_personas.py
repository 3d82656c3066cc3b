"""What an experiment asks is not what anybody rehearses, and another seed asks something else."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

pytest.importorskip("torch", reason="needs torch: pip install torch==2.13.0")

from mnemic.lab.tasks.neural.made_up_people import REHEARSED_NAMES, UNREHEARSED_NAMES, made_up_facts
from mnemic.lab.tasks.neural.personas import Persona, others_wordings, people_asked_about, persona_names
from mnemic.neural.fact_wordings import CHARACTER, OTHER_PEOPLE, WORDINGS, asked_of, turned
from mnemic.neural.lora_memory import TaughtFact

SLOTS = list(Persona("ines", 20).values)


def bare(wording: str) -> str:
    """A wording without what changes nothing of it: capitals, signs, "What's" for "What is"."""
    return " ".join(re.findall(r"[\w{}']+", re.sub(r"\b([Ww]hat|[Ww]ho)'s\b", r"\1 is", wording).lower()))


def rehearsed(fact: TaughtFact) -> set[str]:
    return {bare(text) for text in (*fact.questions, *fact.others, *fact.rehearsed)}


def test_others_are_asked_for_each_slot_in_two_wordings_that_nobody_rehearses() -> None:
    known = {bare(form) for wording in WORDINGS.values() for form in (*wording.others, *wording.questions)}
    known |= {bare(asked_of(question, "{name}")) for wording in WORDINGS.values() for question in wording.questions}
    assert bare("What's {name}'s profession?") in known, "a mirrored wording counts as rehearsed"
    for slot in SLOTS:
        forms = others_wordings(slot)
        assert len({bare(form) for form in forms}) == 2
        assert not [form for form in forms if bare(form) in known], slot
        assert all("{name}" in form for form in forms)


def test_no_stranger_is_somebody_whose_questions_are_rehearsed() -> None:
    learnt_of = {name.capitalize() for name in persona_names()}
    assert not {*people_asked_about()} & {*OTHER_PEOPLE, *REHEARSED_NAMES, *learnt_of}
    told_of = {fact.name for fact in made_up_facts(160, 0)}
    assert not {*UNREHEARSED_NAMES} & {*OTHER_PEOPLE, *REHEARSED_NAMES, *told_of}
    assert {fact.other for fact in made_up_facts(160, 0)}.isdisjoint(
        text for fact in made_up_facts(160, 0) for text in (*fact.taught, *fact.taught_fact().others, fact.unseen)
    )
    assert all(any(name in fact.other for name in UNREHEARSED_NAMES) for fact in made_up_facts(160, 1))


def test_what_is_asked_besides_the_taught_questions_is_in_no_lesson() -> None:
    for name, preset in [(name, preset) for name in persona_names() for preset in ("user", CHARACTER)]:
        persona = Persona(name, 20, preset)
        lessons = set[str]().union(*map(rehearsed, persona.facts()))
        asked = [*persona.unseen(), *persona.of_others()]
        asked += persona.of_oneself() if preset == CHARACTER else []
        assert not [question for _, question in asked if bare(question) in lessons]
        assert all(bare(question) in lessons for _, question in persona.taught())


def test_a_stranger_of_a_character_asks_of_themselves_what_nobody_has_turned() -> None:
    asked = Persona("ines", 20, CHARACTER).of_oneself()
    assert asked[0] == ("city", "What's the place where I live?")
    assert not [question for _, question in asked if turned(question) == question]


def test_another_seed_begins_with_another_user_and_asks_and_takes_something_else() -> None:
    assert persona_names(0)[0] == "ines"
    assert len({persona_names(seed)[0] for seed in range(3)}) == 3
    assert all(sorted(persona_names(seed)) == sorted(persona_names()) for seed in range(7))
    few = [Persona("ines", 5, seed=seed) for seed in range(3)]
    assert list(few[0].values) == SLOTS[:5]
    assert all({*one.values}.isdisjoint(other.values) for one, other in pairwise(few))
    every = [Persona("ines", 20, seed=seed) for seed in range(3)]
    for asked in (Persona.taught, Persona.of_others):
        assert all(not {*asked(one)} & {*asked(other)} for one, other in pairwise(every)), asked.__name__
    assert Persona("ines", 20).taught() == every[0].taught()


def test_no_two_users_have_a_value_in_common_and_a_value_counts_as_whole_words() -> None:
    values = [value.lower() for name in persona_names() for value in Persona(name, 20).values.values()]
    assert len(values) == len({*values}) == 20 * len(persona_names())
    kofi = Persona("kofi", 20)
    assert kofi.leaked(["A twin.", "I speak Twi.", "He yawns."]) == pytest.approx(1 / 3)
    assert kofi.share([("native_language", "?"), ("brother", "?")], ["a twin", "It is Yaw."]) == 0.5


def test_the_others_that_a_made_up_fact_rehearses_are_strangers_of_its_own() -> None:
    for fact in made_up_facts(8, 0):
        assert all(any(name in text for name in REHEARSED_NAMES) for text in fact.taught_fact().others)


def test_a_characters_pet_is_known_by_its_name_and_scenes_may_be_of_some_slots() -> None:
    few = Persona("ines", 2, CHARACTER, slots=["pet", "city", "car"])
    assert few.values == {"pet": "a parrot called Biscuit", "city": "Trondheim"}
    assert few.share([("pet", "?")], ["I have Biscuit (parrot)."]) == 1
    assert Persona("ines", 20).share([("pet", "?")], ["You have Biscuit (parrot)."]) == 0


def test_the_prompt_tells_of_the_user_by_name_of_nobody_and_in_no_answers_words() -> None:
    persona = Persona("ines", 20)
    lines = persona.facts_prompt().splitlines()
    assert lines[:2] == ["Facts about the user:", "- The user lives in Trondheim."]
    assert len(lines) == 21
    assert not re.search(r"\b(?:I|my|you|your)\b", persona.facts_prompt(), re.IGNORECASE)
    assert all(value in persona.facts_prompt() for value in persona.values.values())
    assert all(value in said for value, said in zip(persona.values.values(), persona.said().values(), strict=True))
