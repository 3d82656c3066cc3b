"""Errors speak of what their reader can do: commands become addresses or tools, or the clause goes."""

from __future__ import annotations

import pytest

from mnemic.core.door_words import in_words_of

OFFERED = {"keys create": "", "log": "/v1/log", "hold release": "/v1/release_hold", "follow": "/v1/follow"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("no commit 5 here; `mnemic log` shows them", "no commit 5 here; `/v1/log` shows them"),
        ("no key 'a.b' here; `mnemic keys list` shows them", "no key 'a.b' here"),
        ("Ids have 26 characters; `mnemic list` shows them.", "Ids have 26 characters."),
        ("held; `mnemic hold release 7` lifts it", "held; `/v1/release_hold` (7) lifts it"),
        ("`mnemic follow house zep` has it read", "`/v1/follow` (house, zep) has it read"),
        ("choose others with `mnemic follow NAME`", "choose others with `/v1/follow`"),
        ("see `mnemic log --oldest-first 3`", "see `/v1/log`"),
        ("ask for another (`mnemic keys create`)", "ask for another (`mnemic keys create`)"),
        ("`mnemic flush` makes them", "`mnemic flush` makes them"),
        ("of version 1.2.3; see `mnemic.errors`. Do it again.", "of version 1.2.3; see `mnemic.errors`. Do it again."),
        ("A. Use `mnemic revise` or `mnemic log`. C.", "A. C."),
        ("no name a`b here; `mnemic log` shows them", "no name a`b here; `/v1/log` shows them"),
        ("no `x here; `mnemic log` shows them", "no `x here; `/v1/log` shows them"),
        ("a` b; `mnemic list` has it. d`", "a` b; d`"),
        ("; . `mnemic log`", "; . `/v1/log`"),
    ],
)
def test_commands_become_what_a_door_offers(text: str, said: str) -> None:
    assert in_words_of(text, OFFERED) == said
