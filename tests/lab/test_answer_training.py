"""How sure an answer is and whether it is yes are learned from cases: by ridge, in folds, the plain ones right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mnemic.core.queries import Context
from mnemic.lab.answer_training import (
    PLAIN,
    AskedOnce,
    AskedPlainly,
    LearnedFrom,
    fitted,
    learn_conclusion,
    learn_readings,
    plainly,
    told_to_a_small_memory,
)
from mnemic.lab.tasks.current.current_cases import CurrentCase, CurrentQuestion, SaidTurn, rows_of
from mnemic.lab.tasks.small.small_memories import small_memories
from mnemic.models.base import AnswerReading
from mnemic.recall.sureness import (
    CONCLUSION_INPUTS,
    READ_CONCLUSION_INPUTS,
    READ_VALUE_INPUTS,
    concluding,
    likelihood,
    likely_yes,
    weights,
)


def test_what_was_fitted_gives_back_how_likely_it_was() -> None:
    chance = np.random.default_rng(0)
    inputs = chance.normal(size=(4000, 3)) * (1, 5, 0.2) + (0, 3, 1)
    odds = inputs @ np.array([1.0, -0.3, 2.0]) - 1
    labels = chance.random(4000) < 1 / (1 + np.exp(-odds))
    *slopes, bias = fitted(inputs, labels, shrink=1.0)
    assert np.allclose(slopes, [1.0, -0.3, 2.0], atol=0.35)
    likely = 1 / (1 + np.exp(-(inputs @ np.array(slopes) + bias)))
    for low in np.arange(0.1, 0.9, 0.2):
        here = (likely >= low) & (likely < low + 0.2)
        assert abs(likely[here].mean() - labels[here].mean()) < 0.07


def test_an_input_that_never_changes_weighs_nothing() -> None:
    inputs = np.column_stack((np.ones(50), np.arange(50.0)))
    assert fitted(inputs, np.arange(50) > 25, shrink=10.0)[0] == 0.0


def test_of_plain_statements_yes_and_no_are_told_in_both_languages() -> None:
    rows = list(rows_of("plain_yes_or_no"))
    for lang in ("en", "zh"):
        mine = [row for row in rows if row["lang"] == lang]
        right = [(likely_yes(row["question"], plainly(row["said"])) > 0.5) is row["yes"] for row in mine]
        assert np.mean(right) >= 0.8


def test_small_memories_are_asked_with_what_answers_and_without() -> None:
    small = next(one for one in small_memories(1, 2) if one.category in PLAIN and len(one.statements) > 1)
    assert small.statements[small.gold] in told_to_a_small_memory(small, there=True)
    left = told_to_a_small_memory(small, there=False)
    assert small.statements[small.gold] not in left
    assert len(left) == len(small.statements) - 1


def concluded(question: str, said: str, answer: str) -> AskedOnce:
    """A question for yes or no to a memory of one statement."""
    (hit,) = plainly([said])
    asked = CurrentQuestion(
        text=question, asked=hit.item.said, as_of=None, valid_at=None, current=(0,), outdated=(), others=(),
        answers=(answer,), wrong=(), type="yesno", unknown=False,
    )  # fmt: skip
    turns = (SaidTurn(role="user", speaker=None, text=said),)
    case = CurrentCase(id=said, lang="en", kind="ended", turns=turns, questions=(asked,))
    context = Context(text="", tokens=0, items=(hit,), considered=1, seq=1, confidence=0.9)
    return AskedOnce(case, asked, context, (), None, {hit.id: 0}, LearnedFrom.CASE)


def test_conclusions_are_likely_that_were_right_and_those_of_a_sort_that_was_wrong_are_not() -> None:
    denied = [concluded(f"Do I eat {food}?", f"I'm off {food} for good.", "no") for food in ("dairy", "liver", "fish")]
    seen = [concluded(f"Do I own a {what}?", f"Saw a {what} today.", "no") for what in ("barge", "harp", "kiln")]
    learned = weights()["words"]
    slopes = learn_conclusion([*denied, *seen] * 20, learned)
    assert len(slopes) == len(CONCLUSION_INPUTS) + 1
    drafts = [each.drafted() for each in (*denied, *seen)]
    sure = [likelihood(concluding(draft.grounds), slopes) for draft in drafts if draft is not None]
    assert len(sure) == 6
    assert min(sure[:3]) > 0.5 > max(sure[3:])


def met_by_meaning(asked: AskedOnce, type: str = "yesno") -> AskedOnce:
    """The same, its statement found by vectors, so that it is read."""
    items = tuple(replace(hit, components={"dense": 1.0}) for hit in asked.context.items)
    question = replace(asked.question, type=type)
    return replace(asked, question=question, context=replace(asked.context, items=items))


def test_what_was_read_is_worth_what_came_true_where_it_was_told_and_nothing_where_it_was_not() -> None:
    def read(question: str, said: Sequence[str]) -> AnswerReading:
        yes, told = 5.0 if "practise" in said[-1] else -5.0, 5.0 if "Hale" in said[-1] else -5.0
        return AnswerReading(no=-yes, open=0.0, yes=yes, tells=told, ended=-6.0)

    yes_or_no = [
        *(concluded("Do I play the cello?", f"I practise every {day}.", "yes") for day in ("Monday", "Friday")),
        *(concluded("Do I play the cello?", f"The cello went on a {day}.", "no") for day in ("Monday", "Friday")),
    ]
    values = [
        concluded("Who is my dentist?", said, "Hale")
        for said in ("My dentist is Dr Hale.", "My dentist was late again, said Joan.")
    ]
    asked = [*map(met_by_meaning, yes_or_no), *(met_by_meaning(each, "person") for each in values)]
    untold = [replace(each, nothing=each.context, context=replace(each.context, items=())) for each in asked[-2:-1]]
    drafted = asked[0].drafted()
    assert drafted is not None
    plain = [AskedPlainly("Do I play the cello?", drafted, answer) for answer in ("yes", "open")]
    assert [row.holds(drafted.in_light_of(read("", ("practise",)))) for row in plain] == [True, False]
    known = weights()["vectors"]
    learned = learn_readings(asked * 20, plain, known, read)
    assert (learned.sure, learned.polar, learned.conclusion) == (known.sure, known.polar, known.conclusion)
    assert len(learned.read_conclusion) == len(READ_CONCLUSION_INPUTS) + 1
    assert len(learned.read_value) == len(READ_VALUE_INPUTS) + 1
    assert learned.read_yes[0] > 0
    assert learned.read_value[READ_VALUE_INPUTS.index("not open")] > 0
    told_nothing = learn_readings([*asked, *untold * 40], plain, known, read)
    assert told_nothing.read_value[-1] < learned.read_value[-1]
