"""What the torture of PostgreSQL would find: a loss, and a thing done twice."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from mnemic.testing.torture import server_kills
from mnemic.testing.torture.__main__ import main
from mnemic.testing.torture.workers import USERS, opened, write_one

pytestmark = pytest.mark.heavy


def test_an_audit_finds_what_was_lost_and_what_is_there_twice(postgres_database: str) -> None:
    with opened(postgres_database) as memory:
        for number in range(3):
            write_one(memory, number)
        memory.scope(user=USERS[0]).observe("From now on, call my project number 1 by its name.")
    problems: list[str] = []
    server_kills.audit(postgres_database, ["try 0", "done 0", "try 1", "try 2", "try 7", "done 7"], problems.append)
    assert problems == ["7 was acknowledged, and is there 0 times", "1 is there 2 times"]


@pytest.mark.slow
def test_nothing_is_lost_when_the_standby_takes_over_and_back() -> None:
    report = server_kills.failover(runs=2)
    assert report.passed, report.table()
    assert report.figures["failovers"] == 2
    assert report.figures["acknowledged"] > 20


def test_failover_is_of_postgresql_alone() -> None:
    refused = CliRunner().invoke(main, ["kill", "--failover"])
    assert (refused.exit_code, "--failover is of `postgres`" in refused.output) == (2, True)
