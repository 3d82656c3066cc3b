"""Has schemathesis ask a served store everything, in parts that are kept, and ends with one verdict."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from served_store import asked_paths, document, filled, served

from mnemic.faces.server import openapi

HERE: Final = Path(__file__).parent
HOUSE: Final = HERE.parents[1]
KEPT: Final = HOUSE / ".fuzz-rest"
PHASES: Final = ("examples", "coverage", "fuzzing", "stateful")
PATHS_AT_ONCE: Final = 10
"""Of the one phase that takes long: so much is lost when it is interrupted."""


@dataclass(frozen=True, slots=True)
class Part:
    """One run of schemathesis over a store of its own."""

    phase: str
    number: int
    paths: tuple[str, ...]

    @property
    def name(self) -> str:
        """What its report and log are called."""
        return f"{self.phase}-{self.number}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What schemathesis reports of a part."""

    part: Part
    operations: int
    cases: int
    failures: int
    seconds: float
    ended: bool

    @property
    def passed(self) -> bool:
        """Whether it was done to its end, something was asked, and nothing failed."""
        return self.ended and self.cases > 0 and not self.failures


def parts_of(paths: Sequence[str], phases: Iterable[str]) -> list[Part]:
    """Divide the work: each phase at once, but fuzzing by so many paths."""
    parts = []
    for phase in phases:
        step = PATHS_AT_ONCE if phase == "fuzzing" else len(paths)
        for number, start in enumerate(range(0, len(paths), step), start=1):
            parts.append(Part(phase, number, tuple(paths[start : start + step])))
    return parts


def kept_in(asked: argparse.Namespace) -> Path:
    """The folder of this code's results by these options; results of other code are thrown away."""
    code = hashlib.sha256()
    for source in sorted([*(HOUSE / "src/mnemic").rglob("*.py"), *HERE.glob("*.py"), *HERE.glob("*.toml")]):
        code.update(source.read_bytes())
    options = repr((asked.examples, asked.credentials, asked.seed, asked.operation))
    of_code, by_options = code.hexdigest()[:12], hashlib.sha256(options.encode()).hexdigest()[:8]
    folder = KEPT / f"{of_code}-{by_options}"
    for other in KEPT.glob("*"):
        if not other.name.startswith(of_code) or (asked.anew and other == folder):
            shutil.rmtree(other)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def run_part(part: Part, kept: Path, asked: argparse.Namespace) -> None:
    """Have schemathesis do one part; its report and what it printed stay in the folder."""
    report_of(part, kept).unlink(missing_ok=True)  # of a try that did not end
    with tempfile.TemporaryDirectory(prefix="mnemic-fuzz-") as folder:
        home = Path(folder)
        known, key = filled(home)
        (home / "known.json").write_text(json.dumps(known))
        with served(home, *(["--credentials"] if asked.credentials else [])) as address:
            described = document(address, credentials=asked.credentials)
            (home / "openapi.json").write_text(json.dumps(described))
            command = [
                *(str(Path(sys.executable).with_name("st")), "--config-file", str(HERE / "schemathesis.toml"), "run"),
                *(str(home / "openapi.json"), "--url", address, "--no-color"),
                *("--max-examples", str(asked.examples), "--phases", part.phase, "--continue-on-failure"),
                *("--report", "json", "--report-json-path", str(report_of(part, kept))),
                *(["--header", f"Authorization: Bearer {key}"] if asked.credentials else []),
                *([] if asked.seed is None else ["--seed", str(asked.seed)]),
                *(word for path in part.paths for word in ("--include-path", path)),
            ]
            environment = {
                **os.environ,
                "PYTHONPATH": str(HERE),
                "SCHEMATHESIS_HOOKS": "checks",
                "MNEMIC_FUZZ_KNOWN": str(home / "known.json"),
            }
            with log_of(part, kept).open("w") as log:
                subprocess.run(command, env=environment, check=False, cwd=home, stdout=log, stderr=subprocess.STDOUT)
        with log_of(part, kept).open("a") as log:
            log.writelines(line for line in (home / "serve.log").open() if not line.startswith("{"))  # no access log


def report_of(part: Part, kept: Path) -> Path:
    """Where schemathesis's report of a part is."""
    return kept / f"{part.name}.json"


def log_of(part: Part, kept: Path) -> Path:
    """Where that is which schemathesis and the server printed during a part."""
    return kept / f"{part.name}.log"


