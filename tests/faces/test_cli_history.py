"""What was done: `log`, `diff`, `undo`, `forget`."""

from __future__ import annotations

from collections.abc import Callable

from commandline import Run, count_in_a_commit


def test_the_log_shows_every_commit_newest_first(run: Run, add: Callable[..., str]) -> None:
    first, second = add("one thing"), add("another thing")
    told = run("log").out
    assert told.index("commit 2") < told.index("commit 1")
    assert "wrote" in told
    assert "one thing" in told
    records = run("log", "--json").lines
    assert [(change["seq"], change["events"][0]["item"]) for change in records] == [(2, second), (1, first)]
    assert [change["seq"] for change in run("log", "--oldest-first", "--after", "1", "--json").lines] == [2]
    assert len(run("log", "-n", "1", "--json").lines) == 1


def test_the_log_counts_what_it_does_not_name(run: Run) -> None:
    many = "".join(f'{{"text": "message {n}", "time": "2025-01-01T00:00:0{n}Z"}}\n' for n in range(9))
    run("import", "-", "--format", "jsonl", stdin=many)
    assert "and 6 more items" in run("log").out


def test_the_log_says_that_erased_words_are_gone(run: Run, add: Callable[..., str]) -> None:
    item = add("a thing to erase")
    run("erase", item, "--yes", "--reason", "asked for")
    told = run("log").out
    assert "a thing to erase" not in told
    assert "words are gone" in told
    assert "erased  1 item\n    noted  asked for" in told


def test_the_log_says_gone_only_of_what_was_erased(run: Run, fact: Callable[..., str]) -> None:
    new = fact("Ada lives in Lisbon.", "--said", "2025-04-06T10:00:00Z")
    run("supersede", new, "Ada lives in Paris.", "--said", "2025-02-01T10:00:00Z")
    run("undo", "last")
    run("undo", "last")
    told = run("log").out
    assert "gone" not in told
    assert "Lisbon" in told.partition("commit 1 ")[2]
    run("erase", new, "--yes")
    assert "gone" in run("log").out


def test_the_log_leaves_out_counters_of_use_unless_asked(run: Run, add: Callable[..., str]) -> None:
    count_in_a_commit(add("The train to Paris was late."))
    assert "used" not in run("log").out
    assert [change["seq"] for change in run("log", "-n", "1", "--json").lines] == [1]
    assert "used" in run("log", "--all").out


def test_a_forgotten_item_comes_back_with_the_undo_that_is_printed(run: Run, add: Callable[..., str]) -> None:
    item = add("I live in Paris.")
    told = run("forget", item).out
    assert run("list").out == ""
    command = told.splitlines()[-1].partition("mnemic ")[2].split()
    assert command[0] == "undo"
    run(*command)
    assert item in run("list").out


def test_undo_last_skips_counters_of_use(run: Run, add: Callable[..., str]) -> None:
    add("I live in Paris.")
    run("recall", "Paris")
    run("undo", "last")
    assert run("list").out == ""


def test_undo_last_after_an_erasure_is_refused_and_names_the_commit_before_it(
    run: Run, add: Callable[..., str]
) -> None:
    add("I live in Paris.")
    run("erase", add("a thing to erase"), "--yes")
    before = run("log", "--json").out
    told = run("undo", "last", code=4)
    assert "cannot be undone" in told.err
    assert "`mnemic undo 1`" in told.err
    assert run("log", "--json").out == before
    assert "commit 1 is undone" in run("undo", "1").out
    run("erase", "--everything", "--yes")
    run("undo", "last", code=3)


def test_what_is_done_after_an_erasure_is_undone_by_last(run: Run, add: Callable[..., str]) -> None:
    run("erase", add("a thing to erase"), "--yes")
    add("I live in Paris.")
    run("undo", "last")
    assert run("list").out == ""
    run("undo", "last", code=4)


def test_undo_last_goes_further_back_each_time_and_redo_is_undone_first(run: Run, fact: Callable[..., str]) -> None:
    item = fact("Ada lives in Pariss.")
    run("revise", item, "Ada lives in Paris.")
    fact("Ada has a cat.")
    undone = [run("undo", "last").out.splitlines()[-1] for _ in range(3)]
    assert [line.split()[1] for line in undone] == ["3", "2", "1"]
    assert run("list").out == ""
    run("undo", "last", code=3)
    run("undo", "6")
    assert run("list", "--json").json["text"] == "Ada lives in Pariss."
    run("undo", "last")
    assert run("list").out == ""
    run("undo", "last", code=3)


