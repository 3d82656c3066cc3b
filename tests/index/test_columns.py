from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mnemic.core.tokens import hash_term
from mnemic.index.reading import PostingsSegment, Tail, compress

rows = st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=8), max_size=12)


def build(docs: list[list[str]], first: int) -> tuple[PostingsSegment, Tail]:
    hashes = [[hash_term(word) for word in doc] for doc in docs]
    flat = np.array([token for doc in hashes for token in doc], dtype=np.uint64)
    tail = Tail(first)
    for doc in hashes:
        tail.add(doc)
    return compress(first, flat, np.array([len(doc) for doc in docs], dtype=np.int64)), tail


@given(rows, st.integers(0, 5))
def test_a_segment_and_a_tail_find_the_rows_of_a_token_and_its_counts(docs: list[list[str]], first: int) -> None:
    for part in build(docs, first):
        for word in "abcdefghi":
            found = part.find(hash_term(word))
            expected = {first + row: Counter(doc)[word] for row, doc in enumerate(docs) if word in doc}
            assert (found is None) == (not expected)
            if found is not None:
                assert dict(zip(found[0].tolist(), found[1].tolist(), strict=True)) == expected
                assert found[0].tolist() == sorted(expected)
