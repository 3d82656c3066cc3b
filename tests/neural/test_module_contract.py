"""Every module of the registry keeps the contract, a sequence memory of a test's own too; a broken one is caught."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="needs torch: pip install torch==2.13.0")

from mnemic.errors import DamagedState, ForeignState  # noqa: E402
from mnemic.lab.tasks.neural.experiment import EXPERIMENTS, PUBLISHED  # noqa: E402
from mnemic.neural import base  # noqa: E402
from mnemic.neural.kv_memory import KVMemory, KVSettings  # noqa: E402
from mnemic.neural.llama import BARE  # noqa: E402
from mnemic.neural.lora_memory import LoraMemory, LoraSettings, TaughtFact  # noqa: E402
from mnemic.registry import MODULES, load  # noqa: E402
from mnemic.testing import memory_module_contract as contract  # noqa: E402
from mnemic.testing.memory_module_contract import *  # noqa: E402, F403
from mnemic.testing.memory_module_contract import ModuleSubject, bits  # noqa: E402

FEW = LoraSettings(rank=2, first=1, shards=2, batch=2, others=1, sentences=1, passes=2, least=1)


def facts(count: int) -> list[TaughtFact]:
    """The first facts of a few: the first two lie in both shards, the last two in one."""
    return [
        TaughtFact(
            f"fact {n}",
            (f"where is {n}?", f"{n}: where?"),
            f"in {'abcdefg'[n]}",
            (f"where is she, {n}?",),
            (f"told {n}",),
        )
        for n in (0, 1, 2, 3, 4, 6)[:count]
    ]


class HebbianMemory:
    """Linear attention: S += Σ_t k_t v_tᵀ, o_t = S q_t, with keys and values made by two matrices."""

    family = base.Family.SEQUENCE
    bounded = True

    def __init__(self) -> None:
        draw = torch.Generator().manual_seed(0)
        self.weights = {name: torch.randn(8, 8, generator=draw) / 8**0.5 for name in ("key", "value")}

    @property
    def identity(self) -> base.Identity:
        return base.Identity("hebbian", base.state_digest(self.weights), "", "0" * 64)

    def empty(self) -> Any:
        return {"memory": torch.zeros(2, 8, 8)}

    def write(self, given: Any, state: Any) -> Any:
        base.check_hidden(given, "given", 8, self.weights["key"], len(state["memory"]))
        keys, values = (given @ self.weights[name].mT for name in ("key", "value"))
        memory = state["memory"] + torch.einsum("btk,btv->bkv", keys, values)
        return {"memory": memory if torch.is_grad_enabled() and memory.requires_grad else memory.detach()}

    def read(self, asked: Any, state: Any) -> Any:
        base.check_hidden(asked, "asked", 8, self.weights["key"], len(state["memory"]))
        return torch.einsum("btk,bkv->btv", asked @ self.weights["key"].mT, state["memory"])


def made(name: str, tiny: Any) -> ModuleSubject:
    """A subject by the name of its module."""
    if name == "hebbian":
        h = [torch.randn(2, 4, 8, generator=torch.Generator().manual_seed(n)) for n in range(4)]
        return ModuleSubject(HebbianMemory(), h[:3], h[3], torch.zeros(2, 4, 8), torch.cat(h[:2], 1))
    asked = torch.tensor([tiny.ids("where is it?"), tiny.ids("who was here")])
    bare = tiny.decoder.logits(asked)
    if name == "lora":
        return ModuleSubject(
            LoraMemory(tiny, FEW), [facts(n) for n in (2, 4, 6)], asked, bare, sources=("told 4", "told 6")
        )  # fmt: skip
    precision = name.removeprefix("kv-").replace("kv", "float32")
    given = [torch.tensor(tiny.ids(text)) for text in ("The hare sleeps in the barn.", " It rains.", " " + "the " * 40)]
    tolerance = {"float32": 1e-4, "float16": 1e-2, "int8": 0.3}[precision]
    memory = KVMemory(tiny, KVSettings(precision))
    return ModuleSubject(memory, given, asked, bare, torch.cat(given[:2]), tolerance)


@pytest.fixture(params=["hebbian", "kv", "kv-float16", "kv-int8", "lora"])
def subject(request: pytest.FixtureRequest, tiny: Any) -> ModuleSubject:
    with torch.no_grad() if request.param != "hebbian" else torch.enable_grad():
        return made(request.param, tiny)


def test_every_module_of_the_registry_is_among_them_or_has_a_test_file_with_the_contract(tiny: Any) -> None:
    here = {type(made(name, tiny).module) for name in ("kv", "lora")}
    for name, place in MODULES.items():
        file = Path(__file__).parent / f"test_{place.partition(':')[0].rpartition('.')[2]}.py"
        kept = "from mnemic.testing.memory_module_contract import *" in file.read_text(encoding="utf-8")
        assert load(MODULES, name) in here or kept, f"{name} does not keep the contract"


def test_every_mechanism_with_an_experiment_keeps_the_contract_in_the_registry_or_not() -> None:
    modules = {path.stem for path in Path(base.__file__).parent.glob("*.py")}
    assert EXPERIMENTS.keys() & modules == PUBLISHED | {"kv_memory", "lora_memory"}  # these two are made here
    for name in PUBLISHED:
        file = Path(__file__).parent / f"test_{name}.py"
        assert "from mnemic.testing.memory_module_contract import *" in file.read_text(encoding="utf-8"), name


def test_what_is_not_promised_is_a_test_of_the_contract(tiny: Any) -> None:
    class Request:
        fixturenames = ("subject",)

        @staticmethod
        def getfixturevalue(name: str) -> ModuleSubject:
            return replace(made("hebbian", tiny), not_promised={"test_no_such": "why"})

    with pytest.raises(AssertionError, match="no tests of the contract"):
        contract.what_is_not_promised.__wrapped__(Request())


# Each breaks one promise; the name of the test that catches it stands beside it.


class Broken:
    """A module that is another, but for what a subclass breaks."""

    def __init__(self, module: Any) -> None:
        self.module = module

    def __getattr__(self, name: str) -> Any:
        return getattr(self.module, name)


class Nameless(Broken):
    @property
    def identity(self) -> Any:
        return replace(self.module.identity, model="")


class NeverEmpty(Broken):
    def read(self, asked: Any, state: Any) -> Any:
        return self.module.read(asked, state) + 1e-3


class Attached(Broken):
    def write(self, given: Any, state: Any) -> Any:
        made = self.module.write(given, state)
        return {name: t.clone().requires_grad_() if t.dtype.is_floating_point else t for name, t in made.items()}


class InPlace(Broken):
    def write(self, given: Any, state: Any) -> Any:
        made = self.module.write(given, state)
        for name in state:
            if state[name].dtype.is_floating_point:
                state[name].add_(1)
        return made


class Counting(Broken):
    reads = 0

    def read(self, asked: Any, state: Any) -> Any:
        Counting.reads += 1
        return self.module.read(asked, state) + Counting.reads * 1e-3


class Training(Broken):
    def write(self, given: Any, state: Any) -> Any:
        next(iter(self.module.weights.values())).add_(1e-4)
        return self.module.write(given, state)


class Deaf(Broken):
    def read(self, asked: Any, state: Any) -> Any:
        return self.module.read(asked, self.module.empty())


class Drawing(Broken):
    def write(self, given: Any, state: Any) -> Any:
        made = self.module.write(given, state)
        return {name: t + torch.rand(()) if t.dtype.is_floating_point else t for name, t in made.items()}


class Clairvoyant(Broken):
    def read(self, asked: Any, state: Any) -> Any:
        read = self.module.read(asked, state)
        return read + read[:, -1:].mean()


class Shared(Broken):
    def read(self, asked: Any, state: Any) -> Any:
        read = self.module.read(asked, state)
        return read + read.mean(0, keepdim=True)


class Forgetful(Broken):
    def write(self, given: Any, state: Any) -> Any:
        return self.module.write(given, self.module.empty())


class Overflowing(Broken):
    def read(self, asked: Any, state: Any) -> Any:
        return self.module.read(asked, state) / 0


class Swollen(Broken):
    bounded = True


class Rounded(Broken):
    """Reads a state otherwise if it came from a file."""

    seen: set[int] = set()  # noqa: RUF012

    def write(self, given: Any, state: Any) -> Any:
        made = self.module.write(given, state)
        self.seen.update(tensor.data_ptr() for tensor in made.values() if tensor.numel())
        return made

    def read(self, asked: Any, state: Any) -> Any:
        known = all(tensor.data_ptr() in self.seen for tensor in state.values() if tensor.numel())
        return self.module.read(asked, state) + (0 if known else 1)


class Keeping(Broken):
    def forget(self, sources: Any, state: Any) -> Any:
        return state


CAUGHT = [
    (Nameless, "kv", contract.test_it_says_whose_its_states_are),
    (NeverEmpty, "kv", contract.test_an_empty_memory_is_the_bare_model),
    (Attached, "kv", contract.test_a_state_is_a_flat_dict_of_whole_tensors_that_ask_for_no_gradient),
    (InPlace, "kv", contract.test_a_write_leaves_the_earlier_state_as_it_was),
    (Counting, "kv", contract.test_a_read_changes_nothing),
    (Training, "hebbian", contract.test_no_write_changes_what_is_shipped),
    (Deaf, "kv", contract.test_what_is_written_is_read),
    (Drawing, "kv", contract.test_the_same_write_gives_the_same_bits_whatever_was_drawn_before),
    (Clairvoyant, "kv", contract.test_a_position_does_not_see_what_is_asked_behind_it),
    (Shared, "kv", contract.test_rows_do_not_see_each_other),
    (Forgetful, "kv", contract.test_written_in_two_it_is_what_it_is_written_in_one),
    (Overflowing, "kv", contract.test_it_stays_finite),
    (Swollen, "kv", contract.test_a_bounded_memory_stays_as_large_as_it_is_and_another_grows),
    (Keeping, "lora", contract.test_what_is_forgotten_is_as_if_it_had_never_been_written),
]


@pytest.mark.parametrize(("broken", "name", "test"), CAUGHT, ids=lambda x: getattr(x, "__name__", x))
def test_a_module_broken_on_purpose_is_caught(broken: type[Broken], name: str, test: Any, tiny: Any) -> None:
    subject = made(name, tiny)
    with torch.no_grad():
        test(subject)  # whole, it passes
        with pytest.raises(AssertionError):
            test(replace(subject, module=broken(subject.module)))


def test_a_module_that_reads_files_otherwise_is_caught(tiny: Any, tmp_path: Path) -> None:
    subject = made("kv", tiny)
    with torch.no_grad(), pytest.raises(AssertionError):
        contract.test_a_file_gives_back_the_same_bits(replace(subject, module=Rounded(subject.module)), tmp_path)


@pytest.mark.parametrize("check", ["sha256", "identity"])
def test_a_reader_of_files_without_its_checks_is_caught(tiny: Any, monkeypatch: pytest.MonkeyPatch, check: str) -> None:
    subject = made("kv", tiny)

    def careless(raw: bytes, identity: Any) -> Any:
        import safetensors.torch

        said = base._said(raw)
        state = safetensors.torch.load(raw)
        if check == "sha256" and any(
            said[name] != getattr(identity, name) for name in ("mechanism", "model", "settings")
        ):
            raise ForeignState("of another model, settings, mechanism or tokenizer")
        if check == "identity" and said.pop("sha256") != base.state_digest(state, said):
            raise DamagedState("damaged")
        return state, said

    monkeypatch.setattr(base, "unpacked", careless)
    test = {
        "sha256": contract.test_a_damaged_file_is_refused_and_nothing_else_happens,
        "identity": contract.test_a_state_of_somebody_else_is_refused,
    }[check]
    with pytest.raises(BaseException) as caught:
        test(subject)
    assert not isinstance(caught.value, DamagedState | ForeignState)


def test_a_sequence_memory_whose_rows_mix_or_whose_weights_are_cut_off_is_caught(tiny: Any) -> None:
    class Mixed(Broken):
        def write(self, given: Any, state: Any) -> Any:
            made = self.module.write(given, state)
            return {name: tensor + tensor.mean(0, keepdim=True) for name, tensor in made.items()}

    class CutOff(Broken):
        def write(self, given: Any, state: Any) -> Any:
            return {name: tensor.detach() for name, tensor in self.module.write(given, state).items()}

    for broken, test in (
        (Mixed, contract.test_a_row_of_hidden_states_reads_what_it_has_written_itself),
        (CutOff, contract.test_gradients_reach_everything_that_is_shipped),
    ):
        subject = made("hebbian", tiny)
        module = broken(subject.module)
        with pytest.raises(AssertionError):
            test(replace(subject, module=module), lambda h, module=module: module.write(h, module.empty()))


def test_bits_see_a_single_bit() -> None:
    tensor = torch.zeros(3)
    before = bits({"a": tensor})
    tensor.view(torch.int32)[1] ^= 1
    assert bits({"a": tensor}) != before


def test_the_bare_entries_are_empty() -> None:
    assert not [part for part in (BARE.past, BARE.replaced, BARE.added, BARE.hidden) if part]
