# ruff: noqa: E501 - a pattern cut in pieces is read wrongly
"""Cuts from an instruction the fact about its speaker that it begins with, where the profile holds that fact already.

"I'm allergic to peanuts, so no recipes with peanuts" is a fact and an order, and of these the order is an instruction;
"I'm allergic to peanuts, keep that in mind" is no more than the fact. What is left must say by itself what it is about:
"so never suggest them" needs the words before it, and stays whole.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from mnemic.extract.entities import canonical
from mnemic.extract.patterns import SlotAct
from mnemic.extract.slots import slots

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mnemic.extract.instructions import Instruction
    from mnemic.extract.slots import Finding

_KEPT_FROM: Final = frozenset({"allergy", "avoids", "diet", "health"})
"""Slots of what somebody cannot have or does not want, which is what orders are given about."""
_FACT_FIRST: Final = re.compile(
    r"(?P<fact>[^,;，；]{3,80}?)(?:\s*[,;，；]\s*(?:(?:and|so|therefore)\s+|所以|因此|那)?|\s+(?:and|so)\s+)(?P<order>\S.*)",
    re.IGNORECASE | re.DOTALL,
)
_WHEN: Final = r"(?: please| always| from now on| in (?:the )?future| for next time| (?:when(?:ever)?|if|while|for) [^,;.!]{1,60})*"
_ONLY_NOTED: Final = re.compile(
    r"(?:please |always |do |and |so |from now on,? )*(?:(?:keep|bear) (?:that|this|it) in mind|(?:remember|note|mind|don'?t forget)(?: (?:that|this|it))?"
    rf"|take (?:that|this|it|note)(?: into account)?|be (?:careful|mindful|aware)(?: (?:of|with) (?:that|this|it))?){_WHEN}[\s.!]*"
    r"|(?:请|麻烦|务必|一定|千万|以后|你|您|都|要|帮我|(?:推荐|点|做|选|写|给我)[^，,。]{0,10}?(?:时候?|的话)[，,]?)*"
    r"(?:注意|记住|记着|记得|留意|记一?下来?|考虑(?:到|进去)?|别忘了?|不要忘了?)(?:一?下|这一?点|这个|这件事|哦|啊|吧|了|喔)*[\s。！!～~]*",
    re.IGNORECASE,
)
"""Asks for no more than that the fact is kept in mind."""


def without_fact(instruction: Instruction, findings: Iterable[Finding]) -> Instruction | None:
    """What an instruction asks for besides a fact it begins with; all of it where it begins with none, None if nothing.

    Args:
        findings: What the turn states: facts that the profile holds.
    """
    stated = [finding for finding in findings if finding.act is SlotAct.STATES and finding.slot in _KEPT_FROM]
    if not stated:
        return instruction
    beside = any(finding.start <= instruction.start < finding.end for finding in stated)
    if beside and _ONLY_NOTED.fullmatch(instruction.text):
        return None
    begun = _FACT_FIRST.fullmatch(instruction.text)
    if begun is None:
        return instruction
    held = {(finding.slot, finding.value) for finding in stated}
    facts = slots(begun["fact"], "user", 0)
    if not facts or any((fact.slot, fact.value) not in held for fact in facts):
        return instruction
    order = begun["order"]
    if _ONLY_NOTED.fullmatch(order):
        return None
    named = canonical(order)
    whole = not all(canonical(str(fact.value)) in named for fact in facts)
    return instruction if whole else replace(instruction, text=order, start=instruction.start + begun.start("order"))
