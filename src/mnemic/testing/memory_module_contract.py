"""The contract of memories inside a model as tests: what every module promises, whatever its mechanism.

A module proves itself with one import and one fixture, in a test file of its own::

    from mnemic.testing.memory_module_contract import *


    @pytest.fixture
    def subject(model):
        memory = KVMemory(model)
        return ModuleSubject(memory, given=[ids("one"), ids("two"), ids("three")], asked=ids("four")[None], bare=...)

A mechanism that is asked something else than a state and hidden states proves itself by a few lines that ask it so.
What is no promise of it stands in `not_promised`, with the reason: these tests are skipped and say why.

Without torch the file is skipped.
"""

from __future__ import annotations

import atexit
import hashlib
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest

from mnemic.errors import DamagedState, ForeignState, Invalid

torch = pytest.importorskip("torch", reason="memories inside a model need torch: pip install torch==2.13.0")
base = pytest.importorskip("mnemic.neural.base", reason="memories inside a model need mnemic[neural]")

FLIPS = 40
"""Places at which a file is damaged."""

_NAMES = 1024
"""Bytes that the names of sources may take in a memory that is bounded."""


@dataclass(frozen=True)
class ModuleSubject:
    """A module, and what to do with it.

    Attributes:
        given: Three different writes; of a parameter memory each holds all of the one before and more.
        asked: What is asked, (B, T) or (B, T, D), with B and T of 2 or more.
        bare: What the model makes of `asked` without any memory.
        joined: What is written in one go in place of the first two of `given`; None where that is not the same thing.
        tolerance: How far numbers may differ where sums are made in another order.
        sources: Of a module that forgets: what only the last of `given` came from.
        not_promised: Names of tests here, and why the mechanism has no such property.
    """

    module: Any
    given: list[Any]
    asked: Any
    bare: Any
    joined: Any = None
    tolerance: float = 1e-4
    sources: tuple[str, ...] = ()
    not_promised: Mapping[str, str] = field(default_factory=dict)

    def written(self, count: int = 1) -> Any:
        """The state after the first writes."""
        state = self.module.empty()
        for given in self.given[:count]:
            state = self.module.write(given, state)
        return state


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Sums are made in one order."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(autouse=True)
def what_is_not_promised(request: pytest.FixtureRequest) -> None:
    """A test of what a mechanism does not have is skipped, with the reason."""
    if "subject" not in request.fixturenames:
        return
    not_promised: Mapping[str, str] = getattr(request.getfixturevalue("subject"), "not_promised", {})
    unknown = [name for name in not_promised if name not in globals()]
    assert not unknown, f"{unknown} are no tests of the contract"
    if (reason := not_promised.get(request.node.originalname)) is not None:
        pytest.skip(reason)


def bits(state: Any) -> dict[str, bytes]:
    """Every tensor's bytes, to see whether one has changed."""
    return {
        name: hashlib.sha256(t.detach().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()).digest()
        for name, t in state.items()
    }


def test_it_says_whose_its_states_are(subject: ModuleSubject) -> None:
    identity = subject.module.identity
    assert identity == subject.module.identity
    assert identity.mechanism
    assert identity.model
    assert len(identity.settings) == 64
    assert subject.module.family in tuple(base.Family)


def test_an_empty_memory_is_the_bare_model(subject: ModuleSubject) -> None:
    assert torch.equal(subject.module.read(subject.asked, subject.module.empty()), subject.bare)


def test_a_state_is_a_flat_dict_of_whole_tensors_that_ask_for_no_gradient(subject: ModuleSubject) -> None:
    state = subject.written(2)
    assert type(state) is dict
    shipped = {tensor.data_ptr() for tensor in subject.module.weights.values()}
    for name, tensor in state.items():
        assert isinstance(name, str)
        assert isinstance(tensor, torch.Tensor)
        assert tensor.is_contiguous()
        assert not tensor.requires_grad
        assert tensor.numel() == 0 or tensor.data_ptr() not in shipped


def test_a_write_leaves_the_earlier_state_as_it_was(subject: ModuleSubject) -> None:
    state = subject.written(1)
    before = bits(state)
    after = subject.module.write(subject.given[1], state)
    assert after is not state
    assert bits(state) == before
    assert bits(after) != before


def test_a_read_changes_nothing(subject: ModuleSubject) -> None:
    state = subject.written(1)
    before = bits(state)
    once = subject.module.read(subject.asked, state)
    assert torch.equal(subject.module.read(subject.asked, state), once)
    assert bits(state) == before


