"""Masking secrets before the journal: high-precision patterns only, so that ordinary text is never touched."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

_KEY_BEGINS: Final = re.compile(r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----")
_KEY_ENDS: Final = re.compile(r"-----END (?:[A-Z]+ )*PRIVATE KEY-----")
_PATTERNS: Final = (
    (
        "api key",
        re.compile(
            r"\b(?:sk-(?:ant-|proj-)?[A-Za-z0-9_-]{20,}|AKIA[0-9A-Z]{16}|gh[pousr]_[A-Za-z0-9]{36,}|github_pat_\w{40,}"
            r"|xox[abposr]-[A-Za-z0-9-]{20,}|AIza[0-9A-Za-z_-]{35}|glpat-[0-9A-Za-z_-]{20,}|npm_[A-Za-z0-9]{36})"
        ),
    ),
    (
        "token",  # from the first eyJ of a run of its letters: trying every one of them costs the square
        re.compile(
            r"(?<![A-Za-z0-9_-])(?P<before>(?>[A-Za-z0-9_-]*?\b(?=eyJ[A-Za-z0-9_-]{10})))[A-Za-z0-9_-]++"
            r"\.eyJ[A-Za-z0-9_-]{10,}+\.[A-Za-z0-9_-]{10,}+"
        ),
    ),
    ("card number", re.compile(r"(?<![\d-])(?:\d[ -]?){12,18}\d(?![\d-])")),
)
_SUSPECT: Final = re.compile(r"-----BEGIN|sk-|AKIA|gh[pousr]_|github_pat_|xox|AIza|glpat-|npm_|eyJ|(?:\d[ -]?){8}")
"""One cheap look that clears nearly every text."""


def mask(text: str) -> tuple[str, Counter[str]]:
    """Replace each secret in a text by `[masked KIND]`; return the text and how many of each kind there were."""
    found: Counter[str] = Counter()
    if not _SUSPECT.search(text):
        return text, found

    text, found["private key"] = _without_keys(text)
    for kind, pattern in _PATTERNS:

        def replace(match: re.Match[str], kind: str = kind) -> str:
            if kind == "card number" and not _is_card(match.group()):
                return match.group()
            found[kind] += 1
            return f"{match.groupdict().get('before', '')}[masked {kind}]"

        text = pattern.sub(replace, text)
    return text, +found


def _without_keys(text: str) -> tuple[str, int]:
    """Mask private keys, each from its first line to the next last line; a first line alone is no key."""
    kept: list[str] = []
    at = 0
    while (begins := _KEY_BEGINS.search(text, at)) and (ends := _KEY_ENDS.search(text, begins.end())):
        kept += (text[at : begins.start()], "[masked private key]")
        at = ends.end()
    return "".join((*kept, text[at:])), len(kept) // 2


def _is_card(shown: str) -> bool:
    """Whether digits are a card number: a length and first digit that issuers use, and Luhn's check digit."""
    digits = [int(c) for c in shown if c.isdigit()]
    if not 13 <= len(digits) <= 19 or digits[0] not in (3, 4, 5, 6) or len(set(digits)) < 2:
        return False
    doubled = (d * 2 - 9 if d > 4 else d * 2 for d in digits[-2::-2])
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0
