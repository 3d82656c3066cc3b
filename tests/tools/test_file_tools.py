"""The file commands over a memory: what they answer, how files are kept, and what a memory adds to them."""

from __future__ import annotations

import multiprocessing
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemic import Kind, Memory, ScopedMemory, Settings
from mnemic.core.items import Item, Version
from mnemic.tools import Toolbox
from mnemic.tools.file_tools import MEMORY_TOOL, TOOLS, run_command
from mnemic.tools.files_commands import COMMANDS, perform
from mnemic.tools.files_kept import KEPT, changed, cut, edits, folded
from mnemic.tools.files_tree import File, Place, Tree, Untold, place_of, shown
from mnemic.verbs.statements import Statement
from mnemic.verbs.transacting import Transaction
from patience import PATIENCE

LIMITS = Settings()
TEXTS = (
    *(
        "",
        " ",
        "\n",
        "\r\n",
        "a",
        "a\r\nb\r\n",
        "no end",
        "茶\n",
        "👩\u200d🚀",
        "\ufeffx",
        "\u2028",
        "(blank)",
        "(empty folder)",
    ),
    *("x" * 40_000, "\n" * 50_000, "long line " * 20_000, "段落。\n" * 20_000, "👩\u200d🚀" * 10_000),
    " " * 40_000 + "x" + " " * 40_000,
)


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory("memory:", embedder="none", settings=Settings(background=False)) as opened:
        yield opened
        assert list(opened.admin.verify()) == []


@pytest.fixture
def me(memory: Memory) -> ScopedMemory:
    return memory.scope(user="ada")


def do(me: ScopedMemory, command: str, **arguments: Any) -> str:
    result = run_command(me, {"command": command, **arguments})
    assert not result.failed, result.text
    return result.text


def refused(me: ScopedMemory, command: str, **arguments: Any) -> str:
    before = me.list(limit=1_000)
    result = run_command(me, {"command": command, **arguments})
    assert result.failed
    assert me.list(limit=1_000) == before
    return result.text


def tree(me: ScopedMemory) -> Tree:
    return me.transact(KEPT, lambda versions: Transaction(answer=folded(versions)))


def files(me: ScopedMemory) -> dict[str, str]:
    return {shown(place): file.text for place, file in tree(me).files.items()}


def items(me: ScopedMemory) -> list[Item]:
    return [v.item for v in me.list(where=KEPT, limit=10_000)]


