"""The cases that we build by are well formed, and they are told amid other talk in a fixed order."""

from __future__ import annotations

from collections import Counter

import pytest

from mnemic.lab.tasks.current.current_cases import FILLER, CurrentCase, Half, read_cases, read_filler, told_turns


@pytest.fixture(scope="module")
def cases() -> list[CurrentCase]:
    return read_cases(Half.DEVELOPMENT)


def test_there_are_as_many_cases_as_there_must_be_half_of_them_chinese(cases: list[CurrentCase]) -> None:
    assert Counter(case.lang for case in cases) == {"en": 80, "zh": 80}
    assert all(count >= 15 for count in Counter(case.kind for case in cases).values())


def test_questions_point_at_turns_of_their_case_and_at_each_once(cases: list[CurrentCase]) -> None:
    for case in cases:
        for question in case.questions:
            places = [*question.current, *question.outdated, *question.others]
            assert len(places) == len(set(places)), case.id
            assert all(0 <= place < len(case.turns) for place in places), case.id
            assert bool(question.answers) is not question.unknown, case.id


def test_a_case_is_told_amid_other_talk_in_the_order_of_its_file_and_the_same_each_time(
    cases: list[CurrentCase],
) -> None:
    talk = read_filler(Half.DEVELOPMENT)
    for case in cases[:4] + cases[-4:]:
        order = told_turns(case, talk[case.lang])
        assert [one.place for one in order if one.place is not None] == list(range(len(case.turns)))
        assert FILLER <= sum(one.place is None for one in order) <= FILLER + 3
        assert order == told_turns(case, talk[case.lang])
        assert order != told_turns(case, talk[case.lang], seed=1)
        assert all(one.said < question.asked for one in order for question in case.questions)


def test_other_talk_parts_no_reply_from_what_it_replies_to(cases: list[CurrentCase]) -> None:
    talk = read_filler(Half.DEVELOPMENT)
    (case,) = [case for case in cases if case.id == "en-rep1-02"]
    places = [one.place for one in told_turns(case, talk["en"])]
    assert case.turns[1].role == "assistant"
    assert places.index(1) == places.index(0) + 1


def test_by_time_what_the_file_has_late_and_dates_early_comes_early(cases: list[CurrentCase]) -> None:
    case = cases[0]
    backwards = CurrentCase(
        id=case.id, lang=case.lang, kind=case.kind, turns=case.turns[::-1], questions=case.questions
    )
    talk = read_filler(Half.DEVELOPMENT)["en"]
    said = [one.said for one in told_turns(backwards, talk, by_time=True)]
    assert said == sorted(said)
    assert [one.place for one in told_turns(backwards, talk) if one.place is not None] == [0, 1]
    assert [one.place for one in told_turns(backwards, talk, by_time=True) if one.place is not None] == [1, 0]
