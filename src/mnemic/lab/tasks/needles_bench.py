"""Needles in long texts: what the notes of a reader keep, by rules and by a model, at lengths up to millions of tokens.

After RULER (Hsieh et al., arXiv:2404.06654, section 3): one needle; one among many of the same form under other keys;
three keys asked for at once; four values under one key; a chain of variables; and a needle in Chinese. The filler is
made up from a seed and streamed, so that no text is ever held whole. Beside the reader stands what one look would
choose: BM25 of all sentences with the counts of the whole text, the best that fit the budget of the notes.

The model is scripted: of the notes and the segment that it is shown it keeps whatever belongs to the needles of its
task, and answers by their values. So it measures the road, not a model's reading: what it is shown, is told to keep
and cites must come through. What a real model does beside that is its own.

A file of questions over passages (unified jsonl: 2Wiki, HotpotQA, MuSiQue) is packed: a question's own passages among
others of the file, shuffled, up to each length; kept is a passage of which the notes cite a sentence.
"""

from __future__ import annotations

import heapq
import json
import math
import random
import re
import resource
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Final

from mnemic.core.tokens import count_tokens
from mnemic.errors import Invalid
from mnemic.flow import Request, run
from mnemic.lab.kit.datasets import BenchQuestion, Doc, load
from mnemic.lab.kit.log import Log
from mnemic.lab.kit.run import Progress, silent
from mnemic.lab.tasks.needles_report import BENCH, NeedleReading, NeedleRow
from mnemic.long_reading import LongReading
from mnemic.memory import Memory
from mnemic.models.chat.base import Ask, Pieces, Reply, estimated_reply
from mnemic.models.model_requests import NameModel
from mnemic.settings import Settings
from mnemic.strategies.memagent import NOTES, ReaderState, SourcePiece, TextStretch, folded, pieces_of, segments_of
from mnemic.strategies.rules.sentence_relevance import content_terms

QUICK: Final = (8_000, 32_000, 128_000)
FULL: Final = (*QUICK, 512_000, 1_000_000, 4_000_000)
"""Tokens of the texts."""
SPACING: Final = 1_000
"""Tokens of filler between two distractors."""
_K1, _B = 1.2, 0.75
_WORDS: Final = tuple(
    """
    harbour lantern quarry meadow granite orchard ferry beacon timber canyon willow marble anchor prairie glacier
    saddle copper velvet thistle cinder ledger pepper cobalt walnut pilgrim cradle hollow rivet summit tunnel
    """.split()  # noqa: SIM905 - a list of words is read more easily so
)
_DOES: Final = (
    "repaired",
    "painted",
    "measured",
    "carried",
    "described",
    "inspected",
    "ordered",
    "sketched",
    "counted",
)
_WHERE: Final = ("near the mill", "behind the station", "at the old gate", "on the north road", "under the bridge")
_PLACES: Final = (
    "灯塔",
    "码头",
    "山谷",
    "果园",
    "渡口",
    "石桥",
    "车站",
    "磨坊",
    "草原",
    "仓库",
    "花园",
    "画室",
    "钟楼",
)


@dataclass(frozen=True, slots=True)
class NeedleCase:
    """A question, the sentences that answer it, and sentences that look like these.

    Attributes:
        needles: In the order in which they stand in the text.
        values: What an answer holds.
        distractor: Makes one more sentence that is like a needle, and is none.
    """

    kind: str
    question: str
    needles: tuple[str, ...]
    values: tuple[str, ...]
    distractor: Callable[[random.Random], str] | None = None


def _number(chance: random.Random) -> str:
    return str(chance.randrange(1_000_000, 10_000_000))


def _key(chance: random.Random) -> str:
    return f"{chance.choice(_WORDS)}-{chance.choice(_WORDS)}-{chance.randrange(100, 1000)}"


def _variable(chance: random.Random) -> str:
    return "".join(chance.choice("ABCDEFGHJKLMNPQRSTUVWXYZ") for _ in range(5))


def _stated(key: str, number: str) -> str:
    return f"One of the special magic numbers for {key} is {number}."


