"""One user's artefacts: what models have computed from this memory, kept as items whose bytes lie beside the store."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from mnemic.artefacts.artefact_files import GRACE_SECONDS, ArtefactFolder, StoredBytes, Wall
from mnemic.artefacts.artefact_records import Artefact
from mnemic.core.ids import ItemId
from mnemic.core.items import Item, Slot
from mnemic.errors import MnemicError, NotFound, Refused, StoreCorrupt, StoreError
from mnemic.flow import Flow
from mnemic.opening import Opened, looking
from mnemic.settings import Settings
from mnemic.store.engine.artefact_rows import drop_remade, drop_unnamed
from mnemic.verbs.artefact_keeping import KeptArtefact
from mnemic.verbs.who import Past, Who, spaces_of
from mnemic.watching.metering import Meters

if TYPE_CHECKING:
    from mnemic.store.engine.snapshot import Snapshot

T = TypeVar("T")

_TRIES: Final = 3
"""How often bytes are kept again because an erasure beside them took the file before its item was committed."""


class ScopeArtefacts:
    """The artefacts of one user, or of one shelf of theirs. Safe to share between threads.

    Raises:
        Refused: the store has no folder beside it, so an erasure could not reach them.
    """

    def __init__(self, opened: Opened, who: Who) -> None:
        if opened.store.artefacts is None:
            raise Refused(
                "this store keeps no artefacts: they lie beside a store in a file, where an erasure reaches them; "
                "open a file (mnemic move brings a memory there)"
            )
        self._opened, self._who = opened, who
        self._folder: ArtefactFolder = opened.store.artefacts

    @property
    def owner(self) -> tuple[object, ...]:
        """Whose they are, as something that can be compared: nobody else has the same."""
        scope = self._who.scope
        return id(self._opened.store), scope.tenant, scope.user, self._who.branch

    @property
    def settings(self) -> Settings:
        """The settings that the store was opened with."""
        return self._opened.settings

    @property
    def meters(self) -> Meters:
        """The meters of the store."""
        return self._opened.meters

    def of_session(self, name: str) -> ScopeArtefacts:
        """The artefacts of one session of this user."""
        return ScopeArtefacts(self._opened, looking(self._who, Past(), replace(self._who.scope, session=name)))

    def epoch(self) -> tuple[int, ...]:
        """Numbers that are others as soon as anything has been erased that this user could read."""
        with self._opened.store.read() as snapshot:
            return tuple(head.epoch for head in snapshot.spaces(spaces_of(snapshot, self._who)))

    def put(
        self,
        made: bytes | Path,
        *,
        mechanism: str,
        made_by: Mapping[str, Slot],
        sources: Sequence[ItemId],
        text: str = "",
        remade: bool = False,
        details: Mapping[str, Slot] | None = None,
        replaces: ItemId | None = None,
        author: str = "",
    ) -> KeptArtefact:
        """Keep bytes, durably, and commit the item that says what they are.

        Args:
            made: The bytes, a file that has them, or one that `unfinished` named, which becomes the artefact's file.
            mechanism: What they are: `kv`, `lora` ...
            made_by: Digests of model, tokeniser, engine build, settings, adapters: all that they depend on.
            sources: The items that they were made of, at least one: they go with any of them.
            text: One line that says what they are; none of the sources' words.
            remade: Whether they can be made again at little cost, and so be dropped where there is no room.
            details: What else is to be said of them, in numbers and names.
            replaces: The item of the artefact whose place they take: it gets a new version.
            author: Who makes them again from what is left where a source is erased, if anybody does.

        Raises:
            NotFound: a source is not there any more; nothing is left of the bytes.
            Conflict: a source has changed, or something was erased, in this very moment; likewise.
            StoreFull, StoreError: they could not be kept; likewise.
        """
        wall = self._wall()
        with self._folder.kept_twice(wall, made) as again:
            stored = self._folder.keep(wall, made)
            artefact = Artefact(
                mechanism=mechanism, stored=stored, made_by=made_by, remade=remade, details=details or {}, author=author
            )
            words = text or f"{mechanism}, {stored.size:,} bytes"
            try:
                before = None if replaces is None else self._before(replaces)
                kept = self._run(self._opened.kernel.keep_artefact(self._who, artefact, words, sources, replaces))
            except MnemicError:
                self._drop_unnamed(wall, stored)
                raise
            if before is not None:
                self._drop_unnamed(wall, before.artefact.stored)
            try:
                self._keep_again(wall, artefact, lambda: self._folder.keep(wall, again))
            except MnemicError:
                self._take_out(kept)
                raise
        return kept

    def _take_out(self, kept: KeptArtefact) -> None:
        """Leave nothing of an artefact whose bytes an erasure took just as its item was committed."""
        flow = self._opened.kernel.erase(self._who, (kept.id,), session=None, source=None, reason="its bytes went")
        self._run(flow)

    def bring(
        self, item: Item, artefact: Artefact, copy: Callable[[Path], object], why_not: Callable[[Snapshot], str]
    ) -> None:
        """Keep an artefact that was made elsewhere: its bytes, and its item under the id that it had there.

        Args:
            item: What it is; its sources must be here.
            copy: Writes the bytes to a new file.
            why_not: Says why it cannot stand here, as `bring_artefact` takes it.

        Raises:
            StoreCorrupt: the bytes are not those that the item names; nothing is left of them.
            NotFound, Conflict, StoreFull, StoreError: as `put`.
        """
        wall = self._wall()
        stored = self._copied(wall, copy)
        try:
            if stored != artefact.stored:
                raise StoreCorrupt(f"the bytes of artefact {item.id} are not those that it names; they were not kept")
            before = self._before(item.id)
            self._run(self._opened.kernel.bring_artefact(self._who, item, why_not))
        except MnemicError:
            self._drop_unnamed(wall, stored)
            raise
        if before is not None:
            self._drop_unnamed(wall, before.artefact.stored)
        self._keep_again(wall, artefact, lambda: self._copied(wall, copy))

    def _copied(self, wall: Wall, copy: Callable[[Path], object]) -> StoredBytes:
        path = self._folder.unfinished(wall)
        try:
            copy(path)
            return self._folder.keep(wall, path)
        finally:
            path.unlink(missing_ok=True)

    def unfinished(self) -> Path:
        """A name for a file that is to become an artefact, behind this user's wall, so that an erasure takes it too."""
        return self._folder.unfinished(self._wall())

    def kept(self, mechanism: str = "") -> tuple[KeptArtefact, ...]:
        """The artefacts that this view shows, in the order in which they were written."""
        return self._run(self._opened.kernel.artefacts(self._who, mechanism))

    def get(self, id: ItemId) -> KeptArtefact:
        """One artefact.

        Raises:
            NotFound: there is none of this id here.
        """
        return self._run(self._opened.kernel.artefact(self._who, id))

    def open(self, kept: KeptArtefact | ItemId) -> Path:
        """The file of an artefact, its bytes checked just now by their digest; it is to be read, and never written to.

        Raises:
            NotFound: there is no such artefact, or its bytes are gone and can be made again.
            StoreCorrupt: its bytes are not what was kept.
        """
        if isinstance(kept, str):
            kept = self.get(kept)
        path = self.verified(kept.artefact)
        self._folder.used(self._wall(), kept.artefact.stored.sha256)
        return path

    def verified(self, artefact: Artefact) -> Path:
        """The file of an artefact, its bytes checked just now, for who does not use but copies it.

        Raises:
            NotFound, StoreCorrupt: as `open`.
        """
        return self._folder.verified(self._wall(), artefact.stored)

    def has_bytes(self, artefact: Artefact) -> bool:
        """Whether a file of an artefact's digest and size is here, its bytes unchecked."""
        path = self._folder.path(self._wall(), artefact.stored.sha256)
        return path.is_file() and path.stat().st_size == artefact.stored.size

    def unchecked(self, kept: KeptArtefact) -> tuple[Path, os.stat_result] | None:
        """Where the file of an artefact is and what the disk says of it, its bytes unchecked; None where it is gone."""
        wall, sha256 = self._wall(), kept.artefact.stored.sha256
        stat = self._folder.stat(wall, sha256)
        return None if stat is None else (self._folder.path(wall, sha256), stat)

    def forget(self, id: ItemId) -> int:
        """Forget an artefact and those made of it, and unlink what can be made again; how many bytes that gave back.

        What cannot be made again stays for `undo`, until it is erased or compacted.

        Raises:
            NotFound: there is none of this id here.
        """
        going = (self.get(id), *(kept for kept in self.kept() if id in kept.version.item.source))
        self._run(self._opened.kernel.forget(self._who, tuple(kept.id for kept in going)))
        return sum(self._drop_unnamed(self._wall(), kept.artefact.stored) for kept in going)

    def drop_bytes(self, kept: KeptArtefact) -> int:
        """Unlink the bytes of an artefact that can be made again; its item stays, for the next time they are made.

        The same bytes as those of one that cannot be made again stay. How many that gave back.

        Raises:
            Refused: they cannot be made again; `forget` it.
        """
        if not kept.artefact.remade:
            raise Refused(f"{kept.id} cannot be made again at little cost; forget or erase it")
        return self._opened.store.transact(drop_remade, self._folder, self._wall(), kept.artefact.stored.sha256)

    def sweep(self) -> list[str]:
        """Unlink what no item keeps and nobody may be about to name; what could not be, with the reason."""
        wall = self._wall()
        return self._folder.leave(wall, self._named(wall), grace=GRACE_SECONDS)

    def stored_bytes(self) -> int:
        """How many bytes lie behind this user's wall, of all branches and shelves."""
        try:
            return sum(stat.st_size for stat in self._folder.kept(self._wall()).values())
        except NotFound:
            return 0

    def _wall(self) -> Wall:
        return self._run(self._opened.kernel.artefact_wall(self._who))

    def _before(self, id: ItemId) -> KeptArtefact | None:
        try:
            return self.get(id)
        except NotFound:
            return None

    def _named(self, wall: Wall) -> set[str]:
        """The digests that items behind the wall keep, of this user's branches too."""
        with self._opened.store.read() as snapshot:
            return snapshot.kept_digests(wall)

    def _drop_unnamed(self, wall: Wall, stored: StoredBytes) -> int:
        """Unlink bytes unless an item keeps them; how many that gave back."""
        return self._opened.store.transact(drop_unnamed, self._folder, wall, stored.sha256)

    def _keep_again(self, wall: Wall, artefact: Artefact, keep: Callable[[], object]) -> None:
        """See that the bytes are there now that an item names them: an erasure beside this may have taken the file."""
        path = self._folder.path(wall, artefact.stored.sha256)
        for _ in range(_TRIES):
            if path.is_file():
                return
            keep()
        if not path.is_file():
            raise StoreError(f"the bytes of artefact {path} are taken away again and again; try once less is erased")

    def _run(self, flow: Flow[T]) -> T:
        return self._opened.answering.verb(flow, self._who, "")
