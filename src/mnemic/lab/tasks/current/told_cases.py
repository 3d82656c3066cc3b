"""Cases as the frame has them: what is told becomes a corpus, what is asked a question with its key; and back again.

A turn of the case goes by `t` and its place, one of other talk by `f` and its place in the order. So what a log holds
is enough to judge a ranking and an answer by: nothing is looked up in the cases again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Final

from mnemic.core.ids import ItemId
from mnemic.lab.kit.contestant import CreditedHit, GivenAnswer
from mnemic.lab.kit.datasets import BenchQuestion, Corpus, Doc
from mnemic.lab.tasks.current.current_cases import CurrentCase, CurrentQuestion, SaidTurn, ToldTurn
from mnemic.lab.tasks.current.grading import Grade, grade_by_parts, parts_of_list
from mnemic.recall.answer import Answer, Citation

if TYPE_CHECKING:
    from mnemic.lab.kit.log import LoggedAnswer, LoggedRun
    from mnemic.lab.kit.metrics import Outcome

ELSEWHERE: Final = "abstention"
"""The category of a question where the matter never came up."""

_OR: Final = "\n"
"""Between the accepted values of one part of a list."""


def corpus_of(ns: str, order: Sequence[ToldTurn]) -> Corpus:
    """A memory that is told turns in this order."""
    return Corpus(ns=ns, docs=tuple(_doc(ns, n, turn) for n, turn in enumerate(order)), told=True)


def _doc(ns: str, n: int, told: ToldTurn) -> Doc:
    id = f"f{n}" if told.place is None else _name(told.place)
    speaker, role = told.turn.speaker or "", told.turn.role
    return Doc(
        ns=ns, id=id, session="", pos=n, when="", said=told.said, speaker=speaker, text=told.turn.text, role=role
    )


def question_of(case: CurrentCase, n: int, category: str) -> BenchQuestion:
    """A question of a case, asked of the memory that goes by the case's id."""
    asked = case.questions[n]
    key = {
        "outdated": tuple(map(_name, asked.outdated)),
        "others": tuple(map(_name, asked.others)),
        "accepted": asked.answers,
        "wrong": asked.wrong,
        "type": (asked.type,),
        "kind": (case.kind,),
        "parts": tuple(_OR.join(sorted(part)) for part in parts_of_list(case, asked)) if asked.type == "list" else (),
        "unknown": ("yes",) if asked.unknown else (),
        **{name: (moment.isoformat(),) for name, moment in _moments(asked).items()},
    }
    return BenchQuestion(
        ns=case.id, id=f"{case.id}-q{n}", text=asked.text, answer=" / ".join(asked.answers), category=category,
        gold=tuple(map(_name, asked.current)), sessions=(), origin=case.lang, asked=asked.asked, as_of=asked.as_of,
        valid_at=asked.valid_at, key={name: values for name, values in key.items() if values},
    )  # fmt: skip


def asked_elsewhere(question: BenchQuestion, ns: str) -> BenchQuestion:
    """The same question, asked of a memory that holds nothing of the matter."""
    return replace(question, ns=ns, category=ELSEWHERE, gold=(), answer="", key={})


def _moments(question: CurrentQuestion) -> Mapping[str, datetime]:
    moments = {"asked": question.asked, "as_of": question.as_of, "valid_at": question.valid_at}
    return {name: moment for name, moment in moments.items() if moment is not None}


def _name(place: int) -> str:
    return f"t{place}"


def place_of(docs: Sequence[str]) -> int | None:
    """The place in the case of the latest turn among documents; None for other talk."""
    return max((int(doc[1:]) for doc in docs if doc.startswith("t")), default=None)


# From the log


def asked_again(answer: LoggedAnswer | Outcome, text: str = "") -> CurrentQuestion:
    """The question of a case that an answer in a log is to."""
    key = answer.key
    moments = {name: datetime.fromisoformat(key[name][0]) if name in key else None for name in ("as_of", "valid_at")}
    return CurrentQuestion(
        text=text, asked=datetime.fromisoformat(key["asked"][0]), as_of=moments["as_of"], valid_at=moments["valid_at"],
        current=_places(answer.gold), outdated=_places(key.get("outdated", ())), others=_places(key.get("others", ())),
        answers=key.get("accepted", ()), wrong=key.get("wrong", ()), type=key["type"][0], unknown="unknown" in key,
    )  # fmt: skip


def case_of(run: LoggedRun, answer: LoggedAnswer) -> CurrentCase:
    """As much of a case as a log holds: its id, language and kind, and the turns that were wanted or found."""
    texts = {int(doc[1:]): text for (ns, doc), text in run.texts.items() if ns == answer.ns and doc.startswith("t")}
    turns = sum(doc.startswith("t") for doc in run.docs[answer.ns])
    return CurrentCase(
        id=answer.ns, lang=answer.origin, kind=answer.key["kind"][0], questions=(),
        turns=tuple(SaidTurn(role="", speaker=None, text=texts.get(n, "")) for n in range(turns)),
    )  # fmt: skip


def _places(docs: Sequence[str]) -> tuple[int, ...]:
    return tuple(int(doc[1:]) for doc in docs)


def places_shown(answer: LoggedAnswer | Outcome) -> list[int | None]:
    """The place in the case of whatever was shown, best first: of a ranking, of each document."""
    hits = answer.hits or tuple(CreditedHit((doc,), 0) for doc in answer.ranked)
    return [place_of(hit.docs) for hit in hits]


def graded(answer: LoggedAnswer | Outcome) -> Grade | None:
    """How the answer to a question of a case fares; None where none was given."""
    given = answer.given
    if given is None or "type" not in answer.key:
        return None
    question = asked_again(answer)
    parts = [set(part.split(_OR)) for part in answer.key.get("parts", ())]
    return grade_by_parts(parts, question, read_answer(given), cited_places(given))


def read_answer(given: GivenAnswer) -> Answer:
    """An answer in a log as its judge reads it."""
    quotes = [quoted.quote for quoted in given.quotes]
    return Answer(
        text=given.text or given.short, short=given.value if given.text else given.short, known=given.known,
        citations=tuple(Citation(ItemId(""), quote) for quote in quotes), confidence=given.confidence,
    )  # fmt: skip


def cited_places(given: GivenAnswer) -> list[int | None]:
    """The place in the case of each thing that is quoted, the best first; of one that quotes nothing, what it cites."""
    if given.quotes:
        return [place_of(quoted.docs) for quoted in given.quotes]
    return [place_of((doc,)) for doc in given.cited]


def own_questions(answers: Sequence[LoggedAnswer]) -> Iterator[LoggedAnswer]:
    """The answers to questions of cases, without those that were asked elsewhere."""
    yield from (answer for answer in answers if answer.category != ELSEWHERE)
