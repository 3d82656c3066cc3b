"""Withdrawals in a user's own words: what takes an instruction back, what only looks so, and what ends it besides."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.core.ids import ItemId
from mnemic.core.items import DOUBTS, Channel, Item, Kind
from mnemic.extract.instruction_meaning import form
from mnemic.extract.withdrawal_meaning import nearest
from mnemic.lab.tasks.standing_bench import WithdrawalDialogue, read_dialogues
from mnemic.strategies.base import Derivation
from mnemic.strategies.house import digest

FIRST = datetime(2024, 5, 1, tzinfo=UTC)


FIRST_DIALOGUES = [one for one in read_dialogues() if not one.hand]
"""The dialogues that words alone were tuned on, and their other half."""


def standing(*said: str) -> list[str]:
    """What stands by rules and words alone after a user said some things, one a day."""
    written = digested(*said)
    gone = {at for one in written for at in (one.supersedes, *one.revokes)}
    return [one.text for n, one in enumerate(written) if n not in gone and one.slots.get("standing") is True]


def doubting(*said: str) -> list[str]:
    """What puts an instruction in doubt after a user said some things."""
    return [one.text for one in digested(*said) if DOUBTS in one.slots]


def digested(*said: str) -> Sequence[Derivation]:
    turns = [
        Item(
            id=ItemId(f"{n:026d}"),
            kind=Kind.TURN,
            text=text,
            said=FIRST + timedelta(days=n),
            channel=Channel.USER,
            slots={"role": "user"},
        )
        for n, text in enumerate(said)
    ]
    return digest(turns, (), "ada")


def hidden(dialogue: WithdrawalDialogue) -> set[str]:
    before = standing(*dialogue.standing, dialogue.talk)
    return set(before) - set(standing(*dialogue.standing, dialogue.talk, dialogue.last))


@pytest.mark.parametrize("testing", [False, True])
def test_nearly_all_withdrawals_in_other_words_hide_what_they_mean_and_nothing_else(testing: bool) -> None:
    withdrawing = [one for one in FIRST_DIALOGUES if one.testing is testing and one.withdraws]
    dialogues = [one for one in withdrawing if one.standing[0] in standing(one.standing[0])]
    assert len(dialogues) > 25
    lost = [(hidden(one), one.standing[0]) for one in dialogues]
    assert sum(bool(gone) for gone, _ in lost) >= 0.9 * len(dialogues)
    assert all(text in meant for gone, meant in lost for text in gone)


@pytest.mark.parametrize(
    ("instruction", "last", "left"),
    [
        ("Keep answers short and in French.", "You can stop the French.", "Keep answers short."),
        ("Keep answers short and in French.", "You no longer need to be so brief.", "Keep answers in French."),
        ("Always answer in French, and never use emojis.", "Emojis are fine again.", "Always answer in French."),
        ("Always answer in French, and never use emojis.", "You can stop the French.", "Never use emojis."),
        ("Never use emojis or tables.", "Emojis are fine again.", "Never use tables."),
        ("Use metric units, cite sources and be brief.", "Stop citing sources.", "Use metric units and be brief."),
        ("以后回答都用简体中文，尽量简短。", "不用再那么简短了，可以写长一点。", "以后回答都用简体中文。"),
        ("以后回答都用法语，不要用表情。", "可以用表情了。", "以后回答都用法语。"),
        ("以后回答都用法语，不要用表情。", "不用再用法语了。", "不要用表情。"),
        ("From now on, answer in French and German.", "You can stop the French.", "From now on, answer in German."),
        ("From now on, answer in French and German.", "Forget what I said about French and German.", None),
        ("From now on, answer in French when I write from work and on Sundays.", "You can stop the French.", None),
        ("以后都用中文回答。", "不用再用中文了。", None),
    ],
)  # fmt: skip
def test_of_an_instruction_for_several_things_what_is_not_taken_back_stands(
    instruction: str, last: str, left: str | None
) -> None:
    assert standing(instruction) == [instruction]
    assert standing(instruction, last) == ([left] if left else [])


@pytest.mark.parametrize(
    ("instruction", "last", "stands"),
    [
        ("以后叫我小王。", "别再叫我小王了，叫我王先生吧。", "叫我王先生吧"),
        ("Call me Tom.", "Don't call me Tom any more, call me Mr Wang.", "call me Mr Wang."),
        ("Always use metric units.", "Go back to imperial units.", "Go back to imperial units."),
        ("From now on, answer in French.", "Let's switch to English.", "Let's switch to English."),
        ("以后都用法语回答。", "不用法语了，以后用德语回答。", "以后用德语回答。"),
        ("Never use emojis.", "Emojis are fine again.", None),
        ("From now on, answer in French.", "You can stop the French.", None),
        ("以后叫我小王。", "别再叫我小王了。", None),
    ],
)
def test_what_is_asked_for_in_place_of_what_is_taken_back_stands(
    instruction: str, last: str, stands: str | None
) -> None:
    assert [text.rstrip("。") for text in standing(instruction, last)] == ([stands.rstrip("。")] if stands else [])


BY_OCCASION = "以后叫我小李，开会的时候叫我李总。"


@pytest.mark.parametrize(
    ("instruction", "last", "stands"),
    [
        ("Call me Bo, and answer in French.", "Call me Ann.", ["Answer in French.", "Call me Ann."]),
        ("From now on call me Bo and answer in French.", "Call me Ann.", ["Answer in French.", "Call me Ann."]),
        ("Call me Bo, short answers please.", "Call me Ann.", ["Short answers please.", "Call me Ann."]),
        ("Answer in French and call me Bo.", "Call me Ann.", ["Answer in French.", "Call me Ann."]),
        ("Call me Bo, never use emojis.", "Call me Ann, be brief.", ["Never use emojis.", "Call me Ann, be brief."]),
        ("以后叫我小李，回答用法语。", "以后叫我安安。", ["回答用法语。", "以后叫我安安。"]),
        ("Call me Captain when we sail.", "Call me Ann.", ["Call me Captain when we sail.", "Call me Ann."]),
        ("Don't call me Ma'am, and be brief.", "Call me Ann.", ["Don't call me Ma'am, and be brief.", "Call me Ann."]),
        ("Call me Bo and tell me if I'm wrong.", "Call me Ann.", ["Tell me if I'm wrong.", "Call me Ann."]),
        ("Call me Bo and be honest on all things.", "Call me Ann.", ["Be honest on all things.", "Call me Ann."]),
        (BY_OCCASION, "以后叫我安安。", [BY_OCCASION, "以后叫我安安。"]),
    ],
)  # fmt: skip
def test_a_new_name_takes_the_place_of_one_that_was_asked_for_with_something_else(
    instruction: str, last: str, stands: list[str]
) -> None:
    assert standing(instruction) == [instruction]
    assert standing(instruction, last) == stands


BO_IN_FRENCH, BO_IN_CHINESE = "Call me Bo, and answer in French.", "以后叫我小李，回答用法语。"


@pytest.mark.parametrize(
    ("said", "stands"),
    [
        ((BO_IN_FRENCH, "Answer in German.", "Call me Ann."), ["Answer in German.", "Call me Ann."]),
        ((BO_IN_FRENCH, "Call me Ann, and answer in German."), ["Call me Ann, and answer in German."]),
        ((BO_IN_FRENCH, "Call me Ann, and answer in French."), ["Call me Ann, and answer in French."]),
        (("Answer in French.", BO_IN_FRENCH, "Call me Ann."), ["Answer in French.", "Call me Ann."]),
        (("Answer in German.", BO_IN_FRENCH), [BO_IN_FRENCH]),
        (("Answer in German.", BO_IN_FRENCH, "Call me Ann."), ["Answer in French.", "Call me Ann."]),
        (("No emojis.", BO_IN_FRENCH, "Call me Ann."), ["No emojis.", "Answer in French.", "Call me Ann."]),
        ((BO_IN_CHINESE, "回答用德语。", "以后叫我安安。"), ["回答用德语。", "以后叫我安安。"]),
        ((BO_IN_CHINESE, "以后叫我安安，回答用德语。"), ["以后叫我安安，回答用德语。"]),
    ],
)  # fmt: skip
def test_what_was_asked_beside_an_older_name_stands_once_and_never_against_something_newer(
    said: tuple[str, ...], stands: list[str]
) -> None:
    assert standing(*said) == stands


@pytest.mark.parametrize(
    ("instruction", "last"),
    [
        ("Always repeat my question first.", "Repeating the question has become a bore."),
        ("Always use initials for client names.", "My request concerning initials can be disregarded."),
        ("Always put a TL;DR at the top.", "The TL;DR experiment is over."),
        ("From now on, speak to me like a pirate.", "The pirate thing has run its course."),
        ("以后改文件之前先问我。", "以后改文件不必问我了"),
        ("以后代码块都编号。", "编号的话我收回。"),
        ("Put an emoji in every reply.", "The emojis were sweet at first, but I'm over it."),
        ("Always cite your sources.", "You're free of the citations, thanks."),
        ("Never use contractions.", "I was being stuffy about contractions."),
        ("Always use British spelling.", "The whole British spelling thing is moot now."),
        ("Never tell jokes.", "I could use a joke lately."),
        ("Never suggest poisons.", "I'm ready for the poison."),
        ("每次都要用表情。", "表情停一停吧。"),
        ("一律用公文格式。", "公文格式用不着了。"),
        ("以后不要开玩笑。", "开玩笑也挺好。"),
    ],
)
def test_withdrawals_in_passing_words_take_back_what_they_name(instruction: str, last: str) -> None:
    assert standing(instruction) == [instruction]
    assert standing(instruction, last) == []


def test_where_a_half_cannot_be_cut_out_the_whole_is_in_doubt() -> None:
    instruction, last = "From now on, answer in French to my mails and briefly.", "You can stop the French."
    assert standing(instruction, last) == [instruction]
    assert doubting(instruction, last) == [last]


@pytest.mark.parametrize("testing", [False, True])
def test_few_exceptions_and_rules_of_others_hide_anything(testing: bool) -> None:
    dialogues = [one for one in FIRST_DIALOGUES if one.testing is testing and not one.withdraws]
    assert sum(bool(hidden(one)) for one in dialogues) <= 2


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("From now on, answer in French.", "Always answer in Spanish."),
        ("以后都用英文回答。", "以后一律用中文回答。"),
    ],
)
def test_an_instruction_for_the_other_side_of_an_aspect_supersedes_the_older(older: str, newer: str) -> None:
    assert standing(older, newer) == [newer]
    assert standing(newer, older) == [older]


@pytest.mark.parametrize(
    ("one", "another"),
    [
        ("From now on, answer in French.", "Always write code comments in English."),
        ("Always give distances in miles.", "Always give temperatures in Celsius."),
        ("Never answer in French.", "Always answer in English."),
    ],
)
def test_instructions_of_different_things_stand_beside_each_other(one: str, another: str) -> None:
    assert standing(one, another) == [one, another]


def test_leave_to_go_back_to_a_language_takes_back_the_other() -> None:
    assert standing("Please always answer in French.", "You can go back to English.") == []
    assert standing("Please always answer in French.", "The French can go.") == []


def test_what_cannot_be_told_apart_hides_nothing() -> None:
    both = ["Always end your answers with a proverb.", "Never start your answers with a proverb."]
    assert standing(*both, "I've had my fill of proverbs.") == both


@given(st.integers(min_value=1, max_value=6), st.data())
def test_of_two_that_lie_the_same_neither_is_nearest(count: int, data: st.DataObject) -> None:
    mean = form().mean
    ways = list(mean + np.eye(len(mean), dtype=np.float32)[: count + 1])  # at right angles, seen from the mean
    asked, elsewhere = ways[data.draw(st.integers(min_value=0, max_value=count - 1))], ways[count]
    held = ways[:count]
    none = [False] * count
    assert nearest(asked, held, none) == next(n for n, one in enumerate(held) if one is asked)
    assert nearest(asked, [*held, asked], [*none, False]) is None
    assert nearest(elsewhere, held, none) is None


TWO = ["Always answer in French.", "Never use emojis."]
TWO_CHINESE = ["以后都用法语回答。", "以后别用表情。"]


@pytest.mark.parametrize(
    ("orders", "last", "left", "doubted"),
    [
        (TWO[:1], "Forget that rule.", 0, False),
        (TWO, "That last rule I gave you, drop it.", 1, False),
        (TWO, "Forget that rule.", 2, True),  # the newest, if any
        (TWO, "Drop all my rules.", 0, False),
        (TWO, "Talk normally again.", 2, True),
        (TWO, "The school dropped its rule.", 2, False),
        (TWO, "Things are back to normal at the office.", 2, False),
        (TWO, "I forgot the rule for the dative.", 2, False),
        (TWO, "Cancel my last order, please.", 2, False),
        (TWO_CHINESE[:1], "那条规矩作废。", 0, False),
        (TWO_CHINESE, "刚才那条规矩不算了。", 1, False),
        (TWO_CHINESE, "刚说的那条，收回。", 1, False),
        (TWO, "Scratch that last rule.", 1, False),
        (TWO_CHINESE, "之前的要求全部作废。", 0, False),
        (TWO_CHINESE, "还是照旧就好。", 2, True),
        (TWO_CHINESE, "公司那条规矩取消了。", 2, False),
        (TWO_CHINESE, "地铁恢复正常运行了。", 2, False),
    ],
)
def test_that_rule_is_the_newest_and_all_rules_are_all(orders: list[str], last: str, left: int, doubted: bool) -> None:
    assert standing(*orders) == orders
    assert standing(*orders, last) == orders[:left]
    assert doubting(*orders, last) == ([last] if doubted else [])


@pytest.mark.parametrize(
    ("orders", "last"),
    [
        (["Always answer in three bullet points."], "Five bullet points rather than three from now on."),
        (["From now on answer in Spanish."], "Make it Italian instead of Spanish."),
        (["以后用西班牙语回答。"], "西班牙语换成意大利语吧。"),
    ],
)
def test_what_is_asked_for_in_place_of_something_stands_in_its_place(orders: list[str], last: str) -> None:
    assert standing(*orders, last) == [last]


@pytest.mark.parametrize(
    ("orders", "last"),
    [
        (["From now on, speak to me like a pirate."], "Forget the pirate costume, he wants to be a bear."),
        (["Never apologise to me."], "He finally apologised, so apologies are fine again."),
        (["Always answer in Dutch."], "The evening course in Dutch is over."),
        (["以后注释写中文。"], "隔壁组的注释全换成英文了"),
    ],
)
def test_what_speaks_of_others_or_of_more_than_an_instruction_takes_none_back(orders: list[str], last: str) -> None:
    assert standing(*orders, last) == orders


@pytest.mark.parametrize(
    ("older", "newer"),
    [("From now on, call me Sam.", "Call me Tom from now on."), ("以后都叫我王老师。", "以后叫我老王。")],
)
def test_a_newer_name_takes_the_place_of_an_older_one_however_either_is_asked_for(older: str, newer: str) -> None:
    assert standing(older, newer) == [newer]


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Call me Bo.", "From now on call me back within the hour."),
        ("Call me Bo.", "From now on call me a cab at nine."),
        ("以后叫我小林。", "以后叫我一声就行，别发消息。"),
    ],
)
def test_a_name_leaves_standing_what_asks_for_none(older: str, newer: str) -> None:
    assert standing(older, newer) == [older, newer]


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Call me Bo.", "Call me Ann, and answer in French."),
        ("Call me Bo, please, everybody does.", "Call me Ann instead of Bo."),
        ("以后叫我小林。", "以后叫我小王，回答都用法语。"),
        ("以后叫我小林，别叫全名。", "叫我小王就行。"),
    ],
)
def test_a_name_and_what_is_asked_beside_it_take_the_place_of_an_older_name(older: str, newer: str) -> None:
    assert standing(older, newer) == [newer]
