"""The demo does the main job, and its proofs hold."""

from __future__ import annotations

from pathlib import Path

from commandline import Run


def test_every_act_of_the_demo_proves_what_it_says(run: Run, home: Path) -> None:
    played = run("demo", "--json").json
    assert played["remembered"] == 135
    assert all(question["right"] for question in played["questions"])
    assert len(played["questions"]) == 5
    assert [version["text"] for version in played["history"]][-1] == "Ada lives in Lisbon."
    assert (played["as_of"]["as_of"], played["as_of"]["now"]) == ("Ada lives in Paris.", "Ada lives in Lisbon.")
    assert played["undo"]["hidden"] == played["undo"]["before"] - 1
    assert played["undo"]["after"] == played["undo"]["before"]
    assert sum(played["erasure"]["found_before"].values()) > 0
    assert sum(played["erasure"]["found_after"].values()) == 0
    assert played["erasure"]["status"] == "clean"
    assert played["sound"] is True
    assert not home.exists()


def test_for_a_person_it_tells_times_reasons_and_what_to_type_next(run: Run) -> None:
    told = run("demo").out
    for part in ("ms", "why: holds", "found before", "found after:  0", "罗莎", "Your turn", "mnemic add"):
        assert part in told
    assert "\x1b" not in told


def test_it_can_be_kept_and_asked_more(run: Run) -> None:
    assert "--store demo.db" in run("demo", "--keep", "demo.db").out
    assert "蓝色" in run("--store", "demo.db", "--user", "ada", "recall", "跑鞋是什么颜色的？").out
    run("demo", "--keep", "demo.db", code=4)
    assert Path("demo.db").exists()
