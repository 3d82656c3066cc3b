"""Reads of tokens who somebody of somebody's is: "my tutor's husband", "my younger brother", "the son of my boss".

The head of such a phrase says little: "my tutor's husband" is not my tutor, nor my husband, and a sister-in-law is no
sister. So whom a text opens with is compared with whom a question asks about by whose each is, from the speaker on, and
by what tells two of a kind apart. Tokens have lost their capitals and their "'s": a list ("mum, dad and I") is told
from a chain by the "and" behind it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from mnemic.core.tokens import hash_term, stop_hashes, tokenise
from mnemic.recall.sentence_cues import kin_tokens, unspaced_kin_tokens
from mnemic.recall.understand import UNSPACED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence, Set

_SAME_PEOPLE: Final = (
    "mother mum mom mam mama mammy amma 妈妈 母亲 老妈",
    "father dad daddi papa 爸爸 父亲 老爸",
    "grandmother grandma gran nan granni",
    "grandfather grandpa grandad granddad",
    "partner husband wife spouse boyfriend girlfriend fiancé fiancée hubby missus bf gf 老公 丈夫 老婆 妻子 爱人 媳妇",
    "sister sis",
    "brother bro",
    "boss manager supervisor",
    "flatmate roommate housemate roomie",
    "neighbour neighbor",
    "colleague coworker workmate",
    "aunt auntie",
    "friend mate buddy pal bestie",
)
"""Words for one and the same person, by line."""
_MARKS: Final = {
    "elder": "older elder big eldest oldest 大",
    "younger": "younger little small youngest 小",
    "second": "二",
    "third": "三",
    "ex": "ex former 前",
    "": "twin baby kid kiddo best 男 女",
}
"""What is said of kin before the word for them, by what it means; "" tells nobody apart."""
_RANKS: Final = frozenset({"elder", "younger", "second", "third"})
_DETERMINERS: Final = "the a an this that these those our my your"
_OWN: Final = "my our"
_ASIDES: Final = (
    "and but so then well oh ah hey hi yes yep no btw also ok okay now today yesterday lately apparently even"
)
_MODIFIERS: Final = 2
"""Most words between "my" and the word for kin: "my very dear aunt"."""
_BARE: Final = "mother father grandmother grandfather"
"""Who is called so without "my", so that "saw dad" is of no Saw's dad."""


@dataclass(frozen=True, slots=True)
class KinPhrase:
    """Somebody by whose they are.

    Attributes:
        chain: What each is to the one before, from the speaker or a named person on; the last is who is meant.
        marks: What tells them from others of their kind: elder, younger, ex, in-law.
        open: It does not say whose they are: "the teacher".
        end: The place behind it.
    """

    chain: tuple[int, ...]
    marks: frozenset[str]
    open: bool
    end: int

    def same_as(self, other: KinPhrase) -> bool:
        """Whether both may be one person, as far as the phrases tell."""
        return self.chain == other.chain and not self._set_apart(other)

    def certainly_another(self, other: KinPhrase) -> bool:
        """Whether both are of one kind and cannot be one person: of other people's, or told apart by what is said."""
        if self.chain[-1] != other.chain[-1]:
            return False
        if self.chain == other.chain:
            return self._set_apart(other)
        by_marriage = _IN_LAW in self.marks | other.marks  # "my wife's mother" is a mother-in-law
        unsaid = any(phrase.open and len(phrase.chain) == 1 for phrase in (self, other))
        return not by_marriage and not unsaid

    def one_of(self, other: KinPhrase) -> bool:
        """Whether one of the two is somebody of the other's: "the tutor's husband" of "my tutor"."""
        short, long = sorted((self.chain, other.chain), key=len)
        return len(short) < len(long) and long[: len(short)] == short

    def _set_apart(self, other: KinPhrase) -> bool:
        ranks, others = self.marks & _RANKS, other.marks & _RANKS
        return bool({"ex", _IN_LAW} & (self.marks ^ other.marks)) or bool(ranks and others and ranks != others)


_IN_LAW: Final = "in-law"


