"""What experiments ask for is what was written: the last value of a key, the last episode, the passkey."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="needs torch: pip install torch==2.13.0")

from mnemic.lab.tasks.neural.infini_attention_experiment import SEGMENT, passkeys  # noqa: E402
from mnemic.lab.tasks.neural.recall_task import ASKED, KEYS, VALUES  # noqa: E402
from mnemic.lab.tasks.neural.titans_experiment import episodes, overwriting  # noqa: E402


@pytest.mark.parametrize("writes", [16, 48, 192])
def test_the_answer_is_the_value_that_was_written_last(writes: int) -> None:
    task = overwriting(writes, 5, torch.Generator().manual_seed(writes))
    assert task.keys.shape == task.values.shape == (5, writes)
    assert task.asked.shape == (5, ASKED)
    for row in range(5):
        assert len(set(task.keys[row].tolist())) == 16
        assert len(set(task.asked[row].tolist())) == ASKED
        last = dict(zip(task.keys[row].tolist(), task.values[row].tolist(), strict=True))
        assert task.answers[row].tolist() == [last[key] for key in task.asked[row].tolist()]


def test_the_last_episode_is_asked_for_and_its_keys_are_its_own() -> None:
    task = episodes(4, 5, torch.Generator().manual_seed(0))
    assert task.keys.shape == (5, 64)
    for row in range(5):
        last = dict(zip(task.keys[row, 48:].tolist(), task.values[row, 48:].tolist(), strict=True))
        assert len(last) == 16
        assert task.answers[row].tolist() == [last[key] for key in task.asked[row].tolist()]


def test_a_passkey_stands_before_the_last_segment_alone_and_is_asked_for_at_the_end() -> None:
    task = passkeys(4, 50, torch.Generator().manual_seed(0))
    assert task.keys.shape == (50, 4 * SEGMENT)
    for keys, values, answer in zip(task.keys.tolist(), task.values.tolist(), task.answers.tolist(), strict=True):
        (at,) = [n for n, value in enumerate(values) if value != VALUES]
        assert at < 3 * SEGMENT
        assert values[at] == answer
        assert [n for n, key in enumerate(keys) if key == keys[-1]] == [at, 4 * SEGMENT - 1]
        assert all(16 <= key < KEYS for n, key in enumerate(keys) if n not in (at, len(keys) - 1))
