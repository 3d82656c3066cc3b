"""What is gathered once is ranked by any weights: by those of everybody's recall as that ranks it."""

from __future__ import annotations

from typing import Any

import pytest

from mnemic.core.queries import Hit
from mnemic.recall.pipeline import chosen_by, signals_of
from mnemic.recall.recall_weights import WEIGHTS

QUESTIONS = ("Which dog does Ada have?", "Where did I sleep?", "How many tents are there?", "nothing of all this")


@pytest.fixture
def talk(world: Any) -> Any:
    world.say("a dog would suit you", by="Bob", session="a")
    world.say("dog food is on the shelf", by="Ada", session="b")
    world.say("my dog is called Rex", by="Ada", session="c")
    world.say("We put up three tents, one for the dog.", by="Ada", session="c")
    for n in range(30):
        world.say(f"other things {n}, and a tent", by="Bob", session=f"s{n}")
    return world


@pytest.mark.parametrize("question", QUESTIONS)
def test_what_is_gathered_once_is_ranked_again_as_recall_ranks_it(talk: Any, question: str) -> None:
    with talk.store.read() as snapshot:
        signals = signals_of(snapshot, talk.catalogues, talk.query(snapshot, question))
        chosen_by(WEIGHTS.varied({"marks.speaker": 9, "by_words.window": 0}), signals, snapshot)
        hits = chosen_by(WEIGHTS, signals, snapshot)
    shown = talk.recall(question)
    assert [hit.score for hit in hits] == [recalled.score for recalled in shown.items]
    assert [dict(hit.components) for hit in hits] == [dict(recalled.components) for recalled in shown.items]


def first(talk: Any, question: str, **values: float) -> Hit:
    weights = WEIGHTS.varied({name.replace("__", "."): value for name, value in values.items()})
    with talk.store.read() as snapshot:
        return chosen_by(weights, signals_of(snapshot, talk.catalogues, talk.query(snapshot, question)), snapshot)[0]


def test_a_number_that_is_varied_is_what_recall_weighs_by(talk: Any) -> None:
    question = "Which dog does Ada have?"
    usual = first(talk, question)
    twice = first(talk, question, marks__self=2 * WEIGHTS.marks["self"], marks__speaker=2 * WEIGHTS.marks["speaker"])
    for name in ("self", "speaker"):
        assert twice.components[name] == pytest.approx(2 * usual.components[name])
    none = first(talk, "How many dogs?", of_several=0)
    assert "session" not in none.components


def test_every_number_has_a_name_and_only_those_are_varied() -> None:
    named = WEIGHTS.named()
    assert named["beside_meaning.window"] == WEIGHTS.beside_meaning["window"]
    assert named["new"] == WEIGHTS.new
    changed = WEIGHTS.varied({"new": 3, "marks.hub": 0})
    assert {name for name, value in changed.named().items() if value != named[name]} == {"new", "marks.hub"}
    with pytest.raises(KeyError, match=r"marks\.hup"):
        WEIGHTS.varied({"marks.hup": 0})
