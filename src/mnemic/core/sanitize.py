"""What others wrote, made safe to be shown: one rule for prompts, one for terminals, one for JSON.

Two things are looked for. *Unseen characters* steer a terminal, turn the order of words or carry words that no person
sees: controls, bidi controls, format characters, fillers, tags and variation selectors in a row. *Fences* are the tags
that mark recalled data in a prompt; a text that holds one could pass for what stands outside.

Three sorts of unseen characters are part of how words and pictures are written, and stay where they are: a joiner or
non-joiner (U+200C, U+200D) behind a letter of a script that is written with them (Persian, Hindi, Sinhala ...), since
words are other words without it; a joiner between two emoji, which makes one picture of them; and one variation
selector behind a character. Format characters that have a shape (the Arabic number sign and its kin) are letters here.
Tags (U+E0000 and up) go even in a flag: they spell out whole sentences that only a model reads.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_LINE_ENDS: Final = "\r\v\f\x1c-\x1e\x85\u2028\u2029"
_SELECTORS_SHORT: Final = "\u180b-\u180d\u180f\ufe00-\ufe0f"
_SELECTORS_LONG: Final = "\U000e0100-\U000e01ef"
_SELECTORS: Final = _SELECTORS_SHORT + _SELECTORS_LONG
_UNSEEN_SHORT: Final = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ud800-\udfff\ufeff\uffa0\ufff0-\ufffb"
)
"""Up to U+FFFF."""
_UNSEEN_LONG: Final = (
    "\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"
)
_ALWAYS_UNSEEN: Final = _UNSEEN_SHORT + _UNSEEN_LONG
_JOINING: Final = (
    "\u0620-\u06ff\u0710-\u08e1\u08e3-\u109f\u1780-\u17b3\u17b6-\u17d3\u1820-\u18aa\u1900-\u1cff\ua800-\uabff"
)
"""Letters and marks of scripts that are written with joiners and non-joiners."""
_EMOJI: Final = "\xa9\xae\u203c-\u3299\U0001f000-\U0001faff"
_UNSEEN: Final = re.compile(
    f"[{_ALWAYS_UNSEEN}]"
    f"|(?<![{_JOINING}])(?:\u200c|\u200d(?![{_EMOJI}])|(?<![{_EMOJI}\ufe0f])\u200d)"
    f"|(?<![^\\s\u200c\u200d{_SELECTORS}{_ALWAYS_UNSEEN}])[{_SELECTORS}]"
)
_PLAIN: Final = bytes([*b"\t\n", *range(ord(" "), 0x7F)])
_SUSPECT: Final = re.compile(f"[{_UNSEEN_SHORT}\u200c\u200d{_SELECTORS_SHORT}]")
_SUSPECT_LONG: Final = re.compile(f"[{_UNSEEN_LONG}{_SELECTORS_LONG}]")
_LONG: Final = re.compile("[^\0-\uffff]")
_ENDS: Final = re.compile(f"\r\n|[{_LINE_ENDS}]")

_OPENS: Final = re.compile("[<\u02c2\u1438\u2039\u226e\u2329\u276e\u2770\u27e8\u3008\ufe64\uff1c]")
"""What is, becomes under normalisation, or looks like the sign that opens a tag."""
_FENCE: Final = "memory"
"""What the name of each of our tags begins with."""
_LOOKS_LIKE: Final = str.maketrans("меогуүοᴍᴇᴏʀʏɱ", "meoryyomeorym")
"""Letters of other scripts that a reader takes for those of the name."""

LABELS: Final = ("standing instruction", "profile")
"""What the always-on block says in place of a speaker."""
_IMITATES: Final = re.compile(r"standinginstruction|profile(?:of|$)")
"""Such a label by its letters alone."""


def without_unseen(text: str) -> str:
    """Drop the unseen characters of a text; a line end of any sort becomes a line feed."""
    return _UNSEEN.sub("", _ENDS.sub("\n", text)) if _is_suspect(text) else text


def _is_suspect(text: str) -> bool:
    """Whether a text may hold unseen characters: every answer is asked, and a look at each character takes too long.

    Bytes of plain characters are dropped at once, which those of others never hold. A class of characters is looked up
    in one step where none is above U+FFFF, so those are asked apart.
    """
    if text.isascii() and text.isprintable():
        return False
    rest = text.encode("utf-8", "surrogatepass").translate(None, _PLAIN).decode("utf-8", "surrogatepass")
    if _SUSPECT.search(rest) is not None:
        return True
    return _SUSPECT_LONG.search("".join(_LONG.findall(rest))) is not None


def for_prompt(text: str) -> str:
    """Drop the unseen characters of a text, and spell out the sign that opens a tag wherever it could open a fence.

    However the result is normalised (NFKC, upper case, without blanks, marks or zero-width characters), it holds no
    fence. Ordinary text stays as it is.
    """
    text = without_unseen(text)
    if _OPENS.search(text) is None:
        return text
    return _OPENS.sub(lambda opens: "&lt;" if _names_fence(text, opens.end()) else opens[0], text)


def _names_fence(text: str, at: int) -> bool:
    """Whether the next letters of `text` from `at` are the name of a fence, whatever stands between them.

    Read no further than the next sign that opens a tag, so that many of them in a row cost no more than their length.
    """
    expected = 0
    for place in range(at, len(text)):
        shown = text[place]
        if _OPENS.match(shown):
            return False
        opened = "".join(c for c in unicodedata.normalize("NFKD", shown) if unicodedata.category(c)[0] != "M")
        for letter in opened.casefold().translate(_LOOKS_LIKE):
            if letter == _FENCE[expected]:
                expected += 1
                if expected == len(_FENCE):
                    return True
            elif letter.isalnum():
                return False
    return False


def speaker_name(name: str) -> str:
    """Put a speaker's name on one line, and in quotation marks where it could pass for a label of ours or a channel."""
    name = " ".join(without_unseen(name).split())
    plain = name if name.isascii() else unicodedata.normalize("NFKD", name).translate(_LOOKS_LIKE)
    opened = plain.casefold()
    if _IMITATES.match("".join(filter(str.isalpha, opened))) or opened.startswith("("):
        return '"' + name.replace('"', "'") + '"'
    return name


def for_terminal(text: str) -> str:
    """Spell out the unseen characters of a text: what was remembered must not steer the terminal that shows it."""
    return _UNSEEN.sub(_spelt, text) if _is_suspect(text) else text


def _spelt(unseen: re.Match[str]) -> str:
    point = ord(unseen[0])
    return f"\\x{point:02x}" if point < 0x100 else f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"


def for_json(document: str) -> str:
    """Escape the unseen characters of a JSON document, which means the same with them escaped."""
    return _UNSEEN.sub(_escaped, document) if _is_suspect(document) else document


def _escaped(unseen: re.Match[str]) -> str:
    return "".join(f"\\u{unit:04x}" for unit in _utf16(ord(unseen[0])))


def _utf16(point: int) -> tuple[int, ...]:
    high, low = divmod(point - 0x10000, 0x400)
    return (point,) if point < 0x10000 else (0xD800 + high, 0xDC00 + low)
