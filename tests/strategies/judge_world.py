"""A world of one model for flows that judge; and for each task something to judge, with a sound answer to it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from mnemic.errors import ModelError
from mnemic.flow import Flow, Request, run
from mnemic.models.chat.base import Ask, CutOff, Reply, estimated_reply
from mnemic.models.model_requests import AskEach, CountJudged, JudgedBy, NameModel
from mnemic.strategies.judging import JudgeTask
from mnemic.strategies.knowledge import (
    Condensing,
    EntityMatching,
    Episode,
    FactMatching,
    Inquiry,
    Merging,
    NotesRead,
    Overwriting,
    Passage,
    ReadingNote,
    StatedFact,
    Triple,
)
from mnemic.strategies.tasks.condensing import OVERWRITE_FOLD, SUMMARIZE, answer_task
from mnemic.strategies.tasks.dialogue_pages import PAGE_TOPIC
from mnemic.strategies.tasks.extracting import EXTRACT_ITEMS, EXTRACT_SLOTS, EXTRACT_TRIPLES
from mnemic.strategies.tasks.graph_resolution import MATCH_ENTITIES, MATCH_FACTS
from mnemic.strategies.tasks.learning import CONTRAST_LESSONS, EXPERIENCE_PIECES, MAKE_PLAN
from mnemic.strategies.tasks.merge_decision import MERGE_DECIDE
from mnemic.strategies.tasks.recognition import FILTER_EVIDENCE
from mnemic.strategies.tasks.reflecting import FOCAL_QUESTIONS, INSIGHTS_WITH_EVIDENCE, SCORE_IMPORTANCE
from mnemic.strategies.trajectories import ActionStep, Contrast, Trajectory
from mnemic.verbs.note_taking import extractive_answer

SAID = datetime(2024, 5, 8, 18, 20, tzinfo=UTC)
PASSAGES = (
    Passage("We moved to Porto last month, and Tom works at Siemens.", "Mia", SAID),
    Passage("我住在北京，我喜欢爵士乐。", "李雷", SAID),
    Passage("ok, thanks", "Sam", SAID),
)
QUESTION = Inquiry("Where does Tom work?", PASSAGES)
MERGING = Merging(
    new=(
        StatedFact(text="Mia lives in Porto.", subject="Mia", slot="city", value="Porto"),
        StatedFact(text="Mia likes jazz.", subject="Mia", slot="likes", value="jazz"),
    ),
    old=(StatedFact(text="Mia lives in Lisbon.", subject="Mia", slot="city", value="Lisbon"),),
)
NAMES = EntityMatching((("Mia", "Mia moved to Porto."), ("Tom", "Tom works at Siemens.")), ("Mia Hoffmann", "Siemens"))
FACTS = FactMatching(
    new=(Triple(subject="Mia", predicate="lives in", object="Porto", fact="Mia lives in Porto.", source=0),),
    old=(
        Triple(subject="Mia", predicate="lives in", object="Lisbon", fact="Mia lives in Lisbon.", source=0, since=SAID),
        Triple(subject="Tom", predicate="likes", object="jazz", fact="Tom likes jazz.", source=0),
    ),
)
FOLDING = Overwriting(
    question="Where does the sister of Mia work?",
    notes=(ReadingNote(text="The sister of Mia is Eve.", source=(3,)),),
    segment=("Eve has worked at Siemens since 2020.", "The weather was fine."),
    first=7,
    budget=64,
)

FAILED = Trajectory(
    task="Polish the bowl",
    steps=(ActionStep("rub bowl with chalk", "The chalk scratches it."),),
    succeeded=False,
)
DONE = Trajectory(task="Polish the bowl", steps=(ActionStep("rub bowl with vinegar", "It shines."),), succeeded=True)

_FACT = {"text": "Tom works at Siemens.", "from": [1], "since": "2024-04", "until": ""}
_TRIPLE = {
    "subject": "Tom",
    "predicate": "works at",
    "object": "Siemens",
    "fact": "Tom works at Siemens.",
    "from": 1,
    "since": "2024",
    "until": "2024-06-01",
}
_SLOT = {"subject": "李雷", "slot": "Favourite Music", "value": "爵士乐", "from": [2], "ended": False}
_ADD = {"new": 2, "do": "add", "old": 0, "text": ""}
_DELETE = {"new": 1, "do": "delete", "old": 1, "text": ""}
_MATCH = {"new": 3, "same_as": [], "contradicts": [1]}
_TOPIC = {"topic": "Mia's move to Porto", "keywords": ["Mia", "Porto"], "continues": 1}
_NOTE = {"text": "Eve has worked at Siemens since 2020.", "from": [8, 4]}
LONG = "Tom, who works at Siemens, goes there every day. " * 60


@dataclass(frozen=True)
class Case:
    """Something to judge, a sound answer, and answers that fit the schema and are not sound."""

    task: JudgeTask[Any, Any]
    given: Any
    sound: dict[str, Any]
    astray: dict[str, Any]
    too_long: dict[str, Any]


def _case(task: JudgeTask[Any, Any], given: Any, name: str, sound: Any, astray: Any, too_long: Any) -> Case:
    answers = ({"reasoning": "I see.", name: value} for value in (sound, astray, too_long))
    return Case(task, given, *answers)


CASES = (
    _case(EXTRACT_ITEMS, PASSAGES, "facts", [_FACT], [{**_FACT, "from": [4]}], [{**_FACT, "text": LONG}]),
    _case(EXTRACT_TRIPLES, PASSAGES, "triples", [_TRIPLE], [{**_TRIPLE, "from": 9}], [{**_TRIPLE, "fact": LONG}]),
    _case(EXTRACT_SLOTS, PASSAGES, "slots", [_SLOT], [{**_SLOT, "from": [7]}], [{**_SLOT, "value": LONG}]),
    _case(
        MERGE_DECIDE,
        MERGING,
        "decisions",
        [_ADD, _DELETE],
        [_ADD, {**_DELETE, "old": 2}],
        [_ADD, {**_DELETE, "do": "update", "text": LONG}],
    ),
    _case(
        SCORE_IMPORTANCE,
        PASSAGES,
        "scores",
        [{"of": 3, "score": 1}, {"of": 1, "score": 7}, {"of": 2, "score": 4}],
        [{"of": 4, "score": 1}, {"of": 1, "score": 7}, {"of": 2, "score": 4}],
        [{"of": 1 + n % 3, "score": 5} for n in range(9)],
    ),
    _case(SUMMARIZE, Condensing(PASSAGES, 40), "summary", "Mia moved to Porto.", " ", LONG),
    _case(FOCAL_QUESTIONS, PASSAGES, "questions", ["What does Mia like?"], ["\u200b"], ["What?"] * 9),
    _case(
        INSIGHTS_WITH_EVIDENCE,
        QUESTION,
        "insights",
        [{"text": "Mia and Tom began anew.", "from": [1, 3]}],
        [{"text": "Mia and Tom began anew.", "from": [1, 5]}],
        [{"text": LONG, "from": [1]}],
    ),
    _case(FILTER_EVIDENCE, QUESTION, "keep", [1], [4], [1] * 99),
    _case(
        MATCH_ENTITIES,
        NAMES,
        "matches",
        [{"name": 1, "same_as": 1}, {"name": 2, "same_as": 0}],
        [{"name": 1, "same_as": 3}],
        [{"name": 1, "same_as": 1}] * 65,
    ),
    _case(MATCH_FACTS, FACTS, "matches", [_MATCH], [{**_MATCH, "contradicts": [4]}], [{**_MATCH, "same_as": [2] * 99}]),
    *(
        Case(PAGE_TOPIC, Episode(PASSAGES[2:], PASSAGES[:1]), *({"reasoning": "I see.", **one} for one in answers))
        for answers in [(_TOPIC, {**_TOPIC, "continues": 2}, {**_TOPIC, "topic": LONG})]
    ),
    _case(MAKE_PLAN, FAILED, "plan", "Take the vinegar next time.", "\u200b", LONG),
    _case(EXPERIENCE_PIECES, FAILED, "pieces", ["Chalk scratches bronze."], ["\u200b"], [LONG]),
    _case(
        CONTRAST_LESSONS,
        Contrast(successes=(DONE,), failure=FAILED, lessons=("Chalk is good for all metals.",)),
        "changes",
        [{"do": "remove", "lesson": 1, "text": ""}, {"do": "add", "lesson": 0, "text": "Bronze wants vinegar."}],
        [{"do": "agree", "lesson": 2, "text": ""}],
        [{"do": "add", "lesson": 0, "text": LONG}],
    ),
    _case(OVERWRITE_FOLD, FOLDING, "notes", [_NOTE], [{**_NOTE, "from": [1]}], [{**_NOTE, "text": LONG[:990]}]),
    Case(
        answer_task(extractive_answer),
        NotesRead(question=FOLDING.question, notes=(*FOLDING.notes, ReadingNote(text=FOLDING.segment[0], source=(7,)))),
        {"reasoning": "I see.", "answer": "Siemens", "from": [4, 8]},
        {"reasoning": "I see.", "answer": "Siemens", "from": [5]},
        {"reasoning": "I see.", "answer": LONG, "from": [8]},
    ),
)


@dataclass
class JudgeWorld:
    """Answers what flows that judge ask for, by a model that is told what to say in turn; "" as its name is none.

    Attributes:
        answers: A text, a dictionary for its JSON, or an error that is raised.
        asked: The questions, in order; `rounds` how many of them were asked at once.
        counted: Who judged what.
    """

    answers: Sequence[str | dict[str, Any] | Exception] = ()
    model: str = "told"
    asked: list[Ask] = field(default_factory=list)
    rounds: list[int] = field(default_factory=list)
    counted: list[tuple[str, JudgedBy]] = field(default_factory=list)

    def run(self, flow: Flow[Any]) -> Any:
        return run(flow, self.perform)

    def perform(self, request: Request) -> Any:
        match request:
            case NameModel():
                return self.model
            case CountJudged(task, by):
                return self.counted.append((task, by))
            case Ask():
                self.rounds.append(1)
                return self._reply(request)
            case AskEach(asks):
                self.rounds.append(len(asks))
                return tuple(map(self._caught, asks))
        raise AssertionError(f"a judge asks no {type(request).__name__}")

    def _caught(self, ask: Ask) -> Reply | ModelError:
        try:
            return self._reply(ask)
        except ModelError as error:
            return error

    def _reply(self, ask: Ask) -> Reply:
        answer = self.answers[len(self.asked) % len(self.answers)]
        self.asked.append(ask)
        if isinstance(answer, Exception):
            raise answer
        return said(ask, answer)


def said(ask: Ask, answer: str | dict[str, Any]) -> Reply:
    text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
    return estimated_reply(ask, "told", text)


def cut_off(ask: Ask, answer: str) -> CutOff:
    return CutOff("told", ask.limit, said(ask, answer))
