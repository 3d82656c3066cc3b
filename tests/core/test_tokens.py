from __future__ import annotations

import threading
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.core.clock import micros
from mnemic.core.ids import from_bytes
from mnemic.core.items import Item, Kind, Slot
from mnemic.core.parts import PART_TOKENS, entry_terms, part_texts
from mnemic.core.timex import TimeSpan
from mnemic.core.tokens import (
    Field,
    count_tokens,
    cut,
    hash_term,
    is_stop,
    mention,
    spoken_days,
    terms,
    tokenise,
    told_cost,
    words,
)


def item(
    text: str, *, said: datetime = datetime(2023, 5, 8, tzinfo=UTC), key: str | None = None, **slots: Slot
) -> Item:
    return Item(id=from_bytes(bytes(16)), kind=Kind.TURN, text=text, said=said, key=key, slots=slots)


def stream(raw: bytes) -> list[int]:
    return [int.from_bytes(raw[i : i + 8], "little") for i in range(0, len(raw), 8)]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Moved, moving; moves", ["move", "move", "move"]),
        ("Caroline's CAFÉ", ["carolin", "cafe"]),
        ("don’t", ["don't"]),
        ("ﬁle Ｆｕｌｌ", ["file", "full"]),
        ("C++ and C#", ["c++", "and", "c#"]),
        ("1,000.50 at 10:30", ["1000.50", "at", "10:30"]),
        ("2023-5-7 and 2023/05/07", ["2023-05-07", "and", "2023-05-07"]),
        ("mp3 covid19 42", ["mp3", "covid19", "42"]),
        ("上海人", ["上", "上海", "海", "海人", "人"]),
        ("hello猫world", ["hello", "猫", "world"]),
        ("ひらがな한국", ["ひ", "ひら", "ら", "らが", "が", "がな", "な", "な한", "한", "한국", "국"]),
        ("Привет, мир", ["привет", "мир"]),
        ("", []),
        ("!?… 🙂", []),
    ],
)
def test_text_becomes_one_stream(text: str, tokens: list[str]) -> None:
    assert tokenise(text) == tokens


@given(st.text(max_size=80))
def test_any_text_has_as_many_words_tokens_and_hashes(text: str) -> None:
    assert len(tokenise(text)) == len(words(text)) == len(terms(text)) / 8


@given(st.text(max_size=40))
def test_the_terms_are_the_hashes_of_the_tokens(text: str) -> None:
    assert stream(terms(text, Field.SPEAKER)) == [hash_term(token, Field.SPEAKER) for token in tokenise(text)]


def test_a_hash_never_changes_between_versions() -> None:
    assert hash_term("lisbon") == 0x36CCF63A5DE6E087
    assert {hash_term("lisbon", field) >> 62 for field in Field} == {0, 1, 2, 3}
    assert len({hash_term("lisbon", field) & (1 << 62) - 1 for field in Field}) == 1


def test_a_lone_surrogate_in_a_question_has_a_hash() -> None:
    assert len(terms("a\ud800b")) == 8 * len(tokenise("a\ud800b"))


@pytest.mark.parametrize("word", ["the", "what", "did", "don't", "的", "什么", "我们"])
def test_words_of_grammar_are_stop_words(word: str) -> None:
    assert all(is_stop(token) for token in tokenise(word))


@pytest.mark.parametrize("word", ["camping", "Paris", "2023", "电影", "猫"])
def test_words_that_mean_something_are_not(word: str) -> None:
    assert not any(is_stop(token) for token in tokenise(word))


def test_an_entry_holds_speaker_date_headings_text_and_caption() -> None:
    (raw,) = entry_terms(item("We swam", speaker="Ada", title="Diary", heading="Lake", caption="a boat"))
    held = stream(raw)
    assert hash_term("ada", Field.SPEAKER) in held
    for token in ("2023", "may", "8", "monday", "2023-05-08"):
        assert hash_term(token, Field.DATE) in held
    for token in ("diari", "lake", "swam", "boat"):
        assert hash_term(token) in held
    assert hash_term("ada") not in held


def test_the_day_of_an_entry_is_that_of_its_own_clock() -> None:
    late = item("x", said=datetime(2023, 5, 8, 23, tzinfo=UTC))
    (raw,) = entry_terms(Item(id=late.id, kind=late.kind, text="x", said=late.said, said_offset=120))
    assert hash_term("2023-05-09", Field.DATE) in stream(raw)


@pytest.mark.parametrize("offset", [-840, 0, 840])
@pytest.mark.parametrize("said", [datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, tzinfo=UTC)])
def test_the_ends_of_time_have_a_day(said: datetime, offset: int) -> None:
    edge = item("see you tomorrow, or last year", said=said)
    (raw,) = entry_terms(Item(id=edge.id, kind=edge.kind, text=edge.text, said=said, said_offset=offset))
    assert hash_term(f"{said.year:04}", Field.DATE) in stream(raw)


def test_a_key_is_indexed_in_place_of_the_text() -> None:
    held = stream(entry_terms(item("secret", key="public"))[0])
    assert hash_term("public") in held
    assert hash_term("secret") not in held


