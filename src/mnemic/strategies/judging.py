"""Have a model judge a task, and hold its answer to what was asked; where it fails, or there is none, rules judge.

    facts = yield from judged(EXTRACT_ITEMS, passages)

What was asked for is told by a schema and by what the task takes for sound: handles that were shown, lengths that fit.
An answer that is not sound goes back once with what is wrong with it. If the next one is no better, the rules of the
task stand in, which know no model: so whoever asks gets a value of the task's type, or the error of a model that is
sick (it hangs, refuses the key, is told to wait), for that passes and its run is repeated. Meters count who judged.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any, Final, Generic, TypeVar

from mnemic.core.json_schema import Schema
from mnemic.core.sanitize import for_prompt
from mnemic.core.tokens import cut, tokenise
from mnemic.errors import Invalid, MnemicError, OverBudget
from mnemic.flow import Flow, Request
from mnemic.models.chat.base import Ask, ChatMessage, CutOff, Reply, Size
from mnemic.models.chat.soundness import Unfit, fitting
from mnemic.models.model_requests import AskEach, CountJudged, JudgedBy, NameModel

G = TypeVar("G")
T = TypeVar("T")

_QUOTED: Final = 256
"""Most tokens of an answer that are shown again to who is to mend it."""

_TELLING: Final = 7
"""Characters from which a text can be told for the example's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeTask(Generic[G, T]):
    """A question that strategies put to a model about what they were given, and how rules answer it.

    Attributes:
        id: Names its calls in meters, and one of our prompts, `prompts/ID.md`, if it brings none.
        prompt: What the model is told, behind what it is told of all data. Its last line may be the answer to an
            example, which is not sound when it is given back.
        schema: What an answer fits; its first field is the model's reasoning, which comes before what it decides.
        show: What the model is shown of what is given, fenced; "" if there is nothing to judge: then nobody is asked.
        sound: What an answer that fits the schema means. It raises `Unfit` where it cites what was not shown, or is too
            long.
        rules: The answer without a model; the same for the same, and never an error.
        limit: Most tokens of an answer.
        size: The model that is good enough for it.
    """

    id: str
    schema: Schema
    show: Callable[[G], str]
    sound: Callable[[G, Any], T]
    rules: Callable[[G], T]
    limit: int = 1024
    size: Size = Size.LARGE
    prompt: str = ""

    def __post_init__(self) -> None:
        if not self.prompt and not _prompt_file(self.id).is_file():
            problem = f"is missing, and mnemic has none called {self.id!r}"
            raise Invalid("prompt", problem, "Give the task its text, such as `Path(...).read_text()`.")

    @property
    def instruction(self) -> str:
        """What the model is told to do: the task's own prompt, or ours of its name."""
        return self.prompt.strip() or _prompt(self.id)


def judged(task: JudgeTask[G, T], given: G) -> Flow[T]:
    """Judge a task: by the model's answer, by its second one, or by rules.

    Raises:
        ModelError: the model failed, as models do for a while.
    """
    shown = task.show(given)
    if not shown:
        return task.rules(given)
    model: str = yield NameModel(task.size)
    by = JudgedBy.RULES_ALONE
    if model:
        ask = _question(task, given, shown)
        try:
            for by in (JudgedBy.ANSWER, JudgedBy.REPAIR):
                said, value = yield from _answer(task, given, shown, ask)
                if not isinstance(value, Unfit):
                    yield CountJudged(task.id, by)
                    return value
                ask = _repair(ask, said, value)
            by = JudgedBy.RULES
        except OverBudget:
            by = JudgedBy.RULES_BY_BUDGET
    yield CountJudged(task.id, by)
    return task.rules(given)


def judged_each(task: JudgeTask[G, T], many: Sequence[G]) -> Flow[list[T]]:
    """Judge a task for many, side by side: all first questions are asked at once, then all repairs.

    Raises:
        ModelError: the model failed for one of them; what it answered to others is recorded.
    """
    return (yield from side_by_side([judged(task, given) for given in many]))


