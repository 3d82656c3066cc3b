# ruff: noqa: E501 - a pattern cut in pieces is read wrongly
"""How people state simple facts about themselves in Chinese, on simplified characters."""

from __future__ import annotations

import re
from typing import Final

from mnemic.core.timex_zh_words import numeral
from mnemic.extract.chinese import NAME, ORGANISATION_ENDS, PLACE
from mnemic.extract.patterns import SlotPattern

_AT: Final = r"(?:^|(?<=[，,：:、；;！!。 了是]))"
_I: Final = rf"{_AT}我(?!们)"
_VERY: Final = r"(?:真的|其实|一直|从小|平时|现在|目前|还|也|都|很|非常|特别|最|比较|挺|超|更|蛮|就|已经|刚|刚刚|最近)*"
_END: Final = r"(?=[，,。！!；;~～ …]|$)"
_NAMED: Final = rf"(?P<value>{NAME}|(?![他她它你您我咱]|大家|别人)[\u4e00-\u9fff·]{{2,4}}|[A-Za-z][\w-]*){_END}"
_RELATIONS: Final = {
    "妈妈": "mother", "母亲": "mother", "妈": "mother", "爸爸": "father", "父亲": "father", "爸": "father", "姐姐": "sister",
    "妹妹": "sister", "哥哥": "brother", "弟弟": "brother", "老公": "partner", "丈夫": "partner", "老婆": "partner",
    "妻子": "partner", "太太": "partner", "男朋友": "partner", "女朋友": "partner", "男友": "partner", "女友": "partner",
    "儿子": "son", "女儿": "daughter", "同事": "colleague", "朋友": "friend", "好朋友": "friend", "闺蜜": "friend",
    "室友": "roommate", "老师": "teacher", "表哥": "cousin", "表姐": "cousin", "表弟": "cousin", "表妹": "cousin",
}  # fmt: skip
_JOBS: Final = (
    r"(?:[\u4e00-\u9fff]{0,6}(?:老师|教师|医生|护士|律师|工程师|程序员|设计师|会计|作家|画家|学生|研究生|大学生|博士生|高中生|厨师|司机|记者|编辑|翻译"
    r"|演员|歌手|导演|警察|军人|公务员|经理|销售|店员|教授|研究员|科学家|摄影师|农民|工人|快递员|外卖员|心理咨询师|药剂师|建筑师|分析师|顾问|教练|导游|空姐|飞行员|主持人|模特|编剧|插画师|理发师|自由职业者|产品经理|护工|社工|牙医|兽医))"
)
_LANGUAGE: Final = r"(?:[\u4e00-\u9fff]{1,3}(?:语|话)|英文|中文|日文|韩文|法文|德文)"
_THING: Final = r"(?!你|您|他|她|它|这|那|和你|跟你|与你|上了|的|我|自己|有|把|被|上你|到|什么|一个人(?!旅行))[\u4e00-\u9fffA-Za-z0-9]{1,10}"


