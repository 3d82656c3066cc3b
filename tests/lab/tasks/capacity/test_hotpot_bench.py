"""Facts under a fixed capacity: when questions are asked, what each row may see, and what the checks would catch."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from dataclasses import replace
from pathlib import Path

import pytest

from mnemic.errors import Invalid
from mnemic.lab.kit.log import FORMAT, bench_of, read
from mnemic.lab.tasks.capacity.hotpot_bench import Protocol, bench_hotpot, schedule
from mnemic.lab.tasks.capacity.hotpot_data import Passages, read_passages
from mnemic.lab.tasks.capacity.hotpot_report import (
    BAR,
    COLUMNS,
    LEAST,
    LEVEL,
    WINDOW,
    Capacities,
    Ratio,
    bars,
    notes,
    read_capacities,
    show_capacities,
    tables,
    write_csv,
)

PLACES = ("Vellamo", "Harrow", "Quay", "Oaren", "Tindale", "Morskaya", "Luma", "Pellow", "Sandwick", "Orrin")


def rows() -> list[dict[str, object]]:
    """Ten questions, each with two paragraphs that answer it together and one that does not."""
    return [
        {
            "_id": f"q{n}",
            "question": f"Who skippers the ferry of {place}?",
            "answer": f"Ida {place}son",
            "type": "bridge" if n % 2 else "comparison",
            "supporting_facts": [[place, 0], [f"MS Tern {n}", 0]],
            "context": [
                [place, [f"{place} is an island whose ferry is MS Tern {n}."]],
                [f"Cod {n}", [f"A cod of kind {n} is a fish."]],
                [f"MS Tern {n}", [f"MS Tern {n} is a ferry that Ida {place}son skippers."]],
            ],
        }
        for n, place in enumerate(PLACES)
    ]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("hotpot") / "hotpot_small.json"
    path.write_text(json.dumps(rows()))
    return path


@pytest.fixture(scope="module")
def passages(file: Path) -> Passages:
    return read_passages(file)


@pytest.fixture(scope="module")
def log(file: Path) -> Path:
    return bench_hotpot(
        file,
        out=file.parent / "runs",
        protocol=Protocol(lag=3, law="fixed"),
        capacities=("5", "9", "12"),
        policies=("lru", "arc"),
        checks=True,
    )


@pytest.fixture(scope="module")
def made(log: Path) -> Capacities:
    return read_capacities(log)


def test_a_question_is_asked_so_many_questions_after_its_own_paragraphs(passages: Passages) -> None:
    planned = schedule(passages, Protocol(lag=3, law="fixed"))
    assert [(seen, question.id) for seen, question in planned.asks] == [(12 + 3 * n, f"q{n}") for n in range(7)]
    now = schedule(passages, Protocol(lag=0, law="fixed"))
    assert [seen for seen, _ in now.asks] == [3 * n for n in range(1, 11)]


def test_spread_lags_lie_between_none_and_twice(passages: Passages) -> None:
    for seed in range(20):
        for seen, question in schedule(passages, Protocol(lag=2, seed=seed)).asks:
            assert 0 <= seen - 3 * (1 + int(question.id[1:])) <= 4 * 3


def test_before_its_paragraphs_nothing_of_them_has_come(passages: Passages) -> None:
    planned = schedule(passages, Protocol(before=True))
    place = {doc.id: at for at, doc in enumerate(planned.docs)}
    assert len(planned.asks) == 10
    assert all(place[one] >= seen for seen, question in planned.asks for one in question.gold)


def test_in_any_order_the_same_paragraphs_come(passages: Passages) -> None:
    planned = schedule(passages, Protocol(order="shuffled", seed=1))
    assert planned.docs != passages.docs
    assert set(planned.docs) == set(passages.docs)
    place = {doc.id: at for at, doc in enumerate(planned.docs)}
    assert all(place[one] < seen for seen, question in planned.asks for one in passages.needed[question.id])


def test_a_window_finds_what_lies_in_it_and_mnemic_what_it_was_told(made: Capacities) -> None:
    assert made.whole.found.mean == 1
    assert made.alone[WINDOW, 5].found.mean == 0  # nine paragraphs have come since
    assert made.alone[WINDOW, 9].found.mean == 0
    assert made.alone[WINDOW, 12].found.mean == 1
    assert made.alone["belady", 5].found.mean > 0
    assert made.headline in (5, 12)
    assert math.isinf(made.ratios[5].value)
    assert made.ratios[12].value == 1


def test_what_an_answer_brings_was_there_or_is_a_fault(made: Capacities, log: Path) -> None:
    answered = sum(len(answer.ranked[:5]) for answer in read(log).answers["mnemic"])
    for (policy, _), paged in made.paged.items():
        assert paged.hits + paged.faults == answered
        assert paged.of_belady <= 1 or policy == "belady"
    assert made.paged["belady", 5].hits >= made.paged["lru", 5].hits
    lru = made.paged["lru", 5]
    assert lru.evictions == 30 + lru.faults - 5  # all that came, twice what came back, less what stays


def test_every_check_holds(made: Capacities) -> None:
    assert len(made.checks) == 4
    assert all(held for _, held, _ in made.checks), made.checks
    assert tables(made)[-1].title.startswith("3. ")


def test_a_leak_would_be_seen(log: Path, tmp_path: Path) -> None:
    leaking = tmp_path / "leak.jsonl"
    records = [json.loads(line) for line in log.read_text().splitlines()]
    for record in records:
        if record.get("system") == "before: mnemic":
            record["ranked"] = record["gold"]
        if record.get("system") == "lru alone @ 30":
            record["ranked"] = []
    leaking.write_text("".join(json.dumps(record) + "\n" for record in records))
    held = {what.split(":")[0]: held for what, held, _ in read_capacities(leaking).checks}
    assert not held["asked before its paragraphs"]
    assert not held["room for everything"]


def test_figures_are_told_in_every_form(made: Capacities, tmp_path: Path) -> None:
    lines = list(csv.DictReader(write_csv(made, tmp_path / "figures.csv").read_text().splitlines()))
    assert tuple(lines[0]) == COLUMNS
    assert len(lines) == 1 + len(made.alone)
    assert {line["mnemic_over_it"] for line in lines if line["capacity"] == "5"} == {""}
    for form in (None, "markdown", "json"):
        told = io.StringIO()
        show_capacities(made, told, form)
        assert "lru" in told.getvalue()
    assert json.loads(told.getvalue())["checks"][0]["holds"]
    enough = replace(made, whole=replace(made.whole, found=replace(made.whole.found, n=LEAST)))
    assert any("more than MemorySpace's" in note for note in notes(enough))
    assert any("cut short" in note for note in notes(replace(made, complete=False)))


def test_the_log_is_one_of_ours(log: Path) -> None:
    assert bench_of(log) == "hotpot"
    systems = read(log).answers.keys()
    assert {"mnemic", "sliding window alone @ 5", "before: mnemic", "shuffled: reservoir alone @ 30"} <= systems


def test_sentences_are_pages_too(file: Path) -> None:
    where = bench_hotpot(
        file, out=file.parent / "sentences.jsonl", protocol=Protocol(lag=0), capacities=("6",), policies=(), limit=4,
        unit="sentence",
    )  # fmt: skip
    assert read_capacities(where).whole.found.mean == 1


def test_options_that_there_are_not(file: Path, tmp_path: Path) -> None:
    for wrong in ({"law": "often"}, {"order": "reversed"}, {"lag": -1}):
        with pytest.raises(Invalid):
            Protocol(**wrong)
    with pytest.raises(Invalid, match="longer than the 10 questions"):
        bench_hotpot(file, out=tmp_path, protocol=Protocol(lag=50, law="fixed"))
    other = tmp_path / "other.jsonl"
    other.write_text(f'{{"kind": "run", "format": {FORMAT}}}\n')
    with pytest.raises(Invalid, match="not the log of a capacity run"):
        read_capacities(other)


def test_an_interval_that_cannot_be_had_is_said_so(made: Capacities) -> None:
    assert math.isnan(made.ratios[5].low)
    assert math.isnan(made.ratios[5].high)
    few = replace(made, headline=5)
    assert any("no interval: n too small (7)" in note for note in notes(few))
    for form in (None, "markdown", "json"):
        told = io.StringIO()
        show_capacities(few, told, form)
        assert not re.search(r"\d{20}|nan|inf\b", told.getvalue())
    assert json.loads(told.getvalue())["ratios"]["5"] == {"value": None, "low": None, "high": None}


@pytest.mark.parametrize(("ratio", "met"), [(1.34, True), (1.2, False)])
def test_the_bar_is_over_a_window_that_finds_what_the_papers_found(made: Capacities, ratio: float, met: bool) -> None:
    usual = {"lag": 10, "law": "spread", "order": "file", "unit": "paragraph"}
    window = made.alone[WINDOW, 9]
    level = replace(window, found=replace(window.found, mean=LEVEL + 0.05))
    as_stated = replace(
        made,
        header={**made.header, "protocol": usual},
        headline=9,
        whole=replace(made.whole, found=replace(made.whole.found, n=LEAST)),
        alone={**made.alone, (WINDOW, 9): level},
        ratios={9: Ratio(value=ratio, low=1.0, high=2.0)},
    )
    (figure,) = bars(as_stated)
    assert (figure.value, figure.bar, figure.met) == (ratio, BAR, met)
    assert bars(replace(as_stated, header=made.header)) == []
    low = replace(window, found=replace(window.found, mean=LEVEL - 0.2))
    assert bars(replace(as_stated, alone={**made.alone, (WINDOW, 9): low})) == []
    (few,) = bars(replace(as_stated, whole=made.whole))
    assert (few.value, few.bar, few.met) == (ratio, None, None)
    assert few.detail == f"bar {BAR} is stated from {LEAST} questions on, here 7"
    assert any(few.detail in note for note in notes(replace(as_stated, whole=made.whole)))


def test_a_picture_is_drawn(made: Capacities, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from mnemic.lab.tasks.capacity.capacity_plots import draw_capacities

    drawn = draw_capacities(made, tmp_path)
    assert [path.name for path in drawn] == ["hotpot-hotpot_small.svg"]
