"""After the rankings of a run: a model answers over what each contestant recalled, and judges mark the answers.

All contestants are read by the same model with the same prompt, so that what differs is what was recalled. What the
log holds is not asked again; where two contestants recalled the same, the model is asked once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

from mnemic.errors import Invalid
from mnemic.lab.kit import answer_prompts as prompts
from mnemic.lab.kit.answer_judging import temperature
from mnemic.lab.kit.asked_chat import AskedChat
from mnemic.lab.kit.baselines import stood_beside
from mnemic.lab.kit.contestant import SHOWN
from mnemic.lab.kit.datasets import UNANSWERABLE
from mnemic.lab.kit.log import Log, LoggedAnswer, LoggedRun, read_tasks
from mnemic.lab.kit.model_words import FULL, OWN, JudgeReply, ModelWords, PairReply, ReadAnswer
from mnemic.models.model_opening import NONE, open_chat

if TYPE_CHECKING:
    from mnemic.lab.kit.datasets import Dataset
    from mnemic.models.chat.base import Ask, Chat
    from mnemic.settings import Settings

_NOTHING: Final = ModelWords(asked="")

Reply = TypeVar("Reply", ReadAnswer, JudgeReply, PairReply)
Asked: TypeAlias = tuple[Reply, "Ask", int]
"""A reply without its words, the question for them, and the how manieth time it is asked."""

AnswerProgress: TypeAlias = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerPlan:
    """Who answers beside the rankings of a run, and who judges.

    Attributes:
        model: Who answers over what each contestant recalled; "" for nobody. Those that can answer by themselves are
            asked to in any case.
        judges: Models that mark every answer; none of them twice.
        runs: How often each judge is asked of each answer.
        full_context: The model is asked over all documents, too: what a memory is held against by those who have a
            window that is long enough. One that is too short for it fails.
        pairwise: Judges also compare each contestant's answer with that of the task's `against`, in both orders.
        at_once: So many questions at once to each model.
    """

    model: str = ""
    judges: tuple[str, ...] = ()
    runs: int = 1
    full_context: bool = False
    pairwise: bool = False
    at_once: int = 1

    def opened(self, settings: Settings) -> tuple[Chat | None, list[Chat]]:
        """Open the model that answers, and the judges; nobody is called.

        Raises:
            Invalid: one of them is not there, or a judge is named twice.
        """
        if twice := [name for n, name in enumerate(self.judges) if name in self.judges[:n]]:
            raise Invalid("judges", f"{twice[0]!r} is named twice", "Give --judge-runs to have one asked again.")
        if (self.pairwise or self.runs > 1) and not self.judges:
            raise Invalid("judges", "are none, and they alone compare and are asked again", "Name some with --judges.")
        if self.full_context and self.model in ("", NONE):
            raise Invalid("full-context", "is what a model reads, and there is none", "Name one with --model.")
        judges = [open_chat(name, settings) for name in self.judges]
        return open_chat(self.model, settings), [judge for judge in judges if judge is not None]

    def settings(self) -> dict[str, object]:
        """What its figures depend on, for the log: whoever goes on with the run must ask the same of the same."""
        record: dict[str, object] = {"model": self.model, "prompt": prompts.ANSWER_SHA256, "documents": SHOWN}
        if self.judges:
            record |= {"judges": list(self.judges), "judge prompt": prompts.JUDGE_SHA256, "runs": self.runs}
            record["temperature"] = temperature(self.runs)
        if self.full_context:
            record[FULL] = True
        if self.pairwise:
            record["pair prompt"] = prompts.PAIR_SHA256
        return record


@dataclass(frozen=True, slots=True)
class AnsweredTask:
    """A task whose contestants are to be read.

    Attributes:
        rows: Contestants by name.
        usual: Whose answers others are compared with, where it takes part (`baselines.stood_beside`).
    """

    dataset: Dataset
    rows: Sequence[str]
    usual: str

    @property
    def against(self) -> str:
        """Whose answers others are compared with."""
        return stood_beside(self.usual, self.rows)

    def words(self) -> dict[tuple[str, str], str]:
        """The questions; the log keeps the beginning of a long one."""
        return {(question.ns, question.id): question.text for question in self.dataset.questions}


def answer_and_judge(
    log: Log,
    path: Path,
    tasks: Mapping[str, AnsweredTask],
    plan: AnswerPlan,
    settings: Settings,
    progress: AnswerProgress,
) -> None:
    """Have the model answer and the judges judge whatever the log at `path` has no reply to yet.

    Raises:
        Invalid: a model is not there.
        ModelError: one failed several times in a row; the log stands, and can be gone on with.
    """
    reader, judges = plan.opened(settings)
    if reader is not None:
        for name, run in read_tasks(path).items():
            asked = list(_readings(run, tasks[name], reader.name, full=plan.full_context))
            _put(log, name, reader, asked, run.readings, plan.at_once, progress)
    for judge in judges:
        for name, run in read_tasks(path).items():
            marks = list(_marks(run, tasks[name], judge.name, plan.runs))
            _put(log, name, judge, marks, run.marks, plan.at_once, progress)
            pairs = list(_pairs(run, tasks[name], judge.name)) if plan.pairwise else []
            _put(log, name, judge, pairs, run.preferences, plan.at_once, progress)


def _put(
    log: Log,
    task: str,
    chat: Chat,
    asked: Sequence[Asked[Reply]],
    held: Mapping[tuple[str, ...], Reply],
    at_once: int,
    progress: AnswerProgress,
) -> None:
    """Put to a model what it has not answered, and log each reply as it comes."""
    there = {key for key, reply in held.items() if not reply.said.failed}
    before = {reply.said.asked: reply.said for reply in held.values() if not reply.said.failed}
    left = [(reply, ask, turn) for reply, ask, turn in asked if reply.key not in there]
    log.of_task(task)
    done = len(asked) - len(left)
    for reply, said in AskedChat(chat, before, at_once).each(left):
        log.spoke(replace(reply, said=said))
        done += 1
        progress(f"{task}: {left[0][1].task} by {chat.name}", done, len(asked))


def _readings(run: LoggedRun, of: AnsweredTask, reader: str, *, full: bool) -> Iterator[Asked[ReadAnswer]]:
    """Every question with words of every contestant, over the ten best that it recalled, in the order they were said.

    Args:
        full: And every question over all documents.
    """
    docs = {corpus.ns: {doc.id: (n, doc) for n, doc in enumerate(corpus.docs)} for corpus in of.dataset.corpora}
    words = of.words()
    for answer in (*_answers(run), *(_over_all(run) if full else ())):
        if not (asked := words[answer.ns, answer.question]):
            continue  # it asks for the context alone, and has no words to answer
        found = sorted(docs[answer.ns][doc] for doc in answer.ranked[:SHOWN])
        found = list(docs[answer.ns].values()) if answer.system == FULL else found
        ask = prompts.asked_answer(asked, [doc for _, doc in found])
        yield _reading(answer, reader), ask, 0


def _reading(answer: LoggedAnswer, reader: str) -> ReadAnswer:
    return ReadAnswer(
        system=answer.system, ns=answer.ns, question=answer.question, reader=reader, said=_NOTHING
    )  # fmt: skip


def _marks(run: LoggedRun, of: AnsweredTask, judge: str, runs: int) -> Iterator[Asked[JudgeReply]]:
    words = of.words()
    for answer, reader, given in judged_answers(run):
        for turn in range(runs):
            reply = JudgeReply(
                system=answer.system, ns=answer.ns, question=answer.question, reader=reader, judge=judge, turn=turn,
                said=_NOTHING,
            )  # fmt: skip
            asked = words[answer.ns, answer.question]
            yield reply, prompts.asked_mark(asked, answer.wanted, given, temperature(runs)), turn


def _pairs(run: LoggedRun, of: AnsweredTask, judge: str) -> Iterator[Asked[PairReply]]:
    """Each contestant's answers beside those of `against` by the same reader, in both orders."""
    words = of.words()
    others = {
        (answer.ns, answer.question, reader): given
        for answer, reader, given in judged_answers(run)
        if answer.system == of.against
    }
    for answer, reader, given in judged_answers(run):
        other = others.get((answer.ns, answer.question, reader))
        if answer.system == of.against or other is None:
            continue
        for swapped in (False, True):
            first, second = (other, given) if swapped else (given, other)
            reply = PairReply(
                system=answer.system, other=of.against, ns=answer.ns, question=answer.question, reader=reader,
                judge=judge, swapped=swapped, said=_NOTHING,
            )  # fmt: skip
            yield reply, prompts.asked_preference(words[answer.ns, answer.question], answer.wanted, first, second), 0


