"""`bench`: the laboratory from the command line."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mnemic.errors import Invalid
from mnemic.faces.cli.bars import hold_to_bars, progress
from mnemic.faces.cli.bench import bench_options as options
from mnemic.faces.cli.bench.bench_options import FILE, NAMES, opened_embedder
from mnemic.faces.cli.bench.bench_runs import (
    ablate,
    asked,
    compare,
    locomo,
    multihop,
    run_,
    samples,
    show_run,
    tasks,
    tune,
)
from mnemic.faces.cli.bench.current import current, small, standing
from mnemic.faces.cli.bench.needle_commands import needles, show_needles
from mnemic.faces.cli.bench.peer_commands import peers
from mnemic.faces.cli.bench.streams import show_streams, stream
from mnemic.faces.cli.bench.windows import paging, retention_train, session
from mnemic.faces.cli.command import WORDS, CommandGroup, verb
from mnemic.faces.cli.invocation import Invocation, invocation

if TYPE_CHECKING:
    from mnemic.lab.kit.figures import Figure, Measurements
    from mnemic.models.chat.base import Chat


@click.group(
    cls=CommandGroup,
    examples=(
        "mnemic bench locomo locomo10.json --limit 20",
        "mnemic bench report runs/run.jsonl",
    ),
)
def bench() -> None:
    """Measure how much evidence is found, and how fast.

    A run writes a log; every figure is recomputed from that.
    """


@verb(
    "mnemic bench strategies --with mem0 --model scripted --limit 4",
    "mnemic bench strategies locomo10.json --with mem0,mem0+zep --embedder none",
    "mnemic bench strategies locomo10.json --with zep --limit 2 --embedder none --json",
)
@click.argument("path", required=False, type=FILE)
@options.out
@click.option("--with", "mixtures", type=NAMES, default=(), help="Such as mem0,mem0+zep,all (left out: each, and all).")
@click.option(
    "--model",
    type=WORDS,
    default="none",
    show_default=True,
    help="`scripted`, `observations` (those of a LoCoMo file), recorded:FILE or any other.",
)
@options.conversations
@options.limit()
@options.embedder("none", "`auto`, or by its name.")
@options.cache
@options.seed()
def strategies(path: Path | None, model: str, embedder: str, cache: Path | None, **measured: Any) -> None:
    """What each strategy finds by its own recall, costs, and does to everybody's recall, over one journal.

    PATH is LoCoMo's json, or unified jsonl; left out, it is the bundled conversation. A strategy that moves everybody's
    recall decides the exit code, where 100 questions or more are asked.
    """
    from mnemic.lab.tasks.strategies_bench import bench_strategies, reader_of

    run = invocation()
    with progress(run) as report_progress:
        log = bench_strategies(
            path, model=reader_of(model, path, run.settings), embedder=opened_embedder(run, embedder, cache),
            progress=report_progress, **measured,
        )  # fmt: skip
    bars = _show_strategies(run, log)
    run.output.note(f"log: {log} (the same tables again: mnemic bench report {log})")
    hold_to_bars(bars)


@verb("mnemic bench report runs/run.jsonl --html run.html", "mnemic bench report runs/run.jsonl --markdown")
@click.argument("log", type=FILE)
@click.option("--seed", type=int, help="Of the bootstrap (left out: the run's own).")
@click.option("--markdown", is_flag=True, help="Tables for a page.")
@click.option("--html", type=FILE, help="Of `bench run`, `stream` and `needles`: write a page with plots, too.")
def report(log: Path, seed: int | None, markdown: bool, html: Path | None) -> None:
    """The tables of a run, recomputed from its LOG, whichever bench wrote it."""
    from mnemic.lab.kit.log import bench_of

    bench = bench_of(log)
    if html is not None and bench in ("capacity", "hotpot", "strategies"):
        raise Invalid("html", f"is for logs of `bench run`, and this is one of `bench {bench}`", "Leave it out.")
    match bench:
        case "capacity":
            _show_sweep(invocation(), log, seed=seed, markdown=markdown)
        case "hotpot":
            _show_hotpot(invocation(), log, seed=seed, markdown=markdown)
        case "strategies":
            _show_strategies(invocation(), log, seed=seed, markdown=markdown)
        case "needles":
            show_needles(invocation(), log, markdown=markdown, html=html)
        case "stream":
            show_streams(invocation(), log, seed=seed, markdown=markdown, html=html)
        case _:
            show_run(invocation(), log, seed=seed, markdown=markdown, html=html)


@verb(
    "mnemic bench speed --items 2000 --turns 200 --rounds 2 --questions 20",
    "mnemic bench speed --cold --items 5000 --rounds 1",
)
@options.count("--items", 100_000, "Items recalled from.")
@options.count("--turns", 10_000, "Turns taken in at once.")
@options.count("--rounds", 30, "Rounds of single writes.")
@options.count("--questions", 1_000, "Questions asked.")
@options.seed("the made-up text")
@click.option("--cold", is_flag=True, help="Instead of all that: what a new process pays before its first answer.")
def speed(items: int, cold: bool, **size: int) -> None:
    """Writes, group commit, bulk intake and recall, each beside its bar, on files in a temporary folder.

    A bar that is missed decides the exit code where at least as much is measured as the bars are stated for.
    """
    from mnemic.lab.tasks.speed_bench import SpeedSize, bench_speed

    run = invocation()
    if cold:
        from mnemic.lab.tasks.cold_bench import ColdSize, bench_cold

        new = ColdSize(items=items, rounds=size["rounds"], seed=size["seed"])
        _show_figures(run, bench_cold(new, lambda part: run.output.note(f"{part} ...")), binding=new.stated)
        return
    measured = SpeedSize(items=items, users=max(items // 100, 1), **size)
    figures = bench_speed(measured, lambda part: run.output.note(f"{part} ..."))
    _show_figures(run, figures, binding=measured.stated)


@verb("mnemic bench busy --rounds 1 --writes 5 --embedder none", "mnemic bench busy --rounds 1 --writes 2 --slow-model")
@options.count("--rounds", 10, "Rounds of each sort.")
@options.count("--writes", 50, "Writes to a round.")
@click.option("--gap", type=click.FloatRange(0), default=0.005, show_default=True, help="Seconds between two writes.")
@options.embedder(help="`none` for one that only burns time.")
@click.option(
    "--slow-model", is_flag=True, help="Beside a strategy that waits for a language model; and what calls cost."
)
@options.seed("the made-up text")
def busy(embedder: str, *, slow_model: bool, **load: Any) -> None:
    """Writes beside a busy worker in the same process, against writes beside an idle one; with meters and without.

    `--slow-model` measures them beside a worker whose strategy waits for a language model, and what sixteen calls under
    way at once take of the processor, each against one alone.

    `--writes 40 --gap 0` measures bursts that are shorter than a slice of what goes on behind.

    A bar that is missed decides the exit code where at least as much is measured as the bars are stated for.
    """
    from mnemic.lab.tasks.busy_bench import BusyLoad, bench_busy

    run, measured = invocation(), BusyLoad(**load)
    if slow_model:
        from mnemic.lab.tasks.waiting_bench import bench_waiting

        figures = bench_waiting(measured, lambda part: run.output.note(f"{part} ..."))
        _show_figures(run, figures, binding=measured.stated)
        return
    figures = bench_busy(
        measured, lambda part: run.output.note(f"{part} ..."), embedder=opened_embedder(run, embedder, None)
    )
    _show_figures(run, figures, binding=measured.stated)


@verb("mnemic bench gateway --items 50 --requests 4 --turns 3 --kills 1")
@options.count("--items", 1_000, "What memory holds beforehand.")
@options.count("--requests", 200, "Requests of each sort.")
@options.count("--turns", 40, "Turns of the conversation whose prompts are compared.", least=2)
@options.count("--kills", 100, "How often the endpoint is killed amid an answer.")
@click.option("--litellm", type=WORDS, metavar="COMMAND", help="Beside litellm's proxy, run by this.")
@options.seed("the made-up text")
def gateway(**load: Any) -> None:
    """The gateway: what it adds to a request, what of a prompt stays for the next, what a killed endpoint leaves.

    A bar that is missed decides the exit code where at least as much is measured as the bars are stated for.
    """
    from mnemic.lab.tasks.gateway_bench import GatewayLoad, bench_gateway

    run, measured = invocation(), GatewayLoad(**load)
    figures = bench_gateway(measured, lambda part: run.output.note(f"{part} ..."))
    _show_figures(run, figures, binding=measured.stated)


@verb("mnemic bench serve --items 60 --users 3 --rounds 1 --requests 16 --idle 4")
@options.count("--items", 100_000, "Memories of one user.")
@options.count("--users", 1_000, "Other users, who have ten each.")
@options.count("--rounds", 5, "Of each sort of request.")
@options.count("--requests", 1_000, "To a round.")
@options.count("--connections", 16, "At once.")
@options.count("--idle", 300, "Adds one after the other.")
@options.seed("the made-up text")
@click.option(
    "--filled",
    type=click.Path(dir_okay=False, path_type=Path),
    help="A store that a run of this size left here, instead of filling one; made if it is not there.",
)
@click.option("--feed", is_flag=True, help="Measure the feed instead, which these are of:")
@options.count("--clients", 1_000, "Streams, each of a user of its own.")
@options.count("--commits", 400, "Commits; after half of them the server is started again.", least=2)
@click.option("--gap", type=click.FloatRange(0), default=0.05, show_default=True, help="Seconds between two commits.")
@click.option("--silence", type=click.FloatRange(0.1), default=30.0, show_default=True, help="Seconds without any.")
@click.option("--deaf", type=click.IntRange(1), help="Measure instead what so many streams take that nobody reads.")
def serve(
    *,
    feed: bool,
    filled: Path | None,
    clients: int,
    commits: int,
    gap: float,
    silence: float,
    deaf: int | None,
    **load: Any,
) -> None:
    """The server: what a request takes beyond its verb, beside the verbs in process and beside a bare endpoint.

    With --feed: what idle listeners take, how soon a commit is heard, and whether a restart loses or repeats one. With
    --deaf: whether listeners that never read cost memory or keep commits from others, while 5,000 are made.
    A bar that is missed decides the exit code where at least as much is measured as the bars are stated for.
    """
    from mnemic.lab.tasks.deaf_bench import DeafLoad, bench_deaf
    from mnemic.lab.tasks.feed_bench import FeedLoad, bench_feed
    from mnemic.lab.tasks.serve_bench import ServeLoad, bench_serve

    run = invocation()

    def note(part: str) -> None:
        run.output.note(f"{part} ...")

    if deaf is not None:
        unread = DeafLoad(deaf=deaf)
        _show_figures(run, bench_deaf(unread, note), binding=unread.stated)
        return
    if feed:
        streams = FeedLoad(clients=clients, commits=commits, gap=gap, silence=silence)
        _show_figures(run, bench_feed(streams, note), binding=streams.stated)
        return
    measured = ServeLoad(**load)
    _show_figures(run, bench_serve(measured, note, filled), binding=measured.stated)


@verb("mnemic bench model scripted:Hello --turns 1", "mnemic bench model scripted:Hello --only mem0,read --turns 1")
@click.argument("model")
@click.option("--turns", type=click.IntRange(1, 4), default=2, show_default=True, help="Turns that are said.")
@click.option("--only", type=NAMES, help="Of mem0, stream, memoryos, zep, hippo2, read.")
@options.count("--limit", 2048, "Most tokens of an answer.", least=16)
@click.option("--served", is_flag=True, help="A GGUF file: not in this process, but over HTTP, by llama.cpp's server.")
@click.option("--answers", type=FILE, help="Folder for what was answered, a line for each call.")
def model(
    model: str, turns: int, only: Sequence[str] | None, limit: int, *, served: bool, answers: Path | None
) -> None:
    """Each strategy that asks a model, and `read`, over a few turns with a real one.

    It counts calls, sound answers, repairs and where rules stood in; how good a model judges it does not say. The exit
    code says whether all turns are kept and digested to the end. `smollm2`, the smallest, takes half a minute for a
    call, and minutes where it babbles up to the limit.
    """
    from mnemic.lab.tasks.model_bench import TRIED, bench_model, show_trials
    from mnemic.models.model_opening import open_chat

    run, named = invocation(), tuple(only or TRIED)
    if unknown := [name for name in named if name not in TRIED]:
        raise click.UsageError(f"--only: {unknown[0]} is none of {', '.join(TRIED)}")
    chat = open_chat(model, run.settings)
    if chat is None:
        raise click.UsageError("there is no model to try: name one")
    with _served(chat) if served else nullcontext(chat) as asked:
        measured, trials = bench_model(asked, named, turns, limit, answers, lambda part: run.output.note(f"{part} ..."))
    show_trials(measured, trials, sys.stdout, as_json=run.output.json)
    hold_to_bars(measured.figures)


def _served(chat: Chat) -> AbstractContextManager[Chat]:
    from mnemic.lab.kit.gguf_server import served_over_http
    from mnemic.models.chat.gguf import Gguf

    if not isinstance(chat, Gguf):
        raise click.UsageError("--served is for a GGUF file, or smollm2")
    return served_over_http(chat)


@verb("mnemic bench idle --spaces 50 --watches 3 --seconds 0.1 --writes 2")
@click.argument("where", metavar="[STORE]", required=False, type=WORDS)
@options.count("--spaces", 1_000_000, "Users of whom everything is understood.")
@options.count("--watches", 1_000, "Watches that wait.")
@click.option("--seconds", type=click.FloatRange(0.1), default=60.0, show_default=True, help="Of waiting.")
@options.count("--looks", 5, "Looks for work, each as a process begins.")
@options.count("--writes", 100, "Commits of another process, each timed until it is heard.")
@options.seed("the pauses between commits")
def idle(where: str | None, **load: Any) -> None:
    """What a store costs while nothing happens: looks for work, watches; how soon another process's commit is heard.

    STORE is the URL of an empty PostgreSQL database, which keeps what was made; left out, a file, gone afterwards.

    A bar that is missed decides the exit code where at least as much is measured as the bars are stated for.
    """
    from mnemic.lab.tasks.idle_bench import JUDGED_FROM, IdleLoad, bench_idle

    run, measured = invocation(), IdleLoad(**load)
    figures = bench_idle(measured, lambda part: run.output.note(f"{part} ..."), where)
    _show_figures(run, figures, binding=measured.stated, judged_from=JUDGED_FROM)


@verb(
    "mnemic bench load --tenants 6 --items 60 --rate 40 --seconds 1 --further 3 --warm 4",
    "mnemic bench load --tenants 4 --items 8 --rate 20 --seconds 1 --further 1 --warm 2 --served --json",
)
@click.argument("where", metavar="[STORE]", required=False, type=WORDS)
@options.count("--tenants", 10_000, "Tenants.")
@options.count("--items", 1_000_000, "Items of all of them together.")
@click.option("--fill-seconds", type=click.FloatRange(0, min_open=True), help="Load no longer than this.")
@click.option(
    "--rate",
    type=click.FloatRange(0, min_open=True),
    default=100.0,
    show_default=True,
    help="Requests that come in a second.",
)
@click.option("--seconds", type=click.FloatRange(0.1), default=60.0, show_default=True, help="For how long they come.")
@click.option(
    "--reads", type=click.FloatRange(0, 1), default=0.8, show_default=True, help="Share of recalls among them."
)
@click.option(
    "--zipf",
    type=click.FloatRange(0),
    default=1.0,
    show_default=True,
    help="Exponent of the law by which tenants come.",
)
@options.count("--threads", 16, "That make requests, in each process.")
@options.count("--processes", 1, "That load, and that make requests.")
@options.count("--warm", 200, "Recalls timed warm.")
@options.count("--further", 2_500, "Tenants that come at last.", least=0)
@click.option("--served", is_flag=True, help="Requests go to `mnemic serve`, over HTTP.")
@click.option("--beside-file", is_flag=True, help="Fill a file with some of these tenants, and have it recall in turn.")
@options.seed("the made-up text and of who comes when")
def load(where: str | None, *, beside_file: bool, **size: Any) -> None:
    """Many tenants who write and ask as they come, not as they are served: a file, or a PostgreSQL server.

    Latencies count from when a request was due, so that whoever waited behind a stall is counted (no coordinated
    omission); --json has the histograms. STORE is a path or a URL that holds nothing else, and keeps what was loaded:
    another run goes on with it. Left out, it is a file that is gone afterwards.
    A bar that is missed decides the exit code where at least as much is measured as the bars are stated for.
    """
    from mnemic.lab.tasks.load_bench import JUDGED_FROM, TenantLoad, bench_load

    run, measured = invocation(), TenantLoad(**size)
    with progress(run) as report_progress:
        figures = bench_load(measured, where, report_progress, beside_file=beside_file)
    _show_figures(run, figures, binding=measured.stated, judged_from=JUDGED_FROM)


@verb("mnemic bench kv --quick --parts power")
@click.option("--quick", is_flag=True, help="Much less of each, with a looser bar for the first word.")
@click.option("--parts", type=NAMES, default=(), help="Of first, talks, damage, power, canaries (left out: all).")
@options.seed("mutations, cuts and canaries")
def kv(parts: Sequence[str], *, quick: bool, seed: int) -> None:
    """What a local engine keeps of prompts beside a store: first words after a restart, talks, damage, power, erasure.

    Each figure stands beside its control. Needs smollm2, but for `power`. A bar that is missed decides the exit code.
    """
    from mnemic.lab.tasks.kv.kv_bench import PARTS, QUICK, KvLoad, bench_kv

    if unknown := [part for part in parts if part not in PARTS]:
        raise Invalid("parts", f"{unknown[0]!r} is none", f"There are: {', '.join(PARTS)}.")
    run, load = invocation(), QUICK if quick else KvLoad()
    load = replace(load, parts=tuple(parts) or PARTS, seed=seed)
    figures = bench_kv(load, lambda part: run.output.note(f"{part} ..."))
    _show_figures(run, figures, binding=True)


@verb("mnemic bench spaces --spaces 3 --items 300")
@options.count("--spaces", 100, "Users.")
@options.count("--items", 10_000, "Items of each, with vectors.")
@options.seed("the made-up text and vectors")
def spaces(**size: int) -> None:
    """The memory that a process takes which has many users' memories open, with vectors, and asks one after the other.

    The bar decides the exit code where at least as much is measured as it is stated for.
    """
    from mnemic.lab.tasks.spaces_bench import ManySpaces, bench_spaces

    run, measured = invocation(), ManySpaces(**size)
    figures = bench_spaces(measured, lambda part: run.output.note(f"{part} ..."))
    _show_figures(run, figures, binding=measured.stated)


@verb("mnemic bench stages --turns 200 --rounds 1 --limit 8 --embedder none")
@click.option(
    "--turns", type=click.IntRange(1), multiple=True, default=(1_000, 10_000), show_default=True, help="Of each memory."
)
@options.count("--rounds", 3, "How often each question is asked.")
@options.limit()
@options.embedder()
@options.cache
@options.seed("the order of the talk")
def stages(embedder: str, cache: Path | None, **size: Any) -> None:
    """What each stage of recall costs: warm recalls as they are, against the same with stages left out.

    A bar that is missed decides the exit code where at least as much is measured as the bar is stated for.
    """
    from mnemic.lab.tasks.stages_bench import StagesSize, bench_stages

    run = invocation()
    measured = StagesSize(**size)
    with progress(run) as report_progress:
        figures = bench_stages(measured, embedder=opened_embedder(run, embedder, cache), progress=report_progress)
    _show_figures(run, figures, binding=measured.stated)


@verb("mnemic bench gc --short --adds 600 --live 200 --keep-commits 2 --singles 5")
@click.option("--short", is_flag=True, help="Some seconds: 20,000 adds, 4,000 live, 50 commits, 200 singles.")
@options.count("--adds", 1_000_000, "Items added in all.")
@options.count("--live", 100_000, "Items that stand.")
@options.count("--keep-commits", 200, "Of the past, 100 adds each.", least=0)
@options.count("--singles", 1_000, "Single writes timed alone.")
@click.option("--folder", type=click.Path(path_type=Path, file_okay=False), help="On the disk to measure.")
@options.seed("the made-up text")
def gc(short: bool, folder: Path | None, **sizes: int) -> None:
    """Collecting beside writers and readers: the file's size, who waits, and whether recall stays the same."""
    from mnemic.lab.tasks import gc_bench

    run, context = invocation(), click.get_current_context()
    if short:
        named = click.core.ParameterSource.COMMANDLINE
        sizes = {name: value for name, value in sizes.items() if context.get_parameter_source(name) is named}
    if "keep_commits" in sizes:
        sizes["keep"] = sizes.pop("keep_commits")
    size = replace(gc_bench.SHORT if short else gc_bench.GcSize(), **sizes)
    with progress(run) as report_progress:
        figures = gc_bench.bench_gc(size, report_progress, folder=folder)
    _show_figures(run, figures)


