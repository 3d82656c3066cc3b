from __future__ import annotations

from mnemic.core.mask import mask

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
