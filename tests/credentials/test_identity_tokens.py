"""Tokens of an identity provider: what is not exactly as the settings say proves nobody."""

from __future__ import annotations

import base64
import functools
import hmac
import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

from mnemic.credentials.access_log import AccessLog
from mnemic.credentials.authenticator import Authenticator
from mnemic.credentials.identity_tokens import TokenVerifier
from mnemic.credentials.key_sets import AGAIN_SECONDS, FRESH_SECONDS, STALE_SECONDS, KeySet, KeySetError
from mnemic.credentials.keys import Keys
from mnemic.credentials.principal import Principal, Right
from mnemic.errors import Invalid, Unauthenticated
from mnemic.settings import Settings
from mnemic.testing.generators import ManualClock
from mnemic.testing.loopback import QuietRequestHandler, listening
from patience import PATIENCE

Logged = Callable[[], list[dict[str, Any]]]
ISSUER, AUDIENCE = "https://id.example", "mnemic"
SECRET = "a secret of at least thirty-two bytes, shared with the provider"


@functools.cache
def rsa_key(which: str = "ours") -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65_537, key_size=2_048)


@functools.cache
def ec_key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def key_set(**more: Any) -> bytes:
    one = {**json.loads(RSAAlgorithm.to_jwk(rsa_key().public_key())), "kid": "one", "use": "sig", **more}
    two = {**json.loads(ECAlgorithm.to_jwk(ec_key().public_key())), "kid": "two", "alg": "ES256"}
    encrypting = {**json.loads(RSAAlgorithm.to_jwk(rsa_key("enc").public_key())), "kid": "three", "use": "enc"}
    return json.dumps({"keys": [one, two, encrypting]}).encode()


@pytest.fixture
def jwks(tmp_path: Path) -> Path:
    path = tmp_path / "keys.json"
    path.write_bytes(key_set())
    return path


@pytest.fixture
def verifier(jwks: Path, clock: ManualClock) -> TokenVerifier:
    settings = Settings(jwt_issuer=ISSUER, jwt_audience=AUDIENCE, jwt_keys=str(jwks), tenant="home")
    return TokenVerifier.from_settings(settings, clock, AccessLog(clock))


def claims(clock: ManualClock, **changed: Any) -> dict[str, Any]:
    now = clock.now() // 1_000_000
    said = {"iss": ISSUER, "aud": AUDIENCE, "sub": "ada", "mnemic_right": "write", "iat": now, "exp": now + 600}
    return {name: value for name, value in {**said, **changed}.items() if value is not None}


def signed(said: dict[str, Any], key: Any = None, algorithm: str = "RS256", kid: str | None = "one") -> str:
    headers = None if kid is None else {"kid": kid}
    return jwt.encode(said, key or rsa_key(), algorithm, headers=headers)


def by_hand(header: dict[str, Any], said: dict[str, Any], key: bytes = b"") -> str:
    """A token that PyJWT would refuse to make."""
    parts = [base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=") for part in (header, said)]
    mac = hmac.digest(key, b".".join(parts), "sha256") if key else b""
    return b".".join([*parts, base64.urlsafe_b64encode(mac).rstrip(b"=")]).decode()


def test_a_token_proves_whom_its_claims_name(verifier: TokenVerifier, clock: ManualClock) -> None:
    expires = (clock.now() // 1_000_000 + 660) * 1_000_000
    ada = Principal(name="ada", tenant="home", user="ada", right=Right.WRITE, expires=expires)
    assert verifier.verify(signed(claims(clock))) == ada
    assert verifier.verify(signed(claims(clock), ec_key(), "ES256", "two")) == ada
    assert verifier.verify(signed(claims(clock, aud=["other", AUDIENCE]))) == ada
    several = verifier.verify(signed(claims(clock, mnemic_right="openid read email")))
    assert several.right is Right.READ
    admin = verifier.verify(signed(claims(clock, mnemic_right=["admin", "read"])))
    assert (admin.right, admin.user, admin.name) == (Right.ADMIN, None, "ada")


HOUR = 3_600


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"iss": "https://other.example"}, "InvalidIssuerError"),
        ({"aud": "another program"}, "InvalidAudienceError"),
        ({"iss": None}, "MissingRequiredClaimError"),
        ({"aud": None}, "MissingRequiredClaimError"),
        ({"exp": None}, "MissingRequiredClaimError"),
        ({"exp": "soon"}, "claim exp is no time"),
        ({"exp": True}, "claim exp is no time"),
        ({"exp": 1e300}, "claim exp is no time"),
        ({"exp": 0}, "expired"),
        ({"sub": None}, "names somebody"),
        ({"sub": ""}, "names somebody"),
        ({"sub": 7}, "names somebody"),
        ({"sub": "a\nb"}, "names somebody"),
        ({"mnemic_right": None}, "no right is claimed"),
        ({"mnemic_right": "owner"}, "no right is claimed"),
        ({"mnemic_right": {"admin": True}}, "no right is claimed"),
    ],
)
def test_a_claim_that_is_wrong_or_missing_is_refused_and_the_log_says_which(
    verifier: TokenVerifier, clock: ManualClock, logged: Logged, changed: dict[str, Any], reason: str
) -> None:
    with pytest.raises(Unauthenticated, match="not valid"):
        verifier.verify(signed(claims(clock, **changed)))
    (line,) = logged()
    assert reason in line["reason"]


