"""A memory as a folder: written, edited by hand, brought back; and everything that may be wrong with a folder."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_entry_syntax import TEXTS, kept

from mnemic import (
    SHARED,
    Conflict,
    Filter,
    Invalid,
    Kind,
    Memory,
    Message,
    NotFound,
    Refused,
    ScopedMemory,
    Settings,
    State,
)
from mnemic.core.ids import ItemId
from mnemic.core.items import Channel
from mnemic.core.listing import all_of
from mnemic.markdown_folder.folder_comparison import FolderComparison
from mnemic.markdown_folder.shown_items import plain_text
from mnemic.testing.generators import ManualClock

TALK = "conversations/2026-03-01.md"
TRIP = "conversations/2026-03-02 trip.md"


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory("memory:", embedder="none", strategies=[]) as opened:
        yield opened
        assert list(opened.admin.verify()) == []


@pytest.fixture
def me(memory: Memory) -> ScopedMemory:
    me = memory.scope(user="ada")
    for speaker, said, text in (
        ("Ada", "2026-03-01T14:05:30+01:00", "I moved to Lisbon last week."),
        ("Bea", "2026-03-01T14:06:00+01:00", "How is it there?\n\n- sunny?\n- dear?"),
    ):
        me.observe(text, speaker=speaker, said=said)
    me.shelf(session="trip").observe("We leave at nine.", speaker="Ada", said="2026-03-02T09:00:00+00:00")
    me.write("Ada's sister is Noor.")
    me.write("Ada has a cat.")
    me.observe(Message(text="Turn the valve.", key="", kind=Kind.DOCUMENT, slots={"title": "Boiler"}, tags=("home",)))
    return me


@pytest.fixture
def folder(me: ScopedMemory, tmp_path: Path) -> Path:
    me.write_folder(tmp_path / "folder")
    return tmp_path / "folder"


def edit(folder: Path, path: str, before: str, after: str) -> None:
    text = (folder / path).read_text()
    assert before in text, text
    (folder / path).write_text(text.replace(before, after, 1))


def add(folder: Path, path: str, text: str) -> None:
    (folder / path).parent.mkdir(exist_ok=True, parents=True)
    with (folder / path).open("a") as file:
        file.write(text)


def line_with(folder: Path, path: str, words: str) -> str:
    return next(line for line in (folder / path).read_text().splitlines() if words in line)


def texts(me: ScopedMemory, *kinds: Kind) -> list[str]:
    return sorted(version.item.text for version in me.list(where=Filter(kinds=kinds), limit=1000))


def sorts(found: FolderComparison) -> list[tuple[str, str]]:
    return [(change.sort.value, change.path) for change in found.changes]


def tree(folder: Path) -> dict[str, str]:
    return {str(file.relative_to(folder)): file.read_text() for file in folder.rglob("*.md")}


# Writing


def test_a_folder_reads_as_a_person_expects(folder: Path) -> None:
    assert sorted(tree(folder)) == ["README.md", TALK, TRIP, "documents/Boiler.md", "facts.md"]
    talk = (folder / TALK).read_text()
    assert talk.startswith("# 2026-03-01\n\n- **Ada** 14:05: I moved to Lisbon last week. <!-- ^")
    assert "\n  How is it there?\n\n  - sunny?\n  - dear?\n" in talk
    assert (
        (folder / TRIP)
        .read_text()
        .startswith("---\nsession: trip\n---\n\n# trip\n\n## 2026-03-02\n\n- **Ada** 09:00: ")
    )
    assert "\ntitle: Boiler\n" in (folder / "documents/Boiler.md").read_text()
    assert (folder / "documents/Boiler.md").read_text().endswith("\n---\n\nTurn the valve.\n")


def test_an_untouched_folder_is_no_change(me: ScopedMemory, folder: Path) -> None:
    before = me.log()[0].seq
    found = me.compare_folder(folder)
    assert found.is_clean
    assert (found.changes, found.behind) == ((), 0)
    assert me.apply_folder(folder, forget_removed=True).receipt is None
    assert me.log()[0].seq == before
    again = me.write_folder(folder)
    assert (again.written, again.removed) == (0, 0)


def test_what_is_hidden_erased_expired_or_a_strategys_own_never_comes_out(tmp_path: Path) -> None:
    clock = ManualClock()
    with Memory("memory:", embedder="none", strategies=[], clock=clock) as memory:
        me = memory.scope(user="ada")
        gone, erased, standing = (me.write(f"words {word}").id for word in ("hidden", "erased", "kept"))
        me.forget(gone)
        me.erase(erased)
        me.write("words expiring", expires="1 day")
        me.follow("house")
        memory.scope(user=SHARED).write("words shared")
        memory.scope(user="bea").write("words of bea")
        assert me.write_folder(tmp_path / "f").items == 2
        clock.tick(2 * 86_400_000_000)
        done = me.write_folder(tmp_path / "f")
    assert (done.items, done.left_out) == (1, 1)
    everything = "".join(file.read_text() for file in (tmp_path / "f").rglob("*") if file.is_file())
    assert "words kept" in everything
    assert standing in everything
    for word in ("hidden", "expiring", "shared", "of bea", "follows", gone, erased):
        assert word not in everything.replace("What others erase", "")


def test_what_is_not_ours_is_left_alone_and_nothing_is_written_beside_it_unasked(
    me: ScopedMemory, tmp_path: Path
) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(Conflict, match="was not written from a memory"):
        me.write_folder(tmp_path)
    (tmp_path / "facts.md").write_text("mine")
    me.write_folder(tmp_path, force=True)
    assert (tmp_path / "notes.txt").read_text() == "mine"
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\x00")
    assert [note.path for note in me.compare_folder(tmp_path).notes] == ["notes.txt", "picture.png"]
    me.write_folder(tmp_path)
    assert (tmp_path / "picture.png").exists()


def test_a_folder_with_hidden_files_of_other_programs_counts_as_empty(me: ScopedMemory, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    assert me.write_folder(tmp_path).files == 4


def test_edits_are_never_written_over_unasked(me: ScopedMemory, folder: Path) -> None:
    edit(folder, "facts.md", "Noor", "Nora")
    before = tree(folder)
    with pytest.raises(Conflict, match="1 changes that memory does not have"):
        me.write_folder(folder)
    assert tree(folder) == before
    done = me.write_folder(folder, force=True)
    assert done.lost is not None
    assert sorts(done.lost) == [("edited", "facts.md")]
    assert "Noor" in (folder / "facts.md").read_text()


def test_files_are_renamed_and_deleted_as_memory_changes(me: ScopedMemory, folder: Path) -> None:
    me.forget(*(v.item.id for v in me.list(where=Filter(session="trip"))))
    me.observe("News", speaker="Ada", said="2026-05-01T10:00:00+00:00")
    done = me.write_folder(folder)
    assert (done.written, done.removed) == (1, 1)
    assert not (folder / TRIP).exists()
    assert (folder / "conversations/2026-05-01.md").exists()


# Bringing back


def test_an_edited_statement_is_revised_and_undo_takes_it_back(me: ScopedMemory, folder: Path) -> None:
    edit(folder, "facts.md", "Noor", "Nora")
    done = me.apply_folder(folder)
    assert done.receipt is not None
    (item,) = [v.item for v in me.list(limit=100) if "Nora" in v.item.text]
    assert [v.item.text for v in me.history(item.id)] == ["Ada's sister is Noor.", "Ada's sister is Nora."]
    assert me.compare_folder(folder).is_clean
    me.undo(done.receipt.seq)
    assert "Ada's sister is Noor." in texts(me)
    assert me.compare_folder(folder).behind == 1


def test_an_edited_turn_is_superseded_by_its_new_words_where_it_stood(me: ScopedMemory, folder: Path) -> None:
    old = next(v.item for v in me.list(limit=100) if "Lisbon" in v.item.text)
    me.pin(old.id)
    me.write_folder(folder)
    edit(folder, TALK, "Lisbon", "Porto")
    done = me.apply_folder(folder)
    assert done.receipt is not None
    new = next(v.item for v in me.list(limit=100) if "Porto" in v.item.text)
    same = ("kind", "said", "said_offset", "slots", "session", "agent", "pos", "pinned", "tags")
    assert [getattr(new, name) for name in same] == [getattr(old, name) for name in same[:7]] + [True, old.tags]
    assert me.history(new.id)[0].item.text == old.text
    assert old.text not in texts(me)
    assert line_with(folder, TALK, "Porto").startswith("- 📌 **Ada** 14:05: I moved to Porto")
    me.undo(done.receipt.seq)
    assert old.text in texts(me)
    assert new.text not in texts(me)


def test_a_turn_can_be_given_another_speaker_day_and_time(me: ScopedMemory, folder: Path) -> None:
    edit(folder, TALK, "**Ada** 14:05", "**Noor** 08:00")
    edit(folder, TALK, "# 2026-03-01", "# 2026-02-28")
    found = me.compare_folder(folder)
    assert found.changes[0].before == "Ada, 2026-03-01 14:05: I moved to Lisbon last week."
    assert found.changes[0].after == "Noor, 2026-02-28 08:00: I moved to Lisbon last week."
    me.apply_folder(folder)
    item = next(v.item for v in me.list(limit=100) if "Lisbon" in v.item.text)
    assert item.slots["speaker"] == "Noor"
    assert item.said.isoformat() == "2026-02-28T07:00:00+00:00"
    assert item.said_offset == 60
    assert "08:00" in (folder / "conversations/2026-02-28.md").read_text()


def test_a_derived_fact_becomes_the_users_word(tmp_path: Path) -> None:
    with Memory("memory:", embedder="none") as memory:
        me = memory.scope(user="ada")
        me.observe("I live in Lisbon.", speaker="Ada")
        memory.flush()
        me.write_folder(tmp_path / "f")
        edit(tmp_path / "f", "profile.md", "Lisbon", "Porto")
        me.apply_folder(tmp_path / "f")
        (item,) = [v.item for v in me.list(where=Filter(kinds=(Kind.PROFILE,)))]
        assert item.text == "Ada lives in Porto."
        assert item.channel is Channel.USER
        assert "value" not in item.slots
        assert item.source
        memory.flush()
        assert "Ada lives in Porto." in me.context("").text


def test_new_entries_are_remembered_where_they_stand(me: ScopedMemory, folder: Path) -> None:
    edit(folder, TALK, "- **Bea**", "- **Ada**: It rains.\n- And it is windy.\n- **Bea**")
    add(folder, TRIP, "\n## 2026-03-03\n\n- **Bea** 23:59: Good night.\n")
    add(folder, "facts.md", "\nA fact by itself,\non two lines.\n\n- 📌 A pinned one\n")
    add(folder, "instructions.md", "- Answer in verse.\n")
    add(folder, "conversations/new.md", "---\nsession: party\n---\n\n- **user**: Hello\n")
    add(folder, "documents/Recipe: a test.md", "# Soup\n\nWater.\n\n## Salt\n\nA pinch.\n")
    me.apply_folder(folder)
    talk = [(line.partition(" <!--")[0]) for line in (folder / TALK).read_text().splitlines() if line.startswith("- ")]
    assert [line.removeprefix("- ") for line in talk] == [
        "**Ada** 14:05: I moved to Lisbon last week.",
        "**Ada** 14:05: It rains.",
        "14:05: And it is windy.",
        "**Bea** 14:06:",
    ]
    night = next(v.item for v in me.list(limit=100) if v.item.text == "Good night.")
    assert (night.session, night.said.isoformat()) == ("trip", "2026-03-03T23:59:00+00:00")
    assert "A fact by itself,\non two lines." in texts(me, Kind.FACT)
    assert next(v.item for v in me.list(limit=100) if v.item.text == "A pinned one").pinned
    assert "Answer in verse." in me.context("").text
    party = next(v.item for v in me.list(limit=100) if v.item.text == "Hello")
    assert (party.session, party.slots) == ("party", {"role": "user"})
    assert not (folder / "conversations/new.md").exists()
    soup = next(v.item for v in me.list(limit=100) if v.item.text.startswith("# Soup"))
    assert soup.slots["title"] == "Recipe: a test"
    assert me.compare_folder(folder).is_clean
    assert me.apply_folder(folder).receipt is None


def test_a_document_stays_in_the_file_in_which_it_was_found(me: ScopedMemory, folder: Path) -> None:
    (folder / "documents/house").mkdir()
    (folder / "documents/Boiler.md").rename(folder / "documents/house/The boiler.md")
    assert me.compare_folder(folder).is_clean
    edit(folder, "documents/house/The boiler.md", "Turn the valve.", "Do not turn the valve.\n\n## Ever\n")
    edit(folder, "documents/house/The boiler.md", "tags:\n  - home", "tags: [attic, home]\npinned: true")
    add(folder, "idea.md", "An idea.")
    done = me.apply_folder(folder)
    assert {change.sort.value for change in done.applied} == {"edited", "added"}
    (item,) = [v.item for v in me.list(limit=100) if v.item.text.startswith("Do not")]
    assert (item.tags, item.pinned, item.slots["title"]) == (("attic", "home"), True, "Boiler")
    assert (folder / "documents/house/The boiler.md").exists()
    assert (folder / "idea.md").read_text().startswith("---\nmnemic: ")
    assert not (folder / "documents/Boiler.md").exists()
    assert me.write_folder(folder).written == 0


def test_a_long_document_comes_out_whole_and_is_split_again(memory: Memory, tmp_path: Path) -> None:
    me = memory.scope(user="ada")
    words = "\n\n".join(f"Paragraph {n}: " + "the ferry is late " * 30 for n in range(1_800))
    assert len(words) > 1_000_000 // 1.1
    me.observe(words)
    me.write_folder(tmp_path / "f")
    (path,) = (tmp_path / "f" / "documents").iterdir()
    assert plain_text(words) in path.read_text()
    assert me.compare_folder(tmp_path / "f").is_clean
    edit(tmp_path / "f", f"documents/{path.name}", "Paragraph 900:", "Paragraph nine hundred:")
    done = me.apply_folder(tmp_path / "f")
    assert done.receipt is not None
    chunks = [v.item.text for v in all_of(me.list, where=Filter(kinds=(Kind.CHUNK,)), limit=1000)]
    assert sum("Paragraph nine hundred:" in text for text in chunks) == 1
    assert sum("Paragraph 900:" in text for text in chunks) == 0
    assert sum("Paragraph 17:" in text for text in chunks) == 1
    me.undo(done.receipt.seq)
    me.write_folder(tmp_path / "f")
    assert plain_text(words) in next((tmp_path / "f" / "documents").iterdir()).read_text()


def test_what_is_removed_stays_unless_it_is_to_be_forgotten(me: ScopedMemory, folder: Path) -> None:
    line = line_with(folder, "facts.md", "cat") + "\n"
    edit(folder, "facts.md", line, "")
    assert sorts(me.compare_folder(folder)) == [("removed", "facts.md")]
    done = me.apply_folder(folder)
    assert done.receipt is None
    assert [change.before for change in done.left] == ["Ada has a cat."]
    assert "Ada has a cat." in texts(me)
    done = me.apply_folder(folder, forget_removed=True)
    assert done.receipt is not None
    assert "Ada has a cat." not in texts(me)
    me.undo(done.receipt.seq)
    assert "Ada has a cat." in texts(me)


def test_pins_follow_the_sign(me: ScopedMemory, folder: Path) -> None:
    edit(folder, "facts.md", "- Ada has", "- 📌️ Ada has")
    assert sorts(me.compare_folder(folder)) == [("pinned", "facts.md")]
    me.apply_folder(folder)
    item = next(v.item for v in me.list(limit=100) if "cat" in v.item.text)
    assert item.pinned
    edit(folder, "facts.md", "📌 ", "")
    me.apply_folder(folder)
    assert not me.get(item.id).item.pinned


def test_a_dry_run_writes_nothing(me: ScopedMemory, folder: Path) -> None:
    edit(folder, "facts.md", "Noor", "Nora")
    before, seq = tree(folder), me.log()[0].seq
    done = me.apply_folder(folder, dry_run=True)
    assert [change.after for change in done.applied] == ["Ada's sister is Nora."]
    assert (tree(folder), me.log()[0].seq) == (before, seq)


# Memory moves on meanwhile


def test_what_both_have_changed_is_a_conflict_and_nothing_is_written(me: ScopedMemory, folder: Path) -> None:
    item = next(v.item for v in me.list(limit=100) if "Noor" in v.item.text)
    me.revise(item.id, "Ada's sister is called Noor.")
    edit(folder, "facts.md", "Noor", "Nora")
    edit(folder, "facts.md", "a cat", "two cats")
    before, seq = tree(folder), me.log()[0].seq
    done = me.apply_folder(folder)
    assert done.refused
    assert [(c.change.after, c.memory) for c in done.found.conflicts] == [
        ("Ada's sister is Nora.", "Ada's sister is called Noor.")
    ]
    assert (tree(folder), me.log()[0].seq) == (before, seq)


@pytest.mark.parametrize(("prefer", "stands"), [("memory", "Ada's sister is called Noor."), ("folder", "Nora")])
def test_a_side_can_be_preferred(me: ScopedMemory, folder: Path, prefer: str, stands: str) -> None:
    item = next(v.item for v in me.list(limit=100) if "Noor" in v.item.text)
    me.revise(item.id, "Ada's sister is called Noor.")
    edit(folder, "facts.md", "Ada's sister is Noor.", "Nora")
    edit(folder, "facts.md", "a cat", "two cats")
    assert me.apply_folder(folder, prefer=prefer).receipt is not None
    assert texts(me, Kind.FACT) == sorted(("Ada has two cats.", stands))
    assert me.compare_folder(folder).is_clean


def test_a_deletion_that_is_not_asked_for_is_no_conflict(me: ScopedMemory, folder: Path) -> None:
    cat = next(v.item for v in me.list(limit=100) if "cat" in v.item.text)
    me.revise(cat.id, "Ada has a dog.")
    edit(folder, "facts.md", line_with(folder, "facts.md", "cat") + "\n", "")
    edit(folder, "facts.md", "Noor", "Nora")
    assert me.apply_folder(folder, forget_removed=True).refused
    done = me.apply_folder(folder)
    assert [change.after for change in done.applied] == ["Ada's sister is Nora."]
    assert "dog" in (folder / "facts.md").read_text()


def test_an_edit_of_what_was_forgotten_meanwhile_is_a_conflict(me: ScopedMemory, folder: Path) -> None:
    for word, path, new in (("cat", "facts.md", "Ada has no cat."), ("Lisbon", TALK, "I moved to Porto.")):
        item = next(v.item for v in me.list(limit=100) if word in v.item.text)
        me.forget(item.id)
        edit(folder, path, item.text, new)
    assert [clash.memory for clash in me.compare_folder(folder).conflicts] == [None, None]
    assert me.apply_folder(folder).refused
    me.apply_folder(folder, prefer="folder")
    assert "Ada has no cat." in texts(me)
    assert "I moved to Porto." in texts(me)
    assert me.compare_folder(folder).is_clean


def test_a_change_elsewhere_or_beside_the_words_is_no_conflict(me: ScopedMemory, folder: Path) -> None:
    item = next(v.item for v in me.list(limit=100) if "Noor" in v.item.text)
    me.revise(item.id, expires="100 days")
    cat = next(v.item for v in me.list(limit=100) if "cat" in v.item.text)
    me.revise(cat.id, "Ada has a dog.")
    me.write("New meanwhile.")
    edit(folder, "facts.md", "Noor", "Nora")
    found = me.compare_folder(folder)
    assert (sorts(found), found.conflicts, found.behind) == ([("edited", "facts.md")], (), 3)
    me.apply_folder(folder)
    assert texts(me, Kind.FACT) == ["Ada has a dog.", "Ada's sister is Nora.", "New meanwhile."]
    assert "dog" in (folder / "facts.md").read_text()


def test_what_both_changed_alike_is_done(me: ScopedMemory, folder: Path) -> None:
    item = next(v.item for v in me.list(limit=100) if "Noor" in v.item.text)
    me.revise(item.id, "Nora")
    edit(folder, "facts.md", "Ada's sister is Noor.", "Nora")
    assert me.compare_folder(folder).changes == ()


def test_who_was_stopped_between_commit_and_writing_applies_again_without_twins(
    me: ScopedMemory, folder: Path, tmp_path: Path
) -> None:
    edit(folder, TALK, "Lisbon", "Porto")
    edit(folder, "facts.md", "Noor", "Nora")
    add(folder, "facts.md", "- New.\n- New.\n")
    add(folder, "documents/New.md", "A new document.")
    copy = {path: (folder / path).read_bytes() for path in (*tree(folder), ".mnemic.json")}
    me.apply_folder(folder)
    after, seq = tree(folder), me.log()[0].seq
    for path, raw in copy.items():
        (folder / path).write_bytes(raw)
    assert me.compare_folder(folder).changes == ()
    assert me.apply_folder(folder).receipt is None
    assert me.log()[0].seq == seq
    me.write_folder(folder)
    assert sorted(tree(folder).values()) == sorted(after.values())


# What may be wrong with a folder


def refused(me: ScopedMemory, folder: Path) -> str:
    """What is said of a folder that cannot be taken; nothing was written."""
    before, seq = tree(folder) if all(f.is_file() for f in folder.rglob("*.md")) else {}, me.log()[0].seq
    assert me.compare_folder(folder).problems
    with pytest.raises(Invalid, match=r"Nothing was written\.$") as error:
        me.apply_folder(folder, forget_removed=True)
    assert me.log()[0].seq == seq
    assert before in ({}, tree(folder))
    return str(error.value)


def test_foreign_forged_and_erased_marks_are_refused_by_file_and_line(
    memory: Memory, me: ScopedMemory, folder: Path
) -> None:
    foreign = memory.scope(user="bea").write("Bea's secret").id
    add(folder, "facts.md", f"- Bea's secret <!-- ^{foreign} -->\n")
    assert refused(me, folder).startswith(f"facts.md, line 5: names {foreign}, which is nothing of this memory")
    edit(folder, "facts.md", foreign, "01jq3c9vq0w8x5n4k2m7r6t1ze")
    assert "line 5: names 01jq3c9vq0w8x5n4k2m7r6t1ze, which is nothing" in refused(me, folder)
    edit(folder, "facts.md", line_with(folder, "facts.md", "secret") + "\n", "")
    cat = next(v.item for v in me.list(limit=100) if "cat" in v.item.text)
    me.erase(cat.id)
    edit(folder, "facts.md", "a cat", "a lost cat")
    assert f"line 4: names {cat.id}, which is nothing" in refused(me, folder)


@pytest.mark.parametrize("path", ["facts.md", TRIP])
def test_an_untouched_entry_whose_item_was_erased_is_told_and_goes(me: ScopedMemory, folder: Path, path: str) -> None:
    me.erase(next(v.item for v in me.list(limit=100) if "cat" in v.item.text).id)
    add(folder, path, "- More.\n")
    found = me.compare_folder(folder)
    assert [(note.path, note.line, note.lost) for note in found.notes] == [("facts.md", 4, False)]
    assert found.notes[0].note.startswith("was erased from memory")
    me.apply_folder(folder)
    assert "a cat" not in "".join(tree(folder).values())  # an id may spell the word alone
    assert "a cat" not in "".join(texts(me))


def test_an_erased_entry_goes_with_the_next_writing(me: ScopedMemory, folder: Path) -> None:
    me.erase(next(v.item for v in me.list(limit=100) if "cat" in v.item.text).id)
    assert me.write_folder(folder).written == 1
    assert "a cat" not in "".join(tree(folder).values())  # an id may spell the word alone


def test_two_copies_of_a_mark_are_refused(me: ScopedMemory, folder: Path) -> None:
    line = line_with(folder, "facts.md", "cat")
    add(folder, "facts.md", f"{line}\n".replace("a cat", "two cats"))
    assert "facts.md, line 5: has the mark of another entry (facts.md, line 4)" in refused(me, folder)
    edit(folder, "facts.md", f"{line}\n".replace("a cat", "two cats"), "")
    add(folder, "plans.md", f"{line}\n")
    assert "plans.md, line 1: has the mark of another entry (facts.md, line 4)" in refused(me, folder)
    (folder / "plans.md").unlink()
    (folder / "documents/Copy.md").write_bytes((folder / "documents/Boiler.md").read_bytes())
    assert "has the mark of another entry (documents/Boiler.md" in refused(me, folder)


@pytest.mark.parametrize(
    ("path", "before", "after", "problem"),
    [
        ("facts.md", "Noor", "No\0or", "line 3: holds a NUL"),
        ("facts.md", " -->", "", "line 3: has a mark that is damaged"),
        ("facts.md", "Ada has a cat. ", "", "line 4: has a mark and no words"),
        ("facts.md", "Noor", "N" * 40_000, "line 3: has 40,"),
        (TALK, "# 2026-03-01", "# 2026-13-01", "line 3: is dated 2026-13-01 14:05. There is no such time"),
        (TALK, "14:05", "25:99", "line 3: is dated 2026-03-01 25:99"),
        (TRIP, "\n---\n", "\n", "line 1: opens front matter by `---` and never ends it"),
        ("documents/Boiler.md", "\n---\n", "\n", "line 1: opens front matter by `---` and never ends it"),
        ("documents/Boiler.md", "Turn the valve.", "", "has a mark and no words"),
        ("documents/Boiler.md", "date: 2", "date: soon, 2", "the date 'soon, 2"),
        ("conversations/x.md", None, "- **Ada** 12:00: When?", "line 1: says a time and no day"),
    ],
)  # fmt: skip
def test_what_cannot_be_taken_is_named(
    me: ScopedMemory, folder: Path, path: str, before: str | None, after: str, problem: str
) -> None:
    if before is None:
        add(folder, path, after)
    else:
        edit(folder, path, before, after)
    assert problem in refused(me, folder)


def test_what_is_no_text_is_refused(me: ScopedMemory, folder: Path) -> None:
    (folder / "facts.md").write_bytes(b"# Facts\n\n- caf\xe9\n")
    with pytest.raises(Invalid, match=r"facts.md, line 1: is not UTF-8 \(byte 14, line 3\)"):
        me.apply_folder(folder, forget_removed=True)
    assert [change.path for change in me.compare_folder(folder).changes] == []


def test_links_are_not_followed(me: ScopedMemory, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "outside.md").write_text("- outside\n")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/more.md").write_text("- more\n")
    (folder / "plans.md").symlink_to(tmp_path / "outside.md")
    (folder / "linked").symlink_to(tmp_path / "elsewhere")
    assert "plans.md, line 1: is a link, and links are not followed" in refused(me, folder)
    (folder / "plans.md").unlink()
    assert me.compare_folder(folder).changes == ()
    for path in (folder / "documents").iterdir():
        path.unlink()
    (folder / "documents").rmdir()
    (folder / "documents").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Invalid, match="is a link"):
        me.write_folder(folder, force=True)
    assert [path.name for path in (tmp_path / "elsewhere").iterdir()] == ["more.md"]


HEAD = '"format": 1, "mnemic": "1", "user": "ada", "tenant": "default", "agent": null, "session": null, "branch": ""'
WRONG_PAGE = '{"hash": "", "page": {"sort": "statements", "path": "a.md"}, "entries": {}}'
WRONG_ID = '{"hash": "", "page": {"sort": "document"}, "entries": {"x": [1, ""]}}'


@pytest.mark.parametrize(
    "broken",
    [
        "", "{", "[]", "null", "\xff", '{"format": 1}', '{"format": 1, "files": {"../../x.md": {}}}',
        f'{{{HEAD}, "seq": 1, "files": {{"a.md": {WRONG_PAGE}}}}}',
        f'{{{HEAD}, "seq": 1, "files": {{"a.md": {WRONG_ID}}}}}',
    ],
)  # fmt: skip
def test_a_damaged_manifest_is_refused(me: ScopedMemory, folder: Path, broken: str) -> None:
    (folder / ".mnemic.json").write_text(broken, encoding="latin-1")
    for verb in (me.compare_folder, me.apply_folder, me.write_folder):
        with pytest.raises(Invalid, match="is not the list of this folder's files"):
            verb(folder)


@pytest.mark.parametrize("path", ["../victim.md", "/victim.md", "a/../../victim.md", "a\\b.md", "C:x.md", "victim.txt"])
def test_a_manifest_cannot_have_files_outside_deleted(me: ScopedMemory, folder: Path, path: str) -> None:
    (folder.parent / "victim.md").write_text("mine")
    manifest = json.loads((folder / ".mnemic.json").read_text())
    manifest["files"][path] = {"hash": "", "page": {"sort": "document"}, "entries": {}}
    (folder / ".mnemic.json").write_text(json.dumps(manifest))
    with pytest.raises(Invalid, match="is not the list"):
        me.write_folder(folder, force=True)
    assert (folder.parent / "victim.md").read_text() == "mine"


def test_a_folder_is_one_memorys_only(memory: Memory, me: ScopedMemory, folder: Path, tmp_path: Path) -> None:
    for other in (memory.scope(user="bea"), memory.scope(user="ada", tenant="t"), me.shelf(session="trip")):
        for verb in (other.compare_folder, other.apply_folder, other.write_folder):
            with pytest.raises(Refused, match=r"shows the memory of 'ada', not the memory of"):
                verb(folder)
    with pytest.raises(NotFound, match="is no folder of a memory"):
        me.apply_folder(tmp_path / "nothing")
    with pytest.raises(Refused, match="looks at the past"):
        me.at(1).write_folder(tmp_path / "past")
    (tmp_path / "file").write_text("x")
    with pytest.raises(Invalid, match="is a file"):
        me.write_folder(tmp_path / "file")
    manifest = json.loads((folder / ".mnemic.json").read_text())
    (folder / ".mnemic.json").write_text(json.dumps({**manifest, "format": 99, "mnemic": "9.0"}))
    with pytest.raises(Conflict, match="newer; update"):
        me.compare_folder(folder)


def test_a_shelf_a_branch_and_the_shared_memory_have_folders_of_their_own(
    memory: Memory, me: ScopedMemory, tmp_path: Path
) -> None:
    shared, branch = memory.scope(user=SHARED), me.branch("try")
    shared.write("For all.")
    for name, handle, items in (("trip", me.shelf(session="trip"), 1), ("shared", shared, 1), ("try", branch, 6)):
        assert handle.write_folder(tmp_path / name).items == items
        add(tmp_path / name, "facts.md", "- Added.\n")
        assert handle.apply_folder(tmp_path / name).receipt is not None
        assert "Added." in texts(handle)
    assert "Added." in texts(me.shelf(session="trip"))
    assert len([text for text in texts(me) if text == "Added."]) == 2


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="rights do not bind here")
def test_a_folder_that_cannot_be_written_is_told_before_anything_is_committed(me: ScopedMemory, folder: Path) -> None:
    edit(folder, "facts.md", "Noor", "Nora")
    folder.chmod(0o500)
    seq = me.log()[0].seq
    try:
        with pytest.raises(Invalid, match="Permission denied"):
            me.apply_folder(folder)
    finally:
        folder.chmod(0o700)
    assert me.log()[0].seq == seq


def test_what_a_heading_or_another_place_says_is_told_and_not_taken(me: ScopedMemory, folder: Path) -> None:
    edit(folder, "facts.md", "- Ada has", "## Pets\n\n- Ada has")
    line = line_with(folder, TRIP, "nine")
    edit(folder, TRIP, line, "")
    add(folder, TALK, f"{line}\n")
    found = me.compare_folder(folder)
    assert [(note.path, note.line, note.lost) for note in found.notes] == [(TALK, 10, False), ("facts.md", 4, True)]
    assert not found.is_clean
    assert found.notes[0].note.startswith("stands in another file")


def test_editors_change_nothing_by_saving(me: ScopedMemory, folder: Path) -> None:
    for path, text in tree(folder).items():
        (folder / path).write_bytes(b"\xef\xbb\xbf" + text.rstrip("\n").replace("\n", "\r\n").encode())
    found = me.compare_folder(folder)
    assert (found.changes, found.problems, found.is_clean) == ((), (), True)


def test_secrets_in_the_folder_are_masked_and_counted(memory: Memory, me: ScopedMemory, folder: Path) -> None:
    add(folder, "facts.md", "- My key is sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEF\n")
    done = me.apply_folder(folder)
    assert done.receipt is not None
    assert done.receipt.masked
    assert "abcdefghijklmnop" not in "".join(tree(folder).values())


# The laws


STATEMENTS = st.lists(TEXTS.filter(kept), min_size=1, max_size=5)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(turns=STATEMENTS, facts=STATEMENTS, documents=STATEMENTS, edited=TEXTS.filter(kept), data=st.data())
def test_an_edited_folder_comes_back_as_it_was_edited(
    turns: list[str],
    facts: list[str],
    documents: list[str],
    edited: str,
    data: st.DataObject,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("law") / "f"
    with Memory("memory:", embedder="none", strategies=[], settings=Settings(mask_secrets=False)) as memory:
        me = memory.scope(user="ada")
        me.observe(turns, speaker="Ada", said="2026-03-01T14:05:00+00:00")
        for text in facts:
            me.write(text)
        me.observe([Message(text=text, key="", kind=Kind.DOCUMENT) for text in documents])
        me.write_folder(folder)
        assert me.compare_folder(folder).is_clean
        assert me.apply_folder(folder, forget_removed=True).receipt is None
        page = (folder / "facts.md").read_text()
        marks = [part.partition(" -->")[0] for part in page.split("<!-- ^")[1:]]
        own = [mark for mark in marks if any(v.item.id == mark for v in me.list(limit=100))]
        victim = data.draw(st.sampled_from(own))
        fresh = plain_text(edited)
        below = "".join(f"  {line}\n" if line else "\n" for line in fresh.split("\n"))
        old = me.get(ItemId(victim)).item.text
        (folder / "facts.md").write_text(_with_entry(page, victim, f"- <!-- ^{victim} -->\n{below}"))
        found, changed = me.compare_folder(folder), plain_text(old) != fresh
        assert found.problems == ()
        assert len(found.changes) == changed
        me.apply_folder(folder)
        assert plain_text(me.get(ItemId(victim)).item.text) == fresh
        written = tree(folder)
        assert me.compare_folder(folder).is_clean
        again = me.write_folder(folder)
        if changed:  # else nothing was taken in, and the file stayed as it was laid out by hand
            assert again.written == 0
            assert tree(folder) == written
        assert me.count(where=Filter(states=(State.ACTIVE,))) == len(turns) + len(facts) + len(documents)


def _with_entry(page: str, mark: str, entry: str) -> str:
    """A page with one of its entries replaced, as somebody does who looks for its first line."""
    lines, out, inside = page.split("\n"), list[str](), False
    for line in lines:
        begins = line.startswith("- ")
        if begins and f"^{mark} -->" in line and not inside:
            inside = True
            out += entry.removesuffix("\n").split("\n")
        elif not (inside and not begins):
            inside = False
            out.append(line)
    return "\n".join(out) + "\n"
