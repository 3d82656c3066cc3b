"""Masking secrets before the journal: high-precision patterns only, so that ordinary text is never touched."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

_PATTERNS: Final = (
    (
        "private key",
        re.compile(r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----.*?-----END (?:[A-Z]+ )*PRIVATE KEY-----", re.DOTALL),
    ),
    (
        "api key",
        re.compile(
            r"\b(?:sk-(?:ant-|proj-)?[A-Za-z0-9_-]{20,}|AKIA[0-9A-Z]{16}|gh[pousr]_[A-Za-z0-9]{36,}|github_pat_\w{40,}"
            r"|xox[abposr]-[A-Za-z0-9-]{20,}|AIza[0-9A-Za-z_-]{35}|glpat-[0-9A-Za-z_-]{20,}|npm_[A-Za-z0-9]{36})"
        ),
    ),
    ("token", re.compile(r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}")),
    ("card number", re.compile(r"(?<![\d-])(?:\d[ -]?){12,18}\d(?![\d-])")),
)
_SUSPECT: Final = re.compile(r"-----BEGIN|sk-|AKIA|gh[pousr]_|github_pat_|xox|AIza|glpat-|npm_|eyJ|(?:\d[ -]?){8}")
"""One cheap look that clears nearly every text."""


def mask(text: str) -> tuple[str, Counter[str]]:
    """`text` with each secret replaced by `[masked KIND]`, and how many of each kind there were."""
    found: Counter[str] = Counter()
    if not _SUSPECT.search(text):
        return text, found

    for kind, pattern in _PATTERNS:

        def replace(match: re.Match[str], kind: str = kind) -> str:
            if kind == "card number" and not _is_card(match.group()):
                return match.group()
            found[kind] += 1
            return f"[masked {kind}]"

        text = pattern.sub(replace, text)
    return text, found


def _is_card(shown: str) -> bool:
    """Luhn's check digit over a length and a first digit that issuers use; a run of zeros is no card."""
    digits = [int(c) for c in shown if c.isdigit()]
    if not 13 <= len(digits) <= 19 or digits[0] not in (3, 4, 5, 6) or len(set(digits)) < 2:
        return False
    doubled = (d * 2 - 9 if d > 4 else d * 2 for d in digits[-2::-2])
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0
