"""What models of tests are told to say, where the contract asks for JSON and for a tool; and a clock that is set."""

from __future__ import annotations

from typing import Final

from mnemic.models.patience import Patience

ANA_PLAYS: Final = '{"name": "Ana", "instrument": "cello", "years": 3}'
A_CALL: Final = '{"thought": "I look it up.", "action": {"tool": "look_up", "arguments": {"name": "Ana"}}}'


def set_patience(slept: list[float]) -> Patience:
    """A patience whose time passes only while it sleeps, and which notes how long it did."""
    clock = [0.0]

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        clock[0] += seconds

    return Patience(sleep, lambda: clock[0])
