"""Questions about a stream: their ages follow the law they say, and they are the same for the same seed."""

from __future__ import annotations

import numpy as np
import pytest

from mnemic.errors import Invalid
from mnemic.lab.tasks.capacity.cues import LAWS, Asker

CHUNKS = [" ".join(f"word{n}x{i}" for i in range(30)) for n in range(1024)]


def ages(law: str, draws: int = 4_000) -> np.ndarray:
    asker = Asker(law, 1)
    return np.array([len(CHUNKS) - asker.ask(CHUNKS, len(CHUNKS)).target for _ in range(draws)])  # type: ignore[union-attr]


def test_a_uniform_age_is_as_likely_as_any_other() -> None:
    drawn = ages("uniform")
    assert np.mean(drawn <= 512) == pytest.approx(0.5, abs=0.03)
    assert drawn.min() >= 1
    assert drawn.max() <= 1024


def test_each_doubling_of_a_recent_age_is_as_likely_as_the_last() -> None:
    drawn = ages("recent")
    shares = [np.mean((drawn >= 2**power) & (drawn < 2 ** (power + 1))) for power in range(10)]
    assert shares == pytest.approx([0.1] * 10, abs=0.03)


def test_again_asks_half_of_the_time_for_what_was_asked_before() -> None:
    asker = Asker("again", 3)
    targets = [cue.target for _ in range(500) if (cue := asker.ask(CHUNKS, len(CHUNKS)))]
    asked_before = np.mean([target in targets[:n] for n, target in enumerate(targets)])
    other = Asker("recent", 3)
    plain = [cue.target for _ in range(500) if (cue := other.ask(CHUNKS, len(CHUNKS)))]
    assert asked_before > np.mean([target in plain[:n] for n, target in enumerate(plain)]) + 0.1


def test_a_question_is_made_of_words_of_its_chunk_some_of_them_dropped() -> None:
    asker = Asker("uniform", 0)
    for _ in range(200):
        cue = asker.ask(CHUNKS, 100)
        assert cue is not None
        words, whole = cue.text.split(), CHUNKS[cue.target].split()
        assert 3 <= len(words) <= 12
        assert [word for word in whole if word in words] == words
        assert cue.target < 100


@pytest.mark.parametrize("law", LAWS)
def test_the_same_seed_asks_the_same(law: str) -> None:
    first, second, other = Asker(law, 1), Asker(law, 1), Asker(law, 2)
    asked = [[asker.ask(CHUNKS, n) for n in range(10, 60)] for asker in (first, second, other)]
    assert asked[0] == asked[1] != asked[2]


def test_chunks_of_too_few_words_are_not_asked_for() -> None:
    assert Asker("uniform", 0).ask(["one two", "three"], 2) is None
    with pytest.raises(Invalid, match="recent, uniform, again"):
        Asker("often", 0)
