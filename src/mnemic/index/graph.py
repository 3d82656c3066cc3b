"""Documents as a graph: two are linked where one names the other, or where both name the same thing.

Nothing is built and nothing is kept: names are tokens (`core.names`), so the postings are the graph's edges, and it
grows, ends and is masked with them. What is asked for at once is looked up at once: a call costs more than its work.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from mnemic.core.names import FACTOR, KEY_SHIFT, KIND_SHIFT, Naming
from mnemic.core.tokens import Field
from mnemic.index.columns import FIELD_SHIFT
from mnemic.index.reading import SHORT_BITS, PostingsSegment

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mnemic.index.reading import Reading, Tail

    Tokens = NDArray[np.uint64]
    Places = NDArray[np.intp]

SPELLED: Final = 16
"""Most tokens of a name that is found in a text by its words, without capitals: eight characters of Chinese."""

_FACTOR: Final = np.uint64(FACTOR)
_TOP: Final = np.uint64(KEY_SHIFT)
_NAMING: Final = np.uint64(KIND_SHIFT)
_KEY: Final = np.uint64((1 << KIND_SHIFT) - 1)
_NONE: Final = np.empty(0, dtype=np.intp)
_NO_TOKENS: Final = np.empty(0, dtype=np.uint64)


@dataclass(frozen=True, slots=True)
class Pairs:
    """What belongs together, each pair once: two columns of one length, ascending by the first.

    Attributes:
        keys: Positions in some array of tokens.
        values: A number for each: a place, or which of some texts.
    """

    keys: Places
    values: Places

    def only(self, kept: NDArray[np.bool_]) -> Pairs:
        return Pairs(self.keys[kept], self.values[kept])


def tokens_of(keys: Tokens, which: Naming) -> Tokens:
    """Make the tokens of kind `which` for names given by whole keys (`core.names.name_key`)."""
    return keys >> _TOP | _head(which)


def as_naming(tokens: Tokens, which: Naming) -> Tokens:
    """Turn tokens of names into those of kind `which` for the same names."""
    named: Tokens = tokens & _KEY | _head(which)
    return named


def says(tokens: Tokens, which: Naming) -> NDArray[np.bool_]:
    """Which of some tokens are of kind `which`."""
    said: NDArray[np.bool_] = tokens >> _NAMING == _head(which) >> _NAMING
    return said


def places_of(reading: Reading, tokens: Tokens) -> Pairs:
    """Look up many tokens at once: each with every visible place that holds it."""
    held = [each for part in reading.parts if len((each := _places_in(part, tokens))[0])]
    keys = np.concatenate([_NONE, *(keys for keys, _ in held)])
    places = reading.placed(np.concatenate([_NONE, *(rows for _, rows in held)]))
    pairs = Pairs(keys, places).only(places >= 0)
    if len(held) < 2:
        return pairs
    order = np.argsort(pairs.keys, kind="stable")
    return Pairs(pairs.keys[order], pairs.values[order])


def mentions(reading: Reading, places: Places) -> tuple[Tokens, Pairs, Pairs]:
    """List the names in some entries, as `MENTION` tokens ascending; which entries hold each, which are titled so.

    An entry holds what it names with capitals, documents' names however it writes them, and what it is called itself.
    """
    streams = [reading.stream(place) for place in places.tolist()]
    tokens = np.concatenate([_NO_TOKENS, *streams])
    entries = np.repeat(np.arange(len(streams)), [len(stream) for stream in streams])
    texts, own, capital = tokens >> FIELD_SHIFT == 0, says(tokens, Naming.TITLE), says(tokens, Naming.MENTION)
    spelling, spelled_by = spelled(reading, tokens[texts], entries[texts])
    titles = as_naming(tokens[own], Naming.MENTION)
    held = np.concatenate((tokens[capital], as_naming(spelling, Naming.MENTION), titles))
    names = np.unique(held)
    holding = _ordered(names.searchsorted(held), np.concatenate((entries[capital], spelled_by, entries[own])))
    return names, holding, _ordered(names.searchsorted(titles), entries[own])


def spelled(reading: Reading, tokens: Tokens, texts: Places) -> tuple[Tokens, Places]:
    """Find document titles that occur in some texts word by word: `TITLE` tokens, each with the text it occurs in.

    Of names that begin at one word the longest; names of one token are left out, since every text is full of such.

    Args:
        tokens: The text tokens of all, one after the other.
        texts: Which text each is of, ascending.
    """
    padded = np.append(tokens, np.zeros(SPELLED, dtype=np.uint64))
    owners = np.append(texts, np.full(SPELLED, -1, dtype=np.intp))
    begins = np.flatnonzero(owners[1 : len(tokens) + 1] == texts)
    keys = padded[begins] * _FACTOR + padded[begins + 1]
    begins = begins[_known(reading, tokens_of(keys, Naming.OPENING))]
    names = _longest(reading, padded, owners, begins)
    return names[names != 0], texts[begins[names != 0]]


def join(left: Pairs, right: Pairs) -> tuple[Places, Places, Places]:
    """Join on the key: every value of `left` with every value of `right`, as keys, left values, right values."""
    first = right.keys.searchsorted(left.keys, "left")
    sizes = right.keys.searchsorted(left.keys, "right") - first
    ends = np.cumsum(sizes)
    at = np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(first - ends + sizes, sizes)
    return np.repeat(left.keys, sizes), np.repeat(left.values, sizes), right.values[at]


def _longest(reading: Reading, padded: Tokens, owners: Places, begins: Places) -> Tokens:
    """The `TITLE` token of the longest name that begins at each place, 0 where there is none."""
    longest = np.zeros(len(begins), dtype=np.uint64)
    if not len(begins):
        return longest
    spans = begins[:, None] + np.arange(SPELLED)
    inside = owners[spans] == owners[begins][:, None]
    keys = padded[spans]
    for length in range(1, SPELLED):
        keys[:, length] += keys[:, length - 1] * _FACTOR
    titles = np.where(inside, tokens_of(keys, Naming.TITLE), np.uint64(0))[:, 1:]
    pairs = places_of(reading, titles.ravel())
    at, more = np.divmod(np.unique(pairs.keys), SPELLED - 1)
    longest[at] = titles[at, more]  # ascending, so that of one beginning the longest comes last
    return longest


def _head(which: Naming) -> np.uint64:
    return np.uint64(Field.ENTITY << int(FIELD_SHIFT) | which << KIND_SHIFT)


def _ordered(keys: Places, values: Places) -> Pairs:
    """The pairs in order, each once."""
    width = int(values.max(initial=0)) + 1
    pairs = np.sort(keys * width + values)  # one plain sort instead of an indirect one
    return Pairs(*np.divmod(pairs[np.flatnonzero(np.diff(pairs, prepend=-1))], width))


def _known(reading: Reading, tokens: Tokens) -> NDArray[np.bool_]:
    """Which tokens any row holds, seen or not."""
    known = np.zeros(len(tokens), dtype=np.bool_)
    for part in reading.parts:
        if isinstance(part, PostingsSegment):
            first, end = _bounds(part, tokens)
            known |= end > first
        elif part.rows:
            known |= np.array([part.find(token) is not None for token in tokens.tolist()], dtype=np.bool_)
    return known


def _places_in(part: PostingsSegment | Tail, tokens: Tokens) -> tuple[Places, Places]:
    """The positions of the tokens that a part holds, and the rows that hold them."""
    if isinstance(part, PostingsSegment):
        first, end = _bounds(part, tokens)
        sizes = end - first
        ends = np.cumsum(sizes)
        at = np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(end - ends, sizes)
        return np.repeat(np.arange(len(tokens)), sizes), part.rows_at(at).astype(np.intp)
    held = [(i, hit[0]) for i, token in enumerate(tokens.tolist()) if part.rows and (hit := part.find(token))]
    keys = np.repeat(np.array([i for i, _ in held], dtype=np.intp), [len(rows) for _, rows in held])
    return keys, np.concatenate([_NONE, *(rows for _, rows in held)])


def _bounds(part: PostingsSegment, tokens: Tokens) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where the rows of each token begin and end in `part.where`."""
    if not len(part.tokens):
        return np.zeros(len(tokens), dtype=np.int64), np.zeros(len(tokens), dtype=np.int64)
    short = tokens >> SHORT_BITS
    at = np.minimum(part.tokens.searchsorted(short), len(part.tokens) - 1)
    first = part.starts[at]
    return first, np.where(part.tokens[at] == short, part.starts[at + 1], first)
