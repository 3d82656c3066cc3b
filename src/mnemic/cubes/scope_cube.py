"""One user's memory written to a cube, and a cube brought in: the text in one commit, then what models computed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, TypeVar

from mnemic.core.clock import moment
from mnemic.core.ids import ItemId
from mnemic.core.items import Item, Link, Slot, State, Version
from mnemic.core.queries import Filter, View
from mnemic.cubes.cube_file import CubeFile, CubePart, CubeProgress, PartKind, beginning, journal_part, write_cube
from mnemic.cubes.cube_journal import described, read_journal, story_lines
from mnemic.cubes.cube_plan import Fate, erased_here, fate, planned
from mnemic.errors import Conflict, Invalid, NotFound, Refused, StoreCorrupt, TooLarge
from mnemic.flow import Flow
from mnemic.opening import Opened
from mnemic.scope_artefacts import ScopeArtefacts
from mnemic.store.requests import look
from mnemic.verbs.artefact_keeping import as_brought
from mnemic.verbs.who import Who, compare_and_commit, own_or_none, own_space, spaces_of

if TYPE_CHECKING:
    from mnemic.artefacts.artefact_records import Artefact
    from mnemic.store.engine.snapshot import Snapshot

T = TypeVar("T")

_PAGE: Final = 500
_ALL: Final = Filter(states=tuple(State))
_OF_A_MODEL: Final = ("model", "tokenizer", "engine")
"""What an artefact that lasts must have been made by, of what it says of that; a cache must agree in all."""
_SAFETENSORS: Final = frozenset({"lora"})
"""Mechanisms whose bytes are read as safetensors, or as GGUF."""
_GGUF: Final = b"GGUF"
_BRING: Final = "; import it again with --model, the one that made it"
_HEADER_LIMIT: Final = 4 << 20
"""Most bytes of a header of safetensors."""


@dataclass(frozen=True, slots=True)
class SetAside:
    """An artefact that did not go along, and why."""

    id: ItemId
    mechanism: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CubeExport:
    """What was written to a cube.

    Attributes:
        bytes: Of the whole file.
        seq: The commit as of which it shows the memory.
        artefacts: How many have their bytes in it.
        aside: Those that have not.
    """

    path: Path
    bytes: int
    seq: int
    items: int
    links: int
    artefacts: int
    aside: tuple[SetAside, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CubeImport:
    """What became of a cube.

    Attributes:
        seq: The commit that its text came in; None if nothing of it was new.
        items: How many items met each fate: written, updated, there, changed_here, erased_here, unfounded, choice.
        links: How many links were tied.
        masked: How many secrets were masked.
        artefacts: Those that were brought in.
        there: How many artefacts were here already.
        aside: Those that were not brought in.
    """

    seq: int | None
    items: Mapping[str, int]
    links: int
    masked: int
    artefacts: tuple[ItemId, ...]
    there: int
    aside: tuple[SetAside, ...]


class ScopeCube:
    """One user's memory as one file.

    Raises:
        Refused: the handle looks at the past, or at one shelf.
    """

    def __init__(self, opened: Opened, who: Who) -> None:
        if not who.past.is_now or (who.scope.agent, who.scope.session) != (None, None):
            raise Refused("a cube carries a whole memory as it stands; leave agent, session and the past out")
        self._opened, self._who = opened, who

    def export(self, dest: Path, *, caches: bool, progress: CubeProgress) -> CubeExport:
        """Write the cube, as `ScopedMemory.export_cube` says."""
        seq = self._run(look(lambda s: s.spaces((own_space(s, self._who),))[0].seq))
        counts: Counter[str] = Counter()
        with beginning(dest) as spool:
            text = journal_part(self._lines(seq, counts, progress), spool)
            spool.seek(0)
            said = read_journal(spool.read()).artefacts()
            paths, aside = self._paths(said, caches=caches)
            kinds = _part_of_each(said)
            every: list[tuple[CubePart, BinaryIO | Path]] = [(text, spool)]
            every += [(kinds[sha256], path) for sha256, path in paths.items()]
            told = {"exported": moment(self._opened.clock.now()).isoformat(), "commit": seq, "items": counts["items"]}
            size = write_cube(dest, every, told, progress)
        return CubeExport(
            path=dest, bytes=size, seq=seq, items=counts["items"], links=counts["links"],
            artefacts=len(said) - len(aside), aside=aside,
        )  # fmt: skip

    def check(self, path: Path, progress: CubeProgress) -> None:
        """Refuse what `import_` would refuse, and write nothing, as `ScopedMemory.check_cube` says."""
        with _named(path), CubeFile(path, progress) as cube:
            journal = read_journal(cube.journal())
            said = journal.artefacts()
            cube.hold_to(_part_of_each(said))
            desk = self._opened.kernel.desk
            self._run(look(lambda s: planned(s, self._who, desk, journal, said)))

    def import_(
        self, path: Path, *, caches: bool, made_by: Mapping[str, Slot] | None, progress: CubeProgress
    ) -> CubeImport:
        """Bring a cube in, as `ScopedMemory.import_cube` says."""
        with _named(path), CubeFile(path, progress) as cube:
            journal = read_journal(cube.journal())
            said = journal.artefacts()
            cube.hold_to(_part_of_each(said))
            besides = {id for id, story in journal.stories.items() if described(story[-1]) is not None}
            desk = self._opened.kernel.desk
            plan, receipt = self._run(
                compare_and_commit(self._who, lambda s: planned(s, self._who, desk, journal, besides))
            )
            progress("items", len(plan.fates), len(plan.fates))
            brought, there, aside = list[ItemId](), 0, list[SetAside]()
            for place, (id, artefact) in enumerate(said.items(), start=1):
                why = ""
                try:
                    if self._is_here(journal.stories[id][-1], artefact):
                        there += 1
                    elif artefact.remade and not caches and cube.part(artefact.stored.sha256) is None:
                        pass  # a cache that was left out of the cube is nothing that is set aside here
                    elif not (why := self._why_not(cube, journal.stories[id], artefact, made_by, caches=caches)):
                        self._bring(cube, journal.stories[id], artefact)
                        brought.append(id)
                except Invalid as error:  # its remedy says that nothing was taken, and the text was
                    why = f"{error.field} {error.problem}"
                except (NotFound, Conflict) as error:  # something was erased or changed meanwhile
                    why = str(error)
                if why:
                    aside.append(SetAside(id, artefact.mechanism, why))
                progress("artefacts", place, len(said))
        return CubeImport(
            seq=None if receipt is None else receipt.seq,
            items=Counter(told.value for told in plan.fates.values()),
            links=plan.links,
            masked=plan.masked,
            artefacts=tuple(brought),
            there=there,
            aside=tuple(aside),
        )

    # Out

    def _lines(self, seq: int, counts: Counter[str], progress: CubeProgress) -> Iterator[bytes]:
        """The memory as it stood after a commit, as lines."""
        after = 0
        while page := self._run(look(partial(self._page, seq=seq, after=after))):
            after = page[-1][0]
            for _, story, links in page:
                counts["items"] += 1
                counts["links"] += len(links)
                yield from story_lines(story, links)
            progress("items", counts["items"], None)

    def _page(self, snapshot: Snapshot, *, seq: int, after: int) -> list[tuple[int, list[Version], list[Link]]]:
        own, view = (own_space(snapshot, self._who),), View(at=seq)
        rows = snapshot.scan(own, _ALL, view, after=after, limit=_PAGE)
        ids = [version.item.id for _, version in rows]
        stories, links = snapshot.histories(own, ids), snapshot.links(own, ids, view)
        starting: dict[ItemId, list[Link]] = {}
        for link in links:
            starting.setdefault(link.src, []).append(link)
        return [
            (ver, [v for v in stories[id] if v.seq_from <= version.seq_from], starting.get(id, []))
            for id, (ver, version) in zip(ids, rows, strict=True)
        ]

    def _paths(self, said: Mapping[ItemId, Artefact], *, caches: bool) -> tuple[dict[str, Path], tuple[SetAside, ...]]:
        """The files of artefacts by their digests, their bytes checked; and those that are not taken along."""
        paths: dict[str, Path] = {}
        aside: list[SetAside] = []
        for id, artefact in said.items():
            why = "a cache, and caches were not asked for" if artefact.remade and not caches else ""
            try:
                if not why:
                    paths[artefact.stored.sha256] = self._kept().verified(artefact)
            except (NotFound, Refused):
                why = "its bytes are gone"
            except StoreCorrupt:
                why = "its bytes are not what was kept"
            if why:
                aside.append(SetAside(id, artefact.mechanism, why))
        return paths, tuple(aside)

    # In

    def _is_here(self, item: Item, artefact: Artefact) -> bool:
        """Whether an artefact stands here as it stood there, its bytes beside the store."""
        if self._opened.store.artefacts is None:
            return False
        now = self._run(look(lambda s: s.standing(own_or_none(s, self._who), (item.id,)).get(item.id)))
        same = now is not None and now.item in (item, self._as_brought(item))
        return same and self._kept().has_bytes(artefact)

    def _as_brought(self, item: Item) -> Item:
        return as_brought(self._opened.kernel.desk, item)

    def _why_not(
        self,
        cube: CubeFile,
        story: Sequence[Item],
        artefact: Artefact,
        made_by: Mapping[str, Slot] | None,
        *,
        caches: bool,
    ) -> str:
        """Why an artefact is not brought in; "" if it is."""
        part = cube.part(artefact.stored.sha256)
        if self._opened.store.artefacts is None:
            return "this store keeps no artefacts: they lie beside a store in a file"
        if artefact.remade and not caches:
            return "a cache, and caches were not asked for"
        if part is None:
            return "its bytes are not in the cube"
        if made_by is None:
            return f"no model was named that it could be of use to{_BRING}"
        if other := _other(artefact, made_by):
            return f"of another {other}{_BRING if other == 'model' else ''}"
        if artefact.mechanism in _SAFETENSORS and not _has_sound_header(cube, part):
            return "neither safetensors nor GGUF, by its header"
        return self._run(look(lambda s: self._unwelcome(s, story)))

    def _unwelcome(self, snapshot: Snapshot, story: Sequence[Item]) -> str:
        """Why an artefact cannot stand here; "" if it can."""
        id, sources = story[-1].id, story[-1].source
        mine = own_or_none(snapshot, self._who)
        now, is_erased = snapshot.standing(mine, (id,)).get(id), id in erased_here(snapshot, mine)
        became = fate(story, now, self._as_brought, is_erased=is_erased)
        if became in (Fate.ERASED_HERE, Fate.CHANGED_HERE):
            return became.value.replace("_", " ")
        missing = len(set(sources) - snapshot.standing(spaces_of(snapshot, self._who), sources).keys())
        if missing or not sources:
            return f"{missing} of {len(sources)} of its sources are not here"
        return ""

    def _bring(self, cube: CubeFile, story: Sequence[Item], artefact: Artefact) -> None:
        copy = partial(cube.copy, artefact.stored.sha256)
        self._kept().bring(story[-1], artefact, copy, lambda s: self._unwelcome(s, story))

    def _kept(self) -> ScopeArtefacts:
        return ScopeArtefacts(self._opened, self._who)

    def _run(self, flow: Flow[T]) -> T:
        return self._opened.answering.verb(flow, self._who)


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Have what is wrong with a file name it."""
    try:
        yield
    except (Invalid, TooLarge) as error:
        if error.field != "file" or str(path) in error.problem:
            raise
        raise type(error)("file", f"{path} {error.problem}", error.remedy) from error


