"""Memories that others have published, each in an environment and a process of its own, with our vectors.

An adapter is a file in `peers/`, a list of packages beside it, and a line in `PEERS`. The process is told documents
and questions over lines of JSON, and asks for vectors in between; it sees no variable and no package of ours, is given
no key, and what it writes lies in a folder that is gone afterwards.
"""

from __future__ import annotations

import base64
import json
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from mnemic.errors import Invalid
from mnemic.lab.contestants.mnemic_contestant import PROBES
from mnemic.lab.kit.contest import peak_mib, size_mib
from mnemic.lab.kit.contestant import Make, Means, OwnFigures, RankedDocs
from mnemic.lab.kit.foreign_environment import ForeignEnvironment, PeerFailed

if TYPE_CHECKING:
    from mnemic.lab.kit.datasets import BenchQuestion, Corpus, Doc
    from mnemic.settings import Settings

_FOLDER: Final = Path(__file__).parent / "peers"

_START: Final = """
import runpy, sys, types
mnemic = sys.modules["mnemic"] = types.ModuleType("mnemic")
mnemic.__path__ = [sys.argv.pop(1)]
module = sys.argv.pop(1)
runpy.run_module(module, run_name="__main__", alter_sys=True)
"""
"""Starts an adapter so that our package is seen from there, and nothing that is installed beside it."""

_QUIET: Final = {
    "ANONYMIZED_TELEMETRY": "False", "DO_NOT_TRACK": "1", "HF_HUB_OFFLINE": "1", "MEM0_TELEMETRY": "False",
    "LANG": "C.UTF-8", "PATH": os.defpath, "TOKENIZERS_PARALLELISM": "false",
}  # fmt: skip
"""All that a peer finds in its environment besides its folder: nobody is called, nothing is fetched."""

_BATCH: Final = 64
"""Documents that are handed over at once."""

_LOOKS: Final = 20
"""How often a peer is asked for what it was just given before it is said to have no lag that can be told."""

_END_SECONDS: Final = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedMemory:
    """A memory of others.

    Attributes:
        name: Of its row.
        package: With its version.
        adapter: The module in `peers/` that runs it, and the list of packages beside it; "" for one that does not run.
        settings: What of it runs, in words.
        variables: That it reads its settings from.
        flags: Of its interpreter.
        unfit: Why it does not run here; "" for one that does.
    """

    name: str
    package: str
    settings: str
    adapter: str = ""
    variables: Mapping[str, str] = field(default_factory=dict)
    flags: tuple[str, ...] = ()
    unfit: str = ""

    @property
    def environment(self) -> ForeignEnvironment:
        """Where it lies: just the packages of its list, whatever they declare, so that torch cannot come along."""
        listed = (_FOLDER / f"{self.adapter}.txt").read_text("utf-8").split()
        return ForeignEnvironment(name=self.name.replace(" ", "-"), requirements=tuple(listed), alone=True)


PEERS: Final = (
    PublishedMemory(
        name="chromadb", package="chromadb==1.5.9", adapter="chromadb_peer",
        settings="a collection for each user on the disk, HNSW by cosine",
    ),
    PublishedMemory(
        name="LangGraph store", package="langgraph-checkpoint-sqlite==3.1.2", adapter="langgraph_peer",
        settings="SqliteStore, a namespace for each user, `text` indexed, exact cosine by sqlite-vec",
    ),
    PublishedMemory(
        name="LlamaIndex", package="llama-index-core==0.14.25", adapter="llama_index_peer",
        settings="VectorStoreIndex for each user in SimpleVectorStore, exact cosine, kept as JSON",
    ),
    PublishedMemory(
        name="mem0 raw", package="mem0ai==2.2.1", adapter="mem0_peer",
        settings="infer=False (no language model), Qdrant local on the disk, no fastembed (its model is on a hub)",
    ),
    PublishedMemory(
        name="MemPalace", package="mempalace==3.11.0", adapter="mempalace_peer",
        settings="a wing for each user, chromadb behind, its hybrid search (vector, then BM25) as it comes",
        variables={
            "MEMPALACE_EMBEDDING_MODEL": "openai-compat", "MEMPALACE_EMBEDDING_API_URL": "http://127.0.0.1:9",
            "MEMPALACE_EMBEDDING_API_MODEL": "given",
        },
    ),
    PublishedMemory(
        name="HippoRAG rules", package="hipporag==2.0.0a4", adapter="hipporag_peer",
        flags=("-O",),  # an assertion of its fails where a user has five facts or fewer
        settings="HippoRAG 2, an index for each user; entities and facts by rules of ours, its filter keeps every fact,"
        " the nearest entities by NumPy, no torch",
    ),
    PublishedMemory(
        name="txtai", package="txtai-minimal==9.14.0", adapter="txtai_peer",
        settings="an index for each user, Faiss and BM25 (`hybrid`, half each), no torch",
    ),
    PublishedMemory(
        name="A-Mem", package="a-mem==0.2.6", settings="",
        unfit="each note asks a language model for its words and for what it changes, and torch loads a model of a hub",
    ),
    PublishedMemory(
        name="cognee", package="cognee==1.6.5", settings="",
        unfit="a language model reads each passage into its graph; not tried with rules",
    ),
    PublishedMemory(
        name="Graphiti", package="graphiti-core==0.31.2", settings="",
        unfit="several calls of a language model for each episode; not tried with rules",
    ),
    PublishedMemory(
        name="langmem", package="langmem==0.0.30", settings="",
        unfit="what decides what is kept is a language model that calls tools; where it is kept is the LangGraph store,"
        " which has a row",
    ),
    PublishedMemory(
        name="MemoryOS", package="memoryos-baijia==0.1.1", settings="",
        unfit="it asks for faiss-gpu and torch, and a language model for each turn; our strategy `memoryos` follows it",
    ),
)  # fmt: skip


