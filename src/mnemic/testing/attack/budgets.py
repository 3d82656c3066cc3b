"""Attacks on budgets: texts that weigh more than they count, in blocks, windows, pieces and chunks."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Final
from unittest.mock import patch

from mnemic.core.items import Kind
from mnemic.core.queries import Filter
from mnemic.core.tokens import count_tokens, cut, told_cost
from mnemic.memory import Memory
from mnemic.settings import Settings
from mnemic.testing.attack.frame import AttackReport

QUICK = 12

_MOST_BYTES: Final = 16
"""Bytes that a token of a budget may stand for."""
_BLANKS: Final = " \t\r\n\v\f\x1c\x85\xa0\u1680\u2003\u2028\u202f\u3000"
_OTHERS: Final = ("a", ".", "fox", "你", "\u200b", "\u0301", "\u3164", "😀", "1", "_", "\x01", "internationalisation")
_ITEM_LIMIT: Final = 16_384


def attack(rounds: int, seed: int) -> AttackReport:
    """Have texts of blanks, and of what is hardly counted, remembered, cut and laid out within budgets."""
    chance = random.Random(seed)
    texts = [_hostile(chance) for _ in range(rounds)]
    budgets = [chance.choice([60, 100, 300, 1_000]) for _ in range(rounds)]
    failures = [wrong for text, budget in zip(texts, budgets, strict=True) for wrong in _wrong(text, budget)]
    with patch("mnemic.core.tokens.BYTES_A_TOKEN", 10**9):
        caught = sum(any(_wrong(text, budget)) for text, budget in zip(texts[:20], budgets, strict=False))
    return AttackReport(tries=rounds, failures=failures, caught_by_control=caught)


def _hostile(chance: random.Random) -> str:
    """A text of some thousand characters, most of them in runs of one or of a few."""
    if chance.random() < 0.5:
        return "fox" + chance.choice(_BLANKS) * chance.randrange(500, 4_000) + "fox"
    parts = ["fox "]
    while sum(map(len, parts)) < 6_000:
        letters = [chance.choice(_BLANKS if chance.random() < 0.7 else _OTHERS) for _ in range(chance.randrange(1, 4))]
        parts.append("".join(letters) * chance.choice([1, 3, 40, 700, 3_000]))
    return "".join(parts)[:30_000] + " fox"


def _wrong(text: str, budget: int) -> Iterator[str]:
    for piece in cut(text, budget):
        if len(piece.encode()) > _MOST_BYTES * max(budget, 24):
            yield f"a piece of {len(piece.encode()):,} bytes for {budget} tokens: {text[:40]!r}"
    if count_tokens(text) > 2 * count_tokens(" ".join(text.split())) and "for blanks" not in told_cost(text):
        yield f"blanks are not told in {told_cost(text)}: {text[:40]!r}"
    settings = Settings(background=False, item_limit=_ITEM_LIMIT)
    with Memory("memory:", settings=settings, embedder="none") as memory:
        me = memory.scope(user="ada")
        me.pin(me.observe(text, speaker="Eve").ids[0])
        me.observe(text[: _ITEM_LIMIT // 4] + " fox", speaker="Eve")
        for version in me.list(where=Filter(kinds=tuple(Kind)), limit=1_000):
            if len(version.item.text.encode()) > _ITEM_LIMIT:
                yield f"a chunk of {len(version.item.text.encode()):,} bytes: {text[:40]!r}"
        for name, block in (("recall", me.recall("fox", budget=budget)), ("context", me.context("fox", budget=budget))):
            yield from _over(name, block.text, block.tokens, budget, text)
        with me.session("talk", budget=max(budget, 600)) as talk:
            talk.observe(text)
            talk.observe("fox")
            yield from _over("window", talk.window().text, talk.window().tokens, max(budget, 600), text)
            shown = talk.context("fox")
            yield from _over("context of a session", shown.text, shown.tokens, max(budget, 600), text)


def _over(name: str, shown: str, tokens: int, budget: int, text: str) -> Iterator[str]:
    size = len(shown.encode())
    if tokens > budget or count_tokens(shown) > budget or size > _MOST_BYTES * budget:
        yield f"{name}: {size:,} bytes, {tokens:,} tokens for {budget}: {text[:40]!r}"
