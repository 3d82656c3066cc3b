"""A store with something of everything in it, served on a free port, and the OpenAPI document that it is asked by."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from mem0_document import mem0_paths

from mnemic import Memory, Settings
from mnemic.credentials.principal import Right

USERS: Final = 8
PATIENCE: Final = 60
DOCUMENT: Final = "/openapi.json"
ENDLESS: Final = "/v1/feed"
"""Left out: a stream of events goes on until its listener leaves, and schemathesis waits for the end of each answer.

tests/faces/server has its answers, refusals and hostile requests instead.
"""


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
    """Serve the store of a folder, and yield the address; what the server said is in `serve.log`."""
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


def asked_paths(paths: dict[str, Any]) -> dict[str, Any]:
    """The paths of the server's document that end, and those of mem0's surface, which it does not describe."""
    return {**{path: methods for path, methods in paths.items() if path != ENDLESS}, **mem0_paths()}


def document(address: str, *, credentials: bool) -> dict[str, Any]:
    """The server's OpenAPI document; where it asks for a key, every operation needs one, and says for whom it asks."""
    with urllib.request.urlopen(address + DOCUMENT, timeout=PATIENCE) as response:
        described: dict[str, Any] = json.load(response)
    described["paths"] = asked_paths(described["paths"])
    if credentials:
        described["security"] = [{"key": []}]
        operations = [one for path in described["paths"].values() for one in path.values()]
        for header in (header for one in operations for header in one["parameters"]):
            header["required"] = header.get("required", False) or header["name"] == "Mnemic-User"
    return described
