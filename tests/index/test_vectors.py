from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from mnemic.core.events import Verb
from mnemic.core.items import State
from mnemic.core.queries import Filter, View
from mnemic.errors import Invalid, StoreCorrupt
from mnemic.index import signs, vectors
from mnemic.index.catalogues import Catalogues
from mnemic.index.columns import Column
from mnemic.index.reading import Reading
from mnemic.index.vectors import Similarity, VectorTable, VisibleVectors
from mnemic.store.engine import lane_cursors
from mnemic.store.values.drafts import Draft, Erasure, Put
from mnemic.store.values.work import EmbedderState, VectorRow, Vectors, allowed_vector_sizes, embedding_lane

DIMS = 100  # no multiple of 64
Floats = NDArray[np.float32]
Halves = NDArray[np.float16]


def crowded(count: int, dims: int = DIMS, seed: int = 0, each: int = 20) -> Halves:
    """Vectors as today's embedders make them: topics within a narrow cone, a few dimensions longer than others."""
    rng = np.random.default_rng(seed)
    lengths = rng.gamma(2.0, size=dims)
    topics = rng.standard_normal((1 + count // each, dims)) * lengths
    made = topics[rng.integers(len(topics), size=count)] + rng.standard_normal((count, dims)) * lengths
    made += 3 * np.sqrt((lengths**2).sum()) * unit(rng.standard_normal(dims))
    return unit(made).astype(np.float16)


def unit(made: NDArray[Any]) -> NDArray[Any]:
    shorter: NDArray[Any] = made / np.linalg.norm(made, axis=-1, keepdims=True)
    return shorter


def table(made: Halves, batch: int = 1 << 30, rows: NDArray[np.intp] | None = None) -> VectorTable:
    """A table that was given vectors in batches."""
    at = np.arange(len(made)) if rows is None else rows
    built = VectorTable(made.shape[1])
    for first in range(0, len(made), batch):
        built.fill(at[first : first + batch], made[first : first + batch])
    return built


def all_of(count: int) -> NDArray[np.intp]:
    return np.arange(count)


def only(seen: NDArray[np.bool_]) -> NDArray[np.intp]:
    """The place of each row where some are seen."""
    return np.where(seen, np.cumsum(seen) - 1, -1)


def by_place(similar: Similarity) -> dict[int, float]:
    return dict(zip(similar.places.tolist(), similar.scores.tolist(), strict=True))


def top(scores: dict[int, float] | Floats, k: int = 10) -> set[int]:
    named = scores if isinstance(scores, dict) else dict(enumerate(scores.tolist()))
    return set(sorted(named, key=lambda place: -named[place])[:k])


def recall(sight: VisibleVectors, made: Halves, places: NDArray[np.intp], queries: Halves) -> float:
    """The share of the ten nearest, over all queries, that are found."""
    rows = np.flatnonzero(places >= 0)
    seen, found = made[rows].astype(np.float32), 0
    for query in queries.astype(np.float32):
        scores = signs.dots(seen, query)
        nearest = set(places[rows[np.argsort(-scores)[:10]]].tolist())
        found += len(nearest & top(by_place(sight.similar(query))))
    return found / (10 * len(queries))


def small_regime(monkeypatch: pytest.MonkeyPatch, rows: int = 500) -> None:
    """Signs from a few hundred rows on, in small chunks."""
    monkeypatch.setattr(vectors, "EXACT", rows // 3)  # three times as many for so few dimensions
    monkeypatch.setattr(signs, "CHUNK", 256)


@settings(max_examples=30)
@given(st.integers(1, 300), st.integers(1, 90), st.integers(0, 1 << 30), st.floats(0, 1))
def test_few_vectors_are_searched_exactly_however_they_came(count: int, batch: int, seed: int, share: float) -> None:
    made = crowded(count, seed=seed)
    seen = np.random.default_rng(seed).random(count) < share
    similar = VisibleVectors(table(made, batch).sight(), only(seen)).similar(made[0].astype(np.float32))
    exact = made[seen].astype(np.float32) @ made[0].astype(np.float32)
    order = np.argsort(similar.places)
    assert similar.places[order].tolist() == list(range(len(exact)))
    assert similar.scores[order] == pytest.approx(exact, abs=1e-5)
    assert similar.pending == 0
    if len(exact):
        assert similar.mean == pytest.approx(float(exact.mean()), abs=1e-5)
        assert similar.deviation == pytest.approx(float(exact.std()), abs=2e-3)


@given(st.data())
@settings(max_examples=50)
def test_vectors_may_come_in_any_order(data: st.DataObject) -> None:
    made = crowded(60)
    order = data.draw(st.permutations(range(60)))
    cuts = sorted({0, 60, *data.draw(st.lists(st.integers(1, 59), max_size=5))})
    built = VectorTable(DIMS)
    for low, high in pairwise(cuts):
        rows = np.array(sorted(order[low:high]))
        built.fill(rows, made[rows])
    once = VisibleVectors(table(made).sight(), all_of(60)).similar(made[1].astype(np.float32))
    assert by_place(VisibleVectors(built.sight(), all_of(60)).similar(made[1].astype(np.float32))) == by_place(once)


def test_rows_without_a_vector_are_pending_and_in_nothing() -> None:
    made = crowded(40)
    rows = np.arange(0, 80, 2)
    similar = VisibleVectors(table(made, rows=rows).sight(), all_of(100)).similar(made[3].astype(np.float32))
    assert sorted(similar.places.tolist()) == rows.tolist()
    assert similar.pending == 60
    assert top(by_place(similar), 1) == {6}


def test_where_nothing_is_seen_nothing_is_similar() -> None:
    made = crowded(5)
    similar = VisibleVectors(table(made).sight(), np.full(7, -1)).similar(made[0].astype(np.float32))
    assert (len(similar.places), len(similar.scores), similar.pending) == (0, 0, 0)
    assert (similar.mean, similar.deviation) == (0.0, 0.0)
    empty = VisibleVectors(VectorTable(DIMS).sight(), all_of(7)).similar(made[0].astype(np.float32))
    assert (len(empty.places), empty.pending) == (0, 7)


@pytest.mark.parametrize("dims", [200, 384, 768])
def test_signs_find_nearly_all_of_the_nearest(dims: int) -> None:
    made = crowded(25_000, dims)
    built = table(made[:24_900], 5_000)
    assert isinstance(built.sight()[0], signs.Signed)
    sight = VisibleVectors(built.sight(), all_of(24_900))
    assert recall(sight, made, np.where(np.arange(25_000) < 24_900, np.arange(25_000), -1), made[24_900:]) >= 0.98
    similar = sight.similar(made[-1].astype(np.float32))
    assert len(similar.places) < 1_500
    exact = made[similar.places].astype(np.float32) @ made[-1].astype(np.float32)
    assert similar.scores == pytest.approx(exact, abs=1e-5)


@pytest.mark.parametrize("share", [0.3, 0.1, 0.01])
def test_a_filter_costs_no_recall(share: float) -> None:
    made = crowded(25_000, 384, each=int(20 / share))
    places = only(np.random.default_rng(1).random(25_000) < share)
    sight = VisibleVectors(table(made).sight(), places)
    assert recall(sight, made, places, made[:50]) >= (0.98 if share > 0.05 else 1.0)
    assert set(sight.similar(made[0].astype(np.float32)).places.tolist()) <= set(places.tolist())


def test_mean_and_deviation_of_a_sample_are_near_those_of_all() -> None:
    made = crowded(25_000, 384)
    sight = VisibleVectors(table(made).sight(), all_of(25_000))
    for query in made[:20].astype(np.float32):
        exact, similar = made.astype(np.float32) @ query, sight.similar(query)
        assert abs(similar.mean - exact.mean()) < 0.15 * exact.std()
        assert similar.deviation == pytest.approx(float(exact.std()), rel=0.15)


@given(st.integers(1, 700), st.integers(0, 1 << 30))
@settings(max_examples=30)
def test_signs_are_the_same_however_the_vectors_came(batch: int, seed: int) -> None:
    made = crowded(1_500, seed=seed)
    with pytest.MonkeyPatch.context() as patched:
        small_regime(patched)
        one, many = table(made), table(made, batch)
        query = made[7].astype(np.float32)
        at_once = VisibleVectors(one.sight(), all_of(1_500)).similar(query)
        assert by_place(VisibleVectors(many.sight(), all_of(1_500)).similar(query)) == by_place(at_once)
        assert one.nbytes == many.nbytes


def test_signs_leave_out_what_has_no_vector(monkeypatch: pytest.MonkeyPatch) -> None:
    small_regime(monkeypatch)
    made = crowded(2_000)
    rows = np.sort(np.random.default_rng(0).permutation(3_000)[:2_000])
    sight = VisibleVectors(table(made, 300, rows).sight(), all_of(3_100))
    for query in made[:20].astype(np.float32):
        similar = sight.similar(query)
        assert len(similar.places) < 2_000
        assert np.isin(similar.places, rows).all()
        assert similar.pending == 1_100


@pytest.mark.parametrize("count", [50, 900])
def test_a_sight_stays_as_it_is(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    small_regime(monkeypatch)
    made = crowded(3_000)
    built = table(made[:count])
    query = made[0].astype(np.float32)
    sight = VisibleVectors(built.sight(), all_of(count))
    before = sight.similar(query)
    for first in range(count, 3_000, 100):
        built.fill(np.arange(first, min(first + 100, 3_000)), made[first : first + 100])
    assert by_place(sight.similar(query)) == by_place(before)


@pytest.mark.parametrize("count", [50, 3_000])
def test_centrality_is_how_near_rows_are_to_the_mean_of_what_is_seen(
    monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    small_regime(monkeypatch)
    made = crowded(count).astype(np.float32)
    seen = np.arange(count) % 3 != 0
    sight = VisibleVectors(table(made.astype(np.float16)).sight(), np.where(seen, np.arange(count), -1))
    rows = sight.similar(made[1]).places
    exact = made[rows] @ made[seen].mean(axis=0)
    assert sight.centrality(rows) == pytest.approx(exact, abs=0.01)
    assert len(sight.centrality(rows[:0])) == 0


def test_a_query_of_other_dimensions_is_refused() -> None:
    with pytest.raises(Invalid, match="shape"):
        VisibleVectors(table(crowded(3)).sight(), all_of(3)).similar(np.zeros(DIMS + 1, np.float32))


@given(st.integers(0, (1 << 16) - 1))
def test_half_precision_is_widened_exactly(bits: int) -> None:
    half = np.array([[bits]], np.uint16).view(np.float16)
    if np.isfinite(half).all():
        assert signs.widened(half)[0, 0] * np.float32(2.0**112) == np.float32(half[0, 0])


ALL_HALVES = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
FINITE = ALL_HALVES[np.isfinite(ALL_HALVES)]


@given(st.lists(st.floats(-2, 2, width=32) | st.sampled_from([float(half) for half in FINITE[::997]]), min_size=1))
@settings(max_examples=30)
def test_a_sign_is_taken_of_integers_as_it_would_be_of_numbers(limits: list[float]) -> None:
    least = signs._least_above(np.array(limits, np.float32))
    ordered = signs._ordered(FINITE[:, None])
    assert ((ordered >= least) == (FINITE[:, None] > np.array(limits, np.float32))).all()


@pytest.mark.parametrize("count", [1, 700, 9_000])
def test_hardly_more_memory_is_taken_than_vectors_need(count: int) -> None:
    built = table(crowded(count))
    assert built.nbytes <= 1.13 * count * (4 * DIMS + 1)
    for row in range(count, count + 5):
        built.fill(np.array([row]), crowded(1, seed=row))
    assert built.nbytes <= 1.3 * (count + 5) * (4 * DIMS + 1)


def test_bits_are_counted_alike_without_the_new_numpy() -> None:
    words = np.random.default_rng(0).integers(0, 1 << 63, size=(3, 50), dtype=np.uint64)
    counted = [[bin(word).count("1") for word in row] for row in words.tolist()]
    assert signs._counted16(words).tolist() == counted
    assert signs._counted16(words[0], out=np.empty(50, np.uint16)).tolist() == counted[0]
    assert signs._counted(words).tolist() == counted


# What a catalogue makes of it


class Meaning:
    """The embedder of a world, and its lane: a text's vector is drawn from its words."""

    def __init__(self, world: Any, dims: int = 8) -> None:
        self.world, self.dims = world, dims
        self.model = world.store.transact(lane_cursors.enlist, "e-1", dims, EmbedderState.SERVING)

    def vector(self, text: str) -> Floats:
        made: Floats = unit(np.random.default_rng(list(text.encode())).standard_normal(self.dims)).astype(np.float32)
        return made

    def embed(self, limit: int = 1_000) -> None:
        """Do the lane's next work."""
        name = embedding_lane(self.model)
        with self.world.store.read() as snapshot:
            (space,) = self.world.query(snapshot, "").spaces
            after = snapshot.lane(space, name).cursor
            vers = sorted({entry.ver for entry in snapshot.entries(space, after)})[:limit]
            texts = {ver: version.item.text for ver, version in snapshot.versions(space, vers).items()}
        rows = tuple(VectorRow(v, 0, self.vector(texts[v]).astype("<f2").tobytes()) for v in vers)
        self.world.store.transact(
            lane_cursors.keep,
            Vectors(
                space=space, model=self.model, rows=rows, lane=name, owner="", after=after, upto=max([after, *vers])
            ),
        )

    def reading(self, view: View = View(), where: Filter = Filter(), text: str = "x") -> Reading:
        with self.world.store.read() as snapshot:
            query = self.world.query(snapshot, "")
            asked = {self.model: self.vector(text)}
            (reading,) = self.world.catalogues.readings(snapshot, query.spaces, view, where, asked)
        return reading  # type: ignore[no-any-return]

    def nearest(self, text: str, **fields: Any) -> tuple[int, int]:
        """The version nearest to a text (0 for none), and how many are pending."""
        reading = self.reading(text=text, **fields)
        similar = reading.similar(self.model, self.vector(text))
        assert similar is not None
        if not len(similar.places):
            return 0, similar.pending
        return reading.value(Column.VER, int(similar.places[similar.scores.argmax()])), similar.pending


@pytest.fixture
def meaning(world: Any) -> Meaning:
    return Meaning(world)


def test_vectors_show_when_they_come_though_the_space_stands_still(world: Any, meaning: Meaning) -> None:
    for text in ("one", "two", "three"):
        world.say(text)
    assert meaning.nearest("two") == (0, 3)
    meaning.embed(1)
    assert meaning.nearest("one") == (1, 2)
    meaning.embed()
    assert meaning.nearest("two") == (2, 0)
    world.say("four")
    assert meaning.nearest("three") == (3, 1)


@pytest.mark.parametrize("count", [90, 400])
def test_vectors_read_at_once_are_those_that_came_little_by_little(
    world: Any, meaning: Meaning, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    monkeypatch.setattr(vectors, "EXACT", 4)  # 48 times as many for so few dimensions
    monkeypatch.setattr(vectors, "_LOAD", 7)
    monkeypatch.setattr(signs, "CHUNK", 64)
    for n in range(count):
        world.say(f"text {n}")
    followed: list[Any] = []
    while meaning.nearest("text 5")[1] > count // 10:  # some have none to the end
        meaning.embed(count // 9)
    for catalogues in (world.catalogues, Catalogues(1 << 26)):
        world.catalogues = catalogues
        reading = meaning.reading(text="text 5")
        similar = reading.similar(meaning.model, meaning.vector("text 5"))
        assert similar is not None
        central = reading.centrality(meaning.model, similar.places).tolist()
        followed.append((by_place(similar), similar.mean, similar.deviation, similar.pending, central))
    assert followed[0] == followed[1]
    assert isinstance(world.catalogues._held[1][1]._vectors[meaning.model].sight()[0], signs.Signed) is (count > 192)


def test_a_reading_of_before_does_not_see_later_vectors(world: Any, meaning: Meaning) -> None:
    world.say("one")
    before = meaning.reading(text="one")
    meaning.embed()
    assert meaning.nearest("one") == (1, 0)
    similar = before.similar(meaning.model, meaning.vector("one"))
    assert similar is not None
    assert (len(similar.places), similar.pending) == (0, 1)


def test_a_version_that_takes_its_vector_along_is_found_at_once(world: Any, meaning: Meaning) -> None:
    first = world.say("one")
    world.say("two")
    meaning.embed()
    assert meaning.nearest("one") == (1, 0)
    world.say("three")
    moved = Put(verb=Verb.RETIRED, item=replace(first, state=State.RETIRED), terms=None)
    world.store.commit(Draft(tenant="t", user="ada", actor="me", ops=(moved,)))
    assert meaning.nearest("one", where=Filter(states=(State.RETIRED,))) == (4, 0)
    assert meaning.nearest("one") == (2, 1)


def test_views_and_filters_choose_among_vectors(world: Any, meaning: Meaning) -> None:
    world.say("one", session="a")
    world.say("two", session="b")
    meaning.embed()
    assert meaning.nearest("one", where=Filter(session="b")) == (2, 0)
    assert meaning.nearest("two", view=View(at=1)) == (1, 0)
    assert meaning.nearest("two", where=Filter(session="c")) == (0, 0)


def test_an_erasure_takes_vectors_out_too(world: Any, meaning: Meaning) -> None:
    gone = world.say("one")
    world.say("two")
    meaning.embed()
    assert meaning.nearest("one") == (1, 0)
    world.store.erase(Erasure(tenant="t", user="ada", ids=(gone.id,)))
    assert meaning.nearest("one") == (2, 0)


def test_an_embedder_that_is_not_there_or_was_not_asked_for_is_none(world: Any, meaning: Meaning) -> None:
    world.say("one")
    (reading,) = world.readings()
    assert reading.similar(meaning.model, meaning.vector("one")) is None
    model, meaning.model = meaning.model, 99
    assert meaning.reading().similar(99, meaning.vector("one")) is None
    meaning.model = model
    assert meaning.nearest("one") == (0, 1)


def test_vectors_count_in_what_a_catalogue_takes(world: Any, meaning: Meaning) -> None:
    world.say("one")
    meaning.reading()
    before = world.catalogues.nbytes
    meaning.embed()
    meaning.reading()
    assert world.catalogues.nbytes >= before + 4 * meaning.dims


def test_a_vector_of_the_wrong_size_is_refused(world: Any, meaning: Meaning) -> None:
    world.say("one")
    built = VectorTable(3)
    with pytest.raises(StoreCorrupt, match="8 bytes, not 6 or 14"):
        built.take(world_columns(world), [VectorRow(1, 0, bytes(8))])


WITH_TRAITS = np.array([[1, 0, 0.5, -2, 3, 6, -6, 0, 0.25, -0.25]], np.float32)
"""A vector of two numbers and the log odds of its traits."""


def test_traits_are_read_with_their_vector_and_are_no_number_where_none_are_told(world: Any) -> None:
    for text in ("first", "second", "third"):
        world.say(text)
    (stored,) = vectors.stored_vectors(WITH_TRAITS, 2)
    built = VectorTable(2)
    built.take(world_columns(world), [VectorRow(1, 0, stored), VectorRow(2, 0, stored[:4])])
    sight = VisibleVectors(built.sight(), all_of(3))
    assert np.array_equal(sight.of(all_of(3)), [[1, 0], [1, 0], [0, 0]])
    traits = sight.traits_of(np.array([2, 0, 1]))
    assert np.isnan(traits[[0, 2]]).all()
    assert np.abs(traits[1] - WITH_TRAITS[0, 2:]).max() < 0.03


def test_traits_that_come_later_do_not_show_in_an_earlier_sight(world: Any) -> None:
    for text in ("first", "second"):
        world.say(text)
    (stored,), built = vectors.stored_vectors(WITH_TRAITS, 2), VectorTable(2)
    built.take(world_columns(world), [VectorRow(1, 0, stored)])
    before = VisibleVectors(built.sight(), all_of(2))
    built.take(world_columns(world), [VectorRow(2, 0, stored)])
    assert np.isnan(before.traits_of(all_of(2))).any(axis=1).tolist() == [False, True]
    assert not np.isnan(VisibleVectors(built.sight(), all_of(2)).traits_of(all_of(2))).any()


def test_traits_beyond_the_largest_log_odds_are_stored_as_these() -> None:
    beyond = WITH_TRAITS.copy()
    beyond[0, 2:4] = 9, -700
    assert vectors.stored_vectors(beyond, 2)[0][4:6] == np.array([127, -127], np.int8).tobytes()


def test_traits_are_there_where_vectors_are_found_by_signs(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "most_exact", lambda dims: 100)
    for number in range(300):
        world.say(f"number {number}")
    (stored,), built = vectors.stored_vectors(WITH_TRAITS, 2), VectorTable(2)
    built.take(world_columns(world), [VectorRow(ver, 0, stored[: 4 if ver % 2 else None]) for ver in range(1, 301)])
    assert isinstance(built.sight()[0], signs.Signed)
    unknown = np.isnan(VisibleVectors(built.sight(), all_of(300)).traits_of(all_of(300))).all(axis=1)
    assert unknown.tolist() == [True, False] * 150


def test_a_vector_and_its_traits_take_as_many_bytes_as_the_store_expects() -> None:
    assert {len(vectors.stored_vectors(WITH_TRAITS[:, :size], 2)[0]) for size in (2, 10)} == set(
        allowed_vector_sizes(2)
    )


def test_a_vector_without_its_entry_is_passed_over(world: Any) -> None:
    world.say("one")
    built = VectorTable(2)
    assert not built.take(world_columns(world), [VectorRow(1, 1, bytes(4)), VectorRow(2, 0, bytes(4))])
    assert built.take(world_columns(world), [VectorRow(1, 0, bytes(4))])
    assert not built.take(world_columns(world), [VectorRow(1, 0, bytes(4))])


def world_columns(world: Any) -> Any:
    world.readings()
    ((_, catalogue),) = world.catalogues._held.values()
    return catalogue.columns
