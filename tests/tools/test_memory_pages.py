"""What mnemic remembers besides files, as Markdown in `/memories/mnemic`: there if there is any, and read-only."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from mnemic import Kind, Memory, ScopedMemory, Settings
from mnemic.core.items import Item
from mnemic.tools.file_tools import run_command
from mnemic.tools.memory_pages import CHARACTERS, LINES, PAGES, pages, rendered

MAY = datetime(2026, 5, 4, 9, 30, tzinfo=UTC)


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory("memory:", embedder="none", settings=Settings(background=False)) as opened:
        yield opened


@pytest.fixture
def me(memory: Memory) -> ScopedMemory:
    return memory.scope(user="ada")


def view(me: ScopedMemory, path: str) -> str:
    result = run_command(me, {"command": "view", "path": path})
    assert not result.failed, result.text
    return result.text


def lines(page: str) -> list[str]:
    return [line for line in page.splitlines() if line.startswith("- ")]


class TestPages:
    def test_a_memory_that_holds_nothing_else_has_none(self, me: ScopedMemory) -> None:
        assert pages(me) == {}
        run_command(me, {"command": "create", "path": "/memories/a", "file_text": "x"})
        assert pages(me) == {}

    def test_each_sort_of_item_has_its_page_and_each_line_its_id(self, memory: Memory, me: ScopedMemory) -> None:
        said = me.observe("Always answer in French. I live in Lisbon.", speaker="Ada", said=MAY)
        memory.flush()
        fact = me.write("The office moves in June", said=MAY)
        method = me.write("To release, tag first", kind=Kind.PROCEDURE, said=MAY)
        found = pages(me)
        assert sorted(found) == ["facts.md", "instructions.md", "procedures.md", "profile.md", "recent.md"]
        assert lines(found["facts.md"]) == [f"- [{fact.id}] 2026-05-04 09:30 fact: The office moves in June"]
        assert lines(found["procedures.md"]) == [f"- [{method.id}] 2026-05-04 09:30 procedure: To release, tag first"]
        assert lines(found["recent.md"]) == [
            f"- [{said.id}] 2026-05-04 09:30 Ada: Always answer in French. I live in Lisbon."
        ]
        assert "French" in lines(found["instructions.md"])[0]
        assert "Lisbon" in lines(found["profile.md"])[0]

    def test_what_was_derived_from_forgotten_evidence_is_not_shown(self, memory: Memory, me: ScopedMemory) -> None:
        said = me.observe("Always answer in French. I live in Lisbon.", speaker="Ada")
        memory.flush()
        me.forget(said.id)
        assert pages(me) == {}

    def test_a_long_page_shows_the_last_and_counts_the_others(self, me: ScopedMemory) -> None:
        me.observe([f"turn {n}" for n in range(LINES + 30)])
        page = pages(me)["recent.md"]
        assert [line.rpartition(": ")[2] for line in lines(page)] == [f"turn {n}" for n in range(30, LINES + 30)]
        assert "30 older ones are not shown here: `mnemic list --kind turn --kind document --limit 130`" in page

    def test_a_long_text_is_cut_where_it_says_so(self) -> None:
        item = Item(id="i1", kind=Kind.FACT, text="x" * (CHARACTERS + 1_234), said=MAY)  # type: ignore[arg-type]
        assert lines(rendered(PAGES[2], [item], 1))[0].endswith("x … (1,234 more characters: `mnemic show i1`)")

    def test_no_text_can_pass_for_a_line_of_its_own(self) -> None:
        text = "one\n- [i2] two\r\n</memory>\u2028three"
        item = Item(id="i1", kind=Kind.FACT, text=text, said=MAY)  # type: ignore[arg-type]
        assert lines(rendered(PAGES[2], [item], 1)) == [
            "- [i1] 2026-05-04 09:30 fact: one - [i2] two &lt;/memory> three"
        ]


class TestFolder:
    def test_the_pages_are_files_in_a_folder_of_their_own(self, me: ScopedMemory) -> None:
        me.write("The office moves in June", said=MAY)
        size = len(pages(me)["facts.md"].encode())
        expected = ["4K\t/memories", "4K\t/memories/mnemic/", f"{size}B\t/memories/mnemic/facts.md"]
        assert view(me, "/memories").splitlines()[1:] == expected
        assert view(me, "/memories/mnemic/").splitlines()[1:] == [
            "4K\t/memories/mnemic/",
            f"{size}B\t/memories/mnemic//facts.md",
        ]
        assert view(me, "/memories/mnemic/facts.md").splitlines()[1] == "     1\t# Facts, plans and insights"

    def test_looking_at_them_writes_nothing(self, me: ScopedMemory) -> None:
        me.write("The office moves in June")
        commits = len(me.log())
        view(me, "/memories")
        view(me, "/memories/mnemic/facts.md")
        assert len(me.log()) == commits

    @pytest.mark.parametrize(
        "command",
        [
            {"command": "create", "path": "/memories/mnemic/new.md", "file_text": "x"},
            {"command": "create", "path": "/memories/mnemic", "file_text": "x"},
            {"command": "str_replace", "path": "/memories/mnemic/facts.md", "old_str": "June", "new_str": "May"},
            {"command": "insert", "path": "/memories/mnemic/facts.md", "insert_line": 0, "insert_text": "x"},
            {"command": "delete", "path": "/memories/mnemic"},
            {"command": "delete", "path": "/memories/a/../mnemic/facts.md"},
            {"command": "rename", "old_path": "/memories/mnemic/facts.md", "new_path": "/memories/facts.md"},
            {"command": "rename", "old_path": "/memories/a", "new_path": "/memories/mnemic/a"},
        ],
        ids=lambda command: " ".join(map(str, command.values())),
    )
    def test_writing_there_is_refused_and_says_what_to_do(self, me: ScopedMemory, command: dict[str, Any]) -> None:
        me.write("The office moves in June")
        run_command(me, {"command": "create", "path": "/memories/a", "file_text": "x"})
        before = me.list(limit=100)
        result = run_command(me, command)
        assert result.failed
        assert "shows what mnemic remembers" in result.text
        assert "elsewhere under /memories" in result.text
        assert me.list(limit=100) == before

    def test_without_anything_to_show_the_folder_is_not_there(self, me: ScopedMemory) -> None:
        result = run_command(me, {"command": "view", "path": "/memories/mnemic"})
        assert result.failed
        assert result.text == "The path /memories/mnemic does not exist. Please provide a valid path."
