"""One thread of a process reads the numbers of new commits and wakes those watches whose user's memory they are in.

A watch that waits costs nothing until then: no thread, no question to the store.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from mnemic.core.forking import renew_in_child
from mnemic.core.mutex import Flag, Mutex
from mnemic.core.scope import SHARED, Shared

if TYPE_CHECKING:
    from mnemic.store.contract import Store
    from mnemic.store.engine.snapshot import Snapshot

WAIT_SECONDS: Final = 1.0
"""How long the thread waits for a commit before it asks whether anybody listens still."""

PAUSE_SECONDS: Final = 0.25
"""How long it leaves a store alone that it could not read; whoever waits is told by a read of their own."""


class Ear:
    """Says to one watch that there may be commits for it.

    Args:
        tenant, user: Whose commits: those of the user's memory and its branches, and of the shared one; a user of None
            for everybody's in the tenant.

    Attributes:
        heard: Up from the moment on that there may be some. Who listens takes it down before reading.
        also: Called when it goes up, from any thread.
    """

    def __init__(self, tenant: str, user: str | Shared | None) -> None:
        self.tenant, self._users = tenant, None if user is None else frozenset((user, SHARED))
        self.heard = Flag()
        self.also: Callable[[], object] = _nobody

    def concerns(self, users: set[str | Shared] | None) -> bool:
        """Whether it is to hear of commits of these users; None for anybody's."""
        return users is None or (bool(users) if self._users is None else not users.isdisjoint(self._users))

    def wake(self) -> None:
        """Have the watch read."""
        self.heard.set()
        with suppress(RuntimeError):  # the event loop of whoever waited is gone
            self.also()


def _nobody() -> None:
    """Nobody else is told."""


class JournalReader:
    """Follows the journals of one open store for all watches of this process, while there are any. For many threads.

    Args:
        closed: Set once the store is closed, or is about to be.
    """

    def __init__(self, store: Store, closed: Flag) -> None:
        self._store, self._closed = store, closed
        self.renew()
        renew_in_child(self)

    def renew(self) -> None:
        """Start over without a thread, as a forked child must."""
        self._lock = Mutex()
        self._ears: weakref.WeakSet[Ear] = weakref.WeakSet()
        self._heads: dict[str, tuple[int, bytes]] = {}
        self._thread: threading.Thread | None = None

    def listen(self, ear: Ear) -> None:
        """Wake this ear from now on, as long as whoever listens keeps it: at every commit that came after this."""
        with self._lock:
            self._ears.add(ear)
            if self._thread is None or not self._thread.is_alive():  # its start may have failed, or been cut short
                self._thread = threading.Thread(target=self._follow, name="mnemic-journal", daemon=True)
                self._thread.start()

    def _follow(self) -> None:
        seen: tuple[int, ...] = ()
        while self._somebody_listens():
            try:
                if self._store.wait(seen, WAIT_SECONDS):
                    seen = self._store.moved()  # before the read: what comes after it is looked at again
                    self._wake(self._news())
            except Exception:  # noqa: BLE001 - the loop of a thread: each watch finds out by itself, and tells its caller
                seen = ()
                self._heads.clear()
                self._wake({})
                self._closed.wait(PAUSE_SECONDS)
        self._wake({})  # of a store that was closed; otherwise there are none, or those of another thread

    def _somebody_listens(self) -> bool:
        """Whether there are ears to an open store; if not, the thread ends, and the next ear starts another.

        A thread whose start was cut short, so that another was started, ends as well.
        """
        me = threading.current_thread()
        with self._lock:
            if self._thread is me and (not self._ears or self._closed.is_set()):
                self._thread = None
                self._heads.clear()
            return self._thread is me

    def _news(self) -> dict[str, set[str | Shared] | None]:
        """Name, by tenant, the users in whose memory something was committed since the last time; None for anybody."""
        with self._lock:
            tenants = {ear.tenant for ear in self._ears}
        with self._store.read() as snapshot:
            return {tenant: self._news_of(snapshot, tenant) for tenant in tenants}

    def _wake(self, news: Mapping[str, set[str | Shared] | None]) -> None:
        """Wake the ears that news concern, and all those of a tenant of which there are none.

        Only here are they listed, once the news have been read: who listens from now on reads no less than that, and
        who began to while they were read may have read less.
        """
        with self._lock:
            ears = [ear for ear in self._ears if ear.concerns(news.get(ear.tenant))]
        for ear in ears:
            ear.wake()

    def _news_of(self, snapshot: Snapshot, name: str) -> set[str | Shared] | None:
        """Name the users of a tenant in whose memory something was committed; None where that may be anybody's."""
        tenant = snapshot.tenant(name)
        head = None if tenant is None else snapshot.head(tenant)
        now = (0, b"") if head is None else (head.seq, head.hash)
        before = self._heads.get(name)
        self._heads[name] = now
        if before == now:
            return set()
        moved = None if before is None or tenant is None else snapshot.moved_since(tenant, *before)
        if moved is None:
            return None
        users = {head.user for head in snapshot.spaces(sorted(moved))}
        return None if 0 in moved or None in users else {user for user in users if user is not None}
