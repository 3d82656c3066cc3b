"""Access keys: kept as hashes, revoked everywhere within two seconds, refused without saying why."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from mnemic import Memory
from mnemic.admin import restore
from mnemic.core.clock import FOREVER, micros, moment
from mnemic.core.mask import mask
from mnemic.core.scope import SHARED
from mnemic.credentials import secrets_at_rest
from mnemic.credentials.keys import Keys
from mnemic.credentials.principal import Principal, Right
from mnemic.credentials.verifying import CACHE_SECONDS
from mnemic.errors import Conflict, Invalid, NotFound, Refused, StoreCorrupt, StoreReadOnly, Unauthenticated
from mnemic.settings import Settings
from mnemic.store.engine.rows import Rows
from mnemic.store.sqlite.sqlite_store import SqliteStore
from mnemic.testing.generators import ManualClock

Logged = Callable[[], list[dict[str, Any]]]
HOUR = 3_600_000_000


def refused(keys: Keys, text: str) -> str:
    with pytest.raises(Unauthenticated) as told:
        keys.verify(text)
    return str(told.value)


def test_a_key_proves_who_it_was_made_for(keys: Keys) -> None:
    made = keys.create("laptop", tenant="home", user="ada", right=Right.READ, expires=timedelta(days=90))
    assert re.fullmatch(r"mk_[0-9a-z]{12}_[A-Za-z0-9_-]{43}", made.text)
    assert made.key.expires is not None
    assert keys.verify(made.text) == Principal(
        name="laptop", tenant="home", user="ada", right=Right.READ, key=made.key.id, expires=micros(made.key.expires)
    )
    other = keys.create("server", tenant="home", right=Right.ADMIN, shared=True, expires=None)
    assert keys.verify(other.text) == Principal(
        name="server", tenant="home", user=None, right=Right.ADMIN, key=other.key.id, shared=True, expires=FOREVER
    )


def test_only_its_hash_is_in_any_file_and_its_text_in_no_list_and_no_log(
    keys: Keys, store: SqliteStore, tmp_path: Path, logged: Logged
) -> None:
    made = keys.create("laptop", tenant="home", user="ada")
    keys.verify(made.text)
    store.backup(tmp_path / "backup.db")
    secret = made.text.rpartition("_")[2] if "_" not in made.text[16:] else made.text[16:]
    written = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    assert hashlib.sha256(made.text.encode()).digest() in written
    assert secret.encode() not in written
    assert secret not in repr((made, keys.list("home"), logged()))
    assert [line["operation"] for line in logged()] == ["keys.create"]


def test_unknown_wrong_revoked_and_expired_are_one_answer_and_the_log_tells_them_apart(
    keys: Keys, clock: ManualClock, logged: Logged
) -> None:
    sound, ended, gone = (
        keys.create(name, tenant="home", expires=timedelta(hours=1) if name == "ended" else None)
        for name in ("sound", "ended", "gone")
    )
    keys.revoke(gone.key.id, tenant="home")
    clock.tick(HOUR)
    wrong = sound.text[:-1] + ("A" if sound.text[-1] != "A" else "B")
    unknown = sound.text.replace(sound.key.id, "0" * 12)
    answers = {refused(keys, text) for text in (unknown, wrong, gone.text, ended.text, "mk_", "", "\ud800", "x" * 99)}
    assert len(answers) == 1
    refusals = [(line["reason"], line["key"]) for line in logged() if line["decision"] == "refused"]
    told = [("unknown id", ""), ("wrong secret", sound.key.id), ("revoked", gone.key.id), ("expired", ended.key.id)]
    assert refusals == told + [("malformed", "")] * 4
    assert keys.verify(sound.text).name == "sound"


def test_whatever_is_wrong_takes_the_same_work(keys: Keys, store: SqliteStore, clock: ManualClock) -> None:
    sound, ended = (keys.create("a", tenant="t"), keys.create("b", tenant="t", expires=timedelta(hours=1)))
    gone = keys.create("c", tenant="t")
    keys.revoke(gone.key.id, tenant="t")
    clock.tick(HOUR)
    wrong = sound.text[:-1] + ("A" if sound.text[-1] != "A" else "B")
    work = []
    for text in (sound.text.replace(sound.key.id, "0" * 12), wrong, gone.text, ended.text, "not a key"):
        with (
            patch.object(secrets_at_rest, "compare_digest", wraps=secrets_at_rest.compare_digest) as compared,
            patch.object(hashlib, "sha256", wraps=hashlib.sha256) as hashed,
            patch.object(store, "read", wraps=store.read) as read,
        ):
            refused(keys, text)
        work.append((compared.call_count, hashed.call_count, read.call_count))
    assert set(work) == {(1, 2, 1)}


def test_a_verified_key_is_looked_up_again_within_two_seconds(keys: Keys, store: SqliteStore, seconds: Any) -> None:
    made = keys.create("laptop", tenant="home")
    keys.verify(made.text)
    Keys(store).revoke(made.key.id, tenant="home")  # in another process
    seconds.now += CACHE_SECONDS / 2
    keys.verify(made.text)
    seconds.now += CACHE_SECONDS / 2
    refused(keys, made.text)
    assert CACHE_SECONDS <= 2


def test_a_key_that_ends_while_it_is_cached_ends(keys: Keys, clock: ManualClock) -> None:
    made = keys.create("laptop", tenant="home", expires=timedelta(seconds=1))
    keys.verify(made.text)
    clock.tick(1_000_000)
    refused(keys, made.text)


ASKING = """
import sys, time
from contextlib import closing
from mnemic.credentials.keys import Keys
from mnemic.errors import Unauthenticated
from mnemic.store.sqlite.sqlite_store import SqliteStore
with closing(SqliteStore(sys.argv[1])) as store:
    keys = Keys(store)
    keys.verify(sys.argv[2])
    print("verified", flush=True)
    try:
        while True:
            keys.verify(sys.argv[2])
            time.sleep(0.02)
    except Unauthenticated:
        print("refused", flush=True)