def _single(chance: random.Random) -> NeedleCase:
    key, number = _key(chance), _number(chance)
    asked = f"What is the special magic number for {key}?"
    return NeedleCase("single", asked, (_stated(key, number),), (number,))


def _multi_key(chance: random.Random) -> NeedleCase:
    case = _single(chance)
    return NeedleCase("multi-key", case.question, case.needles, case.values, lambda c: _stated(_key(c), _number(c)))


def _multi_query(chance: random.Random) -> NeedleCase:
    keys, numbers = (tuple(make(chance) for _ in range(3)) for make in (_key, _number))
    asked = f"What are the special magic numbers for {keys[0]}, for {keys[1]} and for {keys[2]}?"
    needles = tuple(map(_stated, keys, numbers))
    return NeedleCase("multi-query", asked, needles, numbers, lambda c: _stated(_key(c), _number(c)))


def _multi_value(chance: random.Random) -> NeedleCase:
    key, numbers = _key(chance), tuple(_number(chance) for _ in range(4))
    needles = tuple(_stated(key, number) for number in numbers)
    asked = f"What are all the special magic numbers for {key}?"
    return NeedleCase("multi-value", asked, needles, numbers, lambda c: _stated(_key(c), _number(c)))


def _variables(chance: random.Random) -> NeedleCase:
    names, number = [_variable(chance) for _ in range(4)], _number(chance)
    needles = (
        f"Variable {names[0]} is set to {number}.",
        *(f"Variable {new} takes the value of {old}." for old, new in pairwise(names)),
    )

    def distractor(c: random.Random) -> str:
        set_to = f"Variable {_variable(c)} is set to {_number(c)}."
        return set_to if c.random() < 0.3 else f"Variable {_variable(c)} takes the value of {_variable(c)}."

    asked = f"Which variables have the value {number}, directly or by way of others?"
    return NeedleCase("variables", asked, needles, tuple(names), distractor)


def _chinese(chance: random.Random) -> NeedleCase:
    def stated(place: str, number: str) -> str:
        return f"{place}的特别编号是{number}。"

    def place(c: random.Random) -> str:
        return f"{c.choice(_PLACES)}东边第{c.randrange(100, 1000)}号{c.choice(_PLACES)}"

    where, number = place(chance), _number(chance)
    asked = f"{where}的特别编号是多少？"
    return NeedleCase("chinese", asked, (stated(where, number),), (number,), lambda c: stated(place(c), _number(c)))


CASES: Final = {"single": _single, "multi-key": _multi_key, "multi-query": _multi_query, "multi-value": _multi_value,
                "variables": _variables, "chinese": _chinese}  # fmt: skip
"""The kinds of needles, by name."""


def text_of(case: NeedleCase, tokens: int, seed: int, depth: float | None = None) -> Iterator[str]:
    """Stream a text of about so many tokens by sentences: filler, distractors, and the needles in their order.

    Args:
        depth: Where a needle that stands alone comes, as a share of the text; anywhere when left out.
    """
    chance = random.Random(f"{case.kind}/{tokens}/{seed}")  # noqa: S311 - made-up text, not a secret
    own = sum(map(count_tokens, case.needles))
    places = sorted(chance.uniform(0.02, 0.98) * (tokens - own) for _ in case.needles)
    if depth is not None and len(places) == 1:
        places = [depth * (tokens - own)]
    waiting = list(zip(places, case.needles, strict=True))
    read, next_distractor = 0, SPACING / 2
    while read < tokens - own or waiting:
        if waiting and read >= waiting[0][0]:
            sentence = waiting.pop(0)[1]
        elif case.distractor is not None and read >= next_distractor:
            sentence = case.distractor(chance)
            next_distractor += SPACING
        else:
            sentence = _filler(chance, chinese=case.kind == "chinese")
        read += count_tokens(sentence)
        yield f"{sentence}\n" if chance.random() < 0.1 else f"{sentence} "


