"""Write docs/api.md: the public classes with their verbs, from the docstrings and signatures as they stand.

Usage: .venv/bin/python scripts/api_reference.py     writes the page; a test fails while it is not current
"""

from __future__ import annotations

import dataclasses
import enum
import inspect
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import mnemic
from mnemic import errors
from mnemic.admin import Admin
from mnemic.credentials.keys import AccessKey, Keys, NewKey
from mnemic.credentials.principal import Principal, Right
from mnemic.faces.cli.commands.maintenance import meanings
from mnemic.long_reading import CitedNote, EvidencePlace, LongReading, ReadingProgress
from mnemic.recall.answer import Answer, Citation

PAGE: Final = Path(__file__).resolve().parent.parent / "docs" / "api.md"

HEAD: Final = """\
# API reference

Made from the docstrings by `scripts/api_reference.py`; a test keeps it current. Words that stand for things of their
own are explained in [ARCHITECTURE.md](../ARCHITECTURE.md); how to begin is in the [README](../README.md) and the
[guides](guides/README.md).

`AsyncMemory`, `AsyncScopedMemory` and `AsyncSession` have the same verbs with the same parameters, awaited. A parameter
that cannot be taken raises `Invalid`, which names it, its value and the remedy, before anything is written.
"""

PARTS: Final[tuple[tuple[str, str, tuple[type, ...]], ...]] = (
    ("Handles", "What the verbs are called on.", (mnemic.Memory, mnemic.ScopedMemory, mnemic.Session, Admin)),
    ("What verbs take", "", (mnemic.Filter, mnemic.Statement, mnemic.Message)),
    (
        "What verbs return",
        "",
        (
            mnemic.Receipt, mnemic.Listing, mnemic.Context, mnemic.Recalled, Answer, Citation, mnemic.Lost,
            LongReading, CitedNote, EvidencePlace, ReadingProgress,
            mnemic.Version, mnemic.Item, mnemic.Link, mnemic.Strength, mnemic.Holding, mnemic.Change, mnemic.Event,
            mnemic.Notice, mnemic.Difference, mnemic.Undone, mnemic.ErasureReceipt, mnemic.Window,
        ),
    ),
    ("Who may ask a server", "", (Keys, AccessKey, NewKey, Principal)),
    ("Enumerations", "", (mnemic.Kind, mnemic.Channel, mnemic.State, Right)),
)  # fmt: skip

_WIDTH: Final = 100
_SECTION: Final = re.compile(r"(Args|Attributes|Raises|Returns|Yields):")
_ENTRY: Final = re.compile(r"(\*{0,2}\w+(?:, \*{0,2}\w+)*): (.*)")


def page() -> str:
    """The whole page."""
    blocks = [HEAD, _contents()]
    for title, told, kinds in PARTS:
        blocks += [f"## {title}", told, *(block for kind in kinds for block in _kind(kind))]
    blocks += ["## Settings", *_settings(), "## Errors", *_errors()]
    return "\n\n".join(block.strip("\n") for block in blocks if block.strip()) + "\n"


def _contents() -> str:
    names = [f"[{kind.__name__}](#{kind.__name__.lower()})" for _, _, kinds in PARTS for kind in kinds]
    return _joined(" · ".join([*names, "[Settings](#settings)", "[Errors](#errors)"]))


def _kind(kind: type) -> Iterator[str]:
    yield f"### {kind.__name__}"
    if kind is mnemic.Memory:  # the others are given by its verbs
        yield _fenced(_signature("Memory", kind.__init__).rpartition(" -> ")[0])
    yield from _doc_lines(inspect.getdoc(kind) or "", described=dataclasses.is_dataclass(kind))
    if issubclass(kind, enum.Enum):
        yield ", ".join(f"`{one.name}`" for one in kind)
        return
    if dataclasses.is_dataclass(kind):
        yield _fields(kind)
    for name, verb in _public(kind):
        yield f"#### {kind.__name__}.{name}"
        if isinstance(verb, property):
            yield _fenced(f"{name}: {verb.fget.__annotations__['return']}")  # type: ignore[union-attr]
            yield from _doc_lines(inspect.getdoc(verb) or "")
        else:
            yield _fenced(_signature(name, verb))
            yield from _doc_lines(inspect.getdoc(verb) or "")


def _public(kind: type) -> Iterator[tuple[str, Any]]:
    """The methods and properties of a class and of those of ours below it, in the order of the source."""
    seen = set[str]()
    for one in kind.__mro__:
        if not one.__module__.startswith("mnemic"):
            continue
        for name, value in vars(one).items():
            verb = value.__func__ if isinstance(value, classmethod | staticmethod) else value
            named = not name.startswith("_") and (inspect.isfunction(verb) or isinstance(verb, property))
            if named and name not in seen and inspect.getdoc(verb):
                seen.add(name)
                yield name, verb


