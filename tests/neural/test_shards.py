"""What is taught lies in shards: by its id alone, under names that stay, and gone with its sources."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="needs torch: pip install torch==2.13.0")

from hypothesis import given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from mnemic.errors import DamagedState, TooLarge  # noqa: E402
from mnemic.neural import shards  # noqa: E402
from mnemic.neural.base import State, source_digests  # noqa: E402
from mnemic.neural.lora_memory import LoraMemory, LoraSettings, TaughtFact  # noqa: E402
from mnemic.neural.memgen import Experience, MemGen  # noqa: E402
from mnemic.neural.memgen_weaver import MemGenSettings  # noqa: E402
from mnemic.neural.wise import Edit, WiseMemory, WiseSettings  # noqa: E402


@dataclass(frozen=True)
class Lesson:
    id: str


def held(*sources: str) -> State:
    return {"sources": source_digests(sources), "weight": torch.zeros(2)}


@given(st.lists(st.text(min_size=1, max_size=6), unique=True), st.integers(1, 5))
def test_where_something_lies_depends_on_its_id_alone(ids: list[str], count: int) -> None:
    given = [Lesson(one) for one in ids]
    lying = shards.lying(given, count, len(ids) + 1, "lessons")
    assert list(lying) == sorted(lying)
    assert sorted(one.id for there in lying.values() for one in there) == sorted(ids)
    for number, there in lying.items():
        assert {shards.shard_of(one.id, count) for one in there} == {number}
        assert there == [one for one in given if one in there], "in the order given"
        assert shards.lying(there, count, len(ids), "lessons") == {number: there}


@pytest.mark.parametrize(
    ("count", "before", "numbers"),
    [(0, 0, {1}), (5, 0, {1}), (6, 0, {2, 3, 4}), (20, 0, {4, 5, 6}), (100, 0, {5, 6, 7}), (17, 4, {4}), (3, 4, {4}),
     (8, 1, {1}), (11, 1, {3, 4, 5}), (20, 2, {2}), (21, 2, {4, 5, 6})],
)  # fmt: skip
def test_a_number_is_chosen_by_what_there_is_and_kept_when_some_of_it_goes(
    count: int, before: int, numbers: set[int]
) -> None:
    assert shards.count_for([f"fact {n}" for n in range(count)], before) in numbers


def test_the_number_is_one_in_which_no_shard_holds_much_more_than_another() -> None:
    """In two shards all of these lie in one."""
    ids = [f"user/{slot}" for slot in ("city", "employer", "mother", "sister", "pet", "allergy")]
    assert {shards.shard_of(id, 2) for id in ids} == {0}
    assert shards.count_for(ids) == 3


def test_a_shard_that_would_hold_too_much_is_refused_and_named() -> None:
    given = [Lesson(str(n)) for n in range(3)]
    assert shards.lying(given, 1, 3, "lessons") == {0: given}
    with pytest.raises(TooLarge, match="lessons: are 3, and 3 of them in one shard"):
        shards.lying(given, 1, 2, "lessons")


def test_a_state_is_its_shards_and_a_source_takes_each_of_its_own_along() -> None:
    parts = {1: held("a", "b"), 10: held("b"), 2: held()}
    state = shards.whole(parts)
    assert set(state) == {f"shard.{n}.{name}" for n in (1, 2, 10) for name in ("sources", "weight")}
    assert shards.numbers(state) == [1, 2, 10]
    for number, part in parts.items():
        assert shards.part(state, number) == part
    assert shards.part(state, 0) == {}
    assert shards.numbers(shards.without(state, ["a"])) == [2, 10]
    assert shards.numbers(shards.without(state, ["b", "c"])) == [2]
    assert shards.without(state, ["c"]) == state


def test_half_a_shard_is_told_of_and_goes_with_whatever_is_forgotten() -> None:
    state = shards.whole({1: held("a"), 2: {"weight": torch.zeros(2)}})
    assert shards.complete(state, 1, ["weight"]) == shards.part(state, 1)
    assert shards.complete(state, 7, ["weight"]) == {}
    with pytest.raises(DamagedState, match="shard 2 lacks sources"):
        shards.complete(state, 2, ["weight", "sources"])
    assert shards.numbers(shards.without(state, ["b"])) == [1], "nothing says that it was not learnt from it"


def test_half_an_adapter_is_refused_by_name_and_learnt_anew(tiny: Any) -> None:
    memory = LoraMemory(tiny, LoraSettings(others=1, sentences=1, **SMALL))
    fact = TaughtFact("city", ("where do I live?",), "in Oslo", sources=("turn 1",))
    state = memory.write([fact], memory.empty())
    for lost in (f"shard.0.base_model.model.{UP}.lora_B.weight", "shard.0.learnt", "shard.0.sources"):
        half = {name: tensor for name, tensor in state.items() if name != lost}
        if "lora_B" in lost:
            for use in (memory.attach, lambda half: memory.peft_files(half, 0)):
                with pytest.raises(DamagedState, match="lora_B"):
                    use(half)
        again = memory.write([fact], half)
        assert again.keys() == state.keys()


SMALL = {"rank": 2, "first": 2, "targets": ("mlp.up_proj",), "batch": 2, "passes": 1, "least": 1}
UP = "model.layers.2.mlp.up_proj"


@pytest.mark.parametrize(
    ("kind", "opened", "names", "digest"),
    [
        (
            TaughtFact, lambda tiny: LoraMemory(tiny, LoraSettings(others=1, sentences=1, **SMALL)),
            {f"base_model.model.{UP}.lora_A.weight", f"base_model.model.{UP}.lora_B.weight", "learnt"},
            ("learnt", "632613777517fdcf1a29bfcde2bd016bb3caff20fca4f085d618e93ea0351456"),
        ),
        (
            Experience, lambda tiny: MemGen(tiny, MemGenSettings(latents=2, untold=1, **SMALL)),
            {"queries", "size", f"{UP}.weight.A", f"{UP}.weight.B", "projection.A", "projection.B", "weight", "offset",
             "learnt"},
            ("learnt", "fb24825169985b423e09cdc48c4f0b9b082a05d3e6c3216730e2cd4c1880cdd1"),
        ),
        (
            Edit, lambda tiny: WiseMemory(tiny, WiseSettings(layer=1, steps=1, unrelated=1)),
            {"delta", "epsilon", "edits"},
            ("edits", "b5bf98ea759359a0fc69ed06228565c6c7f7526fd959e79fc36c4cc842d6b75d"),
        ),
    ],
)  # fmt: skip
def test_names_and_digests_in_files_are_those_of_the_format(
    tiny: Any, kind: Any, opened: Any, names: set[str], digest: tuple[str, str]
) -> None:
    """Files stand that have them: by another name a shard is lost, by another digest it is learnt anew."""
    memory, name, expected = opened(tiny), *digest
    fact = kind("city", ("where do I live?",), "in Oslo", ("where does she live?",), ("turn 1", "page"))
    state = memory.write([fact], memory.empty())
    assert set(state) == {f"shard.0.{part}" for part in names | {"sources"}}
    assert bytes(state[f"shard.0.{name}"].flatten().tolist()).hex() == expected
    assert memory.forget({"page"}, state) == {}
