"""The patterns of schemas say just what the checks behind them refuse: neither is the laxer."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mnemic import Memory, Settings
from mnemic.core.checking import clean_name, question, words
from mnemic.core.clock import moment_or_span
from mnemic.core.ids import item_id
from mnemic.core.json_schema import check
from mnemic.errors import Invalid, MnemicError
from mnemic.operations.argument_schemas import ID, MARK, any_text, name_text, nonblank_text, time_or_span
from mnemic.operations.operation_table import OPERATIONS
from mnemic.watching.feed import _MARK

Check = Callable[[str, Any], Any]
SCHEMAS: dict[str, tuple[dict[str, Any], Check]] = {
    "name": (name_text(), clean_name),
    "nonblank": (nonblank_text(), question),
    "any": (any_text(), words),
    "id": (ID, item_id),
}
_ODD = st.sampled_from(" \t\n\x00\x1c\x1f\x7f\x85\xa0\u2003\u3000\ufeffaz019u\N{GRINNING FACE}")
_TEXTS = st.text(_ODD, max_size=4) | st.text(max_size=30) | st.text("0123456789abcdefghjkmnpqrstvwxyzuU", max_size=27)


def fits(schema: dict[str, Any], value: str) -> bool:
    """Whether a value fits a schema, its pattern included, which `check` leaves to the verbs."""
    try:
        check(schema, value)
    except Invalid:
        return False
    return re.search(schema["pattern"].removesuffix("$") + r"\Z", value) is not None


def is_taken(taken_by: Check, value: str) -> bool:
    try:
        taken_by("x", value)
    except MnemicError:
        return False
    return True


@pytest.mark.parametrize("kind", SCHEMAS)
@given(value=_TEXTS)
@example(value="")
@example(value="n" * 256)
@example(value="n" * 257)
@example(value="name\n")
@example(value="0" * 26)
@example(value="8" * 26)
def test_a_schema_allows_what_the_check_behind_it_takes(kind: str, value: str) -> None:
    schema, taken_by = SCHEMAS[kind]
    assert fits(schema, value) == is_taken(taken_by, value), (kind, value)


@given(
    count=st.integers(1, 999),
    unit=st.sampled_from(["seconds", "minute", "hour", "days", "week", "years", "s", "min", "h", "d", "w", "y"]),
)
def test_a_span_that_fits_is_read(count: int, unit: str) -> None:
    span = time_or_span("")["anyOf"][2]
    for written in (f"{count} {unit}", f"{count}{unit}"):
        assert fits(span, written)
        assert is_taken(moment_or_span, written)


def test_what_is_no_mark_does_not_fit() -> None:
    for value in ("0", "12", "12-0123456789abcdef"):
        assert fits(MARK, value)
        assert _MARK.fullmatch(value)
    for value in ("", "-1", "12-", "12-xyz", "1 "):
        assert not fits(MARK, value)
        assert not _MARK.fullmatch(value)


@pytest.mark.parametrize("name", ["erase", "erase_user"])
@pytest.mark.parametrize(
    ("reason", "taken"), [("", True), ("GDPR request 12", True), ("a\x06", False), ("a" * 257, False)]
)
def test_a_reason_is_a_line_that_may_be_empty(name: str, reason: str, taken: bool) -> None:
    assert fits(OPERATIONS[name].parameters["properties"]["reason"], reason) == taken
    with Memory("memory:", settings=Settings(embedder="none", background=False)) as memory:
        me = memory.scope(user="ada")
        me.shelf(session="talk").observe("The ferry leaves at nine.")
        arguments = {"session": "talk"} if name == "erase" else {}
        assert is_taken(lambda _, value: getattr(me, name)(reason=value, **arguments), reason) == taken
