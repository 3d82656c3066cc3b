"""The dashboard's routes and files: policy, hashes, keeping, signing in; and what our modules may not hold."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from mnemic import Memory, Settings
from mnemic.core.clock import FOREVER
from mnemic.credentials.authenticator import Authenticator
from mnemic.credentials.browser_sessions import COOKIE, CSRF_HEADER
from mnemic.credentials.principal import Principal, Right
from mnemic.faces.dashboard.dashboard_routes import POLICY, dashboard_routes, static_files
from mnemic.faces.server.sign_in_links import asks_for_credentials, sign_in_link
from mnemic.testing.loopback import QuietRequestHandler, listening

ROOT = Path(__file__).resolve().parent.parent.parent
STATIC = Path(str(files("mnemic.faces.dashboard") / "static"))
OURS = sorted(path for path in STATIC.rglob("*") if path.is_file() and "vendor" not in path.parts)
WORDS = (STATIC / "words.js").read_text()
REMEDIES = (STATIC / "server_words.js").read_text().partition("REMEDIES = [")[2].partition("\n];")[0]
_PAIR = re.compile(r'(?:^|[{,\s])"?([\w.]+)"?: \["((?:[^"\\]|\\.)*)", "((?:[^"\\]|\\.)*)"\]')
_FORBIDDEN = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|dangerouslySetInnerHTML|srcdoc"
    r"|setAttribute\(\"style|javascript:|\bWorker\("
)
_ADDRESS = re.compile(r"""(?:https?:)?//[a-z0-9.-]+\.[a-z]{2,}|\bwss?://""", re.IGNORECASE)

Serving = Callable[..., TestClient]


@pytest.fixture
def page(serving: Serving) -> TestClient:
    return serving(more=dashboard_routes())


def own(client: TestClient, address: str, **how: Any) -> Any:
    return client.get(address, follow_redirects=False, **how)


def test_the_page_is_sent_with_a_policy_that_lets_nothing_else_run(page: TestClient) -> None:
    answer = page.get("/")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["content-security-policy"] == POLICY
    directives = dict(part.strip().partition(" ")[::2] for part in POLICY.split(";"))
    assert directives["default-src"] == "'none'"
    assert directives["script-src"] == directives["connect-src"] == directives["style-src"] == "'self'"
    assert directives["require-trusted-types-for"] == "'script'"
    assert not re.search(r"unsafe|\*|https?:|data:", POLICY)
    assert answer.headers["x-frame-options"] == "DENY"
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_every_file_that_the_page_names_is_there_and_may_be_kept_for_good(page: TestClient) -> None:
    named = re.findall(r'(?:src|href)="([^"]+)"', page.get("/").text)
    assert len(named) > 5
    for address in named:
        answer = page.get(address)
        assert answer.status_code == 200, address
        assert "immutable" in answer.headers["cache-control"]
        assert answer.headers["content-security-policy"] == POLICY


