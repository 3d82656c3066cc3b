"""`bench stream`: tasks in a row, and memories that learn from how they came out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from mnemic.faces.cli.bars import progress, saying_what_is_kept
from mnemic.faces.cli.bench import bench_options as options
from mnemic.faces.cli.bench.bench_options import FILE, NAMES
from mnemic.faces.cli.command import WORDS, verb
from mnemic.faces.cli.invocation import Invocation, invocation

if TYPE_CHECKING:
    from mnemic.lab.kit.task_stream import MakeAgent


_KEPT: Final = "tries until then are kept, and cannot be gone on with; to see them: mnemic bench report {log}"


@verb(
    "mnemic bench stream text --with retry,skills --seeds 1 --tasks 2",
    "mnemic bench stream tools --with none,retry,reme --seeds 1 --tasks 2 --html stream.html",
    name="stream",
)
@click.argument("world", type=WORDS)
@options.out
@click.option("--with", "rows", type=NAMES, default=(), help="Memories by name (left out: all).")
@options.count("--seeds", 12, "Streams, each with hidden rules of its own.")
@options.count("--first-seed", 0, "Seed of the first.", least=0)
@options.count("--tasks", 24, "Tasks in a row.")
@options.count("--tries", 3, "Most tries of a task.")
@click.option(
    "--actor", "agent", type=WORDS, default="rules", show_default=True, help="`rules`, or a language model by name."
)
@click.option("--html", type=FILE, help="Write the report to this page, too.")
def stream(
    world: str, out: Path, rows: Sequence[str], seeds: int, first_seed: int, tasks: int, tries: int, agent: str,
    html: Path | None,
) -> None:  # fmt: skip
    """Tasks in a row in WORLD (text, tools), with memories that learn from outcomes, beside retrying alone.

    No model is called, unless one acts (--actor). Rules that nobody tells hold for all tasks of a seed: what a memory
    keeps of one task helps with others, and retrying without memory does not.
    """
    from mnemic.lab.kit.output_places import refuse_log, refuse_page
    from mnemic.lab.kit.stream_memories import rows as all_rows
    from mnemic.lab.kit.stream_run import StreamPlan, run_streams
    from mnemic.lab.stream_entries import world as world_of

    run = invocation()
    plan = StreamPlan(
        rows=tuple(rows) or all_rows(), seeds=seeds, first_seed=first_seed, tasks=tasks, tries=tries, agent=agent
    )
    chosen, make_agent = world_of(world), _agent(run, agent)
    refuse_page(html, refuse_log(out))
    with saying_what_is_kept(_KEPT), progress(run) as report_progress:
        log = run_streams(chosen, plan, out, make_agent=make_agent, progress=report_progress)
    run.output.note(f"log: {log} (the same tables again: mnemic bench report {log})")
    show_streams(run, log, html=html)


def _agent(run: Invocation, name: str) -> MakeAgent:
    """Who acts: rules, or the language model of a name."""
    from mnemic.errors import Invalid
    from mnemic.lab.kit.stream_agents import RuleAgent, chat_agent
    from mnemic.models.model_opening import open_chat

    if name == "rules":
        return RuleAgent
    chat = open_chat(name, run.settings)
    if chat is None:
        raise Invalid("actor", f"{name!r} is no language model", "Name one, or `rules`.")
    return chat_agent(chat)


def show_streams(
    run: Invocation, log: Path, *, seed: int | None = None, markdown: bool = False, html: Path | None = None
) -> None:
    """Show what streams came to."""
    from mnemic.lab.kit.output_places import refuse_page
    from mnemic.lab.kit.stream_page import write_stream_page
    from mnemic.lab.kit.stream_report import read_streams, record, shown

    refuse_page(html)
    made = read_streams(log, seed=seed or 0)
    if html is not None:
        run.output.note(f"page: {write_stream_page(made, html)}")
    if run.output.json:
        run.output.document(record(made))
    else:
        print(shown(made, markdown=markdown))
