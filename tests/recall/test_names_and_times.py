"""Recall over a small memory: by a name, by a time, with a reason for each item, and where nothing matches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.core.items import Kind
from mnemic.core.queries import Context, Filter

Texts = Callable[..., list[str]]


def talk(world: Any, said: int = 4) -> None:
    """Mia and Bob by turns, day by day, and at last small talk by Bob alone."""
    for n in range(said):
        world.say(f"lovely morning number {n}", by="Mia", day=n, session=f"m{n}")
        text = f"I saw Mia at place {n}" if n == 1 else f"grey evening number {n}"
        world.say(text, by="Bob", day=n + 0.5, session=f"b{n}")
    for n in range(5):
        world.say(f"idle chatter {n}", by="Bob", day=20 + n, session=f"c{n}")


@pytest.mark.parametrize("said", [1, 2, 4])
@pytest.mark.parametrize(
    "question",
    ["what car does Mia drive", "what did Mia buy?", "Mia", "mia?", "what did Mia say?", "tell me about Mia"],
)
def test_a_name_brings_what_it_said_and_what_speaks_of_it_the_latest_first(
    world: Any, said: int, question: str
) -> None:
    talk(world, said)
    context = world.recall(question)
    expected = [f"lovely morning number {n}" for n in reversed(range(said))]
    if said > 1:
        expected.insert(said - 2, "I saw Mia at place 1")
    assert [recalled.text for recalled in context.items] == expected
    assert all(recalled.reasons and recalled.score > 0 and recalled.components for recalled in context.items)
    assert any("the latest that mia said, or that speaks of them" in note for note in context.notes)


def test_a_chinese_name_is_one_name_and_nobody_who_shares_a_character(world: Any) -> None:
    world.say("今天下雨了", by="李雷", day=1, session="a")
    world.say("行李丢了", by="王芳", day=2, session="b")
    world.say("我去跑步", by="李明", day=3, session="c")
    for question in ("李雷", "李雷做了什么", "李雷喜欢什么"):
        context = world.recall(question)
        assert [recalled.text for recalled in context.items] == ["今天下雨了"]
        assert context.items[0].reasons == ("said by 李雷",)
        assert "speaker: 李雷" in context.notes


def test_the_words_beside_a_chinese_name_are_looked_up(world: Any, texts: Texts) -> None:
    world.say("今天下雨了", by="李雷", day=3, session="a")
    world.say("我的行李丢了", by="李雷", day=2, session="b")
    assert texts("李雷的行李在哪")[0] == "我的行李丢了"


def test_one_item_that_matches_scores_and_says_what_matched(world: Any) -> None:
    world.say("The museum opens at nine.")
    (only,) = world.recall("museum").items
    assert only.score > 0
    assert only.components["own"] > 0


@pytest.mark.parametrize("apart", [True, False])
@pytest.mark.parametrize("more", range(0, 12, 3))
def test_a_word_found_weighs_more_than_a_speaker_however_small_the_memory(
    world: Any, texts: Texts, apart: bool, more: int
) -> None:
    for n, (by, text) in enumerate((("Ada", "I love hiking."), ("Bob", "The museum opens at nine."), ("Bob", "Fine."))):
        world.say(text, by=by, session=f"s{n}" if apart else "s")
    for n in range(more):
        world.say(f"and so on {n}", by="Eve", session=f"t{n}" if apart else "s")
    assert texts("Ada museum")[0] == "The museum opens at nine."


_SAID = ["apple pie", "a pear", "an apple in May", "in November", "Ada saw it", "it was 14", "two weeks", "nothing"]
_ASKED = ["apple", "Ada", "what did Bob do in May 2024?", "apple or pear last month", "last year", "Ada apple", "plum"]


@given(st.lists(st.tuples(st.sampled_from(_SAID), st.integers(0, 60)), min_size=1, max_size=9), st.sampled_from(_ASKED))
def test_every_item_has_a_reason_and_components_that_sum_to_a_score_above_zero(
    worlds: type[Any], said: list[tuple[str, int]], question: str
) -> None:
    world = worlds()
    for n, (text, day) in enumerate(said):
        world.say(text, day=day, by=("Ada", "Bob")[n % 2], session=f"s{n % 3}")
    for recalled in world.recall(question, day=61).items:
        assert recalled.reasons
        if "one of the latest" not in recalled.reasons:
            assert recalled.score > 0
            assert all(part > 0 for part in recalled.components.values())
        assert sum(recalled.components.values()) == pytest.approx(recalled.score, abs=1e-4)


@pytest.mark.parametrize(
    ("question", "answer", "decoy"),
    [
        ("what did Mia do on 14 September?", "we went sailing", "Feeling sleepy. (14)"),
        ("what did Mia do two weeks ago?", "we went sailing", "soup for a week, two of them"),
        ("米娅两周前做了什么", "我们去航海", "每周两次，上午"),
    ],
)
def test_the_words_of_a_time_are_not_sought_in_texts(
    world: Any, texts: Texts, question: str, answer: str, decoy: str
) -> None:
    by = "米娅" if answer > "\u0e00" else "Mia"
    for n in range(12):
        world.say(f"filler {n}", day=200 + n, by=by, session=f"f{n}")
    world.say(answer, day=131, by=by, session="a")
    world.say(decoy, day=194, by=by, session="b")
    asked = 250 if "14" in question else 145
    found = texts(question, day=asked)
    assert found[0] == answer
    assert decoy not in found


def test_a_time_that_is_the_whole_question_is_a_word_where_nothing_was_said_then(world: Any) -> None:
    world.say("a Sunday roast")
    context = world.recall("Sunday?", day=300)
    assert [recalled.text for recalled in context.items] == ["a Sunday roast"]
    assert "nothing was said in that time: what holds its words" in context.notes


def test_of_a_name_and_a_time_the_time_decides(world: Any, texts: Texts) -> None:
    for n in range(40):
        world.say(f"filler {n}", by="Bob", day=n, session=f"f{n}")
    world.say("we went sailing", by="Mia", day=131, session="a")
    world.say("Mia bought a car", by="Bob", day=133, session="b")
    assert texts("what did Mia do on 14 September?", day=250) == ["we went sailing"]


def test_of_a_name_and_an_empty_time_the_name_is_left(world: Any, texts: Texts) -> None:
    world.say("hello there", by="Mia")
    world.say("good day", by="Bob")
    assert texts("what did Mia do last week?", day=300) == ["hello there"]
    assert "nothing was said in that time" in " ".join(world.recall("what did Mia do last week?", day=300).notes)


def test_words_that_speak_of_a_time_are_a_reason(world: Any) -> None:
    world.say("She became my boss in November", day=525)
    (only,) = world.recall("去年", day=530).items
    assert only.reasons == ("its words may speak of '去年'",)


def test_a_time_that_is_only_spoken_of_is_behind_all_other_evidence(world: Any, texts: Texts) -> None:
    for n in range(30):
        world.say(f"filler {n}", day=100, session=f"f{n}")
    world.say("She becomes my boss in November", day=160, session="a")
    world.say("my new job was hard", day=100, session="b", pos=0)
    world.say("indeed", day=100, session="b", pos=1)
    found = texts("which job in November 2023?", day=300)
    assert found[2] == "She becomes my boss in November"
    assert all(text.startswith("filler") for text in found[3:])


def test_a_time_is_noted_with_its_days(world: Any) -> None:
    world.say("hello there")
    notes = [note for text in ("14 September", "last week") for note in world.recall(f"who ran {text}?", day=160).notes]
    assert 'time: "14 September" = 2024-09-14' in notes
    assert 'time: "last week" = 2024-09-30 to 2024-10-06' in notes
    assert 'time: "7 pm" = 2024-10-13 19:00 to 20:00' in world.recall("who ran at 7 pm?", day=160).notes


def test_nothing_to_search_is_all_that_is_said_of_it(world: Any) -> None:
    world.say("hello there")
    context = world.recall("hello", where=Filter(session="nobody"))
    assert context.notes == ("there is nothing to search",)


@pytest.mark.parametrize("question", ["apple", "zyzzyva", "Ada", "last month", "apple Ada 7 May 2024"])
def test_what_enters_a_stage_is_what_left_the_one_before(world: Any, question: str) -> None:
    for n in range(300):
        world.say(f"apple {n}" if n % 3 else f"pear {n}", day=n / 30, session=f"s{n}")
    context = world.recall(question, explain=True)
    stages = context.stages
    assert stages[0][1] == context.considered
    assert stages[-1][2] == len(context.items)
    assert [left for _, _, left in stages[:-1]] == [taken for _, taken, _ in stages[1:]]
    assert all(left <= taken for _, taken, left in stages)


def test_where_nothing_matches_the_latest_turns_come_and_no_documents(world: Any) -> None:
    for n in range(6):
        world.say(f"note {n}", day=n, kind=Kind.FACT if n % 2 else Kind.TURN)
    for n in range(6):
        world.say(f"chapter {n}", day=10 + n, kind=Kind.DOCUMENT if n % 2 else Kind.CHUNK)
    context: Context = world.recall("zyzzyva")
    assert [recalled.text for recalled in context.items] == [f"note {n}" for n in (5, 4, 3, 2, 1, 0)]
    first = world.items[0]
    assert world.why_not("zyzzyva", first.id, k=3).stage == "gather"
    only = world.recall("zyzzyva", where=Filter(kinds=(Kind.DOCUMENT, Kind.CHUNK)))
    assert len(only.items) == 6


def split(world: Any, title: str, pieces: list[str], **fields: Any) -> None:
    world.say(title, kind=Kind.DOCUMENT, slots={"title": title, "chunks": len(pieces)}, **fields)
    for n, piece in enumerate(pieces):
        world.say(piece, kind=Kind.CHUNK, slots={"title": title, "chunk": n}, **fields)


@pytest.mark.parametrize("session", [None, "s"])
def test_the_head_of_a_split_document_is_behind_its_chunks(world: Any, texts: Texts, session: str | None) -> None:
    for title in ("Bob's travel notes", "Garden almanac"):
        split(world, title, [f"{title} {n} " + f"and more of it {n} " * 20 for n in range(3)], session=session)
    world.say("to travel is to live", session="other")
    found = texts("travel notes")
    head = found.index("Bob's travel notes")
    assert any(text.startswith("Bob's travel notes ") for text in found[:head])
    assert texts("travel notes", where=Filter(kinds=(Kind.DOCUMENT,)))[0] == "Bob's travel notes"


def walks(world: Any, told: int) -> None:
    """Mia tells of some walks, Bob says as much of the words beside it, and of a dog Mia and a note say more."""
    for n in range(told):
        world.say(f"walked dog {n} along canal {n}", by="Mia", day=n, session=f"m{n}")
    for n in range(2):
        world.say(f"splendid that rain or shine dog {n} gets walked", by="Bob", day=10 + n, session=f"b{n}")
    world.say("puppy school says a dog learns by play and never by shouting at it", by="Mia", day=20, session="p")
    world.say(
        "note that a dog needs water, shade, a brush, a bed and a good deal of company", by="", day=21, session="n"
    )


def test_what_others_said_comes_behind_where_whoever_is_named_said_all_that_stands_first(
    world: Any, texts: Texts
) -> None:
    walks(world, told=5)
    shown = texts("Which dog has Mia walked?")
    assert [text.split()[0] for text in shown] == ["walked"] * 5 + ["puppy", "note"] + ["splendid"] * 2


def test_where_another_stands_among_the_first_the_name_may_be_wrong_and_nobody_is_put_behind(
    world: Any, texts: Texts
) -> None:
    walks(world, told=4)
    shown = texts("Which dog has Mia walked?")
    assert [text.split()[0] for text in shown] == ["walked"] * 4 + ["splendid"] * 2 + ["puppy", "note"]
