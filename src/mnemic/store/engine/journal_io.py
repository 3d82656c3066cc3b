"""Write a journal as lines of JSON, and load one: loading applies what was recorded and runs nothing."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any, Final

from mnemic.core.clock import FOREVER
from mnemic.core.events import Verb
from mnemic.core.facets import tag_facets
from mnemic.core.ids import from_bytes, to_bytes
from mnemic.core.parts import entry_terms
from mnemic.core.sanitize import for_json
from mnemic.core.scope import SHARED, Shared
from mnemic.errors import Conflict, Invalid, StoreCorrupt
from mnemic.store.engine import audit, codec, ledger
from mnemic.store.engine.codec import canonical
from mnemic.store.engine.rows import Rows
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
    yield _line("end", {"sha256": digest.hexdigest()})


def _lines(rows: Rows, name: str) -> Iterator[bytes]:
    tenant = rows.spaces.known_tenant(name)
    head = {"mnemic": JOURNAL, "tenant": name, "seq": tenant.seq, "at": tenant.at, "hash": tenant.hash.hex()}
    yield _line("head", {**head, "horizon": tenant.horizon, "horizon_hash": tenant.horizon_hash.hex()})
    spaces = rows.spaces.tenant_spaces(tenant.id)
    for space in spaces:
        owner, shared = ledger.space_owner(space.user) if space.user is not None else (None, 0)
        record = {
            "id": space.id,
            "user": owner,
            "shared": shared,
            "secret": space.secret.hex(),
            "seq": space.seq,
            "epoch": space.epoch,
            **_line_of(space),
        }
        yield _line("space", record)
    for home in (0, *(space.id for space in spaces)):
        for number, text in rows.names.names(home):
            yield _line("name", {"id": number, "space": home, "text": text})
    yield from _commits(rows, tenant)
    for space in spaces:
        for s in rows.items.strengths(space.id):
            yield _line("strength", {**s._asdict(), "id": s.id.hex()})
        for k in rows.journal.keys(space.id):
            raw = {
                "hash": k.hash.hex(),
                "salt": k.salt.hex(),
                "digest": k.digest.hex(),
                "item": k.item.hex() if k.item else None,
            }
            yield _line("key", {**k._asdict(), **raw})
        for item, seq in rows.journal.tombs(space.id):
            yield _line("tomb", {"space": space.id, "item": item.hex(), "seq": seq})


def _line_of(space: SpaceRow) -> dict[str, Any]:
    """What a branch says of itself; a space of its own says nothing."""
    if not space.parent:
        return {}
    return {"parent": space.parent, "base": space.base, "branch": space.branch, "lanes": int(space.lanes)}


def _commits(rows: Rows, tenant: TenantRow) -> Iterator[bytes]:
    after = 0
    while changes := rows.journal.changes(tenant.id, after, _PAGE, False):
        after = changes[-1].seq
        for change in changes:
            yield _line("change", {**change._asdict(), "hash": change.hash.hex()})
            for event in rows.journal.events(tenant.id, change.seq, change.seq):
                yield _line("event", _event(rows, change, event))


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


def _line(kind: str, record: dict[str, Any]) -> bytes:
    return for_json(canonical({kind: record}).decode()).encode() + b"\n"  # whoever looks at it may do so on a terminal


def load(rows: Rows, lines: Iterator[bytes]) -> int:
    """Apply an exported journal to an empty store inside a transaction; returns how many commits it holds.

    Ids, salts, seqs, hashes and times are kept; tokens are made again from the text.

    Raises:
        Conflict: the store is not empty.
        Invalid: a line is not of an exported journal.
    """
    if rows.spaces.tenants():
        raise Conflict("the store is not empty; load a journal into a new file")
    loading, digest, ended = _Loading(rows), hashlib.sha256(), False
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
        loading.finish()
    except UNREADABLE as error:
        raise Invalid("journal", "does not hold together", "Export it again.") from error
    for fault in audit.verify(rows):
        raise Invalid("journal", f"does not hold together: {fault.where}: {fault.problem}", "Export it again.")
    return loading.commits


class _Loading:
    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self.tenant: TenantRow | None = None
        self.heads: dict[int, tuple[int, int]] = {}
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
                row = StrengthRow(**{**record, "id": bytes.fromhex(record["id"])})
                self.rows.items.add_strengths(row.space, [row])
            case "key":
                self._key(record)
            case "tomb":
                self.rows.journal.add_tomb(record["space"], bytes.fromhex(record["item"]), record["seq"])
            case "end":
                pass
            case _:
                raise KeyError(kind)

    def finish(self) -> None:
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

    def _head(self, record: dict[str, Any]) -> None:
        if record["mnemic"] != JOURNAL:
            raise Invalid(
                "journal", f"has line format {record['mnemic']}, this mnemic knows {JOURNAL}", "Upgrade mnemic."
            )
        fresh = self.rows.spaces.add_tenant(record["tenant"])
        self.tenant = TenantRow(
            fresh.id, record["tenant"], record["seq"], record["at"], bytes.fromhex(record["hash"]),
            record["horizon"], bytes.fromhex(record["horizon_hash"]),
        )  # fmt: skip

    def _space(self, record: dict[str, Any]) -> None:
        if self.tenant is None:
            raise KeyError("head")
        user: str | Shared | None = SHARED if record["shared"] else record["user"]
        line = BranchPoint(**{name: record[name] for name in ("parent", "base", "branch") if name in record})
        line = line._replace(lanes=bool(record.get("lanes", True)))
        self.rows.spaces.load_space(record["id"], self.tenant.id, user, bytes.fromhex(record["secret"]), line)
        self.heads[record["id"]] = (record["seq"], record["epoch"])

    def _name(self, record: dict[str, Any]) -> None:
        self.rows.names.load_name(record["id"], record["space"], record["text"])

    def _change(self, record: dict[str, Any]) -> None:
        if self.tenant is None:
            raise KeyError("head")
        self.change = ChangeRow(**{**record, "hash": bytes.fromhex(record["hash"]), "tenant": self.tenant.id})
        self.rows.journal.add_change(self.change)
        self.commits += 1

    def _event(self, record: dict[str, Any]) -> None:
        if self.change is None:
            raise KeyError("change")
        item = bytes.fromhex(record["item"]) if record["item"] else None
        ver = self._version(record, item) if record.get("version") and item else 0
        lver = self._link(record, item) if record.get("link") and item else 0
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
        self.rows.items.add_facets(space, [(ver, facet) for facet in tag_facets(item.tags)])
        self.rows.links.add_derived(space, [(to_bytes(source), raw) for source in item.source])
        return ver

    def _link(self, record: dict[str, Any], src: bytes) -> int:
        if self.change is None:
            raise KeyError("change")
        space, seq, body = self.change.space, record["seq"], record["link"]["body"].encode()
        dst = bytes.fromhex(record["link"]["dst"])
        type_ = self.rows.names.number(space, json.loads(body)["type"])
        opened = record["verb"] == Verb.LINKED
        return self.rows.links.add_links([LinkRow(0, space, src, dst, type_, seq, FOREVER, record["n"], opened, body)])

    def _key(self, record: dict[str, Any]) -> None:
        raw = {name: bytes.fromhex(record[name]) for name in ("hash", "salt", "digest")}
        item = bytes.fromhex(record["item"]) if record["item"] else None
        self.rows.journal.add_keys([KeyRow(**{**record, **raw, "item": item})])


def tombstones(rows: Rows) -> list[tuple[str, str | None, list[bytes]]]:
    """List what was erased, by space that still has an owner: tenant, user (None: shared), item ids."""
    found = []
    for tenant in rows.spaces.tenants():
        for space in rows.spaces.tenant_spaces(tenant.id):
            if tenant.name is not None and space.user is not None:
                items = [item for item, _ in rows.journal.tombs(space.id)]
                found.append((tenant.name, ledger.space_owner(space.user)[0], items))
    return found