@dataclass(frozen=True, slots=True)
class _Lexicon:
    """The tokens that such phrases are read by, as the lists of words above."""

    people: Mapping[int, int]
    marks: Mapping[int, str]
    determiners: frozenset[int]
    own: frozenset[int]
    asides: frozenset[int]
    bare: frozenset[int]
    in_law: tuple[int, int]
    conjunction: int
    of: int
    unspaced_own: frozenset[int]
    unspaced_links: frozenset[int]


@lru_cache(maxsize=1)
def _lexicon() -> _Lexicon:
    def hashed(words: str) -> list[int]:
        return [hash_term(word if word > UNSPACED else tokenise(word)[-1]) for word in words.split()]

    return _Lexicon(
        people={token: tokens[0] for tokens in map(hashed, _SAME_PEOPLE) for token in tokens},
        marks={token: mark for mark, words in _MARKS.items() for token in hashed(words)},
        determiners=frozenset(hashed(_DETERMINERS)),
        own=frozenset(hashed(_OWN)),
        asides=frozenset(hashed(_ASIDES)),
        bare=frozenset(hashed(_BARE)),
        in_law=(hash_term("in"), hash_term("law")),
        conjunction=hash_term("and"),
        of=hash_term("of"),
        unspaced_own=frozenset(hashed("我 咱")),
        unspaced_links=frozenset(hashed("们 家 的 她 他")),
    )


@lru_cache(maxsize=1)
def _spaced_kin() -> frozenset[int]:
    return kin_tokens() - unspaced_kin_tokens()


def spaced_kin(roles: Set[int]) -> frozenset[int]:
    """The tokens of words for kin and company in scripts with spaces, and those by which a question calls somebody."""
    return _spaced_kin() | roles


def opening_phrase(tokens: Sequence[int], kin: Set[int], names: Set[int] = frozenset()) -> KinPhrase | None:
    """The somebody whom a text opens with; None where it opens with anything else.

    Args:
        kin: As `spaced_kin` gives them.
        names: Those of the names that a question calls somebody by: one that opens a text is somebody too.
    """
    known, at = _lexicon(), 0
    while at < len(tokens) and tokens[at] in known.asides:
        at += 1
    if at == len(tokens):
        return None
    phrase = _phrase_at(tokens, at, kin) or _unspaced_phrase_at(tokens, at) or _of_a_named(tokens, at, kin)
    if phrase is None and tokens[at] in names:
        return KinPhrase((tokens[at],), frozenset(), open=False, end=at + 1)
    return phrase


def phrase_in(
    tokens: Sequence[int], kin: Set[int], names: Set[int] = frozenset(), *, begin: int = 0
) -> KinPhrase | None:
    """The first somebody whom a question or a text speaks of from a place on, by kin or by one of some names."""
    for at in range(begin, len(tokens)):
        if tokens[at] in names:
            return _of_a_named(tokens, at, kin) or KinPhrase((tokens[at],), frozenset(), open=False, end=at + 1)
        if phrase := _phrase_at(tokens, at, kin) or _unspaced_phrase_at(tokens, at):
            return phrase
    return None


STRANGERS: Final = """
everybody everyone nobody somebody someone most hero heroine narrator protagonist detective character couple guy bloke
chap lad lass woman man lady gentleman girl boy stranger visitor namesake passenger predecessor successor judge folks
"""
"""Who does nothing for the speaker, so that what a text that opens with them tells is of themselves."""


def opens_with_stranger(tokens: Sequence[int]) -> bool:
    """Whether a text opens with somebody who is nobody of the speaker's: "everybody at work", "the hero of my book"."""
    at = 1 if tokens and tokens[0] in _lexicon().determiners - _lexicon().own else 0
    return not _strangers().isdisjoint(tokens[at : at + 1])


def opens_with_mine(tokens: Sequence[int]) -> bool:
    """Whether a text opens with what is the speaker's and does not say again what that is: "Mine is brown"."""
    first, second = (*tokens[:2], 0, 0)[:2]
    mine, ours = _mine()
    return first == mine or (first == ours and second in _linking())


@lru_cache(maxsize=1)
def _strangers() -> frozenset[int]:
    return frozenset(hash_term(tokenise(word)[-1]) for word in STRANGERS.split())


