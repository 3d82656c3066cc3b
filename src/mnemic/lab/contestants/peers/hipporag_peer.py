"""HippoRAG 2: an index for each user, with our vectors; where it asks a language model, rules answer.

Entities are names and years, by capitals; a fact is what a passage is about, the words before a name, and the name; its
filter of facts keeps all. So it is HippoRAG's graph and ranking that are seen here, and not what a model would read.

Its modules for models of its own want torch, Transformers and vLLM. They are left out, and the nearest entities, which
it finds by torch, are found by NumPy.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from itertools import groupby
from types import ModuleType
from typing import Any, Final

from mnemic.lab.contestants.peers.peer_wire import GivenDoc, PeerMeans, serve

_NAME: Final = re.compile(r"(?:[A-Z][\w'’-]*)(?: (?:of |the |de |van |von )?[A-Z][\w'’-]*)*|\b[12]\d{3}\b")
_NO_NAMES: Final = frozenset(
    ("A", "An", "And", "As", "At", "But", "By", "For", "From", "He", "Her", "His", "How", "I", "I'd", "I'll", "I'm",
     "I've", "If", "In", "It", "It's", "Its", "My", "No", "Not", "Of", "Oh", "On", "Or", "Our", "She", "So", "That",
     "That's", "The", "Their", "Then", "There", "These", "They", "This", "Those", "To", "We", "We're", "What", "When",
     "Where", "Which", "While", "Who", "Why", "With", "Wow", "Yeah", "Yes", "You", "Your")
)  # fmt: skip
_FACTS: Final = 4
"""Of one passage, at most."""


class HippoMemory:
    """Gathers documents until they are all told, and indexes; what comes later is indexed at once."""

    def __init__(self, given: PeerMeans) -> None:
        _without_models(given)
        self._class = import_module("hipporag").HippoRAG
        self._config = import_module("hipporag.utils.config_utils").BaseConfig
        self._given, self._settled = given, False
        self._waiting: dict[str, list[str]] = {}
        self._ids: dict[str, dict[str, str]] = {}
        self._by_ns: dict[str, Any] = {}

    def add(self, docs: Sequence[GivenDoc]) -> None:
        for ns, group in groupby(docs, key=lambda doc: doc.ns):
            ids = self._ids.setdefault(ns, {})
            for doc in group:
                if doc.told not in ids:  # the same words are one passage to it
                    ids[doc.told] = doc.id
                    self._waiting.setdefault(ns, []).append(doc.told)
        if self._settled:
            self.settle()

    def settle(self) -> None:
        for ns, told in self._waiting.items():
            if ns not in self._by_ns:
                folder = str(self._given.folder / f"user-{len(self._by_ns)}")
                config = self._config(save_dir=folder, llm_name="rules", embedding_model_name="given")
                self._by_ns[ns] = self._class(global_config=config)
            self._by_ns[ns].index(told)
            self._by_ns[ns].ready_to_retrieve = False
        self._waiting, self._settled = {}, True

    def rank(self, ns: str, text: str, k: int) -> tuple[list[str], list[float]]:
        if ns not in self._by_ns:
            return [], []
        (found,) = self._by_ns[ns].retrieve([text], num_to_retrieve=k)
        return [self._ids[ns][told] for told in found.docs], [float(score) for score in found.doc_scores]


class Rules:
    """Answers what HippoRAG asks a language model."""

    def __init__(self, given: PeerMeans) -> None:
        self._given = given

    def infer(self, messages: Sequence[Mapping[str, str]], **options: Any) -> tuple[str, dict[str, Any], bool]:
        self._given.model_calls += 1
        asked = messages[-1]["content"]
        if "fact_before_filter" in asked:
            facts = asked.partition("[[ ## fact_before_filter ## ]]\n")[2].partition("\n\nRespond with")[0]
            said = f"[[ ## fact_after_filter ## ]]\n{facts}\n\n[[ ## completed ## ]]"
        elif "```" in asked:
            said = json.dumps({"triples": facts_of(asked.split("```")[1].strip())})
        else:
            said = json.dumps({"named_entities": [name for name, _ in names_of(asked)]})
        return said, {"finish_reason": "stop", "prompt_tokens": 0, "completion_tokens": 0}, False


def names_of(passage: str) -> list[tuple[str, str]]:
    """The names and years of a passage, each once, with the words before it."""
    found: dict[str, str] = {}
    for match in _NAME.finditer(passage):
        words = match[0].split()
        while words and words[0] in _NO_NAMES:
            words.pop(0)
        name = " ".join(words)
        if name and name not in found:
            found[name] = " ".join(re.findall(r"[\w'’-]+", passage[: match.start()])[-3:])
    return list(found.items())


def facts_of(passage: str) -> list[list[str]]:
    """What a passage says of what stands before its first colon: who speaks, or its title."""
    about, _, text = passage.partition(": ")
    return [[about, before or "says", name] for name, before in names_of(text) if name != about][:_FACTS]


def _without_models(given: PeerMeans) -> None:
    """Put what we give in the place of the modules that bring models."""
    numpy = import_module("numpy")

    class GivenEmbedding:
        def __init__(self, **options: Any) -> None:
            """Take what it is made with: it is of no use here."""

        def batch_encode(self, texts: str | Sequence[str], instruction: str = "", **options: Any) -> Any:
            listed = [texts] if isinstance(texts, str) else list(texts)
            if instruction:
                return numpy.array([given.query(text) for text in listed], dtype="float32")
            return numpy.array(given.passages(listed), dtype="float32")

    def nearest(
        query_ids: Sequence[str], key_ids: Sequence[str], query_vecs: Any, key_vecs: Any, k: int = 2047, **options: Any
    ) -> dict[str, tuple[list[str], list[float]]]:
        """The nearest keys of each query, by cosine."""
        if not key_ids:
            return {}
        queries, keys = (_normalised(numpy, vectors) for vectors in (query_vecs, key_vecs))
        likeness = queries @ keys.T
        order = numpy.argsort(-likeness, axis=1, kind="stable")[:, :k]
        return {
            id: ([key_ids[n] for n in best], [float(row[n]) for n in best])
            for id, best, row in zip(query_ids, order, likeness, strict=True)
        }

    _put("transformers", HfArgumentParser=None)
    _put("hipporag.llm", BaseLLM=object, _get_llm_class=lambda config: Rules(given))
    _put("hipporag.llm.openai_gpt", CacheOpenAI=object)
    _put("hipporag.embedding_model", BaseEmbeddingModel=object, _get_embedding_model_class=lambda **of: GivenEmbedding)
    _put("hipporag.information_extraction.openie_vllm_offline", VLLMOfflineOpenIE=object)
    _put("hipporag.utils.embed_utils", retrieve_knn=nearest)


def _normalised(numpy: ModuleType, vectors: Any) -> Any:
    rows = numpy.asarray(vectors, dtype="float32")
    return rows / numpy.maximum(numpy.linalg.norm(rows, axis=1, keepdims=True), 1e-12)


def _put(name: str, **contents: Any) -> None:
    module = sys.modules[name] = ModuleType(name)
    vars(module).update(contents)


if __name__ == "__main__":
    serve(HippoMemory)