def side_by_side(flows: Sequence[Flow[T]]) -> Flow[list[T]]:
    """Drive flows to their values, asking a model at once whatever all of them ask it next.

    The error of a flow ends them all, once those that were asked with it have their answers.
    """
    values: dict[int, T] = {}
    turns: list[tuple[int, Reply | MnemicError | None]] = [(place, None) for place in range(len(flows))]
    try:
        while turns:
            asks: dict[int, Ask] = {}
            for place, answer in turns:
                reached = yield from _until_asking(flows[place], answer)
                if isinstance(reached, Ask):
                    asks[place] = reached
                else:
                    values[place] = reached.value
            answers: Sequence[Reply | MnemicError] = (yield AskEach(tuple(asks.values()))) if asks else ()
            turns = list(zip(asks, answers, strict=True))
    finally:
        for flow in flows:
            flow.close()
    return [values[place] for place in range(len(flows))]


@dataclass(frozen=True, slots=True)
class _Ended(Generic[T]):
    """The end of a flow."""

    value: T


def _until_asking(flow: Flow[T], answer: Reply | MnemicError | None) -> Flow[Ask | _Ended[T]]:
    """Advance a flow to its next question to a model, or to its end; what else it asks for is passed on."""
    try:
        request: Request = flow.throw(answer) if isinstance(answer, MnemicError) else flow.send(answer)
        while not isinstance(request, Ask):
            request = flow.send((yield request))
    except StopIteration as done:
        return _Ended(done.value)
    return request


def _question(task: JudgeTask[G, T], given: G, shown: str) -> Ask:
    """Put a task in words: what is the same for all that is judged comes first."""

    def is_sound(answer: str) -> bool:
        try:
            _read(task, given, shown, answer)
        except Unfit:
            return False
        return True

    system = ChatMessage("system", f"{_prompt('preamble')}\n\n{task.instruction}")
    messages = (system, ChatMessage("user", shown))
    return Ask(messages, task.limit, task.schema, task.id, task.size, sound=is_sound)


def _repair(ask: Ask, said: str, unfit: Unfit) -> Ask:
    """Ask once more, and show what was said and what is wrong with it: of long answers the beginning."""
    shown, problem = (for_prompt(cut(text.strip(), _QUOTED)[0].strip()) for text in (said, str(unfit)))
    complaint = f"This cannot be used: {problem}. Answer again, as one JSON object and nothing else, and keep it short."
    return replace(
        ask, messages=(*ask.messages, ChatMessage("assistant", shown or "(nothing)"), ChatMessage("user", complaint))
    )


def _answer(task: JudgeTask[G, T], given: G, shown: str, ask: Ask) -> Flow[tuple[str, T | Unfit]]:
    """Ask the model; what it said, with what that means or why it cannot be used."""
    try:
        reply: Reply = yield ask
    except CutOff as cut_off:
        return cut_off.reply.text, Unfit(f"the answer was cut off at {cut_off.limit} tokens")
    try:
        return reply.text, _read(task, given, shown, reply.text)
    except Unfit as unfit:
        return reply.text, unfit


def _read(task: JudgeTask[G, T], given: G, shown: str, answer: str) -> T:
    """Read what an answer means. Small models give the prompt's example back: its people are nobody's memory.

    Raises:
        Unfit: it is not sound.
    """
    value = fitting(answer, task.schema)
    given_back = [text for text in _telling(value) if text in _example(task.instruction)]
    data = _words(shown) if given_back else frozenset()
    if copied := [text for text in given_back if not data.issuperset(_words(text))]:
        raise Unfit(f"{copied[0]!r} stands in the example and not in the data")
    return task.sound(given, value)


def _words(text: str) -> frozenset[str]:
    """The words of a text; of Chinese the characters, for its tokens are these and their pairs."""
    tokens = frozenset(tokenise(text))
    return frozenset(token for token in tokens if len(token) == 1 or not tokens.issuperset(token))


def _telling(value: object) -> Iterator[str]:
    """Yield the texts of an answer that are no mere keyword, its reasoning aside."""
    if isinstance(value, str):
        if len(value) >= _TELLING and not (value.isascii() and value == value.lower()):
            yield value
    elif isinstance(value, Mapping):
        yield from (text for name, part in value.items() if name != "reasoning" for text in _telling(part))
    elif isinstance(value, list):
        yield from (text for part in value for text in _telling(part))


@cache
def _example(prompt: str) -> frozenset[str]:
    """The texts of the answer with which a prompt ends; none where it ends with no answer."""
    try:
        return frozenset(_telling(json.loads(prompt.rpartition("\n")[2])))
    except ValueError:
        return frozenset()


@cache
def _prompt(name: str) -> str:
    return _prompt_file(name).read_text("utf-8").strip()


def _prompt_file(name: str) -> Traversable:
    return resources.files("mnemic.strategies").joinpath(f"prompts/{name}.md")
