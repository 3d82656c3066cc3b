"""Stream long texts to a reader: files of every format that import reads, texts, file objects, iterators; never whole.

What import reads record by record comes so here. A plain text, which for import is one document of bounded size, comes
in blocks, however long it is.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path, PurePath
from typing import Final

from mnemic.core.checking import words
from mnemic.errors import Conflict, Invalid, NotFound
from mnemic.ingest.inputs import count_hint, is_archive
from mnemic.ingest.intake import INPUT_LIMIT
from mnemic.ingest.message import Message, Skipped
from mnemic.ingest.readers import detect, read
from mnemic.ingest.source import Source
from mnemic.strategies.memagent import TextStretch

_BLOCK: Final = 64 * 1024
"""Characters of a block; and bytes that are taken from a file at once."""
_GIVE: Final = "Give a path, a text, a file object or an iterator of texts."


class LongTexts:
    """Sources to be read once, from beginning to end.

    Args:
        sources: A `Path` is a file, a folder or a zip; a string is a text; anything else is read or iterated over.
        limit: Most bytes of one record of a file, such as a page or a message; larger ones are skipped. Plain text
            has no limit.

    Attributes:
        labels: What the sources are called, in their order.
        skipped: What could not be read of them, and why; complete once they are read.
        taken: Bytes that were read so far: of files as they lie on disk, of texts as UTF-8.
        total: Bytes in all; None where nobody knows.

    Raises:
        Invalid: a source is none of these, or a text that is the name of a file.
    """

    def __init__(self, sources: Sequence[object], *, limit: int = INPUT_LIMIT, own_zone: str = "UTC") -> None:
        self._sources = [_checked(place, source) for place, source in enumerate(sources)]
        self._limit, self._own_zone = limit, own_zone
        self.labels = tuple(_label(place, source) for place, source in enumerate(self._sources, start=1))
        self.skipped: list[Skipped] = []
        self.taken = 0
        sizes = [_size(source) for source in self._sources]
        self.total = sum(sizes) if all(sizes) else None

    def stretches(self) -> Iterator[TextStretch]:
        """Read everything, in order.

        Raises:
            Invalid: a source is empty, binary, not UTF-8, or nothing in it can be read.
            NotFound: there is no such file.
            Conflict: a file was changed while it was read.
        """
        for label, source in zip(self.labels, self._sources, strict=True):
            before, skipped, begun = self.taken, len(self.skipped), False
            for stretch in self._of(label, source, self._reached(before)):
                begun = begun or not stretch.text.isspace()
                yield stretch
            if not begun:
                why = f": {self.skipped[skipped].why}" if len(self.skipped) > skipped else ""
                raise Invalid("sources", f"{label} holds no text{why}", "Give one that does.")
            self.taken = max(self.taken, before + _size(source))

    def _reached(self, before: int) -> Callable[[int], None]:
        def reached(count: int) -> None:
            self.taken = max(self.taken, before + count)

        return reached

    def _of(self, label: str, source: object, reached: Callable[[int], None]) -> Iterator[TextStretch]:
        if isinstance(source, Path):
            yield from self._file(label, source, reached)
        else:
            yield from _blocks(label, _texts(label, source, reached))

    def _file(self, label: str, path: Path, reached: Callable[[int], None]) -> Iterator[TextStretch]:
        before = _state(path)
        whole = path.is_dir() or is_archive(path)
        if not whole and detect(path) == "text":
            with Source(path, reached) as source:
                yield from _blocks(label, _decoded(label, iter(lambda: source.read(_BLOCK), b"")))
        else:
            for parsed in read(path, limit=self._limit, own_zone=self._own_zone, progress=reached):
                if isinstance(parsed, Skipped):
                    self.skipped.append(parsed)
                elif isinstance(parsed, Message):
                    said = parsed.slots.get("speaker") or parsed.slots.get("role")
                    yield TextStretch(parsed.text, label, parsed.key, speaker=said if isinstance(said, str) else "")
        if _state(path) != before:
            remedy = "what was read is kept: read it again once nobody writes to it"
            raise Conflict(f"{label} was changed while it was read; {remedy}")


def _checked(place: int, source: object) -> object:
    field = f"sources[{place}]"
    if isinstance(source, PurePath):
        return Path(source)
    if isinstance(source, str):
        source = words(field, source)
        if not source.strip():
            raise Invalid(field, "is empty", "Give a text, or a path as `pathlib.Path`.")
        if len(source) < 4096 and "\n" not in source and _exists(source):
            raise Invalid(field, f"{source[:80]!r} is a text, and the name of a file", "Give a file as `pathlib.Path`.")
        return source
    if isinstance(source, bytes | bytearray) or not (_is_file(source) or isinstance(source, Iterable)):
        raise Invalid(field, f"is {type(source).__name__}", _GIVE)
    return source


def _is_file(source: object) -> bool:
    return hasattr(type(source), "read")


def _exists(name: str) -> bool:
    try:
        return Path(name).exists()
    except (OSError, ValueError):
        return False


def _label(place: int, source: object) -> str:
    if isinstance(source, Path):
        return str(source)
    named = getattr(source, "name", None) if _is_file(source) else None
    return named if isinstance(named, str) and named else f"{'text' if isinstance(source, str) else 'stream'} {place}"


def _size(source: object) -> int:
    if isinstance(source, Path):
        return count_hint(source)
    return len(source.encode("utf-8", "replace")) if isinstance(source, str) else 0


def _state(path: Path) -> tuple[int, int, int]:
    """What changes when a file is written to: of a folder nothing is told."""
    if path.is_dir():
        return 0, 0, 0
    try:
        status = path.stat()
    except FileNotFoundError as error:
        raise NotFound(f"sources: there is no file {path}. Check its spelling.") from error
    except (OSError, ValueError) as error:
        raise Invalid("sources", f"{path} cannot be read: {error}", "Give a file that you may read.") from error
    return status.st_size, status.st_mtime_ns, status.st_ino


def _texts(label: str, source: object, reached: Callable[[int], None]) -> Iterator[str]:
    """The texts of what is no file by name, as they come."""
    taken = 0

    def counted(pieces: Iterable[object]) -> Iterator[str | bytes]:
        nonlocal taken
        for piece in pieces:
            if not isinstance(piece, str | bytes):
                raise Invalid("sources", f"{label} gives a {type(piece).__name__}", _GIVE)
            taken += len(piece) if isinstance(piece, bytes) else len(piece.encode("utf-8", "replace"))
            reached(taken)
            yield piece

    if isinstance(source, str):
        return iter((source,))
    if _is_file(source):
        return _decoded(label, counted(_read_out(source)))
    assert isinstance(source, Iterable)
    return _decoded(label, counted(source))


def _read_out(file: object) -> Iterator[object]:
    """What a file object has left."""
    while piece := file.read(_BLOCK):  # type: ignore[attr-defined]  # it was looked at when it was given
        yield piece


def _decoded(label: str, pieces: Iterable[str | bytes]) -> Iterator[str]:
    """Pieces as text; characters may be cut in two between them.

    Raises:
        Invalid: they are not UTF-8, or hold what no text holds.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    ended = False
    try:
        for piece in pieces:
            text = decoder.decode(piece) if isinstance(piece, bytes) else piece
            if "\x00" in text:
                raise Invalid("sources", f"{label} is binary", "Give text.")
            if isinstance(piece, str):
                text.encode()  # half a surrogate pair can be kept nowhere
            yield text
        ended = True
        decoder.decode(b"", final=True)
    except UnicodeError as error:
        where = "it ends within a character" if ended else str(error)
        raise Invalid("sources", f"{label} is not UTF-8 ({where})", "Convert it first, or open it as text.") from error


def _blocks(label: str, texts: Iterable[str]) -> Iterator[TextStretch]:
    """One text in blocks of one size, however it came: so it is cut the same each time that it is read."""
    held, start = "", 0
    for text in texts:
        held += text
        upto = 0
        while len(held) - upto > _BLOCK:
            yield TextStretch(held[upto : upto + _BLOCK], label, start=start, ends=False)
            start, upto = start + _BLOCK, upto + _BLOCK
        held = held[upto:]
    if held:
        yield TextStretch(held, label, start=start)
