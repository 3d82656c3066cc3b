"""Runs the conformance suite of MCP against a served store, and says in one line what it found."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Final

from mnemic import Memory, Settings
from mnemic.lab.kit.served_process import mnemic_server

NOT_OFFERED: Final = Path(__file__).with_name("not_offered.yaml")
SECONDS: Final = 600


def conformance(url: str, scenario: str | None, results: Path) -> int:
    """Have the suite ask; returns its exit code, by which alone a failure is one that was expected."""
    what = ["--suite", "all"] if scenario is None else ["--scenario", scenario]
    command = ["conformance", "server", "--url", url, *what]
    command += ["--expected-failures", str(NOT_OFFERED), "--output-dir", str(results)]
    return subprocess.run(command, check=False, timeout=SECONDS).returncode


def counted(results: Path) -> Counter[str]:
    """How many checks there are of each outcome, by what the suite wrote down."""
    written = results.glob("*/checks.json")
    return Counter(check["status"] for one in written for check in json.loads(one.read_text()))


def main() -> int:
    """Return 0 if everything that is offered conforms."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scenario", action="append", help="only this one; may be repeated")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mnemic-conformance-") as folder:
        store, results = Path(folder) / "memory.db", Path(folder) / "results"
        with Memory(store, settings=Settings(embedder="none", background=False)) as memory:
            memory.scope(user="me").observe(["I live in Lisbon.", "Always answer in metric units."])
        with mnemic_server(store) as server:
            url = f"http://127.0.0.1:{server.port}/mcp"
            codes = [conformance(url, scenario, results) for scenario in asked.scenario or [None]]
        checks = counted(results)
    passed, failed = checks["SUCCESS"], checks["FAILURE"]
    verdict = "FAILED" if any(codes) or not passed else "conforms"
    print(f"\n{verdict}: {passed} checks passed, {failed} failed (those of {NOT_OFFERED.name} are expected to)")
    return 1 if any(codes) or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
