"""The protocol of a contestant: it takes in what is to be remembered, and ranks it for questions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias, runtime_checkable

from mnemic.lab.kit.datasets import BenchQuestion, Corpus
from mnemic.lab.kit.scripted_readers import ScriptedReader, copying, terse
from mnemic.models.model_opening import NONE, open_chat, open_embedder
from mnemic.settings import Settings

if TYPE_CHECKING:
    from mnemic.models.base import Embedder
    from mnemic.models.chat.base import Chat

SHOWN: Final = 10
"""Documents that a caller asks for: what is timed, and whose tokens an answer counts."""


SCRIPTED: Final = "scripted"
"""The reader by which strategies state what they cost: it costs nothing itself."""

COPYING: Final = "copying"
"""One that takes a fact from every turn, in its own words: what is asked over any data can be counted by it."""


@dataclass(frozen=True, slots=True)
class CreditedHit:
    """One thing that a contestant shows: a document, or what it has made of some.

    Attributes:
        docs: Those that it is or rests on.
        tokens: What it costs in a prompt.
        why: Why it came, in words of its own.
        text: Its words, where it is not just a document.
    """

    docs: tuple[str, ...]
    tokens: int
    why: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class RankedDocs:
    """A ranking: ids best first, with scores that fall in that order, or none from a contestant without scores.

    Attributes:
        hits: What was shown, best first, of one that shows more than documents; optional.
    """

    ids: tuple[str, ...]
    scores: tuple[float, ...] = ()
    hits: tuple[CreditedHit, ...] = ()


@dataclass(frozen=True, slots=True)
class QuotedDocs:
    """Words that an answer quotes, and the documents they stand in or rest on."""

    quote: str
    docs: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenAnswer:
    """What a contestant answers without a model.

    Attributes:
        short: The answer in few words, or its first quote.
        cited: The documents that it quotes.
        known: It gives an answer.
        confidence: How likely it is right, as it says; NaN where it does not say.
        text: The answer as a person reads it; optional, as are the next two.
        value: What it says in few words that are not merely a quote: yes, a time, a name; "" for a quote alone.
        quotes: What it quotes, the best first.
    """

    short: str
    cited: tuple[str, ...]
    known: bool
    confidence: float
    text: str = ""
    value: str = ""
    quotes: tuple[QuotedDocs, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextLine:
    """A line of what stands in the context whatever is asked.

    Attributes:
        docs: What it is or rests on.
        standing: It is an instruction for every answer.
        doubted: It is in doubt, and shown as such.
    """

    text: str
    docs: tuple[str, ...]
    standing: bool = False
    doubted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnFigures:
    """What a contestant reports of itself after the questions; None where a figure does not apply.

    Attributes:
        bytes_per_message: On disk, all its files.
        lag_ms: Median time from giving it one message to a recall that returns it.
        model_calls: By a language model, for each message.
        model_tokens: Of what it was shown and answered, for each message.
        recall_calls, recall_tokens: The same for each recall.
        peak_elsewhere_mib: The most memory of a process that it has begun.
    """

    bytes_per_message: float | None = None
    lag_ms: float | None = None
    model_calls: float = 0.0
    model_tokens: float = 0.0
    recall_calls: float = 0.0
    recall_tokens: float = 0.0
    peak_elsewhere_mib: float | None = None


class Contestant(Protocol):
    """Takes in corpora and ranks their documents: a row of a table.

    Optional of what it is given: that a corpus is `told`, the role of a document, the moment and the past of a question
    (`asked`, `as_of`, `valid_at`). One that knows nothing of them takes documents as they come, and asks of all it has.
    """

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
class ContextContestant(Protocol):
    """A contestant that keeps something in the context whatever is asked; any other is asked for a ranking instead."""

    def context(self, question: BenchQuestion) -> tuple[ContextLine, ...]:
        """What stands there, in its order; of a question `of_context`."""
        ...


@runtime_checkable
class ReplayingContestant(Protocol):
    """A contestant that reads a journal which was taken in once for all that replay it: its cost is what that adds."""

    def prepare(self, corpora: Sequence[Corpus]) -> None:
        """Take the journal in, unless somebody has; called once before `ingest`, and not timed."""
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
        reader: Whom strategies ask: none, `scripted`, `copying`, or as the setting `model` has it.
        journals: A folder for what is taken in once and replayed; None for one of the contestant's own.
        told: What is taken in is told, by a clock that stands, and the same talk comes around many small cases: vectors
            are kept meanwhile, and nothing goes on behind.
    """

    embedder: str = NONE
    cache: Path | None = None
    settings: Settings = field(default_factory=Settings)
    reader: str = NONE
    journals: Path | None = None
    told: bool = False

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
        if embedder is None or (self.cache is None and not self.told):
            return embedder
        from mnemic.lab.kit.cached import CachedEmbedder

        return CachedEmbedder(embedder, self.cache)

    def vectors_kept(self) -> int:
        """Count the vectors that the cache holds; none where there is no cache, or no embedder."""
        embedder = None if self.cache is None else open_embedder(self.embedder, self.settings)
        if embedder is None or self.cache is None:
            return 0
        from mnemic.lab.kit.cached import vectors_kept

        return vectors_kept(embedder, self.cache)

    def opened_reader(self) -> Chat | None:
        """Open whom strategies ask; None for rules alone.

        Raises:
            Invalid: there is none of that name, or its package is not installed.
        """
        if self.reader == SCRIPTED:
            return ScriptedReader(f"{SCRIPTED}:terse", terse)
        if self.reader == COPYING:
            return ScriptedReader(f"{SCRIPTED}:{COPYING}", copying)
        return open_chat(self.reader, self.settings)


Make: TypeAlias = Callable[[Means], Contestant]
"""Makes a contestant anew. It can be handed to another process: a class, a function of a module, a `partial` of one."""

Offered: TypeAlias = Mapping[str, Make]
"""What one adapter offers, by the name of its row."""
