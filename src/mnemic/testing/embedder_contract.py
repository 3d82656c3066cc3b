"""The contract of embedders as tests: what each of them promises, one sentence to a test.

An embedder proves itself with one import and one fixture, in a test file of its own::

    from mnemic.testing.embedder_contract import *


    @pytest.fixture
    def embedder():
        return MyEmbedder()
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from mnemic.models.base import Embedder

TOLERANCE = 1e-4
"""How far two vectors of one text may be apart."""

TEXTS = (
    "Ana: I started cello lessons in May.",
    "我妹妹在上海学大提琴。",
    "ok",
    "The boiler was replaced on 3 March; the invoice is in the blue folder, and the guarantee runs for five years.",
    "def area(r): return 3.14159 * r ** 2",
    "🎻 café\tnaïve\n\nΩ — “quotes” №5",
)

ODD = ("", " ", "\n\t", "\x00", "a\x00b", "\ud800", "\u2581\u2581", "🧑‍🧑‍🧒", "a" * 600, "\u0301" * 50)
"""Texts that nobody should write, and somebody will."""


def _apart(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.abs(one - other).max())


def test_rows_are_single_precision_of_unit_length_and_one_for_each_text(embedder: Embedder) -> None:
    vectors = embedder.passages(TEXTS)
    assert vectors.shape == (len(TEXTS), embedder.dims)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-4)


def test_a_question_has_one_vector_of_unit_length(embedder: Embedder) -> None:
    vector = embedder.query(TEXTS[0])
    assert vector.shape == (embedder.dims,)
    assert vector.dtype == np.float32
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-4)


def test_it_has_a_name_and_a_size(embedder: Embedder) -> None:
    assert embedder.name
    assert embedder.dims > 0


def test_no_texts_have_no_rows(embedder: Embedder) -> None:
    assert embedder.passages([]).shape == (0, embedder.dims)


def test_the_order_of_texts_is_kept_whatever_their_lengths(embedder: Embedder) -> None:
    there, back = embedder.passages(TEXTS), embedder.passages(TEXTS[::-1])
    assert _apart(there, back[::-1]) < TOLERANCE


def test_many_texts_at_once_are_as_one_by_one(embedder: Embedder) -> None:
    single = np.concatenate([embedder.passages([text]) for text in TEXTS])
    assert _apart(embedder.passages(TEXTS), single) < TOLERANCE


def test_a_text_has_the_same_vector_every_time(embedder: Embedder) -> None:
    assert _apart(embedder.query(TEXTS[1]), embedder.query(TEXTS[1])) < TOLERANCE
    twice = embedder.passages([TEXTS[3], TEXTS[3]])
    assert _apart(twice[0], twice[1]) < TOLERANCE


@pytest.mark.parametrize("text", ODD, ids=lambda text: ascii(text[:8]))
def test_odd_texts_have_vectors_too(embedder: Embedder, text: str) -> None:
    for vector in (embedder.query(text), embedder.passages([text, TEXTS[0]])[0]):
        assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-4)


def test_the_end_of_a_long_text_counts(embedder: Embedder) -> None:
    head = "The harbour was quiet and the boats lay still. " * 55
    one, other = embedder.passages([head + "Ana plays the cello. " * 9, head + "价格上涨了百分之三。" * 9])
    assert _apart(one, other) > TOLERANCE


def test_a_text_of_many_pages_has_a_vector(embedder: Embedder) -> None:
    text = "Each morning at seven the ferry leaves. 每天早上七点渡轮出发。" * 40
    assert np.linalg.norm(embedder.passages([text])[0]) == pytest.approx(1, abs=1e-4)


def test_a_passage_is_nearest_to_the_question_in_its_own_words(embedder: Embedder) -> None:
    for number, text in enumerate(TEXTS[:5]):
        assert int((embedder.passages(TEXTS) @ embedder.query(text)).argmax()) == number


def test_many_threads_get_what_one_gets(embedder: Embedder) -> None:
    alone = embedder.passages(TEXTS)
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda _: embedder.passages(TEXTS), range(6)))
        asked = list(pool.map(embedder.query, TEXTS))
    assert max(_apart(alone, vectors) for vectors in together) < TOLERANCE
    assert max(_apart(one, embedder.query(text)) for one, text in zip(asked, TEXTS, strict=True)) < TOLERANCE
