"""Going back on the command line: earlier knowledge, checkpoints by name, branches off a moment, the horizon."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from commandline import Run

from mnemic import Memory


def test_a_checkpoint_is_brought_back_by_its_name_in_any_script(run: Run, add: Callable[..., str]) -> None:
    kept = add("one thing")
    assert "mnemic restore '旅行 之前'" in run("checkpoint", "旅行 之前").out
    lost = add("another thing")
    run("restore", "旅行 之前", "--yes")
    shown = run("list").out
    assert kept in shown
    assert lost not in shown
    assert "mnemic checkpoints" in run("restore", "nowhere", "--yes", code=3).err
    for name in ("a/b", "what?", "-x"):
        assert "name:" in run("checkpoint", "--", name, code=2).err


def test_the_checkpoint_that_a_rewind_takes_is_named_with_how_to_bring_it_back(
    run: Run, add: Callable[..., str]
) -> None:
    add("one thing")
    lost = add("another thing")
    told = run("restore", "--to", "1", "--yes").out
    run(*told.splitlines()[-1].partition("mnemic ")[2].split(), "--yes")
    assert lost in run("list").out


def test_what_lies_behind_the_horizon_is_absent(run: Run, add: Callable[..., str], home: Path) -> None:
    for text in ("one", "two", "three"):
        add(text)
    with Memory(home / "memory.db") as memory:
        memory.admin.compact(2)
    for past in (("list", "--at", "1"), ("restore", "--to", "1", "--yes"), ("watch", "--once", "--after", "1")):
        told = run(*past, code=3).err
        assert "horizon, which is commit 2" in told
    assert run("list", "--at", "1", "--json", code=3).err.count('"exit": 3') == 1
    assert "a past that is gone (behind the horizon" in " ".join(run("--help").out.split())


def test_an_earlier_knowledge_does_not_know_how_it_ends(run: Run, fact: Callable[..., str]) -> None:
    old = fact("Ada lives in Paris.", "--said", "2025-02-01T10:00:00Z")
    run("supersede", old, "Ada lives in Lisbon.", "--said", "2025-04-06T10:00:00Z")
    for command in (("recall", "Ada"), ("list",), ("show", old)):
        then = run(*command, "--as-of", "2025-03-01")
        assert "Paris" in then.out
        assert "superseded" not in then.out
        assert "until" not in then.out
        assert "Lisbon" not in then.out
    shown = run("show", old, "--as-of", "2025-03-01", "--json").json
    assert (shown["state"], shown["known_to"], shown["valid_to"], shown["seq_to"]) == ("active", None, None, None)
    (recalled,) = run("recall", "Ada", "--as-of", "2025-03-01", "--json").json["items"]
    assert recalled["item"]["state"] == "active"
    assert "superseded" in run("history", old).out


def test_a_fact_that_arrived_superseded_was_open_before_it_ended(run: Run, fact: Callable[..., str]) -> None:
    new = fact("Ada lives in Lisbon.", "--said", "2025-04-06T10:00:00Z")
    told = run("supersede", new, "Ada lives in Paris.", "--said", "2025-02-01T10:00:00Z")
    assert told.out.startswith("closed ")
    then = run("list", "--as-of", "2025-03-01", "--json").json
    assert (then["text"], then["state"], then["valid_to"]) == ("Ada lives in Paris.", "active", None)


@pytest.mark.parametrize("more", [(), ("--once",), ("--after", "0")])
def test_watching_a_branch_that_is_not_there_is_an_error(
    run: Run, add: Callable[..., str], more: tuple[str, ...]
) -> None:
    add("one thing")
    assert "no branch 'nosuch'" in run("watch", "--branch", "nosuch", *more, code=3).err


def test_a_branch_off_a_moment_before_anything_says_when_the_first_was(run: Run, add: Callable[..., str]) -> None:
    add("somebody else's", "--user", "bob")
    add("one thing")
    told = run("branch", "early", "--at", "1999-12-31", code=2).err
    assert "nothing was remembered here by then" in told
    assert "The first commit is 2, of" in told
    assert run("branches").out == ""
    assert "it is empty" in run("branch", "blank", "--at", "0").out
    assert run("branch", "bobs", "--at", "1", "--json").json["items"] == 0
    assert run("branch", "now", "--json").json["items"] == 1


def test_a_merge_asked_for_again_says_that_it_is_done(run: Run, add: Callable[..., str]) -> None:
    add("one thing")
    run("branch", "try")
    assert "nothing on branch try is new" in run("merge", "try").err
    item = add("tried out", "--branch", "try")
    done = run("merge", "try", "--json").json
    assert (done["ids"], done["repeated"]) == ([item], False)
    assert run("merge", "try", "--json").json == {**done, "repeated": True}
    assert f"commit {done['seq']} merged 1 item" in run("merge", "try").err
    assert run("merge", "try", "--dry-run").out == ""


def test_a_past_that_has_not_been_is_refused(run: Run, add: Callable[..., str]) -> None:
    add("one thing")
    for words in (("recall", "thing"), ("context", "thing"), ("list",)):
        assert "--at: commit 99 is not between 0 and 1" in run(*words, "--at", "99", code=2).err
        assert "--at: 2999-01-01 has not come yet. Now it is" in run(*words, "--at", "2999-01-01", code=2).err
        assert "one thing" in run(*words, "--valid-at", "2999-01-01").out
    for making in (("branch", "ahead", "--at"), ("restore", "--yes", "--to")):
        assert "2999-01-01 has not come yet" in run(*making, "2999-01-01", code=2).err
    assert run("branches").out == ""


def test_what_a_restore_replaces_is_kept_as_a_checkpoint_that_it_names(
    run: Run, add: Callable[..., str], home: Path
) -> None:
    add("one thing")
    run("checkpoint", "first")
    lost = add("another thing")
    for source in ("first", str(home / "checkpoints" / "memory-first.db")):
        told = run("restore", source, "--yes").out
        assert "checkpoints/memory-first.db as of commit 1" in told
        assert lost not in run("list").out
        assert "as it was before: mnemic restore " in told
        run(*told.splitlines()[-1].partition("mnemic ")[2].split(), "--yes", "--no-checkpoint")
        assert lost in run("list").out
    done = run("restore", "first", "--yes", "--json").json
    assert (done["seq"], done["erased_again"]) == (1, 0)
    assert done["checkpoint"].endswith(f"memory-{run('checkpoints', '--json').lines[-1]['name']}.db")
    assert len(run("checkpoints", "--json").lines) == 4
    for words in (("restore", "first"), ("restore", "--to", "0")):
        assert run(*words, "--yes", "--no-checkpoint", "--json").json["checkpoint"] is None
    assert len(run("checkpoints", "--json").lines) == 4


def test_a_checkpoint_is_brought_back_to_a_commit_of_its_own(run: Run, add: Callable[..., str]) -> None:
    for text in ("one", "two", "three"):
        add(text)
    run("checkpoint", "all")
    assert "as of commit 2" in run("restore", "all", "--to", "2", "--yes").out
    assert run("restore", "all", "--to", "1", "--yes", "--json").json["seq"] == 1
    assert run("list").out.count("\n") == 1


def test_a_restore_that_is_refused_leaves_no_checkpoint(run: Run, add: Callable[..., str]) -> None:
    add("one thing")
    run("backup", "copy.db")
    run("hold", "add", add("another thing"))
    assert "legal hold" in run("restore", "copy.db", "--yes", code=4).err
    assert run("checkpoints", "--json").lines == []


def test_what_cannot_be_read_is_replaced_without_a_checkpoint(run: Run, add: Callable[..., str], home: Path) -> None:
    kept = add("one thing")
    run("backup", "copy.db")
    file = home / "memory.db"
    whole = file.read_bytes()
    file.write_bytes(whole[:100] + b"damaged" * ((len(whole) - 100) // 7))
    for end in ("-wal", "-shm"):
        (home / f"memory.db{end}").unlink(missing_ok=True)
    told = run("restore", "copy.db", "--yes", "--no-tombstones")
    assert "no checkpoint" in told.err
    assert kept in run("list").out


def test_a_merge_that_would_be_refused_says_so_when_it_is_tried(run: Run) -> None:
    item = run("fact", "Home is Rome", "--json").json["ids"][0]
    run("branch", "try")
    run("revise", item, "Home is Oslo", "--branch", "try")
    run("revise", item, "Home is Bonn")
    told = [run("merge", "try", *how, code=4) for how in ((), ("--dry-run",))]
    assert "1 conflict" in told[0].err
    assert told[0].err == told[1].err
    assert run("merge", "try", "--dry-run", "--prefer", "branch").code == 0


def test_a_merge_that_is_only_tried_lists_what_it_would_take(run: Run, add: Callable[..., str]) -> None:
    add("the plumber is Zhou")
    run("branch", "try")
    run("add", "the plumber is Meyer", "--branch", "try")
    tried = run("merge", "try", "--dry-run").out
    assert "would take 1 item" in tried
    assert "the plumber is Meyer" in tried


def test_nobody_is_asked_about_a_branch_that_is_not_there(run: Run, add: Callable[..., str]) -> None:
    add("the plumber is Zhou")
    assert "nosuch" in run("drop-branch", "nosuch", code=3).err
