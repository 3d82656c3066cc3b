"""Filters of mem0: what passes is what a plain reading of them says, and nonsense is refused."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic import Memory, ScopedMemory, Settings
from mnemic.errors import Invalid
from mnemic.faces.server.mem0_filters import METADATA, MOST_CASES, cases_of

Plain = dict[str, Any]
FIELDS = {"agent_id": ("x", "y"), "run_id": ("r", "s"), "topic": ("tea", 2)}
ITEMS: list[Plain] = [dict(zip(FIELDS, values, strict=True)) for values in product(*FIELDS.values())]

leaves = st.sampled_from(sorted(FIELDS)).flatmap(
    lambda name: st.one_of(
        st.sampled_from(FIELDS[name]).map(lambda value: {name: value}),
        st.lists(st.sampled_from(FIELDS[name]), min_size=1, max_size=2).map(lambda values: {name: {"in": values}}),
    )
)
trees = st.recursive(
    leaves,
    lambda below: st.tuples(st.sampled_from(["AND", "OR"]), st.lists(below, min_size=1, max_size=3)).map(
        lambda pair: {pair[0]: pair[1]}
    ),
    max_leaves=6,
)
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda below: (
        st.lists(below, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["AND", "OR", "NOT", "user_id", "in", "eq", "metadata", "created_at", "gte", "categories", "*"]
            ),
            below,
            max_size=3,
        )
    ),
    max_leaves=12,
)


@pytest.fixture(scope="module")
def ada() -> Iterator[ScopedMemory]:
    with Memory("memory:", settings=Settings(embedder="none", background=False)) as memory:
        ada = memory.scope(user="ada")
        for number, item in enumerate(ITEMS):
            shelf = ada.shelf(agent=item["agent_id"], session=item["run_id"])
            shelf.write(str(number), slots={METADATA + "topic": item["topic"]})
        yield ada


def passes(item: Plain, filters: Plain) -> bool:
    """Whether an item meets a filter, read as it is written."""
    ((name, value),) = filters.items()
    if name == "AND":
        return all(passes(item, one) for one in value)
    if name == "OR":
        return any(passes(item, one) for one in value)
    return item[name] in (value["in"] if isinstance(value, dict) else [value])


@given(filters=trees)
def test_what_passes_is_what_a_plain_reading_says(ada: ScopedMemory, filters: Plain) -> None:
    cases = cases_of(filters, "UTC")  # six leaves of two values each are never too many
    listed = {one.item.text for case in cases if case.where is not None for one in ada.list(where=case.where)}
    assert listed == {str(number) for number, item in enumerate(ITEMS) if passes(item, filters)}


@given(filters=anything)
def test_nonsense_is_refused_by_name(filters: Any) -> None:
    try:
        assert 0 <= len(cases_of(filters, "UTC")) <= MOST_CASES
    except Invalid as error:
        refused = error.field
    else:
        refused = "filters"
    assert refused.startswith("filters")
