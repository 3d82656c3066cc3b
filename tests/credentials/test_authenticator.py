"""The authenticator: one credential of a request decides, and what is refused is logged without a word of content."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import pytest

from mnemic.core.scope import SHARED
from mnemic.credentials.authenticator import Authenticator
from mnemic.credentials.browser_sessions import NewSession
from mnemic.credentials.keys import Keys
from mnemic.credentials.principal import Principal, Right
from mnemic.credentials.quotas import Quotas
from mnemic.errors import Invalid, MnemicError, OverQuota, Refused, Unauthenticated

Logged = Callable[[], list[dict[str, Any]]]


@pytest.fixture
def authenticator(keys: Keys, seconds: Any) -> Authenticator:
    return Authenticator(keys, quotas=Quotas(requests_a_minute=5, seconds=seconds))


@pytest.fixture
def key(keys: Keys) -> str:
    return keys.create("laptop", tenant="home", user="ada").text


@pytest.fixture
def session(authenticator: Authenticator) -> NewSession:
    local = Principal(name="owner", tenant="home", user=None, right=Right.ADMIN)
    return authenticator.sessions.exchange(authenticator.sessions.link(local))


@pytest.mark.parametrize(
    "form",
    ["Authorization: Bearer {}", "authorization: bearer {}", "Authorization: Token {}", "AUTHORIZATION:  Token   {} ",
     "X-API-Key: {}", "x-api-key:  {} "],
)  # fmt: skip
def test_a_key_comes_in_each_header_that_clients_send(authenticator: Authenticator, key: str, form: str) -> None:
    name, _, value = form.format(key).partition(":")
    assert authenticator.authenticate({"Host": "localhost", name: value}).name == "laptop"


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": ""},
        {"Authorization": "{key}"},
        {"Authorization": "Basic {key}"},
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer {key} {key}"},
        {"Authorization": "Bearer x", "X-API-Key": "{key}"},
        {"Authorization": "Bearer {cookie}"},
        {"X-API-Key": ""},
        {"Cookie": "mnemic_session={key}"},
        {"Cookie": "other={cookie}"},
        {"Cookie": "mnemic_session={cookie}; mnemic_session=x"},
        {"X-API-Key": "x", "Cookie": "mnemic_session={cookie}"},
    ],
)
def test_what_is_no_credential_or_in_the_wrong_place_proves_nobody(
    authenticator: Authenticator, key: str, session: NewSession, headers: dict[str, str]
) -> None:
    sent = {name: value.format(key=key, cookie=session.text) for name, value in headers.items()}
    with pytest.raises(Unauthenticated):
        authenticator.authenticate(sent, "GET")


def test_a_cookie_reads_and_changes_something_only_with_the_pages_token(
    authenticator: Authenticator, session: NewSession, logged: Logged
) -> None:
    headers = {"cookie": f"theme=dark; mnemic_session={session.text}; other=1"}
    assert authenticator.authenticate(headers, "GET").name == "owner"
    for method in ((), ("POST",), ("DELETE",)):  # a server that forgets to say the method is on the safe side
        with pytest.raises(Refused, match="X-CSRF-Token"):
            authenticator.authenticate(headers, *method)
    assert authenticator.authenticate({**headers, "X-CSRF-Token": session.csrf}, "POST").right is Right.ADMIN
    assert [line["reason"] for line in logged() if line["decision"] == "refused"] == ["forged or without token"] * 3


def test_every_refusal_is_one_line_with_who_and_what_and_why(
    authenticator: Authenticator, keys: Keys, logged: Logged
) -> None:
    made = keys.create('lap "top" ' + "\u2028", tenant="home", user="ada", right=Right.READ)
    principal = authenticator.authenticate({"X-API-Key": made.text})
    tried: list[tuple[Right, Any, type[MnemicError]]] = [
        (Right.WRITE, None, Refused),
        (Right.READ, "bob", Refused),
        (Right.ADMIN, SHARED, Refused),
        (Right.READ, "", Invalid),
    ]
    for right, user, error in tried:
        with pytest.raises(error):
            authenticator.authorize(principal, right, user, operation="forget")
    for _ in range(5):
        assert authenticator.authorize(principal, Right.READ, operation="recall").user == "ada"
    with pytest.raises(OverQuota):
        authenticator.authorize(principal, Right.READ, operation="recall")
    lines = logged()[1:]
    assert {(line["key"], line["name"], line["decision"]) for line in lines} == {
        (made.key.id, made.key.name, "refused")
    }
    assert [(line["operation"], line["reason"]) for line in lines] == [
        *[("forget", "not allowed")] * 3, ("forget", "no user named"), ("recall", "over quota")
    ]  # fmt: skip
    assert all(set(line) == {"at", "key", "name", "operation", "decision", "reason"} for line in lines)


def test_nothing_that_came_unproved_is_logged(
    authenticator: Authenticator, key: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    canaries = ("canary", "mk_canarycanary_" + "c" * 43, "a.canary.b", "mk_000000000000_" + "canary" * 7 + "c")
    for text in canaries:
        with pytest.raises(Unauthenticated) as told:
            authenticator.authenticate({"Authorization": f"Bearer {text}", "User-Agent": "canary"})
        assert "canary" not in str(told.value)
    assert len(caplog.records) == len(canaries)
    assert "canary" not in caplog.text
    assert "000000000000" not in caplog.text
