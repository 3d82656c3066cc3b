"""Where a person finds the dashboard of a server: its address, or a link that signs them in once."""

from __future__ import annotations

import json
import urllib.request
from dataclasses import replace
from typing import Final
from urllib.error import HTTPError
from urllib.parse import quote

from mnemic.core.clock import FOREVER
from mnemic.credentials.browser_sessions import Sessions
from mnemic.credentials.principal import Principal, Right
from mnemic.memory import Memory
from mnemic.settings import Settings

TERMINAL: Final = "terminal"
"""Who the journal says did what is done in a session that was opened from the terminal."""
_WAIT: Final = 3.0


def sign_in_link(where: str, settings: Settings, address: str, *, tenant: str) -> str:
    """Make a link to the dashboard at `address` that opens once, within a minute, for who is at the terminal.

    Args:
        where: The store that is served there; whoever may open its file is its administrator.
    """
    with Memory(where, settings=replace(settings, background=False)) as memory:
        who = Principal(name=TERMINAL, tenant=tenant, user=None, right=Right.ADMIN, shared=True, expires=FOREVER)
        token = Sessions(memory.keys).link(who)
    return f"{address}/login?token={quote(token)}"


def asks_for_credentials(address: str) -> bool | None:
    """Whether the mnemic that answers at an address asks for a credential; None if none answers there."""
    request = urllib.request.Request(f"{address}/session")  # noqa: S310 - the address is this machine's own
    try:
        with urllib.request.urlopen(request, timeout=_WAIT) as answer:  # noqa: S310
            return None if "csrf" not in json.load(answer) else False
    except HTTPError as error:
        return True if error.code == 401 else None
    except (OSError, ValueError):
        return None