def _show_figures(run: Invocation, measured: Measurements, *, binding: bool = True, judged_from: str = "") -> None:
    """Show what was measured; a bar that is missed decides the exit code if it is binding, and is not judged if not."""
    from mnemic.lab.kit.figures import show

    show(measured, sys.stdout, as_json=run.output.json, judged=binding, judged_from=judged_from)
    if binding:
        hold_to_bars(measured.figures)


@verb(
    "mnemic bench capacity book.txt --limit 200 --capacities 10,50% --policies lru,arc",
    "mnemic bench capacity book.txt --limit 100 --laws again --capacities 10 --policies lfu --json",
)
@options.path
@options.out
@options.limit("chunks")
@click.option("--capacities", type=NAMES, help="Pages, or per cent of all chunks, by commas (0.1%,0.5%,2%,10%,50%).")
@options.policies
@click.option("--laws", type=NAMES, default=("recent", "uniform"), show_default=True, help="Of age; also `again`.")
@options.count("--every", 10, "Chunks between questions.")
@options.plots
@options.seed("the questions, and of the bootstrap")
def capacity(path: Path, out: Path, plots: Path | None, **sweep: Any) -> None:
    """Plain text in chunks of 512 bytes through hot tiers of so many pages: what each policy finds, with an archive and
    without.

    PATH is a text (enwik8, text8, any other; zip, gzip, bzip2 and xz are read), or a folder of them. A window that
    finds more than the archive decides the exit code, of 50,000 chunks or more.
    """
    from mnemic.lab.tasks.capacity.capacity_bench import TextSweep, bench_capacity

    run = invocation()
    with progress(run) as report_progress:
        log = bench_capacity(path, out=out, sweep=TextSweep(**options.without_none(sweep)), progress=report_progress)
    hold_to_bars(_show_sweep(run, log, plots))


