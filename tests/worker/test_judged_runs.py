"""Strategies whose tasks are judged, in an open store: what is recorded, counted, asked side by side, and by rules."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

import pytest

from mnemic import Memory
from mnemic.core.items import Kind
from mnemic.core.queries import Filter
from mnemic.errors import Conflict, ModelError
from mnemic.faces.cli.commands import top
from mnemic.flow import Flow
from mnemic.models.chat.base import Ask, CutOff, Pieces, estimated_reply
from mnemic.settings import Settings
from mnemic.strategies.base import Budget, Derivation, Edits, Given, nothing
from mnemic.strategies.judging import judged, judged_each
from mnemic.strategies.knowledge import StatedFact, passage_of
from mnemic.strategies.tasks.extracting import EXTRACT_ITEMS
from mnemic.strategies.triggers import EachEvent, Trigger
from patience import PATIENCE

QUIET: Any = {"background": False, "embedder": "none"}
FACTS = Filter(kinds=(Kind.FACT,))
LISBON = "I moved to Lisbon in March."


class Stating:
    """Writes the facts of all turns of a run, judged together."""

    name: ClassVar[str] = "stating"
    by: ClassVar[str] = "stating"
    reads: ClassVar[frozenset[Kind]] = frozenset({Kind.TURN})
    triggers: ClassVar[tuple[Trigger, ...]] = (EachEvent(),)
    maintain: ClassVar[tuple[Trigger, ...]] = ()
    budget: ClassVar[Budget] = Budget(calls=20)
    batch: ClassVar[int] = 8
    on_maintain = nothing

    def on_write(self, given: Given) -> Flow[Edits]:
        facts = yield from judged(EXTRACT_ITEMS, tuple(map(passage_of, given.evidence)))
        return Edits(write=tuple(self._written(given, n, fact) for n, fact in enumerate(facts)))

    def _written(self, given: Given, n: int, fact: StatedFact) -> Derivation:
        sources = [given.evidence[place] for place in fact.source]
        return Derivation(
            key=f"{self.name}:{sources[0].id}:{n}",
            kind=Kind.FACT,
            text=fact.text,
            slots={"by": self.by},
            source=tuple(item.id for item in sources),
            said=sources[0].said,
            valid_from=fact.since,
        )


class StatingEach(Stating):
    """Writes the facts of each turn, judged side by side."""

    name = by = "stating_each"

    def on_write(self, given: Given) -> Flow[Edits]:
        found = yield from judged_each(EXTRACT_ITEMS, [(passage_of(item),) for item in given.evidence])
        texts = [(item, fact) for item, facts in zip(given.evidence, found, strict=True) for fact in facts]
        return Edits(
            write=tuple(
                Derivation(
                    key=f"{self.name}:{item.id}:{n}",
                    kind=Kind.FACT,
                    text=fact.text,
                    slots={"by": self.by},
                    source=(item.id,),
                    said=item.said,
                )
                for n, (item, fact) in enumerate(texts)
            )
        )


class Frugal(StatingEach):
    """The same, with two calls a run."""

    name = by = "frugal"
    budget: ClassVar[Budget] = Budget(calls=2)


class Told:
    """A model that answers by a function of the question, and counts how many it answers at once."""

    name = "told"

    def __init__(self, answer: Callable[[Ask], str], meet: threading.Barrier | None = None) -> None:
        self.asked: list[Ask] = []
        self._answer, self._meet = answer, meet

    def stream(self, ask: Ask) -> Pieces:
        self.asked.append(ask)
        if self._meet is not None:
            self._meet.wait(PATIENCE)
        text = self._answer(ask)
        yield from filter(None, [text])
        return estimated_reply(ask, self.name, text)


def fact(text: str = "Ada lives in Lisbon.", handle: int = 1) -> str:
    found = {"text": text, "from": [handle], "since": "2024-03", "until": ""}
    return json.dumps({"reasoning": "She says so.", "facts": [found]})


def opened(strategy: type[Stating], model: Any, path: Path | str = "memory:", **more: Any) -> Memory:
    return Memory(path, settings=Settings(**QUIET, **more), strategies=[strategy()], model=model)


def facts(memory: Memory) -> list[str]:
    return sorted(version.item.text for version in memory.scope(user="ada").list(where=FACTS))


def counted(memory: Memory) -> dict[str, float]:
    gauges = memory._opened.meters.measured().gauges
    return {name: value for name, value in gauges.items() if name.startswith("judged.")}


def test_what_a_sound_answer_states_is_written_and_cites_what_it_was_shown() -> None:
    model = Told(lambda ask: fact())
    with opened(Stating, model) as memory:
        me = memory.scope(user="ada")
        turn = me.observe(LISBON, speaker="Ada").ids[0]
        assert memory.flush()
        (version,) = me.list(where=FACTS)
        assert (version.item.text, version.item.source) == ("Ada lives in Lisbon.", (turn,))
        assert counted(memory) == {"judged.extract_items.answer": 1}
    assert len(model.asked) == 1


@pytest.mark.parametrize(
    "bad",
    [
        "",
        "I can't help with that.",
        "{}",
        fact(handle=2),
        fact("x" * 1300),
        "Ada habite à Lisbonne.",
        '{"facts": [{"te',
    ],
)
def test_where_no_answer_is_sound_the_turn_is_kept_and_rules_stand_in_and_are_counted(bad: str) -> None:
    model = Told(lambda ask: bad)
    with opened(Stating, model) as memory:
        me = memory.scope(user="ada")
        me.observe(LISBON, speaker="Ada")
        assert memory.flush()
        assert facts(memory) == ["Ada lives in Lisbon."]
        assert counted(memory) == {"judged.extract_items.rules": 1}
        assert memory.admin.dead() == []
        assert [version.item.text for version in me.list(where=Filter(kinds=(Kind.TURN,)))] == [LISBON]
    assert len(model.asked) == 2


def test_an_answer_that_is_cut_off_is_mended_and_not_a_sick_model() -> None:
    class Cut(Told):
        def stream(self, ask: Ask) -> Pieces:
            if not self.asked:
                self.asked.append(ask)
                raise CutOff(self.name, ask.limit, estimated_reply(ask, self.name, fact()[:40]))
            return (yield from super().stream(ask))

    model = Cut(lambda ask: fact("She moved."))
    with opened(Stating, model) as memory:
        memory.scope(user="ada").observe(LISBON, speaker="Ada")
        assert memory.flush()
        assert facts(memory) == ["She moved."]
        assert counted(memory) == {"judged.extract_items.repair": 1}


def test_only_sound_answers_are_given_again(tmp_path: Path) -> None:
    def told() -> Told:
        answers = iter(["prose", fact("Mended.")])
        return Told(lambda ask: next(answers))

    first, again = told(), told()
    for model in (first, again):
        with opened(Stating, model, tmp_path / "m.db", keep_answers=True) as memory:
            memory.scope(user="ada").observe(LISBON, speaker="Ada", key="once")
            if model is again:
                memory.admin.rerun("stating", user="ada")
            assert memory.flush()
            assert facts(memory) == ["Mended."]
    assert (len(first.asked), len(again.asked)) == (2, 1), "of two answers the prose was not recorded"


def test_without_a_model_rules_are_all_there_is_and_nobody_is_asked() -> None:
    with Memory("memory:", settings=Settings(**QUIET), strategies=[Stating(), StatingEach()]) as memory:
        memory.scope(user="ada").observe([LISBON, "ok"], speaker="Ada")
        assert memory.flush()
        assert facts(memory) == ["Ada lives in Lisbon."] * 2
        assert counted(memory) == {"judged.extract_items.rules_alone": 3}


def test_side_by_side_means_at_the_same_time() -> None:
    meet = threading.Barrier(3)
    with opened(StatingEach, Told(lambda ask: fact(f"Fact {len(ask.messages[1].content)}."), meet)) as memory:
        memory.scope(user="ada").observe(["one turn", "another turn", "and a third turn"], speaker="Ada")
        assert memory.flush()
        assert len(facts(memory)) == 3
        assert meet.n_waiting == 0


def test_one_of_many_that_fails_costs_the_others_no_second_call() -> None:
    sick = [True]

    def answer(ask: Ask) -> str:
        if "another" in ask.messages[1].content and sick:
            raise ModelError("told: 503")
        return fact(ask.messages[1].content.split(": ")[-1].split("\n")[0])

    model = Told(answer)
    with opened(StatingEach, model) as memory:
        memory.scope(user="ada").observe(["one turn", "another turn", "third turn"], speaker="Ada")
        with pytest.raises(ModelError, match="503"):
            memory.flush()
        assert facts(memory) == []
        sick.clear()
        assert memory.flush()
        assert facts(memory) == ["another turn", "one turn", "third turn"]
    assert len(model.asked) == 4


def test_what_is_over_the_budget_of_a_run_goes_by_rules() -> None:
    model = Told(lambda ask: fact("By the model."))
    with opened(Frugal, model) as memory:
        memory.scope(user="ada").observe([LISBON, "I live in Porto.", "I work at Siemens."], speaker="Ada")
        assert memory.flush()
        assert facts(memory) == ["Ada works for Siemens.", "By the model.", "By the model."]
        assert counted(memory) == {"judged.extract_items.answer": 2, "judged.extract_items.rules_by_budget": 1}
    assert len(model.asked) == 2


def test_how_often_rules_stood_in_is_told_in_the_profiler_log_in_figures_and_live(tmp_path: Path) -> None:
    answers = iter(["prose", "prose", "prose", fact(), fact()])
    model, log = Told(lambda ask: next(answers)), tmp_path / "log.jsonl"
    with opened(Stating, model, tmp_path / "m.db", profiler=str(log)) as memory:
        for text in (LISBON, "I live in Porto.", "I work at Siemens."):
            memory.scope(user="ada").observe(text, speaker="Ada")
            assert memory.flush()
        told = memory.admin.vitals()
        assert {name: told.gauge(f"judged.extract_items.{name}") for name in ("answer", "repair", "rules")} == {
            "answer": 1,
            "repair": 1,
            "rules": 1,
        }
        assert top._judged(told).startswith("2 tasks by a model, 1 of them repaired; by rules 1 for")
        spent = [(one.strategy, one.task, one.calls) for one in memory.admin.spending(user="ada")]
        assert spent == [("stating", "extract_items", 5)]
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    judged_lines = [(line["task"], line["by"]) for line in lines if line["verb"] == "(judged)"]
    assert judged_lines == [("extract_items", by) for by in ("rules", "repair", "answer")]


def test_questions_side_by_side_are_metered_each() -> None:
    with opened(StatingEach, Told(lambda ask: fact())) as memory:
        memory.scope(user="ada").observe(["one turn", "another turn", "third turn"], speaker="Ada")
        assert memory.flush()
        assert [one.calls for one in memory.admin.spending(user="ada")] == [3]


def test_a_run_that_is_stopped_amid_its_questions_keeps_the_answers_in_hand() -> None:
    stopping = [True]

    def answer(ask: Ask) -> str:
        if "another" in ask.messages[1].content and stopping:
            stopping.clear()
            raise Conflict("the store is being closed")
        return fact(ask.messages[1].content.split(": ")[-1].split("\n")[0])

    model = Told(answer)
    with opened(StatingEach, model) as memory:
        memory.scope(user="ada").observe(["one turn", "another turn", "third turn"], speaker="Ada")
        with suppress(Conflict):
            memory.flush()
        assert memory.flush()
        assert facts(memory) == ["another turn", "one turn", "third turn"]
    assert len(model.asked) == 4
