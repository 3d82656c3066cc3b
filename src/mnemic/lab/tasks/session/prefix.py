"""Plays published conversations into sessions, with their questions, and measures how much of each window is reused.

Each question is asked at a moment drawn after its evidence. Counted are the tokens of every window that are as they
were in the one before, and the evidence in the window after a question, beside `context` packing that budget anew.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mnemic.lab.kit.datasets import UNANSWERABLE, BenchQuestion, Corpus, Dataset
from mnemic.lab.kit.run import Progress
from mnemic.memory import Memory
from mnemic.models.base import Embedder
from mnemic.session import Session
from mnemic.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """Windows over one conversation, or over several.

    Attributes:
        name: Of the conversation, or of the policy over all of them.
        found, packed: The share of the evidence that is in the window after a question, and in `context` of the same
            budget; the mean over questions.
        rendered, reused: Tokens of all windows shown, and of those the ones that stood where they stood before.
        hits, references: Uses of pages that were in the window, and of any.
    """

    name: str
    questions: int
    windows: int
    found: float
    packed: float
    rendered: int
    reused: int
    hits: int
    references: int

    @property
    def reuse(self) -> float:
        """The share of window tokens that stood where they stood the time before."""
        return self.reused / max(self.rendered, 1)

    @property
    def hit_rate(self) -> float:
        """The share of uses that found their page in the window."""
        return self.hits / max(self.references, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class PrefixReuse:
    """Windows of one policy: over all conversations, and over each."""

    whole: Played
    each: tuple[Played, ...]


def prefix(
    data: Dataset,
    *,
    budget: int,
    policy: str,
    seed: int,
    embedder: Embedder | None,
    progress: Progress,
    limit: int | None = None,
) -> PrefixReuse:
    """Play each conversation as one session; a window is shown after each turn and after each question.

    Args:
        limit: Ask only the first so many questions, of all conversations together.
    """
    questions = [question for question in data.questions if question.gold and question.category not in UNANSWERABLE][
        :limit
    ]
    asked = {question.ns for question in questions}
    corpora = [corpus for corpus in data.corpora if corpus.ns in asked]
    each = []
    for number, corpus in enumerate(corpora):
        with (
            Memory("memory:", settings=Settings(background=False), embedder=embedder or "none") as memory,
            memory.session("talk", user="ada", budget=budget, policy=policy) as session,
        ):
            of_corpus = [question for question in questions if question.ns == corpus.ns]
            scores = []
            for done, score in _played(memory, session, corpus, of_corpus, seed):
                scores.append(score)
                progress(f"{policy}, {len(corpora)} conversations", number * 1000 + done, len(corpora) * 1000)
            each.append(_counted(corpus, session, scores))
    return PrefixReuse(whole=_together(policy, each), each=tuple(each))


def _counted(corpus: Corpus, session: Session, scores: Sequence[tuple[float, float]]) -> Played:
    counted = session.counters
    return Played(
        name=corpus.ns,
        questions=len(scores),
        windows=len(corpus.docs) + len(scores),
        found=sum(inside for inside, _ in scores) / len(scores),
        packed=sum(beside for _, beside in scores) / len(scores),
        rendered=counted.rendered,
        reused=counted.reused,
        hits=counted.hits,
        references=counted.references,
    )


def _together(name: str, each: Sequence[Played]) -> Played:
    questions = sum(played.questions for played in each)
    return Played(
        name=name,
        questions=questions,
        windows=sum(played.windows for played in each),
        found=sum(played.found * played.questions for played in each) / max(questions, 1),
        packed=sum(played.packed * played.questions for played in each) / max(questions, 1),
        rendered=sum(played.rendered for played in each),
        reused=sum(played.reused for played in each),
        hits=sum(played.hits for played in each),
        references=sum(played.references for played in each),
    )


def _played(
    memory: Memory, session: Session, corpus: Corpus, questions: Sequence[BenchQuestion], seed: int
) -> Iterator[tuple[int, tuple[float, float]]]:
    """For each question how far the talk is, in thousandths, and the share of its evidence in window and context."""
    me, ids = memory.scope(user="ada"), dict[str, str]()
    for place, asked in enumerate(schedule(corpus, questions, seed)):
        doc = corpus.docs[place]
        ids[doc.id] = session.observe(doc.text, speaker=doc.speaker, said=doc.said).ids[0]
        session.messages()
        if asked and memory.settings.embedder != "none":
            memory.flush()
        for question in asked:
            gold = {ids[item] for item in question.gold}
            session.context(question.text, now=doc.said)
            here = {page.id for page in session.window().pages}
            beside = {item.id for item in me.context(question.text, budget=session.budget, now=doc.said)}
            yield 1000 * place // len(corpus.docs), (len(gold & here) / len(gold), len(gold & beside) / len(gold))


def schedule(corpus: Corpus, questions: Sequence[BenchQuestion], seed: int) -> list[list[BenchQuestion]]:
    """The questions asked after each turn: each at a moment drawn after the last of its evidence."""
    draw = random.Random(f"{corpus.ns}:{seed}")  # noqa: S311 - a workload, not a secret
    places = {doc.id: place for place, doc in enumerate(corpus.docs)}
    asked: list[list[BenchQuestion]] = [[] for _ in corpus.docs]
    for question in questions:
        last = max(places[needed] for needed in question.gold)
        asked[draw.randint(last, len(corpus.docs) - 1)].append(question)
    return asked
