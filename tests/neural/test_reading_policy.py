"""The overwriting policy in words: what it chooses and learns from, and a long text read with it."""

from __future__ import annotations

import random
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="needs torch: pip install torch==2.13.0")

from mnemic import Memory  # noqa: E402
from mnemic.errors import Invalid  # noqa: E402
from mnemic.lab.tasks.needles_bench import CASES, text_of  # noqa: E402
from mnemic.lab.tasks.neural.reading_policy_training import NeedleEpisode, learned, rolled_out, taught_by  # noqa: E402
from mnemic.neural.overwrite_rl import PolicySettings, loss_by_definition  # noqa: E402
from mnemic.neural.reading_policy import (  # noqa: E402
    ReadingPolicy,
    ReadingWeights,
    described,
    drawn,
    pointer,
    scored,
    slots_of,
)
from mnemic.strategies.knowledge import SentenceCard  # noqa: E402


def card(bears: float, *names: int) -> SentenceCard:
    return SentenceCard((bears, 0.0), names)


BEARS = ReadingWeights((1.0, 0.0))


def test_it_keeps_what_bears_most_of_what_it_holds_and_reads() -> None:
    policy = ReadingPolicy(2, BEARS)
    assert policy.chosen([card(0.5), card(0.1)], [card(0.3), card(0.9), card(0.0)]) == [3, 0]
    assert policy.chosen([], [card(0.2)]) == [0]
    assert policy.chosen([], []) == []
    assert policy.chosen([card(0.4)], []) == [0]


def test_of_equal_ones_what_is_held_stays_and_what_was_read_first_comes() -> None:
    policy = ReadingPolicy(3, BEARS)
    assert policy.chosen([card(0.5), card(0.5)], [card(0.5), card(0.5)]) == [0, 1, 2]
    assert policy.chosen([card(0.1)], [card(0.5), card(0.2), card(0.5), card(0.2)]) == [1, 3, 2]


def test_more_may_be_held_than_there_are_slots_and_the_best_of_all_is_kept() -> None:
    policy = ReadingPolicy(2, BEARS)
    assert policy.chosen([card(0.1), card(0.2), card(0.9)], [card(0.5)]) == [2, 3]
    led = ReadingPolicy(2, ReadingWeights((1.0, 0.0), chain=2.0))
    held, read = [card(0.1), card(0.2), card(0.9, 17)], [card(0.5, 5), card(0.3, 17)]
    assert led.chosen(held, read) == [2, 4], "the third one held leads to it"


def test_what_shares_names_with_what_is_held_is_led_to() -> None:
    chained = ReadingPolicy(2, ReadingWeights((1.0, 0.0), chain=2.0))
    held, read = [card(0.9, 17)], [card(0.3, 5), card(0.2, 17)]
    assert chained.chosen(held, read) == [0, 2]
    assert ReadingPolicy(2, BEARS).chosen(held, read) == [0, 1]


def test_a_keep_that_weighs_more_holds_on_to_what_is_there() -> None:
    assert ReadingPolicy(1, BEARS).chosen([card(0.4)], [card(0.5)]) == [1]
    assert ReadingPolicy(1, ReadingWeights(BEARS.features, keep=0.5)).chosen([card(0.4)], [card(0.5)]) == [0]


def test_a_draw_takes_nothing_twice_and_its_chances_are_those_of_one_after_the_other() -> None:
    numbers = torch.tensor([1.0, 0.0, 0.5, 0.2])
    policy = pointer(numbers, 3)
    scores = scored(policy, described([card(0.3), card(0.9), card(0.1)])[0][None], slots_of(policy, [card(0.7)]))
    assert scores.shape == (1, 6)
    places, logs = drawn(scores.expand(200, -1), 3, torch.Generator().manual_seed(0))
    for taken, log in zip(places.tolist(), logs.tolist(), strict=True):
        assert len(set(taken)) == 3
        left = scores[0].clone()
        for place, of in zip(taken, log, strict=True):
            assert of == pytest.approx(float(torch.log_softmax(left, 0)[place]), abs=1e-5)
            left[place] = float("-inf")
    few, none = drawn(scores[:, :4], 3, torch.Generator().manual_seed(0))
    assert none[0, 2] == 0.0  # two were there
    assert len(set(few[0].tolist()[:2])) == 2


