"""Vectors that were made before their embedder told traits are given them by a reindex, each once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from mnemic import Memory
from mnemic.core.queries import Filter, View
from mnemic.errors import Invalid, ModelError, StoreCorrupt
from mnemic.flow import Request, run
from mnemic.lanes.embedding_slice import embed_traits
from mnemic.meaning import WORDS_ALONE
from mnemic.models.base import MAX_LOG_ODDS, TRAITS
from mnemic.models.model_requests import Embed
from mnemic.models.scripted_embedder import ScriptedEmbedder
from mnemic.store.engine.lane_cursors import dismiss
from mnemic.store.engine.snapshot import Snapshot
from mnemic.store.values.work import VectorRow
from mnemic.verbs.who import spaces_of

DIMS = 64
ITEMS = 150

Opener = Callable[[ScriptedEmbedder], Memory]


class Telling(ScriptedEmbedder):
    """The same embedder once it tells traits; breaks down after so many passages."""

    remote = True  # requests are of one size, however long each takes

    def __init__(self, fails_after: int | None = None) -> None:
        super().__init__(DIMS)
        self.read: list[str] = []
        self.fails_after = fails_after

    def passages_with_traits(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self.fails_after is not None and len(self.read) + len(texts) > self.fails_after:
            raise ModelError("broke down")
        self.read += texts
        return np.pad(self.passages(texts), ((0, 0), (0, len(TRAITS))), constant_values=MAX_LOG_ODDS)

    @property
    def items_read(self) -> list[str]:
        return [text for text in self.read if "cello" in text]


class Other(Telling):
    """Another embedder, which no name opens."""

    def __init__(self, fails_after: int | None = None) -> None:
        super().__init__(fails_after)
        self.name = "other"


class Silent(ScriptedEmbedder):
    """An embedder that might tell traits, and tells none."""

    def __init__(self) -> None:
        super().__init__(DIMS)
        self.requests = 0

    def passages_with_traits(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.requests += 1
        return self.passages(texts)


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.heavy)])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Opener]:
    """Open a store that was filled by an embedder before it told traits, with another."""
    sqlite = request.param == "sqlite"
    where = str(tmp_path / "m.db") if sqlite else request.getfixturevalue("new_postgres_database")()
    with Memory(where, embedder=ScriptedEmbedder(DIMS)) as memory:
        memory.scope(user="ada").observe([f"Item number {i} is a cello." for i in range(ITEMS)])
        memory.scope(user="bob").observe("Bob has a cello.")
        memory.flush()
    with ExitStack() as stack:
        yield lambda embedder: stack.enter_context(Memory(where, embedder=embedder))


def rows_of(memory: Memory, user: str = "ada") -> list[VectorRow]:
    with memory._opened.store.read() as snapshot:
        (embedder,) = (row for row in snapshot.embedders() if row.name != WORDS_ALONE)
        spaces = spaces_of(snapshot, memory.scope(user=user)._who)
        return [row for space in spaces for row in snapshot.vectors(space, embedder.id)]


def test_a_reindex_gives_traits_to_the_vectors_that_have_none(opened: Opener) -> None:
    embedder = Telling()
    memory, done = opened(embedder), list[int]()
    before = rows_of(memory)
    memory.scope(user="ada").observe("A cello that has traits from the first.")
    memory.flush()
    new = rows_of(memory)[len(before)]
    did = memory.admin.reindex(progress=done.append)
    assert (did.embedder, did.passages, did.traits, did.dismissed) == (embedder.name, 0, ITEMS + 1, ())
    assert (sum(done), len(done)) == (ITEMS + 1, 4)
    sure = bytes([127]) * len(TRAITS)
    assert rows_of(memory) == [*(row._replace(f16=row.f16 + sure) for row in before), new]
    assert len(embedder.items_read) == len(set(embedder.items_read)) == ITEMS + 2
    assert list(memory.admin.verify()) == []


def test_a_second_reindex_reads_nothing(opened: Opener) -> None:
    embedder = Telling()
    memory = opened(embedder)
    assert memory.admin.reindex(embedder).traits == ITEMS + 1
    read = list(embedder.read)
    assert (memory.admin.reindex().traits, memory.admin.reindex(embedder).traits) == (0, 0)
    assert embedder.read == read


def test_what_was_filled_before_the_embedder_failed_stays(opened: Opener) -> None:
    embedder = Telling(fails_after=100)
    memory = opened(embedder)
    with pytest.raises(ModelError):
        memory.admin.reindex()
    assert 0 < len(embedder.items_read) < ITEMS
    assert memory.scope(user="ada").recall("cello").pending == 0
    embedder.fails_after = None
    first = len(embedder.items_read)
    assert memory.admin.reindex().traits == ITEMS + 1 - first
    assert len(embedder.items_read) == len(set(embedder.items_read)) == ITEMS + 1


def test_who_has_read_the_vectors_reads_the_traits_once_they_are_there(opened: Opener) -> None:
    memory = opened(Telling())

    def known() -> int:
        with memory._opened.store.read() as snapshot:
            (row,), spaces = snapshot.embedders(), spaces_of(snapshot, memory.scope(user="bob")._who)
            asked = {row.id: ScriptedEmbedder(DIMS).query("cello")}
            (reading,) = memory._opened.kernel.catalogues.readings(snapshot, spaces, View(), Filter(), asked)
            return int(np.isfinite(reading.traits(row.id, np.arange(reading.size))).sum())

    assert known() == 0
    memory.admin.reindex()
    assert known() == len(TRAITS)


def test_an_embedder_that_tells_no_traits_makes_no_vector_again(opened: Opener) -> None:
    silent = Silent()
    memory = opened(silent)
    assert memory.admin.reindex().traits == 0
    assert silent.requests == 1
    assert all(len(row.f16) == 2 * DIMS for row in rows_of(memory))


def test_the_doctor_says_how_many_vectors_have_no_traits_and_what_gives_them_some(opened: Opener) -> None:
    memory = opened(Telling())

    def said() -> list[str]:
        return [check.found for check in memory.admin.doctor() if check.name == "traits" and check.ok]

    assert said() == [f"{ITEMS + 1} vectors have none yet: `mnemic reindex` gives them theirs"]
    memory.admin.reindex()
    assert said() == []


@pytest.mark.parametrize("embedder", [Silent(), Telling(fails_after=0), ScriptedEmbedder(DIMS)])
def test_the_doctor_says_nothing_of_traits_that_nobody_tells(opened: Opener, embedder: ScriptedEmbedder) -> None:
    assert [check.name for check in opened(embedder).admin.doctor() if check.name == "traits"] == []


def test_the_doctor_still_reports_where_vectors_cannot_be_read(opened: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    def damaged(*_: object) -> dict[int, int]:
        raise StoreCorrupt("a page is damaged")

    memory = opened(Telling())
    monkeypatch.setattr(Snapshot, "without_traits", damaged)
    assert {check.name for check in memory.admin.doctor()} == {c.name for c in memory._opened.store.doctor()}


def test_traits_of_an_embedder_that_was_dismissed_meanwhile_are_given_to_nobody(opened: Opener) -> None:
    memory = opened(Telling())
    ((row,), keys) = memory._opened.meaning.rows(), [(row.ver, row.part) for row in rows_of(memory)]
    with memory._opened.store.read() as snapshot:
        (space,) = spaces_of(snapshot, memory.scope(user="ada")._who)

    def perform(request: Request) -> Any:
        answer = memory._opened.answering.perform(request)
        while isinstance(request, Embed) and memory._opened.store.transact(dismiss, row.id):
            pass
        return answer

    assert run(embed_traits(space, row, keys[:2], last=False), perform) == 0


def test_a_reindex_that_names_nobody_wants_somebody_who_serves(tmp_path: Path) -> None:
    with Memory(tmp_path / "m.db", embedder="none") as memory, pytest.raises(Invalid, match="none serves"):
        memory.admin.reindex()


def test_a_reindex_that_names_nobody_fails_where_who_serves_cannot_be_opened(tmp_path: Path) -> None:
    with Memory(tmp_path / "m.db", embedder=Other()) as memory:
        memory.scope(user="ada").observe("The cello arrived.")
        memory.flush()
    with Memory(tmp_path / "m.db", embedder="scripted") as memory, pytest.raises(ModelError, match="other"):
        memory.admin.reindex()


def test_a_reindex_that_names_nobody_drops_no_change_that_was_begun(tmp_path: Path) -> None:
    with Memory(tmp_path / "m.db", embedder=ScriptedEmbedder(DIMS)) as memory:
        memory.scope(user="ada").observe("The cello arrived.")
        memory.flush()
        with pytest.raises(ModelError):
            memory.admin.reindex(Other(fails_after=0))
        with pytest.raises(Invalid, match="other"):
            memory.admin.reindex()
        assert [row.name for row in memory._opened.meaning.rows()] == [f"scripted:{DIMS}", "other"]
