"""The manifest of a folder: whose memory it shows, as of which commit, and by file what was written into it.

It holds no words of anybody: ids, commits, hashes. The hashes are of what stands in the files beside it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from mnemic.core.checking import shown as shortened
from mnemic.core.ids import item_id
from mnemic.core.scope import Scope, Shared
from mnemic.errors import Conflict, Invalid, Refused
from mnemic.markdown_folder.folder_layout import CONVERSATIONS, SORTS, STATEMENT_FILES, FolderPage

MANIFEST: Final = ".mnemic.json"
_FORMAT: Final = 1
_SHELF: Final = ("tenant", "agent", "session")


class WrittenEntry(NamedTuple):
    """An item as a folder shows it: the commit that wrote its version, and the digest of what is shown."""

    seq: int
    digest: str


@dataclass(frozen=True, slots=True)
class WrittenPage:
    """A file as it was written: the hash of its bytes, the page it is, and what it shows by id."""

    hash: str
    page: FolderPage
    entries: Mapping[str, WrittenEntry]


@dataclass(frozen=True, slots=True)
class FolderManifest:
    """What a folder was written from.

    Attributes:
        version: Of mnemic.
        seq: The last commit of the memory then.
    """

    scope: Scope
    branch: str
    seq: int
    version: str
    pages: Mapping[str, WrittenPage] = field(default_factory=dict)

    @property
    def entries(self) -> dict[str, WrittenEntry]:
        """What was written, by id."""
        return {id: entry for page in self.pages.values() for id, entry in page.entries.items()}

    def check_owner(self, folder: str, scope: Scope, branch: str) -> None:
        """Raise `Refused` unless the folder shows this memory."""
        if (self.scope, self.branch) != (scope, branch):
            raise Refused(
                f"{folder} shows {_whose(self.scope, self.branch)}, not {_whose(scope, branch)}; "
                "nothing was read from it or written to it"
            )


def _whose(scope: Scope, branch: str) -> str:
    user = "the shared memory" if isinstance(scope.user, Shared) else f"the memory of {scope.user!r}"
    named = [f"{name} {value!r}" for name in _SHELF if (value := getattr(scope, name)) not in (None, "default")]
    return ", ".join((user, *named, *([f"branch {branch!r}"] if branch else [])))


def encoded_manifest(manifest: FolderManifest) -> str:
    """The manifest as JSON, a file on a line."""
    scope = manifest.scope
    head = {
        "format": _FORMAT,
        "mnemic": manifest.version,
        "user": None if isinstance(scope.user, Shared) else scope.user,
        **{name: getattr(scope, name) for name in _SHELF},
        "branch": manifest.branch,
        "seq": manifest.seq,
    }
    rows = [f"{json.dumps(path, ensure_ascii=False)}: {_encoded(page)}" for path, page in manifest.pages.items()]
    return json.dumps(head, ensure_ascii=False)[:-1] + ', "files": {\n' + ",\n".join(rows) + "\n}}\n"


def _encoded(page: WrittenPage) -> str:
    of = {name: value for name in FolderPage.__slots__ if (value := getattr(page.page, name))}
    return json.dumps({"hash": page.hash, "page": of, "entries": page.entries}, ensure_ascii=False)


def decoded_manifest(text: str, where: str) -> FolderManifest:
    """Read a manifest.

    Raises:
        Invalid: it is not one that mnemic wrote.
        Conflict: a newer mnemic wrote it.
    """
    try:
        record = json.loads(text)
        if isinstance(record, dict) and isinstance(record.get("format"), int) and record["format"] > _FORMAT:
            raise Conflict(f"{where} was written by mnemic {shortened(record.get('mnemic'))}, which is newer; update")
        return _manifest(record)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, Invalid) as error:
        remedy = "Bring it back from a copy, or write the memory into another folder and carry your edits over."
        raise Invalid(where, "is not the list of this folder's files that mnemic keeps there", remedy) from error


def _manifest(record: dict[str, Any]) -> FolderManifest:
    user = Shared.SHARED if record["user"] is None else record["user"]
    scope = Scope(user=user, **{name: record[name] for name in _SHELF})
    pages = {_inside(path): _page(page) for path, page in record["files"].items()}
    return FolderManifest(scope, str(record["branch"]), int(record["seq"]), str(record["mnemic"]), pages)


def _page(record: dict[str, Any]) -> WrittenPage:
    page = FolderPage(**{name: str(value) for name, value in record["page"].items()})
    if page.sort not in SORTS or (page.sort == "statements") != (page.path in STATEMENT_FILES):
        raise ValueError(page)
    entries = {
        str(item_id("id", id)): WrittenEntry(int(seq), str(digest)) for id, (seq, digest) in record["entries"].items()
    }
    return WrittenPage(str(record["hash"]), page, entries)


def _inside(path: str) -> str:
    """A path of a manifest, if it leads to a Markdown file of the folder.

    Raises:
        ValueError: it leads elsewhere; what a manifest names is written over and deleted.
    """
    if not _is_inside(path):
        raise ValueError(path)
    return path


def _is_inside(path: str) -> bool:
    odd = "\\" in path or ":" in path or any(part in ("", ".", "..") for part in path.split("/"))
    return path.endswith(".md") and not odd


def is_a_home(path: str) -> bool:
    """Whether a document may stay in a file: one of a portable path that is not another page's."""
    return _is_inside(path) and path not in STATEMENT_FILES and not path.startswith(CONVERSATIONS)
