"""Segments: every turn in exactly one, cut at pauses and at a change of topic, summed up in their own words."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mnemic.core.ids import ItemId
from mnemic.core.tokens import count_tokens
from mnemic.tiers.segments import MOST, PAUSE, LeftTurn, score, segments
from mnemic.tiers.write_back import Writing

COOKING = [
    "I baked sourdough bread this morning, the dough had risen all night in the kitchen.",
    "Sourdough bread needs a hot oven; did you steam the oven for the crust of the bread?",
    "Yes, a tray of water in the oven, and the bread crust came out of the oven dark.",
    "My starter dough smells sour now, so the next bread will be a rye sourdough.",
    "Rye bread dough is sticky, keep your hands wet when you shape the dough.",
    "Then the bread goes to my neighbours, they love sourdough with salted butter.",
]
SAILING = [
    "We sailed the boat round the island, the wind tore the sail near the harbour.",
    "A torn sail in that wind! Did the boat make the harbour before the storm?",
    "The boat limped to harbour, and a sailor on the pier mended the sail for us.",
    "Next week the wind turns east, so we sail the boat to the outer island.",
]


def turns(texts: list[str], *, start: int = 0, step: int = 1_000_000) -> list[LeftTurn]:
    return [
        LeftTurn(id=ItemId(f"{start + i:026d}"), text=text, position=start + i, at=(start + i) * step, speaker="Ada")
        for i, text in enumerate(texts)
    ]


@given(
    st.lists(
        st.tuples(st.sampled_from([*COOKING, *SAILING, "今天我们去了杭州的西湖。", "ok"]), st.integers(0, 3)),
        max_size=40,
    )
)
def test_every_turn_is_in_exactly_one_segment_in_order(said: list[tuple[str, int]]) -> None:
    at, given_turns = 0, []
    for place, (text, gap) in enumerate(said):
        at += gap * PAUSE
        given_turns.append(LeftTurn(id=ItemId(f"{place:026d}"), text=text, position=place, at=at))
    made = segments(given_turns)
    assert [turn for one in made for turn in one.turns] == given_turns
    assert all(sum(count_tokens(turn.text) for turn in one.turns) <= MOST for one in made)
    assert made == segments(reversed(given_turns))


def test_a_change_of_topic_begins_a_segment() -> None:
    made = segments(turns(COOKING + SAILING))
    assert [(one.first, one.last) for one in made] == [(0, 5), (6, 9)]
    assert "bread" in made[0].keywords
    assert "boat" in made[1].keywords


def test_a_pause_begins_a_segment_though_the_topic_goes_on() -> None:
    later = turns(COOKING[3:], start=3, step=PAUSE * 4)
    assert len(segments(turns(COOKING[:3]) + later)) == 4


def test_a_summary_is_a_sentence_that_was_said_with_who_said_it() -> None:
    (made,) = segments(turns(COOKING))
    assert made.summary.startswith("Ada: ")
    assert any(made.summary.removeprefix("Ada: ") in text for text in COOKING)
    assert made.line.startswith(made.keywords[0])


def test_chinese_turns_are_summed_up_too() -> None:
    (made,) = segments(turns(["我们周末去杭州的西湖划船。", "西湖的船票多少钱？杭州周末人多吗？", "西湖划船很好玩。"]))
    assert "西湖" in made.line
    assert made.turns[-1].position == 2


def test_words_in_common_score_higher_than_none() -> None:
    from collections import Counter

    one, other = Counter(bread=3, oven=1), Counter(boat=2)
    assert score(one, one) == 2
    assert score(one, other) == 0 == score(one, Counter())


def test_page_state_is_written_behind_unless_it_is_to_be_written_through() -> None:
    behind, through = Writing(pages=10), Writing(through=True)
    assert [behind.rides(n) for n in (0, 9, 10)] == [False, False, True]
    assert [behind.alone(n) for n in (0, 10, 80)] == [False, False, True]
    assert [through.rides(n) for n in (0, 1)] == [False, True]
    assert [through.alone(n) for n in (0, 1)] == [False, True]


TOPICS = {
    "garden": ["tomatoes", "soil", "balcony", "seeds", "compost", "pots", "leaves", "roots"],
    "boats": ["sail", "harbour", "mast", "wind", "keel", "anchor", "rope", "tide"],
    "code": ["function", "class", "import", "module", "decorator", "generator", "exception", "typing"],
    "music": ["violin", "melody", "chord", "orchestra", "rehearsal", "tempo", "concert", "sonata"],
    "bread": ["oven", "dough", "flour", "yeast", "sourdough", "butter", "crust", "recipe"],
}


def test_words_that_every_topic_uses_do_not_hold_unlike_topics_together() -> None:
    said = [
        f"I looked at the {words[n % 8]} today, and what about the {words[(n + 1) % 8]} and the {words[(n + 3) % 8]}?"
        for words in TOPICS.values()
        for n in range(20)
    ]
    made = segments(turns(said))
    assert [(one.first, one.last) for one in made] == [(n, n + 19) for n in range(0, 100, 20)]
    for one, words in zip(made, TOPICS.values(), strict=True):
        assert set(one.keywords[:4]) <= set(words)
        assert any(word in one.summary for word in words)
