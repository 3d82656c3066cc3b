"""Memories of one user that are attached to a local model while it is asked: sparse keys of texts, and a side memory.

Each is an artefact that cites every item it was made of, so an erased item takes it along before the receipt is there.
Sparse keys are made when a text is found for the first time, and can be made again. A side memory holds what
`ScopeLearning` says is to be learnt; it stands if the facts still begin with those that it holds, and is made anew
otherwise, so that nothing superseded or forgotten is left in it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from mnemic.core.ids import ItemId
from mnemic.core.uninterrupted import import_whole
from mnemic.errors import Conflict, NotFound, StoreCorrupt
from mnemic.scope_learning import MODEL, model_file, require_torch

if TYPE_CHECKING:
    from mnemic.core.items import Slot
    from mnemic.neural.base import Identity, State
    from mnemic.neural.gguf_weights import TextModel
    from mnemic.scope_artefacts import ScopeArtefacts
    from mnemic.scope_learning import ScopeLearning
    from mnemic.verbs.artefact_keeping import KeptArtefact

SPARSE: Final = "explicit"
"""The mechanism of a text's sparse keys and values."""
SIDE: Final = "wise"
"""The mechanism of a side memory."""

_TEXTS: Final = 3
"""How many of the texts that recall finds are attached: none of them has seen another, and each more costs."""
_SAID: Final = 24
"""Tokens of an answer."""

Edits = Callable[[int, int], None]
"""Told how many edits are made, and how many there are."""


class AttachedMemories:
    """What is attached to one local model for one user.

    Args:
        model: A GGUF file, or smollm2; None for what was learnt with last, else smollm2.

    Raises:
        Invalid: torch or the model is missing.
    """

    def __init__(self, artefacts: ScopeArtefacts, learning: ScopeLearning, model: str | None = None) -> None:
        require_torch()
        import_whole("mnemic.neural.gguf_weights")
        from mnemic.neural.gguf_weights import open_gguf

        self._artefacts, self._learning = artefacts, learning
        plan = learning.plan()
        self._name = model or (plan.model if plan else MODEL)
        self._model: TextModel = open_gguf(model_file(self._name), artefacts.settings.home / "cache")

    def answer_bare(self, question: str) -> str:
        """What the model says with nothing attached."""
        return self._model.answers([question], limit=_SAID)[0]

    def answer_by_texts(self, question: str, recalled: Sequence[tuple[ItemId, str]]) -> tuple[str, str]:
        """What the model says with sparse keys of the texts that recall finds, and what was attached.

        Args:
            recalled: The best first.

        Raises:
            Conflict: something was erased meanwhile; nothing was kept.
            StoreError: what was made cannot be kept.
        """
        import_whole("mnemic.neural.explicit_memory")
        from mnemic.neural.explicit_memory import ExplicitMemory

        memory = ExplicitMemory(self._model)
        kept = {one.version.item.source[0]: one for one in self._of(SPARSE, memory.identity)}
        state: State = {}
        texts = recalled[:_TEXTS]
        for id, text in texts:
            references = memory.system_references(text, (id,))
            part = self._loaded(kept.get(id), memory.identity)
            if part is None or sorted(memory.names(part)) != sorted(each.name for each in references):  # another text
                part = memory.write(references, memory.empty())
                self._keep(part, memory.identity, SPARSE, [id], "a few keys and values of one text", kept.get(id))
            state |= part
        count = "1 text" if len(texts) == 1 else f"{len(texts)} texts"
        attached = f"{count}, {memory.settings.kept} tokens a head of each at most"
        return memory.answer(question, memory.attach(state), _SAID), attached

    def answer_by_facts(self, question: str, report: Edits) -> tuple[str, str]:
        """What the model says with a side memory of the profile's facts, and what was attached.

        Raises:
            Conflict, StoreError: as `answer_by_texts`.
        """
        import_whole("mnemic.neural.gguf_weights", "mnemic.neural.wise")
        from mnemic.neural.gguf_weights import single_threaded
        from mnemic.neural.wise import Edit, WiseMemory

        epoch = self._artefacts.epoch()
        memory = WiseMemory(self._model)
        facts = self._learning.learnable().facts
        edits = [Edit(fact.id, fact.questions, fact.answer, fact.others, fact.sources) for fact in facts]
        former = next(iter(self._of(SIDE, memory.identity)), None)
        before = self._loaded(former, memory.identity) or memory.empty()

        def step(done: int, most: int) -> None:
            report(done, most)
            if self._artefacts.epoch() != epoch:
                raise Conflict("something was erased while it was edited in; ask again for what is left")

        with single_threaded():
            state = memory.write(edits, before, step)
        if not edits and former is not None:
            self._artefacts.forget(former.id)
        elif state and any(tensor is not before.get(name) for name, tensor in state.items()):
            sources = sorted({ItemId(source) for fact in facts for source in fact.sources})
            self._keep(state, memory.identity, SIDE, sources, f"{len(edits)} facts in a side memory", former)
        route = memory.route(self._model.prompt(("user", question)), state)
        routed = "the bare model answers: it is not of these" if route is None else "the side memory answers"
        said = self._model.answers([question], memory.attach(state, route), _SAID)[0]
        return said, f"{len(edits)} fact{'' if len(edits) == 1 else 's'}; {routed}"

    def _of(self, mechanism: str, identity: Identity) -> list[KeptArtefact]:
        """The artefacts of a mechanism that were made by this model with these settings."""
        return [one for one in self._artefacts.kept(mechanism) if one.artefact.made_by == _made_by(identity)]

    def _loaded(self, kept: KeptArtefact | None, identity: Identity) -> State | None:
        """The state of an artefact; None where there is none, or its bytes are gone or damaged: it is made again."""
        import_whole("mnemic.neural.base")
        from mnemic.neural import base

        if kept is None:
            return None
        try:
            return base.load(self._artefacts.open(kept), identity)[0]
        except (NotFound, StoreCorrupt):
            return None

    def _keep(
        self, state: State, identity: Identity, mechanism: str, sources: Sequence[ItemId], what: str,
        former: KeptArtefact | None,
    ) -> None:  # fmt: skip
        import_whole("mnemic.neural.base")
        from mnemic.neural import base

        try:
            self._artefacts.put(
                base.packed(state, identity),
                mechanism=mechanism,
                made_by=_made_by(identity),
                sources=sources,
                text=f"{what}, by {self._name.rpartition('/')[2]}",
                remade=mechanism == SPARSE,
                replaces=None if former is None else former.id,
            )
        except NotFound as error:
            raise Conflict("a source went meanwhile; ask again for what is left") from error


def _made_by(identity: Identity) -> dict[str, Slot]:
    return {"model": identity.model, "tokenizer": identity.tokenizer, "settings": identity.settings}