def test_a_page_that_is_known_is_not_sent_again(page: TestClient) -> None:
    answer = page.get("/")
    assert answer.headers["cache-control"] == "no-cache"
    again = page.get("/", headers={"If-None-Match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_files_are_compressed_for_who_takes_it(page: TestClient) -> None:
    digest, known = static_files()
    address = f"/static/{digest}/vendor/htm-preact.js"
    plain = page.get(address, headers={"Accept-Encoding": "identity"})
    assert plain.content == known["vendor/htm-preact.js"].content
    packed = page.get(address, headers={"Accept-Encoding": "gzip"})
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.content == plain.content
    assert len(gzip.compress(plain.content, 9)) < 6_000


@pytest.mark.parametrize("path", ["index.html", "../__init__.py", "..%2f__init__.py", "nothing.js", "", "vendor"])
def test_nothing_else_is_served(page: TestClient, path: str) -> None:
    digest, _ = static_files()
    assert page.get(f"/static/{digest}/{path}").status_code == 404
    assert page.get(f"/static/0000000000000000/{path or 'app.js'}").status_code == 404


def test_the_server_says_who_looks(page: TestClient) -> None:
    told = page.get("/session").json()
    assert (told["user"], told["right"], told["signed_in"], told["csrf"]) == ("me", "admin", False, "")


@pytest.fixture
def guarded(serving: Serving, memory: Memory) -> tuple[TestClient, Authenticator]:
    authenticator = Authenticator(memory.keys)
    return serving(authenticator, more=dashboard_routes()), authenticator


def _link(authenticator: Authenticator, right: Right = Right.WRITE) -> str:
    who = Principal(name="terminal", tenant="default", user="me", right=right, expires=FOREVER)
    return authenticator.sessions.link(who)


def test_a_link_opens_once_and_what_changes_something_needs_the_token(
    guarded: tuple[TestClient, Authenticator],
) -> None:
    client, authenticator = guarded
    assert client.get("/").status_code == 200, "the page itself holds nobody's memory"
    assert client.get("/session").status_code == 401
    link = _link(authenticator)
    opened = own(client, f"/login?token={link}")
    assert (opened.status_code, opened.headers["location"]) == (303, "/")
    cookie = opened.headers["set-cookie"]
    assert COOKIE in cookie
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    told = client.get("/session").json()
    assert told["signed_in"]
    assert len(told["csrf"]) == 64
    assert client.post("/v1/count", json={}).status_code == 403
    assert client.post("/v1/count", json={}, headers={CSRF_HEADER: told["csrf"]}).json() == {"count": 0}
    assert own(client, f"/login?token={link}").headers["location"] == "/#/signin?over=1"


@pytest.mark.parametrize(("told", "secure"), [("https", True), ("http", False), ("https, http", True), ("ws", False)])
def test_behind_a_proxy_that_speaks_tls_the_cookie_stays_on_tls(
    guarded: tuple[TestClient, Authenticator], told: str, secure: bool
) -> None:
    client, authenticator = guarded
    opened = own(client, f"/login?token={_link(authenticator)}", headers={"X-Forwarded-Proto": told})
    assert opened.headers["set-cookie"].endswith("; Secure") == secure


def test_leaving_needs_the_token_and_ends_the_session(guarded: tuple[TestClient, Authenticator]) -> None:
    client, authenticator = guarded
    own(client, f"/login?token={_link(authenticator)}")
    cookie = client.cookies[COOKIE]
    assert client.post("/logout").status_code == 403
    csrf = client.get("/session").json()["csrf"]
    assert client.post("/logout", headers={CSRF_HEADER: csrf}).status_code == 204
    client.cookies.clear()
    assert client.get("/session", headers={"Cookie": f"{COOKIE}={cookie}"}).status_code == 401


def test_a_page_of_another_port_of_this_machine_may_change_nothing(page: TestClient) -> None:
    page.post("/v1/observe", json={"messages": "Keep me."})
    for origin in (
        "http://localhost:3000",
        "http://127.0.0.1",
        "https://evil.example",
        "null",
        "http://localhost.evil",
    ):
        answer = page.post("/v1/erase_user", headers={"Origin": origin})
        assert answer.status_code == 403, origin
    assert page.post("/v1/count", json={}, headers={"Origin": "http://localhost"}).json() == {"count": 1}


def test_no_module_of_ours_makes_markup_of_text_or_asks_elsewhere() -> None:
    assert len(OURS) > 12
    for path in OURS:
        text = path.read_text(encoding="utf-8")
        assert not _FORBIDDEN.findall(text), path.name
        assert set(_ADDRESS.findall(text)) <= {"//www.w3.org", "http://www.w3.org"}, path.name


def test_every_word_that_is_looked_up_is_in_the_table_in_both_languages() -> None:
    table = {key: (english, chinese) for key, english, chinese in _PAIR.findall(WORDS)}
    used = set()
    for path in OURS:
        used |= set(re.findall(r'\bt\(\s*"([\w.]+)"', path.read_text(encoding="utf-8")))
    assert used - table.keys() == set()
    for key, (english, chinese) in table.items():
        assert english, key
        assert chinese, key
        assert set(re.findall(r"\{(\w+)", english)) == set(re.findall(r"\{(\w+)", chinese)), key
    assert sum(bool(re.search(r"[一-鿿]", chinese)) for _, chinese in table.values()) > 0.95 * len(table)


def test_words_that_are_put_together_are_in_the_table() -> None:
    from mnemic.core.events import Verb
    from mnemic.core.items import Channel, Kind, State

    keys = {key for key, _, _ in _PAIR.findall(WORDS)}
    wanted = {f"kind.{one.value}" for one in Kind} | {f"state.{one.name.lower()}" for one in State}
    wanted |= {f"channel.{one.value}" for one in Channel} | {f"verb.{one.name.lower()}" for one in Verb}
    wanted |= {f"right.{one.name.lower()}" for one in Right} | {"erased.clean", "erased.pending"}
    wanted |= {f"work.{one}" for one in ("waiting", "running", "failing", "dead", "done", "cancelled")}
    assert wanted <= keys
    modules = "".join(path.read_text(encoding="utf-8") for path in OURS if path.name != "words.js")
    together = ("kind.", "state.", "channel.", "verb.", "right.", "work.", "stage.", "arm.", "erased.", "how.", "add.")
    together += (
        "slot.",
        "then.known",
        "then.changed",
        "then.commit",
        "branches.prefer.",
        "holds.item",
        "holds.session",
    )
    unused = {key for key in keys if f'"{key}"' not in modules and not key.startswith(together)}
    assert unused == set()


def test_the_libraries_are_what_was_pinned() -> None:
    script = ROOT / "scripts" / "vendor"
    subprocess.run([sys.executable, str(script), "--check"], check=True, capture_output=True)
    licences = {path.stem for path in (STATIC / "vendor").glob("LICENSE.*.txt")}
    assert {"LICENSE.htm", "LICENSE.preact", "LICENSE.uplot", "LICENSE.sigma", "LICENSE.graphology"} <= licences


def test_what_the_first_paint_needs_is_small() -> None:
    _, known = static_files()
    first = ("index.html", "style.css", "app.js", "api.js", "words.js", "parts.js", "route.js", "live.js")
    first += ("vendor/htm-preact.js", "screens/search.js", "screens/browse.js", "screens/item.js")
    assert sum(len(known[path].compressed) for path in first) < 50_000
    assert json.dumps(sorted(known)).count("sigma") >= 1


def test_who_is_at_the_terminal_signs_in_by_a_link(tmp_path: Path) -> None:
    store, settings = str(tmp_path / "memory.db"), Settings(embedder="none", background=False)
    link = sign_in_link(store, settings, "http://127.0.0.1:7077", tenant="default")
    address, _, token = link.partition("?token=")
    assert address == "http://127.0.0.1:7077/login"
    with Memory(store, settings=settings) as memory:
        opened = Authenticator(memory.keys).sessions.exchange(token)
        assert (opened.principal.right, opened.principal.user) == (Right.ADMIN, None)


@pytest.mark.parametrize(
    ("status", "body", "asks"), [(401, {}, True), (200, {"csrf": ""}, False), (200, {}, None), (404, {}, None)]
)
def test_what_answers_at_a_port_is_known(status: int, body: dict[str, str], asks: bool | None) -> None:
    class Answering(QuietRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.end_headers()
            self.wfile.write(json.dumps(body).encode())

    with listening(Answering) as address:
        assert asks_for_credentials(address) is asks
    assert asks_for_credentials(address) is None, "nothing answers there any more"


_REMEDIES = re.compile(r"\[/(\^.*?\$)/, ")
REFUSED: list[tuple[str, dict[str, Any]]] = [
    ("recall", {"query": " "}),
    ("recall", {"query": "tea", "k": 999}),
    ("recall", {"query": "tea", "as_of": "the day before never"}),
    ("recall", {"query": "tea", "as_of": "2026-02-31"}),
    ("recall", {"query": "tea", "by": "nobody"}),
    ("observe", {"messages": " "}),
    ("observe", {"messages": "a\0b"}),
    ("write", {"text": ""}),
    ("write", {"text": "Ada likes tea.", "branch": "x" * 300}),
    ("get", {"id": "zz"}),
    ("get", {"id": "01m8gmt9dn6df621r0gsf80qn6", "at": -1}),
    ("list", {"after": "nobody's"}),
    ("list", {"limit": 0}),
    ("list", {"where": {"kinds": ["nothing"]}}),
    ("forget", {"ids": []}),
    ("erase", {}),
    ("erase", {"ids": "all"}),
    ("graph", {"around": " ", "steps": 99}),
    ("log", {"limit": 5_000}),
    ("merge", {"name": "a", "prefer": "neither"}),
    ("branch", {"name": ""}),
    ("hold", {}),
    ("hold", {"session": "s"}),
    ("hold", {"user": "ada", "whole": True}),
    ("create_key", {"name": "ci"}),
    ("create_key", {"name": "ci", "user": "ada", "right": "any"}),
    ("create_key", {"name": "ci", "user": "ada", "right": "admin"}),
    ("create_key", {"name": "ci", "user": "ada", "expires": "2001-01-01"}),
    ("create_key", {"name": "ci", "user": "ada", "expires": "soon"}),
    ("retry", {"id": 0}),
    ("settle", {"id": "01m8gmt9dn6df621r0gsf80qn6"}),
    ("undo", {}),
]
"""What a person at the page may ask for in vain."""


def test_a_remedy_for_what_the_page_may_be_refused_has_its_chinese(page: TestClient) -> None:
    known = [re.compile(one.replace(r"\/", "/")) for one in _REMEDIES.findall(REMEDIES)]
    assert len(known) > 40
    english = dict[str, str]()
    for name, given in REFUSED:
        problem = page.post(f"/v1/{name}", json=given, headers={"Mnemic-User": "ada"}).json()
        remedy = problem.get("remedy", "")
        if remedy and not any(pattern.search(remedy) for pattern in known):
            english[f"{name} {given}"] = remedy
    assert not english, "\n".join(f"{asked}: {remedy}" for asked, remedy in english.items())
