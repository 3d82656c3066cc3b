"""Plain lives are made the same each time, and what answers is what they were last told of the matter."""

from __future__ import annotations

from itertools import pairwise

from mnemic.lab.tasks.current.plain_changes import MATTERS, plain_changes


def test_the_same_seed_makes_the_same_lives() -> None:
    assert list(plain_changes(3, 5)) == list(plain_changes(3, 5))
    assert list(plain_changes(3, 5)) != list(plain_changes(4, 5))


def test_what_answers_is_the_last_that_was_told_of_the_matter() -> None:
    for case in plain_changes(each=60):
        (question,) = case.questions
        assert all(earlier.said < later.said for earlier, later in pairwise(case.turns) if earlier.said and later.said)
        (current,) = question.current
        assert question.answers[0] in case.turns[current].text
        assert all(place < current for place in question.outdated)
        assert {current, *question.outdated}.isdisjoint(question.others)
        assert not any("{" in turn.text for turn in case.turns)


def test_no_matter_runs_out_of_values() -> None:
    most = 1 + 2 + 1 + 1  # a state, two changes, somebody else's and a wish
    assert all(len(set(matter.values)) >= most for matters in MATTERS.values() for matter in matters)


def test_nothing_but_the_words_tells_what_answers() -> None:
    assert {turn.role for case in plain_changes(each=60) for turn in case.turns} == {"user", ""}
    assert all(len({turn.role for turn in case.turns}) == 1 for case in plain_changes(each=60))
