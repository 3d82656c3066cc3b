"""The memory tool of Anthropic's SDK and mnemic side by side: the same random commands, the same answers.

Run by `scripts/differential files`, and in part by `test_files_against_the_reference.py`. The reference works in a
folder of a file system, mnemic in a store. Each command must give the same text, or the same error word for word; where
the reference ends in an error of the operating system, mnemic must fail too, in whatever words. After each stream every
file must be the same, byte for byte, and every folder there.

What differs on purpose is left out: NUL and lone surrogates, secrets, the folder of views. So is a name too long for
the file system in a folder that is not there, which the reference makes before it fails. The size of a folder is the
file system's affair: where a new one does not take 4,096 bytes, folder sizes are not compared.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from anthropic.tools import BetaLocalFilesystemMemoryTool, ToolError

from mnemic import Memory, ScopedMemory, Settings
from mnemic.tools.file_tools import run_command
from mnemic.tools.files_kept import KEPT, folded

NAMES = (
    "a", "b", "c", "notes.md", "a.b", "日记.md", "with space.txt", ".hidden", "..foo", "...", "é", "e\u0301", "😀", "A",
    "new\nline", "tab\t", "%s", "back\\slash", "~", "*", "{x}", "memories", "a (2)", "-", "\u2028",
)  # fmt: skip
LINES = (
    "", "", " ", "tea", "tea", "tea tea", "teatea", "aaa", "aaaa", "喝茶", "😀", "a\tb", "\x0b", "tail\r", "\r",
    "{old}", "`x`", "\\n", "%d", "x" * 300, "\u2028", "\ufeff", "Ω" * 50, "(blank)", "(empty folder)",
)  # fmt: skip
ENDS = ("\n", "\n", "\n", "\r\n", "", "\n\n")
ODD_PATHS = (
    "", "/", "memories/a", "/etc/passwd", "/memories", "/memories/", "/memories//", "/memories/.", "/memories/..",
    "/memories/../..", "/memories/../memories/a", "/memories/../memoriesa", "/memoriesfoo", "/memories..",
    "/memories../memories/b", "/memories/a/../../memories/b", "/memories/a/../../x", " /memories", "/Memories/a",
    "/memories/" + "n" * 256, "/memories/" + "长" * 86, "/memories/a/..", "/memories/./a/.//b",
    "/memories/nowhere/../a", "/memories/~/x",
)  # fmt: skip


@dataclass
class Sides:
    """Both sides of a stream, and what has been found different."""

    reference: BetaLocalFilesystemMemoryTool
    root: Path
    memory: ScopedMemory
    folder_sizes: bool
    counts: Counter[str] = field(default_factory=Counter)

    def both(self, command: dict[str, Any]) -> str | None:
        """Run one command on both; what differs, or None."""
        how, theirs = _reference(self.reference, command)
        ours = run_command(self.memory, command)
        self.counts[f"{command['command']} {how}"] += 1
        if ours.failed != (how != "done"):
            return f"reference {how}: {theirs!r}\nmnemic failed={ours.failed}: {ours.text!r}"
        if how != "broken" and self._plain(theirs) != self._plain(ours.text):
            return f"reference {how}: {theirs!r}\nmnemic: {ours.text!r}"
        return None

    def trees(self) -> str | None:
        """What differs between the files of both, bytes and empty folders included, or None."""
        theirs = {p.relative_to(self.root).parts: None if p.is_dir() else p.read_bytes() for p in self.root.rglob("*")}
        tree = folded(list(reversed(self.memory.list(where=KEPT, limit=100_000))))
        ours = {**dict.fromkeys(tree.folders), **{p: file.text.encode() for p, file in tree.files.items()}}
        odd = [place for place in {*theirs, *ours} if place not in theirs or theirs[place] != ours.get(place, b"?")]
        return f"the trees differ at {sorted(odd)}" if odd else None

    def _plain(self, text: str) -> str:
        if self.folder_sizes or not text.startswith("Here're"):
            return text
        header, own, *rest = re.split(r"\n(?=[\d.]+[BKMG]\t)", text)  # a name may hold a line break
        bare = [entry.partition("\t")[2] if entry.endswith("/") else entry for entry in rest]
        return "\n".join((header, own.partition("\t")[2], *bare))


def _reference(tool: BetaLocalFilesystemMemoryTool, command: dict[str, Any]) -> tuple[str, str]:
    try:
        return "done", str(tool.call(command))
    except ToolError as error:
        return "refused", str(error)
    except (OSError, ValueError) as error:
        return "broken", repr(error)


class Stream:
    """Random commands, most of them about what is there, so that they meet."""

    def __init__(self, random: Random, root: Path) -> None:
        self.random, self.root = random, root

    def __iter__(self) -> Iterator[dict[str, Any]]:
        while True:
            verb = self.random.choices(
                ("view", "create", "str_replace", "insert", "delete", "rename"), (25, 27, 15, 15, 6, 12)
            )[0]
            yield {"command": verb, **getattr(self, f"_{verb}")()}

    def _view(self) -> dict[str, Any]:
        r = self.random
        given: dict[str, Any] = {"path": self._path(there=0.8)}
        if r.random() < 0.5:
            ends = (-1, 0, 1, 2, 3, 5, -2, -7, 100, 10**9)
            given["view_range"] = r.choice(([r.choice(ends), r.choice(ends)], [r.choice(ends)], [], [1, 2, 3], None))
        return given

    def _create(self) -> dict[str, Any]:
        return {"path": self._path(there=0.15), "file_text": self._text()}

    def _str_replace(self) -> dict[str, Any]:
        path = self._path(there=0.9, file=True)
        return {
            "path": path,
            "old_str": self._old(path),
            "new_str": self.random.choice(("", self._text(), "tea", "\n")),
        }

    def _insert(self) -> dict[str, Any]:
        path = self._path(there=0.9, file=True)
        count = self._content(path).count("\n")
        at = self.random.choice((0, 1, -1, count - 1, count, count + 1, count + 2, count // 2, 10**6))
        return {"path": path, "insert_line": at, "insert_text": self.random.choice(("", "\n", "new", self._text()))}

    def _delete(self) -> dict[str, Any]:
        return {"path": self._path(there=0.7)}

    def _rename(self) -> dict[str, Any]:
        r = self.random
        old = self._path(there=0.8)
        inside = f"{old}/{r.choice(NAMES)}"
        new = r.choices((self._path(there=0.2), inside, f"{inside}/{r.choice(NAMES)}", old), (85, 5, 5, 5))[0]
        return {"old_path": old, "new_path": new}

    def _path(self, *, there: float, file: bool = False) -> str:
        r = self.random
        if r.random() < 0.08:
            return r.choice(ODD_PATHS)
        found = self._there(file=file) if r.random() < there else []
        path = r.choice(found) if found else "/".join(("/memories", *self._names()))
        return self._decorated(path)

    def _there(self, *, file: bool) -> list[str]:
        places = sorted(p for p in self.root.rglob("*") if not file or p.is_file())
        return ["/memories/" + "/".join(p.relative_to(self.root).parts) for p in places]

    def _names(self) -> list[str]:
        r = self.random
        count = r.choices((1, 2, 3, 4), (50, 30, 15, 5))[0]
        return [r.choice(NAMES[:6] if r.random() < 0.6 else NAMES) for _ in range(count)]

    def _decorated(self, path: str) -> str:
        r = self.random
        if r.random() < 0.85:
            return path
        at = r.choice([i for i, c in enumerate(path) if c == "/"])
        before, after = path[:at], path[at + 1 :]
        if not before:
            return r.choice((path + "/", path + "//", path + "/.", path + "/x/..", f"/memories{path[10:]}"))
        return before + r.choice(("//", "/./", "/x/../", "///")) + after

    def _text(self) -> str:
        r = self.random
        if r.random() < 0.04:
            return r.choice(("tea 茶\n", " \n", "x", "word ", "\n")) * r.choice((1_000, 9_000))
        return "".join(r.choice(LINES) + r.choice(ENDS) for _ in range(r.choice((0, 1, 1, 2, 3, 5, 12))))

    def _content(self, path: str) -> str:
        place = (self.root.parent / path.lstrip("/")).resolve()
        try:
            return place.read_bytes().decode() if place.is_relative_to(self.root) else ""
        except OSError:
            return ""

    def _old(self, path: str) -> str:
        r, text = self.random, self._content(path)
        if text and r.random() < 0.6:
            at = r.randrange(len(text))
            return text[at : at + r.choice((1, 3, 10, 80, 2_000))]
        return r.choice(("", "", "tea", "aa", "\n", "\r\n", "nowhere", "茶", text, LINES[r.randrange(len(LINES))]))


def run(seed: int, commands: int, folder: Path, settings: Settings) -> tuple[str | None, Counter[str]]:
    """One stream on a fresh pair: the first difference with the command that showed it, or None; and what was run."""
    random = Random(seed)
    root = folder / f"{seed}-{settings.item_limit}" / "memories"
    reference = BetaLocalFilesystemMemoryTool(str(root.parent))
    with Memory("memory:", settings=settings, embedder="none") as memory:
        sides = Sides(reference, root.resolve(), memory.scope(user="ada"), os.stat(root).st_size == 4096)
        for number, command in zip(range(commands), Stream(random, sides.root), strict=False):
            if difference := sides.both(command):
                return f"seed {seed}, command {number} {command!r:.2000}\n{difference}", sides.counts
        return (f"seed {seed}: {odd}" if (odd := sides.trees()) else None), sides.counts


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/differential files", description=__doc__)
    parser.add_argument("--commands", type=int, default=20_000, help="how many in all, in streams of 100")
    parser.add_argument("--seed", type=int, default=1, help="the first stream's; each next one is one more")
    arguments = parser.parse_args()
    began, counts, differences = time.monotonic(), Counter[str](), 0
    streams = -(-arguments.commands // 100)
    print(f"seeds {arguments.seed} to {arguments.seed + streams - 1}")
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(arguments.seed, arguments.seed + streams):
            settings = Settings(item_limit=(32 * 1024, 2048)[seed % 2], background=False)
            difference, ran = run(seed, 100, Path(folder), settings)
            counts += ran
            if difference:
                differences += 1
                print(difference)
    for what, many in sorted(counts.items()):
        print(f"{many:7,}  {what}")
    print(f"{counts.total():,} commands, {differences} differences, {time.monotonic() - began:.0f} s")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
