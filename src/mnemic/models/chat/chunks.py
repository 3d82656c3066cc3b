"""Reads the chunks of OpenAI's chat protocol: the words in them, or what went wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from mnemic.errors import ModelError
from mnemic.models.chat.base import CutOff

_SHOWN: Final = 200
"""Characters of a complaint that are passed on."""


def _beginning(text: str) -> str:
    return text[:_SHOWN].strip()


def words(
    chunks: Iterable[object], name: str, limit: int, *, excerpt: Callable[[str], str] = _beginning
) -> Iterator[str]:
    """Yield what the chunks add to the answer, in order; none of it empty.

    Args:
        chunks: Decoded ones; a whole answer, which has `message` in place of `delta`, counts as one chunk.
        name: How errors call the model.
        excerpt: What errors show of something that came in place of an answer.

    Raises:
        ModelError: a chunk is an error or none at all; the answer broke off or was empty.
        CutOff: it came to its limit.
    """
    finish, some = None, False
    for chunk in chunks:
        text, reason = _read(chunk, name, excerpt)
        finish = finish or reason
        if text:
            some = True
            yield text
    if finish is None:
        raise ModelError(f"{name}: the answer broke off")
    if finish == "length":
        raise CutOff(name, limit)
    if finish == "content_filter" or not some:
        raise ModelError(f"{name}: there is no answer (finish_reason {excerpt(finish)})")


def _read(chunk: object, name: str, excerpt: Callable[[str], str]) -> tuple[str, str | None]:
    """Read the text of a chunk, and why it is the last one, if it is."""
    if not isinstance(chunk, Mapping):
        raise ModelError(f"{name}: the answer is none: {excerpt(repr(chunk))}")
    if error := chunk.get("error"):
        raise ModelError(f"{name}: {excerpt(_complaint(error))}")
    try:
        choices = chunk["choices"]
        if not choices:  # what it cost, or how far the prompt is read
            return "", None
        said: Any = choices[0].get("delta") or choices[0].get("message") or {}
        text, reason = said.get("content") or "", choices[0].get("finish_reason")
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise ModelError(f"{name}: the answer holds no words ({error!r})") from error
    if not isinstance(text, str) or not isinstance(reason, str | None):
        raise ModelError(f"{name}: the answer holds no words")
    return text, reason


def _complaint(error: object) -> str:
    message = error.get("message", error) if isinstance(error, Mapping) else error
    return " ".join(str(message).split())
