"""The cases that nothing is learned from are well formed, half of them Chinese, and in no other part."""

from __future__ import annotations

from collections import Counter

from mnemic.lab.tasks.current.current_cases import Half, read_cases, read_filler


def test_validation_is_well_formed_and_shares_no_text_with_what_is_learned_from() -> None:
    cases = read_cases(Half.VALIDATION)
    assert Counter(case.lang for case in cases) == {"en": 36, "zh": 36}
    assert set(read_filler(Half.VALIDATION)) == {"en", "zh"}
    for case in cases:
        for question in case.questions:
            places = [*question.current, *question.outdated, *question.others]
            assert len(places) == len(set(places)), case.id
            assert all(0 <= place < len(case.turns) for place in places), case.id
    learned = {turn.text for half in (Half.DEVELOPMENT, Half.TRAINING) for c in read_cases(half) for turn in c.turns}
    assert not learned & {turn.text for case in cases for turn in case.turns}
