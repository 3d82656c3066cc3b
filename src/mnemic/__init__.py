"""mnemic: long-term memory for LLM agents, run the way an operating system runs memory.

>>> from mnemic import Memory
>>> memory = Memory("memory:")
>>> me = memory.scope(user="ada")
>>> receipt = me.observe("I moved from Paris to Lisbon in March.")
>>> me.recall("which city does she live in now?").items[0].text
'I moved from Paris to Lisbon in March.'
"""

from __future__ import annotations

from mnemic._version import __version__

TYPE_CHECKING = False  # that of `typing` would be most of what `import mnemic` costs
if TYPE_CHECKING:
    from typing import Any

    from mnemic.aio import AsyncMemory, AsyncScopedMemory, AsyncSession
    from mnemic.core.events import Change, Event, Receipt, Verb
    from mnemic.core.items import Channel, Item, Kind, Link, State, Strength, Version
    from mnemic.core.listing import Listing, all_of
    from mnemic.core.queries import Context, Filter, Lost, Recalled
    from mnemic.core.scope import SHARED, Scope
    from mnemic.errors import (
        Compacted,
        Conflict,
        Invalid,
        MnemicError,
        NotFound,
        OverQuota,
        Refused,
        Stale,
        StoreCorrupt,
        StoreError,
        StoreForeign,
        StoreFull,
        StoreLocked,
        StoreNewer,
        StoreReadOnly,
        TenantElsewhere,
        TooLarge,
        Unauthenticated,
    )
    from mnemic.ingest.message import Message
    from mnemic.memory import Memory, ScopedMemory
    from mnemic.past.holdings import Holding
    from mnemic.past.journal_views import Difference
    from mnemic.past.undo_plans import Undone
    from mnemic.session import Session
    from mnemic.settings import Settings
    from mnemic.store.values.receipts import ErasureReceipt
    from mnemic.store.values.work import Order
    from mnemic.tiers.base import Page, Policy
    from mnemic.tiers.pager import Marks, Pressure
    from mnemic.tiers.write_back import Writing
    from mnemic.verbs.statements import Statement
    from mnemic.watching.feed import Notice
    from mnemic.window.layout import Window
    from mnemic.window.terms import Reach

_HOMES = {
    "mnemic.aio": "AsyncMemory AsyncScopedMemory AsyncSession",
    "mnemic.core.events": "Change Event Receipt Verb",
    "mnemic.core.items": "Channel Item Kind Link State Strength Version",
    "mnemic.core.listing": "Listing all_of",
    "mnemic.core.queries": "Context Filter Lost Recalled",
    "mnemic.core.scope": "SHARED Scope",
    "mnemic.errors": (
        "Compacted Conflict Invalid MnemicError NotFound OverQuota Refused Stale StoreCorrupt StoreError"
        " StoreForeign StoreFull StoreLocked StoreNewer StoreReadOnly TenantElsewhere TooLarge"
        " Unauthenticated"
    ),
    "mnemic.ingest.message": "Message",
    "mnemic.memory": "Memory ScopedMemory",
    "mnemic.past.holdings": "Holding",
    "mnemic.past.journal_views": "Difference",
    "mnemic.past.undo_plans": "Undone",
    "mnemic.session": "Session",
    "mnemic.settings": "Settings",
    "mnemic.store.values.work": "Order",
    "mnemic.store.values.receipts": "ErasureReceipt",
    "mnemic.tiers.base": "Page Policy",
    "mnemic.tiers.pager": "Marks Pressure",
    "mnemic.tiers.write_back": "Writing",
    "mnemic.verbs.statements": "Statement",
    "mnemic.watching.feed": "Notice",
    "mnemic.window.layout": "Window",
    "mnemic.window.terms": "Reach",
}
_HOME = {name: module for module, names in _HOMES.items() for name in names.split()}

__all__ = [
    "SHARED",
    "AsyncMemory",
    "AsyncScopedMemory",
    "AsyncSession",
    "Change",
    "Channel",
    "Compacted",
    "Conflict",
    "Context",
    "Difference",
    "ErasureReceipt",
    "Event",
    "Filter",
    "Holding",
    "Invalid",
    "Item",
    "Kind",
    "Link",
    "Listing",
    "Lost",
    "Marks",
    "Memory",
    "Message",
    "MnemicError",
    "NotFound",
    "Notice",
    "Order",
    "OverQuota",
    "Page",
    "Policy",
    "Pressure",
    "Reach",
    "Recalled",
    "Receipt",
    "Refused",
    "Scope",
    "ScopedMemory",
    "Session",
    "Settings",
    "Stale",
    "State",
    "Statement",
    "StoreCorrupt",
    "StoreError",
    "StoreForeign",
    "StoreFull",
    "StoreLocked",
    "StoreNewer",
    "StoreReadOnly",
    "Strength",
    "TenantElsewhere",
    "TooLarge",
    "Unauthenticated",
    "Undone",
    "Verb",
    "Version",
    "Window",
    "Writing",
    "__version__",
    "all_of",
]


def __getattr__(name: str) -> Any:
    """Names are fetched when they are first used, so that `import mnemic` costs almost nothing."""
    if name not in _HOME:
        raise AttributeError(f"module 'mnemic' has no attribute {name!r}")
    import importlib

    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
