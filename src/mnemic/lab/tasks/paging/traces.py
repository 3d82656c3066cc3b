"""Traces: which pages a session writes and reads, and in what order; kept as JSON lines, without a word of their text.

A *write* is a page's first reference, and neither hit nor fault; a *read* of a resident page is a hit, of any other a
fault, which brings it in.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any, Final

from mnemic.core.ids import ItemId
from mnemic.errors import Invalid
from mnemic.tiers.base import Page

_FORM: Final = 'Lines of a trace are its head, its pages, then {"write": id} and {"read": id}.'
_FEATURES: Final = ("tokens", "position", "role", "segment", "importance", "novelty", "entities")


@dataclass(frozen=True, slots=True)
class Reference:
    """One reference.

    Attributes:
        page: Which, as an index into the pages of the trace.
        write: Whether it is the page's first.
    """

    page: int
    write: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PageTrace:
    """A session as its pager sees it.

    Attributes:
        family: What sort it is; figures are pooled over the traces of one.
        name: Tells it from the others of its family: the conversation, the seed.
        pages: As they are when they come in, `born` and uses yet to be counted; each is written once or only read.
    """

    family: str
    name: str
    pages: tuple[Page, ...]
    references: tuple[Reference, ...]

    @property
    def reads(self) -> int:
        """How many references are reads."""
        return sum(not reference.write for reference in self.references)


def save(traces: Iterable[PageTrace], path: Path) -> None:
    """Write them one after another, each under its head."""
    with path.open("w", encoding="utf-8") as file:
        for trace in traces:
            for record in _records(trace):
                file.write(json.dumps(record, ensure_ascii=False) + "\n")


def load(path: Path) -> list[PageTrace]:
    """The traces of a file that `save` wrote, or that somebody wrote in its form.

    Raises:
        Invalid: not a file, not JSON lines, or not a trace.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise Invalid("trace", f"cannot read {path.name}: {error}", _FORM) from error
    heads: list[list[dict[str, Any]]] = []
    for number, line in enumerate(lines, start=1):
        record = _record(line, path.name, number)
        if "trace" in record:
            heads.append([])
        if not heads:
            raise Invalid("trace", f"{path.name} line {number}: no head before it", _FORM)
        heads[-1].append(record)
    return [_trace(records, path.name) for records in heads]


def _records(trace: PageTrace) -> Iterator[dict[str, object]]:
    yield {"trace": trace.name, "family": trace.family}
    for page in trace.pages:
        yield {"page": page.id, **{name: getattr(page, name) for name in _FEATURES}}
    for reference in trace.references:
        yield {"write" if reference.write else "read": trace.pages[reference.page].id}


def _record(line: str, name: str, number: int) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except json.JSONDecodeError as error:
        raise Invalid("trace", f"{name} line {number} is not JSON ({error})", _FORM) from error
    if not isinstance(record, dict) or not {"trace", "page", "write", "read"} & set(record):
        raise Invalid("trace", f"{name} line {number} is no line of a trace", _FORM)
    return record


def _trace(records: list[dict[str, Any]], name: str) -> PageTrace:
    try:
        pages = tuple(page(str(r["page"]), **{f: r[f] for f in _FEATURES if f in r}) for r in records if "page" in r)
        number = {each.id: n for n, each in enumerate(pages)}
        references = tuple(
            Reference(number[ItemId(str(r.get("write", r.get("read"))))], "write" in r)
            for r in records
            if "write" in r or "read" in r
        )
        head = records[0]
        made = PageTrace(family=str(head["family"]), name=str(head["trace"]), pages=pages, references=references)
    except (KeyError, TypeError) as error:
        raise Invalid("trace", f"{name} is no trace ({error!r})", _FORM) from error
    _check(made, name)
    return made


def _check(trace: PageTrace, name: str) -> None:
    for page in trace.pages:
        if not isinstance(page.tokens, int) or page.tokens < 1:
            raise Invalid("trace", f"{name} gives page {page.id} {page.tokens!r} tokens", _FORM)
    seen: set[int] = set()
    for reference in trace.references:
        if reference.write and reference.page in seen:
            raise Invalid("trace", f"{name} writes {trace.pages[reference.page].id} after its first reference", _FORM)
        seen.add(reference.page)


def page(id_: str, *, tokens: int = 1, **features: Any) -> Page:
    """A page that has yet to come in."""
    return Page(id=ItemId(id_), tokens=tokens, born=0, last_use=0, **features)


def scan(seed: int, *, hot: int = 60, rounds: int = 12, between: int = 200, document: int = 800) -> PageTrace:
    """A hot set in steady use, and now and then a sweep through a stretch of a long document, each page read once.

    A sweep is longer than any window that is measured, so that what keeps only the latest loses the hot set.
    """
    draw = Random(seed)  # noqa: S311 - a workload, not a secret

    def rows() -> Iterator[str]:
        for _ in range(rounds):
            yield from (f"hot-{draw.randrange(hot)}" for _ in range(between))
            start = draw.randrange(document)
            yield from (f"scan-{(start + n) % document}" for n in range(document * 3 // 8))

    return _synthetic("scan", seed, rows(), draw)


def loop(seed: int, *, length: int = 150, rounds: int = 12) -> PageTrace:
    """The same pages over and over, between turns of talk that nobody reads again: a checklist gone through."""
    draw = Random(seed)  # noqa: S311 - a workload, not a secret
    return _synthetic("loop", seed, (f"loop-{n}" for _ in range(rounds) for n in range(length)), draw, talk=0.2)


def zipf(seed: int, *, pages: int = 400, reads: int = 4_000, skew: float = 0.9) -> PageTrace:
    """Reads drawn by Zipf's law, independent of each other."""
    draw = Random(seed)  # noqa: S311 - a workload, not a secret
    weights = [(rank + 1) ** -skew for rank in range(pages)]
    return _synthetic("zipf", seed, (f"page-{n}" for n in draw.choices(range(pages), weights, k=reads)), draw)


def shifting(seed: int, *, pages: int = 400, hot: int = 80, phases: int = 8, reads: int = 600) -> PageTrace:
    """A small hot set that is another one in each phase, over a floor of reads from anywhere."""
    draw = Random(seed)  # noqa: S311 - a workload, not a secret

    def rows() -> Iterator[str]:
        for _ in range(phases):
            chosen = draw.sample(range(pages), hot)
            for _ in range(reads):
                yield f"page-{draw.choice(chosen) if draw.random() < 0.8 else draw.randrange(pages)}"

    return _synthetic("shifting", seed, rows(), draw)


SYNTHETIC: Final[Mapping[str, Callable[[int], PageTrace]]] = {
    "scan": scan,
    "loop": loop,
    "zipf": zipf,
    "shifting": shifting,
}
"""Generators by family; each takes a seed."""


def _synthetic(family: str, seed: int, rows: Iterable[str], draw: Random, talk: float = 0.1) -> PageTrace:
    """Reads in this order, each page written where it first comes up; turns of talk, a share of the reads, between."""
    number: dict[str, int] = {}
    references: list[Reference] = []
    for name in chain.from_iterable(_talked(rows, draw, talk)):
        new = name not in number
        references.append(Reference(number.setdefault(name, len(number)), new))
    pages = tuple(page(name, tokens=1, position=n) for name, n in number.items())
    return PageTrace(family=family, name=f"{family}-{seed}", pages=pages, references=tuple(references))


def _talked(rows: Iterable[str], draw: Random, talk: float) -> Iterator[tuple[str, ...]]:
    for n, name in enumerate(rows):
        yield (f"talk-{n}", name) if draw.random() < talk else (name,)
