from __future__ import annotations

import base64
import random
import time
from functools import cache
from pathlib import Path

import pytest

from mnemic import Invalid, Memory, Settings
from mnemic.core.mask import mask, mask_name, refuse_secrets
from mnemic.testing.attack.secret_corpus import corpus

_JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.SflKxwRJSMeKKF2QT4fwpM"
_KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----"


def test_a_token_is_masked_within_a_longer_run_and_what_stands_before_it_stays() -> None:
    assert mask(f"bearer-{_JWT}, then")[0] == "bearer-[masked token], then"
    assert mask(f"v1.{_JWT}")[0] == "v1.[masked token]"
    assert mask(f"{_JWT} {_JWT}")[1] == {"token": 2}


def test_a_key_is_masked_up_to_its_end_and_one_without_an_end_is_left() -> None:
    masked, found = mask(f"a {_KEY} b {_KEY} c -----BEGIN PRIVATE KEY----- d")
    assert masked == "a [masked private key] b [masked private key] c -----BEGIN PRIVATE KEY----- d"
    assert found == {"private key": 2}


def test_a_text_that_only_looks_suspect_counts_nothing() -> None:
    assert mask("-----BEGIN") == ("-----BEGIN", {})


@cache
def _drawn(seed: int) -> dict[str, tuple[str, str]]:
    """Every form once: they are drawn together, for all tests."""
    return corpus(random.Random(seed))


FORMS = sorted(_drawn(0))


@pytest.mark.parametrize("form", FORMS)
def test_a_secret_of_every_form_is_masked_and_what_stands_around_it_stays(form: str) -> None:
    for seed in range(20):
        text, secret = _drawn(seed)[form]
        for around in ("{}", "Hi, {}. Bye", "see\n{}\nand more", '{{"x": "{}"}}'):
            masked, found = mask(around.format(text))
            assert secret not in masked
            assert found
            begins, _, ends = around.format("\0").partition("\0")
            assert masked.startswith(begins.rstrip())
            assert masked.endswith(ends.lstrip("."))  # a stop may belong to it
            assert mask(masked)[0] == masked


@pytest.mark.parametrize("apart", ["\n", "\r\n", "\t", "\\n", "\\r\\n", " \n", "\u200b\n", "\n\u200b", "\u2060"])
@pytest.mark.parametrize("before", [4, 6, 8, 12])
def test_a_card_number_is_masked_wherever_a_line_breaks_it(before: int, apart: str) -> None:
    card = "4065884242180330"
    masked, found = mask(f"card {card[:before]}{apart}{card[before:]}, thanks")
    assert masked == "card [masked card number], thanks"
    assert found == {"card number": 1}


@pytest.mark.parametrize("before", [4, 10])
def test_a_card_number_of_fifteen_digits_is_masked_over_two_lines(before: int) -> None:
    card = "378282246310005"
    assert mask(f"{card[:before]}\n{card[before:]}")[0] == "[masked card number]"


@pytest.mark.parametrize(
    "text",
    [
        "4065\n884242180331",
        "4065\t884242180331",
        "2024\t884242180330",
        "1732406400\n1732406460",
        "406588\n424218\n0330",
    ],
)
def test_numbers_below_or_beside_each_other_that_make_no_card_stay(text: str) -> None:
    assert mask(text) == (text, {})


@pytest.mark.parametrize(
    "before", ["Login: ada / ", "see\nlogin: ada@example.com / ", "the logins: ada /  ", "Login：ada / "]
)
def test_a_password_behind_who_logs_in_is_masked(before: str) -> None:
    assert mask(f"{before}Xk29fjqP, thanks")[0] == f"{before}[masked password], thanks"


@pytest.mark.parametrize(
    "text", ["Login: ada / bob", "login: form / settings page", "The login: yes / no 1", "Login: src/auth2.py"]
)
def test_words_behind_a_login_stay(text: str) -> None:
    assert mask(text) == (text, {})


_ROW = "ada,Zx9!kkQ2w,ops"
_WIDE = ",".join(f"column {n}" for n in range(30))