class TestAnswers:
    def test_an_empty_memory_is_an_empty_folder(self, me: ScopedMemory) -> None:
        listed = "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items:"
        assert do(me, "view", path="/memories") == f"{listed}\n4K\t/memories"
        assert items(me) == []

    def test_a_file_is_made_looked_at_changed_moved_and_deleted(self, me: ScopedMemory) -> None:
        made = do(me, "create", path="/memories/work/plan.md", file_text="one\ntwo\n")
        assert made == "File created successfully at: /memories/work/plan.md"
        assert do(me, "view", path="/memories").splitlines()[1:] == [
            "4K\t/memories",
            "4K\t/memories/work/",
            "8B\t/memories/work/plan.md",
        ]
        edited = do(me, "str_replace", path="/memories/work/plan.md", old_str="two", new_str="2")
        assert edited.splitlines()[1:] == ["     1\tone", "     2\t2", "     3\t"]
        do(me, "insert", path="/memories/work/plan.md", insert_line=0, insert_text="zero")
        do(me, "rename", old_path="/memories/work", new_path="/memories/done")
        viewed = do(me, "view", path="/memories/done/plan.md", view_range=[1, 2])
        assert viewed.splitlines()[1:] == ["     1\tzero", "     2\tone"]
        do(me, "delete", path="/memories/done")
        assert items(me) == []

    def test_what_cannot_be_kept_is_refused_and_nothing_written(self, me: ScopedMemory) -> None:
        do(me, "create", path="/memories/a", file_text="x")
        for text, said in (("a\x00b", "file_text: holds a NUL at character 1"), ("\ud800", "lone surrogate")):
            assert said in refused(me, "create", path="/memories/b", file_text=text)
            assert "new_str" in refused(me, "str_replace", path="/memories/a", old_str="x", new_str=text)
            assert "insert_text" in refused(me, "insert", path="/memories/a", insert_line=0, insert_text=text)
            assert "path" in refused(me, "create", path=f"/memories/{text}", file_text="x")

    def test_a_name_or_path_that_no_file_system_takes_is_refused(self, me: ScopedMemory) -> None:
        assert "A name in the path has 256 bytes" in refused(
            me, "create", path="/memories/new/" + "n" * 256, file_text="x"
        )
        assert "The path has 5,009 bytes" in refused(me, "create", path="/memories" + "/deep" * 1_000, file_text="x")

    def test_a_file_over_the_limit_of_an_input_is_refused(self) -> None:
        with Memory("memory:", embedder="none", settings=Settings(input_limit=1_000)) as memory:
            me = memory.scope(user="ada")
            do(me, "create", path="/memories/a", file_text="x" * 999 + "\n")
            assert "would have 1,002 bytes" in refused(me, "insert", path="/memories/a", insert_line=0, insert_text="y")

    def test_arguments_that_do_not_fit_are_refused_in_words(self, me: ScopedMemory) -> None:
        insert = {"command": "insert", "path": "/memories/a", "insert_line": "1", "insert_text": "x"}
        view = {"command": "view", "path": "/memories"}
        for command in (
            {},
            {"command": "chmod"},
            {"command": "view"},
            {**view, "path": 1},
            {**view, "depth": 3},
            insert,
        ):
            result = run_command(me, command)
            assert result.failed
            assert result.text.startswith("Invalid: ")

    def test_an_optional_argument_may_be_null(self, me: ScopedMemory) -> None:
        do(me, "create", path="/memories/a", file_text="x")
        assert do(me, "view", path="/memories/a", view_range=None).endswith("     1\tx")


class TestTools:
    def test_the_toolbox_runs_each_command_by_its_name(self, me: ScopedMemory) -> None:
        box = Toolbox(me, "files")
        assert [tool.name for tool in box.tools] == list(COMMANDS)
        assert not box.call("create", {"path": "/memories/a", "file_text": "x"}).failed
        assert box.call("view", {"path": "/memories/a"}).text.endswith("     1\tx")
        missing = box.call("delete", {"path": "/memories/b"})
        assert missing.failed
        assert missing.text == "The path /memories/b does not exist"

    def test_only_looking_is_read_only(self) -> None:
        assert [tool.name for tool in TOOLS if tool.read_only] == ["view"]
        assert not MEMORY_TOOL.read_only

    def test_all_commands_are_one_tool_as_well(self, me: ScopedMemory) -> None:
        made = MEMORY_TOOL.run(me, {"command": "create", "path": "/memories/a", "file_text": "x"})
        assert made.text == "File created successfully at: /memories/a"

    def test_two_users_have_two_trees(self, memory: Memory, me: ScopedMemory) -> None:
        do(me, "create", path="/memories/a", file_text="mine")
        assert refused(memory.scope(user="bob"), "view", path="/memories/a").startswith("The path /memories/a does not")


