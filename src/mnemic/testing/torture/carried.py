"""The journal that lives load as another tenant: small, and the same whenever it is made."""

from __future__ import annotations

import threading
from functools import cache
from typing import NamedTuple

from mnemic.memory import Memory
from mnemic.settings import Settings
from mnemic.store.sqlite.sqlite_store import MemoryStore
from mnemic.testing.generators import ManualClock, SeededEntropy

_TENANT = "carried"


class CarriedJournal(NamedTuple):
    """The lines of an export, how many commits they tell of, and the hash of the last; lanes may add others."""

    lines: tuple[bytes, ...]
    commits: int
    hash: str


_MAKING = threading.Lock()


def carried() -> CarriedJournal:
    """Export a tenant of two users, with a branch, a past, something erased and something that expires."""
    with _MAKING:  # once, though two lives ask at the same time
        return _made()


@cache
def _made() -> CarriedJournal:
    # The clock stands still: how often a slow machine looks at it is not to be told by the journal's times.
    clock, entropy = ManualClock(), SeededEntropy("carried")
    settings = Settings(background=False, embedder="none", tenant=_TENANT)
    with Memory(MemoryStore(clock=clock, entropy=entropy), settings=settings, clock=clock, entropy=entropy) as memory:
        for user in ("eve", "bob"):
            clock.tick()
            me = memory.scope(user=user)
            first = me.observe(("of another house", "and of that one too")).ids[0]
            fact = me.write("it moves in", source=(first,), expires="30d").id
            me.revise(me.supersede(fact, "it has moved in").id, "it has moved in for good")
            me.branch("try").write("what if")
            me.erase(me.write("a slip of the pen").id)
        with memory._opened.store.read() as snapshot:
            head = snapshot.head(snapshot.tenants()[0][0])
        return CarriedJournal(tuple(memory.admin.export()), head.seq, head.hash.hex())
