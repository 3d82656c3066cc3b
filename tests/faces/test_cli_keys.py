"""`mnemic keys`: made and shown once, listed without secrets, revoked by id or name."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path

from commandline import Run

from mnemic import Memory


def test_a_key_is_printed_alone_and_once(run: Run, home: Path) -> None:
    made = run("keys", "create", "--name", "laptop", "--user", "ada", "--right", "read", "--expires", "90d")
    text = made.out.strip()
    assert text.startswith("mk_")
    assert "this once" in made.err
    with Memory(home / "memory.db", embedder="none") as memory:
        principal = memory.keys.verify(text)
    assert (principal.name, principal.tenant, principal.user) == ("laptop", "default", "ada")
    listed = run("keys", "list").out
    assert "laptop" in listed
    assert "ada" in listed
    assert text[16:] not in listed + run("keys", "list", "--json").out + run("log").out


def test_a_program_makes_lists_and_revokes_keys(run: Run) -> None:
    made = json.loads(
        run("keys", "create", "--name", "backend", "--any-user", "--shared", "--expires", "never", "--json").out
    )
    assert made["key"].startswith(f"mk_{made['id']}_")
    assert (made["user"], made["shared"], made["right"], made["expires"]) == (None, True, "write", None)
    (listed,) = json.loads(run("keys", "list", "--json").out)["keys"]
    assert listed == {name: value for name, value in made.items() if name != "key"} | {"last_used": None}
    revoked = json.loads(run("keys", "revoke", "backend", "--json").out)
    assert revoked["revoked"] is not None
    assert json.loads(run("keys", "revoke", "backend", "--json").out) == revoked
    assert run("keys", "revoke", "front", code=3).err


def test_a_key_ends_in_ninety_days_where_nobody_says(run: Run) -> None:
    made = json.loads(run("keys", "create", "--name", "laptop", "--json").out)
    life = datetime.fromisoformat(made["expires"]) - datetime.fromisoformat(made["created"])
    assert life == timedelta(days=90)
    assert "90d" in run("keys", "create", "--help").out
    assert "it ends on" in run("keys", "create", "--name", "phone").err
    assert "never ends" in run("keys", "create", "--name", "robot", "--expires", "never").err


def test_a_name_is_of_one_key_that_stands(run: Run) -> None:
    run("keys", "create", "--name", "laptop")
    refused = run("keys", "create", "--name", "laptop", "--user", "ada", code=4).err
    assert "'laptop'" in refused
    run("keys", "revoke", "laptop")
    run("keys", "create", "--name", "laptop")


def test_what_cannot_be_meant_is_refused_by_its_option(run: Run) -> None:
    create = ("keys", "create", "--name", "laptop")
    assert "--any-user" in run(*create, "--any-user", "--user", "ada", code=2).err
    assert "--expires" in run(*create, "--expires", "soon", code=2).err
    assert "--expires" in run(*create, "--expires", "2020-01-01T00:00Z", code=2).err
    assert "--right" in run(*create, "--right", "admin", "--user", "ada", code=2).err
    assert "--name" in run("keys", "create", code=2).err
    assert "there are no keys" in run("keys", "list").out
