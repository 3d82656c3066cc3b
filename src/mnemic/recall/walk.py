"""A stage of recall for documents: from what was found, along names, to what a question asks about without saying it.

"Who is mayor where the director of Hollow Reed was born?" does not say Oakmoor, nor who the director was: the article
on the film does. So the best documents pass their score on to those that they name, and at half its worth to those that
name the same as they do; less the more common the name is; more the more of the question's words are new there. Those
pass it on once more. Of several ways to a document the best one counts.

In the end the documents only change places: the first gets the score that the first of them had, and so on. So turns
stand among them as they did, and what a score is worth is not lost.

The graph is that of HippoRAG 2 (Gutiérrez et al., "From RAG to Memory", arXiv:2502.14802), passages and names, without
a model to read them. A sum over ways, such as personalised PageRank takes, was worse here: passages that many others
name gain by their number, while one chain of evidence is what answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from mnemic.core.names import Naming, keys, names
from mnemic.core.tokens import terms
from mnemic.index.columns import Column
from mnemic.index.graph import as_naming, join, mentions, places_of, spelled, tokens_of
from mnemic.recall.fuse import Ranking, ScoredEntries

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mnemic.index.graph import Pairs, Places, Tokens
    from mnemic.index.reading import Reading
    from mnemic.recall.gather import Scores
    from mnemic.recall.understand import Question

SHARED: Final = 0.5
"""What a name that two documents hold is worth as a link, beside the name of one in the other."""

STEPS: Final = 2
BREADTH: Final = 5
"""How many documents pass their score on, at each of so many steps."""

COMMON: Final = 50
"""A name that more entries hold than this tells nothing apart, and is not followed to them."""


@dataclass(frozen=True, slots=True)
class Trail:
    """The last step of a walk to an entry.

    Attributes:
        source: The place that it came from.
        name: The token of the name that they share (`core.names.Naming.MENTION`).
    """

    source: int
    name: int


@dataclass(frozen=True, slots=True)
class Trails:
    """The last step of a walk to each entry of one reading, by place.

    Attributes:
        asked: Which of them the question calls by their names.
        sources: From where each was linked; -1 if it was not.
        names: By which name.
    """

    asked: NDArray[np.bool_]
    sources: Places
    names: Tokens

    def to(self, place: int) -> Trail | None:
        """The last step to a place; None if no link led there."""
        source = int(self.sources[place])
        return None if source < 0 else Trail(source, int(self.names[place]))


@dataclass(frozen=True, slots=True)
class LinkWalk:
    """Candidates reordered and extended by a walk along names; and the trails, by space."""

    ranking: Ranking
    trails: Mapping[int, Trails] = field(default_factory=dict)


def walk(question: Question, ranking: Ranking) -> LinkWalk:
    """Reorder the documents among the candidates, and add those that names lead to from the best of them.

    The component "links" of a document is what its score changed by. Whatever is no document keeps its score; without
    documents nothing is done.
    """
    grounds = [_Ground.of(question, entries) for entries in ranking.scored if entries.reading.lengthy.any()]
    top = np.float32(max((float(ground.score.max()) for ground in grounds), default=0.0))
    if top <= 0:
        return LinkWalk(ranking)
    gains, trails = zip(*(_walked(ground, top) for ground in grounds), strict=True)
    rescored = {entries.reading.space: entries for entries in _rescored([ground.scored for ground in grounds], gains)}
    scored = tuple(rescored.get(entries.reading.space, entries) for entries in ranking.scored)
    return LinkWalk(Ranking(scored), {ground.reading.space: way for ground, way in zip(grounds, trails, strict=True)})


@dataclass(frozen=True, slots=True)
class _Ground:
    """One reading as a walk sees it; arrays by place.

    Attributes:
        documents: Where a walk may go: documents and chunks, but not the head of a split one, which says nothing.
        score: What each document was ranked by, 0 where nothing spoke for it.
        asked: The names in the question, as `MENTION` tokens; its words find what holds them, so they are no links.
        holds: Which words of the question each entry holds: a row for each word.
        worth: The share of each word in the question, by rarity; sums to 1.
        new: As of `RecallWeights`.
    """

    scored: ScoredEntries
    documents: NDArray[np.bool_]
    score: Scores
    asked: Tokens
    holds: NDArray[np.bool_]
    worth: Scores
    new: float

    @property
    def reading(self) -> Reading:
        return self.scored.reading

    @classmethod
    def of(cls, question: Question, scored: ScoredEntries) -> _Ground:
        reading = scored.reading
        documents = reading.lengthy.copy()
        documents[reading.heads[0]] = False
        score = np.zeros(reading.size, dtype=np.float32)
        score[scored.places] = scored.score
        score[~documents] = 0
        holds = _holding(reading, [term.text for term in question.words])
        worth = rarity(np.count_nonzero(holds, axis=1), reading.size)
        return cls(
            scored=scored,
            documents=documents,
            score=score,
            asked=_asked(question.query.text, reading),
            holds=holds,
            worth=(worth / max(1.0, float(worth.sum()))).astype(np.float32),
            new=question.weights.new,
        )


@dataclass(frozen=True, slots=True)
class _Front:
    """The documents that pass their score on: where, how much, and which words the way to each has met."""

    places: Places
    values: Scores
    met: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class _Links:
    """Links from a front: from which of it, to which place, by which name, and how strong; all of one length."""

    sources: Places
    targets: Places
    names: Tokens
    weights: Scores

    def only(self, kept: NDArray[np.bool_] | Places) -> _Links:
        return _Links(self.sources[kept], self.targets[kept], self.names[kept], self.weights[kept])


def _asked(text: str, reading: Reading) -> Tokens:
    """The names in a question: with capitals, or of documents here, as `MENTION` tokens, ascending."""
    tokens = np.frombuffer(terms(text), dtype="<u8").astype(np.uint64)
    written, _ = spelled(reading, tokens, np.zeros(len(tokens), dtype=np.intp))
    capital = tokens_of(np.array(keys(names(text)), dtype=np.uint64), Naming.MENTION)
    return np.union1d(capital, as_naming(written, Naming.MENTION))


def _walked(ground: _Ground, top: np.float32) -> tuple[Scores, Trails]:
    """What each entry gains by its name and by links, and how it came to the latter."""
    size = ground.reading.size
    named = _named(ground, top)
    links = np.zeros(size, dtype=np.float32)
    trails = Trails(named > 0, np.full(size, -1, dtype=np.intp), np.zeros(size, dtype=np.uint64))
    front = _front(ground, ground.score + named)
    for _ in range(STEPS):
        step, gain = _step(ground, front)
        further = gain > links[step.targets]
        step, gain = step.only(further), gain[further]
        links[step.targets] = gain
        trails.sources[step.targets] = front.places[step.sources]
        trails.names[step.targets] = step.names
        front = _ahead(ground, front, step, gain)
    return named + links, trails


def _named(ground: _Ground, top: np.float32) -> Scores:
    """What the documents gain that the question calls by their names: as much as the best one has, by rarity."""
    titled = places_of(ground.reading, as_naming(ground.asked, Naming.TITLE))
    mentioned = np.bincount(places_of(ground.reading, ground.asked).keys, minlength=len(ground.asked))
    gained = np.zeros(ground.reading.size, dtype=np.float32)
    np.maximum.at(gained, titled.values, top * rarity(mentioned + 1, ground.reading.size)[titled.keys])
    gained[~ground.documents] = 0
    return gained


def _front(ground: _Ground, score: Scores) -> _Front:
    """Where a walk begins: the best documents of all."""
    best = np.argsort(-score, kind="stable")[:BREADTH]
    places = best[score[best] > 0]
    return _Front(places, score[places], ground.holds[:, places])


def _ahead(ground: _Ground, front: _Front, step: _Links, gain: Scores) -> _Front:
    """The best of those that a step has come to: they pass on what it gave them, not what they had."""
    best = np.argsort(-gain, kind="stable")[:BREADTH]
    met = front.met[:, step.sources[best]] | ground.holds[:, step.targets[best]]
    return _Front(step.targets[best], gain[best], met)


def _step(ground: _Ground, front: _Front) -> tuple[_Links, Scores]:
    """The best link to each document that the front leads to, and what that document gains by it."""
    links = _links(ground, front.places)
    new = ground.holds[:, links.targets] & ~front.met[:, links.sources]
    share = (new * ground.worth[:, None]).sum(axis=0)
    gain = front.values[links.sources] * links.weights * (1 + np.float32(ground.new) * share)
    order = np.lexsort((-gain, links.targets))
    targets = links.targets[order]
    best = order[np.flatnonzero(np.diff(targets, prepend=-1))]
    return links.only(best), gain[best]


def _links(ground: _Ground, places: Places) -> _Links:
    """All links from some documents to others: to what they name, and to what names the same or them."""
    reading = ground.reading
    tokens, holding, own = mentions(reading, places)
    new = ~np.isin(tokens, ground.asked)
    titled, sharing = places_of(reading, as_naming(tokens, Naming.TITLE)), places_of(reading, tokens)
    mentioned = np.bincount(sharing.keys, minlength=len(tokens))
    worth = rarity(mentioned + (np.bincount(titled.keys, minlength=len(tokens)) > 0), reading.size)
    naming = holding.only(~np.isin(_numbered(holding, places), _numbered(own, places)) & new[holding.keys])
    sharing = sharing.only((new & (mentioned <= COMMON))[sharing.keys])
    by_title, by_name = join(naming, titled), join(holding, sharing)
    at, sources, targets = (np.concatenate(both) for both in zip(by_title, by_name, strict=True))
    weights = worth[at]
    weights[len(by_title[0]) :] *= np.float32(SHARED)
    links = _Links(sources, targets, tokens[at], weights)
    return links.only(ground.documents[targets] & (targets != places[sources]))


def _numbered(pairs: Pairs, places: Places) -> Places:
    """Each pair as one number."""
    return pairs.keys * len(places) + pairs.values


def rarity(holders: NDArray[np.int64], entries: int) -> Scores:
    """How much a name or word tells apart that so many of all entries hold: 1 for one of them, near 0 for all."""
    rarities: Scores = (np.log1p(entries / np.maximum(1, holders)) / np.log1p(entries)).astype(np.float32)
    return rarities


def _holding(reading: Reading, tokens: Sequence[int]) -> NDArray[np.bool_]:
    """Which entries hold each token: a row for each."""
    holds = np.zeros((len(tokens), reading.size), dtype=np.bool_)
    for row, token in zip(holds, tokens, strict=True):
        row[reading.find(token)[0]] = True
    return holds


def _rescored(ranked: Sequence[ScoredEntries], gains: Sequence[Scores]) -> list[ScoredEntries]:
    """The candidates with their documents in the order of what they had and gained, the new ones among them."""
    grown = [extended(entries, gain > 0) for entries, gain in zip(ranked, gains, strict=True)]
    documents = [entries.reading.lengthy[entries.places] for entries in grown]
    chosen = list(zip(grown, ranked, gains, documents, strict=True))
    new = _exchanged(
        np.concatenate([entries.score[lengthy] for entries, _, _, lengthy in chosen]),
        np.concatenate([gain[entries.places[lengthy]] for entries, _, gain, lengthy in chosen]),
        np.concatenate([np.isin(entries.places[lengthy], old.places) for entries, old, _, lengthy in chosen]),
        np.concatenate([entries.late[lengthy] for entries, _, _, lengthy in chosen]),
    )
    ends = np.cumsum([np.count_nonzero(lengthy) for lengthy in documents])
    return [_moved(*each) for each in zip(grown, documents, np.split(new, ends[:-1]), strict=True)]


def _exchanged(had: Scores, gained: Scores, known: NDArray[np.bool_], late: NDArray[np.int64]) -> Scores:
    """The scores of what was `known`, dealt out anew in the order of what each had and gained; the rest goes on below.

    Each is a shade lower than the one before, or the order of those that stood equal would be lost.
    """
    walked = had + gained
    order = np.lexsort((-late, -walked))
    dealt = np.sort(had[known])[::-1]
    dealt = dealt - np.arange(len(dealt), dtype=np.float32) * np.spacing(np.abs(dealt).max())
    below = walked[order[len(dealt) :]] - walked[order[len(dealt) - 1]] + dealt[-1]
    scores = np.empty(len(had), dtype=np.float32)
    scores[order] = np.concatenate((dealt, below))
    return scores


def extended(scored: ScoredEntries, gained: NDArray[np.bool_]) -> ScoredEntries:
    """The same candidates with those that gained, which score nothing yet."""
    reading = scored.reading
    touched = gained.copy()
    touched[scored.places] = True
    places = np.flatnonzero(touched)
    at = np.searchsorted(places, scored.places)

    def spread(column: Scores) -> Scores:
        wide = np.zeros(len(places), dtype=np.float32)
        wide[at] = column
        return wide

    parts = {name: spread(part) for name, part in scored.components.items()}
    late = reading.values(Column.VER, places)
    return replace(scored, places=places, score=spread(scored.score), late=late, components=parts)


def _moved(scored: ScoredEntries, documents: NDArray[np.bool_], new: Scores) -> ScoredEntries:
    """The candidates with new scores for some."""
    score = scored.score.copy()
    score[documents] = new
    return replace(scored, score=score, components={**scored.components, "links": score - scored.score})
