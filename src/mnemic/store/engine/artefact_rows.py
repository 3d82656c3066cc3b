"""Which files of artefacts the rows of a store name: what they do not name is nobody's, and goes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from mnemic.artefacts.artefact_files import ArtefactFolder, Wall
from mnemic.artefacts.artefact_records import ARTEFACT, Artefact, artefact_of, file_tag
from mnemic.core.clock import FOREVER
from mnemic.core.items import State
from mnemic.core.visibility import Condition
from mnemic.store.engine import codec, lineage
from mnemic.store.engine.rows import Rows
from mnemic.store.values.row_values import SpaceRow

_TAGGED: Final = Condition("tags", "IN", (ARTEFACT,))
_AT_ONCE: Final = 500


@dataclass(frozen=True, slots=True)
class NamedArtefact:
    """An artefact that a version names, and whether that version is the one that stands."""

    artefact: Artefact
    stands: bool

    @property
    def keeps_file(self) -> bool:
        """Whether its file is kept: what can be made again is kept for the standing version alone."""
        return self.stands or not self.artefact.remade


def wall_of(rows: Rows, space: SpaceRow) -> Wall:
    """The wall of a space: branches lie behind the one of the space that they came off in the end."""
    return Wall(space.tenant, lineage.lineage(rows, space)[-1].space)


def named_by(rows: Rows, wall: Wall) -> Iterator[NamedArtefact]:
    """Every artefact that a version behind a wall names; none where nobody owns the space any more."""
    return _named_by(rows, wall, _TAGGED)


def _named_by(rows: Rows, wall: Wall, where: Condition) -> Iterator[NamedArtefact]:
    for space in _behind(rows, wall):
        vers = rows.items.bearers(space.id, where, 0)
        for first in range(0, len(vers), _AT_ONCE):
            for row in rows.items.version_rows(space.id, vers[first : first + _AT_ONCE]):
                body = codec.read_body(row.body)
                artefact = artefact_of(body.wording.kind, codec.CHANNELS[row.channel], body.tags, body.wording.slots)
                if artefact is not None:
                    yield NamedArtefact(artefact, row.seq_to == FOREVER and row.state == State.ACTIVE)


def kept_digests(rows: Rows, wall: Wall) -> set[str]:
    """The digests of the files behind a wall that are kept."""
    return {named.artefact.stored.sha256 for named in named_by(rows, wall) if named.keeps_file}


def drop_unnamed(rows: Rows, folder: ArtefactFolder, wall: Wall, sha256: str) -> int:
    """Unlink a file unless an item keeps it; how many bytes that gave back.

    In one transaction: nobody commits an item of it between the look and the unlinking, and whoever does so afterwards
    sees that it is gone.
    """
    named = _named_by(rows, wall, Condition("tags", "IN", (file_tag(sha256),)))
    return 0 if any(one.keeps_file for one in named) else folder.drop(wall, sha256)


def drop_remade(rows: Rows, folder: ArtefactFolder, wall: Wall, sha256: str) -> int:
    """Unlink a file that can be made again, unless one that cannot has the same bytes; how many that gave back."""
    named = _named_by(rows, wall, Condition("tags", "IN", (file_tag(sha256),)))
    return folder.drop(wall, sha256) if all(one.artefact.remade for one in named) else 0


def lasting_artefacts(rows: Rows, walls: Iterable[Wall]) -> dict[Wall, dict[str, Artefact]]:
    """By wall and digest the artefacts that cannot be made again: a backup has their files too."""
    lasting = {
        wall: {
            named.artefact.stored.sha256: named.artefact for named in named_by(rows, wall) if not named.artefact.remade
        }
        for wall in walls
    }
    return {wall: artefacts for wall, artefacts in lasting.items() if artefacts}


def _behind(rows: Rows, wall: Wall) -> Sequence[SpaceRow]:
    """The spaces behind a wall."""
    (space,) = rows.spaces.space_rows((wall.space,)) or (None,)
    if space is None or space.tenant != wall.tenant or space.user is None or space.parent:
        return ()
    return lineage.kin(rows, space)
