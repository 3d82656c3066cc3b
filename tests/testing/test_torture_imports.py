"""A killed import in small: it passes, and it finds out what was lost, doubled, changed or not killed."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest

from mnemic import Memory
from mnemic.core.items import Channel
from mnemic.ingest import Message, read
from mnemic.lab.kit.generate import chatgpt_conversations, chatgpt_export
from mnemic.testing.torture import imports as run
from mnemic.testing.torture.imports import Ran, _problems, _unkilled

pytestmark = pytest.mark.heavy

SEED = 11


def test_an_import_that_is_killed_twice_loses_and_doubles_nothing() -> None:
    report = run(2, SEED)
    assert report.passed, report.problems
    assert report.figures["kills"] == 2


@pytest.mark.slow
def test_a_large_import_that_is_killed_twice_loses_and_doubles_nothing() -> None:
    report = run(100, SEED)
    assert report.passed, report.problems


def test_what_is_lost_doubled_or_not_spoken_is_found_out(tmp_path: Path) -> None:
    count = chatgpt_export(tmp_path / "e.json", SEED, 30_000)
    messages = [one for one in read(tmp_path / "e.json") if isinstance(one, Message)]
    with Memory(tmp_path / "m.db") as memory:
        ada = memory.scope(user="ada")
        ids = ada.observe(messages, channel=Channel.IMPORT).ids
        assert _problems(tmp_path / "m.db", SEED, count) == []
        ada.forget(ids[0])
        assert "1 lost" in " ".join(_problems(tmp_path / "m.db", SEED, count))
        ada.undo(ada.log(limit=1)[0].seq)
        ada.observe("Nobody said this.", slots={"conversation": "x"})
        assert "nobody spoke" in " ".join(_problems(tmp_path / "m.db", SEED, count))
        first = next(islice(chatgpt_conversations(SEED), 1)).spoken[0]
        twin = Message(
            text=first.text, key="", said=messages[0].said, session=first.session, slots={"role": first.role}
        )
        ada.observe(twin)
        assert "1 doubled" in " ".join(_problems(tmp_path / "m.db", SEED, count))


def test_a_run_that_was_not_killed_or_showed_nothing_is_found_out() -> None:
    ended = Ran(killed=False, status=0, commit=3, seconds=1.0, peak=0, barred=True)
    last = Ran(killed=False, status=2, commit=3, seconds=1.0, peak=0, barred=False)
    assert len(_unkilled([ended, last])) == 3
