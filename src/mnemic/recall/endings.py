"""Tells whether a statement says that a matter ended, and of nothing that came in its place.

"Mia and I broke up on Thursday" answers "Who is my partner?" with nobody; "Vukovic retired, Piers does my back now"
does not. So `ask` says that there is none any more, and does not hand out the sentence as if it named one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from mnemic.recall.asked_for import asks_age
from mnemic.recall.polarity import ASKS_PAST, SUPPOSES
from mnemic.recall.sentence_cues import SentenceCue, counted_in
from mnemic.recall.whom_it_is_about import QUOTED, names_in

if TYPE_CHECKING:
    from collections.abc import Iterable

_ENDED: Final = re.compile(
    r"\b(?:broke up|broken up|split up|divorced|separated|dissolved|(?:is|are|was|were|be|been|['’]s|['’]re) (?:all )?"
    r"(?:finished|over|done(?! with)|dead|cancell?ed|closed down)|cancell?ed|resigned|retired|quit|got rid of|ended"
    r"|came to an end|gave (?:it|them) up|given (?:it|them) up|the last of|no longer"
    r"|(?:I['’]m|I am|we['’]re|we are) done with"
    r"|(?:nobody|no one|none) (?:has|have|does|do|is) (?:it|one|any|mine|ours)?)\b"
    r"|分手|(?<![十过百部])分了(?!解)|离了(?!解)|离婚|散伙|好聚好散|注销|取消|没续|不续|退掉|退了|停了|告一段落|不请了|不干了|辞了|辞职|算过完|到此为止|结束了",
    re.IGNORECASE,
)
_INSTEAD: Final = re.compile(
    r"\b(?:instead|these days|from now on|in (?:its|his|her|their) place|switched|replaced|rebooked|moved"
    r"|am a|['’]m (?:an?|at|in|on|with))\b"
    r"|换|改|如今|接手|接替|代替|之后|现在",
    re.IGNORECASE,
)
"""Tells of what came in the place of something."""
_ASIDE: Final = re.compile(
    r"\b(?:since|because|after|when|now that|as soon as)\b[^.!?;]*|(?:自从|因为)[^，。！？；]*", re.IGNORECASE
)
"""Why or since when something is: what ended there is not the matter itself."""
_FIGURE: Final = re.compile(r"\d")


def tells_only_an_end(question: str, text: str, older: Iterable[str]) -> bool:
    """Whether a statement answers a question for what is with that it is no more.

    Args:
        older: What was said of the matter before: names that stand there are nothing new.
    """
    spoken = _ASIDE.sub("", QUOTED.sub("", text))
    ended = _ENDED.search(spoken)
    if (
        ended is None
        or ASKS_PAST.search(question)
        or asks_age(question)
        or SUPPOSES.search(spoken)
        or _INSTEAD.search(spoken)
    ):
        return False
    if counted_in(spoken)[SentenceCue.CHANGE]:
        return False
    known = " ".join((question, *older))
    rest = spoken[ended.end() :]
    return not (_FIGURE.search(rest) or any(name not in known for name in names_in((f", {rest}",))))