@verb(
    "mnemic bench hotpot questions.jsonl --lag 0 --capacities 1,2 --policies lru --embedder none",
    "mnemic bench hotpot questions.jsonl --law fixed --lag 0 --capacities 2 --policies arc --embedder none --json",
)
@options.path
@options.out
@options.limit()
@click.option("--capacities", type=NAMES, help="Documents in the hot tier, or per cent of all, by commas.")
@options.policies
@options.count("--lag", 10, "Questions until one is asked.", least=0)
@click.option("--law", type=WORDS, default="spread", show_default=True, help="`spread`: from 0 to twice; or `fixed`.")
@click.option("--order", type=WORDS, default="file", show_default=True, help="Of the documents; or `shuffled`.")
@click.option("--unit", type=WORDS, default="paragraph", show_default=True, help="One document; or `sentence`.")
@click.option("--checks", is_flag=True, help="Also: asked too early, in any order, with room for everything.")
@options.embedder("none", "`auto`, or by its name.")
@options.cache
@options.plots
@options.seed("what is drawn, and of the bootstrap")
def hotpot(
    path: Path,
    lag: int,
    law: str,
    order: str,
    seed: int,
    embedder: str,
    cache: Path | None,
    plots: Path | None,
    **measured: Any,
) -> None:
    """Supporting facts of multi-hop questions under a fixed hot capacity, beside a sliding window of the same size.

    PATH is HotpotQA's or 2Wiki's json, MuSiQue's jsonl, or unified jsonl. A bar that is missed decides the exit code,
    where 50 questions or more are asked, they come by the usual law, and a window finds near 60 %.
    """
    from mnemic.lab.tasks.capacity.hotpot_bench import Protocol, bench_hotpot

    run, protocol = invocation(), Protocol(lag=lag, law=law, order=order, seed=seed)
    with progress(run) as report_progress:
        reader = opened_embedder(run, embedder, cache)
        log = bench_hotpot(
            path, protocol=protocol, embedder=reader, progress=report_progress, **options.without_none(measured)
        )
    hold_to_bars(_show_hotpot(run, log, plots))