def test_no_write_changes_what_is_shipped(subject: ModuleSubject) -> None:
    before = bits(subject.module.weights)
    subject.written(3)
    assert bits(subject.module.weights) == before


def test_what_is_written_is_read(subject: ModuleSubject) -> None:
    state = subject.written(1)
    later = subject.module.write(subject.given[1], state)
    once, twice = subject.module.read(subject.asked, state), subject.module.read(subject.asked, later)
    assert not torch.equal(once, subject.bare)
    assert not torch.equal(twice, once)


def test_the_same_write_gives_the_same_bits_whatever_was_drawn_before(subject: ModuleSubject) -> None:
    torch.manual_seed(1)
    once = bits(subject.written(1))
    torch.manual_seed(2)
    drawn = torch.random.get_rng_state()
    assert bits(subject.written(1)) == once
    assert torch.equal(torch.random.get_rng_state(), drawn), "a write draws from the process's own numbers"


def test_a_position_does_not_see_what_is_asked_behind_it(subject: ModuleSubject) -> None:
    state, asked = subject.written(2), subject.asked
    other = asked.clone()
    other[:, -1] = other[:, 0]
    assert not torch.equal(other, asked)
    read, again = subject.module.read(asked, state), subject.module.read(other, state)
    assert torch.allclose(read[:, :-1], again[:, :-1], atol=subject.tolerance)


def test_rows_do_not_see_each_other(subject: ModuleSubject) -> None:
    if subject.module.family == base.Family.SEQUENCE:
        pytest.skip("each row has a state of its own: see the tests of rows")
    state = subject.written(2)
    together = subject.module.read(subject.asked, state)
    for n in range(len(subject.asked)):
        alone = subject.module.read(subject.asked[n : n + 1], state)
        assert torch.allclose(together[n : n + 1], alone, atol=subject.tolerance)


def test_written_in_two_it_is_what_it_is_written_in_one(subject: ModuleSubject) -> None:
    if subject.module.family == base.Family.PARAMETER:  # it learns what is to be known, not what was known before
        assert bits(subject.module.write(subject.given[1], subject.module.empty())) == bits(subject.written(2))
        return
    if subject.joined is None:
        pytest.skip("what is written at once is one thing, and in two it is two")
    whole = subject.module.write(subject.joined, subject.module.empty())
    read, again = (subject.module.read(subject.asked, state) for state in (whole, subject.written(2)))
    assert torch.allclose(read, again, atol=subject.tolerance)


def test_it_stays_finite(subject: ModuleSubject) -> None:
    state = subject.written(3)
    assert all(torch.isfinite(tensor.float()).all() for tensor in state.values())
    assert torch.isfinite(subject.module.read(subject.asked, state)).all()


def test_a_bounded_memory_stays_as_large_as_it_is_and_another_grows(subject: ModuleSubject) -> None:
    sizes = [base.state_bytes(subject.written(count)) for count in (1, 2, 3)]
    if subject.module.bounded:
        assert max(sizes) - sizes[0] <= _NAMES  # but for the digests of its sources
    else:
        assert sizes[0] < sizes[1] < sizes[2]


def test_a_file_gives_back_the_same_bits(subject: ModuleSubject, tmp_path: Path) -> None:
    state, identity = subject.written(2), subject.module.identity
    base.save(tmp_path / "state", state, identity, {"made": "today"})
    loaded, said = base.load(tmp_path / "state", identity)
    assert said == {"made": "today"}
    assert bits(loaded) == bits(state)
    assert torch.equal(subject.module.read(subject.asked, loaded), subject.module.read(subject.asked, state))
    assert [path.name for path in tmp_path.iterdir()] == ["state"]
    assert (tmp_path / "state").stat().st_mode & 0o077 == 0


def test_another_process_reads_the_same_bits(subject: ModuleSubject, tmp_path: Path) -> None:
    state, identity = subject.written(1), subject.module.identity
    base.save(tmp_path / "state", state, identity)
    other = _another_process()
    assert other.stdin is not None
    assert other.stdout is not None
    pickle.dump((tmp_path / "state", identity), other.stdin)
    other.stdin.flush()
    assert other.stdout.readline().decode().strip() == base.state_digest(state)


def _another_process() -> subprocess.Popen[bytes]:
    """A process that tells the digest of each state it is named: one for all tests, until one kills it."""
    if _started().poll() is not None:
        _started.cache_clear()
    return _started()


