"""Questions before backlog, repeated questions for nothing."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from mnemic.errors import ModelError
from mnemic.models import calling
from mnemic.models.base import Embedder, PassageReading
from mnemic.models.calling import Embedding
from mnemic.models.scripted_embedder import ScriptedEmbedder
from mnemic.testing.embedder_contract import *  # noqa: F403
from patience import PATIENCE


@pytest.fixture
def embedder() -> Embedder:
    return Embedding(ScriptedEmbedder())


class Watched(ScriptedEmbedder):
    """Tells what it is asked, and stays in a call for as long as its gate is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[str | int] = []
        self.gate = threading.Event()
        self.gate.set()
        self.inside = threading.Event()

    def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.calls.append(len(texts))
        self.inside.set()
        return super().passages(texts)

    def query(self, text: str) -> NDArray[np.float32]:
        self.calls.append(text)
        self.inside.set()
        self.gate.wait(PATIENCE)
        return super().query(text)


def test_a_backlog_goes_in_slices_and_comes_whole() -> None:
    watched = Watched()
    texts = [f"text number {n}" for n in range(500)]
    vectors = Embedding(watched, slice_seconds=1e-9).passages(texts)
    assert np.array_equal(vectors, ScriptedEmbedder().passages(texts))
    assert len(watched.calls) > 10
    assert watched.calls[-1] == 1


def test_slices_grow_with_the_speed() -> None:
    watched = Watched()
    Embedding(watched, slice_seconds=3_600).passages([f"text number {n}" for n in range(2_000)])
    sizes = [n for n in watched.calls[:-1] if isinstance(n, int)]
    assert sizes == sorted(sizes)
    assert sizes[-1] > 2 * sizes[0]


def questioned() -> tuple[Watched, Embedding, threading.Thread]:
    """An embedder in the middle of a question, until its gate is set, and the thread that asks."""
    watched = Watched()
    embedding = Embedding(watched)
    watched.gate.clear()
    asking = threading.Thread(target=embedding.query, args=("who?",))
    asking.start()
    assert watched.inside.wait(PATIENCE)
    return watched, embedding, asking


def test_no_slice_is_begun_while_a_question_is_being_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calling, "PATIENCE_SECONDS", PATIENCE)
    watched, embedding, asking = questioned()
    backlog = threading.Thread(target=embedding.passages, args=(["one"],))
    backlog.start()
    backlog.join(0.1)
    assert watched.calls == ["who?"]
    watched.gate.set()
    backlog.join(PATIENCE)
    asking.join(PATIENCE)
    assert watched.calls == ["who?", 1]


def test_a_question_does_not_wait_for_a_backlog() -> None:
    class Stuck(Watched):
        def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
            self.inside.set()
            self.gate.wait(PATIENCE)
            return super().passages(texts)

        def query(self, text: str) -> NDArray[np.float32]:
            return ScriptedEmbedder.query(self, text)

    stuck = Stuck()
    stuck.gate.clear()
    embedding = Embedding(stuck)
    backlog = threading.Thread(target=embedding.passages, args=(["one"],))
    backlog.start()
    assert stuck.inside.wait(PATIENCE)
    assert embedding.query("who?").shape == (256,)
    stuck.gate.set()
    backlog.join(PATIENCE)


def test_a_repeated_question_is_not_asked_again() -> None:
    watched = Watched()
    embedding = Embedding(watched, questions_kept=2)
    for text in ("a", "b", "a", "c", "a", "b"):
        assert np.array_equal(embedding.query(text), ScriptedEmbedder().query(text))
    assert watched.calls == ["a", "b", "c", "b"]


def test_a_remembered_vector_cannot_be_spoilt() -> None:
    embedding = Embedding(ScriptedEmbedder())
    with pytest.raises(ValueError, match="read-only"):
        embedding.query("who?")[0] = 7


def test_a_remote_embedder_is_handed_everything_at_once() -> None:
    watched = Watched()
    watched.remote = True  # type: ignore[attr-defined]
    Embedding(watched, slice_seconds=1e-9).passages(["text"] * 500)
    assert watched.calls == [500]


def test_an_error_leaves_the_embedding_usable() -> None:
    class Failing(Watched):
        def query(self, text: str) -> NDArray[np.float32]:
            if text == "bad":
                raise ModelError("no")
            return super().query(text)

    embedding = Embedding(Failing())
    with pytest.raises(ModelError):
        embedding.query("bad")
    assert embedding.passages(["one"]).shape == (1, 256)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_child_forked_in_the_middle_of_a_question_can_ask() -> None:
    watched, embedding, asking = questioned()
    if (child := os.fork()) == 0:
        watched.gate.set()
        good = embedding.passages(["one"]).shape == (1, 256) and embedding.query("why?").shape == (256,)
        os._exit(0 if good else 1)
    watched.gate.set()
    asking.join(PATIENCE)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_what_is_compared_again_is_not_embedded_again_until_it_is_forgotten() -> None:
    watched = Watched()
    embedding = Embedding(watched, questions_kept=2)
    first = embedding.compared(["a", "b", "a"])
    again = embedding.compared(["b"])
    assert watched.calls == [2]
    assert np.array_equal(first[1], again[0])
    assert np.array_equal(first[0], first[2])
    embedding.compared(["c", "d"])
    embedding.forget()
    embedding.compared(["c"])
    assert watched.calls == [2, 2, 1]


class Layered(Watched):
    """Has an earlier layer, whose vectors are those of the text written backwards."""

    def intermediate(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self.passages([text[::-1] for text in texts])


def test_vectors_of_an_earlier_layer_are_kept_apart_from_those_of_the_last() -> None:
    embedding = Embedding(Layered())
    last, early = embedding.compared(["step"]), embedding.compared(["step"], PassageReading.INTERMEDIATE)
    assert np.array_equal(early[0], embedding.compared(["pets"])[0])
    assert not np.array_equal(early[0], last[0])


def test_an_embedder_without_an_earlier_layer_has_no_vectors_of_one() -> None:
    watched = Watched()
    assert Embedding(watched).compared(["a"], PassageReading.INTERMEDIATE) == []
    assert watched.calls == []


class Telling(Watched):
    """Tells so many numbers beside each vector."""

    told = 8

    def passages_with_traits(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.pad(self.passages(texts), ((0, 0), (0, self.told)), constant_values=0.5)


def test_what_an_embedder_tells_of_passages_stands_behind_their_vectors() -> None:
    vectors = Embedding(Telling(), slice_seconds=1e-9).passages_with_traits(["a", "b"])
    assert np.array_equal(vectors[:, :-8], ScriptedEmbedder().passages(["a", "b"]))
    assert (vectors[:, -8:] == 0.5).all()


def test_an_embedder_that_tells_nothing_has_vectors_all_the_same() -> None:
    assert np.array_equal(Embedding(Watched()).passages_with_traits(["a"]), ScriptedEmbedder().passages(["a"]))
    silent = Telling()
    silent.told = 0
    assert np.array_equal(Embedding(silent).passages_with_traits(["a"]), ScriptedEmbedder().passages(["a"]))


def test_an_embedder_that_tells_other_than_eight_numbers_failed() -> None:
    talkative = Telling()
    talkative.told = 9
    with pytest.raises(ModelError, match="was asked for"):
        Embedding(talkative).passages_with_traits(["a"])
