"""What is attached to a model for a question is of the texts as they stand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mnemic import Memory, Settings

pytest.importorskip("torch", reason="needs torch: pip install torch==2.13.0")

from mnemic.attached_memories import AttachedMemories


def test_keys_of_a_text_that_was_revised_are_made_anew(tiny_gguf: Path, tmp_path: Path) -> None:
    def attach(attached: AttachedMemories, text: str) -> tuple[str, Any]:
        said, _ = attached.answer_by_texts("Where do I live?", [(id, text)])
        (kept,) = me.artefacts.kept("explicit")
        return said, kept.artefact.stored.sha256

    with Memory(tmp_path / "memory.db", embedder="none", settings=Settings(home=tmp_path, background=False)) as memory:
        me = memory.scope(user="ada")
        (id,) = me.observe("I live in Trondheim.").ids
        attached = AttachedMemories(me.artefacts, me.learning, str(tiny_gguf))
        before = attach(attached, "I live in Trondheim.")
        assert attach(attached, "I live in Trondheim.") == before
        assert attach(attached, "I live in Bergen, by the harbour.") != before
