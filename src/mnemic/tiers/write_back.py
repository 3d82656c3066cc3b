"""Write-back of a session: when page state reaches the store, and when turns that left the window become segments."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Writing:
    """When page state is written. By default it waits in memory for the commit of a turn, so that it costs no sync.

    A crash loses page state that was not written, never a turn: a window is made again from its session's last turns.

    Attributes:
        through: Write every change of page state at once, with a commit of its own where no turn is being written.
        pages: Changed pages after which a write-back is due.
        promote: Turns out of the window after which they are made into segments, in one commit.
    """

    through: bool = False
    pages: int = 32
    promote: int = 24

    def rides(self, dirty: int) -> bool:
        """Whether this many changed pages are written along with a turn."""
        return dirty > 0 and (self.through or dirty >= self.pages)

    def alone(self, dirty: int) -> bool:
        """Whether this many changed pages are written without a turn: at once, or when too many wait."""
        return dirty > 0 and (self.through or dirty >= 8 * self.pages)
