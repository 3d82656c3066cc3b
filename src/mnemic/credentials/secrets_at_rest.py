"""Makes secrets that are shown once and kept as hashes, and judges those that are presented.

A secret is 256 random bits, so SHA-256 is enough at rest: a slow hash (scrypt, Argon2) protects what people choose, of
which a list of guesses holds a good part; of 2^256 nobody tries a part worth naming, and a slow hash at every request
would only be a way to keep the server busy. Hashed is the whole presented text, not the bytes that its secret decodes
to: base64 has several texts for the same bytes, and just one of them is the key.
"""

from __future__ import annotations

import base64
import hashlib
import re
from enum import Enum
from hmac import compare_digest
from typing import Final

from mnemic.core.clock import FOREVER
from mnemic.core.ids import ALPHABET, Entropy
from mnemic.store.values.row_values import CredentialKind, CredentialRow

PREFIXES: Final = {CredentialKind.KEY: "mk", CredentialKind.LINK: "ml", CredentialKind.SESSION: "ms"}
"""What a secret text of each kind begins with: who finds one in a log knows what it is."""
_SECRET_BYTES: Final = 32
_ID_LENGTH: Final = 12
_FORM: Final = re.compile(rf"m[kls]_([{ALPHABET}]{{{_ID_LENGTH}}})_[A-Za-z0-9_-]{{43}}", re.ASCII)
_NOBODY: Final = CredentialRow("", 0, bytes(32), "", "", None, 0, 0, "", 0, FOREVER)
"""What a presented text is compared with where no row has its id, so that this takes the same work."""


class Rejection(Enum):
    """Why a presented secret proves nobody; for the log alone."""

    MALFORMED = "malformed"
    UNKNOWN = "unknown id"
    WRONG = "wrong secret"
    REVOKED = "revoked"
    EXPIRED = "expired"


def make_secret(kind: CredentialKind, entropy: Entropy) -> tuple[str, str]:
    """Make a new credential's id and the secret text to present, of the form `mk_<id>_<secret>`.

    The id has 60 random bits, and the secret 256, in base64 for URLs without padding.
    """
    id = "".join(ALPHABET[byte & 31] for byte in entropy.bytes(_ID_LENGTH))
    secret = base64.urlsafe_b64encode(entropy.bytes(_SECRET_BYTES)).rstrip(b"=").decode()
    return id, f"{PREFIXES[kind]}_{id}_{secret}"


def digest(text: str) -> bytes:
    """Hash a secret text as it is kept."""
    return hashlib.sha256(text.encode(errors="surrogatepass")).digest()


def id_in(text: str) -> str:
    """Read the id in a presented text; "" where it has none: nothing else of it may be shown or looked up."""
    match = _FORM.fullmatch(text)
    return match[1] if match else ""


def judge(row: CredentialRow | None, kind: CredentialKind, text: str, now: int) -> Rejection | None:
    """Tell why a presented text proves nobody; None if it proves whom the row says.

    Each check is made whatever the others find, and the hashes are compared in constant time.

    Args:
        row: The row of the id in the text, if there is one.
        now: Microseconds since 1970.
    """
    compared = row or _NOBODY
    checks = {
        Rejection.MALFORMED: not id_in(text),
        Rejection.UNKNOWN: row is None or compared.kind != kind,
        Rejection.WRONG: not compare_digest(compared.hash, digest(text)),
        Rejection.REVOKED: bool(compared.revoked),
        Rejection.EXPIRED: compared.expires <= now,
    }
    return next((fault for fault, holds in checks.items() if holds), None)
