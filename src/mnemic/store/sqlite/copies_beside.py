"""Erase from the copies that lie beside a store what was erased from it: checkpoints, half-made ones, logs put aside.

What is still to be erased there stands in the store (`meta`, `copies`) from the erasure's own commit until each copy is
done, so that whoever opens the store next goes on with it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final, Protocol

import apsw

from mnemic.artefacts.artefact_files import ENDING, ArtefactFolder
from mnemic.core.ids import ItemId, item_id
from mnemic.core.scope import SHARED, Shared
from mnemic.errors import Conflict, Invalid, MnemicError, StoreCorrupt, StoreLocked
from mnemic.store.contract import Store
from mnemic.store.engine.erasure import doomed
from mnemic.store.engine.rows import Rows
from mnemic.store.sqlite.checkpoint_files import being_copied, copied_by, described
from mnemic.store.sqlite.connections import translated
from mnemic.store.sqlite.disk import set_meta
from mnemic.store.sqlite.location import CHECKPOINTS
from mnemic.store.sqlite.row_checksums import FUNCTION
from mnemic.store.sqlite.secure_erase import Reached
from mnemic.store.values.drafts import Erasure, Named
from mnemic.store.values.heads import CheckpointRow, is_bare_name


class CopyBeside(Store, Protocol):
    """A copy that is opened as a store."""

    def origin(self) -> str:
        """What names the store that it is a copy of."""
        ...


_KEY: Final = "copies"
_NAMED: Final = ("session", "source", "agent", "shelf")
_ASIDE: Final = "-wal.stale"
_ENDS: Final = (".restoring", f".restoring{ENDING}", ".restoring-wal", ".restoring-shm", ".restoring-journal", _ASIDE)
_KEPT: Final = "SELECT value, checksum IS " + FUNCTION + "('meta', CAST(key AS BLOB), value) FROM meta WHERE key = ?"


@dataclass(frozen=True, slots=True)
class Owed:
    """An erasure, and the files beside the store that it has still to reach, by their names there."""

    erasure: Erasure
    files: tuple[str, ...]


def owe(db: apsw.Connection, rows: Rows, store: Path, erasure: Erasure, ids: tuple[ItemId, ...]) -> bool:
    """Note what an erasure has to reach; whether that is anything. A branch that is dropped is not erased elsewhere."""
    if erasure.whole and erasure.branch:
        return False
    files = tuple(beside(store, rows))
    if files:
        again = replace(erasure, ids=tuple(dict.fromkeys((*erasure.ids, *ids))), reopen=(), expect={}, reason="")
        _keep(db, [*owed(db), Owed(again, files)])
    return bool(files)


def owes(db: apsw.Connection) -> bool:
    """Whether something is still to be erased from copies."""
    return db.execute("SELECT 1 FROM meta WHERE key = ?", (_KEY,)).get is not None


def owed(db: apsw.Connection) -> list[Owed]:
    """What is still to be erased from copies.

    Raises:
        StoreCorrupt: somebody else has written it; nothing of it is done.
    """
    kept, fits = db.execute(_KEPT, (_KEY,)).fetchone() or (b"[]", True)
    try:
        if not fits:
            raise ValueError("its checksum does not fit")
        return [_decoded(record) for record in json.loads(kept)]
    except (ValueError, TypeError, LookupError, RecursionError, Invalid) as error:
        raise StoreCorrupt(
            f"what is still to be erased from copies is not as it was written ({error}); nothing was touched, restore"
            " a backup"
        ) from error


def _keep(db: apsw.Connection, left: Sequence[Owed]) -> None:
    if left:
        set_meta(db, _KEY, json.dumps([_encoded(owed) for owed in left]).encode())
    else:
        db.execute("DELETE FROM meta WHERE key = ?", (_KEY,))


def _encoded(owed: Owed) -> dict[str, Any]:
    erasure = owed.erasure
    return {
        "tenant": erasure.tenant,
        "user": None if isinstance(erasure.user, Shared) else erasure.user,
        "shared": isinstance(erasure.user, Shared),
        "ids": erasure.ids,
        "whole": erasure.whole,
        "actor": "" if erasure.whole else erasure.actor,
        "names": erasure.names,
        "named": asdict(erasure.named),
        "files": owed.files,
    }


def _decoded(record: dict[str, Any]) -> Owed:
    named = record["named"]
    erasure = Erasure(
        tenant=_text(record["tenant"]),
        user=SHARED if record["shared"] is True else _text_or_none(record["user"]),
        ids=_ids(record["ids"]),
        whole=record["whole"] is True,
        actor=_text(record["actor"]),
        names=_texts(record["names"]),
        named=Named(ids=_ids(named["ids"]), **{name: _text_or_none(named[name]) for name in _NAMED}),
    )
    return Owed(erasure, _texts(record["files"]))


def _ids(value: object) -> tuple[ItemId, ...]:
    return tuple(item_id("copies", text) for text in _texts(value))


def _texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise TypeError(f"{type(value).__name__} in place of a list")
    return tuple(_text(text) for text in value)


def _text_or_none(value: object) -> str | None:
    return None if value is None else _text(value)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{type(value).__name__} in place of a text")
    value.encode()  # half a character, which JSON can say, is no text to SQLite
    return value


def beside(store: Path, rows: Rows) -> Iterator[str]:
    """The files beside a store that may hold what it holds: copies it knows, copies of its name, logs put aside."""
    for end in _ENDS:
        if store.with_name(store.name + end).exists():
            yield store.name + end
    folder = store.parent / CHECKPOINTS
    known = {row.file for row in _known(rows, folder)}
    others = [
        f"{other.stem}-" for other in store.parent.glob(f"*{store.suffix}") if other.stem.startswith(f"{store.stem}-")
    ]
    names = set()
    for file in folder.iterdir() if folder.is_dir() else ():
        name = copied_by(file.name)
        ours = name.startswith(f"{store.stem}-") and name.endswith(store.suffix) and not name.startswith(tuple(others))
        if ours or name in known:
            names.add(name)
    yield from (f"{CHECKPOINTS}/{name}" for name in sorted(names))


def _is_beside(name: str, store: Path) -> bool:
    """Whether a name is one that `beside` gives: whoever changed the store makes it name no file elsewhere."""
    folder, _, bare = name.rpartition("/")
    if not folder:
        return name in {store.name + end for end in _ENDS}
    return folder == CHECKPOINTS and is_bare_name(bare)


def _known(rows: Rows, folder: Path) -> Iterator[CheckpointRow]:
    for tenant in rows.spaces.tenants():
        for row in rows.notes.checkpoints(tenant.id):
            with suppress(StoreCorrupt):  # a store that somebody has changed names no file elsewhere
                row.within(folder)
                yield row


@dataclass(frozen=True, slots=True)
class _Round:
    """One go at all that is owed."""

    store: Path
    origin: str
    known: frozenset[str]
    open_copy: Callable[[Path], CopyBeside]
    holds: frozenset[int]

    def reach(self, name: str, erasures: Sequence[Erasure]) -> tuple[tuple[ItemId, ...], bool, dict[Path, str]]:
        """Erase from one file: what went, whether it was written to, and which files still hold some, and why."""
        file = self.store.parent / name
        if not _is_beside(name, self.store):
            return (), False, {file: "is named like no copy of this store; nothing was touched"}
        if name.endswith(_ASIDE):
            why = "the log of a file that was taken away while it was open; delete it once you need nothing of that"
            return (), False, {file: why} if file.exists() else {}
        if file.parent == self.store.parent:
            if file.name.endswith(ENDING):
                ArtefactFolder(file).drop_all()
            else:
                file.unlink(missing_ok=True)  # of a restore that was cut short
            return (), False, {}
        left = dict.fromkeys(being_copied(file), "is being made just now")
        if not file.is_file():
            return (), False, left
        try:
            ids, wrote, clean = self._erased(file, erasures, known=file.name in self.known)
        except Conflict as error:
            return (), False, {**left, file: str(error)}
        except (MnemicError, OSError) as error:
            drop = f"`mnemic checkpoint --drop {file.stem.removeprefix(self.store.stem + '-')}` lets it go"
            return (), False, {**left, file: f"{error}; {drop}"}
        return ids, wrote, left if clean else {**left, file: "another process reads it"}

    def _erased(self, file: Path, erasures: Sequence[Erasure], *, known: bool) -> tuple[tuple[ItemId, ...], bool, bool]:
        with closing(self.open_copy(file)) as copy:
            if copy.origin() != self.origin:
                if known:  # a store that was restored over another lists the other's
                    raise Conflict("is a copy of another store; nothing was touched, delete it yourself if it is to go")
                return (), False, True  # somebody else's, which only looks like ours
            copy.transact(_lift, self.holds)
            went = [item for erasure in erasures for item in _erase(copy, erasure)]
            clean = copy.settle()
        return tuple(went), True, clean and _folded(file)


def reach(
    db: apsw.Connection,
    rows: Rows,
    store: Path,
    origin: str,
    open_copy: Callable[[Path], CopyBeside],
    probe: Callable[[str], None],
) -> tuple[Reached, list[Owed], list[CheckpointRow]]:
    """Erase from copies what is owed: how far it came, what is owed still, and what is in the checkpoints now."""
    todo = owed(db)
    names = dict.fromkeys(name for each in todo for name in each.files)
    listed = list(_known(rows, store.parent / CHECKPOINTS))
    holds = frozenset(row.id for tenant in rows.spaces.tenants() for row in rows.notes.holds(tenant.id))
    this = _Round(store, origin, frozenset(row.file for row in listed), open_copy, holds)
    ids: dict[ItemId, None] = {}
    cleaned: list[str] = []
    changed: list[CheckpointRow] = []
    still: set[str] = set()
    left: dict[Path, str] = {}
    for name in names:
        went, wrote, kept = this.reach(name, [each.erasure for each in todo if name in each.files])
        probe("erase:copy")
        ids.update(dict.fromkeys(went))
        left.update(kept)
        if kept:
            still.add(name)
        elif wrote:
            cleaned.append(str(store.parent / name))
        if wrote and not kept:
            changed += _redescribed(store.parent / name, listed)
    rest = [
        Owed(each.erasure, files) for each in todo if (files := tuple(name for name in each.files if name in still))
    ]
    said = tuple(f"{file}: {why}" for file, why in left.items())
    return Reached(ids=tuple(ids), cleaned=tuple(cleaned), left=said), rest, changed


def settled(db: apsw.Connection, rows: Rows, rest: Sequence[Owed], changed: Sequence[CheckpointRow]) -> None:
    """Write down what is owed still, and the state hashes of checkpoints that are others now, inside a transaction."""
    _keep(db, rest)
    set_meta(db, "residue", b"1")  # what was owed names things, and goes from the file as what was erased did
    for row in changed:
        if any(now.name == row.name for now in rows.notes.checkpoints(row.tenant)):
            rows.notes.set_checkpoint(row)


def _redescribed(file: Path, listed: Sequence[CheckpointRow]) -> Iterator[CheckpointRow]:
    """A checkpoint's rows with the state hashes that it has now; it is still the one of the commit that it was of."""
    rows = {row.tenant: row for row in listed if row.file == file.name}
    for name, at in {(row.name, row.at) for row in rows.values()}:
        for now in described(file, name, at):
            if now.tenant in rows:
                yield rows[now.tenant]._replace(hash=now.hash)


def _lift(rows: Rows, standing: frozenset[int]) -> None:
    """Take the holds out of a copy that have been released since."""
    for tenant in rows.spaces.tenants():
        for row in rows.notes.holds(tenant.id):
            if row.id not in standing:
                rows.notes.drop_hold(row.tenant, row.id)


def _erase(copy: CopyBeside, erasure: Erasure) -> tuple[ItemId, ...]:
    with copy.read() as snapshot:
        tenant = snapshot.tenant(erasure.tenant)
        if tenant is None:
            return ()
        if erasure.user is not None:
            space = snapshot.space(tenant, erasure.user)
            if space is None:
                return ()
            if not erasure.whole:
                there = doomed(snapshot, space.id, erasure.named)
                erasure = replace(erasure, ids=tuple(dict.fromkeys((*erasure.ids, *there))), branch="")
    return copy.erase(erasure).ids


def _folded(file: Path) -> bool:
    """Leave the copy as one file, as it was made; whether nobody had it open."""
    try:
        with translated(file), closing(apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READWRITE)) as db:
            db.pragma("journal_mode", "DELETE")
    except StoreLocked:
        return False
    return True