def outcome_of(part: Part, kept: Path) -> Outcome | None:
    """Read the report of a part; None without one."""
    if not report_of(part, kept).exists():
        return None
    report: dict[str, Any] = json.loads(report_of(part, kept).read_text())
    return Outcome(
        part=part,
        operations=(report["operations"] or {"tested": 0})["tested"],
        cases=report["test_cases"]["generated"],
        failures=sum(one["count"] for one in (*report["failures"], *report["errors"])),
        seconds=report["running_time"] or 0.0,
        ended=report["complete"] and report["stop_reason"] == "completed",
    )


def time_left(done: Sequence[Outcome], rest: Sequence[Part]) -> str:
    """Guess how long the rest takes, by what a path has taken in the same phase; what is not begun is named."""
    seconds, unknown = 0.0, list[str]()
    for part in rest:
        like = [one for one in done if one.part.phase == part.phase]
        if like:
            seconds += sum(one.seconds for one in like) / sum(len(one.part.paths) for one in like) * len(part.paths)
        elif part.phase not in unknown:
            unknown.append(part.phase)
    return " and ".join([*([f"about {seconds / 60:.0f} min"] if seconds else []), *unknown]) + " left"


def line_of(one: Outcome) -> str:
    """The figures of a part on a line."""
    failed = f"{one.failures} FAILURES" if one.cases else "ASKED NOTHING"
    state = "passed" if one.passed else failed if one.ended else "DID NOT END"
    return f"{one.part.name}: {state}; {one.operations} operations, {one.cases:,} requests, {one.seconds / 60:.1f} min"


def all_done(parts: Sequence[Part], kept: Path, asked: argparse.Namespace) -> list[Outcome]:
    """Do the parts one after the other, but for those that were done before, and say so as it goes.

    Raises:
        KeyboardInterrupt: it was stopped.
    """
    done = list[Outcome]()
    for place, part in enumerate(parts):
        ahead = f"[{place + 1}/{len(parts)}]"
        outcome, before = outcome_of(part, kept), " (done before)"
        if outcome is None or not outcome.ended:
            print(f"{ahead} {part.name}: {len(part.paths)} paths; {time_left(done, parts[place:])}", flush=True)
            run_part(part, kept, asked)
            outcome, before = outcome_of(part, kept), ""
        if outcome is None:
            sys.exit(f"{part.name} left no report: see {log_of(part, kept)}")
        print(f"{ahead} {line_of(outcome)}{before}", flush=True)
        done.append(outcome)
    return done


def verdict(done: Sequence[Outcome], kept: Path) -> int:
    """Print the figures of each phase, and where to read of what failed; return the code to exit with."""
    print()
    for phase in dict.fromkeys(one.part.phase for one in done):
        of_phase = [one for one in done if one.part.phase == phase]
        operations, cases = sum(one.operations for one in of_phase), sum(one.cases for one in of_phase)
        failures, minutes = sum(one.failures for one in of_phase), sum(one.seconds for one in of_phase) / 60
        print(f"{phase}: {operations} operations, {cases:,} requests, {failures} failures, {minutes:.1f} min")
    failed = [one.part for one in done if not one.passed]
    for part in failed:
        print(f"{part.name}: see {log_of(part, kept)}")
    print(f"FAILED: {len(failed)} of {len(done)} parts" if failed else f"passed: all {len(done)} parts")
    return 1 if failed else 0


def main() -> int:
    """Ask, and return 0 if every answer kept what the document promises."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=200, help="for each operation and phase (200)")
    parser.add_argument("--credentials", action="store_true", help="ask with a key, and see that it cannot be left out")
    parser.add_argument("--phases", default=",".join(PHASES))
    parser.add_argument("--seed", type=int)
    parser.add_argument("--operation", action="append", default=[], help="a path, such as /v1/recall; all, left out")
    parser.add_argument("--anew", action="store_true", help="forget the parts that were done before")
    asked = parser.parse_args()
    phases = asked.phases.split(",")
    if strange := set(phases) - set(PHASES):
        parser.error(f"no phase {', '.join(strange)}; there are {', '.join(PHASES)}")
    paths = list(asked_paths(openapi.document()["paths"]))
    if strange := set(asked.operation) - set(paths):
        parser.error(f"no path {', '.join(strange)} is asked; there are {', '.join(paths)}")
    kept, parts = kept_in(asked), parts_of(asked.operation or paths, phases)
    try:
        return verdict(all_done(parts, kept, asked), kept)
    except KeyboardInterrupt:
        print("interrupted; the same command goes on from here")
        return 130


if __name__ == "__main__":
    sys.exit(main())