class TestKept:
    @pytest.mark.parametrize("text", TEXTS, ids=lambda text: f"{len(text)} of {text[:6]!r}")
    def test_a_text_comes_back_exactly(self, me: ScopedMemory, text: str) -> None:
        do(me, "create", path="/memories/a", file_text=text)
        assert files(me) == {"/memories/a": text}
        do(me, "rename", old_path="/memories/a", new_path="/memories/b/c.md")
        assert files(me) == {"/memories/b/c.md": text}

    def test_a_file_of_a_megabyte_is_kept_in_parts_and_a_change_rewrites_one(self, me: ScopedMemory) -> None:
        text = "".join(f"line {n} of a long file\n" for n in range(40_000))
        do(me, "create", path="/memories/long", file_text=text)
        before = {item.id: item for item in items(me)}
        assert len(before) > 30
        do(me, "str_replace", path="/memories/long", old_str="line 20000 of", new_str="line twenty thousand of")
        after = {item.id: item for item in items(me)}
        assert set(after) == set(before)
        assert len([i for i in after if after[i] != before[i]]) == 1
        assert files(me)["/memories/long"] == text.replace("line 20000 of", "line twenty thousand of")

    def test_appending_fills_parts_up(self, me: ScopedMemory) -> None:
        do(me, "create", path="/memories/log", file_text="")
        text = ""
        for n in range(30):
            do(me, "insert", path="/memories/log", insert_line=n, insert_text=f"{n} " * 1_000)
            text += f"{n} " * 1_000 + "\n"
        assert files(me)["/memories/log"] == text
        assert len(items(me)) <= len(text) // (16 * 1024) + 1

    def test_a_folder_is_an_item_only_while_it_holds_nothing(self, me: ScopedMemory) -> None:
        do(me, "create", path="/memories/a/b/c", file_text="x")
        assert [item.slots["path"] for item in items(me)] == ["/memories/a/b/c"]
        do(me, "delete", path="/memories/a/b/c")
        assert [item.slots for item in items(me)] == [{"path": "/memories/a/b", "title": "a/b", "folder": True}]
        do(me, "create", path="/memories/a/b/d", file_text="x")
        assert [item.slots["path"] for item in items(me)] == ["/memories/a/b/d"]

    def test_a_rename_that_fails_leaves_the_folders_it_made_as_the_reference_does(self, me: ScopedMemory) -> None:
        result = run_command(me, {"command": "rename", "old_path": "/memories/x", "new_path": "/memories/a/b/x"})
        assert (result.failed, result.text) == (True, "The path /memories/x does not exist")
        assert set(tree(me).folders) == {("a",), ("a", "b")}

    def test_a_tagged_item_that_names_no_file_is_none(self, me: ScopedMemory) -> None:
        for slots in (
            {},
            {"path": 3},
            {"path": "/etc/passwd"},
            {"path": "/memories"},
            {"path": "/memories/a", "part": "x"},
            {"path": "/memories/mnemic"},
            {"path": "/memories/mnemic/notes.md"},
        ):
            me.write(Statement(text="x", kind=Kind.RESOURCE, slots=slots, tags=("memory-file",)))
        assert tree(me) == Tree()
        do(me, "view", path="/memories")

    def test_secrets_are_masked_across_the_parts_of_a_file_too(self, me: ScopedMemory) -> None:
        key = "sk-" + "a1" * 20
        text = "x" * (16 * 1024 - 20) + " " + key + " " + "y" * 40_000
        do(me, "create", path="/memories/a", file_text=text)
        assert files(me)["/memories/a"] == text.replace(key, "[masked api key]")


LONG = "".join(f"line {n} about nothing in particular\n" for n in range(5_000))


def parts_of(me: ScopedMemory, path: str) -> list[Item]:
    of = [item for item in items(me) if item.slots["path"] == path]
    return sorted(of, key=lambda item: item.slots.get("part", 0))  # type: ignore[arg-type,return-value]