"""


@pytest.mark.heavy
def test_a_revoked_key_is_refused_by_another_process(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path / "memory.db")) as store:
        keys = Keys(store)
        made = keys.create("laptop", tenant="home")
        arguments = [sys.executable, "-c", ASKING, str(tmp_path / "memory.db"), made.text]
        with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as other:
            assert other.stdout is not None
            assert other.stdout.readline() == "verified\n"
            keys.revoke(made.key.id, tenant="home")
            assert other.stdout.readline() == "refused\n"


def test_the_last_use_is_written_once_an_hour(keys: Keys, store: SqliteStore, clock: ManualClock) -> None:
    made = keys.create("laptop", tenant="home")
    (before,) = keys.list("home")
    assert before.last_used is None
    with patch.object(store, "transact", wraps=store.transact) as written:
        for _ in range(8):
            Keys(store, clock).verify(made.text)
            clock.tick(HOUR // 4)
    assert written.call_count == 2
    (after,) = keys.list("home")
    assert after.last_used is not None


def test_a_store_that_cannot_be_written_opens_for_a_key_all_the_same(keys: Keys, store: SqliteStore) -> None:
    made = keys.create("laptop", tenant="home", expires=None)
    with patch.object(store, "transact", side_effect=StoreReadOnly("no")) as tried:
        for _ in range(3):
            Keys(store).verify(made.text)
    assert tried.call_count == 3


def test_a_key_is_revoked_by_its_name_if_no_other_that_stands_has_it(keys: Keys) -> None:
    first, second = (keys.create(name, tenant="home") for name in ("laptop", "phone"))
    keys.store.transact(_called, second.key.id, "laptop")  # as stores of earlier versions may have them
    with pytest.raises(Invalid, match=f"{first.key.id}, {second.key.id}"):
        keys.revoke("laptop", tenant="home")
    keys.revoke(first.key.id, tenant="home")
    assert keys.revoke("laptop", tenant="home").id == second.key.id
    assert keys.revoke(first.key.id, tenant="home").revoked == keys.list("home")[0].revoked


def test_a_key_that_has_ended_is_revoked_by_its_name_once(keys: Keys, clock: ManualClock) -> None:
    older = keys.create("laptop", tenant="home", expires=timedelta(hours=1)).key
    clock.tick(HOUR)
    ended = keys.create("laptop", tenant="home", expires=timedelta(hours=1)).key
    clock.tick(HOUR)
    revoked = keys.revoke("laptop", tenant="home")
    assert (revoked.id, revoked.revoked) == (ended.id, moment(clock.now()))
    clock.tick()
    assert keys.revoke("laptop", tenant="home") == revoked
    assert keys.revoke(older.id, tenant="home").revoked == moment(clock.now())
    standing = keys.create("laptop", tenant="home").key
    assert keys.revoke("laptop", tenant="home").id == standing.id
    with pytest.raises(NotFound):
        keys.revoke("tablet", tenant="home")


def _called(rows: Rows, id: str, name: str) -> None:
    (row,) = rows.notes.credentials(("id", "=", id))
    rows.notes.set_credential(row._replace(name=name))


def test_a_name_is_of_one_key_that_stands(keys: Keys) -> None:
    first = keys.create("laptop", tenant="home", user="ada")
    with pytest.raises(Conflict, match=f"{first.key.id}.*'laptop'"):
        keys.create("laptop", tenant="home", user="grace")
    keys.create("laptop", tenant="office")
    keys.revoke("laptop", tenant="home")
    keys.create("laptop", tenant="home", user="grace")


def test_a_key_ends_in_ninety_days_where_nobody_says(keys: Keys) -> None:
    made = keys.create("laptop", tenant="home").key
    assert made.expires is not None
    assert made.expires - made.created == timedelta(days=90)
    assert keys.create("robot", tenant="home", expires=None).key.expires is None


def test_a_right_that_somebody_wrote_into_the_file_is_none(keys: Keys, store: SqliteStore) -> None:
    made = keys.create("laptop", tenant="home")

    def raised(rows: Rows) -> None:
        (row,) = rows.notes.credentials()
        rows.notes.set_credential(row._replace(right=4))

    store.transact(raised)
    with pytest.raises(StoreCorrupt, match="mnemic verify"):
        keys.verify(made.text)
    with pytest.raises(StoreCorrupt):
        keys.list("home")


def test_keys_are_the_tenants_own(keys: Keys) -> None:
    made = keys.create("laptop", tenant="home")
    assert keys.list("work") == ()
    with pytest.raises(NotFound):
        keys.revoke(made.key.id, tenant="work")
    assert keys.verify(made.text).tenant == "home"


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "a\nb"}, "name"),
        ({"tenant": ""}, "tenant"),
        ({"user": " "}, "user"),
        ({"user": "ada", "right": Right.ADMIN}, "right"),
        ({"expires": timedelta(0)}, "expires"),
        ({"expires": timedelta(days=10**8)}, "expires"),
        ({"name": "ghp_" + "a1B2" * 9}, "name"),
    ],
)
def test_a_key_that_cannot_be_meant_is_refused(keys: Keys, given: dict[str, Any], field: str) -> None:
    with pytest.raises(Invalid) as told:
        keys.create(**{"name": "laptop", "tenant": "home", **given})
    assert told.value.field == field
    assert keys.list("home") == ()


def test_whether_anybody_holds_a_key_is_told_of_all_tenants(keys: Keys, clock: ManualClock) -> None:
    assert not keys.any_valid()
    keys.create("laptop", tenant="has never written", expires=timedelta(hours=1))
    assert keys.any_valid()
    clock.tick(HOUR)
    assert not keys.any_valid()
    keys.create("phone", tenant="home")
    assert keys.any_valid()
    keys.revoke("phone", tenant="home")
    assert not keys.any_valid()


def test_a_key_that_ended_a_month_ago_is_taken_out_with_the_next_one_made(keys: Keys, clock: ManualClock) -> None:
    keys.create("old", tenant="home", expires=timedelta(hours=1))
    gone = keys.create("gone", tenant="home")
    keys.revoke(gone.key.id, tenant="home")
    keys.create("stays", tenant="home")
    clock.tick(29 * 24 * HOUR)
    assert len(keys.list("home")) == 3
    clock.tick(2 * 24 * HOUR)
    keys.create("new", tenant="home")
    assert [key.name for key in keys.list("home")] == ["stays", "new"]


def test_erasing_a_user_leaves_no_byte_of_their_keys_and_of_nobody_elses(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory.db", settings=Settings(background=False), embedder="none") as memory:
        for user in ("ada-canary", "bob"):
            memory.scope(user=user).observe("I keep bees.")
        hers = memory.keys.create("laptop-canary", tenant="default", user="ada-canary")
        his = memory.keys.create("phone", tenant="default", user="bob")
        away = memory.keys.create("away", tenant="elsewhere", user="ada-canary")
        memory.admin.checkpoint("before")
        memory.scope(user="ada-canary").erase_user()
        refused(memory.keys, hers.text)
        assert memory.keys.verify(his.text).user == "bob"
        assert memory.keys.verify(away.text).tenant == "elsewhere"
    written = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    assert b"laptop-canary" not in written


def test_erasing_a_tenant_ends_its_keys(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory.db", settings=Settings(background=False), embedder="none") as memory:
        memory.scope(user="ada", tenant="work").observe("I keep bees.")
        made = memory.keys.create("server", tenant="work", right=Right.ADMIN)
        memory.admin.erase_tenant("work")
        refused(memory.keys, made.text)


def test_dropping_a_branch_and_going_back_in_time_leave_a_users_keys(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory.db", settings=Settings(background=False), embedder="none") as memory:
        memory.scope(user="bob").observe("I keep geese.")
        made = memory.keys.create("laptop", tenant="default", user="ada")
        me = memory.scope(user="ada")
        me.observe("I keep bees.")
        me.branch("try")
        me.drop_branch("try")
        memory.admin.rewind(1)
        assert me.list() == ()
        assert memory.keys.verify(made.text).user == "ada"


def test_restoring_brings_no_revoked_key_back_and_keeps_those_made_since(tmp_path: Path) -> None:
    path, backup = tmp_path / "memory.db", tmp_path / "backup.db"
    with Memory(path, settings=Settings(background=False), embedder="none") as memory:
        memory.scope(user="ada").observe("I keep bees.")
        before, stays = (memory.keys.create(name, tenant="default") for name in ("before", "stays"))
        memory.admin.backup(backup)
        memory.keys.revoke(before.key.id, tenant="default")
        since = memory.keys.create("since", tenant="default")
    restore(backup, path)
    with Memory(path, settings=Settings(background=False), embedder="none") as memory:
        refused(memory.keys, before.text)
        assert {memory.keys.verify(key.text).name for key in (stays, since)} == {"stays", "since"}
        assert memory.admin.verify() == []


def test_an_export_holds_no_key(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory.db", settings=Settings(background=False), embedder="none") as memory:
        memory.scope(user="ada").observe("I keep bees.")
        made = memory.keys.create("laptop-canary", tenant="default", user="ada")
        exported = b"".join(memory.admin.export())
    assert b"laptop-canary" not in exported
    assert made.key.id.encode() not in exported


def test_a_key_that_somebody_says_is_masked(keys: Keys) -> None:
    made = keys.create("laptop", tenant="home")
    masked, found = mask(f"my setup: {made.text} works")
    assert made.text[16:] not in masked
    assert found


def test_each_right_includes_those_below_it_and_a_principal_opens_its_own_alone() -> None:
    def refuses(principal: Principal, *asked: Any) -> bool:
        try:
            principal.scope(*asked)
        except Refused:
            return True
        return False

    reader, writer, admin = (Principal(name="p", tenant="t", user="ada", right=right) for right in Right)
    assert [refuses(reader, None, right) for right in Right] == [False, True, True]
    assert [refuses(writer, None, right) for right in Right] == [False, False, True]
    assert [refuses(admin, None, right) for right in Right] == [False, False, False]
    assert refuses(writer, "bob")
    assert writer.scope("ada").user == "ada"
    assert not refuses(reader, SHARED)
    assert refuses(writer, SHARED, Right.WRITE)
    assert not refuses(admin, SHARED, Right.WRITE)
    anybody = Principal(name="p", tenant="t", user=None, right=Right.WRITE, shared=True)
    assert anybody.scope("bob").user == "bob"
    assert anybody.scope(SHARED, Right.WRITE).user is SHARED
    with pytest.raises(Invalid, match="Name whose memory"):
        anybody.scope()


@pytest.mark.parametrize(("name", "right"), [("read", Right.READ), ("write", Right.WRITE), ("admin", Right.ADMIN)])
def test_a_right_is_read_by_its_name(name: str, right: Right) -> None:
    assert Right.named(name) is right
    with pytest.raises(Invalid, match="Did you mean"):
        Right.named(name[:-1])