Start: TypeAlias = Callable[[Path, int], "subprocess.Popen[str]"]
"""Starts a peer's process with a folder and a number of dimensions."""


class PeerContestant:
    """A peer behind the protocol of contestants."""

    def __init__(self, peer: PublishedMemory, means: Means, start: Start | None = None) -> None:
        """Start its process, which says when it can be used.

        Args:
            start: Starts it with a folder and a number of dimensions; by its environment and adapter when left out.

        Raises:
            PeerFailed: it does not run here, its environment has not been made, or it did not start.
            Invalid: there is no embedder.
        """
        start = start or partial(_started, peer, _python(peer, means.settings))
        embedder = means.opened_embedder()
        if embedder is None:
            raise Invalid("embedder", f"is none, and {peer.name} has no vectors but ours", "Name one.")
        self._peer, self._embedder = peer, embedder
        self._sizes: dict[str, int] = {}
        self._cpu, self._calls, self._calls_taking_in = 0.0, 0, 0
        self._folder = tempfile.TemporaryDirectory(prefix="mnemic-peer-", ignore_cleanup_errors=True)
        self._process = start(Path(self._folder.name), embedder.dims)
        try:
            self._answer()
        except PeerFailed:
            self.close()
            raise

    def ingest(self, corpora: Sequence[Corpus]) -> None:
        for corpus in corpora:
            self._sizes[corpus.ns] = len(corpus.docs)
            for docs in _batches(corpus.docs):
                self._ask(do="add", docs=[_given(doc) for doc in docs])
        self._ask(do="settle")
        self._calls_taking_in = self._calls

    def rank(self, question: BenchQuestion, k: int) -> RankedDocs:
        return self._rank(question.ns, question.text, k)

    def figures(self) -> OwnFigures:
        messages = max(sum(self._sizes.values()), 1)
        size = size_mib(Path(self._folder.name)) * 2**20
        return OwnFigures(
            bytes_per_message=size / messages, lag_ms=self._lag(), model_calls=self._calls_taking_in / messages,
            peak_elsewhere_mib=peak_mib(self._process.pid),
        )  # fmt: skip

    @property
    def cpu_elsewhere_seconds(self) -> float:
        """Processor time that its process has taken, by its last answer."""
        return self._cpu

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.close()
            self._process.wait(_END_SECONDS)
        except (OSError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        self._folder.cleanup()

    def _rank(self, ns: str, text: str, k: int) -> RankedDocs:
        answer = self._ask(do="rank", ns=ns, text=text, k=k)
        return RankedDocs(tuple(answer["ids"]), tuple(answer["scores"]))

    def _lag(self) -> float | None:
        """Median milliseconds from giving it one message to a ranking that has it; None if it does not come up."""
        ns = max(self._sizes, key=lambda ns: self._sizes[ns])
        lags = []
        for n in range(PROBES):
            id, probe = f"probe-{n}", f"quorvex{n} is the word this probe is known by"
            began = time.perf_counter()
            self._ask(do="add", docs=[{"ns": ns, "id": id, "session": "", "when": "", "told": probe}])
            if not any(id in self._rank(ns, probe, 10).ids for _ in range(_LOOKS)):
                return None
            lags.append((time.perf_counter() - began) * 1000)
        return statistics.median(lags)

    def _ask(self, **asked: object) -> dict[str, Any]:
        self._say(asked)
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        """What it answers; until then it may ask for vectors."""
        while True:
            answer = self._heard()
            if "embed" not in answer:
                self._cpu, self._calls = answer["cpu"], answer["calls"]
                return answer
            texts = answer["embed"]
            if answer["form"] == "query":
                packed = b"".join(self._embedder.query(text).astype("<f4").tobytes() for text in texts)
            else:
                packed = self._embedder.passages(texts).astype("<f4").tobytes()
            self._say({"vectors": base64.b64encode(packed).decode()})

    def _say(self, record: Mapping[str, object]) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(record, separators=(",", ":")) + "\n")
            self._process.stdin.flush()
        except OSError as error:
            raise PeerFailed(f"{self._peer.package} ended: {self._end()}") from error

    def _heard(self) -> dict[str, Any]:
        """A line that it says.

        Raises:
            PeerFailed: it says that it failed, has ended, or says what is no answer.
        """
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise PeerFailed(f"{self._peer.package} ended: {self._end()}")
        try:
            answer: dict[str, Any] = json.loads(line)
        except json.JSONDecodeError as error:
            raise PeerFailed(f"{self._peer.package} said what is no answer: {line[:80].strip()!r}") from error
        if "failed" in answer:
            raise PeerFailed(f"{self._peer.package}: {answer['failed']}")
        return answer

    def _end(self) -> str:
        try:
            code = self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            return "it hears nothing more"
        return f"signal {-code}" if code < 0 else f"exit code {code}"


