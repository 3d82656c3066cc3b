"""Turns what is said of somebody into what they would say of themselves, which is what the patterns of slots read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection

_DONE: Final = (
    r"(?:moved|relocated|emigrated|settled|switched|changed|joined|started|quit|left|retired|graduated|finished|stopped"
    r"|bought|sold|adopted|got|gone|been|become|given|lost|passed|returned|turned|married|divorced|broken)"
)
"""What somebody did that may have changed what is so of them."""
_AS_FIRST_PERSON: Final = (
    (rf"WHO(?:['’]s|['’]ve| has| have)\b(?= (?:OFTEN){_DONE}\b)", "I have"),
    (
        r"WHO(?:['’]s| is)\b(?= (?:an?|the|in|at|on|not|\d|from|allergic|called"
        r"|vegetarian|vegan|married|single|\w+ing)\b)",
        "I am",
    ),
    (r"WHO['’]s\b", "my"),
    (r"WHO is\b", "I am"),
    (r"WHO (?:doesn|don)['’]t\b|WHO (?:does|do) not\b", "I don't"),
    (r"WHO (?:isn|aren)['’]t\b", "I'm not"),
    (r"WHO (?:hasn|haven)['’]t\b", "I haven't"),
    (r"WHO (can(?:['’]t|not)?|didn['’]t|did not)\b", r"I \1"),
    (r"WHO (?:has|have)\b", "I have"),
    (r"WHO(?: are|['’]re)\b", "I am"),
    (r"WHO (?:was|were)\b", "I was"),
    (rf"WHO (OFTEN)(?={_DONE}\b|(?:live|work|drive|have|own|eat|drink|speak|study|play)\b)", r"I \1"),
    (r"WHO (OFTEN)([dltv]ie)s\b", r"I \1\2"),
    (r"WHO (OFTEN)([a-z]+)ies\b", r"I \1\2y"),
    (r"WHO (OFTEN)([a-z]*(?:ch|sh|ss|x|zz|o))es\b", r"I \1\2"),
    (r"WHO (OFTEN)(?!always|sometimes|perhaps|besides)([a-z]+?)s\b", r"I \1\2"),
)
"""What is said of somebody, and how they would say it of themselves."""

_OFTEN: Final = (
    r"(?:(?:always|sometimes|often|usually|never|really|still|now|also|just|only|mostly|already|finally"
    r"|recently) )*"
)
"""What may stand before the verb."""

_OF_CHINESE: Final = r"(?=[\u4e00-\u9fff])(?![妈爸姐哥弟妹爷奶]|们|和|跟)"
"""What follows the name of whom a Chinese sentence is about: 小明和小红 and 小明妈妈 are somebody else."""


def as_said_by(text: str, names: Collection[str]) -> str:
    """Put a statement about somebody as they would say it themselves; any other stays as it is.

    Args:
        names: What they go by, in whatever letters.
    """
    who = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True) if name not in ("i", "me", "我"))
    if not who:
        return text
    for said, own in _AS_FIRST_PERSON:
        shape = said.replace("WHO", f"(?:{who})").replace("OFTEN", _OFTEN)
        form = re.compile(rf"^\W*(?:{shape})", re.IGNORECASE)
        if form.match(text):
            return form.sub(own, text, count=1)
    return re.sub(rf"^(?:{who}){_OF_CHINESE}", "我", text)
