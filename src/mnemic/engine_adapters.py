"""What a local model has learnt of one user, in the engine that talks with them: loaded, weighed for each question.

No torch is needed: the adapters are artefacts in the engine's own format. Each rests on items of its user's memory;
when one of these goes, the engine that held the adapter is begun anew without it before the next question.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from mnemic.errors import NotFound, StoreCorrupt
from mnemic.learnt_shards import Shard, Unweighed, shard_for, why_unweighed
from mnemic.scope_learning import LORA

if TYPE_CHECKING:
    from pathlib import Path

    from mnemic.core.ids import ItemId
    from mnemic.models.chat.gguf import Gguf
    from mnemic.scope_learning import ScopeLearning


class EngineAdapters:
    """The adapters of one user in an engine. One thread talks.

    Args:
        learning: Of the user.
        engine: The model in this process.
    """

    def __init__(self, learning: ScopeLearning, engine: Gguf) -> None:
        self._learning, self._engine = learning, engine
        self._digests: dict[Shard, str] = {}
        self._learnt: tuple[Shard, ...] = ()
        self._seen: tuple[tuple[int, ...], int] | None = None

    @property
    def shards(self) -> Sequence[Shard]:
        """The shards whose adapters the engine holds."""
        return tuple(self._digests)

    @property
    def set_aside(self) -> Sequence[Shard]:
        """The shards that are used for nothing, since something that they hold stands no more."""
        return tuple(shard for shard in self._learnt if not shard.stands)

    def refresh(self) -> None:
        """Have the engine hold the adapters that stand now; nothing is looked at where nothing has been written since.

        Raises:
            StoreError: they cannot be read.
        """
        seen = self._learning.state_mark()
        if seen == self._seen:
            return
        digests: dict[Shard, str] = {}
        files: dict[str, Path] = {}
        shards = self._learning.shards()
        for shard, adapter in self._learning.engine_adapters(str(self._engine.identity["model"]), shards).items():
            try:
                files[adapter.artefact.stored.sha256] = self._learning.artefacts.open(adapter)
            except (NotFound, StoreCorrupt):  # it is made again by `mnemic neural learn`; the model talks without
                continue
            digests[shard] = adapter.artefact.stored.sha256
        self._engine.load_adapters(files)
        self._digests, self._seen = digests, seen
        self._learnt = shards

    def named_for(self, question: str) -> tuple[ItemId, ...]:
        """The learnt facts that answer a question; not looked for where nothing was learnt.

        Raises:
            StoreError: they cannot be read.
        """
        return self._learning.named_for(question) if self._learning.artefacts.kept(LORA) else ()

    def weights_for(self, named: Sequence[ItemId]) -> tuple[Mapping[str, float], Shard | None]:
        """How the adapters are weighed for a question by what was `named_for` it, and the shard that is weighed in."""
        shard = shard_for(named, self.shards)
        return ({} if shard is None else {self._digests[shard]: 1.0}), shard

    def why_unweighed(self, named: Sequence[ItemId]) -> Unweighed | None:
        """Why nothing is weighed in by what was `named_for` a question; None where something is, or nobody learnt."""
        if not self._learnt or shard_for(named, self.shards) is not None:
            return None
        return why_unweighed(named, self._learnt, str(self._engine.identity["model"]))
