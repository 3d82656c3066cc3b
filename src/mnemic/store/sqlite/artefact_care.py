"""Looks after the files of artefacts beside a SQLite file: what rows no longer name goes, what they name is checked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mnemic.artefacts.artefact_files import GRACE_SECONDS, ArtefactFolder, Wall
from mnemic.core.scope import Shared
from mnemic.errors import NotFound, StoreError
from mnemic.store.engine import artefact_rows
from mnemic.store.engine.rows import Rows
from mnemic.store.values.drafts import Erasure
from mnemic.store.values.receipts import Fault


def reached_walls(rows: Rows, folder: ArtefactFolder, erasure: Erasure) -> list[Wall]:
    """The walls behind which an erasure may have taken artefacts, of those that have files.

    What is shared may have been built upon behind every wall of its tenant; a tenant that is erased has no name left.
    """
    if not folder.root.is_dir():
        return []
    tenant = rows.spaces.tenant(erasure.tenant)
    if tenant is None or erasure.user is None or isinstance(erasure.user, Shared):
        return folder.walls(None if tenant is None else tenant.id)
    space = None if erasure.whole else rows.spaces.space(tenant.id, erasure.user)
    return folder.walls(tenant.id) if space is None else [Wall(tenant.id, space.id)]


def leave_named(rows: Rows, folder: ArtefactFolder, walls: Iterable[Wall], *, grace: float = 0.0) -> list[str]:
    """Unlink the files behind walls that no row keeps; what could not be unlinked, with the reason."""
    return [left for wall in walls for left in folder.leave(wall, artefact_rows.kept_digests(rows, wall), grace=grace)]


def sweep_orphans(rows: Rows, folder: ArtefactFolder) -> list[str]:
    """Unlink what no row keeps and nobody may be about to name; what could not be unlinked, with the reason."""
    return leave_named(rows, folder, folder.walls(), grace=GRACE_SECONDS)


def faults(rows: Rows, folder: ArtefactFolder) -> Iterator[Fault]:
    """What is wrong with artefacts: bytes that are not what their item says, or that are gone and cannot be made again.

    Every wall that rows know is looked at, not only those that have a folder.
    """
    for tenant in rows.spaces.tenants():
        for space in rows.spaces.tenant_spaces(tenant.id):
            if not space.parent and space.user is not None:
                yield from _faults_behind(rows, folder, Wall(tenant.id, space.id))


def _faults_behind(rows: Rows, folder: ArtefactFolder, wall: Wall) -> Iterator[Fault]:
    by_digest = {named.artefact.stored.sha256: named for named in artefact_rows.named_by(rows, wall)}
    for named in by_digest.values():
        try:
            folder.verified(wall, named.artefact.stored)
        except NotFound as error:
            if not named.artefact.remade:
                yield Fault(where=f"artefact {named.artefact.stored.sha256[:12]}", problem=str(error))
        except StoreError as error:
            yield Fault(where=f"artefact {named.artefact.stored.sha256[:12]}", problem=str(error))


def copy_lasting(rows: Rows, source: ArtefactFolder, dest: ArtefactFolder) -> None:
    """Copy what cannot be made again to the folder beside a copy of the store whose rows these are."""
    if source.root.is_dir():
        source.copy_to(dest, artefact_rows.lasting_artefacts(rows, source.walls()))