def test_its_gradient_reaches_all_that_is_learnt() -> None:
    numbers = torch.full((4,), 0.1, requires_grad=True)
    policy = pointer(numbers, 2)
    read = [SentenceCard((0.3, 1.0), (3,)), SentenceCard((0.1, 0.0), (4,))]
    scores = scored(policy, described(read)[0][None], slots_of(policy, [card(0.7, 3)]))
    torch.log_softmax(scores, 1)[0, 2].backward()
    assert numbers.grad is not None
    assert bool((numbers.grad.abs() > 0).all())


def test_weights_that_are_no_numbers_and_no_slots_are_refused() -> None:
    with pytest.raises(Invalid):
        ReadingPolicy(0)
    with pytest.raises(Invalid):
        ReadingPolicy(2, ReadingWeights(chain=float("nan")))
    assert ReadingPolicy(2).name != ReadingPolicy(3).name != ReadingPolicy(3, BEARS).name


def test_a_slot_for_which_nothing_is_left_has_no_part_in_the_loss() -> None:
    """Two cards, then five more, for six slots: the four that stay empty at first are no tokens of the rollouts."""
    cards = [card(0.1 * n, n) for n in range(7)]
    needles = torch.tensor([n in (1, 3, 6) for n in range(7)])
    parts = ((cards[:2], needles[:2]), (cards[2:], needles[2:]))
    episode = NeedleEpisode(tuple((*described(part), needle) for part, needle in parts))
    numbers = torch.tensor([0.3, 0.1, 0.2, 0.1], requires_grad=True)
    logs, said, rewards = rolled_out(numbers, episode, torch.Generator().manual_seed(0))
    assert said[0].sum(-1).unique(dim=0).tolist() == [[2, 6]]
    spoken = [
        [[log for log, real in zip(*step, strict=True) if real] for step in zip(*of, strict=True)]
        for of in zip(logs[0].double(), said[0], strict=True)
    ]
    old = [[[log.detach() for log in step] for step in rollout] for rollout in spoken]
    expected = loss_by_definition(spoken, old, rewards[0].tolist(), PolicySettings())
    loss = taught_by(numbers, episode, torch.Generator().manual_seed(0))
    slow, fast = (torch.autograd.grad(x, numbers, retain_graph=True)[0] for x in (expected, loss))
    assert torch.allclose(slow, fast, atol=1e-6)
    assert fast.any()


def test_it_learns_from_the_needles_that_are_left_in_the_end() -> None:
    weights = learned(0, 1)
    assert weights.features[0] > 0  # what bears on the question


def test_a_long_text_is_read_with_it_and_goes_on_where_it_was(tmp_path: Any) -> None:
    case = CASES["multi-value"](random.Random(7))
    text = "".join(text_of(case, 2_000, 7))
    with Memory(tmp_path / "memory.db", embedder="none", strategies=(), model="none") as memory:
        me = memory.scope(user="ada")
        policy = ReadingPolicy(4, ReadingWeights((3.0, 1.0)))
        first = me.read(case.question, text, segment=256, notes=256, policy=policy)
        assert {note.text for note in first.notes} == set(case.needles)
        assert first.judged["policy"] == first.segments
        again = me.read(case.question, text, segment=256, notes=256, policy=policy)
        assert (again.resumed, again.id) == (again.segments, first.id)
        rules = me.read(case.question, text, segment=256, notes=256)
        assert rules.id != first.id
        assert "policy" not in rules.judged
