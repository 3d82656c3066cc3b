"""Open the language model that a setting names: nothing for none, KIND or KIND:DETAILS, or the path of a GGUF file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mnemic.errors import Invalid
from mnemic.registry import CHATS, load

if TYPE_CHECKING:
    from mnemic.models.chat.base import Chat
    from mnemic.settings import Settings

NONE: Final = "none"


def open_chat(spec: str, settings: Settings) -> Chat | None:
    """The language model that `spec` means; None for "" and `none`.

    Nothing is loaded and nobody is called before the first question.

    Raises:
        Invalid: no model goes by that name, its file is not there, or its package is not installed.
    """
    if spec in ("", NONE):
        return None
    kind, _, details = spec.partition(":")
    if kind not in CHATS and spec.endswith(".gguf"):
        kind, details = "gguf", spec
    if kind not in CHATS:
        known = ", ".join((NONE, *sorted(CHATS)))
        raise Invalid(
            "model",
            f"{_kind_alone(kind)!r} is not known",
            f"Known: {known}; an endpoint is openai:MODEL@URL, a file is its path, ending in .gguf.",
        )
    chat: Chat = load(CHATS, kind).opened(details, settings)
    return chat


def _kind_alone(kind: str) -> str:
    """What is left of an address that was taken for a kind when nothing in it can be a secret."""
    return kind.rpartition("@")[2].partition("?")[0]