def _filler(chance: random.Random, *, chinese: bool) -> str:
    if chinese and chance.random() < 0.5:
        place, other = chance.choice(_PLACES), chance.choice(_PLACES)
        return f"第{chance.randrange(1, 400)}天他们从{place}走到{other}，路上看了很久的风景。"
    who, what, other = (chance.choice(_WORDS) for _ in range(3))
    return (
        f"On day {chance.randrange(1, 400)} the keeper of the {who} {chance.choice(_DOES)} a {what} "
        f"{chance.choice(_WHERE)}, and nobody asked about the {other}."
    )


class NeedleReader:
    """A model that reads well: of whatever it is shown it keeps a case's needles, and says their values.

    Attributes:
        asked: How many questions of each task it was put.
        most: Tokens of the longest prompt.
    """

    def __init__(self, case: NeedleCase) -> None:
        self.name = f"needles:{case.kind}"
        self.asked: Counter[str] = Counter()
        self.most = 0
        self._case = case
        self._lock = threading.Lock()

    def stream(self, ask: Ask) -> Pieces:
        """Answer at once, as JSON."""
        prompt = ask.messages[-1].content
        with self._lock:
            self.asked[ask.task] += 1
            self.most = max(self.most, sum(count_tokens(message.content) for message in ask.messages))
        answer = self._notes(prompt) if ask.task == "overwrite_fold" else self._answer(prompt)
        text = json.dumps({"reasoning": "The lines say so.", **answer}, ensure_ascii=False)
        yield text
        reply: Reply = estimated_reply(ask, self.name, text)
        return reply

    def _notes(self, prompt: str) -> dict[str, object]:
        before, _, segment = prompt.partition("Next segment:")
        noted = [*_noted(before), *_numbered(segment)]
        kept = {text: handles for text, handles in noted if text in self._case.needles}
        return {"notes": [{"text": text, "from": handles} for text, handles in kept.items()]}

    def _answer(self, prompt: str) -> dict[str, object]:
        kept = dict(_noted(prompt))
        values = [value for value in self._case.values if any(value in text for text in kept)]
        handles = [handle for of in kept.values() for handle in of]
        return {"answer": ", ".join(values), "from": handles if values else []}


def _noted(prompt: str) -> Iterator[tuple[str, list[int]]]:
    """The notes that a prompt shows, with what they cite."""
    for text, cited in re.findall(r"^(.+?) ((?:\[\d+\])+)$", prompt, re.MULTILINE):
        yield text, [int(handle) for handle in re.findall(r"\d+", cited)]


def _numbered(prompt: str) -> Iterator[tuple[str, list[int]]]:
    """The lines of a segment that a prompt shows, with their numbers."""
    for handle, text in re.findall(r"^\[(\d+)\] (.+)$", prompt, re.MULTILINE):
        yield text, [int(handle)]


@dataclass(frozen=True, slots=True, kw_only=True)
class NeedlePlan:
    """Which texts are made up and read.

    Attributes:
        lengths: Their tokens.
        texts: How many of each kind and length, and of each depth.
        depths: Where the needle stands, as shares of the text, in texts with one; anywhere when empty.
        by_rules: By rules alone: no scripted model reads, and nobody looks over the whole at once.
    """

    lengths: tuple[int, ...] = QUICK
    kinds: tuple[str, ...] = tuple(CASES)
    texts: int = 1
    depths: tuple[float, ...] = ()
    by_rules: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        if unknown := [kind for kind in self.kinds if kind not in CASES]:
            raise Invalid("kinds", f"{unknown[0]!r} is none", f"There are: {', '.join(CASES)}.")
        if strange := [depth for depth in self.depths if not 0 <= depth <= 1]:
            raise Invalid("depths", f"{100 * strange[0]:g} % lies outside a text", "Give shares from 0 to 100.")

    def each(self) -> Iterator[tuple[str, int, float | None, int]]:
        """Kind, length, depth and number of every text, the short ones first."""
        for tokens in sorted(self.lengths):
            for kind in self.kinds:
                alone = len(CASES[kind](_chance(kind, self.seed, 0)).needles) == 1
                for depth in self.depths if self.depths and alone else (None,):
                    for nth in range(self.texts):
                        yield kind, tokens, depth, nth


