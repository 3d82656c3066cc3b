"""Traces of conversations: each turn is a page that is written, each question reads the turns it is answered from.

Four ways of asking. `after`: all questions at the end, in the data's order. `shuffled`: the same in a drawn order.
`spread`: each at a moment drawn evenly from when its evidence has been said to the end. `recalled`: the same moments,
but what is read is what recall returns for the question of what had been said, right or not. Where the data names only
sessions as evidence, all their turns are read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final, TypeAlias

from mnemic.lab.kit.datasets import BenchQuestion, Corpus, Dataset
from mnemic.lab.tasks.paging.traces import PageTrace, Reference, page
from mnemic.tiers.base import Page
from mnemic.tiers.features import Reader

Find: TypeAlias = Callable[[BenchQuestion, int], Sequence[str]]
"""The best so many documents for a question, as ids, best first."""

READ: Final = 3
"""Pages that a recalled question reads."""
LOOKED_AT: Final = 40
"""How deep a ranking is looked through for them: what had not been said by then is passed over."""
_ROLES: Final = frozenset({"user", "assistant", "tool", "system"})


@dataclass(frozen=True, slots=True)
class _Asked:
    """One question: the turn it is asked after (their number for all), and the turns it reads."""

    after: int
    reads: tuple[int, ...]


def after(data: Dataset, seed: int) -> Iterator[PageTrace]:
    """All questions at the end, as the data has them; `seed` changes nothing."""
    for corpus, questions in _conversations(data):
        asked = [_Asked(len(corpus.docs), _gold(corpus, question)) for question in questions]
        yield _trace("after", corpus, asked)


def shuffled(data: Dataset, seed: int) -> Iterator[PageTrace]:
    """All questions at the end, in a drawn order."""
    for corpus, questions in _conversations(data):
        asked = [_Asked(len(corpus.docs), _gold(corpus, question)) for question in questions]
        Random(f"{seed}:{corpus.ns}").shuffle(asked)  # noqa: S311 - an order, not a secret
        yield _trace("shuffled", corpus, asked)


def spread(data: Dataset, seed: int) -> Iterator[PageTrace]:
    """Each question at some moment once its evidence has been said."""
    for corpus, questions in _conversations(data):
        asked = [_Asked(_moment(corpus, question, seed), _gold(corpus, question)) for question in questions]
        yield _trace("spread", corpus, asked)


def recalled(data: Dataset, seed: int, find: Find) -> Iterator[PageTrace]:
    """As `spread`, but what is read is what `find` has among the turns said by then.

    Questions without evidence are asked too, at any moment: something is recalled for them as well.
    """
    for corpus, questions in _conversations(data, without_evidence=True):
        places = {doc.id: n for n, doc in enumerate(corpus.docs)}
        asked = []
        for question in questions:
            moment = _moment(corpus, question, seed)
            places_recalled = (places[doc] for doc in find(question, LOOKED_AT))
            asked.append(_Asked(moment, tuple(n for n in places_recalled if n < moment)[:READ]))
        yield _trace("recalled", corpus, asked)


GOLD: Final[Mapping[str, Callable[[Dataset, int], Iterator[PageTrace]]]] = {
    "after": after,
    "shuffled": shuffled,
    "spread": spread,
}
"""Families whose reads are the evidence itself, by name."""


def _conversations(data: Dataset, *, without_evidence: bool = False) -> Iterator[tuple[Corpus, list[BenchQuestion]]]:
    for corpus in data.corpora:
        asked = [
            question
            for question in data.questions
            if question.ns == corpus.ns and (question.scorable or without_evidence)
        ]
        if asked and corpus.docs:
            yield corpus, asked


def _gold(corpus: Corpus, question: BenchQuestion) -> tuple[int, ...]:
    wanted, sittings = set(question.gold), set(() if question.gold else question.sessions)
    places = {doc.id: n for n, doc in enumerate(corpus.docs) if doc.id in wanted or doc.session in sittings}
    ordered = question.gold or tuple(places)
    return tuple(places[doc] for doc in ordered)


def _moment(corpus: Corpus, question: BenchQuestion, seed: int) -> int:
    said = max(_gold(corpus, question), default=0)
    draw = Random(f"{seed}:{corpus.ns}:{question.id}")  # noqa: S311 - a moment, not a secret
    return draw.randint(said + 1, len(corpus.docs))


def _trace(family: str, corpus: Corpus, questions: Sequence[_Asked]) -> PageTrace:
    references: list[Reference] = []
    by_moment: dict[int, list[_Asked]] = {}
    for asked in questions:
        by_moment.setdefault(asked.after, []).append(asked)
    for n in range(len(corpus.docs)):
        references.append(Reference(n, write=True))
        for asked in by_moment.get(n + 1, ()):
            references += [Reference(read, write=False) for read in asked.reads]
    return PageTrace(family=family, name=corpus.ns, pages=tuple(_pages(corpus)), references=tuple(references))


def _pages(corpus: Corpus) -> Iterator[Page]:
    reader = Reader()
    sittings = {session: n for n, session in enumerate(dict.fromkeys(doc.session for doc in corpus.docs))}
    for n, doc in enumerate(corpus.docs):
        read = reader.read(doc.text)
        yield page(
            doc.id,
            tokens=max(read.tokens, 1),
            position=n,
            role=doc.speaker if doc.speaker in _ROLES else "user",
            segment=sittings[doc.session],
            importance=round(read.importance, 4),
            novelty=round(read.novelty, 4),
            entities=read.facts,
        )
