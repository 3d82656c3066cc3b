"""Write a journal as lines of JSON, and load one: loading applies what was recorded and runs nothing."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from mnemic.core.checking import clean_name
from mnemic.core.clock import FOREVER
from mnemic.core.events import Verb
from mnemic.core.facets import written_facets
from mnemic.core.ids import from_bytes, to_bytes
from mnemic.core.parts import entry_terms
from mnemic.core.sanitize import for_json
from mnemic.core.scope import SHARED, Shared
from mnemic.errors import Conflict, Invalid, StoreCorrupt
from mnemic.store.engine import audit, codec, ledger
from mnemic.store.engine.codec import canonical
from mnemic.store.engine.rows import Rows
from mnemic.store.values.receipts import Loaded
from mnemic.store.values.row_values import (
    BEHIND,
    BranchPoint,
    ChangeRow,
    EventRow,
    KeyRow,
    LinkRow,
    SpaceRow,
    StrengthRow,
    TenantRow,
)

UNREADABLE: Final[tuple[type[Exception], ...]] = (
    ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError, AssertionError, IndexError,
    StoreCorrupt,
)  # fmt: skip
"""What a line that is none may end in; `Conflict` and `Invalid` say enough by themselves."""
JOURNAL: Final = 1
"""The number of this line format."""
_PAGE: Final = 500
_MOST: Final = 2**53
"""The highest number of a space or name that is taken."""


def export(rows: Rows, name: str) -> Iterator[bytes]:
    """A tenant as lines, in an order that never varies: head, spaces, names, commits, counters, keys, tombstones, end.

    Legal holds are of a store and do not go along; whoever loads it elsewhere places them there.

    Raises:
        NotFound: there is no such tenant.
    """
    digest = hashlib.sha256()
    for line in _lines(rows, name):
        digest.update(line.strip())
        yield line
    yield journal_line("end", {"sha256": digest.hexdigest()})


def _lines(rows: Rows, name: str) -> Iterator[bytes]:
    tenant = rows.spaces.known_tenant(name)
    head = {"mnemic": JOURNAL, "tenant": name, "seq": tenant.seq, "at": tenant.at, "hash": tenant.hash.hex()}
    yield journal_line("head", {**head, "horizon": tenant.horizon, "horizon_hash": tenant.horizon_hash.hex()})
    spaces = rows.spaces.tenant_spaces(tenant.id)
    numbers = {0: 0, **{space.id: space.number for space in spaces}}
    for space in spaces:
        owner, shared = ledger.space_owner(space.user) if space.user is not None else (None, 0)
        record = {
            "id": space.number,
            "user": owner,
            "shared": shared,
            "secret": space.secret.hex(),
            "seq": space.seq,
            "epoch": space.epoch,
            "spent": space.spent,
            **_line_of(space, numbers),
        }
        yield journal_line("space", record)
    for space in spaces:
        for row in rows.names.names(space.id):
            yield journal_line("name", {"id": row.number, "space": space.number, "text": row.text})
    yield from _commits(rows, tenant, numbers)
    for space in spaces:
        for s in rows.items.strengths(space.id):
            yield journal_line("strength", {**s._asdict(), "space": space.number, "id": s.id.hex()})
        for k in rows.journal.keys(space.id):
            raw = {
                "space": space.number,
                "hash": k.hash.hex(),
                "salt": k.salt.hex(),
                "digest": k.digest.hex(),
                "item": k.item.hex() if k.item else None,
            }
            yield journal_line("key", {**k._asdict(), **raw})
        for item, seq in rows.journal.tombs(space.id):
            yield journal_line("tomb", {"space": space.number, "item": item.hex(), "seq": seq})


def _line_of(space: SpaceRow, numbers: Mapping[int, int]) -> dict[str, Any]:
    """What a branch says of itself; a space of its own says nothing."""
    if not space.parent:
        return {}
    return {"parent": numbers[space.parent], "base": space.base, "branch": space.branch, "lanes": int(space.lanes)}


def _commits(rows: Rows, tenant: TenantRow, numbers: Mapping[int, int]) -> Iterator[bytes]:
    after = 0
    while changes := rows.journal.changes(tenant.id, after, _PAGE, False):
        after = changes[-1].seq
        for change in changes:
            record = {**change._asdict(), "space": numbers[change.space], "hash": change.hash.hex()}
            del record["tenant"]
            yield journal_line("change", record)
            for event in rows.journal.events(tenant.id, change.seq, change.seq):
                yield journal_line("event", _event(rows, change, event))


def _event(rows: Rows, change: ChangeRow, event: EventRow) -> dict[str, Any]:
    record: dict[str, Any] = {"seq": event.seq, "n": event.n, "verb": event.verb, "digest": event.digest.hex()}
    record["item"] = event.item.hex() if event.item else None
    record["salt"] = event.salt.hex() if event.salt else None
    for version in rows.items.version_rows(change.space, [event.ver]) if event.ver else ():
        record["version"] = version.body.decode()
    for link in rows.links.links_written(change.space, change.seq) if event.lver else ():
        if link.lver == event.lver:
            record["link"] = {"dst": link.dst.hex(), "body": link.body.decode()}
    if event.payload is not None:
        record["payload"] = event.payload.decode()
    return record


def journal_line(kind: str, record: dict[str, Any]) -> bytes:
    """Write one line of an exported journal."""
    return for_json(canonical({kind: record}).decode()).encode() + b"\n"  # whoever looks at it may do so on a terminal


def load(
    rows: Rows, lines: Iterator[bytes], tenant: str | None = None, progress: Callable[[int, int], None] | None = None
) -> Loaded:
    """Apply an exported journal inside a transaction, as a tenant beside those that are there.

    Ids, salts, seqs, hashes and times are kept, and so are the numbers of spaces and names, by which the journal calls
    them; the ids that these have in this store are its own. Tokens are made again from the text.

    Args:
        tenant: What the tenant is to be called here; left out, as the journal calls it, which its chain does not cover.
        progress: Called after some commits with how many are written, and of how many.

    Raises:
        Conflict: there is a tenant of this name.
        Invalid: a line is not of an exported journal.
    """
    loading, digest, ended = _Loading(rows, tenant, progress), hashlib.sha256(), False
    for number, line in enumerate(lines, start=1):
        try:
            ((kind, record),) = json.loads(line).items()
            if ended or (kind == "end" and record["sha256"] != digest.hexdigest()):
                raise ValueError(kind)
            ended = kind == "end"
            loading.take(kind, record)
            digest.update(line.strip())
        except UNREADABLE as error:
            raise Invalid(
                "journal", f"line {number} is not a line of an exported journal", "Export it again."
            ) from error
    if not ended:
        raise Invalid("journal", "ends before its last line", "Export it again.")
    try:
        whole = loading.finish()
    except UNREADABLE as error:
        raise Invalid("journal", "does not hold together", "Export it again.") from error
    for fault in audit.verify_loaded(rows, whole):
        raise Invalid("journal", f"does not hold together: {fault.where}: {fault.problem}", "Export it again.")
    return Loaded(tenant=str(whole.name), commits=loading.commits)


class _Loading:
    """A tenant as its lines come in.

    Attributes:
        spaces: The ids here of its spaces, by number.
        owners: Whose spaces they are: users, with the name of a branch.
        heads: Of each space what is set when all lines are in: its last commit, its epoch.
        spent: Where an older export does not say up to which number none is given again, the highest that an actor has.
    """

    def __init__(self, rows: Rows, name: str | None, progress: Callable[[int, int], None] | None) -> None:
        self.rows, self.name, self.progress = rows, name, progress
        self.tenant: TenantRow | None = None
        self.spaces: dict[int, int] = {}
        self.owners: set[tuple[str | Shared | None, str]] = set()
        self.heads: dict[int, tuple[int, int]] = {}
        self.spent: dict[int, int] = {}
        self.change: ChangeRow | None = None
        self.commits = 0

    def take(self, kind: str, record: dict[str, Any]) -> None:
        match kind:
            case "head":
                self._head(record)
            case "space":
                self._space(record)
            case "name":
                self._name(record)
            case "change":
                self._change(record)
            case "event":
                self._event(record)
            case "strength":
                row = StrengthRow(
                    **{**record, "space": self.spaces[record["space"]], "id": bytes.fromhex(record["id"])}
                )
                self.rows.items.add_strengths(row.space, [row])
            case "key":
                self._key(record)
            case "tomb":
                self.rows.journal.add_tomb(self.spaces[record["space"]], bytes.fromhex(record["item"]), record["seq"])
            case "end":
                pass
            case _:
                raise KeyError(kind)

    def finish(self) -> TenantRow:
        if self.tenant is None:
            raise Invalid("journal", "has no head line", "Export it again.")
        self.rows.spaces.set_tenant(self.tenant)
        if self.tenant.horizon:
            kept = self.rows.journal.count_events(self.tenant.id, 0, self.tenant.horizon)
            self.rows.notes.set_memo(self.tenant.id, BEHIND, b"%d" % kept)
        if (self.change.hash if self.change else ledger.GENESIS) != self.tenant.hash:
            raise Invalid("journal", f"does not end at commit {self.tenant.seq}, as its head says", "Export it again.")
        for space in self.rows.spaces.tenant_spaces(self.tenant.id):
            seq, epoch = self.heads[space.id]
            self.rows.spaces.set_space(space._replace(seq=seq, epoch=epoch))
            self.rows.lanes.make_due(space.id)
        for space_id, upto in self.spent.items():
            self.rows.names.spend(space_id, upto)
        return self.rows.spaces.tenant_row(self.tenant.id)

    def _head(self, record: dict[str, Any]) -> None:
        if record["mnemic"] != JOURNAL:
            raise Invalid(
                "journal", f"has line format {record['mnemic']}, this mnemic knows {JOURNAL}", "Upgrade mnemic."
            )
        name = self.name or record["tenant"]
        if self.tenant is not None or clean_name("tenant", name) != name:
            raise ValueError("head")
        if self.rows.spaces.tenant(name) is not None:
            raise Conflict(
                f"tenant {name!r} is here already; load it under another name (--tenant), or into a new file"
            )
        fresh = self.rows.spaces.add_tenant(name)
        self.tenant = TenantRow(
            fresh.id, name, record["seq"], record["at"], bytes.fromhex(record["hash"]),
            record["horizon"], bytes.fromhex(record["horizon_hash"]),
        )  # fmt: skip

    def _space(self, record: dict[str, Any]) -> None:
        if self.tenant is None:
            raise KeyError("head")
        user: str | Shared | None = SHARED if record["shared"] else record["user"]
        line = BranchPoint(**{name: record[name] for name in ("parent", "base", "branch") if name in record})
        parent = self.spaces[line.parent] if line.parent else 0
        line = line._replace(parent=parent, lanes=bool(record.get("lanes", True)))
        number, secret = _number(record["id"]), bytes.fromhex(record["secret"])
        owner = user, line.branch
        if number in self.spaces or (user is not None and owner in self.owners):
            raise ValueError(number)
        if isinstance(user, str) and clean_name("user", user) != user:
            raise ValueError(user)  # nobody could name them, to read it or to have it erased
        self.owners.add(owner)
        space = self.spaces[number] = self.rows.spaces.load_space(self.tenant.id, number, user, secret, line)
        self.heads[space] = (record["seq"], record["epoch"])
        if "spent" not in record:
            self.spent[space] = 0
        elif record["spent"]:
            self.rows.names.spend(space, _number(record["spent"]))

    def _name(self, record: dict[str, Any]) -> None:
        space, number = self.spaces[record["space"]], _number(record["id"])
        self.rows.names.load_name(space, number, record["text"])

    def _change(self, record: dict[str, Any]) -> None:
        if self.tenant is None:
            raise KeyError("head")
        space = self.spaces[record["space"]] if record["space"] else 0
        if record["actor"] and space in self.spent:
            self.spent[space] = max(self.spent[space], _number(record["actor"]))
        own = {"tenant": self.tenant.id, "space": space, "hash": bytes.fromhex(record["hash"])}
        self.change = ChangeRow(**{**record, **own})
        self.rows.journal.add_change(self.change)
        self.commits += 1
        if self.progress is not None and self.commits % _PAGE == 0:
            self.progress(self.commits, max(self.commits, self.tenant.seq - self.tenant.horizon))

    def _event(self, record: dict[str, Any]) -> None:
        if self.change is None:
            raise KeyError("change")
        item = bytes.fromhex(record["item"]) if record["item"] else None
        ver = self._version(record, item) if record.get("version") and item else 0
        lver = self._link(record, item) if record.get("link") and item else 0
        if (ver or lver) and not self.change.space:
            raise ValueError("space")
        payload = record["payload"].encode() if "payload" in record else None
        salt = bytes.fromhex(record["salt"]) if record["salt"] else None
        digest = bytes.fromhex(record["digest"])
        event = EventRow(
            self.change.tenant, record["seq"], record["n"], record["verb"], item, ver, lver, payload, salt, digest
        )
        self.rows.journal.add_events([event])

    def _version(self, record: dict[str, Any], raw: bytes) -> int:
        if self.change is None:
            raise KeyError("change")
        space, seq, body = self.change.space, record["seq"], record["version"].encode()
        item = codec.decode_item(from_bytes(raw), body)
        before = self.rows.items.standing(space, [raw])
        self.rows.items.close_versions(space, [row.ver for row in before.values()], seq)
        row = ledger.version_row(self.rows, space, seq, record["n"], item, raw, body)
        ver = self.rows.items.add_versions([row])
        self.rows.items.add_entries(space, ledger.entries(ver, row, item.pinned, entry_terms(item)))
        self.rows.items.add_facets(space, [(ver, facet) for facet in written_facets(item.tags, item.author)])
        self.rows.links.add_derived(space, [(to_bytes(source), raw) for source in item.erased_with])
        return ver

    def _link(self, record: dict[str, Any], src: bytes) -> int:
        if self.change is None:
            raise KeyError("change")
        space, seq, body = self.change.space, record["seq"], record["link"]["body"].encode()
        dst = bytes.fromhex(record["link"]["dst"])
        type_ = self.rows.names.known(space, json.loads(body)["type"])
        opened = record["verb"] == Verb.LINKED
        return self.rows.links.add_links([LinkRow(0, space, src, dst, type_, seq, FOREVER, record["n"], opened, body)])

    def _key(self, record: dict[str, Any]) -> None:
        raw = {name: bytes.fromhex(record[name]) for name in ("hash", "salt", "digest")}
        item = bytes.fromhex(record["item"]) if record["item"] else None
        space = self.spaces[record["space"]]
        self.rows.journal.add_keys([KeyRow(**{**record, **raw, "space": space, "item": item})])


def _number(value: object) -> int:
    """A number that the journal calls something by: above 0, and not so high that no other could follow."""
    if type(value) is not int or not 0 < value <= _MOST:
        raise ValueError(value)
    return value


def tombstones(rows: Rows) -> list[tuple[str, str | None, list[bytes]]]:
    """List what was erased, by space that still has an owner: tenant, user (None: shared), item ids."""
    gone = []
    for tenant in rows.spaces.tenants():
        for space in rows.spaces.tenant_spaces(tenant.id):
            if tenant.name is not None and space.user is not None:
                items = [item for item, _ in rows.journal.tombs(space.id)]
                gone.append((tenant.name, ledger.space_owner(space.user)[0], items))
    return gone
