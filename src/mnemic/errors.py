"""Every error mnemic raises on purpose.

    MnemicError
    ├── Invalid             a value we cannot take; names the field and the remedy
    │   └── TooLarge        over a limit that a setting holds
    ├── NotFound            no such item, commit, space or file in this scope
    ├── Conflict            somebody changed it first, or the same key came with other content
    │   └── Stale           an item has changed since the version that the caller went by
    ├── Unauthenticated     nobody is known by the credential that came with a request; it does not say why
    ├── Refused             the right is missing, or a hold forbids it
    ├── OverQuota           a key, or a user's strategies, asked as often as they may for now; says when to come back
    ├── Compacted           the past asked for lies behind the horizon, or was taken back
    ├── ModelError          an embedder, a language model or its endpoint failed; what was written is not lost
    │   ├── NoModel         a language model is asked, and none is set
    │   ├── UnusableModel   the language model that is set cannot be opened: no key, an unknown kind, no package
    │   ├── OverBudget      a run has asked as much of models as it may
    │   ├── ForeignState    a memory's state of another model, tokeniser, mechanism, settings or format
    │   ├── DamagedState    the bytes of a memory's state are not those that were written
    │   └── InexactJoin     caches made apart are to be joined as if they had been made together
    └── StoreError          the store failed; retrying with the same key is safe
        ├── StoreFull       no space left on the disk
        ├── StoreReadOnly   the file or its folder cannot be written
        ├── StoreCorrupt    the bytes are not what we wrote
        ├── StoreForeign    a file of another program
        ├── StoreNewer      a format this version does not know
        ├── StoreLocked     another machine, or a stuck process, holds it
        └── TenantElsewhere the tenant is kept by another server than the one that was asked

Each message says what is wrong, where, and what to do.
"""


class MnemicError(Exception):
    """The root of the tree: catch this to catch everything mnemic raises on purpose."""


class Invalid(MnemicError):
    """A value that cannot be taken: of a wrong type, malformed, or out of range.

    Attributes:
        field: Which argument or field is wrong.
        problem: What is wrong with it, behind the field's name.
        remedy: What to do about it, as a sentence.
    """

    def __init__(self, field: str, problem: str, remedy: str) -> None:
        super().__init__(f"{field}: {problem}. {remedy}")
        self.field = field
        self.problem = problem
        self.remedy = remedy


class TooLarge(Invalid):
    """A value over a limit that a setting states."""


class NotFound(MnemicError):
    """No such thing in this scope; what belongs to another user is answered the same way.

    Attributes:
        remedy: What to do about it, behind the message; None where nothing is known.
    """

    def __init__(self, message: str, remedy: str | None = None) -> None:
        super().__init__(message if remedy is None else f"{message}; {remedy}")
        self.remedy = remedy


class Conflict(MnemicError):
    """Somebody changed it first, or the same key came with other content; nothing was written."""


class Stale(Conflict):
    """An item no longer stands as of the commit that its caller expects; nothing was written. Read it again."""


class Refused(MnemicError):
    """The caller may not do this, or a hold or pin forbids it; nothing was written."""


class Unauthenticated(MnemicError):
    """Nobody is known by the credential that came with a request; whether it is unknown, wrong, revoked or expired is
    said in the access log alone."""


class OverQuota(MnemicError):
    """A key has asked or written as often as its quota allows for now; nothing was done.

    So have strategies that have asked a model as often as they may for a user within an hour.

    Attributes:
        retry_after: Seconds until the next request will be taken; at least a part of one.
    """

    def __init__(self, message: str, retry_after: float) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Compacted(MnemicError):
    """The past asked for lies behind the horizon, or was taken back by a rewind; nothing is answered in part."""


class StoreError(MnemicError):
    """The store failed. The write may or may not have landed; the same key makes a retry safe."""


class StoreFull(StoreError):
    """No space left on the disk; nothing was half-written, and the next call works once there is room."""


class StoreReadOnly(StoreError):
    """The file or its folder cannot be written."""


class StoreCorrupt(StoreError):
    """The store is damaged: its bytes are not what was written."""


class StoreForeign(StoreError):
    """A file of another program; it was not touched."""


class StoreNewer(StoreError):
    """A format this version does not know; it was not touched."""


class StoreLocked(StoreError):
    """Another machine, or a stuck process, holds the store."""


class TenantElsewhere(StoreError):
    """Another server keeps the tenant; nothing was read or written here. Look its place up again."""


class ModelError(MnemicError):
    """An embedder, a language model or its endpoint failed; nothing that was written is lost, words still answer."""


class NoModel(ModelError):
    """A language model is asked, and the setting `model` names none; a strategy may go on by rules."""


class UnusableModel(ModelError):
    """The language model that the settings name cannot be opened, as without its key; what waits for it goes on once
    the setting is right."""


class OverBudget(ModelError):
    """A strategy's run has asked as much of models as its budget allows; it may end with what it has."""


class ForeignState(ModelError):
    """A neural memory's state that belongs to another model, tokeniser, mechanism, settings or format; it was not used,
    and is made again from the text."""


class DamagedState(ModelError):
    """A neural memory's state cut short, changed or forged; it was not used, and is made again from the text."""


class InexactJoin(ModelError):
    """Caches that were made apart, and are to be joined: what stands later never attended to what stands before."""