@lru_cache(maxsize=1)
def _mine() -> tuple[int, int]:
    mine, ours = (hash_term(tokenise(word)[-1]) for word in ("mine", "ours"))
    return mine, ours


@lru_cache(maxsize=1)
def _linking() -> frozenset[int]:
    return frozenset(map(hash_term, tokenise("is are was were has have had will")))


def _phrase_at(tokens: Sequence[int], at: int, kin: Set[int]) -> KinPhrase | None:
    """Whom a text speaks of from a place on: "my tutor's husband", "dad", "the son of my boss"."""
    known, marks, chain, begin = _lexicon(), set[str](), list[int](), at
    whose = tokens[at] in known.determiners
    if whose:
        at += 1
        while at < min(len(tokens), begin + 1 + _MODIFIERS) and tokens[at] not in kin and _may_modify(tokens[at]):
            marks.add(known.marks.get(tokens[at], ""))
            at += 1
    elif tokens[at] not in kin and known.marks.get(tokens[at], "") == "":
        return None
    while at < len(tokens):
        if tokens[at] in known.marks and at + 1 < len(tokens) and tokens[at + 1] in kin:
            marks.add(known.marks[tokens[at]])
        elif tokens[at] in kin:
            chain.append(known.people.get(tokens[at], tokens[at]))
            if tuple(tokens[at + 1 : at + 3]) == known.in_law:
                marks.add(_IN_LAW)
                at += 2
        else:
            break
        at += 1
    if not chain or (len(chain) > 1 and at < len(tokens) and tokens[at] == known.conjunction):
        return None
    phrase = KinPhrase(tuple(chain), frozenset(marks - {""}), whose and tokens[begin] not in known.own, at)
    if at + 1 < len(tokens) and tokens[at] == known.of and tokens[at + 1] in known.determiners:
        return _of_whom(phrase, _phrase_at(tokens, at + 1, kin))
    return phrase


def _of_whom(phrase: KinPhrase, owner: KinPhrase | None) -> KinPhrase:
    """ "The son" of "my boss"."""
    if owner is None:
        return phrase
    return KinPhrase(owner.chain + phrase.chain, owner.marks | phrase.marks, owner.open, owner.end)


def _of_a_named(tokens: Sequence[int], at: int, kin: Set[int]) -> KinPhrase | None:
    """Somebody of a named person's: "Femke's cousin"."""
    known = _lexicon()
    if at + 1 == len(tokens) or tokens[at + 1] not in kin or tokens[at] in kin or not _may_modify(tokens[at]):
        return None
    phrase = _phrase_at(tokens, at + 1, kin)
    if phrase is None or phrase.chain[0] in known.bare:
        return None
    return KinPhrase((tokens[at], *phrase.chain), phrase.marks, open=False, end=phrase.end)


def _may_modify(token: int) -> bool:
    return token not in stop_hashes() and token not in _lexicon().determiners


def _unspaced_phrase_at(tokens: Sequence[int], at: int) -> KinPhrase | None:
    """The same of an unspaced script, of which each character stands before the pair that it opens: 我姐的女儿."""
    known, kin, marks, chain = _lexicon(), unspaced_kin_tokens(), set[str](), list[int]()
    own = tokens[at] in known.unspaced_own
    at += _CHARACTER if own else 0
    while at < len(tokens):
        if at + 1 < len(tokens) and tokens[at + 1] in kin:
            chain.append(known.people.get(tokens[at + 1], tokens[at + 1]))
            at += _CHARACTER
        elif tokens[at] in known.marks and not kin.isdisjoint(tokens[at + 2 : at + 4]):
            marks.add(known.marks[tokens[at]])
        elif tokens[at] in kin:
            if not chain or tokens[at] != tokens[at - _CHARACTER]:  # 弟弟 is one
                chain.append(tokens[at])
        elif not (tokens[at] in known.unspaced_links and (own or chain)):
            break
        at += _CHARACTER
    return KinPhrase(tuple(chain), frozenset(marks), not own and len(chain) == 1, at) if chain else None


_CHARACTER: Final = 2
"""Tokens of a character: itself, and the pair that it opens."""
