"""The overwriting policy: advantage and token mean by hand, the loss against its definition, slots, and bad input."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="needs torch: pip install torch==2.13.0")

from mnemic.errors import Invalid  # noqa: E402
from mnemic.neural import base  # noqa: E402
from mnemic.neural.overwrite_rl import (  # noqa: E402
    OverwritePolicy,
    PolicySettings,
    advantages,
    copied,
    dapo_loss,
    first_in_first_out,
    loss_by_definition,
)
from mnemic.neural.write_log import LoggedMemory, LoggedWrite  # noqa: E402
from mnemic.testing.memory_module_contract import *  # noqa: E402, F403
from mnemic.testing.memory_module_contract import ModuleSubject, bits  # noqa: E402

SMALL = PolicySettings(width=4, slots=3)
EVERY = torch.tensor


def normal(seed: int, *shape: int, dtype: Any = torch.float32) -> Any:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


class Cards:
    """The policy as a memory of cards, keys beside values: what is asked reads the values of slots by their keys."""

    family, bounded = base.Family.SEQUENCE, True

    def __init__(self) -> None:
        weights = {**OverwritePolicy(SMALL).weights, "question": torch.eye(4)}
        self.policy = OverwritePolicy(SMALL, weights)
        self.identity, self.weights = self.policy.identity, self.policy.weights

    def empty(self) -> Any:
        return self.policy.start(normal(0, 2, 4))

    def write(self, given: Any, state: Any) -> Any:
        base.check_hidden(given, "given", 8, self.weights["question"], len(state["keys"]))
        return self.policy.write(*given.split(4, -1), state)[0]

    def read(self, asked: Any, state: Any) -> Any:
        base.check_hidden(asked, "asked", 8, self.weights["question"], len(state["keys"]))
        return asked[..., :4] @ state["keys"].mT @ state["values"]


@pytest.fixture(params=["cards", "logged"])
def subject(request: pytest.FixtureRequest) -> ModuleSubject:
    question = normal(0, 2, 4)[:, None]
    cards = [torch.cat((question * (n + 1) * torch.arange(1, 4)[:, None], normal(n, 2, 3, 4)), -1) for n in range(3)]
    asked = normal(9, 2, 3, 8)
    made = ModuleSubject(
        Cards(), cards, asked, torch.zeros(2, 3, 4),
        not_promised={
            "test_gradients_reach_everything_that_is_shipped": "what is kept is chosen; it learns by reinforcement",
        },
    )  # fmt: skip
    if request.param == "cards":
        return made
    given = [LoggedWrite(one, (f"source {n}",)) for n, one in enumerate(cards)]
    no_rows = {"test_a_row_of_hidden_states_reads_what_it_has_written_itself": "a log is of whole writes"}
    return replace(
        made, module=LoggedMemory(made.module), given=given, sources=("source 2",),
        not_promised={**made.not_promised, **no_rows},
    )  # fmt: skip


def test_the_advantage_is_the_reward_less_the_mean_and_equal_groups_teach_nothing() -> None:
    better, teaches = advantages(EVERY([[1.0, 0.0, 0.0, 1.0], [1.0, 1.0, 1.0, 1.0]]))
    assert better.tolist() == [[0.5, -0.5, -0.5, 0.5], [0.0] * 4]
    assert teaches.tolist() == [True, False]


def test_a_case_counted_by_hand() -> None:
    """Two rollouts, of two conversations and of one, two tokens each; rewards 1 and 0, so ±.5 for six tokens.

    The first has a ratio of 2, cut to 1.2 as it is good: .6; its others 1, .5 each. The second's 2 is not cut: -1.
    """
    logs = torch.zeros(1, 2, 2, 2)
    logs[0, 0, 0, 0] = logs[0, 1, 0, 0] = torch.tensor(2.0).log()
    said = torch.ones(1, 2, 2, 2, dtype=torch.bool)
    said[0, 1, 1] = False
    logs.requires_grad_()
    loss = dapo_loss(logs, torch.zeros(1, 2, 2, 2), EVERY([[1.0, 0.0]]), said, SMALL)
    assert loss.item() == pytest.approx(-(0.6 + 0.5 * 3 - 1.0 - 0.5) / 6)
    loss.backward()
    assert logs.grad is not None
    by_hand = [[[0.0, -0.5], [-0.5, -0.5]], [[1.0, 0.5], [0.0, 0.0]]]  # the clipped one has none; ρ = 2 counts twice
    assert torch.allclose(logs.grad[0], EVERY(by_hand) / 6)


def test_a_mean_of_conversations_would_be_caught() -> None:
    """Were conversations averaged first, the longer rollout would weigh as much as the short one."""
    logs, said = torch.zeros(1, 2, 3, 1), torch.ones(1, 2, 3, 1, dtype=torch.bool)
    said[0, 1, 1:] = False
    loss = dapo_loss(logs, logs, EVERY([[1.0, 0.0]]), said, SMALL)
    assert loss.item() == pytest.approx(-(0.5 * 3 - 0.5) / 4)
    assert loss.item() != pytest.approx(0.0)


def test_the_loss_is_the_definition_in_value_and_gradient() -> None:
    logs = (normal(1, 2, 3, 4, 2, dtype=torch.float64) * 0.3 - 1).requires_grad_()
    old = normal(2, 2, 3, 4, 2, dtype=torch.float64) * 0.3 - 1
    lengths = [[4, 2, 1], [4, 4, 3]]
    said = torch.zeros(2, 3, 4, 2, dtype=torch.bool)
    for n, group in enumerate(lengths):
        for rollout, length in enumerate(group):
            said[n, rollout, :length] = True
    rewards = EVERY([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]], dtype=torch.float64)
    for n in range(2):
        one, other = (
            [[list(turn) for turn in rollout[:length]] for rollout, length in zip(x[n], lengths[n], strict=True)]
            for x in (logs, old)
        )  # fmt: skip
        slow = loss_by_definition(one, other, rewards[n].tolist(), SMALL)
        fast = dapo_loss(logs[n : n + 1], old[n : n + 1], rewards[n : n + 1], said[n : n + 1], SMALL)
        assert torch.allclose(slow, fast)
        for a, b in zip(torch.autograd.grad(slow, [logs]), torch.autograd.grad(fast, [logs]), strict=True):
            assert torch.allclose(a, b, atol=1e-12)


def test_a_group_of_equal_rewards_has_no_part_in_the_mean() -> None:
    logs, said = torch.zeros(2, 2, 2, 1), torch.ones(2, 2, 2, 1, dtype=torch.bool)
    said[0, 1, 1] = False
    both = dapo_loss(logs, logs, EVERY([[1.0, 0.0], [1.0, 1.0]]), said, SMALL)
    alone = dapo_loss(logs[:1], logs[:1], EVERY([[1.0, 0.0]]), said[:1], SMALL)
    assert both.item() == alone.item() == pytest.approx(-0.5 / 3)
    nothing = dapo_loss(logs[:1], logs[:1], EVERY([[1.0, 1.0]]), said[:1], SMALL)
    assert nothing.item() == 0.0


def test_slots_keep_or_copy_and_the_state_before_stands() -> None:
    policy = OverwritePolicy(SMALL)
    state = policy.start(normal(0, 2, 4))
    before = bits(state)
    keys, values = normal(1, 2, 5, 4), normal(2, 2, 5, 4)
    after = copied(keys, values, state, EVERY([[0, 1, 5], [2, 0, 2]]))
    assert after["held"].tolist() == [[False, True, True], [True, False, True]]
    assert torch.equal(after["keys"][0, 2], keys[0, 4])
    assert torch.equal(after["values"][1, 0], values[1, 1])
    assert torch.equal(after["keys"][1, 1], torch.zeros(4))
    assert bits(state) == before
    sizes = [sum(t.nbytes for t in s.values()) for s in (state, after)]
    assert sizes[0] == sizes[1]


def test_what_is_drawn_follows_from_the_generator_and_the_likeliest_is_done_without() -> None:
    policy = OverwritePolicy(SMALL)
    state, keys, values = policy.start(normal(0, 2, 4)), normal(1, 2, 5, 4), normal(2, 2, 5, 4)
    drawn = [policy.write(keys, values, state, draw=torch.Generator().manual_seed(3))[1] for _ in range(2)]
    assert torch.equal(*drawn)
    _, done, logs = policy.write(keys, values, state)
    every = torch.log_softmax(policy.logits(keys, state), -1)
    assert torch.equal(done, every.argmax(-1))
    assert torch.equal(logs, every.max(-1).values)


def test_rows_do_not_see_each_other_and_a_card_that_is_not_there_is_never_copied() -> None:
    policy = OverwritePolicy(SMALL)
    state, keys, values = policy.start(normal(0, 2, 4)), normal(1, 2, 5, 4), normal(2, 2, 5, 4)
    real = EVERY([[True] * 5, [False] * 5])
    after, done, _ = policy.write(keys, values, state, real, torch.Generator().manual_seed(0))
    assert done[1].tolist() == [0, 0, 0]
    assert torch.equal(after["keys"][1], state["keys"][1])
    alone = policy.logits(keys[:1], policy.start(normal(0, 2, 4)[:1]))
    assert torch.allclose(alone[0], policy.logits(keys, state)[0], atol=1e-6)


def test_a_chunk_of_nothing_changes_nothing_and_one_of_huge_or_equal_cards_is_fine() -> None:
    policy = OverwritePolicy(SMALL)
    state = policy.start(normal(0, 2, 4))
    after, done, _ = policy.write(torch.zeros(2, 0, 4), torch.zeros(2, 0, 4), state)
    assert bits(after) == bits(state)
    assert not done.any()
    for size in (0.0, 1.0, 1e15):
        cards = torch.full((2, 1, 4), size)
        after, _, logs = policy.write(cards, cards, state, draw=torch.Generator().manual_seed(0))
        assert torch.isfinite(logs).all()


def test_what_does_not_fit_is_refused() -> None:
    policy = OverwritePolicy(SMALL)
    state, keys = policy.start(normal(0, 2, 4)), normal(1, 2, 5, 4)
    before = bits(state)
    bad = keys.clone()
    bad[0, 0, 0] = float("nan")
    for wrong, said in ((bad, "not all numbers"), (keys[..., :3], "shape"), (keys.double(), "float64")):
        with pytest.raises(Invalid, match=said):
            policy.write(wrong, keys, state)
    with pytest.raises(Invalid, match="each card"):
        policy.write(keys, keys[:, :2], state)
    with pytest.raises(Invalid, match="bool"):
        policy.write(keys, keys, state, torch.ones(2, 5))
    with pytest.raises(Invalid, match="question"):
        policy.start(normal(0, 2, 3))
    assert bits(state) == before


@pytest.mark.parametrize("wrong", [{"width": 0}, {"slots": 0}, {"low": 1.0}, {"high": 0.0}])
def test_settings_out_of_range_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        OverwritePolicy(replace(SMALL, **wrong))


@pytest.mark.parametrize(("cards", "slots"), [(4, 2), (2, 3), (3, 3), (1, 2)])
def test_the_control_holds_the_newest_cards(cards: int, slots: int) -> None:
    held = [-1] * slots
    for chunk in range(5):
        for slot, done in enumerate(first_in_first_out(cards, chunk, slots).tolist()):
            held[slot] = chunk * cards + done - 1 if done else held[slot]
    assert sorted(held) == list(range(5 * cards - slots, 5 * cards))
