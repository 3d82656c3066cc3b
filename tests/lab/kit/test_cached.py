"""What was embedded once is not embedded again, by the same embedder, in this run or a later one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from mnemic.lab.kit.cached import CachedEmbedder, vectors_kept
from mnemic.models.base import TRAITS
from mnemic.models.scripted_embedder import ScriptedEmbedder


class Counting(ScriptedEmbedder):
    """Remembers which texts it was asked for."""

    def __init__(self, dims: int = 8) -> None:
        super().__init__(dims)
        self.asked: list[str] = []

    def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked += texts
        return super().passages(texts)

    def query(self, text: str) -> NDArray[np.float32]:
        self.asked.append(f"{text}?")
        return super().query(text)


def test_each_text_is_embedded_once_and_as_what_it_is(tmp_path: Path) -> None:
    inner = Counting()
    cached = CachedEmbedder(inner, tmp_path)
    cached.passages(["tea", "milk", "tea"])
    cached.query("tea")
    again = CachedEmbedder(inner, tmp_path)
    assert np.array_equal(
        again.passages(["milk", "sugar", "tea"]), ScriptedEmbedder(8).passages(["milk", "sugar", "tea"])
    )
    assert np.array_equal(again.query("tea"), ScriptedEmbedder(8).query("tea"))
    assert again.passages([]).shape == (0, 8)
    assert inner.asked == ["tea", "milk", "tea?", "sugar"]


def test_embedders_do_not_share_their_vectors(tmp_path: Path) -> None:
    CachedEmbedder(Counting(), tmp_path).query("tea")
    other = Counting(16)
    assert len(CachedEmbedder(other, tmp_path).query("tea")) == 16
    assert other.asked == ["tea?"]


@pytest.mark.parametrize("lost", [1, 40])
def test_a_record_cut_short_is_embedded_anew(tmp_path: Path, lost: int) -> None:
    CachedEmbedder(Counting(), tmp_path).passages(["tea", "milk"])
    (file,) = tmp_path.iterdir()
    file.write_bytes(file.read_bytes()[:-lost])
    inner = Counting()
    for _ in range(2):
        assert np.array_equal(
            CachedEmbedder(inner, tmp_path).passages(["tea", "milk"]), ScriptedEmbedder(8).passages(["tea", "milk"])
        )
    assert inner.asked == ["milk"]


def test_questions_are_embedded_anew_by_what_reads_them_otherwise(tmp_path: Path) -> None:
    class Reading(Counting):
        questions_read_by = "first"

    CachedEmbedder(Reading(), tmp_path).query("tea")
    again, other = Reading(), Reading()
    other.questions_read_by = "second"
    for inner in (again, other):
        CachedEmbedder(inner, tmp_path).query("tea")
    assert not again.asked
    assert other.asked == ["tea?"]


class Telling(Counting):
    """Tells the traits of passages: those of its own, by which it is known."""

    def __init__(self, traits_read_by: str) -> None:
        super().__init__()
        self.traits_read_by = traits_read_by

    def passages_with_traits(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.pad(self.passages(texts), ((0, 0), (0, len(TRAITS))), constant_values=len(self.traits_read_by))


def test_traits_are_kept_beside_vectors_for_as_long_as_they_are_told_by_the_same(tmp_path: Path) -> None:
    inner = Telling("a")
    CachedEmbedder(inner, tmp_path).passages(["tea"])
    CachedEmbedder(inner, tmp_path).passages_with_traits(["tea", "milk"])
    rows = CachedEmbedder(inner, tmp_path).passages_with_traits(["milk", "tea"])
    assert inner.asked == ["tea", "tea", "milk"]
    assert np.array_equal(rows, inner.passages_with_traits(["milk", "tea"]))
    assert vectors_kept(inner, tmp_path) == 4
    assert (CachedEmbedder(Telling("bb"), tmp_path).passages_with_traits(["tea"])[:, 8:] == 2).all()


def test_traits_by_who_knows_what_are_told_and_not_kept(tmp_path: Path) -> None:
    inner = Telling("")
    for _ in range(2):
        assert CachedEmbedder(inner, tmp_path).passages_with_traits(["tea"]).shape == (1, 8 + len(TRAITS))
    assert inner.asked == ["tea", "tea"]
    assert CachedEmbedder(Counting(), tmp_path).passages_with_traits(["tea"]).shape == (1, 8)
