"""The bench of needles measures what it says: texts hold their needles, notes are scored by what they cite."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from mnemic.core.tokens import count_tokens
from mnemic.errors import Invalid
from mnemic.lab.tasks.needles_bench import CASES, NeedleCase, bench_needles, bench_packed, one_look, table, text_of
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
    (row,) = bench_needles([600], ["lost"])
    assert (row.rules, row.one_look, row.model, row.answered) == (0.0, 0.0, 1.0, 1.0)
    with pytest.raises(Invalid, match="'nix' is none"):
        bench_needles([600], ["nix"])


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
    assert shown.rows[0][3] == "100.0"
