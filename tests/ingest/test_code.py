"""Source code: blocks at definitions, every line in one of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import mnemic
from mnemic.core.tokens import count_tokens
from mnemic.ingest import Message, read
from mnemic.ingest.code import blocks

Write = Callable[[str, str | bytes], Path]

PYTHON = '''"""A cart."""
import os

RATE = 3

# adds one
@cached
def add(cart, item):
    def inner():
        pass
    return inner


class Cart:
    """Holds."""

    def total(self):
        return 1
'''

SCRIPT = """// A cart
import {a} from "b";

/** Adds. */
export async function addItem(cart, item) {
  const x = 1;

  return x;
}

export class Cart {
  total() { return 1; }
}
"""


def test_python_is_cut_at_definitions_with_their_comments_and_decorators(write: Write) -> None:
    found = [m for m in read(write("cart.py", PYTHON)) if isinstance(m, Message)]
    assert [(m.slots.get("heading"), m.slots["lines"]) for m in found] == [
        (None, "1-5"),
        ("add", "6-13"),
        ("Cart", "14-19"),
    ]
    assert {m.slots["title"] for m in found} == {"cart.py"}
    assert found[1].text.startswith("# adds one\n@cached\ndef add")


def test_a_long_class_is_cut_at_its_methods() -> None:
    methods = "".join(f"    def m{n}(self):\n        return {'+'.join(map(str, range(60)))}\n\n" for n in range(8))
    found = blocks(f"class Cart:\n    rate = 1\n\n{methods}\nx = 2", indented=True)
    assert [block.path for block in found][:3] == [("Cart",), ("Cart", "m0"), ("Cart", "m1")]
    assert found[-1].path == ()
    assert found[-1].text.strip() == "x = 2"


def test_other_languages_are_cut_at_outer_lines_after_a_blank_one() -> None:
    found = blocks(SCRIPT, indented=False)
    assert [(b.first, b.path) for b in found] == [(1, ()), (4, ("addItem",)), (11, ("Cart",))]


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("func (c *Cart) Total(x int) int {", "Total"),
        ("impl<T> Cart<T> {", "Cart"),
        ("pub(crate) async fn run() {", "run"),
        ("static int add(int a, int b)", "add"),
        ("void Cart::total() {}", "Cart::total"),
        ("const rate = 3;", "rate"),
        ("CREATE TABLE item (id INT);", "item"),
        ("public final class Cart extends Shop {", "Cart"),
    ],
)
def test_the_name_of_what_a_line_defines(line: str, name: str) -> None:
    assert blocks(line, indented=False)[0].path == (name,)


def test_every_line_of_our_own_code_is_in_one_block() -> None:
    for path in Path(mnemic.__file__).parent.rglob("*.py"):
        text = path.read_text()
        found = blocks(text, indented=True)
        assert "\n".join(block.text for block in found) == text
        assert [b.first for b in found[1:]] == [b.last + 1 for b in found[:-1]]


@pytest.mark.parametrize("indented", [True, False])
@given(text=st.text("defclas x:\n\t@#(){}", max_size=300))
def test_every_line_of_anything_is_in_one_block(text: str, *, indented: bool) -> None:
    assert "\n".join(block.text for block in blocks(text, indented=indented)) == text


def test_small_neighbours_share_a_block_and_large_ones_do_not() -> None:
    found = blocks("\n\n".join(f"x{n} = {n}" for n in range(400)), indented=False)
    assert 1 < len(found) < 40
    assert all(count_tokens(block.text) <= 400 for block in found)


def test_a_line_that_could_be_read_in_many_ways_takes_no_time() -> None:
    for unit in ("* ", "a ", "a:", "a* ", "&& ", "function ", "impl<", "x ("):
        blocks(unit * 5_000, indented=False)
