"""A tool's schema is held against what a model gave, and the field that is wrong is named by its path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.core.json_schema import KEYWORDS, check, flag, many, shape, text, whole
from mnemic.errors import Invalid
from mnemic.registry import TOOLS, load

ORDER = shape(
    {"name": text("what", among=("tea", "coffee"))},
    {"cups": whole(low=1, high=9), "hot": flag(), "with": many(shape({"what": text()}), minItems=1)},
)


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({}, "name"),
        ({"name": 3}, "name"),
        ({"name": "water"}, "name"),
        ({"name": "tea", "cups": 0}, "cups"),
        ({"name": "tea", "cups": 10}, "cups"),
        ({"name": "tea", "cups": True}, "cups"),
        ({"name": "tea", "cups": 1.5}, "cups"),
        ({"name": "tea", "hot": "yes"}, "hot"),
        ({"name": "tea", "with": []}, "with"),
        ({"name": "tea", "with": [{"what": "milk"}, {}]}, "with[1].what"),
        ({"name": "tea", "with": [{"what": None}]}, "with[0].what"),
        ({"name": "tea", "user": "bob"}, "user"),
        ([], "arguments"),
    ],
)
def test_what_does_not_fit_is_named_by_its_path(given: object, field: str) -> None:
    with pytest.raises(Invalid) as caught:
        check(ORDER, given)
    assert caught.value.field == field


def test_what_fits_passes() -> None:
    check(ORDER, {"name": "tea", "cups": 9, "hot": False, "with": [{"what": "milk"}]})


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 12) | st.floats(allow_nan=False) | st.sampled_from(["tea", "x", ""]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["name", "cups", "hot", "with", "what"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(ANYTHING)
def test_it_agrees_with_the_standard_validator(value: Any) -> None:
    # JSON schema calls 1.0 an integer; JSON from a model says 1.
    if any(isinstance(one, float) for one in _leaves(value)):
        return
    fits = jsonschema.Draft202012Validator(ORDER).is_valid(value)
    try:
        check(ORDER, value)
    except Invalid:
        assert not fits
    else:
        assert fits


def _leaves(value: Any) -> Iterator[Any]:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for one in inner:
        yield from _leaves(one)
    yield value


def _schemas(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield schema
    for one in schema.get("properties", {}).values():
        yield from _schemas(one)
    if "items" in schema:
        yield from _schemas(schema["items"])


@pytest.mark.parametrize("profile", TOOLS)
def test_the_tools_use_no_keyword_that_is_not_checked_and_take_no_other_arguments(profile: str) -> None:
    for tool in load(TOOLS, profile):
        jsonschema.Draft202012Validator.check_schema(tool.parameters)
        # The reference memory server lets others pass unread, and so does what stands in for it.
        assert profile == "reference" or tool.parameters["additionalProperties"] is False
        for schema in _schemas(tool.parameters):
            assert set(schema) <= KEYWORDS, (tool.name, schema)
        if tool.result is not None:
            jsonschema.Draft202012Validator.check_schema(tool.result)


@pytest.mark.parametrize("profile", TOOLS)
def test_no_argument_names_a_user_a_tenant_or_a_store(profile: str) -> None:
    for tool in load(TOOLS, profile):
        assert not {"user", "tenant", "store", "scope", "agent", "session", "actor"} & set(
            tool.parameters["properties"]
        )