@cache
def _started() -> subprocess.Popen[bytes]:
    """Start it; each imports torch."""
    code = "from mnemic.testing.memory_module_contract import tell_digests; tell_digests()"
    process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    atexit.register(process.communicate)
    return process


def tell_digests() -> None:
    """Be the other process: load each state that stdin names, and say its digest, until nobody asks any more."""
    while True:
        try:
            path, identity = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        print(base.state_digest(base.load(path, identity)[0]), flush=True)


def test_a_state_of_somebody_else_is_refused(subject: ModuleSubject) -> None:
    raw = base.packed(subject.written(1), subject.module.identity)
    for part in fields(subject.module.identity):
        named = getattr(subject.module.identity, part.name)
        other = replace(subject.module.identity, **{part.name: f"not {named}"})
        with pytest.raises(ForeignState, match=part.name):
            base.unpacked(raw, other)


def test_a_damaged_file_is_refused_and_nothing_else_happens(subject: ModuleSubject) -> None:
    identity = subject.module.identity
    raw = base.packed(subject.written(1), identity)
    draw = Random(0)
    damaged = [raw[: draw.randrange(len(raw))] for _ in range(FLIPS // 2)] + [b"", raw[:7], raw + b"x"]
    for _ in range(FLIPS):
        at = draw.choice((draw.randrange(len(raw)), draw.randrange(min(len(raw), 600))))
        damaged.append(raw[:at] + bytes([raw[at] ^ (1 << draw.randrange(8))]) + raw[at + 1 :])
    damaged.append((2 << 30).to_bytes(8, "little") + raw[8:])
    for file in damaged:
        with pytest.raises((DamagedState, ForeignState)):
            base.unpacked(file, identity)


def test_what_is_forgotten_is_as_if_it_had_never_been_written(subject: ModuleSubject) -> None:
    if not hasattr(subject.module, "forget"):
        pytest.skip("it forgets a state as a whole")
    assert subject.sources, "name what the last write came from"
    state = subject.written(3)
    before = bits(state)
    left = subject.module.forget(subject.sources, state)
    assert bits(state) == before
    if subject.module.family == base.Family.PARAMETER:  # what shares a part with it is learnt again
        assert bits(left).items() < bits(state).items()
        left = subject.module.write(subject.given[1], left)
    assert bits(left) == bits(subject.written(2))
    assert bits(subject.module.forget(("nobody",), state)) == bits(state)


@pytest.fixture
def rows(subject: ModuleSubject) -> Callable[[Any], Any]:
    """Write hidden states (B, T, D) of a sequence memory, from nothing."""
    if subject.module.family != base.Family.SEQUENCE:
        pytest.skip("of sequence memories")
    return lambda h: subject.module.write(h, subject.module.empty())


def test_hidden_states_that_do_not_fit_are_refused_and_the_state_stays(subject: ModuleSubject) -> None:
    if subject.module.family != base.Family.SEQUENCE:
        pytest.skip("a module that takes tokens or facts")
    asked, state = subject.asked, subject.written(1)
    before, wrong = bits(state), asked.clone()
    wrong[0, 0, 0] = float("nan")
    for unfit in (wrong, asked[..., :-1], asked.half(), asked[0], torch.cat((asked, asked))):
        with pytest.raises(Invalid):
            subject.module.read(unfit, state)
        if isinstance(subject.given[0], torch.Tensor):
            with pytest.raises(Invalid):
                subject.module.write(unfit, state)
    assert bits(state) == before


def test_a_row_of_hidden_states_reads_what_it_has_written_itself(
    subject: ModuleSubject, rows: Callable[[Any], Any]
) -> None:
    given = subject.given[0]
    other = given.clone()
    other[1:] = other[1:].flip(1) * 2
    read, again = (subject.module.read(subject.asked, rows(h)) for h in (given, other))
    assert torch.allclose(read[0], again[0], atol=subject.tolerance)
    assert not torch.allclose(read[1:], again[1:], atol=subject.tolerance)


def test_gradients_reach_everything_that_is_shipped(subject: ModuleSubject, rows: Callable[[Any], Any]) -> None:
    weights = [weight.requires_grad_() for weight in subject.module.weights.values()]
    subject.module.read(subject.asked, rows(subject.given[0])).square().sum().backward()
    for weight in weights:
        assert weight.grad is not None
        assert torch.isfinite(weight.grad).all()
        assert weight.grad.abs().sum() > 0
