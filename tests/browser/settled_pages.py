"""Waits for a page of the dashboard."""

from __future__ import annotations

from typing import Any


def settled(page: Any) -> None:
    """Wait until nothing is asked for, and what was answered is drawn. The policy leaves no string to be waited for."""
    for _ in range(2):
        page.wait_for_selector(":root:not([data-busy])", state="attached")
        page.wait_for_timeout(250)