@pytest.mark.parametrize("text", ["I went there yesterday", "我昨天去了那里", "I went there on 7 May 2023"])
def test_a_relative_day_is_resolved_against_the_day_it_was_said(text: str) -> None:
    held = stream(entry_terms(item(text))[0])
    assert mention("2023-05-07") in held
    assert mention("") in held


def test_a_text_without_a_time_speaks_of_none() -> None:
    assert mention("") not in stream(entry_terms(item("I went there"))[0])


def span(first: datetime, last: datetime) -> TimeSpan:
    return TimeSpan(micros(first), micros(last), "", "range")


@pytest.mark.parametrize(
    ("first", "last", "called"),
    [
        (datetime(2023, 5, 7, tzinfo=UTC), datetime(2023, 5, 8, tzinfo=UTC), ["2023-05-07"]),
        (datetime(2023, 12, 31, tzinfo=UTC), datetime(2024, 1, 2, tzinfo=UTC), ["2023-12-31", "2024-01-01"]),
        (datetime(2023, 12, 1, tzinfo=UTC), datetime(2024, 2, 1, tzinfo=UTC), ["2023-12", "2024-01"]),
        (datetime(2020, 1, 1, tzinfo=UTC), datetime(2023, 1, 1, tzinfo=UTC), []),
        (datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC), []),
    ],
)
def test_a_stretch_of_time_is_called_by_its_days_or_months(first: datetime, last: datetime, called: list[str]) -> None:
    assert spoken_days(span(first, last), 0) == called


@pytest.mark.parametrize(
    "sentence", ["The quick brown fox jumps over it. ", "他今天去了公园，然后回家吃饭。", "word " * 30 + "\n\n"]
)
def test_a_long_item_has_parts_with_the_same_header_and_nothing_cut_off(sentence: str) -> None:
    long = item(sentence * 120, speaker="Ada")
    parts = part_texts(long)
    assert "".join(parts) == long.text
    assert len(parts) > 1
    assert all(count_tokens(part) <= PART_TOKENS for part in parts)
    header = stream(entry_terms(item("x", speaker="Ada"))[0])[:-1]
    for part, raw in zip(parts, entry_terms(long), strict=True):
        assert stream(raw)[: len(header)] == header
        assert raw.endswith(terms(part))


@given(st.text(max_size=300), st.integers(1, 40))
def test_pieces_joined_are_the_text(text: str, limit: int) -> None:
    assert "".join(cut(text, limit)) == text


@given(st.text(alphabet=st.sampled_from("ab c.。\n你1-"), max_size=200), st.integers(13, 40))
def test_pieces_keep_to_the_limit(text: str, limit: int) -> None:
    assert all(count_tokens(piece) <= limit for piece in cut(text, limit))


@given(st.text(max_size=60), st.text(max_size=60))
def test_a_longer_text_never_counts_less_nor_more_than_its_pieces(one: str, other: str) -> None:
    both = count_tokens(one + other)
    assert max(count_tokens(one), count_tokens(other)) <= both <= count_tokens(one) + count_tokens(other)


def test_every_thread_gets_the_same_tokens() -> None:
    found: list[Any] = []
    text = " ".join(f"running{n} jumped{n}" for n in range(200))
    threads = [threading.Thread(target=lambda: found.append(terms(text))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(found) == {terms(text)}


@given(st.text(st.sampled_from("abcs019-/.,:'+# \n_"), max_size=30))
def test_a_text_in_ascii_has_the_words_it_has_among_others(text: str) -> None:
    assert words(f"{text} é") == [*words(text), "e"]


BLANKS = [chr(point) for point in range(0x110000) if chr(point).isspace()]


@given(
    st.lists(st.text(max_size=8), max_size=8), st.sampled_from(BLANKS), st.sampled_from(["", "\u0301", "9", "'", "上"])
)
def test_no_token_reaches_over_a_blank(chunks: list[str], blank: str, next_to: str) -> None:
    text = f"{blank}{next_to}".join(chunks)
    assert words(text) == [word for chunk in text.split() for word in words(chunk)]


@given(st.text(st.one_of(st.characters(), st.sampled_from("ab '9May ")), max_size=60))
def test_an_entry_has_the_stream_of_its_whole_text(text: str) -> None:
    (raw,) = entry_terms(item(text))
    assert raw.endswith(terms(text))


def test_more_chunks_than_are_kept_have_the_same_streams() -> None:
    texts = ["yesterday " + " ".join(f"w{n}x{m}" for m in range(40)) for n in range(2_000)]
    first = [entry_terms(item(text)) for text in texts]
    assert [entry_terms(item(text)) for text in texts] == first
    assert all(mention("2023-05-07") in stream(raw) for (raw,) in first[::100])


def test_what_blanks_cost_is_told() -> None:
    assert told_cost("fox") == "1 tokens"
    assert told_cost("A fox.\n\n\tA hen.") == f"{count_tokens('A fox. A hen.') + 1} tokens"
    assert told_cost("fox" + " " * 20_000 + "fox") == "1,251 tokens, 1,249 of them for blanks"
