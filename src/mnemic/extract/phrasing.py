"""A slot as a short sentence, in the language it was said in."""

from __future__ import annotations

import re
from typing import Final

from mnemic.core.parts import MONTHS
from mnemic.extract.chinese import has_chinese

_ENGLISH: Final = {
    "name": "{who}'s name is {value}.",
    "age": "{who} is {value} years old.",
    "birthday": "{who}'s birthday is {value}.",
    "city": "{who} lives in {value}.",
    "origin": "{who} is from {value}.",
    "employer": "{who} works for {value}.",
    "job": "{who} works as {value}.",
    "school": "{who}'s school is {value}.",
    "pet": "{who} has a pet: {value}.",
    "likes": "{who} likes {value}.",
    "dislikes": "{who} dislikes {value}.",
    "allergy": "{who} is allergic to {value}.",
    "avoids": "{who} avoids {value}.",
    "diet": "{who}'s diet is {value}.",
    "health": "{who}'s health: {value}.",
    "medication": "{who} takes {value}.",
    "marital_status": "{who} is {value}.",
    "family": "{who}'s family: {value}.",
    "learning": "{who} is learning {value}.",
    "studies": "{who} studies {value}.",
    "possession": "{who} has {value}.",
    "language": "{who} speaks {value}.",
    "native_language": "{who}'s native language is {value}.",
}
_CHINESE: Final = {
    "name": "{who}的名字是{value}。",
    "age": "{who}{value}岁。",
    "birthday": "{who}的生日是{value}。",
    "city": "{who}住在{value}。",
    "origin": "{who}来自{value}。",
    "employer": "{who}在{value}工作。",
    "job": "{who}的职业是{value}。",
    "school": "{who}的学校是{value}。",
    "pet": "{who}养了{value}。",
    "likes": "{who}喜欢{value}。",
    "dislikes": "{who}不喜欢{value}。",
    "allergy": "{who}对{value}过敏。",
    "diet": "{who}的饮食：{value}。",
    "language": "{who}会说{value}。",
    "native_language": "{who}的母语是{value}。",
    "e-mail": "{who}的邮箱是{value}。",
    "mother": "{who}的母亲叫{value}。", "father": "{who}的父亲叫{value}。", "partner": "{who}的伴侣叫{value}。",
    "sister": "{who}的姐妹叫{value}。", "brother": "{who}的兄弟叫{value}。", "son": "{who}的儿子叫{value}。",
    "daughter": "{who}的女儿叫{value}。", "friend": "{who}的朋友叫{value}。", "colleague": "{who}的同事叫{value}。",
    "roommate": "{who}的室友叫{value}。", "teacher": "{who}的老师叫{value}。", "cousin": "{who}的表亲叫{value}。",
    "boss": "{who}的上司叫{value}。", "avoids": "{who}不碰{value}。",
    "studies": "{who}学的是{value}。", "learning": "{who}在学{value}。",
    "family": "{who}的家人：{value}。", "possession": "{who}有{value}。", "medication": "{who}在吃{value}。",
}  # fmt: skip
_CHINESE_SLOTS: Final = {
    "nickname": "称呼", "address": "地址", "home": "住处", "phone_number": "电话", "car": "车", "phone": "手机",
    "health": "健康", "marital_status": "婚姻状况", "blood_type": "血型",
}  # fmt: skip
"""What slots without a form of their own are called."""
_STATUS: Final = re.compile(
    r"(?:un|self-)employed|retired|freelance|freelancing|between jobs|an? (?:freelancer|stay-at-home \w+)|on \w+ leave",
    re.I,
)
"""What somebody is in place of having a job: nobody works as it."""
_STATUS_CHINESE: Final = {
    "退休": "{who}已经退休。",
    "失业": "{who}失业了。",
    "待业": "{who}在待业。",
    "单干": "{who}自己单干。",
}
_DAY_OF_YEAR: Final = re.compile(r"--(?P<month>\d\d)-(?P<day>\d\d)")


def phrased(slot: str, value: str, subject: str, text: str, *, ended: bool = False) -> str:
    """State the value of a slot in a sentence: "The user lives in Porto."; "用户住在成都。"; "No longer so: ..."

    Args:
        text: What it was said in, whose language it is told in.
        ended: It is so no longer, or never was.
    """
    shown = shown_value(value, text)
    if has_chinese(text):
        who = "用户" if subject == "user" else subject
        form = _CHINESE.get(slot, "{who}的{slot}：{value}。")
        form = _STATUS_CHINESE.get(shown, form) if slot == "job" else form
        sentence = form.format(who=who, value=shown, slot=_CHINESE_SLOTS.get(slot, slot))
        return f"不再是这样：{sentence}" if ended else sentence
    who = ("the user" if ended else "The user") if subject == "user" else subject
    form = _ENGLISH.get(slot, "{who}'s {slot} is {value}.")
    form = "{who} is {value}." if slot == "job" and _STATUS.fullmatch(shown) else form
    sentence = form.format(who=who, value=shown, slot=slot.replace("_", " "))
    return f"No longer so: {sentence}" if ended else sentence


def shown_value(value: str, text: str) -> str:
    """A slot's value for a person, in the language of `text`: of "--05-08", a day without its year, "8 May"."""
    if (match := _DAY_OF_YEAR.fullmatch(value)) is None:
        return value
    month, day = int(match["month"]), int(match["day"])
    return f"{month}月{day}日" if has_chinese(text) else f"{day} {MONTHS[month - 1]}"