def bench_needles(
    plan: NeedlePlan, *, log: Log | None = None, progress: Progress = silent
) -> tuple[NeedleReading, ...]:
    """Read made-up texts with needles in them, each in a store of its own.

    Args:
        log: Takes each reading as it is made.
    """
    texts = list(plan.each())
    readings = list[NeedleReading]()
    if log is not None:
        log.header(bench=BENCH, **asdict(plan))
    _read("Where is it?", ["It is not here."], None)  # what the first reading alone has to import
    for kind, tokens, depth, nth in texts:
        case = CASES[kind](_chance(kind, plan.seed, nth))
        made = partial(text_of, case, tokens, plan.seed + nth, depth)
        readings.append(_read_needles(case, tokens, depth, made, by_rules=plan.by_rules))
        if log is not None:
            of = asdict(readings[-1])
            log.add("needle", needles=of.pop("kind"), **of)
        progress("needles", len(readings), len(texts))
    if log is not None:
        log.end()
    return tuple(readings)


def _chance(kind: str, seed: int, nth: int) -> random.Random:
    return random.Random(f"{kind}/{seed}/{nth}")  # noqa: S311 - made-up text, not a secret


def _read_needles(
    case: NeedleCase, tokens: int, depth: float | None, made: Callable[[], Iterator[str]], *, by_rules: bool
) -> NeedleReading:
    making = [0.0]
    noted, seconds = _read(case.question, _clocked(made(), making), None)
    reading = NeedleReading(
        kind=case.kind,
        tokens=tokens,
        depth=depth,
        read=noted.tokens,
        rules=_share(case.needles, _quoted(noted)),
        seconds=round(seconds - making[0], 4),
        peak=round(_peak(), 1),
    )
    if by_rules:
        return reading
    reader = NeedleReader(case)
    by_model, _ = _read(case.question, made(), reader)
    looked = one_look(case.question, lambda: pieces_of(_streamed(made())))
    return replace(
        reading,
        one_look=_share(case.needles, {piece.text for piece in looked}),
        model=_share(case.needles, _quoted(by_model)),
        answered=_share(case.values, set(re.findall(r"\w+", by_model.answer))),
        calls=reader.asked.total(),
        peak=round(_peak(), 1),
    )


def _clocked(sentences: Iterable[str], taken: list[float]) -> Iterator[str]:
    """Pass on sentences, and add to `taken` the processor time that making them took."""
    coming = iter(sentences)
    while True:
        began = time.process_time()
        sentence = next(coming, None)
        taken[0] += time.process_time() - began
        if sentence is None:
            return
        yield sentence


def _read(question: str, text: Iterable[str], reader: NeedleReader | None) -> tuple[LongReading, float]:
    """Read a text in a store of its own, on disk; with the processor time that the reading took, once that was open."""
    with tempfile.TemporaryDirectory(prefix="mnemic-needles-") as folder, _memory(Path(folder), reader) as memory:
        me = memory.scope(user="reader")
        began = time.process_time()
        return me.read(question, text), time.process_time() - began


def _memory(folder: Path, reader: NeedleReader | None) -> Memory:
    settings = Settings(background=False, model="none")
    return Memory(folder / "memory.db", settings=settings, embedder="none", strategies=(), model=reader)


def _streamed(text: Iterable[str]) -> Iterator[TextStretch]:
    start = 0
    for sentence in text:
        yield TextStretch(sentence, "text", start=start, ends=False)
        start += len(sentence)
    yield TextStretch("", "text", start=start)


def _quoted(reading: LongReading) -> set[str]:
    return {place.quote for note in reading.notes for place in note.evidence}


def _share(wanted: Sequence[str], held: set[str]) -> float:
    return sum(text in held for text in wanted) / len(wanted)


