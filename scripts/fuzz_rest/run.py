"""Serves a store with some content on a free port, has schemathesis ask it, and says what failed."""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mnemic import Memory, Settings
from mnemic.credentials.principal import Right

HERE = Path(__file__).parent
USERS = 8
PATIENCE = 60


def filled(where: Path) -> tuple[dict[str, Any], str]:
    """Write some of everything for a few users; return what there is to ask for, and a key that may do all."""
    ids: dict[str, list[str]] = {}
    with Memory(where / "memory.db", settings=Settings(embedder="none")) as memory:
        for number in range(USERS):
            me = memory.scope(user=f"user-{number}")
            turns = [me.observe(f"I moved to town {place} in May.", tags=["home"]).id for place in range(30)]
            facts = [me.write(f"Ada likes tea number {place}.", source=(turns[place],)).id for place in range(30)]
            me.link(facts[0], facts[1], "about")
            with me.session("chat") as window:
                window.observe("We talk.", speaker="Ada")
            me.branch("try")
            me.on_branch("try").write("On the branch only.")
            ids[f"user-{number}"] = [*turns, *facts]
        memory.flush()
        commits = memory.scope(user="user-0").log(limit=1)[0].seq
        key = memory.keys.create("fuzz", tenant="default", right=Right.ADMIN).text
    return {"ids": ids, "commits": commits, "strategy": "house"}, key


@contextmanager
def served(home: Path, *options: str) -> Iterator[str]:
    """Serve the store of a folder, and yield the address."""
    environment = {
        **os.environ,
        "MNEMIC_HOME": str(home),
        "MNEMIC_EMBEDDER": "none",
        **dict.fromkeys(("MNEMIC_KEY_REQUESTS", "MNEMIC_KEY_WRITES"), "1000000000"),
    }
    command = [sys.executable, "-m", "mnemic", "serve", "--port", "0", *options]
    with (home / "serve.log").open("w") as log:
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=log, text=True)
        try:
            assert process.stdout is not None
            address = re.search(r"http://\S+", process.stdout.readline())
            if address is None:
                sys.exit(f"the server did not start: {(home / 'serve.log').read_text()}")
            yield address[0]
        finally:
            process.terminate()
            process.wait(PATIENCE)
    said = (home / "serve.log").read_text().splitlines()
    print(*[line for line in said if not line.startswith("{")][-40:], sep="\n")  # the access log is left out


def document(address: str, home: Path, *, credentials: bool) -> Path:
    """The server's OpenAPI document; where it asks for a key, every operation needs one, and says for whom it asks."""
    with urllib.request.urlopen(f"{address}/openapi.json", timeout=PATIENCE) as response:
        described = json.load(response)
    del described["paths"]["/v1/feed"]  # its answer has no end that could be waited for
    if credentials:
        described["security"] = [{"key": []}]
        operations = [one for path in described["paths"].values() for one in path.values()]
        for header in (header for one in operations for header in one["parameters"]):
            header["required"] = header.get("required", False) or header["name"] == "Mnemic-User"
    path = home / "openapi.json"
    path.write_text(json.dumps(described))
    return path


def main() -> int:
    """Ask, and return 0 if every answer kept what the document promises."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=200, help="for each operation and phase (200)")
    parser.add_argument("--credentials", action="store_true", help="ask with a key, and see that it cannot be left out")
    parser.add_argument("--phases", default="examples,coverage,fuzzing,stateful")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--operation", action="append", default=[], help="a path, such as /v1/recall; all, left out")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mnemic-fuzz-") as folder:
        home = Path(folder)
        known, key = filled(home)
        (home / "known.json").write_text(json.dumps(known))
        with served(home, *(["--credentials"] if asked.credentials else [])) as address:
            command = [
                *(str(Path(sys.executable).with_name("st")), "--config-file", str(HERE / "schemathesis.toml"), "run"),
                *(str(document(address, home, credentials=asked.credentials)), "--url", address),
                *("--max-examples", str(asked.examples), "--phases", asked.phases, "--continue-on-failure"),
                *(["--header", f"Authorization: Bearer {key}"] if asked.credentials else []),
                *([] if asked.seed is None else ["--seed", str(asked.seed)]),
                *(part for path in asked.operation for part in ("--include-path", path)),
            ]
            environment = {
                **os.environ,
                "PYTHONPATH": str(HERE),
                "SCHEMATHESIS_HOOKS": "checks",
                "MNEMIC_FUZZ_KNOWN": str(home / "known.json"),
            }
            return subprocess.run(command, env=environment, check=False, cwd=home).returncode


if __name__ == "__main__":
    sys.exit(main())
