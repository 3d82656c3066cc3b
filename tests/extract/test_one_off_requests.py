"""What is asked for one thing alone, by what it is for or in a turn that asks for it, is no standing instruction."""

from __future__ import annotations

import pytest

from mnemic.extract.instructions import read_by_rules
from mnemic.extract.one_off_requests import asks_for_one_thing, goes_on_about_it, is_for_one_thing


def could_stand(text: str) -> bool:
    """Whether rules find an instruction in a text, or leave one open for words or meaning to find."""
    decided, left = read_by_rules(text)
    return bool(decided or left)


@pytest.mark.parametrize(
    "text",
    [
        "don't put my surname on the poster",
        "keep it under 80 words, it's for the parish newsletter",
        "fewer adjectives please, it's a job advert",
        "make it sound warm, it's going on the card for Lena",
        "I need a slogan, six words at most, no exclamation marks",
        "drop the tables so I can paste it into the ticket",
        "no puns in her speech please",
        "口气软一些，毕竟是封道歉信",
        "写活泼点，这是发给幼儿园家长的",
        "别用感叹号，发朋友圈用的",
        "悼词里别提他的前妻",
        "用英文写，客户要求的",
        "给我讲讲黑洞，简单点",
        "给奶奶看的，话说简单点",
        "I'd like a slogan, no exclamation marks",
        "用英文写，这是公司规定的",
        "用英文写，老师是这么要求的",
    ],
)
def test_what_says_which_one_thing_it_is_for_does_not_stand(text: str) -> None:
    assert is_for_one_thing(text.lower())
    assert not could_stand(text)


@pytest.mark.parametrize(
    "text",
    [
        "No emojis in your emails.",
        "Never put my surname on the poster of any event.",
        "Whenever you write a caption, keep it under ten words.",
        "Keep it short, it's easier for my eyes.",
        "When numbers come up in the weekly report, compare them with the week before.",
        "I need an example with every explanation.",
        "以后写朋友圈文案都别用感叹号",
        "每次给我讲讲背景再说结论",
        "合同里的话翻成白话给我。",
        "给老板看的解释里别出现借贷二字",
        "我公司是做外贸的，请用英文回答我",
        "我老师是英国人，请用英式拼写",
        "keep answers short, it's for the slow connection I have",
        "keep it short, it's going to my watch",
    ],
)
def test_what_is_for_every_such_thing_or_says_why_may_stand(text: str) -> None:
    assert not is_for_one_thing(text.lower())
    assert could_stand(text)


@pytest.mark.parametrize(
    "text",
    [
        "Draft a text to my sister. Keep it breezy.",
        "I'm writing a toast for my brother's wedding. No jokes about his ex please, and keep it short.",
        "Can you write a poem about our cat? Please don't use bullet points.",
        "帮我写封辞职信。语气客气一点。",
        "麻烦你拟一条通知。不要用表情符号。",
        "Draft a text to my sister. Don't use any emojis.",
        "Draft a text to my sister. Please do not put any emojis in it.",
        "Write me a poem. No rhymes at all please.",
        "帮我写封辞职信。一个感叹号都别用。",
    ],
)
def test_what_follows_in_a_turn_that_asks_for_one_thing_is_of_it(text: str) -> None:
    assert not could_stand(text)


@pytest.mark.parametrize(
    "text",
    [
        "Draft a text to my sister. From now on, keep such drafts breezy.",
        "Draft a text to my sister. I can't stand exclamation marks, by the way.",
        "Write me a poem. Call me Bo.",
        "Every week, write a summary. Keep it short.",
        "I wrote a poem. Keep your answers short.",
        "帮我写封辞职信。以后都别用表情符号。",
        "帮我写封辞职信。我看长段文字头疼。",
        "Write a reply to Tom. Use British English. No emojis in your answers.",
        "Draft a mail. Please don't call me sir.",
        "translate my notes. speak german to me.",
        "Draft a mail. All your replies in German please.",
        "我在写一个剧本。请用繁体字回答。",
        "帮我写封辞职信。请用英文跟我说话。",
        "帮我写封辞职信。以后一个感叹号都别用。",
        "帮我写封辞职信。一律都别用感叹号。",
    ],
)
def test_what_speaks_of_every_answer_or_of_the_speaker_may_stand_beside_it(text: str) -> None:
    assert could_stand(text)


def test_a_turn_is_about_one_thing_from_the_sentence_that_asks_for_it() -> None:
    assert asks_for_one_thing("please draft a reply to my landlord")
    assert not asks_for_one_thing("write drafts in plain english")
    assert not asks_for_one_thing("always write a summary first")
    assert goes_on_about_it("make it rhyme")
    assert not goes_on_about_it("i hate rhymes")
    assert not goes_on_about_it("also, never use rhymes")
