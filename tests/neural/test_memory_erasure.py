"""One test for every module of the registry: after erasure, it reads as one that never saw what was erased."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="needs torch: pip install torch==2.13.0")

from test_module_contract import made  # noqa: E402

from mnemic import Memory  # noqa: E402
from mnemic.errors import Conflict, DamagedState, MnemicError, NotFound, StoreCorrupt, StoreFull  # noqa: E402
from mnemic.neural import base  # noqa: E402
from mnemic.neural.titans import Titans, TitansSettings  # noqa: E402
from mnemic.neural.write_log import LoggedMemory, LoggedWrite  # noqa: E402
from mnemic.registry import MODULES  # noqa: E402
from mnemic.scope_artefacts import ScopeArtefacts  # noqa: E402
from mnemic.stored_memory import StoredMemory  # noqa: E402
from mnemic.testing import memory_module_contract as contract  # noqa: E402
from mnemic.testing.memory_module_contract import ModuleSubject, bits, one_thread  # noqa: E402, F401

SHARED = ("hebbian", "kv", "lora")
"""Subjects that `test_module_contract` makes; each other module has a fixture `subject` in its own file."""


@pytest.fixture(params=SHARED)
def shared_subject(request: pytest.FixtureRequest, tiny: Any) -> ModuleSubject:
    with torch.no_grad():
        return made(request.param, tiny)


def with_a_log(subject: ModuleSubject) -> ModuleSubject:
    """The subject as it forgets: as it is, or by a log of its writes, one source each."""
    if hasattr(subject.module, "forget"):
        return subject
    given = [LoggedWrite(one, (f"source {n}", "all")) for n, one in enumerate(subject.given)]
    return replace(subject, module=LoggedMemory(subject.module), given=given, joined=None, sources=("source 2",))


def erased(subject: ModuleSubject) -> None:
    """What every module promises of erasure."""
    subject = with_a_log(subject)
    module = subject.module
    with torch.no_grad():
        state, never = subject.written(3), subject.written(2)
        left = module.forget(subject.sources, state)
        if module.family == base.Family.PARAMETER:
            left = module.write(subject.given[1], left)
        assert bits(state) != bits(never)  # a side memory may still answer what is asked here as if it had not
        assert torch.equal(module.read(subject.asked, left), module.read(subject.asked, never))
        assert bits(left) == bits(never)
        if not isinstance(module, LoggedMemory):
            return
        first = module.forget(("source 0",), state)  # what later writes were added to
        without = module.empty()
        for given in subject.given[1:]:
            without = module.write(given, without)
        assert bits(first) == bits(without)
        assert bits(module.forget(("all",), state)) == bits(module.empty())


def test_after_erasure_it_reads_as_one_that_never_saw_it(shared_subject: ModuleSubject) -> None:
    erased(shared_subject)


def _test_of(name: str) -> Callable[..., None]:
    def test(**fixtures: Any) -> None:
        erased(fixtures[f"{name}_subject"])

    parameter = inspect.Parameter(f"{name}_subject", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    test.__signature__ = inspect.Signature([parameter])  # type: ignore[attr-defined]
    return test


for _name, _place in MODULES.items():
    if _name not in SHARED:
        _file = _place.partition(":")[0].rpartition(".")[2]
        _tests = importlib.import_module(f"test_{_file}")
        globals()[f"{_name}_subject"] = _tests.subject
        globals().update({name: getattr(_tests, name) for name in ("settings",) if hasattr(_tests, name)})
        globals()[f"test_after_erasure_{_name}_reads_as_one_that_never_saw_it"] = _test_of(_name)


@pytest.fixture
def subject(tiny: Any) -> ModuleSubject:
    h = [torch.randn(2, 4, 8, generator=torch.Generator().manual_seed(n)) for n in range(4)]
    plain = ModuleSubject(Titans(TitansSettings(width=8, rows=2)), h[:3], h[3], torch.zeros(2, 4, 8))
    return with_a_log(plain)


@pytest.mark.parametrize(
    "promise",
    [
        contract.test_an_empty_memory_is_the_bare_model,
        contract.test_a_state_is_a_flat_dict_of_whole_tensors_that_ask_for_no_gradient,
        contract.test_a_write_leaves_the_earlier_state_as_it_was,
        contract.test_what_is_written_is_read,
        contract.test_a_bounded_memory_stays_as_large_as_it_is_and_another_grows,
        contract.test_what_is_forgotten_is_as_if_it_had_never_been_written,
    ],
)
def test_a_memory_with_a_log_keeps_the_contract(subject: ModuleSubject, promise: Any) -> None:
    promise(subject)


def test_a_log_that_subtracts_instead_of_replaying_is_caught(subject: ModuleSubject) -> None:
    class Subtracting(LoggedMemory):
        def forget(self, sources: Any, state: Any) -> Any:
            left = super().forget(sources, state)
            alone = self.module.write(subject.given[2].given, self.module.empty())
            return {**left, "state.memory.0": state["state.memory.0"] - alone["memory.0"]}

    with pytest.raises(AssertionError):
        erased(replace(subject, module=Subtracting(subject.module.module)))


@pytest.fixture
def memory(tmp_path: Path) -> Any:
    with Memory(tmp_path / "memory.db") as memory:
        yield memory


def hidden(seed: int) -> Any:
    return torch.randn(1, 3, 8, generator=torch.Generator().manual_seed(seed))


def test_a_state_in_the_store_is_saved_branched_rolled_back_and_erased(memory: Any, tmp_path: Path) -> None:
    titans = Titans(TitansSettings(width=8))
    me = memory.scope(user="ada")
    sources = [me.observe(f"I keep tuatara number {n}.").id for n in range(3)]
    kept = StoredMemory(me.artefacts, titans)
    assert bits(kept.state()) == bits(titans.empty())
    states = [kept.write(hidden(n), [source]) for n, source in enumerate(sources[:2])]
    assert bits(StoredMemory(me.artefacts, titans).state()) == bits(states[1])
    assert torch.equal(kept.read(hidden(9)), titans.read(hidden(9), states[1]))
    for other in (Titans(TitansSettings(width=8, seed=1)), Titans(TitansSettings(width=8, rate=0.5))):
        assert bits(StoredMemory(me.artefacts, other).state()) == bits(other.empty())
    assert bits(StoredMemory(me.artefacts, titans, "another").state()) == bits(titans.empty())
    assert bits(StoredMemory(memory.scope(user="ben").artefacts, titans).state()) == bits(titans.empty())

    memory.scope(user="ada").branch("try")
    branch = me.on_branch("try")
    longer = StoredMemory(branch.artefacts, titans).write(hidden(2), [sources[2]])
    assert bits(StoredMemory(branch.artefacts, titans).state()) == bits(longer)
    assert bits(kept.state()) == bits(states[1])

    third = kept.write(hidden(3), [sources[2]])
    written = me.artefacts.kept("titans-write")
    assert len(written) == 3
    me.artefacts.forget(written[-1].id)
    assert bits(kept.state()) == bits(states[1])  # rolled back
    me.undo(me.log(limit=1)[0].seq)
    assert bits(kept.state()) == bits(third)

    files = {path for path in (tmp_path / "memory.db.artefacts").rglob("*") if path.is_file()}
    me.erase(sources[0])
    never = titans.write(hidden(3), titans.write(hidden(1), titans.empty()))
    assert bits(kept.state()) == bits(never)
    assert torch.equal(kept.read(hidden(9)), titans.read(hidden(9), never))
    left = {path for path in (tmp_path / "memory.db.artefacts").rglob("*") if path.is_file()}
    assert left < files
    assert not any(base.packed({"given": hidden(0)}, titans.identity) == path.read_bytes() for path in left)


def test_what_is_refused_leaves_no_write_behind(memory: Any) -> None:
    titans = Titans(TitansSettings(width=8))
    me = memory.scope(user="ada")
    source = me.observe("I keep a tuatara.").id
    kept = StoredMemory(me.artefacts, titans)
    state = kept.write(hidden(1), [source])
    with pytest.raises(MnemicError, match="not all numbers"):
        kept.write(hidden(2) * float("nan"), [source])
    with pytest.raises(MnemicError):
        kept.write(hidden(2), ["no such item"])
    assert bits(kept.state()) == bits(state)
    assert len(me.artefacts.kept("titans-write")) == 1


def test_a_state_that_has_not_seen_what_another_wrote_is_not_used(memory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    titans = Titans(TitansSettings(width=8))
    me = memory.scope(user="ada")
    source = me.observe("I keep a tuatara.").id
    here, there = StoredMemory(me.artefacts, titans), StoredMemory(me.artefacts, titans)
    written = titans.write

    def meanwhile(given: Any, state: Any) -> Any:
        monkeypatch.undo()
        there.write(hidden(2), [source])
        return written(given, state)

    monkeypatch.setattr(titans, "write", meanwhile)
    here.write(hidden(1), [source])
    assert bits(here.state()) == bits(written(hidden(1), written(hidden(2), titans.empty())))


def test_a_state_whose_bytes_had_to_make_room_is_made_again(memory: Any) -> None:
    titans = Titans(TitansSettings(width=8))
    me = memory.scope(user="ada")
    kept = StoredMemory(me.artefacts, titans)
    state = kept.write(hidden(1), [me.observe("I keep a tuatara.").id])
    (made,) = me.artefacts.kept("titans")
    assert me.artefacts.drop_bytes(made) > 0
    assert bits(kept.state()) == bits(state)


@pytest.mark.parametrize("failure", [StoreFull("no room"), Conflict("replaced"), NotFound("gone")], ids=repr)
def test_a_write_is_kept_once_where_its_state_cannot_be(
    memory: Any, monkeypatch: pytest.MonkeyPatch, failure: MnemicError
) -> None:
    titans = Titans(TitansSettings(width=8))
    me = memory.scope(user="ada")
    source = me.observe("I keep a tuatara.").id
    kept = StoredMemory(me.artefacts, titans)
    kept.write(hidden(1), [source])
    put = ScopeArtefacts.put

    def fails_for_states(self: Any, made: Any, *, mechanism: str, **others: Any) -> Any:
        if mechanism == "titans":
            raise failure
        return put(self, made, mechanism=mechanism, **others)

    monkeypatch.setattr(ScopeArtefacts, "put", fails_for_states)
    state = kept.write(hidden(2), [source])
    assert len(me.artefacts.kept("titans-write")) == 2
    assert bits(kept.state()) == bits(state)


def test_a_damaged_state_is_made_again_and_a_damaged_write_is_told(memory: Any, tmp_path: Path) -> None:
    titans = Titans(TitansSettings(width=8))
    me = memory.scope(user="ada")
    source = me.observe("I keep a tuatara.").id
    kept = StoredMemory(me.artefacts, titans)
    state = kept.write(hidden(1), [source])
    flip(me.artefacts.open(me.artefacts.kept("titans")[0]))
    assert bits(kept.state()) == bits(state)
    after = kept.write(hidden(2), [source])
    assert bits(kept.state()) == bits(after) == bits(titans.write(hidden(2), state))
    flip(me.artefacts.open(me.artefacts.kept("titans-write")[0]))
    flip(me.artefacts.open(me.artefacts.kept("titans")[0]))
    with pytest.raises((StoreCorrupt, DamagedState)):
        kept.state()


def flip(path: Path) -> None:
    """Turn one bit of a file's last byte."""
    path.chmod(0o600)
    raw = bytearray(path.read_bytes())
    raw[-1] ^= 1
    path.write_bytes(bytes(raw))