@pytest.mark.parametrize(
    "table",
    [
        "user,password\r\nada,Zx9!kkQ2w\r\n",
        "user,role,password\r\nada,ops,Zx9!kkQ2w\r\nbob,ops,Zx9!kkQ2w",
        "user,password,role\n" + "bob,none,ops\n" * 1_200 + _ROW,
        f"user,password,role\nthese are old\n{_ROW}",
        f"user,password,role\n\"Lovelace, Ada\",none,ops\n\"Lo \"\"ve\"\", Ada\",Zx9!kkQ2w,ops\n{_ROW}",
        f"user,password,role\n\"ada,Zx9!kkQ2w,ops\n{_ROW}",
        "user\tpassword\trole\n\t\"Zx9!kkQ2w\"\tops",
        "a long name of a column that says much,another long name of a column,and a third that is no shorter,"
        "a fourth of those that say too much,and a fifth one that goes on and on,a sixth that is here,password\n"
        "1,2,3,4,5,6,Zx9!kkQ2w\n",
        "user,password,role\n" + "x" * 1_500 + f"\n{_ROW}",
        f"user,password,role\n\n{_ROW}\n",
        f"user,password,role\r\n\r\n{_ROW}\r\n",
        f"{_WIDE},password\n{','.join('1' * 30)},Zx9!kkQ2w\n",
        "user,password\nbob,none\nname;town;password\nada;Paris;Zx9!kkQ2w\n",
        "user,note,password\nada,password,Zx9!kkQ2w\nbob,x,Zx9!kkQ2w",
    ],
)  # fmt: skip
def test_every_row_of_a_column_of_passwords_is_masked(table: str) -> None:
    masked, found = mask(table)
    assert "Zx9!kkQ2w" not in masked
    assert masked.replace("[masked password]", "Zx9!kkQ2w") == table
    assert found == {"password": table.count("Zx9!kkQ2w")}


@pytest.mark.parametrize("secret", ["$ecretWord9", "$ommer2024wind", "%ecretWord9", "*ecretWord9", "%24ecretWord9"])
@pytest.mark.parametrize(
    "before", ["postgres://u:", "password: ", "the wifi password is ", "PGPASSWORD=", "login a password "]
)
def test_a_password_may_begin_as_a_placeholder_does(before: str, secret: str) -> None:
    masked, found = mask(f"{before}{secret}@host/db" if "//" in before else f"{before}{secret} now")
    assert secret not in masked
    assert found == {"password": 1}
    assert mask(masked)[0] == masked


@pytest.mark.parametrize("secret", ["[ecretWord9", "{ecretWord9"])
def test_a_password_in_an_address_may_begin_with_a_bracket(secret: str) -> None:
    assert mask(f"postgres://u:{secret}@host/db")[0] == "postgres://u:[masked password]@host/db"


def test_what_stands_for_a_password_stays() -> None:
    for value in (
        *(
            "$PASSWORD",
            "$db_pass",
            "$DB_PASS2",
            "$password2",
            "$this->password",
            "$env:DB_PASS2",
            "$row.password",
            "$1",
        ),
        *("${DB_PASS2}", "${DB:-x1}", "$(pass show db2)", "$$PASS", "%PASSWORD%", "%s", "%s@host2", "%-20s", "%(pw1)s"),
        *(
            "{password2}",
            "{{ password2 }}",
            "{self.pw2}",
            "[password]",
            "[your-pass-2]",
            "[masked password]",
            "<pass2>",
        ),
        *("********", "*argv", "&pw2"),
    ):
        for text in ("postgres://u:{}@host/db", "password: {}", "the wifi password is {} now", "DB_PASSWORD={}"):
            assert mask(text.format(value)) == (text.format(value), {})


def test_characters_without_width_cost_no_more_than_others() -> None:
    def seconds(letters: int) -> float:
        text = "password a" + "\u200b" * letters + " and 12 more"
        began = time.process_time()
        assert mask(text) == (text, {})
        return time.process_time() - began

    assert min(seconds(128_000) for _ in range(3)) < 20 * min(seconds(16_000) for _ in range(3)) + 0.02


