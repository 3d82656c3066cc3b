"""The tables of a store as relations: their columns, what a row of each becomes, what can be asked of any of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Generic, Literal, Protocol, TypeAlias, TypeVar

from mnemic.core.ids import from_bytes
from mnemic.core.queries import Entry
from mnemic.core.scope import SHARED
from mnemic.store.values.heads import CheckpointRow
from mnemic.store.values.meters import MeterRow
from mnemic.store.values.row_values import (
    ChangeRow,
    CredentialRow,
    EventRow,
    HoldRow,
    KeyRow,
    LinkRow,
    NameRow,
    PageRow,
    SessionRow,
    SpaceRow,
    StrengthRow,
    VersionRow,
    WrittenRow,
)
from mnemic.store.values.work import EmbedderRow, EmbedderState, Job, JobState, Lane, Order, PackRow, VectorRow

R = TypeVar("R")
N = TypeVar("N", bound=tuple[Any, ...])
Value: TypeAlias = int | float | str | bytes | None
Condition: TypeAlias = tuple[str, Literal["=", "<>", "<", "<=", ">", ">=", "in", "is true"], Any]
"""A column, an operator, a value; for `in` a sequence of values, and none for `is true`."""


@dataclass(frozen=True, eq=False)
class Relation(Generic[R]):
    """One table: its columns in order, and what a row of it becomes.

    Attributes:
        number: The column whose value the store gives to a row that comes without one, never the same twice.
        stays: Whether a row that is added where there is one already leaves that one as it is.
        beside: More columns of the table, which conditions may name and rows come without.
    """

    name: str
    columns: tuple[str, ...]
    make: Callable[[tuple[Any, ...]], R]
    number: str = ""
    stays: bool = False
    beside: tuple[str, ...] = ()


class Relations(Protocol):
    """What can be done with the rows of any relation, inside one transaction."""

    def find(
        self, relation: Relation[R], *where: Condition, order: tuple[str, ...] = (), limit: int = 0, **equal: Value
    ) -> Iterator[R]:
        """The rows that all conditions hold for.

        Args:
            order: Columns to go by, each from the highest down where a minus stands before it.
            limit: The most rows; 0 for all.
            equal: Columns and the values that they must have.
        """
        ...

    def first(self, relation: Relation[R], *where: Condition, order: tuple[str, ...] = (), **equal: Value) -> R | None:
        """The first of those rows; None for none."""
        ...

    def add(self, relation: Relation[Any], *rows: Sequence[Any]) -> int:
        """Add rows, each with its values in the order of the columns.

        Returns:
            The number that the first was given, if they came without one; each of the others has the next.
        """
        ...

    def put(self, relation: Relation[Any], *rows: Sequence[Any]) -> None:
        """Add rows, or put each in the place of the one with the same key."""
        ...

    def update(self, relation: Relation[Any], values: Mapping[str, Value], *where: Condition, **equal: Value) -> None:
        """Set columns of the rows that all conditions hold for."""
        ...

    def drop(self, relation: Relation[Any], *where: Condition, **equal: Value) -> None:
        """Take out the rows that all conditions hold for."""
        ...


def _space(row: tuple[Any, ...]) -> SpaceRow:
    space, tenant, user, shared, secret, seq, epoch, parent, base, branch, lanes, number, spent_number = row
    whose = SHARED if shared else user
    return SpaceRow(space, tenant, whose, secret, seq, epoch, parent, base, branch, bool(lanes), number, spent_number)


def _key(row: tuple[Any, ...]) -> KeyRow:
    space, hashed, salt, digest, seq, item, lasting, at = row
    return KeyRow(space, hashed, salt, digest, seq, item, bool(lasting), at)


def _embedder(row: tuple[Any, ...]) -> EmbedderRow:
    return EmbedderRow._make(row)._replace(state=EmbedderState(row[3]))


def _lane(row: tuple[Any, ...]) -> Lane:
    return Lane(**dict(zip(LANE_COLUMNS, row, strict=True)))


def _page(row: tuple[Any, ...]) -> PageRow:
    _, _, item, resident, *counts, pinned, position, segment, importance, novelty, entities = row
    numbers = (position, segment, importance, novelty, entities)
    return PageRow._make((from_bytes(item), bool(resident), *counts, bool(pinned), *numbers))


def _job(row: tuple[Any, ...]) -> Job:
    number, space, name, key, payload, ver, priority, not_before, state, *run = row
    order = Order(space=space, name=name, key=key, payload=payload, ver=ver, priority=priority, not_before=not_before)
    return Job(id=number, order=order, state=JobState(state), **dict(zip(_RUN, run, strict=True)))


def job_values(job: Job) -> tuple[Any, ...]:
    """The values of a job in the order of its columns."""
    what = job.order
    order = (what.space, what.name, what.key, what.payload, what.ver, what.priority, what.not_before)
    return (job.id, *order, int(job.state), *(getattr(job, name) for name in _RUN))


def _quickly(kind: type[N]) -> Callable[[tuple[Any, ...]], N]:
    """What makes rows that are read by the hundred thousand, in a third of the time that `_make` takes."""
    return partial(tuple.__new__, kind)


LANE_COLUMNS: Final = (
    "space", "name", "cursor", "owner", "lease_until", "attempt", "not_before", "error",
    "seq", "stride", "reach", "leased",
)  # fmt: skip
_RUN: Final = ("attempts", "owner", "leased", "lease_until", "error", "at")
_SPACE_COLUMNS: Final = (
    "id", "tenant", "user", "shared", "secret", "seq", "epoch", "parent", "base", "branch", "lanes", "number", "spent",
)  # fmt: skip
_PAGE_COLUMNS: Final = ("space", "session", *PageRow._fields)
_JOB_COLUMNS: Final = (
    "id", "space", "name", "key", "payload", "ver", "priority", "not_before", "state", *_RUN,
)  # fmt: skip

TENANT: Final = Relation("tenant", ("id", "name", "horizon", "horizon_hash"), tuple, "id")
SPACE: Final = Relation("space", _SPACE_COLUMNS, _space, "id")
SPENT_NUMBERS: Final = Relation("space", ("id", "spent"), tuple)
SPACE_NUMBERS: Final = Relation("space", ("id",), tuple)
NAME: Final = Relation("name", NameRow._fields, NameRow._make, "id")
CHANGE: Final = Relation("change", ChangeRow._fields, _quickly(ChangeRow))
EVENT: Final = Relation("event", EventRow._fields, _quickly(EventRow))
CHANGE_TIMES: Final = Relation("change", ("tenant", "seq", "at"), tuple)
KEY: Final = Relation("idem", KeyRow._fields, _key)
KEYED_ITEMS: Final = Relation("idem", ("seq", "item"), tuple, beside=("space",))
TOMB: Final = Relation("tomb", ("space", "item", "seq"), tuple, stays=True)
VERSION: Final = Relation("version", VersionRow._fields, _quickly(VersionRow), "ver")
ENTRY: Final = Relation("entry", ("space", *Entry._fields), tuple)
ENTRY_ROW: Final = Relation("entry", Entry._fields, _quickly(Entry), beside=("space",))
FACET: Final = Relation("facet", ("space", "ver", "hash"), tuple, stays=True)
WRITTEN_VERSION: Final = Relation("version", ("ver", "space", "id", "seq_from", "n", "body"), _quickly(WrittenRow))
VERSION_IDS: Final = Relation("version", ("space", "id"), tuple)
VERSION_ITEMS: Final = Relation("version", ("space", "ver", "id"), tuple)
CLOSED_VERSIONS: Final = Relation("version", ("space", "ver", "seq_to"), tuple)
ENTRY_NUMBERS: Final = Relation("entry", ("space", "ver", "part"), tuple)
STRENGTH: Final = Relation("strength", StrengthRow._fields, StrengthRow._make)
LINK: Final = Relation("link", LinkRow._fields, LinkRow._make, "lver")
WRITTEN_LINK: Final = Relation("link", ("lver", "space", "src", "seq_from", "n", "body", "open"), WrittenRow._make)
DERIVED: Final = Relation("derived", ("space", "source", "item"), tuple, stays=True)
EMBEDDER: Final = Relation("embedder", EmbedderRow._fields, _embedder, "id")
VECTOR: Final = Relation("vector", ("space", "model", "ver", "part", "f16"), tuple)
VECTOR_ROW: Final = Relation("vector", VectorRow._fields, _quickly(VectorRow), beside=("space", "model"))
LANE: Final = Relation("lane", LANE_COLUMNS, _lane)
FOLLOWED: Final = Relation("followed", ("name", "upto"), tuple)
DUE: Final = Relation("due", ("name", "space", "at"), tuple)
JOB: Final = Relation("job", _JOB_COLUMNS, _job, "id")
ANSWER: Final = Relation("answer", ("space", "lane", "hash", "answer", "given"), tuple)
PAGE: Final = Relation("page", _PAGE_COLUMNS, _page)
SESSION: Final = Relation("session", SessionRow._fields, SessionRow._make)
METER: Final = Relation("meter", MeterRow._fields, MeterRow._make)
CHECKPOINT: Final = Relation("checkpoint", CheckpointRow._fields, CheckpointRow._make)
HOLD: Final = Relation("hold", HoldRow._fields, HoldRow._make, "id")
CREDENTIAL: Final = Relation("credential", CredentialRow._fields, CredentialRow._make)
PACK: Final = Relation("pack", PackRow._fields, PackRow._make)
PACK_BODY: Final = Relation("pack", (*PackRow._fields, "body"), tuple, "id")
MEMO: Final = Relation("memo", ("tenant", "name", "value"), tuple)
