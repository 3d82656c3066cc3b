"""Attacks by clocks on the lease of a file: machines that start again, crash, close, and whose clocks jump by years."""

from __future__ import annotations

import random
from contextlib import closing
from dataclasses import dataclass
from typing import Final
from unittest.mock import patch

import apsw

from mnemic.errors import StoreLocked
from mnemic.store.sqlite import disk
from mnemic.store.sqlite.disk import LEASE_SECONDS, SKEW_SECONDS, Host, take_lease
from mnemic.store.sqlite.schema import TOKENS
from mnemic.testing.attack.frame import AttackReport

QUICK = 1_500

_JUMPS: Final = (0.0, 0.0, 0.0, 1.0, -2.0, 90.0, -90.0, 3_600.0, -86_400.0, 31_536_000.0, -31_536_000.0)
_WAIT: Final = LEASE_SECONDS + SKEW_SECONDS
"""Longest that anybody is kept from writing who goes on asking."""


def attack(rounds: int, seed: int) -> AttackReport:
    """Let three machines write to one file, and see who is refused, and for how long."""
    tries, failures = _lives(rounds, seed)
    with patch.object(disk, "SKEW_SECONDS", float("inf")):
        _, believed = _lives(min(rounds, 500), seed)
    with patch.object(Host, "shares_locks_with", lambda host, other: host.boot == other.boot):
        _, forgot = _lives(min(rounds, 500), seed)
    return AttackReport(tries=tries, failures=failures, caught_by_control=min(len(believed), len(forgot)))


@dataclass
class _Machine:
    """One that writes: what it is called, which start of it this is, and how far its clock is off."""

    name: str
    starts: int = 0
    off: float = 0.0
    refused_since: float | None = None

    @property
    def host(self) -> Host:
        return Host(f"{self.name}-boot-{self.starts}", self.name)


def _lives(rounds: int, seed: int) -> tuple[int, list[str]]:
    chance, tries, failures = random.Random(seed), 0, list[str]()
    while tries < rounds:
        tries += 40
        with closing(apsw.Connection(":memory:")) as db:
            db.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value BLOB)")
            disk.set_meta(db, "tokens", b"%d" % TOKENS)
            failures += [f"seed {seed}, life {tries // 40}: {problem}" for problem in _life(db, chance)]
    return tries, failures


def _life(db: apsw.Connection, chance: random.Random) -> list[str]:
    machines, now, wrong = [_Machine(name) for name in "abc"], 1_800_000_000.0, list[str]()
    last: tuple[_Machine, float, Host, float] | None = None
    """Who wrote last and has not closed since; when, as which start of it, and by a clock how far off."""
    for _ in range(40):
        now += chance.choice((0.01, 1.0, 5.0, 20.0, 61.0))
        machine = chance.choice(machines)
        match chance.randrange(6):
            case 0:  # its clock is set, and what it had waited by it means nothing
                machine.off, machine.refused_since = chance.choice(_JUMPS), None
            case 1:
                machine.starts += 1
            case 2 if last is not None and last[2] == machine.host:
                disk.drop_lease(db, machine.host)
                last = None
            case _:
                try:
                    take_lease(db, machine.host, now + machine.off)
                except StoreLocked:
                    since = machine.refused_since = machine.refused_since or now
                    if last is None or last[0] is machine:
                        wrong.append(f"machine {machine.name} is refused, and nobody else has written since it closed")
                    elif now - since > _WAIT and now - last[1] > _WAIT:
                        wrong.append(f"machine {machine.name} is refused for {now - since:.0f} s")
                else:
                    if last is not None and last[0] is not machine:
                        soon = now - last[1] < LEASE_SECONDS / 2 - SKEW_SECONDS
                        if soon and abs(last[3] - machine.off) < SKEW_SECONDS - 1:
                            wrong.append(f"{machine.name} writes {now - last[1]:.0f} s after {last[0].name} did")
                    last, machine.refused_since = (machine, now, machine.host, machine.off), None
                    for other in machines:
                        other.refused_since = other.refused_since if other is machine else None
    return wrong