class Chinese:
    """The Chinese patterns that `slots` matches, and the words that rule a sentence out."""

    UNSAID: Final = re.compile(
        r"如果|要是|假如|假设|以前|曾经|希望我|想象|梦见|他说|她说|说我|问我|觉得我|以为|要不要|是不是|好像"
    )
    """Hypothetical, past or reported: nothing is stated."""
    NOTHING: Final = re.compile(
        r"什么|谁|一下|哪里|哪儿|这里|那里|这儿|家|家里|人|一个人?|一起|你|他|她|它|这样|那样|名字|小名"
    )
    STATEMENTS: Final = (
        SlotPattern("name", rf"{_I}(?:的(?:名字|全名)(?:叫|是)|名字叫|名叫|叫做?){_NAMED}", needs=("我",)),
        SlotPattern("name", rf"{_I}是(?P<value>{NAME}){_END}", needs=("我",)),
        SlotPattern("age", rf"{_I}(?:今年|现在|刚满|刚|已经|快)?(?:满)?(?P<value>\d{{1,3}}|[一二三四五六七八九十两]{{1,3}})(?:周)?岁(?!的时候|时|那年|之前|以前|之后)", needs=("岁",)),
        SlotPattern("birthday", rf"{_AT}我?的?生日(?:是|在)(?:农历)?(?P<value>(?:\d{{4}}年)?[\d一二三四五六七八九十]{{1,2}}月[\d一二三四五六七八九十]{{1,3}}[日号]?)", needs=("生",)),
        SlotPattern("birthday", rf"{_I}(?:是|出?生于|出生在)?(?P<value>\d{{4}}年(?:\d{{1,2}}月\d{{1,2}}[日号])?)(?:出生|生的|生人|{_END})", needs=("生",)),
        SlotPattern("city", rf"{_I}{_VERY}(?:住在|居住在|定居在?)(?P<value>{PLACE})", needs=("住", "居", "搬", "在")),
        SlotPattern("city", rf"{_I}{_VERY}(?:.{{0,8}}?(?:年|月|天|周))?(?:搬到|搬去|搬来|移居到?)了?(?P<value>{PLACE})", begins=True, needs=("住", "居", "搬", "在")),
        SlotPattern("city", rf"{_I}{_VERY}在(?P<value>{PLACE})(?:工作|生活|上班|定居|居住)", needs=("住", "居", "搬", "在")),
        SlotPattern("origin", rf"{_I}(?:是|来自)(?P<value>{PLACE})(?:人|的|{_END})", needs=("是", "来自", "老家", "家乡", "故乡")),
        SlotPattern("origin", rf"{_AT}(?:我的?)?(?:老家|家乡|故乡)(?:在|是)(?P<value>{PLACE})", needs=("是", "来自", "老家", "家乡", "故乡")),
        SlotPattern("employer", rf"{_I}{_VERY}(?:在|就职于|供职于|任职于)(?P<value>(?!当前|现在|一家|一个|这家|那家|某|同一)[\u4e00-\u9fffA-Za-z]{{2,12}}?(?:{ORGANISATION_ENDS}))(?:工作|上班|任职|做|当|{_END})", needs=("在", "于", "入", "到")),
        SlotPattern("employer", rf"{_I}{_VERY}(?:加入|入职|跳槽到|跳槽去)了?(?P<value>[\u4e00-\u9fffA-Za-z]{{2,12}}?){_END}", begins=True, needs=("在", "于", "入", "到")),
        SlotPattern("job", rf"{_I}{_VERY}(?:是|在做|做|当)(?:一名|一个|一位|个|名)?(?P<value>{_JOBS}){_END}", needs=("是", "做", "当")),
        SlotPattern("job", rf"{_AT}我的?(?:工作|职业)是(?:一名|一个|一位)?(?P<value>{_JOBS}){_END}", needs=("是", "做", "当")),
        SlotPattern("school", rf"{_I}{_VERY}(?:在|就读于|毕业于|考上了?)(?P<value>[\u4e00-\u9fff]{{2,10}}?(?:大学|学院|中学|高中|小学))(?:读|上学|念|学习|上|{_END})", needs=("学", "高中")),
        SlotPattern("", rf"{_AT}我(?:的)?(?P<slot>{'|'.join(sorted(_RELATIONS, key=len, reverse=True))})(?:的名字)?(?:叫做?|名叫|是叫){_NAMED}", words=tuple(_RELATIONS.items()), needs=("叫",)),
        SlotPattern("pet", rf"(?:我|我家|我们家|家里)的?(?:养了?)?(?:有)?[一两]?(?:只|条|个)?(?:小)?(?P<slot>猫咪?|狗狗?|兔子|仓鼠|鹦鹉|乌龟|猫|狗)[，,]?(?:名字)?(?:叫做?|名叫){_NAMED}", shown="{value} ({slot})", needs=("叫",)),
        SlotPattern("likes", rf"{_I}{_VERY}(?:喜欢|爱|热爱)(?P<value>(?!上|情|人|心){_THING}(?:[、和]{_THING})*){_END}", many=True, needs=("喜欢", "爱")),
        SlotPattern("dislikes", rf"{_I}{_VERY}(?:不喜欢|讨厌|不爱|不太喜欢)(?P<value>{_THING}(?:[、和]{_THING})*){_END}", many=True, needs=("不", "讨厌")),
        SlotPattern("allergy", rf"{_I}{_VERY}对(?P<value>[\u4e00-\u9fff、和]{{1,10}})过敏", many=True, needs=("过敏",)),
        SlotPattern("diet", rf"{_I}{_VERY}(?:是|吃)(?:个)?(?P<value>素食主义者|纯素|素食者|素|清真|乳糖不耐受?){_END}", needs=("素", "清真", "乳糖")),
        SlotPattern("native_language", rf"{_AT}我的母语是(?P<value>{_LANGUAGE})", needs=("母语",)),
        SlotPattern("language", rf"{_I}{_VERY}会(?:说|讲)一?点?(?P<value>{_LANGUAGE}(?:[、和]{_LANGUAGE})*)", many=True, needs=("会",)),
        SlotPattern("e-mail", r"我的?(?:邮箱|电子邮箱|邮件地址)(?:地址)?(?:是|：|:) ?(?P<value>[\w.+-]+@[\w-]+(?:\.[\w-]+)+)", needs=("@",)),
    )  # fmt: skip


def number(text: str) -> int:
    """The value of Chinese numerals below a thousand; -1 if they are none."""
    try:
        return numeral(text)
    except KeyError:
        return -1
