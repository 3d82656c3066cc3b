"""Names of files that every system takes, and no two of which are one on any."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.markdown_folder.file_names import LONGEST, folded, free_path, safe_name


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("How the boiler works", "How the boiler works"),
        ("a/b\\c:d*e?f\"g<h>i|j", "a b c d e f g h i j"),
        ("../../etc/passwd", "etc passwd"),
        ("CON", "CON_"),
        ("nul.txt", "nul.txt_"),
        ("com¹", "com¹_"),
        ("CONSOLE", "CONSOLE"),
        (".hidden", "hidden"),
        ("ends in dots. . .", "ends in dots"),
        ("-rf", "rf"),
        ("line\nbreak\u2028and \u202eturned", "line break and turned"),
        ("   ", "untitled"),
        ("会议记录", "会议记录"),
        ("e\u0301", "é"),
    ],
)  # fmt: skip
def test_a_name(words: str, name: str) -> None:
    assert safe_name(words, "untitled") == name


@given(st.text(max_size=300))
def test_any_words_make_a_name(words: str) -> None:
    name = safe_name(words, "untitled")
    assert name
    assert len(name.encode()) <= LONGEST + 1
    assert not set(name) & set('/\\:*?"<>|\x00\n')
    assert name == name.strip(" .")
    assert not name.startswith((".", "-", "~"))
    assert unicodedata.is_normalized("NFC", name)


def test_no_two_files_are_one_where_case_and_composition_do_not_count() -> None:
    taken: set[str] = set()
    for words in ("Straße", "STRASSE", "e\u0301", "É", "a", "A"):
        path = free_path("documents/", safe_name(words, "x"), taken)
        assert folded(path) not in taken
        taken.add(folded(path))
    assert "documents/strasse (2).md" in taken
