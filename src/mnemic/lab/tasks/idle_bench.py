"""What a store costs while nothing happens in it: idle spaces, idle watches, a look for work; and how soon a commit of
another process is heard.

The idle spaces are copies of one that was written and understood, made by plain statements: their commits are in no
journal, which nothing that is measured here reads.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from mnemic.aio import AsyncMemory
from mnemic.lab.kit.figures import Figure, Measurements
from mnemic.lab.kit.log import provenance
from mnemic.lanes.backlog import Backlog
from mnemic.memory import Memory
from mnemic.settings import Settings
from mnemic.store.postgres.postgres_relations import PostgresRelations
from mnemic.store.postgres.postgres_schema import SCHEMA
from mnemic.store.postgres.transaction import ACROSS
from mnemic.store.sqlite.disk import file_system
from mnemic.store.sqlite.sqlite_relations import SqliteRelations
from mnemic.store.urls import shown

if TYPE_CHECKING:
    from multiprocessing.queues import Queue

    from mnemic.store.engine.rows import Rows
    from mnemic.watching.feed import AsyncWatch

SHARE_BAR: Final = 2.0
"""Per cent of a core that waiting may take."""
LOOK_BAR: Final = 5.0
"""Milliseconds that a look for work may take."""
HEARD_BAR: Final = 30.0
"""Milliseconds in which the middling commit of another process is heard."""
PAUSES: Final = (0.05, 0.4)
"""Least and most seconds between two commits of the other process."""

_COPIED: Final = {
    "space": {"id": "id + further", "number": "number + further", "user": "'user ' || (id + further)"},
    "version": {"ver": "ver + further", "space": "space + further"},
    "entry": {"ver": "ver + further", "space": "space + further"},
    "lane": {"cursor": "cursor + further", "space": "space + further"},
}
"""Of each table that an idle space has a row in: the columns that differ, and how; the first tells its rows apart."""


_COLUMNS: Final = (
    "SELECT column_name::text FROM information_schema.columns WHERE table_schema = %s AND table_name = %s"
    " AND is_generated = 'NEVER'"
)


JUDGED_FROM: Final = "1,000,000 users, 1,000 watches, 60 seconds of waiting and 100 commits"
"""As much as the bars are stated for (`IdleLoad.stated`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IdleLoad:
    """How much is measured.

    Attributes:
        spaces: Users of whom everything is understood.
        watches: Of as many of them, each awaited.
        seconds: For how long nothing happens.
        writes: Commits of the other process.
    """

    spaces: int = 1_000_000
    watches: int = 1_000
    seconds: float = 60.0
    looks: int = 5
    writes: int = 100
    seed: int = 0

    @property
    def stated(self) -> bool:
        """Whether it is as much as the bars are stated for."""
        return self.spaces >= 1_000_000 and self.watches >= 1_000 and self.seconds >= 60 and self.writes >= 100


def bench_idle(
    load: IdleLoad = IdleLoad(), progress: Callable[[str], None] = lambda _: None, store: str | None = None
) -> Measurements:
    """Measure, on a file that is gone afterwards, or on an empty database at a URL, which keeps what was made."""
    with TemporaryDirectory(prefix="mnemic-idle-") as folder:
        path = store or str(Path(folder) / "memory.db")
        progress(f"{load.spaces:,} idle spaces")
        make_idle_spaces(path, load.spaces)
        progress("looks for work")
        looks = look_times(path, load.looks)
        shares, heard = asyncio.run(_watched(path, load, progress))
        disk = file_system(Path(folder)) if store is None else shown(store)
        header = {**provenance(), "load": asdict(load), "file_system": disk}
    return Measurements(header=header, figures=tuple(_figures(load, looks, shares, heard)))


def make_idle_spaces(path: Path | str, spaces: int) -> None:
    """Make a store of so many users, each of whom said one thing, which every lane has dealt with."""
    with Memory(path, settings=Settings(background=False), embedder="none") as memory:
        memory.scope(user="user 1").observe("The cello has arrived.")
        memory.flush()
        memory._opened.store.transact(_copy, spaces - 1)


def _copy(rows: Rows, spaces: int) -> None:
    """Copy the rows of the first space so many times."""
    relations = rows.spaces.relations
    if isinstance(relations, SqliteRelations):
        _copy_in_file(relations, spaces)
    else:
        assert isinstance(relations, PostgresRelations)
        _copy_on_server(relations, spaces)


def _copy_in_file(relations: SqliteRelations, spaces: int) -> None:
    db = relations.db
    for table, differs in _COPIED.items():
        counted = next(iter(differs))
        names = [str(name) for _, name, *_ in db.execute("SELECT * FROM pragma_table_info(?)", (table,))]
        values = [differs.get(name, name) for name in names]
        db.execute(
            "WITH RECURSIVE more(further) AS (SELECT 1 UNION ALL SELECT further + 1 FROM more WHERE further < ?)"  # noqa: S608 - names of the schema
            f" INSERT INTO {table}({', '.join(names)}) SELECT {', '.join(values)} FROM more CROSS JOIN {table}"
            f" WHERE {counted} = 1",
            (spaces,),
        )


def _copy_on_server(relations: PostgresRelations, spaces: int) -> None:
    transaction = relations.transaction
    ((tenant,),) = transaction.ask(ACROSS, f'SELECT "id" FROM {SCHEMA}."tenant" WHERE "id" > 0')  # noqa: S608 - ours
    head = transaction.moved_head(tenant)
    for table, differs in _COPIED.items():
        named = transaction.ask(tenant, _COLUMNS, (SCHEMA, table))
        columns = ", ".join(f'"{name}"' for (name,) in named)
        differing = differs | {"user": "'user ' || (1 + further)"}  # a space's id has its tenant's in it
        values = ", ".join(differing.get(name, f'"{name}"') for (name,) in named)
        tenants = {"space": "home"}.get(table, "tenant")
        transaction.tell(
            tenant,
            f"INSERT INTO {SCHEMA}.{table} ({columns}) SELECT {values} FROM {SCHEMA}.{table},"  # noqa: S608 - names of the schema
            f' generate_series(1, %s::bigint) further WHERE "{tenants}" = %s',
            (spaces, tenant),
        )
    head.vers += spaces
    head.spaces += spaces


def look_times(path: Path | str, looks: int) -> list[float]:
    """Time looks for work at every lane of rules, each as a process begins: milliseconds."""
    times: list[float] = []
    with Memory(path, settings=Settings(background=False), embedder="none") as memory:
        opened = memory._opened
        lanes = opened.background.by_default
        for _ in range(looks):
            backlog = Backlog(opened.store, opened.settings.backlog_limit, lanes, opened.meaning.lanes)
            began = time.perf_counter()
            waiting = [backlog.behind(lane) for lane in lanes]
            times.append((time.perf_counter() - began) * 1000)
            if any(waiting):
                raise RuntimeError("a space that was to be idle has work")
    return times


async def _watched(path: str, load: IdleLoad, progress: Callable[[str], None]) -> tuple[dict[str, float], list[float]]:
    """Measure what a worker and watches take of a core while they wait, and when the first watch hears of commits."""
    settings = Settings(background=False)
    shares: dict[str, float] = {}
    async with AsyncMemory(path, settings=settings, embedder="none") as memory:
        with _worker(memory._plain):
            progress("a worker that waits")
            shares[f"a worker and {load.spaces:,} idle spaces"] = await _share(load.seconds)
        watches = [memory.watch(user=f"user {n}") for n in range(1, load.watches + 1)]
        coming = [asyncio.ensure_future(anext(watch)) for watch in watches]
        await asyncio.sleep(1)
        progress("watches that wait")
        shares[f"{load.watches:,} idle watches"] = await _share(load.seconds)
        progress("commits of another process")
        heard = await _heard(path, load, watches[0], coming[0])
        for watch in watches:
            await watch.close()
        await asyncio.gather(*coming[1:], return_exceptions=True)
    return shares, heard


@contextmanager
def _worker(memory: Memory) -> Iterator[None]:
    """Have a thread of this process serve lanes and jobs meanwhile."""
    stop = threading.Event()
    thread = threading.Thread(target=memory.admin.serve, args=(stop,))
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


async def _share(seconds: float) -> float:
    """Measure what this process takes of a core: per cent of the time."""
    began, cpu_before = time.perf_counter(), time.process_time()
    await asyncio.sleep(seconds)
    return (time.process_time() - cpu_before) / (time.perf_counter() - began) * 100


async def _heard(path: str, load: IdleLoad, watch: AsyncWatch, first: asyncio.Future[Any]) -> list[float]:
    """Have another process commit, and time from each commit's return to its notice: milliseconds."""
    spawn = multiprocessing.get_context("spawn")
    committed: Queue[float] = spawn.Queue()
    process: BaseProcess = spawn.Process(target=_commit, args=(path, load.writes, load.seed, committed))
    process.start()
    arrived: list[float] = []
    for number in range(load.writes):
        await (anext(watch) if number else first)
        arrived.append(time.monotonic())
    returned = [committed.get() for _ in range(load.writes)]
    process.join()
    return [max(0.0, at - done) * 1000 for at, done in zip(arrived, returned, strict=True)]


def _commit(path: str, writes: int, seed: int, committed: Queue[float]) -> None:
    chance = random.Random(seed)  # noqa: S311 - paces writes
    with Memory(path, settings=Settings(background=False), embedder="none") as memory:
        me = memory.scope(user="user 1")
        for number in range(writes):
            time.sleep(chance.uniform(*PAUSES))
            me.observe(f"Message {number}.")
            committed.put(time.monotonic())


def _figures(load: IdleLoad, looks: list[float], shares: dict[str, float], heard: list[float]) -> Iterator[Figure]:
    detail = f"{load.spaces:,} idle spaces, first of {load.looks} looks {looks[0]:.2f} ms"
    yield Figure(
        name="a look for work: middling", value=float(np.median(looks)), unit="ms", bar=LOOK_BAR, detail=detail
    )
    for name, share in shares.items():
        yield Figure(name=name, value=share, unit="% of a core", bar=SHARE_BAR, detail=f"{load.seconds:g} s")
    for share, bar in ((50, HEARD_BAR), (95, None)):
        value = float(np.percentile(heard, share))
        detail = f"{load.writes} commits {PAUSES[0]:g} - {PAUSES[1]:g} s apart, beside {load.watches:,} watches"
        yield Figure(
            name=f"a commit of another process is heard: p{share}", value=value, unit="ms", bar=bar, detail=detail
        )
