"""Where a store and what belongs to it may lie: names that come out of it, links to it, a file put in its place."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import apsw
import pytest

from mnemic.errors import StoreCorrupt
from mnemic.memory import Memory
from mnemic.store.values.heads import CheckpointRow


@pytest.mark.parametrize(
    "said", ["../../precious-c.txt", "/precious-c", "..", "", "a\\x-c", "x-c\0", 7, None, "other.db"]
)
def test_a_checkpoint_is_a_bare_name_in_its_folder_that_says_which(said: str) -> None:
    with pytest.raises(StoreCorrupt, match="has been changed"):
        CheckpointRow(1, "c", 1, 0, "", said).within(Path("checkpoints"))


def test_a_changed_store_deletes_no_file_outside_its_folder(tmp_path: Path) -> None:
    place, precious = tmp_path / "memory.db", tmp_path / "precious-c.txt"
    precious.write_text("precious")
    with Memory(place, embedder="none") as memory:
        memory.scope(user="ada").observe("The heron stands in the river.")
        memory.admin.checkpoint("c")
    with closing(apsw.Connection(str(place))) as db:
        db.execute("UPDATE checkpoint SET file = '../precious-c.txt'")
    with Memory(place, embedder="none") as memory:
        for act in (lambda: memory.admin.drop_checkpoint("c"), memory.admin.checkpoints):
            with pytest.raises(StoreCorrupt, match="precious"):
                act()
    assert precious.read_text() == "precious"