def offered() -> dict[str, Make]:
    """List every peer, those that do not run here too: their rows say why."""
    return {peer.name: partial(PeerContestant, peer) for peer in PEERS}


def environments(settings: Settings) -> Path:
    """The folder in which environments of peers lie."""
    return settings.home / "cache" / "peers"


def make_ready(names: Sequence[str], settings: Settings, tell: Callable[[str], None]) -> dict[str, str]:
    """Make the environments of those who are peers among `names`; why not, by the names of those that cannot be made.

    Args:
        tell: Is told what begins that takes a while.
    """
    failed: dict[str, str] = {}
    for peer in PEERS:
        if peer.name in names and not peer.unfit:
            try:
                peer.environment.make(environments(settings), tell)
            except PeerFailed as error:
                failed[peer.name] = str(error)
    return failed


def about(names: Sequence[str]) -> dict[str, dict[str, str]]:
    """What a log says of peers: package with version, settings, and why one does not run."""
    return {
        peer.name: {"package": peer.package, "settings": peer.settings or "does not run here"}
        | ({"unfit": peer.unfit} if peer.unfit else {})
        for peer in PEERS
        if peer.name in names
    }  # fmt: skip


def _python(peer: PublishedMemory, settings: Settings) -> Path:
    if peer.unfit:
        raise PeerFailed(f"{peer.package} does not run here: {peer.unfit}")
    folder, environment = environments(settings), peer.environment
    if not environment.is_made(folder):
        why = environment.why_not(folder) or f"`mnemic bench peers --install --only {peer.name!r}` does it"
        raise PeerFailed(f"{peer.package} is not installed: {why}")
    return environment.python(folder)


def _started(peer: PublishedMemory, python: Path, folder: Path, dims: int) -> subprocess.Popen[str]:
    here = str(Path(__file__).parents[2])
    module = f"{__package__}.peers.{peer.adapter}"
    variables = {**_QUIET, **peer.variables, "HOME": str(folder), "TMPDIR": str(folder)}
    try:
        return subprocess.Popen(  # noqa: S603 - an adapter of ours in an environment that we have made
            [python, "-I", "-X", "utf8", *peer.flags, "-c", _START, here, module, str(folder), str(dims)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8", env=variables, cwd=folder,
        )  # fmt: skip
    except OSError as error:
        raise PeerFailed(f"{peer.package} cannot be started: {error.strerror}") from error


def _given(doc: Doc) -> dict[str, str]:
    told = f"{doc.speaker}: {doc.text}" if doc.speaker else doc.text
    return {"ns": doc.ns, "id": doc.id, "session": doc.session, "when": doc.when, "told": told}


def _batches(docs: Sequence[Doc]) -> Iterator[list[Doc]]:
    stream = iter(docs)
    while batch := list(islice(stream, _BATCH)):
        yield batch
