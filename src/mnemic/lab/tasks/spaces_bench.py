"""Measures what a process takes that has the memories of many users open, with vectors, and asks one after the other.

That is the worst order for a cache: each memory is asked again when all the others have been. Every user has a copy
of what one was given, made by plain statements: their commits are in no journal, which nothing measured here reads. Run
as `python -m mnemic.lab.tasks.spaces_bench FILE`, it is the process that is measured.
"""

from __future__ import annotations

import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

import numpy as np

from mnemic.core.queries import Filter, Query, View
from mnemic.index.catalogues import Catalogues
from mnemic.lab.kit.figures import Figure, Measurements
from mnemic.lab.kit.generate import Talk
from mnemic.lab.kit.given_vectors import give_vectors
from mnemic.lab.kit.log import provenance
from mnemic.lab.tasks.vectors.vector_data import synthetic
from mnemic.memory import Memory
from mnemic.settings import Settings
from mnemic.store.sqlite.disk import file_system
from mnemic.store.sqlite.sqlite_relations import SqliteRelations
from mnemic.store.sqlite.sqlite_store import SqliteStore

if TYPE_CHECKING:
    from mnemic.store.engine.rows import Rows

MEMORY_BAR: Final = 512.0
"""Megabytes that the process may take at its most."""
QUESTION: Final = "What did we plan for the summer?"
BATCH: Final = 100
"""Messages to an observe."""

_COPIED: Final = {
    "space": {"id": "id + :further", "number": "number + :further", "user": "'user ' || :further"},
    "version": {"ver": "ver + :further * :span", "space": "space + :further"},
    "entry": {"ver": "ver + :further * :span", "space": "space + :further"},
    "vector": {"ver": "ver + :further * :span", "space": "space + :further"},
    "lane": {"cursor": "cursor + :further * :span", "space": "space + :further"},
}
"""Of each table that a space has rows in: what differs in a copy of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ManySpaces:
    """How much is measured; the defaults are what the bar is stated for."""

    spaces: int = 100
    items: int = 10_000
    seed: int = 0

    @property
    def stated(self) -> bool:
        """Whether it is as much as the bar is stated for."""
        return self.spaces >= 100 and self.items >= 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SpacesRead:
    """What reading every space twice took.

    Attributes:
        bare, peak: Megabytes that the process had at its most before the first reading, and at the end.
        first, again: Milliseconds of CPU that a reading took in the first round and in the second, the middling one.
        held: Bytes that catalogues take at the end, by their own account.
    """

    bare: float
    peak: float
    first: float
    again: float
    held: int


def bench_spaces(size: ManySpaces = ManySpaces(), progress: Callable[[str], None] = lambda _: None) -> Measurements:
    """Measure, on a file that is gone afterwards."""
    with TemporaryDirectory(prefix="mnemic-spaces-") as folder:
        path = Path(folder) / "memory.db"
        progress(f"{size.spaces:,} users with {size.items:,} items and vectors each")
        make_many_spaces(path, size)
        progress("a process that asks each of them, twice")
        command = [sys.executable, "-m", "mnemic.lab.tasks.spaces_bench", str(path)]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout  # noqa: S603 - ourselves
        spaces_read = SpacesRead(**json.loads(printed))
        header = {**provenance(), "size": asdict(size), "file_system": file_system(Path(folder))}
    return Measurements(header=header, figures=_figures(size, spaces_read))


def _figures(size: ManySpaces, spaces_read: SpacesRead) -> tuple[Figure, ...]:
    kept = (
        f"catalogues {spaces_read.held / 1e6:,.0f} MB of the {Settings().catalogue_bytes / 1e6:,.0f} that they may take"
    )
    return (
        Figure(
            name=f"{size.spaces:,} memories of {size.items:,} items with vectors: resident at its most",
            value=spaces_read.peak,
            unit="MB",
            bar=MEMORY_BAR,
            detail=f"{kept}; {spaces_read.bare:,.0f} MB before any",
        ),
        Figure(name="a reading and nearness to a question, first: CPU", value=spaces_read.first, unit="ms"),
        Figure(
            name="the same when all others have been asked meanwhile: CPU",
            value=spaces_read.again,
            unit="ms",
            detail="middling of all users",
        ),
    )


def make_many_spaces(path: Path, size: ManySpaces) -> None:
    """Make a store of so many users, each with so many packed items and their vectors; a question's lies beside it."""
    made = synthetic(size.items, 1, seed=size.seed)
    np.save(path.with_suffix(".npy"), made.questions[0])
    messages = list(Talk(size.seed).messages(size.items))
    with Memory(path, settings=Settings(background=False), embedder="none", strategies=[]) as memory:
        for start in range(0, size.items, BATCH):
            memory.scope(user="user 0").observe(messages[start : start + BATCH])
        store = memory._opened.store
        with store.read() as snapshot:
            (space,) = (head.id for tenant, _ in snapshot.tenants() for head in snapshot.all_spaces(tenant))
            span = snapshot.newest(space)
        give_vectors(store, space, made.vectors.astype("<f2"))
        for further in range(1, size.spaces):
            store.transact(_copy, space, further, span)
        memory.flush()


def _copy(rows: Rows, space: int, further: int, span: int) -> None:
    """Copy the rows of a space once, under numbers of their own."""
    relations = rows.spaces.relations
    assert isinstance(relations, SqliteRelations)
    bound = {"space": space, "further": further, "span": span}
    for table, differs in _COPIED.items():
        columns = relations.db.execute("SELECT name FROM pragma_table_info(?)", (table,))
        names = [str(name) for (name,) in columns]
        of = "id" if table == "space" else "space"
        relations.db.execute(
            f"INSERT INTO {table}({', '.join(names)}) SELECT {', '.join(differs.get(name, name) for name in names)}"  # noqa: S608 - names of the schema
            f" FROM {table} WHERE {of} = :space",
            bound,
        )


def read_twice(path: Path) -> SpacesRead:
    """Read every space's catalogue with its vectors and ask it something, one after the other, twice."""
    import mnemic.index.catalogue  # noqa: F401 - a part of any process that reads
    from mnemic.recall.dense import nearness

    settings = Settings()
    catalogues = Catalogues(settings.catalogue_bytes, settings.pack_rows)
    question = np.load(path.with_suffix(".npy"))
    times: list[list[float]] = [[], []]
    with closing(SqliteStore(path, create=False)) as store:
        with store.read() as snapshot:
            spaces = [head.id for tenant, _ in snapshot.tenants() for head in snapshot.all_spaces(tenant)]
        bare = _most_resident()
        for took in times:
            for space in spaces:
                began = time.process_time()
                with store.read() as snapshot:
                    vectors = {row.id: question for row in snapshot.embedders()}
                    asked = Query(text=QUESTION, now=0, spaces=(space,), vectors=vectors)
                    nearness(asked, catalogues.readings(snapshot, (space,), View(), Filter(), asked.vectors))
                took.append((time.process_time() - began) * 1000)
    first, again = (statistics.median(took) for took in times)
    return SpacesRead(bare=bare, peak=_most_resident(), first=first, again=again, held=catalogues.nbytes)


def _most_resident() -> float:
    """Megabytes of this process in memory when it had the most there."""
    status = Path("/proc/self/status")
    if status.exists():  # `getrusage` counts what the process was before it became ours
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024 / 1e6
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / 1e6 if sys.platform == "darwin" else most * 1024 / 1e6


if __name__ == "__main__":
    print(json.dumps(asdict(read_twice(Path(sys.argv[1])))))
