"""One-time links and browser sessions: a link opens once, a cookie alone changes nothing."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from mnemic.credentials.browser_sessions import (
    LINK_SECONDS,
    SESSION_SECONDS,
    NewSession,
    Sessions,
    csrf_token,
    refuse_forged,
)
from mnemic.credentials.keys import Keys
from mnemic.credentials.principal import Principal, Right
from mnemic.credentials.verifying import CACHE_SECONDS
from mnemic.errors import Refused, Unauthenticated
from mnemic.store.sqlite.sqlite_store import SqliteStore
from mnemic.testing.generators import ManualClock

Logged = Callable[[], list[dict[str, Any]]]
SECOND = 1_000_000
AT_THE_TERMINAL = Principal(name="ada", tenant="home", user=None, right=Right.ADMIN)


@pytest.fixture
def sessions(keys: Keys) -> Sessions:
    return Sessions(keys)


def test_a_link_opens_a_session_of_its_principal_and_opens_once(sessions: Sessions, logged: Logged) -> None:
    link = sessions.link(AT_THE_TERMINAL)
    opened = sessions.exchange(link)
    principal = sessions.verify(opened.text)
    assert principal == opened.principal
    assert (principal.name, principal.tenant, principal.user, principal.right) == ("ada", "home", None, Right.ADMIN)
    for text in (link, link, opened.text, ""):
        with pytest.raises(Unauthenticated):
            sessions.exchange(text)
    with pytest.raises(Unauthenticated):
        sessions.verify(link)
    assert [line["operation"] for line in logged()[:2]] == ["sessions.link", "sessions.open"]


def test_of_many_who_come_with_a_link_one_gets_in(sessions: Sessions) -> None:
    link, opened, refused = sessions.link(AT_THE_TERMINAL), list[NewSession](), list[Unauthenticated]()
    start = threading.Barrier(8)

    def come() -> None:
        start.wait()
        try:
            opened.append(sessions.exchange(link))
        except Unauthenticated as error:
            refused.append(error)

    comers = [threading.Thread(target=come) for _ in range(8)]
    for comer in comers:
        comer.start()
    for comer in comers:
        comer.join()
    assert (len(opened), len(refused)) == (1, 7)
    assert sessions.verify(opened[0].text).name == "ada"


def test_a_link_holds_a_minute_and_a_session_twelve_hours(sessions: Sessions, clock: ManualClock) -> None:
    late, link = sessions.link(AT_THE_TERMINAL), sessions.link(AT_THE_TERMINAL)
    clock.tick((LINK_SECONDS - 1) * SECOND)
    opened = sessions.exchange(link)
    clock.tick(SECOND)
    with pytest.raises(Unauthenticated):
        sessions.exchange(late)
    clock.tick((SESSION_SECONDS - 2) * SECOND)
    assert sessions.verify(opened.text).name == "ada"
    clock.tick(SECOND)
    with pytest.raises(Unauthenticated):
        sessions.verify(opened.text)


def test_nothing_that_opens_is_in_any_file_or_log(
    sessions: Sessions, store: SqliteStore, tmp_path: Path, logged: Logged
) -> None:
    link = sessions.link(AT_THE_TERMINAL)
    unused = sessions.link(AT_THE_TERMINAL)
    opened = sessions.exchange(link)
    sessions.verify(opened.text)
    store.backup(tmp_path / "backup.db")
    written = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    for text in (link, unused, opened.text, opened.csrf):
        assert text[16:].encode() not in written
        assert text[16:] not in repr((logged(), opened))


def test_a_session_ends_with_its_key_and_when_it_is_ended(
    sessions: Sessions, keys: Keys, store: SqliteStore, clock: ManualClock, seconds: Any
) -> None:
    key = keys.create("phone", tenant="home", user="bob", right=Right.READ)
    made = keys.verify(key.text)
    opened, other = (sessions.exchange(sessions.link(made)) for _ in range(2))
    waiting = sessions.link(made)
    assert sessions.verify(opened.text).user == "bob"
    elsewhere = Sessions(Keys(store, clock, seconds=seconds))
    assert elsewhere.verify(other.text).right is Right.READ
    sessions.end(opened.text)
    with pytest.raises(Unauthenticated):
        sessions.verify(opened.text)
    keys.revoke(key.key.id, tenant="home")
    seconds.now += CACHE_SECONDS
    with pytest.raises(Unauthenticated):
        elsewhere.verify(other.text)
    with pytest.raises(Unauthenticated):
        elsewhere.exchange(waiting)
    with pytest.raises(Refused, match="only a key"):
        sessions.link(made)


def test_a_session_lasts_no_longer_than_its_key(sessions: Sessions, keys: Keys, clock: ManualClock) -> None:
    key = keys.create("phone", tenant="home", expires=timedelta(hours=1))
    opened = sessions.exchange(sessions.link(keys.verify(key.text)))
    assert opened.expires == key.key.expires


def test_neither_a_session_nor_a_providers_token_makes_links(sessions: Sessions) -> None:
    opened = sessions.exchange(sessions.link(AT_THE_TERMINAL))
    token = Principal(name="ada", tenant="home", user="ada", right=Right.WRITE, expires=1 << 60)
    for principal in (sessions.verify(opened.text), token):
        with pytest.raises(Refused, match="only a key"):
            sessions.link(principal)


def test_what_is_over_is_taken_out_with_the_next_link(
    sessions: Sessions, store: SqliteStore, clock: ManualClock
) -> None:
    sessions.exchange(sessions.link(AT_THE_TERMINAL))
    sessions.link(AT_THE_TERMINAL)
    clock.tick(SESSION_SECONDS * SECOND)
    sessions.link(AT_THE_TERMINAL)
    assert len(store.transact(lambda rows: rows.notes.credentials())) == 1


def test_the_cookie_is_read_by_no_script_and_sent_by_no_other_site(sessions: Sessions) -> None:
    opened = sessions.exchange(sessions.link(AT_THE_TERMINAL))
    plain = opened.set_cookie(secure=False).split("; ")
    assert plain[0] == f"mnemic_session={opened.text}"
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(plain)
    assert not any(part.startswith("Domain") or part == "Secure" for part in plain)
    assert opened.set_cookie(secure=True).endswith("; Secure")


@pytest.mark.parametrize("method", ["POST", "put", "PATCH", "DELETE", "", "QUERY"])
def test_whatever_is_not_a_get_needs_the_token_of_its_own_session(sessions: Sessions, method: str) -> None:
    one, other = (sessions.exchange(sessions.link(AT_THE_TERMINAL)) for _ in range(2))
    assert one.csrf == csrf_token(one.text)
    refuse_forged(method, one.text, one.csrf)
    for presented in ("", other.csrf, one.text, one.csrf[:-1], "é", "\ud800"):
        with pytest.raises(Refused, match="X-CSRF-Token"):
            refuse_forged(method, one.text, presented)
    for safe in ("GET", "HEAD", "get"):
        refuse_forged(safe, one.text, "")