def test_what_is_looked_for_of_a_secret_is_found_nowhere_by_chance() -> None:
    for seed in range(50):
        short = {form: secret for form, (_, secret) in corpus(random.Random(seed)).items() if "over two lines" in form}
        assert all(len(secret) >= 8 and "\n" not in secret for secret in short.values()), short


def test_there_are_seventy_forms_and_more() -> None:
    assert len(FORMS) > 100


ROOT = Path(__file__).parents[2]
LINES = [
    line
    for kind in ("src/**/*.py", "docs/**/*.md", "*.md", "scripts/*", "pyproject.toml")
    for file in sorted(ROOT.glob(kind))
    if file.is_file() and "secret" not in file.name
    for line in file.read_text().splitlines()
]


def test_of_ten_thousand_lines_of_code_and_prose_at_most_one_in_a_thousand_is_touched() -> None:
    touched = [line for line in LINES if mask(line)[1]]
    assert len(LINES) > 10_000
    assert len(touched) <= len(LINES) / 1_000, "\n".join(touched)


@pytest.mark.parametrize(
    "text",
    [
        "commit 3f786850e387550fdab836ed7e6dc881de23001b",
        "id 123e4567-e89b-12d3-a456-426614174000, version 1.2.3-rc4+build.5",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "data:image/png;base64," + base64.b64encode(bytes(range(256)) * 40).decode(),
        "at 1732406400123456 us, 1732406400 s, phone +351 21 123 4567, ISBN 978-3-16-148410-0, pi 3.141592653589793",
        "IBAN DE89 3704 0044 0532 0130 00",
        "the password is in the vault; the token: see below; the secret: patience",
        "password=password, token = tokenize(text), api_key: str = settings.api_key, PASSWORD=$PASSWORD",
        "def login(password: str, secret: bytes | None = None) -> Token: ...",
        "https://example.com/a/b?q=1&page=2#x and ssh://git@github.com/ada/x.git and http://localhost:8000/docs@x",
        "sk-learn-is-a-word-with-hyphens and task-based-memory-systems",
        "Basic instincts, bearer of bad news, a cookie: it was good",
        "postgres://user:password@localhost/db and ${DB_URL} and redis://:$PASSWORD@host",
        "----- BEGIN -----\nBEGIN PRIVATE KEY is how a key begins",
    ],
)
def test_what_only_looks_like_a_secret_stays(text: str) -> None:
    assert mask(text) == (text, {})


def test_a_name_that_is_a_number_stays_and_one_with_a_key_is_refused_unshown() -> None:
    assert mask_name("4111 1111 1111 1111")[0] == "4111 1111 1111 1111"
    text, secret = corpus(random.Random(0))["groq"]
    assert secret not in mask_name(f"talk {text}")[0]
    refuse_secrets({"session": "4111111111111111", "user": None})
    with pytest.raises(Invalid, match=r"^session: holds what looks like a secret \(api key, from ") as error:
        refuse_secrets({"user": "ada", "session": text})
    assert secret not in str(error.value)


def test_a_refused_name_is_told_what_where_and_what_to_do_and_not_shown() -> None:
    with pytest.raises(Invalid) as error:
        refuse_secrets({"session": "talk of May, password=hunter2secret99x"})
    assert str(error.value) == (
        "session: holds what looks like a secret (password, from character 23 on), and a name is kept and shown as it "
        "is. Nothing was written; give a name without it."
    )


def test_a_secret_is_refused_as_a_name_unless_nothing_is_to_be_masked() -> None:
    text, _ = corpus(random.Random(0))["github"]
    with Memory("memory:", embedder="none") as memory:
        me = memory.scope(user="ada")
        for call in (
            lambda: memory.scope(user=text),
            lambda: memory.session(text, user="ada"),
            lambda: me.shelf(session=text),
            lambda: me.branch(text),
        ):
            with pytest.raises(Invalid, match="holds what looks like a secret"):
                call()
    with Memory("memory:", settings=Settings(mask_secrets=False, embedder="none")) as memory:
        assert memory.scope(user=text).shelf(session=text).observe("x").ids
