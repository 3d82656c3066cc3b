# ruff: noqa: E501 - a pattern cut in pieces is read wrongly
"""Reads no out of what was only dreamt, wished, joked or quoted: all that names what is asked about only supposes it.

"Dreamt last night I'd brought a greyhound home" is why nobody owns one, as far as memory can tell; so `ask` says no, with
the sentence, and not surely. It does so only where the very thing that is asked about is named, nothing names it
plainly, and nothing says that it came true.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from mnemic.core.clock import micros
from mnemic.core.tokens import tokenise
from mnemic.extract.sentences import written_sentences
from mnemic.recall.asked_matter import AskedMatter
from mnemic.recall.evidence import asks
from mnemic.recall.polarity import ASKS_END, ASKS_PAST, DENIES, STILL
from mnemic.recall.unreal import ASKS_UNREAL, supposed_clauses
from mnemic.recall.whom_it_is_about import QUOTED
from mnemic.recall.yes_or_no import YesOrNo

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mnemic.core.items import Item
    from mnemic.core.queries import Recalled

_ASKS_WHETHER_DONE: Final = re.compile(
    r"\W*did (?:i|we|the|my|our)\b(?!.*\b(?:back then|ago|last|in \d|used)\b)", re.IGNORECASE
)
"""Asks whether something has come about."""
_ASKS_OTHERWISE: Final = re.compile(
    r"\W*(?:can|could|may|should|will)\b|\b(?:like|love|enjoy|prefer|want|need|eat|drink|smoke)\b|能|可以|该|喜欢|爱[吃喝看玩]|[吃喝]",
    re.IGNORECASE,
)
"""Asks for what may be, or for a taste, of which a wish rather tells that it is so: "I'd kill for a coffee"."""
_ENDS: Final = re.compile(
    r"\b(?:quit\w*|stop\w*|g[ai]ve up|giving up|sell\w*|sold|leave|leaving|left|lose|losing|lost|cancel\w*|drop\w*|get(?:ting)? rid"
    r"|divorc\w*|split)\b",
    re.IGNORECASE,
)
_ENDS_CHINESE: Final = "(?:卖|退|停|辞|离开|戒|丢|取消|不再)"
"""Supposes the end of something, which so is there."""
_IDLY: Final = re.compile(r"做梦不要钱|反正做梦|开玩笑|逗你|just kidding|\bjk\b", re.IGNORECASE)
"""Takes back what is said beside it."""
_NEARLY_ALL: Final = 0.7
"""Share of what is asked about from which a sentence names it."""
_HALF: Final = 0.5
"""Share beyond which a plain sentence is of it, so that it stays open."""
_ENDED_UP: Final = re.compile(r"\bend(?:ed)? up\b", re.IGNORECASE)
_OPEN: Final = re.compile(r"什么|哪(?!天|怕)|谁|几[个点号月岁]|多少|怎么|啥|咋|([\u4e00-\u9fff])[不没]\1")
"""Asks, in a clause of Chinese."""
_CAME_TRUE: Final = re.compile(
    r"\b(?:came true|finally|at last|for real|(?:and|so|but) (?:now )?(?:i|we) (?:did|do|have|got|am|are)|actually (?:did|got|have))\b"
    r"|如愿|成真|终于|真的[有买养开搬去]|结果(?:真|还真)",
    re.IGNORECASE,
)
"""Says of what it tells that it came about."""
_ADVISED: Final = re.compile(
    r"\b(?:should|have to|has to|must|ought|would|could|need to|why don['’]t)\b|应该|该|得|要是|快去|不如|怎么不",
    re.IGNORECASE,
)
"""Says in a quotation what somebody else wants."""
_VERSE: Final = re.compile(
    r"\b(?:verse|lyrics?|song|poem|line|caption|meme|title|slogan|opens|opening)\b|歌词|诗|台词|标题|文案|口号",
    re.IGNORECASE,
)
"""Quotes what is no statement."""
_DREAM: Final = re.compile(r"\b(?:dream(?:t|ed|s)?|nightmare)\b|梦见|梦到|做梦|做了?个?(?:噩)?梦", re.IGNORECASE)
_AWAKE: Final = re.compile(
    r"\b(?:woke|awake|in real life|really|actually|anyway|what do|please|mean)\b|醒|现实|其实|真的|帮我|请",
    re.IGNORECASE,
)
"""Leaves a dream that was told."""
_NOT_FOR_ME: Final = re.compile(r"\bnot (?:for me|mine|ours)\b|不是(?:我|给我|我家)的?|我不[要买]", re.IGNORECASE)
_REFUSED: Final = re.compile(
    r"我[^，。]{0,4}(?:算了|没答应|拒绝|推了|没去|不去)|\b(?:i|we) (?:said no|turned (?:it|them|him|her) down|declined|passed on)\b",
    re.IGNORECASE,
)
_DEFINITE: Final = re.compile(r"\b(?:my|our)\b((?: [\w-]+){1,3})|我(?:们|家)*的?([\u4e00-\u9fff]{1,6})", re.IGNORECASE)
"""Names something that whoever speaks has already."""


def only_supposed(question: str, said: Sequence[Recalled]) -> YesOrNo | None:
    """Read no to a question out of what only supposes it; None where anything names it plainly, or nothing does.

    Args:
        said: What whoever asks said themselves, as it was recalled.
    """
    matter = AskedMatter.of(question)
    if not matter.words or ASKS_UNREAL.search(question) or ASKS_END.search(_ENDED_UP.sub(" ", question)):
        return None
    if STILL.search(question) or _ASKS_OTHERWISE.search(question):
        return None  # "still" presumes that it was so
    if ASKS_PAST.search(question) and not _ASKS_WHETHER_DONE.match(question):
        return None
    named = [(hit.item, sentence, supposed) for hit in said for sentence, supposed in _named(matter, hit.text)]
    supposing = [
        (item, sentence) for item, sentence, supposed in named if supposed and matter.share_in(sentence) >= _NEARLY_ALL
    ]
    if not supposing:
        return None
    latest = max(micros(item.said) for item, _ in supposing)
    for item, sentence, supposed in named:
        if not supposed and (matter.share_in(sentence) > _HALF or micros(item.said) >= latest):
            return None
    if _may_have_come_about(supposing, said):
        return None
    item, sentence = max(supposing, key=lambda each: micros(each[0].said))
    return YesOrNo(yes=False, item=item, sentence=sentence)


def _named(matter: AskedMatter, text: str) -> list[tuple[str, bool]]:
    """The sentences of a text that name at least some of a matter, each with whether they only suppose it."""
    named: list[tuple[str, bool]] = []
    dreaming = False
    for sentence in written_sentences(text):
        dreaming = (dreaming or _DREAM.search(sentence) is not None) and (
            _DREAM.search(sentence) is not None or _AWAKE.search(sentence) is None
        )
        if matter.share_in(sentence) > 0 and not _only_asks(matter, sentence):
            named.append((sentence, not _is_so(matter, sentence) and (dreaming or _is_supposed(matter, sentence))))
    return named


def _only_asks(matter: AskedMatter, sentence: str) -> bool:
    """Whether a sentence names a matter only to ask something, and not as what is there."""
    if _is_there(matter, sentence):
        return False
    naming = matter.clauses_in(sentence)
    return asks(sentence) or (matter.chinese and bool(naming) and all(map(_OPEN.search, naming)))


def _is_so(matter: AskedMatter, sentence: str) -> bool:
    """Whether a sentence says that what it supposes came true, or what it would end is there."""
    if _IDLY.search(sentence) or _NOT_FOR_ME.search(sentence):
        return False
    return _CAME_TRUE.search(sentence) is not None or _is_there(matter, sentence) or _would_end(matter, sentence)


def _would_end(matter: AskedMatter, sentence: str) -> bool:
    if not matter.chinese:
        return any(map(_ENDS.search, matter.clauses_in(sentence)))
    words = "|".join(map(re.escape, matter.words))
    return re.search(f"(?:{words})[都也给全]?{_ENDS_CHINESE}|{_ENDS_CHINESE}[了掉出]*(?:{words})", sentence) is not None


def _is_supposed(matter: AskedMatter, sentence: str) -> bool:
    """Whether a sentence that names a matter only supposes it, refuses it, or quotes what somebody else wants."""
    if _NOT_FOR_ME.search(sentence) or _REFUSED.search(sentence):
        return True
    unquoted = QUOTED.sub(" ", sentence)
    if matter.share_in(unquoted) <= _HALF < matter.share_in(sentence):
        said = " ".join(QUOTED.findall(sentence))
        return _ADVISED.search(said) is not None or _VERSE.search(unquoted) is not None
    supposing = [(supposed, matter.share_in(clause)) for clause, supposed in supposed_clauses(sentence)]
    most = max(share for _, share in supposing)
    return most > 0 and all(supposed for supposed, share in supposing if share == most)


def _is_there(matter: AskedMatter, sentence: str) -> bool:
    """Whether a sentence speaks of what is asked about as of something that is there: "my greyhound"."""
    for english, chinese in _DEFINITE.findall(sentence):
        if matter.chinese:
            if any(chinese.startswith(word) for word in matter.words):
                return True
        elif not matter.words.isdisjoint(tokenise(english)):
            return True
    return False


def _may_have_come_about(supposing: Sequence[tuple[Item, str]], said: Sequence[Recalled]) -> bool:
    """Whether recall holds for the state of the matter what was said after it was supposed, and only that it is so."""
    latest = max(micros(item.said) for item, _ in supposing)
    ids = {item.id for item, _ in supposing}
    newer = [hit for hit in said if hit.succession == 1 and hit.id not in ids and micros(hit.item.said) > latest]
    return any(not DENIES.search(hit.text) for hit in newer)