@pytest.mark.parametrize(
    ("seconds", "taken"),
    [(-HOUR, False), (-61, False), (-59, True), (0, True), (659, True), (661, False), (HOUR, False)],
)
def test_clocks_may_lie_a_minute_apart_and_no_more(
    verifier: TokenVerifier, clock: ManualClock, seconds: int, taken: bool
) -> None:
    token = signed(claims(clock))
    clock.tick(seconds * 1_000_000)
    if taken:
        assert verifier.verify(token).name == "ada"
    else:
        with pytest.raises(Unauthenticated):
            verifier.verify(token)


def test_no_algorithm_but_those_of_the_settings_is_taken(
    verifier: TokenVerifier, clock: ManualClock, jwks: Path, logged: Logged
) -> None:
    said = claims(clock)
    public = rsa_key().public_key()
    pem = public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    forged = [
        by_hand({"alg": "none", "kid": "one"}, said),
        by_hand({"alg": "None", "kid": "one"}, said),
        by_hand({"alg": "", "kid": "one"}, said),
        by_hand({"kid": "one"}, said),
        by_hand({"alg": ["RS256"], "kid": "one"}, said),
        by_hand({"alg": "HS256", "kid": "one"}, said, pem),
        by_hand({"alg": "HS256", "kid": "one"}, said, jwks.read_bytes()),
        signed(said, algorithm="RS512"),
        signed(said, algorithm="PS256"),
    ]
    for token in forged:
        with pytest.raises(Unauthenticated):
            verifier.verify(token)
    assert {line["reason"] for line in logged()} == {"token: algorithm not allowed"}


def test_only_the_key_that_the_token_names_and_the_settings_hold_is_taken(
    verifier: TokenVerifier, clock: ManualClock
) -> None:
    said = claims(clock)
    stranger = json.loads(RSAAlgorithm.to_jwk(rsa_key("other").public_key()))
    forged = [
        signed(said, rsa_key("other")),
        signed(said, kid="unknown"),
        signed(said, kid="two"),
        signed(said, rsa_key("enc"), kid="three"),
        jwt.encode(said, rsa_key("other"), "RS256", headers={"kid": "x", "jwk": stranger}),
        jwt.encode(said, rsa_key("other"), "RS256", headers={"kid": "one", "jku": "https://evil.example/keys"}),
    ]
    for token in forged:
        with pytest.raises(Unauthenticated):
            verifier.verify(token)
    assert verifier.verify(signed(said, kid=None)).name == "ada"  # the only one of its type that signs


def test_a_token_that_is_cut_short_or_changed_anywhere_is_refused(verifier: TokenVerifier, clock: ManualClock) -> None:
    token = signed(claims(clock))
    verifier.verify(token)
    payload = token.index(".") + 1
    for place in range(0, len(token), 7):
        changed = token[:place] + ("A" if token[place] != "A" else "B") + token[place + 1 :]
        for text in (token[:place], changed):
            with pytest.raises(Unauthenticated):
                verifier.verify(text)
    for text in ("a.b.c", "..", token + "A" * 20_000, token[:payload] + "." + token[payload:], "é.é.é", "\ud800.a.b"):
        with pytest.raises(Unauthenticated):
            verifier.verify(text)


def test_a_shared_secret_takes_hmac_alone(clock: ManualClock, jwks: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text(SECRET + "\n")
    settings = Settings(jwt_issuer=ISSUER, jwt_audience=AUDIENCE, jwt_secret=f"@{secret}")
    verifier = TokenVerifier.from_settings(settings, clock, AccessLog(clock))
    assert SECRET not in repr(verifier)
    assert verifier.verify(signed(claims(clock), SECRET, "HS256")).name == "ada"
    for token in (
        signed(claims(clock)),
        by_hand({"alg": "none"}, claims(clock)),
        signed(claims(clock), "x" * 40, "HS256"),
    ):
        with pytest.raises(Unauthenticated):
            verifier.verify(token)


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"jwt_audience": ""}, "jwt_audience"),
        ({"jwt_keys": ""}, "jwt_keys"),
        ({"jwt_secret": SECRET}, "jwt_keys"),
        ({"jwt_keys": "", "jwt_secret": "short"}, "jwt_secret"),
        ({"jwt_keys": "", "jwt_secret": "@/nowhere/at/all"}, "jwt_secret"),
        ({"jwt_keys": "/nowhere/at/all"}, "jwt_keys"),
        ({"jwt_keys": "http://id.example/keys"}, "jwt_keys"),
        ({"jwt_keys": "ftp://id.example/keys"}, "jwt_keys"),
        ({"jwt_keys": "https://who:secret@id.example/keys"}, "jwt_keys"),
        ({"jwt_algorithms": ("none",)}, "jwt_algorithms"),
        ({"jwt_algorithms": ("HS256",)}, "jwt_algorithms"),
        ({"jwt_algorithms": ("RS256", "HS256")}, "jwt_algorithms"),
        ({"jwt_keys": "", "jwt_secret": SECRET, "jwt_algorithms": ("RS256",)}, "jwt_algorithms"),
    ],
)
def test_settings_that_would_open_too_much_are_refused(
    jwks: Path, clock: ManualClock, changed: dict[str, Any], field: str
) -> None:
    given = {"jwt_issuer": ISSUER, "jwt_audience": AUDIENCE, "jwt_keys": str(jwks), **changed}
    with pytest.raises(Invalid) as told:
        TokenVerifier.from_settings(Settings(**given), clock, AccessLog(clock))
    assert told.value.field == field
    assert SECRET not in str(told.value)


