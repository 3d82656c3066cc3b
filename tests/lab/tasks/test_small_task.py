"""Small memories are what they say they are, and the bench that asks them counts right."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable
from itertools import product

import pytest

from mnemic.core.tokens import is_stop, tokenise
from mnemic.lab.kit.log import LoggedRun
from mnemic.lab.tasks.small.phrases import PHRASES, Matter, Phrases
from mnemic.lab.tasks.small.small_bench import SmallOutcome, figures, show, small_outcomes, write_failures
from mnemic.lab.tasks.small.small_memories import CATEGORIES, EACH, STATEMENTS, SmallMemory, small_memories
from mnemic.lab.tasks.small_task import SMALL, SmallTask

MATTERS = [(lang, matter) for lang, phrases in PHRASES.items() for matter in phrases.matters]


def _told(text: str) -> set[str]:
    return {token for token in tokenise(text) if not is_stop(token)}


def test_there_are_two_hundred_of_each_category_and_language_as_many() -> None:
    made = list(small_memories())
    assert Counter((one.category, one.lang) for one in made) == dict.fromkeys(product(CATEGORIES, PHRASES), EACH)
    assert len(made) == 200
    assert made == list(small_memories())
    assert made != list(small_memories(seed=1))


def test_memories_hold_ten_statements_no_two_the_same_or_next_to_none() -> None:
    for one in small_memories():
        assert len(one.statements) == len(set(one.statements))
        assert len(one.statements) in ((1, 2, 3) if one.category == "near empty" else (STATEMENTS,))


@pytest.mark.parametrize(("lang", "matter"), MATTERS)
def test_a_question_in_other_words_shares_none_with_the_statement(lang: str, matter: Matter) -> None:
    for value in matter.values:
        statement = _told(matter.mine.format(v=value))
        assert not statement & _told(matter.otherwise)
        assert statement & _told(matter.plainly)
    for word in matter.words:
        assert not _told(word) & _told(matter.word_asked)


@pytest.mark.parametrize("lang", PHRASES)
def test_a_question_of_two_steps_shares_words_only_with_what_points_at_the_person(lang: str) -> None:
    phrases: Phrases = PHRASES[lang]
    for matter, pointer, name in product(phrases.matters, phrases.pointers, phrases.names):
        for value, mark in product(matter.values, pointer.values):
            question = _told(matter.who_else.format(who=pointer.who.format(v=mark)))
            assert not question & _told(matter.of.format(p=name, v=value))
            assert question & _told(pointer.of.format(p=name, v=mark))


def test_of_two_steps_the_person_pointed_at_is_the_one_the_answer_is_about() -> None:
    for one in small_memories():
        if one.category == "two steps" and one.lang == "en":
            name = one.statements[one.gold].split()[0].removesuffix("'s")
            marks = [text for text in one.statements if text.startswith(name) and text != one.statements[one.gold]]
            assert len(marks) == 1
            assert _told(marks[0]) & _told(one.question)


def test_plain_bm25_finds_what_shares_a_word_and_nothing_else(logged: Callable[..., LoggedRun]) -> None:
    ran = logged(SmallTask(each=2))
    found = small_outcomes(ran, "mnemic")
    whole = [SMALL.metrics["all that there is"](ran.outcome(answer)) for answer in ran.answers["mnemic"]]
    assert whole == [float(o.whole) for o in found]
    for o in found:
        wanted = _told(o.memory.question)
        assert set(o.baseline) == {n for n, text in enumerate(o.memory.statements) if _told(f"user: {text}") & wanted}
    assert {o.memory.gold in o.ranked for o in found if o.memory.category == "near empty"} == {True}


def test_figures_are_counted_by_hand() -> None:
    memory = SmallMemory(category="one step", lang="en", statements=("a", "b"), question="q", gold=1)
    hit = SmallOutcome(memory=memory, ranked=(1, 0), baseline=(), items=2)
    miss = SmallOutcome(memory=memory, ranked=(0,), baseline=(1,), items=1)
    above, whole = figures([hit, miss])
    assert (above.value, above.met, whole.value) == (0, False, 50)
    above, whole = figures([hit, hit])
    assert (above.value, above.met, whole.met) == (100, True, True)
    told = io.StringIO()
    show([hit, miss], told)
    show([hit, miss], told, as_json=True)
    write_failures([hit, miss], 5, told)
    assert "1 of 2 not first" in told.getvalue()
