"""LoCoMo's observations answer for a model: each where its turn is shown, with the turns that it rests on."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import pytest

from mnemic.errors import Invalid
from mnemic.lab.kit.datasets import Dataset, load
from mnemic.lab.kit.locomo_observations import NAME, observing_reader, read_observations
from mnemic.lab.tasks.strategies_bench import bench_strategies, reader_of
from mnemic.lab.tasks.strategies_report import read_strategies
from mnemic.models.chat.base import Ask, ChatMessage, reply_of
from mnemic.models.chat.soundness import fitting
from mnemic.settings import Settings
from mnemic.strategies.judging import JudgeTask
from mnemic.strategies.knowledge import Episode, Passage
from mnemic.strategies.mem0 import Mem0
from mnemic.strategies.tasks.extracting import EXTRACT_ITEMS
from mnemic.strategies.tasks.graph_resolution import EXTRACT_FACTS
from mnemic.strategies.units import TurnUnit, Unit

G = TypeVar("G")
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Each(Mem0):
    """`mem0`, a turn at a time, so that few turns are read to the last."""

    unit: Unit = TurnUnit()  # noqa: RUF009 - it is frozen


@pytest.fixture
def observed_file() -> Path:
    return Path(__file__).parent.parent / "observed_people.json"


@pytest.fixture
def observed(observed_file: Path) -> Dataset:
    return load(observed_file)


def passages(dataset: Dataset, *ids: str) -> tuple[Passage, ...]:
    docs = {doc.id: doc for doc in dataset.corpora[0].docs}
    return tuple(Passage(docs[id].text, docs[id].speaker, docs[id].said) for id in ids)


def answer(task: JudgeTask[G, T], given: G, file: Path, dataset: Dataset) -> T:
    """What the task takes the reader's answer for."""
    reader = observing_reader(dataset, read_observations(file, dataset))
    ask = Ask((ChatMessage("user", task.show(given)),), task.limit, task.schema, task.id)
    return task.sound(given, fitting(reply_of(reader.stream(ask)).text, task.schema))


def test_observations_are_read_with_their_turns_and_those_of_no_turn_are_counted(
    observed_file: Path, observed: Dataset
) -> None:
    read = read_observations(observed_file, observed)
    assert [(one.speaker, one.turns) for one in read.by_ns["pair-1"]] == [
        ("Noor", ("D1:1",)), ("Noor", ("D1:1", "D1:3")), ("Iker", ("D1:2",)), ("Noor", ("D2:2",)),
    ]  # fmt: skip
    assert read.dropped == 1


def test_a_fact_is_answered_where_its_last_turn_is_shown_and_cites_what_is_shown_beside_it(
    observed_file: Path, observed: Dataset
) -> None:
    def facts(*ids: str) -> list[tuple[str, tuple[int, ...]]]:
        found = answer(EXTRACT_ITEMS, passages(observed, *ids), observed_file, observed)
        return [(one.text, one.source) for one in found]

    bowl = "Noor glazed a blue bowl in the class."
    assert facts("D1:1") == [("Noor takes a pottery class on Tuesdays.", (0,))]
    assert facts("D1:3") == [(bowl, (0,))]
    assert facts("D1:1", "D1:2", "D1:3")[-1] == (bowl, (2, 0))
    assert facts("D2:1") == []


def test_a_relation_is_the_statement_split_behind_the_speakers_name(observed_file: Path, observed: Dataset) -> None:
    given = Episode((), passages(observed, "D1:2", "D2:2"))
    found = answer(EXTRACT_FACTS, given, observed_file, observed)
    assert [(one.subject, one.predicate, one.object, one.source) for one in found] == [
        ("Iker", "said", "His sister Ane moved to Bergen on 2 February 2024", 0),
        ("Noor", "gave", "up pottery because of her wrist", 1),
    ]


def test_a_strategy_that_reads_by_them_finds_the_evidence_by_its_own_recall(
    observed_file: Path, tmp_path: Path
) -> None:
    model = reader_of("observations", observed_file, Settings())
    report = read_strategies(
        bench_strategies(observed_file, out=tmp_path, mixtures=["test_locomo_observations:Each", "zep"], model=model)
    )
    assert report.header["effective"]["model"] == NAME
    found = {row.by: row.scores["R@5"].mean for row in report.found}
    assert found["mem0"] == found["zep"] == 1
    (each,) = (row for row in report.costs if row.mixture == "mem0")
    assert (each.by_rules, each.derived) == (0, {"mem0": 4})


@pytest.mark.parametrize("record", [[{"conversation": {}, "qa": []}], {"observation": 1}, [3]])
def test_a_file_without_observations_is_refused(record: object, tmp_path: Path, observed: Dataset) -> None:
    path = tmp_path / "other.json"
    path.write_text(json.dumps(record))
    with pytest.raises(Invalid, match="observations"):
        read_observations(path, observed)
    with pytest.raises(Invalid, match="LoCoMo file"):
        reader_of("observations", None, Settings())