def one_look(question: str, pieces: Callable[[], Iterable[SourcePiece]], budget: int = NOTES) -> list[SourcePiece]:
    """Choose the sentences of a whole text that BM25 puts first, by the counts of the whole, as many as fit."""
    asked, holding = list(dict.fromkeys(content_terms(question))), Counter[str]()
    count, length = 0, 0
    for piece in pieces():
        terms = content_terms(piece.line)
        count, length = count + 1, length + len(terms)
        holding.update(set(asked) & set(terms))
    weights = {term: math.log(1 + (count - holding[term] + 0.5) / (holding[term] + 0.5)) for term in asked}

    def score(piece: SourcePiece) -> float:
        terms = Counter(content_terms(piece.line))
        norm = _K1 * (1 - _B + _B * terms.total() * count / max(1, length))
        return sum(weights[term] * terms[term] * (_K1 + 1) / (terms[term] + norm) for term in asked if terms[term])

    scored = ((score(piece), -place, piece) for place, piece in enumerate(pieces()))
    best = heapq.nlargest(
        budget, (candidate for candidate in scored if candidate[0] > 0), key=lambda candidate: candidate[:2]
    )
    chosen, room = list[SourcePiece](), budget
    for _, _, piece in best:
        cost = count_tokens(piece.line) + bool(chosen)
        if cost <= room:
            chosen.append(piece)
            room -= cost
    return chosen


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


# Questions over passages


def bench_packed(
    path: Path,
    lengths: Sequence[int] = QUICK,
    *,
    limit: int | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> tuple[NeedleRow, ...]:
    """Read, by rules, each question's passages among others of a file, up to each length.

    Raises:
        Invalid: the file is no benchmark that we know.
    """
    dataset = load(path).first(limit)
    docs = {corpus.ns: corpus.docs for corpus in dataset.corpora}
    questions = [question for question in dataset.questions if question.gold]
    rows = []
    for tokens in sorted(lengths):
        kept, looked, read, seconds = list[float](), list[float](), 0, 0.0
        for question in questions:
            packed = _packed(question, docs[question.ns], tokens, seed)
            began = time.process_time()
            parts, count = _read_passages(question, packed)
            seconds, read = seconds + time.process_time() - began, read + count
            chosen = one_look(question.text, lambda packed=packed: pieces_of(_passages(packed)))  # type: ignore[misc]
            kept.append(_share(question.gold, parts))
            looked.append(_share(question.gold, {piece.part for piece in chosen}))
            progress(f"{tokens:,} tokens", len(kept), len(questions))
        rows.append(
            NeedleRow(
                kind=dataset.name,
                tokens=tokens,
                texts=len(questions),
                rules=fmean(kept),
                one_look=fmean(looked),
                seconds=1e6 * seconds / max(1, read),
                peak=_peak(),
            )
        )
    return tuple(rows)


def _packed(question: BenchQuestion, docs: Sequence[Doc], tokens: int, seed: int) -> list[Doc]:
    """A question's own passages among as many others as fit, shuffled."""
    chance = random.Random(f"{question.id}/{seed}")  # noqa: S311 - made-up text, not a secret
    gold = set(question.gold)
    chosen, others = [doc for doc in docs if doc.id in gold], [doc for doc in docs if doc.id not in gold]
    chance.shuffle(others)
    total = sum(count_tokens(doc.text) for doc in chosen)
    for doc in others:
        if (total := total + count_tokens(doc.text)) > tokens:
            break
        chosen.append(doc)
    chance.shuffle(chosen)
    return chosen


def _passages(docs: Sequence[Doc]) -> Iterator[TextStretch]:
    return (TextStretch(f"{doc.session}\n{doc.text}", "passages", doc.id) for doc in docs)


def _read_passages(question: BenchQuestion, docs: Sequence[Doc]) -> tuple[set[str], int]:
    """The passages that the notes cite in the end, and how many tokens were read."""
    state = ReaderState()
    for segment in segments_of(pieces_of(_passages(docs))):
        state = run(folded(question.text, state, segment), _without_model)
    return {cited.piece.part for cited in state.cited.values()}, state.tokens


def _without_model(request: Request) -> str | None:
    return "" if isinstance(request, NameModel) else None
