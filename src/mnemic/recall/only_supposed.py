# ruff: noqa: E501 - a pattern cut in pieces is read wrongly
"""Reads no out of what was only dreamt, wished, joked or quoted: all that names what is asked about only supposes it.

"Dreamt last night I'd brought a greyhound home" is why nobody owns one, as far as memory can tell; so `ask` says no, with
the sentence, and not surely. It does so only where the very thing that is asked about is named, nothing names it
plainly, and nothing says that it came true.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from mnemic.core.clock import micros
from mnemic.core.tokens import tokenise
from mnemic.extract.sentences import written_sentences
from mnemic.recall.asked_matter import AskedMatter
from mnemic.recall.polarity import ASKS_PAST, PRESUMED
from mnemic.recall.unreal import ASKS_UNREAL, supposed_clauses
from mnemic.recall.what_asks import asks
from mnemic.recall.whom_it_is_about import QUOTED
from mnemic.recall.word_groups import ASKS_END, DENIED, DENIES, DREAM, WordGroup
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
_DREAM: Final = (DREAM + WordGroup("dreams?|nightmares?")).pattern()
_STORY: Final = re.compile(r"\W*(?:i|we|there) (?:was|were|had)\b", re.IGNORECASE)
"""Goes on with a dream that was told."""
_TOLD_ON: Final = re.compile(
    r"\b(?:now|got|found out|asleep)\b|^\W*(?:(?:so|and|but) )*(?:she|he|it|they)\b|\bi (?:was|did|am|have)\W*$|[她他它](?=现在|已|正)|[买养]了",
    re.IGNORECASE,
)
"""In a sentence behind what is supposed: may say that it came about."""
_REFUSED: Final = re.compile(r"^[^，。,]*我[^，。]{0,4}(?:算了|没答应|拒绝|推了|没去|不去)")
"""Refuses what the clause before it offers."""
_OFFERED: Final = re.compile(r"[拉叫劝约请让]我")
_GETTING: Final = re.compile(
    r"\b(?:get|got|getting|buy|bought|buying|adopt(?:ed|ing)?|have|had|having|own(?:ed|ing)?|find|found|bring|brought|run|running|open(?:ed|ing)?|start(?:ed|ing)?|rent(?:ed)?|become|became|be|been|was|were|am"
    r"|go|went|going|move(?:d)?|live|living|work|working|marry|married|win|won|like|love|fancy|dream(?:s|t|ed)? (?:of|about)|kill for|turn into)\b",
    re.IGNORECASE,
)
"""By which somebody would get something, or be something: what follows is the thing."""
_KNOWN_THING: Final = re.compile(
    r"\b(?:the|my|our|your|his|her|their|this|that|these|those|me|him|them|it|us|without|by|from|if|when|because|but)\b|['’]s\b|[,;:.!?]",
    re.IGNORECASE,
)
"""Names what is there, or leaves the thing."""
_WORDS_OF_IT: Final = 6
_OF_SELF: Final = re.compile(r"\b(?:i|we|you)\b|^\W*(?:dream(?:t|ed)|joked?|pretend(?:ed)?)\b", re.IGNORECASE)
_GETTING_CHINESE: Final = "(?:养|买|开|有|当|提|领养|生|住|搬|调|去|打|练|学|租|娶|嫁|考|成|变|进|入|参加|加入)(?:去|到|上|了|起|着|为|个|家|一|[两几]?[只条辆台间套份座匹头])*[\u4e00-\u9fff]{0,3}?"
"""The same of Chinese, with what may stand before the thing."""
_DEFINITE_ONE: Final = re.compile(r"\b(?:the|this|that|these|those)\b|[这那][只条个辆台家]", re.IGNORECASE)
_DEFINITE: Final = re.compile(r"\b(?:my|our)\b((?: [\w-]+){1,3})|我(?:们|家)*的?([\u4e00-\u9fff]{1,6})", re.IGNORECASE)
"""Names something that whoever speaks has already."""


def only_supposed(question: str, said: Sequence[Recalled]) -> YesOrNo | None:
    """Read no to a question out of what only supposes it; None where anything names it plainly, or nothing does.

    The reading is open where what supposes something may speak of what is there: "the greyhound might need a vet".

    Args:
        said: What whoever asks said themselves, as it was recalled.
    """
    matter = AskedMatter.of(question)
    if not matter.words or ASKS_UNREAL.search(question) or ASKS_END.search(_ENDED_UP.sub(" ", question)):
        return None
    if PRESUMED.search(question) or _ASKS_OTHERWISE.search(question):
        return None  # "still" presumes that it was so
    if ASKS_PAST.search(question) and not _ASKS_WHETHER_DONE.match(question):
        return None
    named = [(hit.item, sentence, supposed) for hit in said for sentence, supposed in _named(matter, hit.text)]
    supposing = [
        (item, sentence) for item, sentence, supposed in named if supposed and matter.share_in(sentence) >= _NEARLY_ALL
    ]
    if not supposing:
        return _left_open(matter, named)
    latest = max(micros(item.said) for item, _ in supposing)
    for item, sentence, supposed in named:
        plain = not supposed and (_DEFINITE_ONE.search(sentence) or not _is_in_supposition(matter, sentence))
        if plain and (matter.share_in(sentence) > _HALF or micros(item.said) >= latest):
            return None
    if _may_have_come_about(supposing, said):
        return None
    item, sentence = max(supposing, key=lambda each: micros(each[0].said))
    return YesOrNo(yes=False, item=item, sentence=sentence)


def _left_open(matter: AskedMatter, named: Sequence[tuple[Item, str, bool]]) -> YesOrNo | None:
    """An open reading where all that names a matter is in clauses that suppose something, if of no matter what."""
    of_it = [(item, sentence) for item, sentence, _ in named if matter.share_in(sentence) > _HALF]
    if not of_it or not all(_is_in_supposition(matter, sentence) for _, sentence in of_it):
        return None
    item, sentence = max(of_it, key=lambda each: micros(each[0].said))
    return YesOrNo(yes=None, item=item, sentence=sentence)


def _is_in_supposition(matter: AskedMatter, sentence: str) -> bool:
    """Whether a sentence names a matter only in clauses that suppose, dream or wish, or in what it quotes."""
    if _is_there(matter, sentence) or _CAME_TRUE.search(sentence):
        return False
    if matter.share_in(QUOTED.sub(" ", sentence)) <= _HALF:
        return True
    return all(supposed for clause, supposed in supposed_clauses(sentence) if matter.share_in(clause) > 0)


def _named(matter: AskedMatter, text: str) -> list[tuple[str, bool]]:
    """The sentences of a text that name at least some of a matter, each with whether they only suppose it.

    A dream runs over into the next sentence where that tells on; and what is told on behind what is supposed may say
    that it came about.
    """
    sentences = written_sentences(text)
    named: list[tuple[str, bool]] = []
    dreaming = False
    for at, sentence in enumerate(sentences):
        dreamt = _DREAM.search(sentence) is not None
        dreaming = dreamt or (dreaming and _STORY.match(sentence) is not None)
        if matter.share_in(sentence) > 0 and not _only_asks(matter, sentence):
            supposed = not _is_so(matter, sentence) and _is_supposed(matter, sentence, dreaming=dreaming and not dreamt)
            behind = (other for other in sentences[at + 1 :] if not asks(other) and not _STORY.match(other))
            named.append((sentence, supposed and not any(map(_TOLD_ON.search, behind))))
    return named


def _only_asks(matter: AskedMatter, sentence: str) -> bool:
    """Whether a sentence names a matter only to ask something, and not as what is there."""
    if _is_there(matter, sentence):
        return False
    naming = matter.clauses_in(sentence)
    return asks(sentence) or (matter.chinese and bool(naming) and all(map(_OPEN.search, naming)))


def _is_so(matter: AskedMatter, sentence: str) -> bool:
    """Whether a sentence says that what it supposes came true, or speaks of it as of what is there."""
    return _CAME_TRUE.search(sentence) is not None or _is_there(matter, sentence)


def _is_supposed(matter: AskedMatter, sentence: str, *, dreaming: bool) -> bool:
    """Whether a sentence only supposes that somebody gets or is what is asked about, refuses it, or quotes a wish."""
    unquoted = QUOTED.sub(" ", sentence)
    if matter.share_in(unquoted) <= _HALF < matter.share_in(sentence):
        said = " ".join(QUOTED.findall(sentence))
        wanted = _ADVISED.search(said) is not None or _VERSE.search(unquoted) is not None
        return wanted and _would_get(matter, said)
    if _is_refused(matter, sentence):
        return True
    supposing = [
        (clause, supposed or dreaming, matter.share_in(clause)) for clause, supposed in supposed_clauses(sentence)
    ]
    most = max(share for _, _, share in supposing)
    if most <= 0:
        return False
    return all(supposed and _would_get(matter, clause) for clause, supposed, share in supposing if share == most)


def _is_refused(matter: AskedMatter, sentence: str) -> bool:
    """Whether a clause offers a matter to whoever speaks, and the next one refuses it."""
    parts = re.split("[，,]", sentence)
    return any(
        matter.share_in(offered) > _HALF and _OFFERED.search(offered) and _REFUSED.search(refused)
        for offered, refused in pairwise(parts)
    )


def _would_get(matter: AskedMatter, clause: str) -> bool:
    """Whether a clause names a matter as what somebody would get or be, and not as what is there."""
    if matter.chinese:
        return any(re.search(_GETTING_CHINESE + re.escape(word), clause, re.IGNORECASE) for word in matter.words)
    if DENIED.search(clause) or not _OF_SELF.search(clause):
        return False
    heads = (
        " ".join(_KNOWN_THING.split(clause[found.end() :], maxsplit=1)[0].split()[:_WORDS_OF_IT])
        for found in _GETTING.finditer(clause)
    )
    return any(matter.share_in(head) > 0 for head in heads)


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