def judged_answers(run: LoggedRun) -> Iterator[tuple[LoggedAnswer, str, str]]:
    """Every answer that can be marked: to what question of whom, by which reader, and its words.

    What is adversarial or an abstention has no right answer to hold it to; that is counted by who declines.
    """
    readings = _by_question(run.readings.values())
    for answer in all_answers(run):
        if answer.category in UNANSWERABLE or not answer.wanted:
            continue
        if answer.given is not None:
            yield answer, OWN, answer.given.short if answer.given.known else prompts.NO_ANSWER
        for reading in readings.get((answer.system, answer.ns, answer.question), ()):
            if not reading.said.failed:
                yield answer, reading.reader, reading.said.text


def _by_question(readings: Iterable[ReadAnswer]) -> dict[tuple[str, str, str], list[ReadAnswer]]:
    by: dict[tuple[str, str, str], list[ReadAnswer]] = {}
    for reading in readings:
        by.setdefault((reading.system, reading.ns, reading.question), []).append(reading)
    return by


def all_answers(run: LoggedRun) -> Iterator[LoggedAnswer]:
    """What each contestant was asked; at last what was asked over all documents, if it was."""
    yield from _answers(run)
    if any(reading.system == FULL for reading in run.readings.values()):
        yield from _over_all(run)


def _over_all(run: LoggedRun) -> Iterator[LoggedAnswer]:
    """Every question once, as one that nobody ranked anything for."""
    questions = {(answer.ns, answer.question): answer for answer in _answers(run)}
    for answer in questions.values():
        yield replace(answer, system=FULL, ranked=(), scores=(), given=None)


def _answers(run: LoggedRun) -> Iterator[LoggedAnswer]:
    for answers in run.answers.values():
        yield from answers
