"""The bench of needles measures what it says: texts hold their needles, notes are scored by what they cite."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from mnemic.core.tokens import count_tokens
from mnemic.errors import Invalid
from mnemic.lab.kit.log import Log
from mnemic.lab.tasks.needles_bench import CASES, NeedleCase, NeedlePlan, bench_needles, bench_packed, one_look, text_of
from mnemic.lab.tasks.needles_report import (
    NeedleReading,
    cost_by_length,
    keep_needles,
    kept_by_depth,
    kept_by_length,
    kept_needles,
    needle_rows,
    needles_json,
    read_needles,
    table,
    write_needles_page,
)
from mnemic.strategies.memagent import TextStretch, pieces_of


@pytest.mark.parametrize("kind", CASES)
def test_a_text_holds_each_needle_once_in_order_and_is_the_same_for_one_seed(kind: str) -> None:
    case = CASES[kind](random.Random(1))
    text = "".join(text_of(case, 4_000, 1))
    assert text == "".join(text_of(case, 4_000, 1)) != "".join(text_of(case, 4_000, 2))
    assert 3_900 < count_tokens(text) < 4_200
    places = [text.index(needle) for needle in case.needles]
    assert places == sorted(places)
    assert all(text.count(needle) == 1 for needle in case.needles)
    assert all(any(value in needle for needle in case.needles) for value in case.values)


def test_one_look_chooses_by_words_and_within_the_budget() -> None:
    text = "The old vault opens at nine. The sea is blue. The vault of the museum opens with 4711."
    pieces = list(pieces_of([TextStretch(text, "s")]))
    assert [piece.text for piece in one_look("What opens the museum vault?", lambda: pieces, 12)] == [pieces[2].text]
    assert one_look("Who?", lambda: pieces) == []


def test_what_nobody_states_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    lost = NeedleCase("lost", "Where is the amber crown of Ulm?", ("Zed zed.",), ("zed",))
    monkeypatch.setitem(CASES, "lost", lambda _: lost)  # type: ignore[misc, arg-type]
    (row,) = bench_needles(NeedlePlan(lengths=(600,), kinds=("lost",)))
    assert (row.rules, row.one_look, row.model, row.answered) == (0.0, 0.0, 1.0, 1.0)
    with pytest.raises(Invalid, match="'nix' is none"):
        NeedlePlan(kinds=("nix",))


def test_passages_are_packed_and_scored_by_those_that_are_cited(tmp_path: Path) -> None:
    docs = [("p0", "Tower", "The Tower of Lund was built by Jon Ek."), ("p1", "Jon Ek", "Jon Ek was born in Oslo.")]
    docs += [(f"p{n}", f"Title {n}", f"Passage {n} speaks of the weather, bread and cheese.") for n in range(2, 60)]
    records: list[dict[str, object]] = [
        {"type": "doc", "ns": "x", "id": id, "session": title, "pos": 0, "ts": "", "speaker": title, "text": text}
        for id, title, text in docs
    ]
    asked = {"text": "Where was the builder of the Tower of Lund born?", "answer": "Oslo", "category": "bridge"}
    records.append({"type": "query", "ns": "x", "id": "q", "gold": ["p0", "p1"], "gold_sessions": [], **asked})
    file = tmp_path / "questions.jsonl"
    file.write_text("\n".join(map(json.dumps, records)))
    (row,) = bench_packed(file, [500])
    assert (row.rules, row.texts, row.model) == (1.0, 1, None)
    shown = table("Kept", [row])
    assert [len(one) for one in shown.rows] == [len(shown.columns)]
    assert shown.rows[0][4] == "100.0"


@pytest.mark.parametrize("depth", [0.0, 0.25, 1.0])
def test_a_needle_that_is_alone_stands_as_deep_as_it_is_asked_for(depth: float) -> None:
    case = CASES["multi-key"](random.Random(1))
    text = "".join(text_of(case, 8_000, 1, depth))
    assert text.count(case.needles[0]) == 1
    before = count_tokens(text[: text.index(case.needles[0])]) / count_tokens(text)
    assert before == pytest.approx(depth, abs=0.01)


def test_depths_are_of_kinds_with_one_needle_and_lie_within_a_text() -> None:
    plan = NeedlePlan(lengths=(2_000, 1_000), kinds=("single", "variables"), depths=(0.0, 1.0), texts=2)
    texts = list(plan.each())
    assert {(kind, depth) for kind, _, depth, _ in texts} == {("single", 0.0), ("single", 1.0), ("variables", None)}
    assert len(texts) == 2 * (2 * 2 + 2)
    assert [tokens for _, tokens, _, _ in texts] == sorted(tokens for _, tokens, _, _ in texts)
    with pytest.raises(Invalid, match="150 % lies outside"):
        NeedlePlan(depths=(1.5,))


def test_what_was_read_stands_in_a_log_and_its_figures_come_from_there(tmp_path: Path) -> None:
    plan = NeedlePlan(lengths=(600,), kinds=("single",), depths=(0.0, 1.0), by_rules=True)
    with Log(tmp_path / "needles.jsonl") as log:
        made = bench_needles(plan, log=log)
    header, readings = read_needles(tmp_path / "needles.jsonl")
    assert readings == made
    assert [(reading.depth, reading.rules, reading.model) for reading in made] == [(0.0, 1.0, None), (1.0, 1.0, None)]
    assert all(reading.seconds > 0 for reading in made)
    kept = needles_json(header, readings)
    assert (kept["task"], kept["seed"]) == ("needles", 0)
    page = write_needles_page(header, readings, tmp_path / "needles.html").read_text("utf-8")
    assert page.count("<svg") == 3
    again = NeedlePlan(lengths=(900,), kinds=("single",), by_rules=True)
    with Log(tmp_path / "longer.jsonl") as log:
        bench_needles(again, log=log)
    for name in ("longer", "needles"):
        file = keep_needles(tmp_path / f"{name}.jsonl", tmp_path / "kept")
    held = json.loads(file.read_text("utf-8"))
    assert [(row["tokens"], row["depth"]) for row in held["rows"]] == [(600, 0.0), (600, 1.0), (900, None)]
    assert kept_needles(held).rows[0][:4] == ("single", "2/1", "100", "100")
    file.write_text(json.dumps({**held, "seed": 7}))
    keep_needles(tmp_path / "longer.jsonl", tmp_path / "kept")
    assert len(json.loads(file.read_text("utf-8"))["rows"]) == 1, "figures of another seed do not stand beside"
    with Log(tmp_path / "other.jsonl") as log:
        log.header(bench="stream")
    with pytest.raises(Invalid, match="no log of `bench needles`"):
        read_needles(tmp_path / "other.jsonl")


def test_rows_put_texts_of_one_kind_length_and_depth_together_or_all_depths() -> None:
    readings = [
        NeedleReading(kind="single", tokens=tokens, read=tokens, rules=rules, seconds=tokens * cost, depth=depth)
        for tokens, depth, rules, cost in (
            (8_000, 0.0, 1.0, 6e-6), (8_000, 1.0, 0.0, 8e-6), (4_000_000, 0.0, 1.0, 7e-6), (4_000_000, 1.0, 1.0, 7e-6),
        )
    ]  # fmt: skip
    assert [(row.depth, row.rules) for row in needle_rows(readings)] == [(0.0, 1.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0)]
    short, long = needle_rows(readings, by_depth=False)
    assert (short.texts, short.rules, short.depth) == (2, 0.5, None)
    assert short.seconds == pytest.approx(7.0) == long.seconds
    assert "8k: 50.0, 4m: 100.0" in kept_by_length([short, long])
    assert "8k: 7.0, 4m: 7.0" in cost_by_length([short, long])
    depths = kept_by_depth(needle_rows(readings))
    assert "0 %: 100.0, 100 %: 0.0" in depths
    assert "4,000,000 tokens" in depths
    assert kept_by_depth([short]) == "" == kept_by_length([])
