"""Multi-hop recall over a small made-up library: what a question needs, and does not say, is found along names."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.core.items import Kind
from mnemic.core.queries import Hit
from mnemic.recall.fuse import Ranking, fuse
from mnemic.recall.gather import gather
from mnemic.recall.reasons import traced
from mnemic.recall.recall_weights import WEIGHTS
from mnemic.recall.understand import understand
from mnemic.recall.walk import _exchanged, _front, _Ground, _step, rarity, walk

LIBRARY = {
    "Hollow Reed (film)": "Hollow Reed is a drama of 1971 about two ferrymen, directed by Petra Lindqvale.",
    "Petra Lindqvale": "Petra Lindqvale grew up in Oakmoor and painted before she turned to the screen.",
    "Oakmoor": "Oakmoor is a market town. Every third spring its people vote, most lately for Tomas Brack as mayor.",
    "Directors": "The director of a film is seldom asked for the birthplace of anybody.",
    "Mayors": "A mayor is the head of a town; the mayor of a birthplace of kings is called a reeve.",
    "Reeds": "The hollow reed is a plant; whoever is the director of a garden cuts it.",
    "Glass Harvest": "Glass Harvest is a drama of 1980 about a glazier, made by Henrik Ulme.",
    "Henrik Ulme": "Henrik Ulme grew up on a barge and never gave an interview.",
    "Childhood": "A childhood that a director of a school did not spend at school is a happy one.",
    "Harvests": "Harvest is when glass is cut and directors spend their money.",
    "Kestrel Wind Park": "The Kestrel Wind Park has forty turbines and stands in Sarn Province.",
    "Sarn Province": "In 1846, under Elias Thorne, Sarn became a member of the federation of the north.",
    "Wind": "When wind parks joined the grid of the union, a president of a province cut the ribbon.",
    "Union": "A union was joined by each province when its president had signed.",
    "The Lantern Guild": "The Lantern Guild publishes the Journal of Quiet Engines in Marrow Bay.",
    "Winter lectures": "Ines Calder, who once presided over the Lantern Guild, gave lectures on fog.",
    "Presidents": "The first president of a club is often its founder; who was the first of a guild is often lost.",
    "Journals": "A journal is published weekly or monthly by a society, and an engine of quiet publishes nothing.",
    "青禾镇": "青禾镇坐落在白石河边，造纸是这里的名产，镇上有一座老桥。",
    "白石河": "白石河全长三百公里，源头在云雾山，最后流入东海。",
    "林远舟": "林远舟是一位画家，生于青禾镇，晚年写过两本回忆录。",
    "苏晚": "苏晚是一位歌手，她出生的地方在海边，那条河以歌闻名。",
    "画家": "画家出生的地方往往以风景闻名，这座镇在河边。",
    "发源": "那条河发源于哪里，在哪条山边，没有人知道。",
}
HOPS = [
    ("Who is the mayor of the birthplace of the director of Hollow Reed?", ["Petra Lindqvale", "Oakmoor"]),
    ("Who was president when the province of the Kestrel Wind Park joined the union?", ["Sarn Province"]),
    ("who was the first president of the guild that publishes the journal of quiet engines?", ["Winter lectures"]),
    ("Where did the director of Glass Harvest spend his childhood?", ["Henrik Ulme"]),
    ("画家林远舟出生的镇以什么闻名？", ["青禾镇"]),
    ("林远舟出生的地方在哪条河边，那条河发源于哪里？", ["青禾镇", "白石河"]),
]


@pytest.fixture
def shelf(world: Any) -> Any:
    """The library, with titles, and as many other documents on nothing that is asked about."""
    for title, text in LIBRARY.items():
        add(world, text, title=title)
    for n in range(20):
        add(
            world, f"Number {n} is the number after {n - 1}, and the town of numbers has no river.", title=f"Number {n}"
        )
    return world


def add(world: Any, text: str, **slots: Any) -> Any:
    kind = slots.pop("kind", Kind.DOCUMENT)
    session = slots.pop("session", None)
    day = 0 if session else len(world.items)  # what is said within an hour of another are neighbours
    return world.say(text, kind=kind, session=session, day=day, slots={"speaker": None, **slots})


def asked(world: Any, text: str) -> tuple[Any, Any, Ranking]:
    with world.store.read() as snapshot:
        query = world.query(snapshot, text)
        readings = world.catalogues.readings(snapshot, query.spaces, query.view, query.where)
    question = understand(query, readings)
    return readings, question, fuse(gather(question, readings))


def titles(world: Any, hits: list[Hit]) -> list[str]:
    with world.store.read() as snapshot:
        found = {s: snapshot.versions(s, [h.ver for h in hits if h.space == s]) for s in {h.space for h in hits}}
    return [str(found[hit.space][hit.ver].item.slots.get("title")) for hit in hits]


@pytest.mark.parametrize(("question", "needed"), HOPS)
def test_the_walk_finds_what_one_shot_does_not(shelf: Any, question: str, needed: list[str]) -> None:
    _, understood, ranking = asked(shelf, question)
    walked = walk(understood, ranking).ranking
    before, after = (titles(shelf, list(one.hits())[: len(needed) + 2]) for one in (ranking, walked))
    assert set(needed) <= set(after), after
    assert not set(needed) <= set(before), before


def test_the_chain_that_answers_is_told(shelf: Any) -> None:
    text = HOPS[0][0]
    readings, understood, ranking = asked(shelf, text)
    found = walk(understood, ranking)
    hits = list(found.ranking.hits())[:4]
    with shelf.store.read() as snapshot:
        told = traced(hits, found.trails, {r.space: r for r in readings}, snapshot)
    reasons = dict(zip(titles(shelf, hits), told, strict=True))
    assert "the question names it" in reasons["Hollow Reed (film)"]
    assert "linked from 'Hollow Reed': it names 'Petra Lindqvale'" in reasons["Petra Lindqvale"]
    assert "linked from 'Petra Lindqvale': it names 'Oakmoor'" in reasons["Oakmoor"]


def test_without_titles_a_document_goes_by_the_first_name_in_it(world: Any) -> None:
    for text in LIBRARY.values():
        add(world, text)
    text, needed = HOPS[0]
    _, understood, ranking = asked(world, text)
    hits = list(walk(understood, ranking).ranking.hits())[:3]
    assert {world.items[hit.ver - 1].text for hit in hits} >= {LIBRARY[title] for title in needed}


def test_without_titles_a_document_is_found_by_the_name_that_others_know_it_by(world: Any) -> None:
    texts = [
        "Salt Harbour is a play of 1964, written for the stage by Mo Brin.",
        "Orla May Brin, better known as Mo Brin, was a writer. She was born in Vell and kept bees.",
        *(text for title, text in LIBRARY.items() if title != "Hollow Reed (film)"),
        "A writer of a play is seldom born where the play is shown.",
        "Where somebody was born the writer of a stage play says in the end.",
    ]
    for text in texts:
        add(world, text)
    _, understood, ranking = asked(world, "Where was the writer of Salt Harbour born?")
    found = [world.items[hit.ver - 1].text for hit in walk(understood, ranking).ranking.hits()][:2]
    assert sorted(found) == sorted(texts[:2])


def test_a_space_of_turns_is_left_as_it_is(world: Any) -> None:
    for n, text in enumerate(LIBRARY.values()):
        world.say(text, session=f"s{n}")
    _, understood, ranking = asked(world, HOPS[0][0])
    assert walk(understood, ranking).ranking is ranking


def test_turns_stand_among_documents_as_they_did(shelf: Any) -> None:
    for n in range(6):
        shelf.say(f"we saw Hollow Reed, and the mayor came too, {n}", session=f"s{n}")
    text = HOPS[0][0]
    _, understood, ranking = asked(shelf, text)
    places = [
        [(i, hit.score) for i, hit in enumerate(one.hits()) if shelf.items[hit.ver - 1].kind is Kind.TURN]
        for one in (ranking, walk(understood, ranking).ranking)
    ]
    assert places[0] == places[1]
    assert len(places[0]) == 6


def test_the_components_add_up_to_the_score(shelf: Any) -> None:
    for text, _ in HOPS:
        _, understood, ranking = asked(shelf, text)
        for hit in walk(understood, ranking).ranking.hits():
            assert sum(hit.components.values()) == pytest.approx(hit.score, abs=1e-4)


def test_the_head_of_a_split_document_leads_nowhere_and_follows_its_chunks(shelf: Any) -> None:
    add(shelf, "Tomas Brack", title="Tomas Brack", session="book")
    for n, text in enumerate(["Tomas Brack keeps bees.", "In the end he moved to Dell Province."]):
        add(shelf, text, title="Tomas Brack", kind=Kind.CHUNK, chunk=n, session="book")
    text = "What does the mayor of Oakmoor keep?"
    _, understood, ranking = asked(shelf, text)
    hits = list(walk(understood, ranking).ranking.hits())
    texts = [shelf.items[hit.ver - 1].text for hit in hits]
    assert "Tomas Brack keeps bees." in texts[:3]
    assert texts.index("Tomas Brack keeps bees.") < (texts.index("Tomas Brack") if "Tomas Brack" in texts else 99)


def test_nothing_to_walk_from_is_nothing_found(shelf: Any) -> None:
    _, understood, ranking = asked(shelf, "zzz qqq")
    assert walk(understood, ranking).ranking is ranking


@given(st.integers(1, 1000), st.integers(1, 1000))
def test_a_rarer_name_is_worth_more_and_none_more_than_one(holders: int, entries: int) -> None:
    worth = rarity(np.array([holders, holders + 1], dtype=np.int64), max(entries, holders + 1))
    assert 0 < worth[1] < worth[0] <= 1


scores = st.floats(-8, 8, width=32)


@given(st.lists(st.tuples(scores, st.floats(0, 8, width=32), st.booleans()), min_size=1, max_size=12))
def test_scores_are_dealt_out_in_the_order_of_what_was_had_and_gained(rows: list[tuple[float, float, bool]]) -> None:
    had = np.array([row[0] if row[2] else 0 for row in rows], dtype=np.float32)
    gained = np.array([row[1] for row in rows], dtype=np.float32)
    known = np.array([row[2] for row in rows])
    known[0] = True
    new = _exchanged(had, gained, known, np.arange(len(rows)))
    order = np.argsort(-new, kind="stable")
    assert (np.diff((had + gained)[order]) <= 1e-5).all()
    dealt = np.sort(new)[::-1][: np.count_nonzero(known)]
    assert dealt == pytest.approx(np.sort(had[known])[::-1], abs=1e-4)


def test_a_step_gives_in_proportion_to_what_is_passed_on_and_within_a_bound(shelf: Any) -> None:
    for text, _ in HOPS:
        _, understood, ranking = asked(shelf, text)
        ground = _Ground.of(understood, ranking.scored[0])
        front = _front(ground, ground.score)
        links, gain = _step(ground, front)
        assert len(set(links.targets.tolist())) == len(links.targets)
        assert (gain <= front.values.max() * (1 + WEIGHTS.new)).all()
        doubled_links, doubled = _step(ground, replace(front, values=2 * front.values))
        assert doubled_links.targets.tolist() == links.targets.tolist()
        assert doubled == pytest.approx(2 * gain)
        for i in range(len(front.places)):
            more = front.values + 3 * np.eye(len(front.places), dtype=np.float32)[i]
            assert (_step(ground, replace(front, values=more))[1] >= gain).all()
