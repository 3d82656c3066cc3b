"""Fill the blocks of figures in the READMEs and in docs from docs/results, the figures of the last run of each task.

Usage: .venv/bin/python scripts/readme_figures.py [LOG ...]
    LOG: whose figures are put into docs/results first: of a full run of `mnemic bench run`, of one with peers, or of
    `mnemic bench needles`. A test fails while a page says anything else than docs/results.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from mnemic.errors import Invalid
from mnemic.lab.kit.kept_results import keep, kept
from mnemic.lab.kit.log import bench_of
from mnemic.lab.kit.peer_table import keep_peers, kept_table
from mnemic.lab.kit.run_report import report
from mnemic.lab.kit.tables import piped
from mnemic.lab.tasks.needles_report import BENCH as NEEDLES
from mnemic.lab.tasks.needles_report import keep_needles, kept_needles

ROOT: Final = Path(__file__).resolve().parent.parent
RESULTS: Final = ROOT / "docs" / "results"
PEERS: Final = RESULTS / "peers"
MEASURED: Final = RESULTS / "measured"
DOORS: Final = ("README.md", "README.zh.md")
_PEERS_PAGE: Final = ROOT / "docs" / "peers.md"
_MEASURED_PAGE: Final = ROOT / "docs" / "measurements.md"
_PAGE_BLOCK: Final = re.compile(r"(<!-- (?:peers|needles) ([\w-]+) -->\n).*?(?=<!-- /figures -->)", re.DOTALL)
_BLOCK: Final = re.compile(r"(<!-- figures (\w+) -->\n).*?(?=<!-- /figures -->)", re.DOTALL)

TASKS: Final = ("locomo", "hotpotqa", "2wiki", "musique")
"""Whose figures a README shows, in this order; those that were not run in full are left out."""

_WORDS: Final = {
    "en": ("evidence found, %", "questions", "tokens a question", "CPU ms", "by words alone", "with {}", "version"),
    "zh": ("找到的证据，%", "问题数", "每题 token 数", "CPU 毫秒", "只按词语", "用 {}", "版本"),
}


def pages(results: Mapping[str, Mapping[str, Any]] | None = None) -> dict[Path, str]:
    """Every README with its blocks made anew."""
    figures = kept(RESULTS) if results is None else results
    return {ROOT / name: filled((ROOT / name).read_text("utf-8"), figures) for name in DOORS}


def filled(text: str, results: Mapping[str, Mapping[str, Any]]) -> str:
    """A text with its blocks made anew; a block is named by its language."""
    return _BLOCK.sub(lambda match: f"{match[1]}\n{table(results, match[2])}\n\n", text)


def documents() -> dict[Path, str]:
    """The pages of docs that hold figures, with their blocks made anew."""
    peers = {
        name: f"{_table_alone(kept_table(held).markdown())}\n\n{run_note(held)}" for name, held in kept(PEERS).items()
    }
    needles = {name: _table_alone(piped(kept_needles(held))) for name, held in kept(MEASURED).items()}
    return {page: _blocks_of(page, made) for page, made in ((_PEERS_PAGE, peers), (_MEASURED_PAGE, needles))}


def _blocks_of(page: Path, made: Mapping[str, str]) -> str:
    """A page with its blocks filled, each by the name of its results."""
    return _PAGE_BLOCK.sub(lambda match: f"{match[1]}{made[match[2]]}\n\n", page.read_text("utf-8"))


def run_note(held: Mapping[str, Any]) -> str:
    """Say when a run with peers was, of which commit, by whose vectors, over what, and who did not come to its end.

    Peers that are known not to run have their reasons elsewhere on the page, so they are not named here.
    """
    of = f"{held['started'][:16].replace('T', ' ')} UTC, commit {held['commit'][:10]}, embedder {held['embedder']}"
    asked = f"{held['asked']:,} questions over {held['documents']:,} documents"
    ran = [name for name in held["unfinished"] if "unfit" not in held["peers"].get(name, {})]
    return f"{of}; {asked}." + (f" Did not come to its end, and has no row: {', '.join(ran)}." if ran else "")


def _table_alone(shown: str) -> str:
    """A table without the title over it."""
    return "\n".join(line for line in shown.split("\n") if line.startswith("|"))


def table(results: Mapping[str, Mapping[str, Any]], language: str) -> str:
    """What was found by whom: a line for each task, a column for each contestant that took part in all of them."""
    chosen = [results[name] for name in TASKS if name in results]
    if not chosen:
        raise Invalid("results", "hold no task that a README shows", f"Run one of {', '.join(TASKS)}.")
    found, questions, tokens, took, words, with_, version = _WORDS[language]
    systems = [name for name in chosen[0]["rows"] if all(name in each["rows"] for each in chosen)]
    head = (found, questions, *systems, f"mnemic: {tokens}", f"mnemic: {took}")
    lines = ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1), *(_line(o, systems) for o in chosen)]
    embedders = {each["embedder"] for each in chosen}
    by = "; ".join(words if name is None else with_.format(name) for name in sorted(embedders, key=str))
    runs = dict.fromkeys(f"{each['started'][:10]}, {str(each['commit'])[:10]}" for each in chosen)
    note = f"{by}; {version} {chosen[0]['mnemic']}, {'; '.join(runs)}; [docs/results](docs/results)"
    return "\n".join([*lines, "", note])


def _line(of: Mapping[str, Any], systems: Sequence[str]) -> str:
    rows, headline = of["rows"], of["headline"]
    ours = rows["mnemic"]
    cells = [
        f"{of['task']} {headline}",
        f"{ours['scores'][headline][3]:,}",
        *(_share(rows[name]["scores"][headline], best=name == "mnemic") for name in systems),
        f"{ours['tokens']:,.0f}",
        f"{ours['cpu_ms']:.1f}",
    ]
    return "| " + " | ".join(cells) + " |"


def _share(score: Sequence[float], *, best: bool) -> str:
    mean, low, high, _ = score
    shown = f"{100 * mean:.1f} [{100 * low:.0f}, {100 * high:.0f}]"
    return f"**{shown}**" if best else shown


def main(logs: Sequence[str]) -> None:
    """Keep the figures of the logs, and write the pages."""
    for log in map(Path, logs):
        for path in kept_from(log):
            print(path.relative_to(ROOT))
    for page, text in {**pages(), **documents()}.items():
        page.write_text(text, "utf-8")


def kept_from(log: Path) -> Sequence[Path]:
    """Keep the figures of a log, where those of its kind lie; what was written."""
    if bench_of(log) == NEEDLES:
        return [keep_needles(log, MEASURED)]
    made = report(log)
    if made.header.get("peers"):
        return keep_peers(made, PEERS)
    kept_now = keep(made, RESULTS)
    for name, why in kept_now.left.items():
        print(f"{name} is left as it was: {why}")
    return kept_now.written


if __name__ == "__main__":
    main(sys.argv[1:])
