"""Names beside dots: none lies on another, all are there, and what is too long says so."""

from __future__ import annotations

import random
from itertools import combinations

from mnemic.lab.kit.plot_frame import FLOOR, TOP, WIDTH
from mnemic.lab.kit.plot_names import LINE, NamedDot, PlacedName, cut_to, place_names
from mnemic.lab.kit.tables import display_width


def overlap(one: PlacedName, other: PlacedName) -> bool:
    (a, b, c, d), (e, f, g, h) = one.box, other.box
    return a < f and e < b and c < h and g < d


def test_no_name_lies_on_another_and_none_leaves_the_picture() -> None:
    rng = random.Random(7)
    for _ in range(60):
        many = rng.randint(1, 15)
        floor = max(FLOOR, TOP + 1.5 * LINE * many)
        near = rng.choice((1, 40, 300))
        dots = [
            NamedDot(48 + rng.uniform(0, near) % 280, rng.uniform(TOP, floor), rng.choice("ab汉") * rng.randint(1, 40))
            for _ in range(many)
        ]
        names = place_names(dots, TOP - LINE / 2, floor)
        assert len(names) == many
        assert not any(overlap(*both) for both in combinations(names, 2))
        assert all(name.box[0] >= 0 and name.box[1] <= WIDTH for name in names)
        assert all(name.box[2] >= TOP - LINE and name.box[3] <= floor for name in names)


def test_a_name_with_room_stands_at_its_dot_and_one_without_is_led_to_it() -> None:
    near, same = NamedDot(60, 100, "a name too long"), NamedDot(60, 100, "for the left")
    (alone,) = place_names([near], 0, 200)
    assert (alone.y, alone.moved, alone.leftwards) == (100, False, False)
    first, second = place_names([near, same], 0, 200)
    assert not first.moved
    assert second.moved
    (right,) = place_names([NamedDot(330, 100, "right")], 0, 200)
    assert right.leftwards


def test_a_name_is_kept_off_the_dots_of_others_while_there_is_room() -> None:
    names = place_names([NamedDot(60, 100, "a name"), NamedDot(80, 100, "b")], 0, 200)
    of = {name.text: name for name in names}
    assert of["a name"].moved or of["a name"].leftwards


def test_what_is_cut_says_so_and_counts_wide_characters_twice() -> None:
    assert cut_to("mnemic", 6) == "mnemic"
    assert cut_to("mnemic", 5) == "mnem…"
    assert cut_to("汉汉汉", 6) == "汉汉汉"
    assert cut_to("汉汉汉", 5) == "汉汉…"
    for columns in range(1, 12):
        assert display_width(cut_to("a汉b汉c汉 汉", columns)) <= columns
