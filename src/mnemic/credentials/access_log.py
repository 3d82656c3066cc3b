"""The access log: who was refused what and why, and who administered what; without a word of what anybody said.

Lines go to Python's logger `mnemic.access`: refusals as warnings, administration as information. Each is one JSON
object with `at`, `key`, `name`, `operation`, `decision` and `reason`: a name with a line break in it forges no second
line. No secret and no text that came unproved with a request is in it.
"""

from __future__ import annotations

import json
import logging
from enum import Enum
from typing import Final

from mnemic.core.clock import Clock, SystemClock, moment

LOGGER: Final = logging.getLogger("mnemic.access")


class Decision(Enum):
    """What was decided about a request, or that somebody changed who may do what."""

    REFUSED = "refused"
    DONE = "done"


class AccessLog:
    """Writes the access log."""

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()

    def refused(self, operation: str, reason: str, *, key: str = "", name: str = "") -> None:
        """Note that an operation was refused, and why; `key` and `name` only as far as they are known here."""
        self._write(logging.WARNING, Decision.REFUSED, operation, reason, key, name)

    def done(self, operation: str, *, key: str = "", name: str = "", reason: str = "") -> None:
        """Note that somebody, `name`, has changed who may do what: `key` is the credential that was changed."""
        self._write(logging.INFO, Decision.DONE, operation, reason, key, name)

    def _write(self, level: int, decision: Decision, operation: str, reason: str, key: str, name: str) -> None:
        if LOGGER.isEnabledFor(level):
            at = moment(self._clock.now()).isoformat()
            line = {"at": at, "key": key, "name": name, "operation": operation, "decision": decision.value}
            LOGGER.log(level, "%s", json.dumps({**line, "reason": reason}))
