"""A JSON file that was cut short is read up to the cut, wherever that is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mnemic.errors import Invalid
from mnemic.lab.kit.datasets import load, whole_before_the_cut

WHOLE: dict[str, Any] = {"a": [1, {"b": 'quoted "x", [y]'}], "c": {"d\\": [], "e": "five"}, "f": "last"}


def held(part: Any, whole: Any) -> bool:
    """Whether a value is the beginning of another."""
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(key in whole and held(part[key], whole[key]) for key in part)
    if isinstance(part, list):
        return isinstance(whole, list) and all(held(*pair) for pair in zip(part, whole, strict=False))
    return bool(part == whole)


def test_every_cut_gives_the_beginning_of_the_whole_or_nothing() -> None:
    text = json.dumps(WHOLE)
    read = [whole_before_the_cut(text[:end]) for end in range(len(text))]
    values = [json.loads(closed) for closed in read if closed is not None]
    assert all(held(value, WHOLE) for value in values)
    sizes = [len(json.dumps(value)) for value in values]
    assert sizes == sorted(sizes)
    assert values[-1] == {key: value for key, value in WHOLE.items() if key != "f"}
    assert read[0] is None


@pytest.mark.parametrize("text", ['{"a": 1]', "[1, 2} 3, [", "[1 2, 3"])
def test_what_is_broken_and_not_cut_is_not_mended(text: str) -> None:
    assert whole_before_the_cut(text) is None


def test_a_locomo_file_that_was_cut_short_keeps_what_stands_before(tmp_path: Path) -> None:
    turns = [{"speaker": "Ada", "dia_id": f"D1:{n}", "text": f"word{n} of the day"} for n in range(1, 9)]
    sample = {"sample_id": "ada", "conversation": {"session_1": turns}, "qa": []}
    path = tmp_path / "locomo.json"
    path.write_text(json.dumps([{**sample, "sample_id": "bo"}, sample])[:-180])
    data = load(path)
    assert [corpus.ns for corpus in data.corpora] == ["bo", "ada"]
    assert 0 < len(data.corpora[1].docs) < len(turns)
    assert [(fault.where, fault.what) for fault in data.faults][:1] == [("the end", "the file was cut short")]
    path.write_text(json.dumps([sample])[:60])
    with pytest.raises(Invalid, match="holds no document"):
        load(path)
