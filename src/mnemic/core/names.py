"""Names in a text, by their capitals alone, and the tokens by which one document's name is found in another.

No dictionary and no model: a run of capitalised words is a name, small words between them included ("University of
Oslo" gives itself and both its halves), and so is what stands between title marks of Chinese. It is wrong often enough;
that does no harm, because a name counts for as much as it is rare and leads anywhere only where another document holds
it too. A document is called by its title, else by what its first sentence is about (`core.subjects`), else by the
first name in it.

A name becomes one token of the field `ENTITY`: a polynomial of its words' hashes, so that a run of tokens in any text
can be looked up as a name without the words themselves.
"""

from __future__ import annotations

import re
from enum import IntEnum
from typing import TYPE_CHECKING, Final

from mnemic.core.subjects import subjects
from mnemic.core.tokens import Field, hash_term, is_stop, tokenise

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mnemic.core.items import Item, Wording

FACTOR: Final = 0x9E3779B97F4A7C15
"""What a name's polynomial is taken at, modulo 2**64."""

KIND_SHIFT: Final = 60
KEY_SHIFT: Final = 4
"""Of a name token the top two bits are its field, the next two its `Naming`, the rest the top 60 bits of its key."""

_LONGEST: Final = 8
"""Most words in a name without small words between them: of a text in capitals, every so many."""

_LEAD: Final = 120
"""How far into a document without a title its own name may begin, in characters."""

_WORD: Final = re.compile(r"[^\W_]+(?:['’.&-][^\W_]+)*|[^\w\s]")
_SMALL: Final = "of the and for & de del della der den des di da do du la le von van y"
_JOINING: Final = frozenset(_SMALL.split())
_ARTICLES: Final = frozenset({"the", "a", "an"})
_ABBREVIATED: Final = 3
"""A full stop after a word of at most so many letters ends no sentence: St. Louis, J. K. Rowling."""

_ASIDE: Final = re.compile(r"\s*[(（][^()（）]*[)）]\s*")
_TITLED: Final = re.compile(r"《([^《》]+)》")


class Naming(IntEnum):
    """The kinds of name token: what each says of its entry."""

    MENTION = 0
    """The entry names this."""
    TITLE = 1
    """The entry's document is called this."""
    OPENING = 2
    """The entry's document has a name that begins with these two tokens."""


def names(text: str) -> list[str]:
    """Find names in a text, in order, with repeats: each run of capitalised words, then the pieces it is made of."""
    spelled = [name for run in _runs(text) for name in _spelled(run)]
    return spelled + _TITLED.findall(text)


def called(item: Item | Wording) -> list[str]:
    """List a document's names: its title without what stands in parentheses, also without what follows a comma, and
    the last of its headings; if it has neither, what its first sentence is about, else the first name in it; a later
    chunk without them has none."""
    title, heading = item.slots.get("title"), item.slots.get("heading")
    own = _aliases(title) if isinstance(title, str) else []
    own += _aliases(heading.rpartition(" > ")[2]) if isinstance(heading, str) else []
    if own or item.slots.get("chunk"):
        return own
    return subjects(item.text) or names(item.text[:_LEAD])[:1]


def name_key(tokens: Iterable[int]) -> int:
    """Compute the key of a name from its token hashes of the field `TEXT`."""
    key = 0
    for token in tokens:
        key = (key * FACTOR + token) & (1 << 64) - 1
    return key


def name_token(key: int, naming: Naming) -> int:
    """Make the token of a kind for the name with this key."""
    return Field.ENTITY << 62 | naming << KIND_SHIFT | key >> KEY_SHIFT


def keys(some_names: Sequence[str]) -> list[int]:
    """Compute the keys of names, each once, in order; a name of stop words alone has none."""
    streams = (_hashes(name) for name in some_names)
    return list(dict.fromkeys(name_key(stream) for stream in streams if stream))


def own_terms(item: Item | Wording) -> bytes:
    """Make the tokens of what a document is called; they stand in each of its parts."""
    streams = [stream for name in called(item) if (stream := _hashes(name))]
    tokens = [name_token(name_key(stream), Naming.TITLE) for stream in streams]
    tokens += [name_token(name_key(stream[:2]), Naming.OPENING) for stream in streams if len(stream) > 1]
    return _bytes(tokens)


def mention_terms(text: str) -> bytes:
    """Make the tokens of the names that a text holds."""
    return _bytes([name_token(key, Naming.MENTION) for key in keys(names(text))])


def _bytes(tokens: Sequence[int]) -> bytes:
    return b"".join(token.to_bytes(8, "little") for token in dict.fromkeys(tokens))


def _hashes(name: str) -> list[int]:
    """Hash the tokens of a name, without the article it begins with."""
    tokens = tokenise(name)
    if all(is_stop(token) for token in tokens):
        return []
    return [hash_term(token) for token in (tokens[1:] if tokens[0] in _ARTICLES else tokens)]


def _aliases(title: str) -> list[str]:
    plain = _ASIDE.sub(" ", title).strip() or title
    return [plain, plain.partition(",")[0]] if "," in plain else [plain]


def _runs(text: str) -> Iterator[list[str]]:
    """Find runs of capitalised words, with the small words between them but not around them."""
    run: list[str] = []
    small: list[str] = []
    for word in _WORD.findall(text):
        if word[0].isupper() or (run and word[0].isdigit() and not small):
            run += [*small, word]
            small = []
        elif run and len(small) < 2 and word in _JOINING:
            small.append(word)
        elif run and word == "." and not small and len(run[-1]) <= _ABBREVIATED:
            continue
        elif run:
            yield run
            run, small = [], []
        if len(run) >= _LONGEST:
            yield run
            run, small = [], []
    if run:
        yield run


def _spelled(run: list[str]) -> Iterator[str]:
    """Split a run into names: itself without leading stop words, and its pieces between small words and numbers."""
    telling = [i for i, word in enumerate(run) if not _plain(word)]
    if not telling:
        return
    if telling[0]:
        yield " ".join(run)
    run = run[telling[0] :]
    yield " ".join(run)
    pieces: list[list[str]] = [[]]
    for word in run:
        if word in _JOINING or word[0].isdigit():
            pieces.append([])
        else:
            pieces[-1].append(word)
    if len(pieces) > 1:
        yield from (" ".join(piece) for piece in pieces if piece and not all(_plain(word) for word in piece))


def _plain(word: str) -> bool:
    """Whether a word is plain: its capital only begins a sentence."""
    return all(is_stop(token) for token in tokenise(word))
