"""The contract of contestants as tests: what every adapter promises that takes part in benchmarks.

A contestant proves itself with one import and one fixture, in a test file of its own; `contestant` makes it anew::

    from mnemic.testing.contestant_contract import *


    @pytest.fixture(scope="module")
    def contestant():
        return lambda: MyContestant(Means())
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from mnemic.lab.kit.contestant import AnsweringContestant, Contestant, ContextContestant
from mnemic.lab.kit.datasets import BenchQuestion, Corpus, Doc

_TALK = (
    ("S1", "Ada", "I have joined a pottery class on Tuesdays."),
    ("S1", "Ben", "Which kiln do they fire the bowls in?"),
    ("S2", "Ada", "The kiln is an old one from Delft."),
    ("S2", "Ben", "我在院子里种了两棵枇杷树。"),
    ("S3", "Ada", "My brother plays the accordion in Lisbon."),
)
_TOLD = ("The kiln is in the shed.", "Always answer in French.", "The kiln is in the barn now.")
_PASSAGES = (("Hollow Reed", "A film directed by Petra Lind."), ("Petra Lind", "She grew up on a barge."))


def corpora() -> list[Corpus]:
    """A talk, passages, another talk in which nothing of the first was said, one that is told, and one of nothing."""
    said = datetime(2024, 5, 6, 9, tzinfo=UTC)
    talk = [
        Doc(ns="talk", id=f"d{n}", session=session, pos=n, when="2024-05-06", said=said, speaker=who, text=text)
        for n, (session, who, text) in enumerate(_TALK)
    ]
    passages = [
        Doc(ns="passages", id=f"p{n}", session=title, pos=0, when="", said=None, speaker=title, text=text)
        for n, (title, text) in enumerate(_PASSAGES)
    ]
    other = Doc(ns="other", id="d0", session="S1", pos=0, when="", said=None, speaker="Cy", text="The tram was late.")
    told = [
        Doc(
            ns="told", id=f"t{n}", session="", pos=n, when="", said=said + n * timedelta(days=1), speaker="",
            text=text, role="user",
        )
        for n, text in enumerate(_TOLD)
    ]  # fmt: skip
    made: tuple[tuple[str, list[Doc]], ...] = (
        ("talk", talk), ("passages", passages), ("other", [other]), ("told", told), ("empty", []),
    )  # fmt: skip
    return [Corpus(ns=ns, docs=tuple(docs), told=ns == "told") for ns, docs in made]


def asked(ns: str, text: str) -> BenchQuestion:
    """A question with nothing but its words."""
    return BenchQuestion(ns=ns, id="q", text=text, answer="", category="", gold=(), sessions=())


QUESTIONS = ("Where is the kiln from?", "Who directed Hollow Reed?", "院子里种了什么树？", "?!", "zzz quorvex")


@pytest.fixture(scope="module")
def competing(contestant: Callable[[], Contestant]) -> Iterator[Contestant]:
    """One that has taken in the corpora."""
    with closing(contestant()) as made:
        made.ingest(corpora())
        yield made


def _ids(ns: str) -> Sequence[str]:
    return [doc.id for corpus in corpora() if corpus.ns == ns for doc in corpus.docs]


@pytest.mark.parametrize("text", QUESTIONS)
@pytest.mark.parametrize("ns", ["talk", "passages", "other", "told", "empty"])
def test_it_ranks_documents_of_the_corpus_that_is_asked_none_twice_and_no_more_than_k(
    competing: Contestant, ns: str, text: str
) -> None:
    for k in (1, 3, 10):
        ranking = competing.rank(asked(ns, text), k)
        assert len(ranking.ids) <= k
        assert len(set(ranking.ids)) == len(ranking.ids)
        assert set(ranking.ids) <= set(_ids(ns))
        assert len(ranking.scores) in (0, len(ranking.ids))
        assert list(ranking.scores) == sorted(ranking.scores, reverse=True)


def test_the_same_question_is_answered_the_same(competing: Contestant) -> None:
    for text in QUESTIONS:
        assert competing.rank(asked("talk", text), 5).ids == competing.rank(asked("talk", text), 5).ids


def test_it_knows_nothing_of_questions_answers(competing: Contestant) -> None:
    plain = asked("talk", QUESTIONS[0])
    told = BenchQuestion(
        ns="talk", id="q", text=QUESTIONS[0], answer="Delft", category="x", gold=("d4",), sessions=("S3",)
    )
    assert competing.rank(told, 5).ids == competing.rank(plain, 5).ids


def test_a_moment_and_a_past_may_be_asked_of(competing: Contestant) -> None:
    """Whoever knows nothing of them answers from all it has."""
    later = datetime(2024, 6, 1, tzinfo=UTC)
    now = replace(asked("told", "Where is the kiln?"), asked=later)
    then = later - timedelta(days=25)
    for question in (now, replace(now, as_of=then), replace(now, valid_at=then)):
        assert set(competing.rank(question, 5).ids) <= set(_ids("told"))


def test_what_stands_in_a_context_rests_on_documents_of_the_corpus_that_is_asked(competing: Contestant) -> None:
    if not isinstance(competing, ContextContestant):
        pytest.skip("it keeps nothing in a context")
    for ns in ("told", "other"):
        lines = competing.context(replace(asked(ns, ""), of_context=True))
        assert {doc for line in lines for doc in line.docs} <= set(_ids(ns))


def test_it_says_what_it_cost(contestant: Callable[[], Contestant]) -> None:
    """Of one of its own: who measures may write, and is asked no question any more."""
    with closing(contestant()) as made:
        made.ingest(corpora())
        made.rank(asked("talk", QUESTIONS[0]), 5)
        figures = made.figures()
    assert figures.bytes_per_message is None or figures.bytes_per_message >= 0
    assert figures.lag_ms is None or figures.lag_ms >= 0
    assert figures.model_calls >= 0


def test_an_answer_quotes_documents_of_the_corpus_that_is_asked(competing: Contestant) -> None:
    if not isinstance(competing, AnsweringContestant):
        pytest.skip("it does not answer")
    for text in QUESTIONS[:3]:
        given = competing.answer(asked("talk", text))
        assert set(given.cited) <= set(_ids("talk"))
        assert not given.known or given.short
        assert not given.confidence < 0
        assert not given.confidence > 1
