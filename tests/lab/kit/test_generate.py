"""Made-up talk is the same for the same seed, and shaped like talk."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from statistics import median

from mnemic.lab.kit.generate import Talk, vocabulary


def test_the_same_seed_talks_the_same_and_another_does_not() -> None:
    one, two, other = (list(Talk(seed).messages(50)) for seed in (1, 1, 2))
    assert one == two
    assert one != other


def test_words_follow_zipf_and_lengths_are_those_of_messages() -> None:
    texts = [message.text for message in Talk(0).messages(2_000)]
    latin = [text for text in texts if text.isascii()]
    words = Counter(word for text in latin for word in text.lower().rstrip(".").split())
    assert 12 <= median(len(text.split()) for text in latin) <= 30
    assert len(words) > 2_000
    assert words["the"] > 5 * words["work"]
    assert 0.05 < 1 - len(latin) / len(texts) < 0.6


def test_time_only_moves_on_and_sessions_are_of_one_length() -> None:
    messages = list(Talk(0).messages(60))
    times = [message.said for message in messages if message.said]
    assert len(times) == 60
    assert times == sorted(times)
    assert Counter(message.session for message in messages) == {"s0": 25, "s1": 25, "s2": 10}


def test_keys_are_distinct_and_a_question_uses_words_of_its_message() -> None:
    talk = Talk(0)
    messages = list(islice(talk.messages(30), 30))
    assert len({message.key for message in messages}) == 30
    asked = talk.question(messages)
    assert asked.about in {message.text for message in messages}
    assert asked.text.split(" about ")[1].rstrip("?").split()[0] in asked.about


def test_a_question_is_as_short_as_people_ask_in_either_language() -> None:
    talk = Talk(0)
    messages = list(talk.messages(300))
    for _ in range(200):
        picked = talk.question(messages).text.split(" about ", 1)[1].rstrip("?")
        assert len(picked.split()) <= 9 if " " in picked or picked.isascii() else len(picked) <= 11


def test_the_vocabulary_has_a_few_thousand_words_without_repeats() -> None:
    words = vocabulary()
    assert 3_000 < len(words) < 6_000
    assert len(set(words)) > 0.98 * len(words)
