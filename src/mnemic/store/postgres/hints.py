"""Hints that something was committed, for processes that wait: quicker than a look at the heads, and never relied on.

A `NOTIFY` inside a commit would have all commits of a database wait for one another. So it is sent afterwards, in a
transaction and on a connection of its own, one for all commits of a short while, and only where somebody listens.
Behind a pooler nobody can, and a hint that is lost costs no more than the wait for the next look (`hearing`).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from mnemic.core.mutex import Mutex
from mnemic.errors import StoreError
from mnemic.store.postgres.postgres_schema import SCHEMA
from mnemic.store.postgres.server_connections import ServerAddress, driver

LISTENER: Final = "mnemic listener"
"""What a connection that listens calls itself, so that who commits learns of it."""
TOGETHER_SECONDS: Final = 0.02
"""Commits of so long are told by one hint; the first of them at once."""
ASKED_SECONDS: Final = 5.0
"""How long a process goes by what it knows of whether somebody listens."""
AGAIN_SECONDS: Final = 1.0
"""A server that is not there, or has no connection to spare, is asked for one to listen on again after so long."""
_IDLE_SECONDS: Final = 30.0
"""After so long without need a thread ends, and its connection with it."""
LISTENED: Final = (
    "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database()"
    f" AND application_name = '{LISTENER}' AND state = 'idle')"
)
"""Whether any process listens, as far as this role may see."""


class CommitHints:
    """Tells other processes of this one's commits, from a thread that runs while there is something to tell."""

    def __init__(self, where: ServerAddress) -> None:
        self._where = where
        self._lock = Mutex()
        self._owed = threading.Event()
        self._thread: threading.Thread | None = None
        self._asked = float("-inf")
        self._listened = False
        self._closed = False
        self.process = 0
        """The number of the server's process that the hints come from; 0 for none."""

    def is_to_ask(self) -> bool:
        """Whether it is time to ask (`LISTENED`) whether somebody listens; then somebody is to `learn` the answer."""
        now = time.monotonic()
        if now - self._asked < ASKED_SECONDS:
            return False
        self._asked = now
        return True

    def learn(self, *, listened: bool) -> None:
        """Note whether somebody listens."""
        self._listened = listened

    def committed(self) -> None:
        """Tell of a commit soon, if somebody listens."""
        if not self._listened or self._closed:
            return
        self._owed.set()
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="mnemic-hints", daemon=True)
                self._thread.start()

    def close(self) -> None:
        """Tell nothing more."""
        self._closed = True
        self._owed.set()

    def _run(self) -> None:
        try:
            with suppress(driver().Error, StoreError):  # whoever waits looks for itself; the next commit tries again
                self._tell()
        finally:
            with self._lock:
                self._thread, self.process = None, 0
                if self._owed.is_set():  # by a commit that came as it ended: the next one begins anew
                    self._owed.clear()

    def _tell(self) -> None:
        db = self._where.connect(autocommit=True)
        try:
            self.process = db.info.backend_pid
            db.execute("SET synchronous_commit = off")  # it writes nothing that must last
            while self._owed.wait(_IDLE_SECONDS) and not self._closed:
                self._owed.clear()
                db.execute(f"NOTIFY {SCHEMA}")
                time.sleep(TOGETHER_SECONDS)
        finally:
            db.close()


class HintListener:
    """Hears other processes' hints, from a thread that runs while somebody waits.

    Args:
        heard: Called at each hint.
        own: The number of the server's process that this process's own hints come from.
    """

    def __init__(self, where: ServerAddress, heard: Callable[[], object], own: Callable[[], int]) -> None:
        self._where, self._heard, self._own = where, heard, own
        self._lock = Mutex()
        self._thread: threading.Thread | None = None
        self._wanted = 0.0
        self._closed = False

    def want(self) -> None:
        """Listen for a while from now on."""
        self._wanted = time.monotonic()
        if self._thread is None and not self._closed:
            with self._lock:
                if self._thread is None:
                    self._thread = threading.Thread(target=self._run, name="mnemic-listener", daemon=True)
                    self._thread.start()

    def close(self) -> None:
        """Listen no more, within a second."""
        self._closed = True

    def _run(self) -> None:
        try:
            with suppress(driver().Error, StoreError):  # whoever waits looks for itself; its next wait tries again
                self._listen()
            if not self._closed:
                time.sleep(AGAIN_SECONDS)
        finally:
            with self._lock:
                self._thread = None

    def _listen(self) -> None:
        db = self._where.connect(autocommit=True)
        try:
            db.execute("SELECT set_config('application_name', %s, false)", (LISTENER,))
            db.execute(f"LISTEN {SCHEMA}")
            while not self._closed and time.monotonic() - self._wanted < _IDLE_SECONDS:
                for notice in db.notifies(timeout=1.0):
                    if notice.pid != self._own():
                        self._heard()
        finally:
            db.close()
