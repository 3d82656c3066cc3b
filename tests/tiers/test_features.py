"""What is read off a turn: facts weigh, greetings do not, in English and in Chinese."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.tiers.features import Features, Reader, scaled


def importance(*turns: str) -> float:
    """Of the last of these turns."""
    reader = Reader()
    return [reader.read(turn).importance for turn in turns][-1]


@pytest.mark.parametrize(
    ("fact", "chatter"),
    [
        ("I moved to Oakmoor last month and found a flat near the harbour.", "That sounds lovely, good for you!"),
        ("My sister Nora turned 30 on Saturday, we had a picnic by the lake.", "Thanks! How are you?"),
        ("我上周搬到了苏州，在一家出版社找到了新工作。", "谢谢你，太好了！"),
        ("我妹妹三月五日结婚，婚礼在杭州。", "你最近怎么样？"),
    ],
)
def test_what_is_told_weighs_more_than_what_is_said_to_be_polite(fact: str, chatter: str) -> None:
    assert importance(fact) > 0.3
    assert importance(chatter) < importance(fact) / 2


def test_an_answer_weighs_more_than_the_same_words_unasked() -> None:
    told = "A tabby cat called Oliver."
    assert importance("What pet do you have?", told) > importance("Nice weather here.", told)
    assert importance("你养了什么宠物？", "一只猫，叫小橘。") > importance("天气不错。", "一只猫，叫小橘。")


def test_what_was_said_before_is_not_new() -> None:
    reader = Reader()
    first, again = (reader.read("The harbour concert starts at seven.") for _ in range(2))
    assert first.novelty == 1
    assert again.novelty == 0
    assert again.importance < first.importance


def test_it_counts_names_numbers_and_times() -> None:
    read = Reader().read("Yesterday Mara Lind and I paid 40 euros for two tickets to Hollow Reed.")
    assert (read.numbers, read.times, read.first, read.second) == (2, 1, 1, 0)
    assert read.entities == 2
    assert read.facts == read.entities + read.numbers + read.times


def test_it_counts_them_in_chinese_too() -> None:
    read = Reader().read("我昨天花了40块钱，你呢？")
    assert (read.numbers, read.times, read.first, read.second) == (1, 1, 1, 1)
    assert read.asks > 0


def test_a_question_is_told_by_its_sentences() -> None:
    assert Reader().read("I see. Is it far? I wonder.").asks == pytest.approx(1 / 3)
    assert Reader().read("Nothing here").asks == 0


@given(turns=st.lists(st.text(max_size=200), max_size=5))
def test_any_text_has_an_importance_between_0_and_1(turns: list[str]) -> None:
    reader = Reader()
    for turn in turns:
        read = reader.read(turn)
        assert 0 <= read.importance <= 1
        assert 0 <= read.novelty <= 1
        assert len(scaled(read)) == 11


def test_nothing_is_of_no_importance() -> None:
    empty = Reader().read("")
    assert empty == Features(
        tokens=0, terms=0, fresh=0, novelty=0, entities=0, numbers=0, times=0, first=0, second=0, asks=0, answers=False
    )
    assert empty.importance < 0.05


def test_what_a_reader_remembers_does_not_grow() -> None:
    reader = Reader()
    for number in range(300):
        reader.read(" ".join(f"word{number}x{n}" for n in range(20)))
    assert sum(len(value) for value in vars(reader).values() if isinstance(value, bytearray)) == 1 << 16
