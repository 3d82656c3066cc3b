"""Two servers on one database, and requests that go to either: the answers are those of one that has them all."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import ExitStack

import pytest

from mnemic.memory import Memory
from mnemic.settings import Settings
from mnemic.testing.generators import ManualClock, SeededEntropy

pytestmark = pytest.mark.heavy

SETTINGS = Settings(background=False, embedder="none")
BIRDS = ("heron", "wren", "robin", "magpie", "swift", "owl")
USERS = ("ada", "bob", "cleo")


def answers(url: str, servers: int) -> list[object]:
    """What a day of requests is answered, each by a server that chance chooses."""
    day, balancer = random.Random(19), random.Random(20)
    said: list[object] = []
    with ExitStack() as opened:
        clock, entropy = ManualClock(step=1_000_000), SeededEntropy("routing")
        memories = [
            opened.enter_context(Memory(url, settings=SETTINGS, clock=clock, entropy=entropy)) for _ in range(servers)
        ]
        written: dict[str, list[str]] = {user: [] for user in USERS}
        for number in range(90):
            user, bird = day.choice(USERS), day.choice(BIRDS)
            me = balancer.choice(memories).scope(user=user)
            match day.choice(("observe", "recall", "recall", "list", "forget")):
                case "observe":
                    receipt = me.observe(f"On day {number} I saw a {bird} by the river.")
                    written[user].append(receipt.ids[0])
                    said.append(receipt.seq)
                case "forget" if written[user]:
                    said.append(me.forget(written[user].pop(0)).seq)
                case "list":
                    said.append([each.item.text for each in me.list(limit=5)])
                case _:
                    found = me.recall(f"When did I see the {bird}?", k=4)
                    said.append([(each.item.text, each.score) for each in found.items])
    return said


def test_requests_that_are_shuffled_over_servers_have_the_answers_of_one(
    new_postgres_database: Callable[..., str],
) -> None:
    alone, shuffled = answers(new_postgres_database(), 1), answers(new_postgres_database(), 2)
    assert shuffled == alone
    assert sum(bool(each) for each in alone if isinstance(each, list)) > 20
