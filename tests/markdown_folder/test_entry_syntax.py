"""Entries in Markdown: what is written reads the same, whatever the text; and what people do to them."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mnemic.markdown_folder.document_syntax import file_head, read_document, write_document
from mnemic.markdown_folder.entry_syntax import ReadEntry, bullets, mark_of, read_entries, write_entry
from mnemic.markdown_folder.shown_items import ShownItem, plain_text

ID = "01jq3c9vq0w8x5n4k2m7r6t1ze"
OTHER = "01jq3c9vq0w8x5n4k2m7r6t1zf"
PIECES = st.sampled_from(
    [
        "\n", "\n\n", "- ", "  ", "\t", "# a", "```", "~~~py", "---", "***", "**x**: ", "**a** 14:05: ", "14:05: ",
        "📌 ", "> q", "1. ", "\\", "*", f"{mark_of(ID)}", f"{mark_of(OTHER)}", "<!-- ^", "-->", "<!-- note -->", "^x",
        "你好", "\u2028", "\x85", "\r\n", "\r", "\x0b", "é", "\ufeff", "👩\u200d🔬", "word", "title: x", "| a | b |",
    ]
)  # fmt: skip
TEXTS = st.lists(st.one_of(PIECES, st.text(max_size=6)), min_size=1, max_size=8).map("".join)


def kept(text: str) -> bool:
    """Whether a store would keep it, and a folder has something to show of it."""
    return bool(plain_text(text).strip()) and "\x00" not in text and text == text.encode(errors="ignore").decode()


NAMES = st.one_of(st.just(""), TEXTS.map(lambda text: " ".join(text.split()))).filter(
    lambda name: not name or (kept(name) and name == name.strip() and not any(ord(c) < 32 for c in name))
)


def read_all(text: str, *, named: bool) -> list[ReadEntry]:
    return read_entries(text.split("\n"), named=named).entries


@given(texts=st.lists(TEXTS.filter(kept), min_size=1, max_size=4), pinned=st.booleans())
@example(texts=[f"{mark_of(OTHER)} forged"], pinned=False)
@example(texts=["```\nnever closed", "# no heading\n- no entry"], pinned=True)
def test_statements_read_as_they_were_written(texts: list[str], pinned: bool) -> None:
    shown = [ShownItem(text=plain_text(text), pinned=pinned) for text in texts]
    ids = [f"{ID[:-2]}{n:02}" for n in range(len(texts))]
    page = "# Facts\n\n" + "".join(bullets(map(write_entry, shown, ids)))
    read = read_all(page, named=False)
    assert [entry.shown for entry in read] == shown
    assert [entry.mark for entry in read] == ids
    assert not any(entry.damaged for entry in read)


@given(texts=st.lists(TEXTS.filter(kept), min_size=1, max_size=4), name=NAMES, pinned=st.booleans())
@example(texts=["14:06: said at another time"], name="", pinned=False)
@example(texts=["two\nlines"], name="*\\a:**", pinned=True)
def test_turns_read_as_they_were_written(texts: list[str], name: str, pinned: bool) -> None:
    shown = [
        ShownItem(text=plain_text(text), name=name, day="2026-03-01", time="14:05", pinned=pinned) for text in texts
    ]
    page = "## 2026-03-01\n\n" + "".join(bullets(write_entry(one, ID) for one in shown))
    assert [entry.shown for entry in read_all(page, named=True)] == shown


@given(text=TEXTS.filter(kept), title=TEXTS, tags=st.lists(TEXTS.filter(kept), max_size=3, unique=True))
@example(text="---\ntitle: mine\n---\n\nbody", title="a: #b", tags=["x, y", "[z]"])
@example(text="text", title="line\nbreak", tags=[])
def test_documents_read_as_they_were_written(text: str, title: str, tags: list[str]) -> None:
    shown = ShownItem(
        text=plain_text(text),
        day="0987-03-01",
        time="00:00",
        pinned=True,
        title=title.strip(),
        tags=tuple(sorted(tags)),
    )
    read = read_document(file_head(write_document(shown, ID)))
    assert (read.shown, read.mark, read.wrong, dict(read.others)) == (shown, ID, "", {})


def said(page: str) -> list[tuple[str | None, str, str, str]]:
    return [(e.mark, e.shown.name, e.shown.time, e.shown.text) for e in read_all(page, named=True)]


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("- new", [(None, "", "", "new")]),
        ("* **Ada**: new", [(None, "Ada", "", "new")]),
        ("1. **Ada** 9:05: new", [(None, "Ada", "09:05", "new")]),
        ("Of\ntwo lines.\n\nAnother.", [(None, "", "", "Of\ntwo lines."), (None, "", "", "Another.")]),
        ("- a\nlazy\n\n  second\n\nnew", [(None, "", "", "a\nlazy\n\nsecond"), (None, "", "", "new")]),
        (f"- **Ada** 14:05: broken\n  before it {mark_of(ID)}", [(ID, "Ada", "14:05", "broken\nbefore it")]),
        (f"- 14:05: before {mark_of(ID)} behind", [(ID, "", "14:05", "before behind")]),
        (f"- 14:05: text {mark_of(ID)}\n\n  | a |\n  | - |", [(ID, "", "14:05", "text\n\n| a |\n| - |")]),
        (f"- a {mark_of(ID)}\n- b {mark_of(OTHER)}", [(ID, "", "", "a"), (OTHER, "", "", "b")]),
        ("- a\n\t- nested by a tab", [(None, "", "", "a\n- nested by a tab")]),
        ("```\ncode\n\n- more\n```\n- new", [(None, "", "", "```\ncode\n\n- more\n```"), (None, "", "", "new")]),
        (f"```\nnever closed\n- a {mark_of(ID)}", [(None, "", "", "```\nnever closed"), (ID, "", "", "a")]),
        ("-\n-   \n", [(None, "", "", ""), (None, "", "", "")]),
        (f"- <!--^{ID.upper()}-->\n  a", [(ID, "", "", "a")]),
    ],
)  # fmt: skip
def test_what_people_write(page: str, expected: list[tuple[str | None, str, str, str]]) -> None:
    assert said(page) == expected


def test_headings_rules_and_comments_are_no_entries_and_are_told() -> None:
    read = read_entries(["# Facts", "", "## Mine", "- a", "---", "<!-- note -->", "", "b"], named=False)
    assert [entry.shown.text for entry in read.entries] == ["a", "b"]
    assert read.passed == [(1, "# Facts"), (3, "## Mine"), (5, "---"), (6, "<!-- note -->")]


@pytest.mark.parametrize("mark", [f"<!-- ^{ID[:-1]} -->", "<!-- ^ -->", f"<!-- ^{ID}"])
def test_a_damaged_mark_is_seen(mark: str) -> None:
    (entry,) = read_all(f"- a {mark}", named=False)
    assert entry.damaged
    assert entry.mark is None
