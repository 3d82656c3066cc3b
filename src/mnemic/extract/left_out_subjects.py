# ruff: noqa: E501 - a pattern cut in pieces is read wrongly
"""Tells of whom a sentence speaks that leaves its subject out: of its speaker, or of whoever was spoken of before.

"Moved to Ghent last month" is said of oneself, but behind "My sister is happy." it is said of her.
"""

from __future__ import annotations

import re
from typing import Final

from mnemic.extract.chinese import has_chinese
from mnemic.extract.slots_en_words import RELATIONS
from mnemic.extract.slots_zh_words import RELATIONS as KIN_CHINESE

_NO_PEOPLE: Final = (
    "It|That|This|There|What|Life|Work|Home|School|Today|Tonight|Yesterday|Everything|Everyone|Nothing|Time|News|Weather"
    "|Summer|Winter|Spring|Autumn|Christmas|Here|Who|Which|Where|When|How|And|But|So"
)
_VERB: Final = (
    r"(?:['’]s| (?:is|was|are|were|has|had|have|just|got|went|loves?|hates?|likes?|works?|lives?|says?|said|finally)\b)"
)
_SUBJECT: Final = re.compile(
    r"(?P<speaker>\b(?i:i|im|ive|we|me)\b)"
    r"|\b(?i:he|she|they)\b"
    rf"|(?:^|[,;:—–(] ?|\b(?i:and|but|so|because|since|when|then|that) )(?:(?i:my|our|his|her|their|the) (?:[\w-]+ )?)?(?i:{RELATIONS})s?\b"
    rf"|^(?!(?:{_NO_PEOPLE})\b)[A-ZÀ-Þ][a-zà-ÿ]+(?: and [A-ZÀ-Þ][a-zà-ÿ]+)?{_VERB}"
)
_KIN: Final = "|".join(
    sorted(
        (*KIN_CHINESE, "孩子", "宝宝", "孙子", "孙女", "奶奶", "爷爷", "姥姥", "姥爷", "外婆", "外公"),
        key=len,
        reverse=True,
    )
)
_SUBJECT_CHINESE: Final = re.compile(
    rf"[我咱俺]们?家?的?(?:{_KIN}|[妈爸姐妹哥弟娃])|(?P<speaker>[我咱俺])|[他她]|{_KIN}"
)
"""Who is the first to be the subject of something in a sentence: its speaker, or another person."""


def speaks_of_another(written: str, before: bool) -> bool:
    """Whether a sentence, or its beginning, is of a person other than its speaker.

    Args:
        written: In the letters of the text, by whose capitals names are told.
        before: Whether the sentence before is, which holds on where this one names nobody.
    """
    first = (_SUBJECT_CHINESE if has_chinese(written) else _SUBJECT).search(written)
    return before if first is None else first["speaker"] is None
