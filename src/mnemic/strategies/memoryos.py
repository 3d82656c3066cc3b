"""The strategy `memoryos` gathers exchanges in segments of one topic, and learns lasting facts from those that get hot.

Kang et al., "Memory OS of AI Agent" (arXiv:2506.06326, section 3), and the authors' package. A page is an exchange; a
chain is pages of which each takes up one before (3.2). Mid-term memory groups pages in segments by F = cosine + Jaccard
of keywords; a segment's heat is visits + pages + recency (3.3). A segment that reaches a heat of 5 is read once for the
user's profile and knowledge of user and assistant, and its visits and pages count from 0 again (3.4).

Departures:
- The topic of a page is told by its first turns, and a promotion reads so many at a time: the paper's page has two.
- A page is cited by its turns' ids: none is copied, none in two segments, and nothing is lost when a queue is full.
  Short-term memory is what no segment holds yet: an exchange that is not over. What was said last is in a window.
- Of sessions that go on at once a page holds one's turns: an answer that others' turns part from its question is a page
  of its own, in the same chain.
- One question tells a page's topic, keywords and what it takes up; the code asks three. A page that takes up another
  goes to its segment. A segment has `MOST_PAGES` at most, for each that joins writes it anew.
- A question is compared with segments by the score of the search, words and meaning, not by F: it has few keywords.
- F >= .6 is of the paper's embedder. Here F is also well above that of most segments and the ones nearest to them,
  which are apart: `quantile`. Of fewer than `TELLING` segments, and without an embedder, words decide: `by_words`.
- Visits are how often recall showed a segment's pages, which the kernel counts: a read writes nothing. What got hot by
  them upkeep promotes, one segment at a time. Upkeep also puts the coldest beyond the capacity out of sight of recall.
  The paper evicts them; here one that others' recalls make hotter than one in sight comes back in its place.
- New facts are merged with old ones (`FactBook`), for the code's queues repeat themselves, and contradict themselves.
- Without a model rules tell topics by words and find the user's facts; of the assistant they know none.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil
from typing import TYPE_CHECKING, ClassVar, Final

from mnemic.core.clock import micros
from mnemic.core.items import Item, Kind
from mnemic.core.queries import Filter
from mnemic.strategies.base import Asked, Bond, Budget, Derivation, Edits, Given, Pick, Revision, known
from mnemic.strategies.fact_book import FactBook
from mnemic.strategies.judging import JudgeTask, judged
from mnemic.strategies.knowledge import Episode, PageTopic, Passage, StatedFact, passage_of
from mnemic.strategies.rules.merge_ops import wording_digest
from mnemic.strategies.rules.sentence_relevance import content_terms, similarity
from mnemic.strategies.rules.topic_segments import (
    TopicSegment,
    derived_segment,
    hours_since_visit,
    jaccard,
    revised_segment,
    segment_of,
    visits_of,
    wording,
)
from mnemic.strategies.strategy_requests import SearchHit, fetch, linked, scored, search, strengths, vectors
from mnemic.strategies.tasks.dialogue_pages import PAGE_TOPIC
from mnemic.strategies.tasks.extracting import EXTRACT_ITEMS, EXTRACT_SLOTS
from mnemic.strategies.tasks.merge_decision import MERGE_DECIDE
from mnemic.strategies.triggers import Buffer, EachEvent, Trigger
from mnemic.strategies.units import ExchangeUnit, Unit, has_asking_role
from mnemic.tiers.policies.heat import HeatWeights, heat

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mnemic.core.ids import ItemId
    from mnemic.core.items import Strength
    from mnemic.flow import Flow

PAGE: Final = ExchangeUnit()
WEIGHTS: Final = HeatWeights()
"""Visits, pages and recency count alike, and recency falls with a tau of 24 hours (the authors' package)."""
HOT: Final = 5.0
THRESHOLD: Final = 0.6
QUEUE: Final = 100
"""The heat of a promotion, the paper's bar of F, and how many facts of a sort recall sees (section 4.1)."""
CAPACITY: Final = 2_000
BEST: Final = 5
"""Segments that recall sees, and that a question is answered from (the authors' package)."""
MOST_PAGES: Final = 32
POOL: Final = 24
TELLING: Final = 4
BEFORE: Final = 4
"""Pages of a segment, segments that a page or a question is compared with, how many of them tell what is far apart, and
turns that a page may take up; ours."""
TOPIC_TURNS: Final = 16
READ_AT_ONCE: Final = 32
"""Turns of a page by which its topic is told, and turns that a promotion reads in one question: an agent with tools may
take hundreds of turns to answer; ours."""
MARGIN: Final = 0.25
"""How far beyond segments that are apart, on the way to 1, a page is near one by meaning; ours."""
CHAIN: Final = 0.3
"""What the best of a turn's chain adds to its relevance; chosen on every third question of LoCoMo's conversation 26."""
HOLDS: Final = "memoryos_holds"

_ARCHIVED: Final = "archived"
_SEGMENTS: Final = Filter(kinds=(Kind.SUMMARY,), by=("memoryos",), tags=("mid_term",))
_EVERY_SEGMENT: Final = replace(_SEGMENTS, tags=(*_SEGMENTS.tags, _ARCHIVED))
_PERSONA: Final = Filter(kinds=(Kind.PROFILE, Kind.FACT), by=("memoryos",))
_PROFILE, _OF_USER, _OF_ASSISTANT = "profile", "user", "assistant"
_NO_TOPIC: Final = "small talk"
_GLANCE: Final = 60
_RANKED: Final = 200
_EVERY: Final = 10_000
_LATEST: Final = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryOS:
    """Keeps segments of pages and what hot ones teach; a question for each page, three more for a promotion.

    Over the bundled conversation, all of it one topic, after everybody's recall was asked its 24 questions, it takes
    1.97 calls and 1251 tokens a message, upkeep and promotions included. The more is shown, the more is promoted: a
    memory that was never asked takes 0.88 and 640.

    Attributes:
        mid_term, persona, chain: False leaves one out, as the paper's ablation does: recall without segments; no
            promotions, and recall without what they found; each page by itself.
        hot: The heat at which a segment is promoted.
        weights: Of the parts of a heat; its time is in hours.
        threshold, quantile: The F from which a page joins a segment by meaning; and the share of the segments that are
            no nearer to any other.
        by_words: The F from which it does by words.
        capacity: Segments that recall sees.
        unit: A page.
    """

    mid_term: bool = True
    persona: bool = True
    chain: bool = True
    hot: float = HOT
    weights: HeatWeights = WEIGHTS
    threshold: float = THRESHOLD
    quantile: float = 0.9
    by_words: float = 0.3
    capacity: int = CAPACITY
    unit: Unit = PAGE

    name: ClassVar[str] = "memoryos"
    by: ClassVar[str] = "memoryos"
    reads: ClassVar[frozenset[Kind]] = frozenset({Kind.TURN})
    triggers: ClassVar[tuple[Trigger, ...]] = (EachEvent(),)
    maintain: ClassVar[tuple[Trigger, ...]] = (Buffer(count=64, idle=3_600),)
    budget: ClassVar[Budget] = Budget(calls=2 * MOST_PAGES + 10)
    asks: ClassVar[tuple[str, ...]] = (PAGE_TOPIC.id, EXTRACT_SLOTS.id, EXTRACT_ITEMS.id, MERGE_DECIDE.id)
    batch: ClassVar[int] = 64

    def lookup_tags(self, item: Item) -> tuple[str, ...]:
        """The tag by which a fact, of the profile or not, is looked up: its words."""
        return (wording_digest(item.text),) if item.kind in _PERSONA.kinds else ()

    def on_write(self, given: Given) -> Flow[Edits]:
        """Put a page where it belongs; promote its segment if that is hot."""
        holding = yield from _holding(turn.id for turn in given.evidence)
        turns = [turn for turn in given.evidence if turn.id not in holding]
        shelf: dict[ItemId, TopicSegment] = {}
        for session in dict.fromkeys(turn.session for turn in turns):
            left = [turn for turn in turns if turn.session == session]
            while left:
                length = self.unit.length(left) or len(left)
                segment = yield from self._joined(left[:length], shelf)
                shelf[segment.id] = segment
                left = left[length:]
        used = yield from strengths(*(id for segment in shelf.values() for id in segment.turns))
        hot = [shelved for shelved in shelf.values() if self.heat(shelved, used, 0.0) >= self.hot]
        return (yield from self._promoted(hot, list(shelf.values()), used))

    def on_maintain(self, given: Given) -> Flow[Edits]:
        """Promote the segment that visits made hottest; have recall see as many as the capacity, the hottest of all.

        What was out of sight comes back when it is shown by others: its turns are searched by everybody's recall.
        """
        if not given.evidence:
            return Edits()
        segments = [segment_of(item) for item in (yield from known(_EVERY_SEGMENT, _EVERY))]
        used = yield from strengths(*(id for segment in segments for id in segment.turns))
        heats = {each.id: self.heat(each, used, hours_since_visit(each, used, given.now)) for each in segments}
        ranked = sorted(segments, key=lambda each: (-heats[each.id], -each.said.timestamp(), each.text))
        kept = [(each, _SEGMENTS.tags if place < self.capacity else (_ARCHIVED,)) for place, each in enumerate(ranked)]
        moved = {each.id: tags for each, tags in kept if each.item is not None and each.item.tags != tags}
        hot = [
            each for each, tags in kept if tags == _SEGMENTS.tags and each.id not in moved and self._is_due(each, heats)
        ]
        edits = yield from self._promoted(hot[:1], hot[:1], used)
        return replace(edits, revise=(*edits.revise, *(Revision(id=id, tags=tags) for id, tags in moved.items())))

    def on_recall(self, asked: Asked) -> Flow[Sequence[Pick]]:
        """Rank turns of the segments that bear most on the question, each with what its chain adds, and facts.

        Turns that no segment holds yet stand beside these; where no segment bears on the question, all turns do.
        """
        where = Filter(kinds=(Kind.TURN, *_PERSONA.kinds))
        ranked = yield from scored(asked.text, where, max(_RANKED, 10 * asked.k))
        best = max((score for _, score in ranked), default=0.0)
        relevance = {id: score / best for id, score in ranked if score > 0}
        hits = (yield from _bearing(asked.text)) if self.mid_term else []
        bearing = {hit.item.id: hit.score for hit in hits}
        chains: dict[ItemId, list[ItemId]] = {}
        for hit in hits if self.chain else ():
            chains |= segment_of(hit.item).chains_of()
        facts = (yield from _queues()) if self.persona else set()
        holding = yield from _holding((*relevance, *chains))
        picks = []
        for id, item in (yield from fetch(*dict.fromkeys((*relevance, *chains)))).items():
            share = max((relevance.get(other, 0.0) for other in chains.get(id, ())), default=0.0)
            parts = {"relevance": relevance.get(id, 0.0), "chain": CHAIN * share}
            if item.kind is not Kind.TURN:
                is_seen, why = id in facts, _sort(item)
            elif id not in holding:
                is_seen, why = True, "short term: of no segment yet"
            elif holding[id].id in bearing:
                is_seen, why = True, f"of a segment on {_topic(holding[id])}"
                parts["segment"] = bearing[holding[id].id]
            else:
                is_seen, why = self.mid_term and not hits, "by itself: no segment bears on the question"
            score = (parts["relevance"] + parts["chain"]) / (1 + CHAIN)
            if is_seen and score > 0:
                picks.append(Pick(item=item, score=score, components=parts, why=why))
        return sorted(picks, key=lambda pick: (-pick.score, -pick.item.said.timestamp(), pick.item.id))

    def _is_due(self, segment: TopicSegment, heats: Mapping[ItemId, float]) -> bool:
        """Whether a segment is hot and has pages from which nothing was learned."""
        return heats[segment.id] >= self.hot and segment.promoted < len(segment.pages)

    def heat(self, segment: TopicSegment, used: Mapping[ItemId, Strength], hours: float) -> float:
        """How hot a segment is so many hours after its last visit, by what came since its last promotion."""
        visits = max(0, visits_of(segment, used) - segment.visits)
        return heat(visits, len(segment.pages) - segment.promoted, hours, self.weights)

    def _joined(self, page: Sequence[Item], shelf: Mapping[ItemId, TopicSegment]) -> Flow[TopicSegment]:
        """Put a page in the segment of the page that it takes up, in the one nearest to it, or in one of its own."""
        before = (yield from _before(page[0])) if self.chain else []
        shown = tuple(map(passage_of, page[:TOPIC_TURNS]))
        topic = yield from judged(PAGE_TOPIC, Episode(tuple(map(passage_of, before)), shown))
        follows = None if topic.continues is None else before[topic.continues].id
        if before and page[0].slots.get("role") is not None and not has_asking_role(page[0]):
            follows = before[-1].id  # the rest of an exchange between whose turns another session's lie
        segment = (yield from _segment_with(follows, shelf)) if follows is not None else None
        if segment is None or len(segment.pages) == MOST_PAGES:
            segment = yield from self._nearest(topic, shelf)
        ids = tuple(turn.id for turn in page)
        if segment is None:
            text = topic.text or _NO_TOPIC
            segment = TopicSegment(id=ids[0], text=text, said=page[0].said, said_offset=page[0].said_offset)
        return segment.with_page(ids, page[-1].said, topic.keywords, follows, beside=tuple(turn.id for turn in before))

    def _nearest(self, topic: PageTopic, shelf: Mapping[ItemId, TopicSegment]) -> Flow[TopicSegment | None]:
        """Find the segment with the greatest F, if it is great enough for a page to join."""
        words = wording(topic.text, topic.keywords)
        similar = {hit.item.id: segment_of(hit.item) for hit in (yield from search(words, _SEGMENTS, POOL))}
        pool = sorted({**similar, **shelf}.values(), key=lambda segment: (segment.said, segment.text, segment.pages))
        pool = [segment for segment in pool if len(segment.pages) < MOST_PAGES]
        texts = [words, *(segment.words for segment in pool)]
        terms = [frozenset(content_terms(text)) for text in texts]
        embedded = (yield from vectors(*texts)) if len(pool) >= TELLING else ()

        def f(segment: int, other: int) -> float:
            near = (
                float(embedded[segment] @ embedded[other])
                if len(embedded)
                else similarity(terms[segment], terms[other])
            )
            return near + jaccard(terms[segment], terms[other])

        least = self.by_words
        if len(embedded):
            every = range(1, len(texts))
            apart = sorted(max(f(segment, other) for other in every if other != segment) for segment in every)
            most = apart[ceil(self.quantile * (len(apart) - 1))]
            least = max(self.threshold, most + MARGIN * (1 - most))
        best = max(range(1, len(texts)), key=lambda place: f(0, place), default=0)
        return pool[best - 1] if best and f(0, best) >= least else None

    def _promoted(
        self, hot: Sequence[TopicSegment], segments: Sequence[TopicSegment], used: Mapping[ItemId, Strength]
    ) -> Flow[Edits]:
        """Learn from the pages of hot segments that were not read before; write these segments, and others."""
        hot = [segment for segment in hot if self.persona and segment.promoted < len(segment.pages)]
        unread = yield from fetch(*(id for segment in hot for page in segment.pages[segment.promoted :] for id in page))
        turns = sorted(unread.values(), key=lambda turn: turn.said)
        book = FactBook(self.by, turns)
        if turns:
            profile = yield from _stated(EXTRACT_SLOTS, turns)
            knowledge = yield from _stated(EXTRACT_ITEMS, turns)
            yield from book.merge((*profile, *knowledge), _PERSONA)
        facts = [_sorted_in(fact, unread) for fact in book.written]
        reset = {
            segment.id: replace(segment, promoted=len(segment.pages), visits=visits_of(segment, used))
            for segment in hot
        }
        written = [reset.get(segment.id, segment) for segment in segments]
        fresh = [segment for segment in written if segment.item is None]
        refs: dict[ItemId, ItemId | int] = {segment.id: segment.id for segment in written}
        refs |= {segment.id: len(facts) + place for place, segment in enumerate(fresh)}
        return Edits(
            write=(*facts, *(derived_segment(segment, self.by, _SEGMENTS.tags) for segment in fresh)),
            revise=(
                *book.revisions(),
                *(revised_segment(segment, self.by) for segment in written if segment.item is not None),
            ),
            tie=tuple(
                Bond(src=refs[segment.id], dst=id, type=HOLDS, source=())
                for segment in written
                for id in segment.added()
            ),
        )


def _stated(
    task: JudgeTask[tuple[Passage, ...], tuple[StatedFact, ...]], turns: Sequence[Item]
) -> Flow[list[StatedFact]]:
    """Have what turns state judged, so many at a time; it is cited by places among all of them."""
    facts: list[StatedFact] = []
    for start in range(0, len(turns), READ_AT_ONCE):
        stated = yield from judged(task, tuple(map(passage_of, turns[start : start + READ_AT_ONCE])))
        facts += [replace(fact, source=tuple(start + place for place in fact.source)) for fact in stated]
    return facts


def _holding(ids: Iterable[ItemId]) -> Flow[dict[ItemId, Item]]:
    """The segment that holds each of these turns; of a turn that none holds nothing."""
    ids = tuple(ids)
    links = (yield from linked(*ids, types=(HOLDS,))) if ids else ()
    standing = (yield from fetch(*dict.fromkeys(link.src for link in links))) if links else {}
    return {link.dst: standing[link.src] for link in links if link.src in standing}


def _segment_with(turn: ItemId, shelf: Mapping[ItemId, TopicSegment]) -> Flow[TopicSegment | None]:
    """The segment that holds a turn, as the run has left it, unless it is out of sight."""
    for segment in shelf.values():
        if turn in segment.turns:
            return segment
    item = (yield from _holding([turn])).get(turn)
    return segment_of(item) if item is not None and item.tags == _SEGMENTS.tags else None


def _before(turn: Item) -> Flow[list[Item]]:
    """The last turns of its session that were written before a turn, oldest first."""
    where = Filter(kinds=(Kind.TURN,), session=turn.session, said_to=micros(turn.said) + 1)
    turns = yield from known(where, _LATEST)
    ids = [earlier.id for earlier in turns]
    after = ids.index(turn.id) + 1 if turn.id in ids else len(ids)
    return list(reversed(turns[after : after + BEFORE]))


def _bearing(question: str) -> Flow[list[SearchHit]]:
    """The segments that bear most on a question: near in meaning, or with words of it."""
    asked = frozenset(content_terms(question))
    hits = yield from search(question, _SEGMENTS, BEST)
    return [hit for hit in hits if hit.cosine is not None or asked & frozenset(content_terms(hit.item.key or ""))]


def _queues() -> Flow[set[ItemId]]:
    """The facts of each sort that recall sees: the newest ones."""
    seen: set[ItemId] = set()
    for tag in (_PROFILE, _OF_USER, _OF_ASSISTANT):
        seen.update(item.id for item in (yield from known(replace(_PERSONA, tags=(tag,)), QUEUE)))
    return seen


def _sorted_in(fact: Derivation, turns: Mapping[ItemId, Item]) -> Derivation:
    """Sort a fact: what fills a slot is profile; what only the assistant said is knowledge of the assistant."""
    if "slot" in fact.slots:
        return replace(fact, kind=Kind.PROFILE, tags=(_PROFILE, *fact.tags))
    said = [turns[id] for id in fact.source if id in turns]
    of_assistant = all(turn.slots.get("role") == "assistant" for turn in said)
    return replace(fact, tags=(_OF_ASSISTANT if of_assistant else _OF_USER, *fact.tags))


def _topic(segment: Item) -> str:
    """The topic of a segment, as much of it as is read at a glance."""
    return segment.text if len(segment.text) <= _GLANCE else f"{segment.text[: _GLANCE - 1].rstrip(' ,')}…"


def _sort(item: Item) -> str:
    return "the user's profile" if item.kind is Kind.PROFILE else f"knowledge of the {item.tags[0]}"