class TestForgotten:
    """A part of a long file is an item too, and can be forgotten by itself: the file says so."""

    @pytest.mark.parametrize(
        ("gone", "said"),
        [
            ([0], "part 1 of this file is missing"),
            ([1], "part 2 of this file is missing"),
            ([2, 3], "parts 3 to 4 of this file are missing"),
            ([0, 1], "parts 1 to 2 of this file are missing"),
        ],
    )
    def test_a_gap_is_a_line_of_the_file_and_the_rest_stays(self, me: ScopedMemory, gone: list[int], said: str) -> None:
        do(me, "create", path="/memories/long.md", file_text=LONG)
        parts = parts_of(me, "/memories/long.md")
        me.forget(*(parts[n].id for n in gone))
        lines = files(me)["/memories/long.md"].splitlines(keepends=True)
        (gap,) = [line for line in lines if said in line]
        before = "".join(part.text for part in parts[: gone[0]])
        after = "".join(part.text for part in parts[gone[-1] + 1 :])
        assert "".join(lines) == before + gap + after
        assert gap in do(me, "view", path="/memories/long.md") + "\n"
        me.undo(me.log(limit=1)[0].seq)
        assert files(me) == {"/memories/long.md": LONG}

    def test_a_missing_end_is_told_too(self, me: ScopedMemory) -> None:
        do(me, "create", path="/memories/long.md", file_text=LONG)
        *kept, last = parts_of(me, "/memories/long.md")
        me.erase(last.id)
        text = files(me)["/memories/long.md"]
        assert text.startswith("".join(part.text for part in kept))
        assert text.splitlines()[-1].startswith(f"[this file from part {len(kept) + 1} on is missing")

    def test_a_gap_within_a_line_is_a_line_of_its_own(self, me: ScopedMemory) -> None:
        do(me, "create", path="/memories/long.md", file_text="x" * 60_000)
        parts = parts_of(me, "/memories/long.md")
        me.forget(parts[1].id)
        lines = files(me)["/memories/long.md"].split("\n")
        assert [line.strip("x")[:7] for line in lines] == ["", "[part 2", ""]

    def test_an_edit_keeps_the_line_until_it_is_edited_away(self, me: ScopedMemory) -> None:
        do(me, "create", path="/memories/long.md", file_text=LONG)
        me.forget(parts_of(me, "/memories/long.md")[1].id)
        before = files(me)["/memories/long.md"]
        do(me, "str_replace", path="/memories/long.md", old_str="line 0 about", new_str="line zero about")
        do(me, "rename", old_path="/memories/long.md", new_path="/memories/kept.md")
        assert files(me) == {"/memories/kept.md": before.replace("line 0 about", "line zero about")}
        (gap,) = [line for line in before.splitlines(keepends=True) if "missing" in line]
        do(me, "str_replace", path="/memories/kept.md", old_str=gap, new_str="")
        assert "missing" not in files(me)["/memories/kept.md"]

    def test_a_file_that_grows_and_shrinks_misses_nothing(self, me: ScopedMemory) -> None:
        do(me, "create", path="/memories/a", file_text="one\n")
        do(me, "insert", path="/memories/a", insert_line=1, insert_text=LONG)
        assert files(me) == {"/memories/a": "one\n" + LONG}
        do(me, "str_replace", path="/memories/a", old_str=LONG, new_str="")
        assert files(me) == {"/memories/a": "one\n"}

    def test_an_undone_deletion_of_a_long_file_does_not_mix_with_the_one_that_took_its_place(
        self, me: ScopedMemory
    ) -> None:
        for old, new in ((LONG, "new"), ("old", LONG), (LONG, LONG.upper())):
            do(me, "create", path="/memories/a", file_text=old)
            do(me, "delete", path="/memories/a")
            deletion = me.log(limit=1)[0].seq
            do(me, "create", path="/memories/a", file_text=new)
            me.undo(deletion)
            assert sorted(files(me)) == ["/memories/a", "/memories/a (2)"]
            assert set(files(me).values()) == {old, new}
            do(me, "delete", path="/memories/a (2)")
            do(me, "delete", path="/memories/a")


