"""A question that asks for a slot of a profile, and the fact that fills it: where somebody lives, what they do.

A fact is looked for by what is asked, not by its words: "Where do I live?" shares none with "I moved to Lisbon". A
question is taken as one of these only as a whole, so that one about another time, or about somebody's sister, is left
to the evidence.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from mnemic.core.clock import micros
from mnemic.core.items import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mnemic.core.items import Item

_KIN: Final = {
    "mother": "mother|mum|mom|妈妈|母亲",
    "father": "father|dad|爸爸|父亲",
    "sister": "sister|姐姐|妹妹",
    "brother": "brother|哥哥|弟弟",
    "son": "son|儿子",
    "daughter": "daughter|女儿",
    "partner": "partner|husband|wife|boyfriend|girlfriend|丈夫|妻子|老公|老婆|爱人|男朋友|女朋友",
}
_WHERE: Final = "(?:哪里|哪儿|什么地方)"
_IS: Final = "(?:['’]s| is| are)"

_ASKS: Final = {
    "city": (
        "where (?:do|does|did|am|is|are) WHO (?:live|living|based|move)(?: to| in)?",
        "(?:which|what) (?:city|town|place|country) (?:do|does|did|am|is) WHO (?:live|living|move)(?: to| in)?",
        f"WHO(?:现在)?(?:住|搬)(?:在|到|去)?了?(?:{_WHERE}|哪[个座](?:城市|地方))",
    ),
    "origin": (
        "where (?:do|does|am|is|are|was) WHO (?:come from|from|born)",
        f"WHO(?:来自|出生在){_WHERE}",
        "WHO是(?:哪里|哪儿)人",
    ),
    "employer": (
        "where (?:do|does|am|is|are) WHO work(?:ing)?",
        "(?:who|which company|what company) (?:do|does) WHO work (?:for|at)",
        f"WHO(?:现在)?在(?:{_WHERE}|[哪什][个家么]公司)(?:工作|上班)",
    ),
    "job": (
        "what (?:do|does) WHO do(?: for (?:a living|work))?",
        f"what{_IS} WHOSE (?:job|profession|occupation)",
        "WHO是?[做干]什么(?:工作)?的?",
        "WHO的?(?:职业|工作)是什么",
    ),
    "school": (
        "where (?:do|does|did) WHO (?:study|go to (?:school|university|college))",
        "(?:which|what) (?:school|university|college) (?:do|does|did) WHO (?:attend|go to)",
        f"WHO在(?:{_WHERE}|哪[个所](?:学校|大学))(?:上学|读书|学习)",
    ),
    "name": (f"what{_IS} my (?:full |first )?name", "who am i", "我(?:是谁|叫什么(?:名字)?|的名字是什么)"),
    "age": ("how old (?:am|is|are) WHO", f"what{_IS} WHOSE age", "WHO今?年?(?:多大|几岁)了?"),
    "birthday": (
        f"when{_IS} WHOSE birthday",
        "when (?:was|were|am|is) WHO born",
        "WHO的?生日是?(?:什么时候|哪[一]?天|几号|几月几[号日])",
    ),
    "allergy": ("what (?:am|is|are) WHO allergic to", f"what{_IS} WHOSE allerg(?:y|ies)", "WHO对什么过敏"),
    "native_language": (f"what{_IS} WHOSE (?:native|first) language", "WHO的?母语是什么"),
    "e-mail": (f"what{_IS} WHOSE (?:current )?e-?mail(?: address)?", "WHO的?(?:电子)?邮[箱件]是(?:什么|多少)"),
    "phone_number": (
        f"what{_IS} WHOSE (?:current |new )?(?:phone |mobile |cell |telephone )?number",
        "(?:which|what) number (?:can|do) (?:you|people) (?:reach|call) (?:me|WHO) (?:on|at)",
        "WHO的?(?:手机|电话)?(?:号码|号|电话)是(?:多少|什么)",
    ),
    "address": (f"what{_IS} WHOSE (?:home |postal |current )?address", "WHO的?(?:地址|住址)是(?:什么|哪里|哪儿)"),
    "nickname": (
        "what (?:should|do) (?:you|people) call me",
        "what do I go by",
        "(?:你|大家)?(?:该|应该)?(?:怎么|叫)(?:称呼)?我(?:什么)?",
    ),
    "studies": (
        "what (?:do|does|am|is|are) WHO (?:study|studying|majoring in|major in)",
        f"what{_IS} WHOSE (?:major|subject)",
        "WHO(?:学|读)的?(?:是)?什么(?:专业)?",
    ),
    "car": (
        "(?:what|which) (?:kind of |make of )?car (?:do|does) WHO (?:drive|have|own)",
        f"what{_IS} WHOSE car",
        "WHO(?:现在)?开的?(?:是)?什么车",
    ),
    "phone": (
        "(?:what|which) (?:kind of )?phone (?:do|does) WHO (?:use|have|own)",
        f"what{_IS} WHOSE phone",
        "WHO(?:现在)?用的?(?:是)?什么手机",
    ),
    "diet": (
        "what (?:kind of |sort of )?diet (?:do|does|am|is) WHO (?:follow|have|eat|keep|on)",
        f"what{_IS} WHOSE diet",
    ),
    "marital_status": (f"what{_IS} WHOSE marital status", "WHO的?婚姻状况是?(?:什么|怎样|如何)"),
    "blood_type": (
        f"what{_IS} WHOSE blood (?:type|group)",
        "(?:what|which) blood (?:type|group) (?:do|does|am|is|are) WHO(?: have)?",
        "WHO(?:的血型)?是什么(?:血型|型血?)?",
    ),
    "language": (
        "(?:what|which) languages? (?:do|does|can) WHO speak",
        "WHO会(?:说|讲)(?:哪些|什么|几[种门])(?:语言|话|外语)",
    ),
    "learning": ("(?:what|which) languages? (?:am|is|are) WHO learning", "WHO在学什么(?:语言|外语)"),
    "pet": (
        "(?:what|which) pets? (?:do|does) WHO (?:have|own|keep)",
        "WHO(?:家)?养了?什么(?:宠物|动物)?",
    ),
    "medication": (
        "(?:what|which) (?:medication|medicine|medicines|pills|drugs) (?:do|does|am|is) WHO (?:take|taking|on)",
        "WHO(?:在)?吃(?:的是)?什么药",
    ),
    "boss": (
        f"who{_IS} WHOSE (?:boss|manager|supervisor)",
        f"what{_IS} WHOSE (?:boss|manager)(?:['’]s name| called)",
        "WHO的?(?:老板|上司|领导)(?:是谁|叫什么(?:名字)?)",
    ),
    "roommate": (f"who{_IS} WHOSE (?:roommate|flatmate|housemate)s?", "WHO的?室友(?:是谁|叫什么(?:名字)?)"),
    **{
        slot: (
            *(("who (?:am|is|are) WHO (?:married to|dating|engaged to|going out with)",) if slot == "partner" else ()),
            f"who{_IS} WHOSE (?:older |younger |elder )?(?:{words})s?",
            f"what{_IS} WHOSE (?:older |younger |elder )?(?:{words})(?:['’]s name| called)",
            f"WHO的?(?:{words})(?:是谁|叫什么(?:名字)?)",
        )
        for slot, words in _KIN.items()
    },
}
"""A slot, and the whole questions that ask for it. WHO is a name or "I", WHOSE the same with its possessive."""

MATTER_OF: Final = {
    **dict.fromkeys(("city", "address", "home"), "residence"),
    **dict.fromkeys(("employer", "job", "boss"), "work"),
    **dict.fromkeys(("partner", "marital_status"), "relation"),
    **dict.fromkeys(("school", "studies"), "study"),
    **dict.fromkeys(("name", "nickname"), "name"),
    **dict.fromkeys(("phone_number", "e-mail"), "contact"),
    **dict.fromkeys(("car", "phone"), "possession"),
    "diet": "diet",
}
"""Slots of one value that may change, and the matter each is of; what is settled once, such as a birthday, is none."""

ENDING: Final = frozenset({"pet", "allergy", "health", "medication", "learning", "possession"})
"""Slots of several values, each of which may end: only what names one, and an end, puts it in doubt."""

CONFIRMED: Final = "confirmed"
"""The slot of a fact that says, in microseconds, up to when its owner has confirmed it against all that was said."""

_NOW: Final = r"(?: now| these days| currently| at present)?[\s?？。.!]*$"


def certain_since(fact: Item) -> int:
    """Up to when nothing that was said puts a fact in doubt: when it was said itself, or confirmed."""
    confirmed = fact.slots.get(CONFIRMED)
    return max(micros(fact.said), confirmed if isinstance(confirmed, int) else 0)


def is_only_confirmed(fact: Item) -> bool:
    """Whether settling a doubt can but confirm it: an instruction, or a statement by hand, has no value to replace."""
    return fact.kind is Kind.PROCEDURE or not isinstance(fact.slots.get("slot"), str)


def matter_of_slot(slot: str) -> str:
    """The matter that a slot is of; of one that shares none with others the slot itself."""
    return MATTER_OF.get(slot, slot)


def may_be_over(slot: str) -> bool:
    """Whether what fills a slot may change, or end."""
    return slot in MATTER_OF or slot in ENDING


def doubtable(profile: Iterable[Item]) -> list[Item]:
    """Choose the facts that something said later may put in doubt: of a matter that may change, or that may end."""
    facts = ((item, item.slots.get("slot")) for item in profile if item.slots.get("value"))
    return [item for item, slot in facts if isinstance(slot, str) and may_be_over(slot)]


def stated(question: str, profile: Iterable[Item], user: str) -> list[Item]:
    """Choose the facts of a profile that state just what a question asks for, in the order given.

    Args:
        profile: What the view shows; items of another kind are passed over.
        user: Who "I" is, beside the subject `user`.
    """
    return [item for item in profile if item.kind is Kind.PROFILE and _asks_for(question.strip(), item, user)]


def _asks_for(question: str, item: Item, user: str) -> bool:
    subject = str(item.slots.get("subject") or "user")
    mine = subject.casefold() in ("user", user.casefold())
    who = "|".join(re.escape(name) for name in dict.fromkeys((subject, user) if mine else (subject,)))
    forms = _ASKS.get(str(item.slots.get("slot")), ())
    return any(re.match(_about(form, who, mine=mine) + _NOW, question, re.IGNORECASE) for form in forms)


def _about(form: str, who: str, *, mine: bool) -> str:
    """A form with those put in whom a question may name to mean this subject."""
    subject = f"(?:{who}|i|we|[我咱]们?)" if mine else f"(?:{who})"
    owner = f"(?:(?:{who})['’]s|my|our)" if mine else f"(?:{who})['’]s"
    return form.replace("WHOSE", owner).replace("WHO", rf"{subject}\s*" if form.startswith("WHO") else subject)