def _signature(name: str, verb: Any) -> str:
    """A signature as one would write it: on a line, or a parameter to a line."""
    written = inspect.signature(inspect.unwrap(verb))
    parameters = [one for one in written.parameters.values() if one.name not in ("self", "cls")]
    back = str(written.return_annotation)
    shown, starred = list[str](), False
    for one in parameters:
        if one.kind is one.KEYWORD_ONLY and not starred:
            shown.append("*")
        starred = starred or one.kind in (one.KEYWORD_ONLY, one.VAR_POSITIONAL)
        shown.append(_parameter(one))
    line = f"{name}({', '.join(shown)}) -> {back}"
    if len(line) <= _WIDTH:
        return line
    return "\n".join([f"{name}(", *(f"    {one}," for one in shown), f") -> {back}"])


def _parameter(one: inspect.Parameter) -> str:
    stars = {one.VAR_POSITIONAL: "*", one.VAR_KEYWORD: "**"}.get(one.kind, "")
    default = "" if one.default is one.empty else f" = {_value(one.default)}"
    return f"{stars}{one.name}: {one.annotation}{default}"


def _value(value: object) -> str:
    if isinstance(value, enum.Enum):
        return f"{type(value).__name__}.{value.name}"
    if inspect.isfunction(value):
        return "..."
    return f"{type(value).__name__}()" if dataclasses.is_dataclass(value) else repr(value)


def _fields(kind: Any) -> str:
    """A dataclass's fields with what its docstring says of them."""
    told = _attributes(inspect.getdoc(kind) or "")
    rows = ["| field | type | default |  |", "|---|---|---|---|"]
    for one in dataclasses.fields(kind):
        default = "" if one.default is dataclasses.MISSING else f"`{_value(one.default)}`"
        if one.default_factory is not dataclasses.MISSING:
            default = "empty"
        rows.append(f"| `{one.name}` | `{_cell(str(one.type))}` | {default} | {_cell(told.get(one.name, ''))} |")
    return "\n".join(rows)


def _attributes(doc: str) -> dict[str, str]:
    """What a docstring says of each attribute."""
    found = {}
    for section, entries in _sections(doc):
        for names, text in entries if section == "Attributes" else ():
            found |= dict.fromkeys(names.split(", "), text)
    return found


def _doc_lines(doc: str, *, described: bool = False) -> Iterator[str]:
    """A docstring as Markdown; with `described`, its attributes stand in a table of their own."""
    for section, entries in _sections(doc):
        if section == "Attributes" and described:
            continue
        if not section:
            yield from (text for _, text in entries)
        else:
            how = "raises " if section == "Raises" else ""
            yield "\n".join(f"- {how}`{names}`: {text}" if names else f"- {how}{text}" for names, text in entries)


def _sections(doc: str) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """The parts of a docstring: paragraphs, or the entries of a section, each with its names."""
    for paragraph in doc.split("\n\n"):
        first, _, rest = paragraph.partition("\n")
        if (section := _SECTION.fullmatch(first.strip())) and rest:
            yield section[1], _entries(textwrap.dedent(rest))
        elif ">>>" in paragraph:
            yield "", [("", _fenced(textwrap.dedent(paragraph)))]
        else:
            yield "", [("", _joined(paragraph))]


def _entries(text: str) -> list[tuple[str, str]]:
    entries: list[tuple[str, str]] = []
    for line in text.splitlines():
        if line.startswith(" ") and entries:
            names, told = entries[-1]
            entries[-1] = names, f"{told} {line.strip()}"
        else:
            entry = _ENTRY.fullmatch(line)
            entries.append((entry[1], entry[2]) if entry else ("", line))
    return entries


def _joined(paragraph: str) -> str:
    return textwrap.fill(" ".join(paragraph.split()), 120, break_long_words=False, break_on_hyphens=False)


def _fenced(code: str) -> str:
    return f"```python\n{code}\n```"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _settings() -> Iterator[str]:
    """Every setting, its default, and the docstring that stands below it in the source."""
    kind = mnemic.Settings
    yield from _doc_lines(inspect.getdoc(kind) or "")
    yield "Each is a field of `Settings(...)`; for `Memory()` and the command line, `MNEMIC_` and its name in capitals."
    told = meanings()
    rows = ["| setting | type | default |  |", "|---|---|---|---|"]
    for one in dataclasses.fields(kind):
        default = "`~/.mnemic`" if one.name == "home" else f"`{one.default!r}`"
        rows.append(f"| `{one.name}` | `{_cell(str(one.type))}` | {default} | {_cell(told[one.name])} |")
    yield "\n".join(rows)


def _errors() -> Iterator[str]:
    """The tree of errors as their module draws it, and what each means."""
    tree = (inspect.getdoc(errors) or "").split("\n\n")
    yield from (f"```text\n{part}\n```" if "──" in part else _joined(part) for part in tree)


if __name__ == "__main__":
    PAGE.write_text(page())
