# ruff: noqa: E501 - a pattern cut in pieces is read wrongly
"""Tells whether a statement says that a matter ended, and of nothing that came in its place.

"Mia and I broke up on Thursday" answers "Who is my partner?" with nobody; "Vukovic retired, Piers does my back now"
does not. So `ask` says that there is none any more, and does not hand out the sentence as if it named one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from mnemic.core.tokens import tokenise
from mnemic.extract.sentences import written_sentences
from mnemic.recall.asked_for import asks_age
from mnemic.recall.evidence import matter_words
from mnemic.recall.polarity import ASKS_PAST
from mnemic.recall.sentence_cues import SentenceCue, counted_in
from mnemic.recall.unnamed_endings import ends_something_else
from mnemic.recall.what_asks import asks
from mnemic.recall.whom_it_is_about import QUOTED, names_in
from mnemic.recall.word_groups import (
    ASKS_END,
    CALLED_OFF,
    GIVEN_UP,
    LAST,
    NEARLY,
    PARTED,
    RID,
    SINGLE,
    SUPPOSED,
    WEIGHED,
    WordGroup,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

_ENDED: Final = (
    PARTED
    + SINGLE
    + CALLED_OFF
    + WordGroup(
        r"(?:is|are|was|were|be|been|['’]s|['’]re) (?:all )?(?:finished|over|done(?! with)|dead|closed down)"
        r"|dissolved|resigned|retired|quit|got rid of|gave (?:it|them) up|given (?:it|them) up|the last of|no longer"
        r"|(?:I['’]?m|I am|we['’]?re|we are) done with|(?:we|they|it|team|club|band|shop|firm) folded"
        r"|(?:nobody|no one|none) (?:has|have|does|do|is) (?:it|one|any|mine|ours)?",
        "(?<![十过百部])分了(?!解)|没续|不续|退[掉了]|停[了药]|不[请干]了|辞了|辞职|算过完",
    )
).pattern()
"""Says of itself that something ended."""
_LEFT_OFF: Final = (
    GIVEN_UP
    + RID
    + CALLED_OFF
    + LAST
    + WordGroup(
        r"giving up|killed|axed|folded|(?:handed|gave|given) (?:\w+ ){0,3}(?:in|back)|(?:taken|took|come|came) (?:me |him |her |us |them )?off"
        r"|packed (?:\w+ ){0,3}in|(?:moved|gone|went) (?:out|away|home)|away home|let (?:\w+ )?go",
        r"退出|退租|退给|退还|结清|不(?:[包订租养练学雇请吃种开弹打去做]|再)\w{0,4}?了|不出了|不办了|毕业了(?![去后到])|搬走|走的|走了|到期|还给",
    )
).pattern()
"""Says that something ended where it speaks of the matter itself: much else is sold, stopped and left."""
_NOTHING_ELSE: Final = re.compile(
    r"\b(?:not|never|n['’]t|nor|without)(?: \w+){0,4} (?:any(?:one|body|thing)|another|owt) ?(?:else|one)?\b"
    r"|\bno (?:more|replacement|plans? (?:for|on|of) (?:any|an)other)\b[^.!?]{0,24}?\b(?:me|us|him|her|ever|instead)\b"
    r"|\b(?:nobody|no one|nothing|none) (?:else|new|in (?:its|his|her|their) place|we|I|will)\b|\bon my own\b"
    r"|谁的?也不|哪[个家]也不|[一半]个也没有?|也?不打算再|不再?(?:找人?|请人?|招人?|养|租|订|参加|换)(?:别的|了)|再也不|一个人[住过]|自己(?:慢慢)?(?:干|做)",
    re.IGNORECASE,
)
"""Says that nothing comes, or is to come, in the place of something."""
_INSTEAD: Final = re.compile(
    r"\b(?:instead|these days|from now on|in (?:its|his|her|their) place|switched|replaced|rebooked"
    r"|(?:I|we|he|she|it|they|['’]ve|['’]s|has|have|had|be|been|was|were) moved(?! (?:out|away)\b)"
    r"|am a|(?:I|he|she|we|they)['’](?:m|s|re) (?:an?|at|in|on(?! my own)|with)|in place of|(?:put|started) (?:me|him|her) on"
    r"|signed (?:up )?(?:for|with)|(?:went|gone|going|is|am|are|,) back (?:to|on|with)|first (?:week|day|lesson|shift|session)"
    r"|(?<!not )(?:renting|living|staying|working|studying|training|playing|driving|using|taking|seeing|dating)"
    r"|(?:is|does|do|am|are|['’]s|['’]m|['’]re|have|has|it) (?:\w+ ){0,4}now|(?:sold|cleared) (?:\w+ ){1,3}for (?!good\b|ever\b|\d))\b"
    r"|换|改(?:[为成到走用打学练弹吃喝做上骑开坐当养拉唱跳教玩跑]|去(?!世))|如今|接手|接替|代替|之后|现在(?!\w{0,9}(?:没|不))|又?[住搬用]回|又回|[就只]留|留[一下着]|装了|轮到|考[进上]|待在|买了|开了个|去了(?=[\u4e00-\u9fff]{2})",
    re.IGNORECASE,
)
"""Tells of what came in the place of something."""
_DOES_NOW: Final = re.compile(
    r"(?:\b(?:I|we|he|she|they|it)|(?-i:\b[A-Z][\w-]+)) (\w+) (?:(?!nothing|no|none|neither|without)[\w'’-]+ ){1,4}now\b"
    r"|\bnow (?:I|we|he|she|they|it|(?-i:[A-Z][\w-]+)) (\w+) (?!nothing|no|none|neither)\w",
    re.IGNORECASE,
)
"""Tells what somebody does now, by its verb: "she plays the drums now"."""
_TAKEN_UP: Final = frozenset(("play", "plays", "do", "does", "take", "takes"))
"""Verbs by which what was taken up in the place of something is told, whatever verb told of that."""
_ASIDE: Final = re.compile(
    r"\b(?:since|because|after|when|now that|as soon as)\b[^.!?;]*|(?:自从|因为)[^，。！？；]*", re.IGNORECASE
)
"""Why or since when something is: what ended there is not the matter itself."""
_SUPPOSED: Final = (SUPPOSED + WEIGHED + NEARLY + WordGroup(anywhere="打算(?!再)")).pattern()
"""What a clause only supposes or plans."""
_ASKS_WHY: Final = re.compile(
    r"^\W*(?:and |so |but )?(?:why|how come|when)\b|为什么|为何|怎么(?!样)|什么时候|哪天|何时", re.IGNORECASE
)
"""Asks for the reason or the time of an end, which what tells of it answers."""
_CLAUSE: Final = re.compile(r"(?<=[,，;；。.!！—])|(?<=\s)(?=(?:so|but|and) )")
_FIGURE: Final = re.compile(r"\d")


def tells_only_an_end(question: str, text: str, older: Iterable[str]) -> bool:
    """Whether a statement answers a question for what is with that it is no more.

    Args:
        older: What was said of the matter before: names that stand there are nothing new.
    """
    if any(form.search(question) for form in (ASKS_PAST, ASKS_END, _ASKS_WHY)) or asks_age(question):
        return False
    spoken = _stated(text, question)
    if _INSTEAD.search(spoken):
        return False
    known = " ".join((question, *older))
    matter = matter_words(known)
    if _does_now(spoken, known):
        return False
    if _NOTHING_ELSE.search(spoken):
        return not matter.isdisjoint(matter_words(spoken)) and any(form.search(spoken) for form in (_ENDED, _LEFT_OFF))
    if counted_in(spoken)[SentenceCue.CHANGE]:
        return False
    return any(_nothing_follows(spoken[end:], known) for end in _ends(spoken, matter))


def _does_now(spoken: str, known: str) -> bool:
    """Whether it is said what somebody does now, by a verb of the question or of what was said before."""
    verbs = {next(filter(None, groups)).casefold() for groups in _DOES_NOW.findall(spoken)}
    return not verbs.isdisjoint(_TAKEN_UP) or any(not set(tokenise(verb)).isdisjoint(tokenise(known)) for verb in verbs)


def tells_that_nothing_else_comes(question: str, text: str) -> bool:
    """Whether a statement that names what is asked says that it ended, and that nothing is to come in its place.

    That needs no older state beside it to be understood.
    """
    return (
        not matter_words(question).isdisjoint(matter_words(text))
        and _NOTHING_ELSE.search(_stated(text, question)) is not None
        and tells_only_an_end(question, text, (text,))
    )


def _stated(text: str, question: str) -> str:
    """What a text states in its own words: no quotation, no question or supposition, and not why or since when.

    Nor that something ended which the question does not ask for.
    """
    parts = (part for part in written_sentences(QUOTED.sub("", text)) if not (asks(part) or _SUPPOSED.search(part)))
    return _ASIDE.sub("", " ".join(part for part in parts if not ends_something_else(question, part)))


def _ends(spoken: str, known: set[str]) -> list[int]:
    """Where it is said that something ended: the first plain end, and each that speaks of a known matter."""
    plain = _ENDED.search(spoken)
    ends = [] if plain is None else [plain.end()]
    begin = 0
    for clause in _CLAUSE.split(spoken):
        found = _ENDED.search(clause) or _LEFT_OFF.search(clause)
        if found and not known.isdisjoint(matter_words(clause)):
            ends.append(begin + found.end())
        begin += len(clause)
    return ends


def _nothing_follows(rest: str, known: str) -> bool:
    """Whether what stands behind an end names nothing new, neither by a name nor in figures."""
    return not (_FIGURE.search(rest) or any(name not in known for name in names_in((f", {rest}",))))
