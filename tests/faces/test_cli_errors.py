"""Every failure is one line on standard error and a documented exit code."""

from __future__ import annotations

import json

import pytest
from commandline import Run

from mnemic.faces import cli as front

WRONG = [
    (("frobnicate",), 2),
    (("add",), 2),
    (("add", "x", "--nope"), 2),
    (("recall", "x", "-k", "many"), 2),
    (("list", "--kind", "rumour"), 2),
    (("add", "x", "--user", ""), 2),
    (("add", "x", "--user", "a\nb"), 2),
    (("add", "x", "--session", "s" * 300), 2),
    (("recall", "x"), 3),
]


@pytest.mark.parametrize(("args", "code"), WRONG)
def test_it_is_one_line(run: Run, args: tuple[str, ...], code: int) -> None:
    err = run(*args, code=code).err
    if code:
        assert err.startswith("error: ")
        assert err.count("\n") == 1
        assert "Traceback" not in err


@pytest.mark.parametrize(("args", "code"), [(args, code) for args, code in WRONG if code])
def test_with_json_it_is_a_json_object(run: Run, args: tuple[str, ...], code: int) -> None:
    error = json.loads(run("--json", *args, code=code).err)["error"]
    assert error["exit"] == code
    assert error["message"]
    assert set(error) == {"type", "message", "field", "remedy", "exit"}


def test_an_unknown_setting_is_named_with_the_nearest_known_one(run: Run) -> None:
    assert "MNEMIC_BUDGET" in run("list", code=2, MNEMIC_BUDGTE="5").err


def test_a_past_that_cannot_be_read_is_refused(run: Run) -> None:
    run("add", "one thing")
    for option in ("--as-of", "--valid-at", "--at"):
        run("recall", "thing", option, "whenever it suits", code=2)


def test_every_exit_code_is_in_the_help(run: Run) -> None:
    told = run("--help").out
    codes = {front.OK, front.FAILED, front.USAGE, front.ABSENT, front.CONFLICT, front.STORE, 6, 7, 8, 130, 141}
    section = told.partition("Exit codes:")[2]
    assert {
        int(line.split()[0]) for line in section.splitlines() if line[:3].strip() and line.split()[0].isdigit()
    } == codes
