"""Which bytes of a SQLite file are in use: read by the file format alone (sqlite.org/fileformat2.html).

In use is the header of the file, but for what means nothing there, and of each page that is not free: of a tree its
header, its cell pointers and its cells; of an overflow page the pointer and the bytes that it carries; of a pointer map
the entries of pages there are.
Not in use, and read by nobody, is what lies between the pointers and the first cell of a page, what cells that are
gone have left between others, and the tail of the last page of a chain; and that a row whose number is a column has
nothing in that column: SQLite takes it from the key.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_INTERIOR_INDEX: Final = 2
_INTERIOR_TABLE: Final = 5
_LEAF_TABLE: Final = 13
_MEANINGLESS: Final = (*range(40, 44), *range(97, 100))
"""Of the header, what means as much with any other value. The schema cookie: by its change open connections see that
they must read anew what is declared, which the audit holds against our own words; unlike the count of changes it stands
there once, and nothing could be held against it. And all but the first byte of the version of SQLite that wrote last,
which nobody reads: it may be any that we run on, or a later one."""


def bytes_in_use(content: bytes) -> list[int]:
    """The places of all bytes in use, in order."""
    used = bytearray(len(content))
    used[:100] = b"\1" * 100
    for place in _MEANINGLESS:
        used[place] = 0
    file = _File(content, used)
    file.mark_maps()
    for root in file.roots():
        file.mark_tree(root)
    return [place for place, there in enumerate(used) if there]


@dataclass(slots=True)
class _File:
    content: bytes
    used: bytearray

    @property
    def width(self) -> int:
        width = int.from_bytes(self.content[16:18])
        return 65_536 if width == 1 else width

    @property
    def usable(self) -> int:
        return self.width - self.content[20]

    def roots(self) -> Iterator[int]:
        """The root pages of all trees: that of the schema, and those that it names."""
        yield 1
        for record in self._records(1):
            yield record[3]

    def mark_maps(self) -> None:
        if not int.from_bytes(self.content[52:56]):
            return
        pages, apart = len(self.content) // self.width, self.usable // 5 + 1
        for page in range(2, pages + 1, apart):
            self._mark((page - 1) * self.width, 5 * min(apart - 1, pages - page))

    def mark_tree(self, page: int) -> None:
        start = (page - 1) * self.width
        head = start + (100 if page == 1 else 0)
        kind = self.content[head]
        interior = kind in (_INTERIOR_INDEX, _INTERIOR_TABLE)
        cells = int.from_bytes(self.content[head + 3 : head + 5])
        pointers = head + (12 if interior else 8)
        self._mark(head, pointers - head + 2 * cells)
        if interior:
            self.mark_tree(int.from_bytes(self.content[head + 8 : head + 12]))
        for n in range(cells):
            cell = start + int.from_bytes(self.content[pointers + 2 * n : pointers + 2 * n + 2])
            self._mark_cell(kind, cell)
            if interior:
                self.mark_tree(int.from_bytes(self.content[cell : cell + 4]))

    def _mark_cell(self, kind: int, cell: int) -> None:
        place = cell + (4 if kind in (_INTERIOR_INDEX, _INTERIOR_TABLE) else 0)
        if kind == _INTERIOR_TABLE:
            _, place = self._varint(place)
            self._mark(cell, place - cell)
            return
        size, place = self._varint(place)
        if kind == _LEAF_TABLE:
            _, place = self._varint(place)
        local = self._local(kind, size)
        self._mark(cell, place + local - cell)
        if kind == _LEAF_TABLE:
            _, types = self._varint(place)
            if self.content[types] == 0:
                self.used[types] = 0
        if local < size:
            self._mark(place + local, 4)
            self._mark_overflow(int.from_bytes(self.content[place + local : place + local + 4]), size - local)

    def _local(self, kind: int, size: int) -> int:
        """How many bytes of a payload lie in its cell."""
        usable = self.usable
        most = usable - 35 if kind == _LEAF_TABLE else (usable - 12) * 64 // 255 - 23
        if size <= most:
            return size
        least = (usable - 12) * 32 // 255 - 23
        kept = least + (size - least) % (usable - 4)
        return kept if kept <= most else least

    def _mark_overflow(self, page: int, left: int) -> None:
        while page:
            start = (page - 1) * self.width
            carried = min(left, self.usable - 4)
            self._mark(start, 4 + carried)
            left -= carried
            page = int.from_bytes(self.content[start : start + 4])

    def _mark(self, start: int, size: int) -> None:
        self.used[start : start + size] = b"\1" * size

    def _varint(self, place: int) -> tuple[int, int]:
        value = 0
        for n in range(9):
            byte = self.content[place + n]
            if n == 8:
                return value << 8 | byte, place + 9
            value = value << 7 | byte & 127
            if byte < 128:
                return value, place + n + 1
        raise AssertionError

    def _records(self, page: int) -> Iterator[list[int]]:
        """The numbers in the rows of a table that fit on their pages; other values stand as 0."""
        start = (page - 1) * self.width
        head = start + (100 if page == 1 else 0)
        interior = self.content[head] == _INTERIOR_TABLE
        pointers = head + (12 if interior else 8)
        for n in range(int.from_bytes(self.content[head + 3 : head + 5])):
            cell = start + int.from_bytes(self.content[pointers + 2 * n : pointers + 2 * n + 2])
            if interior:
                yield from self._records(int.from_bytes(self.content[cell : cell + 4]))
                continue
            _, place = self._varint(cell)
            _, place = self._varint(place)
            yield self._record(place)
        if interior:
            yield from self._records(int.from_bytes(self.content[head + 8 : head + 12]))

    def _record(self, begin: int) -> list[int]:
        size, place = self._varint(begin)
        types, values, data = [], [], begin + size
        while place < begin + size:
            serial, place = self._varint(place)
            types.append(serial)
        for serial in types[:4]:
            width = (0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0)[serial] if serial < 12 else (serial - 12) // 2
            values.append(int.from_bytes(self.content[data : data + width]) if 0 < serial < 7 else int(serial == 9))
            data += width
        return values
