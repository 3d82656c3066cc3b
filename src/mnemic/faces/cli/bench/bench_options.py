"""Options that several benches take; what they say goes on as it is to the laboratory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from mnemic.faces.cli.bars import split_names
from mnemic.faces.cli.command import WORDS, Words
from mnemic.faces.cli.invocation import Invocation

if TYPE_CHECKING:
    from mnemic.models.base import Embedder

Option = Callable[[Callable[..., Any]], Callable[..., Any]]
"""What adds an option to a function."""

FILE: Final = click.Path(path_type=Path)


class _Names(Words):
    """Names separated by commas."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return split_names(super().convert(value, param, ctx)) if isinstance(value, str) else value


NAMES: Final = _Names()

path = click.argument("path", type=FILE)
out = click.option("--out", type=FILE, default=Path("runs"), show_default=True, help="Folder, or file.")
cache = click.option("--cache", type=FILE, help="Folder that keeps vectors from run to run.")
policies = click.option(
    "--policies", type=NAMES, help="Only these, by commas; the baselines and Belady's are always there."
)
plots = click.option("--plots", type=FILE, help="Folder for pictures (needs the extra `bench`).")
conversations = click.option("--conversations", type=NAMES, default=(), help="Only these, by name.")


def embedder(default: str = "auto", help: str = "`none` for words alone.") -> Option:
    """Add `--embedder`, which is opened by its name."""
    return click.option("--embedder", type=WORDS, default=default, show_default=True, help=help)


def opened_embedder(run: Invocation, named: str, cache: Path | None) -> Embedder | None:
    """Open what `--embedder` names; with `--cache`, one that keeps vectors there."""
    from mnemic.models.model_opening import open_embedder

    embedder = open_embedder(named, run.settings)
    if embedder is None or cache is None:
        return embedder
    from mnemic.lab.kit.cached import CachedEmbedder

    return CachedEmbedder(embedder, cache)


def count(name: str, default: int, help: str, *, least: int = 1) -> Option:
    """Add an option that counts something."""
    return click.option(name, type=click.IntRange(least), default=default, show_default=True, help=help)


def limit(of: str = "questions") -> Option:
    """Add `--limit`."""
    return click.option("--limit", type=click.IntRange(1), help=f"Only the first so many {of}.")


def seed(of: str = "the bootstrap") -> Option:
    """Add `--seed`."""
    return click.option("--seed", type=int, default=0, show_default=True, help=f"Of {of}.")


def without_none(options: Mapping[str, Any]) -> dict[str, Any]:
    """Drop options that were left out, so that the laboratory's own defaults hold."""
    return {name: value for name, value in options.items() if value is not None}
