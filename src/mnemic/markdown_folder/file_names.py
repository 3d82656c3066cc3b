"""Names of files that every file system takes, that sort, and that no two of a folder share."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from itertools import count
from typing import Final

LONGEST: Final = 120
"""Most bytes of a name without its suffix: systems take 255, and folders lie in folders."""

_NOT_IN_NAMES: Final = re.compile(
    r'[\x00-\x1f\x7f-\x9f/\\:*?"<>|\u2028\u2029\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]+'
)
_DEVICES: Final = re.compile(r"(?:con|prn|aux|nul|clock\$|conin\$|conout\$|(?:com|lpt)[0-9¹²³])", re.IGNORECASE)
"""What Windows takes for a device, whatever its suffix."""


def safe_name(words: str, otherwise: str) -> str:
    """The name of a file for some words, without a suffix, in Unicode's composed form (NFC).

    What one system or the other does not take in a name becomes a space: signs of paths and patterns, controls, what
    turns the direction of words. No name begins with a dot or a dash, ends in a dot or a blank, or is a device's.

    Args:
        otherwise: The name where nothing is left.
    """
    name = unicodedata.normalize("NFC", words.encode(errors="ignore").decode())
    name = " ".join(_NOT_IN_NAMES.sub(" ", name).split()).lstrip(".-~ ").rstrip(". ")
    while len(name.encode()) > LONGEST:
        name = name.encode()[:LONGEST].decode(errors="ignore").rstrip("\u200d\ufe0f. ")
    name = name or otherwise
    return f"{name}_" if _DEVICES.fullmatch(name.partition(".")[0].rstrip()) else name


def folded(path: str) -> str:
    """A path as the least discerning file system tells it from others: composed, and without case."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


def free_path(folder: str, name: str, taken: Collection[str]) -> str:
    """The path of a Markdown file of this name, or else with a number behind it, that is not taken.

    Args:
        taken: Paths as `folded` has them.
    """
    names = (f"{folder}{name}{'' if n == 1 else f' ({n})'}.md" for n in count(1))
    return next(path for path in names if folded(path) not in taken)
