"""What comes out: `recall`, `context`, `why-not`, `list`, `show`, and ids typed in part."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from commandline import Run

LONG = "\n".join(f"line {n} of a long letter about the garden, the well and the pear trees" for n in range(40))


@pytest.fixture
def talk(run: Run) -> dict[str, str]:
    told = {
        "paris": ("I live in Paris, near the canal.", "Ada", "2025-02-09T19:04:03+01:00"),
        "lisbon": ("I moved from Paris to Lisbon.", "Ada", "2025-04-06T21:30:00+01:00"),
        "cat": ("我的猫叫小饼干。", "阿达", "2025-05-11T18:00:00+08:00"),
    }
    return {
        name: run("add", text, "--speaker", speaker, "--said", said, "--session", "s1", "--json").json["ids"][0]
        for name, (text, speaker, said) in told.items()
    }


def test_recall_tells_rank_date_speaker_text_id_score_and_reasons(run: Run, talk: dict[str, str]) -> None:
    told = run("recall", "where is Paris?").out
    assert told.startswith(" 1 ")
    for part in ("2025-02-09 19:04", "Ada", "I live in Paris", talk["paris"], "score", "holds", "considered", "ms"):
        assert part in told
    assert "in," not in told


@pytest.mark.parametrize("blank", ["", " ", "\u3000"])
def test_a_blank_question_is_refused_and_a_blank_context_is_what_is_always_on(
    run: Run, talk: dict[str, str], blank: str
) -> None:
    for command in (("recall", blank), ("ask", blank), ("why-not", blank, "last"), ("session", "context", "s", blank)):
        assert "query: is empty. Ask something, in words." in run(*command, code=2).err
    found = run("context", blank, "--json").json
    assert found["items"] == []


def test_recall_explains_components_and_stages(run: Run, talk: dict[str, str]) -> None:
    told = run("recall", "where is Paris?", "--explain").out
    assert "score = " in told
    assert "gather: " in told
    record = run("recall", "where is Paris?", "--explain", "--json").json
    assert {stage["stage"] for stage in record["stages"]} >= {"gather", "fuse", "pack"}
    assert record["items"][0]["components"]


def test_recall_as_json_is_one_document(run: Run, talk: dict[str, str]) -> None:
    record = run("--json", "recall", "猫叫什么名字？", "-k", "1").json
    (one,) = record["items"]
    assert (one["rank"], one["item"]["id"]) == (1, talk["cat"])
    assert one["item"]["said"] == "2025-05-11T18:00:00+08:00"
    assert record["considered"] == 3


def test_recall_of_an_earlier_date_does_not_see_what_was_said_later(run: Run, talk: dict[str, str]) -> None:
    assert talk["lisbon"] not in run("recall", "Paris", "--as-of", "2025-03-31").out
    assert talk["lisbon"] not in run("recall", "Paris", "--at", "1").out
    assert talk["lisbon"] in run("recall", "Paris").out


def test_recall_that_finds_no_word_says_so_and_succeeds(run: Run, talk: dict[str, str]) -> None:
    assert "no word of the question occurs here" in run("recall", "zeppelin").out
    assert "nothing found" in run("recall", "zeppelin", "--kind", "fact").out
    assert run("recall", "zeppelin", "--kind", "fact", "--json").json["items"] == []


def test_recall_keeps_to_kinds_sessions_and_budget(run: Run, talk: dict[str, str]) -> None:
    assert "nothing found" in run("recall", "Paris", "--kind", "fact").out
    assert "nothing found" in run("recall", "Paris", "--session", "other").out
    assert run("recall", "Paris", "--budget", "50", "--json").json["tokens"] <= 50


def test_context_is_a_block_for_a_prompt_and_nothing_else(run: Run, talk: dict[str, str]) -> None:
    block = run("context", "Paris", "--budget", "200")
    assert block.out.startswith("<memory")
    assert block.out.endswith("</memory>\n")
    assert "tokens" in block.err


def test_a_budget_that_nothing_fits_is_told(run: Run, add: Callable[..., str]) -> None:
    add("I live in Paris.")
    for command in ("recall", "context"):
        told = run(command, "Paris", "--budget", "1")
        assert "budget of 1 token is too small" in told.out + told.err
    assert "too small" in run("recall", "Paris", "--budget", "1", "--json").json["notes"][-1]
    assert "too small" not in run("recall", "Paris", "--budget", "500").out
    run("context", "Paris", "--budget", "0", code=2)


def test_why_not_names_the_stage(run: Run, talk: dict[str, str]) -> None:
    lost = run("why-not", "Paris", talk["cat"], "-k", "1", "--json").json
    assert lost["lost"] is True
    assert lost["stage"]
    assert lost["reason"]
    assert run("why-not", "Paris", talk["paris"], "--json").json["lost"] is False


@pytest.mark.parametrize(
    ("asked", "item", "options", "stage", "told"),
    [
        ("zyzzyva", "paris", ("-k", "1"), "gather", "not among what was found: no word of the question"),
        ("Paris Lisbon cat", "cat", ("-k", "1"), "fuse", "ranked too low: rank"),
        ("Paris Lisbon cat", "cat", ("--budget", "5"), "pack", "ranked high enough, but there was no room: it takes"),
        ("cat", "cat", ("--as-of", "2001-01-01"), "view", "not shown at the time looked at: the view does not show it"),
    ],
)
def test_where_an_item_is_lost_is_told_in_plain_words(
    run: Run, talk: dict[str, str], asked: str, item: str, options: tuple[str, ...], stage: str, told: str
) -> None:
    assert run("why-not", asked, talk[item], *options, "--json").json["stage"] == stage
    assert run("why-not", asked, talk[item], *options).out.startswith(told)


def test_list_is_newest_first_and_a_line_each(run: Run, talk: dict[str, str]) -> None:
    lines = run("list").out.splitlines()
    assert [line.split()[0] for line in lines] == [talk["cat"], talk["lisbon"], talk["paris"]]
    assert run("list", "-n", "1").out.count("\n") == 1
    assert [item["id"] for item in run("list", "--json").lines] == [talk["cat"], talk["lisbon"], talk["paris"]]


def test_list_names_who_derived_what(run: Run, add: Callable[..., str]) -> None:
    add("From now on, answer in French.", "--speaker", "user")
    run("flush")
    assert "answer in French" in run("list", "--by", "rules").out
    assert run("list", "--by", "nobody").out == ""


def test_show_tells_everything_of_an_item(run: Run, talk: dict[str, str]) -> None:
    told = run("show", talk["paris"]).out
    for part in (talk["paris"], "turn, active", "I live in Paris", "Ada", "s1", "commit 1"):
        assert part in told


def test_long_items_are_cut_for_a_person_and_whole_for_a_program(run: Run, add: Callable[..., str]) -> None:
    item = add(LONG)
    for command in (("recall", "garden"), ("list",), ("log",), ("history", item)):
        told = run(*command).out
        assert len(told) < 1200
        assert f"more characters; `mnemic show {item}`)" in told
    assert "line 39" in run("show", item).out
    assert run("list", "--json").json["text"] == LONG
    assert run("recall", "garden", "--json").json["items"][0]["item"]["text"] == LONG


def test_control_characters_of_a_memory_do_not_reach_the_terminal(run: Run) -> None:
    run("add", "red \x1b[31malert\x07 and \u202eright to left")
    for command in (("list",), ("recall", "alert"), ("show", "last"), ("log",), ("context", "alert")):
        out = run(*command).out
        assert "\x1b" not in out
        assert "\x07" not in out
        assert "\u202e" not in out
        assert ("red [31malert" if command[0] == "context" else "\\x1b[31malert") in out  # prompts have no use for it
    assert "\x1b[31m" in run("show", "last", "--json").json["text"]


def test_an_id_may_be_given_in_part(run: Run, talk: dict[str, str]) -> None:
    whole = talk["cat"]
    for part in (whole, whole.upper(), whole[-6:], whole[:-1], "last"):
        assert run("show", part, "--json").json["id"] == whole


def test_a_part_that_names_several_or_none_is_refused(run: Run, add: Callable[..., str]) -> None:
    first, second = add("one thing"), add("another thing")
    shared = next(i for i in range(26) if first[i] != second[i])
    assert "names 2 items" in run("show", first[: max(shared, 6)], code=2).err
    run("show", "zzzzzz", code=3)
    run("show", "z" * 26, code=2)
    run("show", "0" * 26, code=3)
    run("show", first[:5], code=2)


def test_an_id_is_found_without_listing_what_is_remembered(
    run: Run, talk: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mnemic.memory.ScopedMemory.list", pytest.fail)
    for part in (talk["cat"][:-1], talk["cat"][-6:]):
        assert run("show", part, "--json").json["id"] == talk["cat"]


def test_a_part_of_an_id_on_another_shelf_names_nothing(run: Run) -> None:
    found = run("add", "packed the tent", "--session", "trip", "--json").json["ids"][0]
    run("show", found[-8:], "--session", "home", code=3)
    run("show", found[-8:], "--session", "trip")


def test_a_part_of_an_id_names_an_item_of_the_memory_that_a_branch_came_off(run: Run, talk: dict[str, str]) -> None:
    run("branch", "try")
    own = run("--branch", "try", "add", "only here", "--json").json["ids"][0]
    for whole in (own, talk["cat"]):
        assert run("--branch", "try", "show", whole[-8:], "--json").json["id"] == whole
    run("show", own[-8:], code=3)


def test_a_part_of_anothers_id_names_nothing(run: Run) -> None:
    theirs = run("add", "a secret of Ben", "--user", "ben", "--json").json["ids"][0]
    run("add", "mine")
    run("show", theirs[-8:], code=3)
    run("show", theirs, code=3)
    run("show", theirs, "--user", "ben")


def test_reading_before_anything_was_written_makes_nothing(run: Run, home: object) -> None:
    for command in (("list",), ("recall", "x"), ("log",), ("stats",), ("verify",), ("export",), ("forget", "last")):
        assert "no store" in run(*command, code=3).err
    from pathlib import Path

    assert not Path(str(home)).exists()