class TestMemory:
    """What is more than files: recall, history, undo, erasing."""

    def test_recall_finds_what_a_file_says_and_what_it_is_called(self, me: ScopedMemory) -> None:
        do(me, "create", path="/memories/holidays.md", file_text="We go to Lisbon in May.")
        assert me.recall("Where do we go in May?").items[0].item.slots["path"] == "/memories/holidays.md"
        assert me.recall("holidays").items[0].text == "We go to Lisbon in May."

    def test_edits_and_renames_are_revisions_of_one_item(self, me: ScopedMemory) -> None:
        do(me, "create", path="/memories/a", file_text="one")
        (item,) = items(me)
        do(me, "str_replace", path="/memories/a", old_str="one", new_str="two")
        do(me, "rename", old_path="/memories/a", new_path="/memories/b/c")
        assert [(v.item.text, v.item.slots["path"]) for v in me.history(item.id)] == [
            ("one", "/memories/a"),
            ("two", "/memories/a"),
            ("two", "/memories/b/c"),
        ]

    def test_a_command_is_one_commit_and_undo_takes_it_back(self, me: ScopedMemory) -> None:
        do(me, "create", path="/memories/a/x", file_text="one")
        do(me, "create", path="/memories/a/y", file_text="two")
        do(me, "delete", path="/memories/a")
        assert files(me) == {}
        me.undo(me.log(limit=1)[0].seq)
        assert files(me) == {"/memories/a/x": "one", "/memories/a/y": "two"}

    def test_a_command_that_changes_nothing_is_no_commit(self, me: ScopedMemory) -> None:
        do(me, "create", path="/memories/a", file_text="one")
        commits = len(me.log())
        do(me, "str_replace", path="/memories/a", old_str="one", new_str="one")
        do(me, "view", path="/memories")
        assert len(me.log()) == commits

    def test_an_erased_file_is_gone(self, me: ScopedMemory) -> None:
        do(me, "create", path="/memories/a", file_text="one")
        me.erase(items(me)[0].id)
        assert files(me) == {}

    def test_an_undone_deletion_stands_beside_the_file_that_took_its_place(self, me: ScopedMemory) -> None:
        do(me, "create", path="/memories/notes.md", file_text="old")
        do(me, "delete", path="/memories/notes.md")
        deletion = me.log(limit=1)[0].seq
        do(me, "create", path="/memories/notes.md", file_text="new")
        me.undo(deletion)
        found = files(me)
        assert sorted(found) == ["/memories/notes (2).md", "/memories/notes.md"]
        assert sorted(found.values()) == ["new", "old"]
        do(me, "rename", old_path="/memories/notes (2).md", new_path="/memories/other.md")
        assert sorted(files(me)) == ["/memories/notes.md", "/memories/other.md"]

    def test_an_undone_deletion_of_a_file_where_a_folder_is_now_stands_beside_it(self, me: ScopedMemory) -> None:
        do(me, "create", path="/memories/a", file_text="old")
        do(me, "delete", path="/memories/a")
        deletion = me.log(limit=1)[0].seq
        do(me, "create", path="/memories/a/b", file_text="new")
        me.undo(deletion)
        assert files(me) == {"/memories/a (2)": "old", "/memories/a/b": "new"}

    def test_a_correction_of_the_item_is_what_the_file_says(self, me: ScopedMemory) -> None:
        do(me, "create", path="/memories/a", file_text="")
        me.revise(items(me)[0].id, "now it says something")
        assert files(me) == {"/memories/a": "now it says something"}


def _write_lines(store: str, name: str, count: int, begin: Any) -> None:
    with Memory(store, embedder="none", settings=Settings(background=False)) as memory:
        me = memory.scope(user="ada")
        begin.wait()
        for n in range(count):
            do(me, "create", path=f"/memories/{name}/{n}.md", file_text=f"{name} {n}")
            do(me, "insert", path="/memories/shared.md", insert_line=0, insert_text=f"{name} {n}")


