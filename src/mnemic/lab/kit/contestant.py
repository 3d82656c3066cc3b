"""The protocol of a contestant: it takes in what is to be remembered, and ranks it for questions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias, runtime_checkable

from mnemic.lab.kit.datasets import BenchQuestion, Corpus
from mnemic.models.model_opening import NONE, open_embedder
from mnemic.settings import Settings

if TYPE_CHECKING:
    from mnemic.models.base import Embedder

SHOWN: Final = 10
"""Documents that a caller asks for: what is timed, and whose tokens an answer counts."""


@dataclass(frozen=True, slots=True)
class RankedDocs:
    """A ranking: ids best first, with scores that fall in that order, or none from a contestant without scores."""

    ids: tuple[str, ...]
    scores: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenAnswer:
    """What a contestant answers without a model.

    Attributes:
        short: The answer in few words, or its first quote.
        cited: The documents that it quotes.
        known: It gives an answer.
        confidence: How likely it is right, as it says; NaN where it does not say.
    """

    short: str
    cited: tuple[str, ...]
    known: bool
    confidence: float


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnFigures:
    """What a contestant reports of itself after the questions; None where a figure does not apply.

    Attributes:
        bytes_per_message: On disk, all its files.
        lag_ms: Median time from giving it one message to a recall that returns it.
        model_calls: By a language model, for each message.
        peak_elsewhere_mib: The most memory of a process that it has begun.
    """

    bytes_per_message: float | None = None
    lag_ms: float | None = None
    model_calls: float = 0.0
    peak_elsewhere_mib: float | None = None


class Contestant(Protocol):
    """Takes in corpora and ranks their documents: a row of a table."""

    def ingest(self, corpora: Sequence[Corpus]) -> None:
        """Take in all corpora, each in the order it was said; called once, timed."""
        ...

    def rank(self, question: BenchQuestion, k: int) -> RankedDocs:
        """Rank at most `k` documents of the question's corpus, best first, none twice."""
        ...

    def figures(self) -> OwnFigures:
        """Report its cost besides time; called after the last question."""
        ...

    def close(self) -> None:
        """Release all resources."""
        ...


@runtime_checkable
class AnsweringContestant(Protocol):
    """A contestant that also answers, by the words of what it remembers."""

    def answer(self, question: BenchQuestion) -> GivenAnswer:
        """Answer a question, or say that it does not know."""
        ...


@runtime_checkable
class ElsewhereContestant(Protocol):
    """A contestant that has a process of its own do its work, whose processor time counts as the contestant's."""

    @property
    def cpu_elsewhere_seconds(self) -> float:
        """Processor time that the process has taken until now."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What contestants are made with, by names, so that another process can open the same.

    Attributes:
        embedder: What meaning is read with, as the setting `embedder` has it.
        cache: A folder that keeps vectors from run to run.
        settings: Of this machine.
    """

    embedder: str = NONE
    cache: Path | None = None
    settings: Settings = field(default_factory=Settings)

    @property
    def embedder_name(self) -> str | None:
        """The name of the embedder that is opened; None for none.

        Raises:
            Invalid: there is none of that name, or its package is not installed.
        """
        embedder = open_embedder(self.embedder, self.settings)
        return None if embedder is None else embedder.name

    def opened_embedder(self) -> Embedder | None:
        """Open the embedder, one that keeps its vectors if there is a folder for them.

        Raises:
            Invalid: there is none of that name, or its package is not installed.
        """
        embedder = open_embedder(self.embedder, self.settings)
        if embedder is None or self.cache is None:
            return embedder
        from mnemic.lab.kit.cached import CachedEmbedder

        return CachedEmbedder(embedder, self.cache)


Make: TypeAlias = Callable[[Means], Contestant]
"""Makes a contestant anew. It can be handed to another process: a class, a function of a module, a `partial` of one."""

Offered: TypeAlias = Mapping[str, Make]
"""What one adapter offers, by the name of its row."""
