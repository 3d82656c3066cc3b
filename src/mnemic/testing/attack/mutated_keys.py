"""Attacks on access keys: texts that are nearly a key, or one that has ended, or one of another kind."""

from __future__ import annotations

import random
import string
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from typing import Final
from unittest.mock import patch

from mnemic.credentials import secrets_at_rest
from mnemic.credentials.access_log import LOGGER
from mnemic.credentials.browser_sessions import Sessions
from mnemic.credentials.keys import Keys
from mnemic.credentials.principal import Right
from mnemic.errors import Unauthenticated
from mnemic.store.sqlite.sqlite_store import MemoryStore
from mnemic.testing.attack.frame import AttackReport
from mnemic.testing.generators import ManualClock, SeededEntropy

QUICK = 10_000

_SOUND: Final = 20
_ALPHABET: Final = string.ascii_letters + string.digits + "-_"
_ODD: Final = ("\x00", " ", "\n", "=", ".", "é", "\u0430", "\u200b", "\uff4d", "\ud800", "%5F", "'", "*", "?")
_HEAD: Final = len("mk_0123456789ab_")
_Mutation = Callable[[random.Random, str, str], str]


def attack(rounds: int, seed: int) -> AttackReport:
    """Present texts made of keys that stand, that have ended, and of links and sessions: none of them opens."""
    chance, clock = random.Random(seed), ManualClock()
    with closing(MemoryStore(clock=clock)) as store, patch.object(LOGGER, "disabled", True):
        keys = Keys(store, clock, SeededEntropy(seed))
        sound = [keys.create(f"key {n}", tenant="home", right=Right.READ).text for n in range(_SOUND)]
        ended = _ended(keys, clock)
        texts = [text for _ in range(rounds) if (text := _mutated(chance, sound, ended)) not in sound]
        failures = [f"opened by {text!r}" for text in texts if _opens(keys, text)]
        failures += [f"does not open: {text!r}" for text in sound if not _opens(keys, text)]
        with patch.object(secrets_at_rest, "compare_digest", lambda *_: True):
            caught = sum(_opens(Keys(store, clock), text) for text in texts)
    return AttackReport(tries=len(texts), failures=failures, caught_by_control=caught)


def _ended(keys: Keys, clock: ManualClock) -> list[str]:
    """Texts of keys that were revoked and are over, and of a link and a session that stand."""
    revoked, over = (keys.create(name, tenant="home", expires=timedelta(hours=1)) for name in ("revoked", "over"))
    keys.revoke(revoked.key.id, tenant="home")
    clock.tick(3_600_000_000)
    sessions = Sessions(keys)
    owner = keys.verify(keys.create("owner", tenant="home").text)
    opened = sessions.exchange(sessions.link(owner))
    return [revoked.text, over.text, sessions.link(owner), opened.text, opened.csrf]


def _mutated(chance: random.Random, sound: list[str], ended: list[str]) -> str:
    mutated, other = chance.sample(sound, 2)
    if chance.random() < 0.1:
        mutated = chance.choice(ended)
        return mutated if chance.random() < 0.3 else "mk_" + mutated[3:]
    for _ in range(chance.choice((1, 1, 1, 2, 5))):
        mutated = chance.choice(_MUTATIONS)(chance, mutated, other)
    return mutated


def _opens(keys: Keys, text: str) -> bool:
    try:
        keys.verify(text)
    except Unauthenticated:
        return False
    return True


def _changed(chance: random.Random, text: str, _: str) -> str:
    """A character changed; in half of the cases of the secret's last one, where base64 has bits to spare."""
    place = chance.choice((len(text) - 1, chance.randrange(len(text)))) if text else 0
    return text[:place] + chance.choice(_ALPHABET) + text[place + 1 :]


def _case(chance: random.Random, text: str, _: str) -> str:
    place = chance.randrange(len(text) + 1)
    return text[:place] + text[place:].swapcase()


def _cut(chance: random.Random, text: str, _: str) -> str:
    return text[: chance.randrange(len(text) + 1)]


def _grown(chance: random.Random, text: str, _: str) -> str:
    place = chance.choice((0, len(text), chance.randrange(len(text) + 1)))
    return text[:place] + chance.choice((*_ODD, chance.choice(_ALPHABET))) + text[place:]


def _crossed(chance: random.Random, text: str, other: str) -> str:
    """The id of one and the secret of another, or a part of it."""
    place = chance.choice((_HEAD, chance.randrange(len(text) + 1)))
    return text[:place] + other[place:]


def _turned(chance: random.Random, text: str, _: str) -> str:
    a, b = sorted(chance.randrange(len(text) + 1) for _ in range(2))
    return text[:a] + text[a:b][::-1] + text[b:]


def _redrawn(chance: random.Random, text: str, _: str) -> str:
    """Its id, and a secret that somebody has drawn."""
    return text[:_HEAD] + "".join(chance.choices(_ALPHABET, k=43))


_MUTATIONS: Final[tuple[_Mutation, ...]] = (_changed, _case, _cut, _grown, _crossed, _turned, _redrawn)