def test_tokens_are_off_unless_an_issuer_is_set_and_keys_go_on_beside_them(
    keys: Keys, clock: ManualClock, jwks: Path
) -> None:
    token, made = signed(claims(clock)), keys.create("laptop", tenant="home")
    bearer = {"authorization": f"Bearer {token}"}
    with pytest.raises(Unauthenticated):
        Authenticator.from_settings(keys, Settings(jwt_keys=str(jwks))).authenticate(bearer)
    both = Authenticator.from_settings(
        keys, Settings(jwt_issuer=ISSUER, jwt_audience=AUDIENCE, jwt_keys=str(jwks), jwt_tenant="org")
    )
    with pytest.raises(Unauthenticated):  # its tenant is missing
        both.authenticate(bearer)
    assert both.authenticate({"authorization": f"Bearer {signed(claims(clock, org='acme'))}"}).tenant == "acme"
    assert both.authenticate({"authorization": f"Bearer {made.text}"}).name == "laptop"


class Provider(QuietRequestHandler):
    """Serves a set of keys, or what else a test sets."""

    status = 200
    body = b""
    served = 0

    def do_GET(self) -> None:
        Provider.served += 1
        self.send_response(self.status)
        if self.status == 302:
            self.send_header("Location", "/elsewhere")
        self.end_headers()
        self.wfile.write(self.body)


def test_keys_are_fetched_once_again_when_they_are_old_and_no_oftener_for_unknown_ids(seconds: Any) -> None:
    Provider.status, Provider.body, Provider.served = 200, key_set(), 0
    with listening(Provider) as url:
        fetched = KeySet.at(f"{url}/keys")
        keys = KeySet(fetched._read, seconds)
        for _ in range(3):
            keys.key("one", "RS256")
        assert Provider.served == 1
        for n in range(5):
            with pytest.raises(KeySetError, match="unknown"):
                keys.key(f"no such {n}", "RS256")
        assert Provider.served == 1
        seconds.now += AGAIN_SECONDS
        Provider.body = key_set(kid="rotated")
        keys.key("rotated", "RS256")
        with pytest.raises(KeySetError):
            keys.key("one", "RS256")
        assert Provider.served == 2
        seconds.now += FRESH_SECONDS
        for status, body in ((500, key_set()), (302, key_set()), (200, b"{}"), (200, b"["), (200, b" " * (1 << 21))):
            Provider.status, Provider.body = status, body
            keys.key("rotated", "RS256")
            seconds.now += AGAIN_SECONDS
        assert Provider.served == 7
        seconds.now += STALE_SECONDS
        with pytest.raises(KeySetError, match="cannot be read"):
            keys.key("rotated", "RS256")


def test_nobody_who_has_keys_waits_while_another_reads_them_again(seconds: Any) -> None:
    asked, answered = threading.Event(), threading.Event()

    def slow() -> bytes:
        if keys._keys:
            asked.set()
            assert answered.wait(PATIENCE)
        return key_set()

    keys = KeySet(slow, seconds)
    keys.key("one", "RS256")
    seconds.now += FRESH_SECONDS
    reader = threading.Thread(target=keys.key, args=("one", "RS256"))
    reader.start()
    assert asked.wait(PATIENCE)
    keys.key("one", "RS256")
    assert reader.is_alive()
    answered.set()
    reader.join()


def test_a_provider_that_is_away_proves_nobody(clock: ManualClock, seconds: Any, logged: Logged) -> None:
    def away() -> bytes:
        raise ConnectionRefusedError

    verifier = TokenVerifier(
        issuer=ISSUER, audience=AUDIENCE, keys=KeySet(away, seconds), algorithms=("RS256",), clock=clock,
        log=AccessLog(clock),
    )  # fmt: skip
    with pytest.raises(Unauthenticated):
        verifier.verify(signed(claims(clock)))
    assert logged()[0]["reason"] == "token: the provider's keys cannot be read"