def test_undoing_what_has_changed_since_is_a_conflict_unless_cascading(run: Run, fact: Callable[..., str]) -> None:
    item = fact("Ada lives in Pariss.")
    run("revise", item, "Ada lives in Paris.")
    run("undo", "1", code=4)
    run("undo", "1", "--cascade")
    run("undo", "99", code=3)
    run("undo", "soon", code=2)


def test_diff_shows_both_sides(run: Run, fact: Callable[..., str]) -> None:
    item = fact("Ada lives in Pariss.")
    run("revise", item, "Ada lives in Paris.")
    told = run("diff", "1").out
    assert "- fact: Ada lives in Pariss." in told
    assert "+ fact: Ada lives in Paris." in told
    (one,) = run("diff", "1", "2", "--json").json["items"]
    assert (one["before"]["text"], one["after"]["text"]) == ("Ada lives in Pariss.", "Ada lives in Paris.")
    assert run("diff", "2", "2", "--json").json["items"] == []
    run("diff", "1", "99", code=2)


def test_a_revert_says_how_much_it_changed_and_its_hint_takes_it_back(run: Run, add: Callable[..., str]) -> None:
    add("one thing")
    add("another thing")
    told = run("revert", "1").out
    assert "as of commit 1: 1 item changed, commit 3" in told
    run(*told.splitlines()[-1].partition("mnemic ")[2].split())
    assert "another thing" in run("list").out


def test_a_revert_that_changes_nothing_gives_no_hint(run: Run, add: Callable[..., str]) -> None:
    add("one thing")
    told = run("revert", "1")
    assert "already as of commit 1" in told.out + told.err
    assert "undo" not in told.out + told.err
    assert run("revert", "1", "--json").json["repeated"] == 1
    assert "one thing" in run("list").out


def test_a_dropped_branch_is_logged_as_one(run: Run, add: Callable[..., str]) -> None:
    add("the gate code is 4711")
    run("branch", "try")
    add("on the branch", "--branch", "try")
    run("drop-branch", "try", "--yes")
    told = run("log").out.splitlines()[1]
    assert told.split() == ["erased", "a", "branch,", "with", "what", "was", "written", "to", "it", "alone"]
    (event,) = run("log", "-n", "1", "--json").lines[0]["events"]
    assert (event["verb"], event["what"]) == ("erased", "branch")
    (event,) = run("log", "--json").lines[1]["events"]
    assert (event["verb"], event["what"]) == ("wrote", None)
    assert "erased a branch" in run("watch", "--once").out


def test_what_is_pinned_or_not_already_is_said_so(run: Run, add: Callable[..., str]) -> None:
    item = add("the gate code is 4711")
    assert run("unpin", item).out == f"was not pinned, nothing changed {item}\n"
    assert f"pinned {item}\ncommit" in run("pin", item).out
    assert run("pin", item).out == f"was pinned already, nothing changed {item}\n"
    assert f"unpinned {item}\ncommit" in run("unpin", item).out


def test_the_log_says_why_its_numbers_jump(run: Run, add: Callable[..., str]) -> None:
    count_in_a_commit(add("The train to Paris was late."))
    assert "in between" not in run("log").err
    add("The train to Rome was not.")
    assert "in between only count what was shown" in run("log").err
    assert "in between" not in run("log", "--all").err
    assert run("log", "--json").err == ""


def test_undoing_a_second_time_names_the_undo_there_was(run: Run, add: Callable[..., str]) -> None:
    add("I live in Paris.")
    run("undo", "1")
    told = run("undo", "1", code=4).err
    assert "commit 1 is undone already, by commit 2; undo that one to redo it" in told
    run("undo", "2")
    assert "I live in Paris." in run("list").out


def test_forgetting_a_second_time_says_that_nothing_was_changed(run: Run, add: Callable[..., str]) -> None:
    item = add("I live in Paris.")
    run("forget", item)
    told = run("forget", item).out
    assert told == f"was hidden already, nothing changed {item}\n"


def test_a_branch_that_is_there_is_not_told_as_made(run: Run, add: Callable[..., str]) -> None:
    add("I live in Paris.")
    assert "already" not in run("branch", "try").out
    assert "branch try was there already, and comes off commit 1: shows 1 item" in run("branch", "try").out