def _form(run: Invocation, *, markdown: bool) -> str | None:
    return "json" if run.output.json else "markdown" if markdown else None


def _show_sweep(
    run: Invocation, log: Path, plots: Path | None = None, *, seed: int | None = None, markdown: bool = False
) -> list[Figure]:
    """Show a sweep; what it came to beside its bars."""
    from mnemic.lab.tasks.capacity.capacity_report import bars, read_sweep, show_sweep, write_csv

    swept = read_sweep(log, seed=seed)
    show_sweep(swept, sys.stdout, _form(run, markdown=markdown))
    _note_files(run, log, write_csv(swept, log.with_suffix(".csv")))
    if plots is not None:
        from mnemic.lab.tasks.capacity.capacity_plots import draw_sweep

        _note_pictures(run, draw_sweep(swept, plots))
    return bars(swept)


def _show_hotpot(
    run: Invocation, log: Path, plots: Path | None = None, *, seed: int | None = None, markdown: bool = False
) -> list[Figure]:
    """Show a run over questions; what it came to beside its bar."""
    from mnemic.lab.tasks.capacity.hotpot_report import bars, read_capacities, show_capacities, write_csv

    made = read_capacities(log, seed=seed)
    show_capacities(made, sys.stdout, _form(run, markdown=markdown))
    _note_files(run, log, write_csv(made, log.with_suffix(".csv")))
    if plots is not None:
        from mnemic.lab.tasks.capacity.capacity_plots import draw_capacities

        _note_pictures(run, draw_capacities(made, plots))
    return bars(made)


def _show_strategies(run: Invocation, log: Path, *, seed: int | None = None, markdown: bool = False) -> list[Figure]:
    """Show a replay; what it came to beside its bars."""
    from mnemic.lab.tasks.strategies_report import bars, read_strategies, show

    made = read_strategies(log, seed=seed)
    show(made, sys.stdout, _form(run, markdown=markdown))
    return bars(made)


def _note_files(run: Invocation, log: Path, figures: Path) -> None:
    run.output.note(f"log: {log}, figures: {figures}")


def _note_pictures(run: Invocation, drawn: Sequence[Path]) -> None:
    run.output.note(f"pictures: {', '.join(map(str, drawn))}")


for _command in (
    run_, tasks, samples, report, compare, ablate, tune, locomo, multihop, asked, current, standing, small, strategies,
    needles,
    capacity, hotpot, gc, speed, busy, gateway, serve, model, idle, load, kv, spaces, stages, paging,
    retention_train, session, stream, peers,
):  # fmt: skip
    bench.add_command(_command)