class TestTogether:
    def test_two_processes_lose_no_acknowledged_edit(self, tmp_path: Path) -> None:
        store, context = str(tmp_path / "memory.db"), multiprocessing.get_context("spawn")
        with Memory(store, embedder="none") as memory:
            do(memory.scope(user="ada"), "create", path="/memories/shared.md", file_text="")
        begin = context.Barrier(2)
        writers = [context.Process(target=_write_lines, args=(store, name, 25, begin)) for name in ("one", "two")]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join(PATIENCE)
        assert [writer.exitcode for writer in writers] == [0, 0]
        with Memory(store, embedder="none") as memory:
            found = files(memory.scope(user="ada"))
        names = [f"{name} {n}" for name in ("one", "two") for n in range(25)]
        assert sorted(found.pop("/memories/shared.md").splitlines()) == sorted(names)
        assert sorted(found.values()) == sorted(names)

    def test_threads_that_create_the_same_file_are_told_who_was_first(self, me: ScopedMemory) -> None:
        made: list[bool] = []

        def create(n: int) -> None:
            given = {"command": "create", "path": "/memories/a", "file_text": str(n)}
            made.append(not run_command(me, given).failed)

        threads = [threading.Thread(target=create, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(made) == [False] * 7 + [True]
        assert len(items(me)) == 1


names = st.sampled_from(["a", "b", "c.md", "日记", ".x", "a (2)"])
places = st.lists(names, min_size=1, max_size=3).map(tuple)
texts = st.text(st.sampled_from("ab \n\r茶😀\u2028\t"), max_size=200)


class TestPure:
    @given(st.lists(st.sampled_from(["a", "..", ".", "", "memories", "茶"]), max_size=8))
    def test_a_path_leads_where_a_file_system_says(self, steps: list[str]) -> None:
        path = "/".join(("/memories", *steps))
        try:
            place = place_of(path)
        except Untold:
            assert ".." in steps
        else:
            assert Path("/root/nowhere").joinpath(shown(place)[1:]) == Path("/root/nowhere" + path).resolve()

    @given(texts, st.lists(texts, max_size=5), st.integers(64, 100))
    def test_a_changed_text_is_what_its_parts_say(self, text: str, parts: list[str], limit: int) -> None:
        head, tail, between = changed(text, parts, limit)
        assert "".join((*parts[:head], *between, *parts[len(parts) - tail :])) == text
        assert head + tail <= len(parts)
        assert all(len(piece.encode()) <= limit for piece in between)

    @given(texts, st.integers(64, 100))
    def test_cutting_loses_nothing(self, text: str, limit: int) -> None:
        pieces = list(cut(text, limit))
        assert "".join(pieces) == text
        assert all(0 < len(piece.encode()) <= limit for piece in pieces)

    @settings(max_examples=60)
    @given(st.dictionaries(places, texts, max_size=6), st.lists(places, max_size=3))
    def test_a_tree_comes_back_from_what_was_written_of_it(self, files: dict[Place, str], folders: list[Place]) -> None:
        tree = _planted(files, folders)
        written = edits(Tree(), tree, None, LIMITS).write
        back = folded([_version(n, statement) for n, statement in enumerate(written)])
        assert {p: f.text for p, f in back.files.items()} == {p: f.text for p, f in tree.files.items()}
        assert set(back.folders) == set(tree.folders)

    @given(st.dictionaries(places, texts, max_size=6), places, places)
    def test_a_move_and_its_way_back_change_nothing(self, files: dict[Place, str], old: Place, new: Place) -> None:
        tree = _planted(files, [])
        there = perform(tree, "rename", {"old_path": shown(old), "new_path": shown(new)})
        if not there.failed:
            back = perform(there.tree, "rename", {"old_path": shown(new), "new_path": shown(old)})
            assert not back.failed
            assert back.tree.files == tree.files


def _planted(files: dict[Place, str], folders: list[Place]) -> Tree:
    tree = Tree()
    for place, text in files.items():
        if place not in tree and not tree.in_the_way(place):
            tree = tree.with_parents(place).with_file(place, File(text))
    for place in folders:
        if place not in tree and not tree.in_the_way(place):
            tree = tree.with_parents((*place, "x"))
    return tree


def _version(number: int, statement: Statement) -> Version:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    item = Item(id=f"{number:026}", kind=statement.kind, text=statement.text, slots=statement.slots, said=now)  # type: ignore[arg-type]
    return Version(item=item, seq_from=number, seq_to=None, recorded=now)
