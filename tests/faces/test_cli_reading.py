"""`read` at the command line: what it prints, as a person and as a program see it, and whose error it is."""

from __future__ import annotations

from pathlib import Path

from commandline import Run

BOOK = "The harbour lies in the east. The vault of the museum opens with the number 48213.\n" + "It rained. " * 60


def test_read_tells_the_answer_its_place_and_what_was_read(run: Run, tmp_path: Path) -> None:
    book = tmp_path / "book.txt"
    book.write_text(BOOK)
    asked = ("read", "With which number does the vault open?", str(book))
    told = run(*asked).out
    for part in ("The vault of the museum opens with the number 48213.", "characters 30 to 82, segment 1", "1 segment"):
        assert part in told
    record = run(*asked, "--json").json
    assert record["known"] is True
    assert record["resumed"] == record["segments"] == 1
    (place,) = record["evidence"]
    assert BOOK[place["start"] : place["end"]] == place["quote"]
    assert "48213" in run("history", record["id"]).out


def test_read_takes_a_session_an_id_and_standard_input(run: Run) -> None:
    id = run("add", "The tickets are in the green folder.", "--session", "trip", "--json").json["ids"][0]
    for origin in ("trip", id):
        assert run("read", "Where are the tickets?", "--from", origin, "--json").json["evidence"][0]["part"] == id
    assert "green" in run("read", "Where are the tickets?", "-", stdin="The tickets are in the green bag.").out


def test_read_names_what_is_wrong(run: Run, tmp_path: Path) -> None:
    assert "sources: are missing" in run("read", "Where?", code=2).err
    assert "there is no file" in run("read", "Where?", str(tmp_path / "nix.txt"), code=3).err
    assert "--notes: is 3" in run("read", "Where?", str(tmp_path), "--notes", "3", code=2).err
    assert "'nix'" in run("read", "Where?", "--from", "nix", code=3).err