def _part_of_each(said: Mapping[ItemId, Artefact]) -> dict[str, CubePart]:
    """The part that the bytes of artefacts make, by digest; bytes that one of them cannot make again last."""
    parts: dict[str, CubePart] = {}
    for artefact in sorted(said.values(), key=lambda artefact: not artefact.remade):
        kind = PartKind.REMADE if artefact.remade else PartKind.LASTING
        parts[artefact.stored.sha256] = CubePart(kind, artefact.stored.sha256, artefact.stored.size)
    return parts


def _other(artefact: Artefact, made_by: Mapping[str, Slot]) -> str:
    """What an artefact was made by otherwise than what is used here; "" for nothing."""
    said = artefact.made_by
    if artefact.remade:
        return next((name for name in sorted({*said, *made_by}) if said.get(name) != made_by.get(name)), "")
    if "model" not in said or "model" not in made_by:
        return "model"
    shared = (name for name in _OF_A_MODEL if name in said and name in made_by)
    return next((name for name in shared if said[name] != made_by[name]), "")


def _has_sound_header(cube: CubeFile, part: CubePart) -> bool:
    """Whether bytes begin as GGUF, or with a header of safetensors that ends within them; no claim is allocated for."""
    head = cube.head(part, 8)
    length = int.from_bytes(head, "little")
    if head[:4] == _GGUF or length > min(_HEADER_LIMIT, part.size - 8):
        return head[:4] == _GGUF
    try:
        return isinstance(json.loads(cube.head(part, 8 + length)[8:]), dict)
    except (ValueError, RecursionError):
        return False
