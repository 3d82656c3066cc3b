"""`import`: files of any sort, streamed in batches; stopping it and running it again is fine."""

from __future__ import annotations

import shlex
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain
from types import FrameType
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

import click

from mnemic.errors import Conflict, Invalid, MnemicError, NotFound
from mnemic.faces.cli.bars import BarReport, progress
from mnemic.faces.cli.command import WORDS, verb
from mnemic.faces.cli.invocation import INTERRUPTED, Invocation, invocation
from mnemic.faces.cli.output import flat, many

if TYPE_CHECKING:
    from mnemic.core.events import Receipt
    from mnemic.core.ids import ItemId
    from mnemic.ingest.message import Edge, Message
    from mnemic.memory import Memory, ScopedMemory

FAILED: Final = 1
"""The exit code where nothing could be taken."""
BATCH: Final = 200
"""Messages to a commit."""
_PLACES: Final = 3
"""Places that the summary names for each reason to skip."""
_FORMAT_NAMES: Final = (
    "jsonl json text dialogue markdown html pdf code chatgpt claude mem0 memory-server locomo longmemeval unified"
)
_FORMATS: Final = tuple(_FORMAT_NAMES.split())


@dataclass(slots=True)
class ImportTally:
    """What became of a source so far.

    Attributes:
        claimed: Under which names of the user's, and in how many messages, a file that gives no role speaks.
        expired: What expired before it came, written or there.
        assumed: By zone, how many dates carried none and were read in it.
        away: Of `repeated`, those that have been erased or taken back since they were written.
        ties: Links between items that were written.
        first, last: The commits written.
    """

    written: int = 0
    repeated: int = 0
    away: int = 0
    commits: int = 0
    ties: int = 0
    first: int | None = None
    last: int | None = None
    masked: int = 0
    expired: int = 0
    assumed: Counter[str] = field(default_factory=Counter)
    claimed: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    places: dict[str, list[str]] = field(default_factory=dict)
    sources: dict[str, None] = field(default_factory=dict)

    def took(self, receipt: Receipt, away: int) -> None:
        """Count a batch that was written, or was there."""
        fresh = len(receipt.ids) - receipt.repeated
        self.written += fresh
        self.repeated += receipt.repeated
        self.away += away
        self.masked += sum(count for _, count in receipt.masked)
        if fresh:
            self._committed(receipt)

    def tied(self, receipt: Receipt) -> None:
        """Count a link that was written."""
        self.ties += 1
        self._committed(receipt)

    def _committed(self, receipt: Receipt) -> None:
        self.commits += 1
        self.first, self.last = self.first or receipt.seq, receipt.seq

    def assume(self, zone: str) -> None:
        """Count a date that carried no zone and was read in this one."""
        self.assumed[zone] += 1

    def skip(self, where: str, why: str) -> None:
        """Count a place that was left out."""
        self.skipped[why] += 1
        named = self.places.setdefault(why, [])
        if len(named) < _PLACES:
            named.append(where)


class Brake:
    """Ctrl-C takes hold between commits, never in one."""

    def __init__(self) -> None:
        self._busy = self._pulled = False

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Be what Ctrl-C and a polite `kill` call."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self._pull) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    @contextmanager
    def released(self) -> Iterator[None]:
        """A stretch that is finished before Ctrl-C is heard."""
        self._busy = True
        try:
            yield
        finally:
            self._busy = False
        if self._pulled:
            raise KeyboardInterrupt

    def _pull(self, _number: int, _frame: FrameType | None) -> None:
        self._pulled = True
        if not self._busy:
            raise KeyboardInterrupt


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent:
    """What the options asked for.

    Attributes:
        each_user: Records of other users go into those users' memories.
        mine: Records of whatever user go into this one's memory.
        me: The speaker whose lines are the user's own words, where the file gives no role.
    """

    path: str
    form: str | None
    zone: str | None
    source: str | None
    each_user: bool
    mine: bool
    me: str | None
    branches: bool
    tools: bool
    exclude: tuple[str, ...]


@verb(
    "mnemic import chat.jsonl",
    "mnemic import notes.md --source notes --dry-run",
    "mnemic import . --exclude '*.jsonl' --source desk",
    "mnemic import talk.txt --format dialogue --zone Europe/Lisbon --session trip",
    "mnemic import talk.txt --me Ana",
    "cat chat.jsonl | mnemic import - --format jsonl --source chat",
    name="import",
)
@click.argument("path", type=click.Path(allow_dash=True))
@click.option("--format", "form", type=click.Choice(_FORMATS), help="Left out: told by name and content.")
@click.option("--zone", type=WORDS, help="Zone of times that carry none; left out, only front matter may do so.")
@click.option("--source", type=WORDS, metavar="NAME", help="What to call it: `undo --import NAME` takes it back.")
@click.option("--each-user", is_flag=True, help="Write a record that names a user into that user's memory.")
@click.option("--mine", is_flag=True, help="Write every record into this user's memory, whomever it names.")
@click.option("--me", type=WORDS, metavar="SPEAKER", help="Whose lines are yours, where the file gives no role.")
@click.option("--branches", is_flag=True, help="ChatGPT: also branches that were left by editing or asking again.")
@click.option("--tools", is_flag=True, help="ChatGPT, Claude: also what tools and the system said, and thoughts.")
@click.option("--exclude", type=WORDS, multiple=True, metavar="PATTERN", help="Of a folder or archive; again for more.")
@click.option("--dry-run", is_flag=True, help="Read and report; write nothing.")
def import_(path: str, form: str | None, dry_run: bool, **options: Any) -> None:
    """Remember a file, a folder or a zip: chats, exports, documents, code.

    Reads the exports of ChatGPT and Claude (the zip as it was downloaded), mem0 and the reference memory server;
    Markdown, HTML, PDF, code, plain text; chats as JSON or JSON lines, dialogues, LoCoMo and LongMemEval. Gzip is
    undone, and `-` is standard input. It streams, and says what it skipped and why. Run again, it writes only what is
    not there.
    """
    run, tally, brake, intent = invocation(), ImportTally(), Brake(), Intent(path=path, form=form, **options)
    if intent.mine and intent.each_user:
        raise Invalid("mine", "says the opposite of --each-user", "Give one of them.")
    began = time.perf_counter()
    try:
        with brake.watching(), progress(run, unit="bytes") as report:
            messages = _messages(run, intent, tally, _moved(run, intent, report))
            if dry_run:
                _count(run, messages, tally, intent)
            else:
                _write(run, messages, tally, brake, intent)
    except KeyboardInterrupt:
        _report(run, tally, time.perf_counter() - began, dry_run=dry_run, interrupted=True)
        click.get_current_context().exit(INTERRUPTED)
    _report(run, tally, time.perf_counter() - began, dry_run=dry_run, interrupted=False)
    if not tally.written and not tally.repeated:
        skipped = tally.skipped.total()
        problem = (
            f"nothing here could be imported; {many(skipped, 'record')} skipped" if skipped else "there is nothing here"
        )
        run.output.note(f"error: {problem}")
        click.get_current_context().exit(FAILED)


def _messages(
    run: Invocation, intent: Intent, tally: ImportTally, moved: Callable[[int], None] | None
) -> Iterator[Message | Edge]:
    """What is read, each message with its source in a slot; what had to be skipped is counted on the way."""
    from dataclasses import replace

    from mnemic.ingest.message import Edge, Skipped
    from mnemic.ingest.readers import read

    given = read(
        intent.path,
        intent.form,
        intent.zone,
        source=intent.source,
        session=run.options.session,
        limit=run.settings.input_limit,
        branches=intent.branches,
        tools=intent.tools,
        exclude=intent.exclude,
        progress=moved,
        own_zone=run.settings.timezone,
        assumed=tally.assume,
    )
    for record in given:
        if isinstance(record, Skipped):
            tally.skip(record.where, record.why)
        elif isinstance(record, Edge):
            yield record
        else:
            name = unquote(record.key.partition(":")[0])
            tally.sources[name] = None
            slots = {"user": record.user, **record.slots} if intent.mine and record.user else record.slots
            yield replace(record, slots={**_with_role(slots, intent.me), "source": name})


def _with_role(slots: Mapping[str, Any], me: str | None) -> Mapping[str, Any]:
    """The slots of a message whose speaker is the user, and that gives no role: the role in place of the name."""
    if me is None or slots.get("role") or str(slots.get("speaker", "")).strip().casefold() != me.casefold():
        return slots
    return {**{name: value for name, value in slots.items() if name != "speaker"}, "role": "user"}


def _claim(tally: ImportTally, messages: Sequence[Message], user: str) -> None:
    """Count the messages that speak in the user's name without a role, of which rules derive nothing."""
    from mnemic.extract.speakers import names_user

    for message in messages:
        name = str(message.slots.get("speaker", "")).strip()
        if name and not message.slots.get("role") and names_user(name, user):
            tally.claimed[name] += 1


def _owner(run: Invocation, message: Message, tally: ImportTally, intent: Intent) -> str | None:
    """Whose memory a message goes into, or None where it goes into nobody's."""
    if message.user is None or message.user == run.user or intent.mine:
        return run.user
    if intent.each_user:
        return message.user
    why = f"belongs to user {message.user!r}, not {run.user!r}; --each-user writes it there, --mine here"
    tally.skip(message.key, why)
    return None


def _count(run: Invocation, messages: Iterator[Message | Edge], tally: ImportTally, intent: Intent) -> None:
    """What a write would make of the messages, but for what is there already, which only the store could tell."""
    from mnemic.core.clock import SystemClock
    from mnemic.core.ids import SystemEntropy
    from mnemic.core.items import Channel
    from mnemic.ingest.message import Edge
    from mnemic.writing import Desk

    desk = Desk(SystemClock(), SystemEntropy(), run.settings)
    for message in messages:
        if isinstance(message, Edge):
            tally.ties += 1
            continue
        owner = _owner(run, message, tally, intent)
        if owner is None:
            continue
        try:
            written = desk.evidence(run.scope(owner), [message], Channel.IMPORT, lasting=True)
        except Invalid as error:
            tally.skip(message.key, _unplaced(error))
            continue
        tally.written += len(written.puts)
        _claim(tally, [message], owner)
        tally.expired += _expired([message])
        tally.masked += sum(count for _, count in written.masked)


def _write(
    run: Invocation, messages: Iterator[Message | Edge], tally: ImportTally, brake: Brake, intent: Intent
) -> None:
    from mnemic.ingest.message import Edge

    batches: dict[str, list[Message]] = {}
    edges: list[Edge] = []
    known: dict[str, ItemId] = {}
    first = next(messages, None)  # a file that cannot be read makes no store
    if first is None:
        return
    with run.memory(create=True) as memory:
        for message in chain([first], messages):
            if isinstance(message, Edge):
                edges.append(message)
                continue
            owner = _owner(run, message, tally, intent)
            if owner is None:
                continue
            batch = batches.setdefault(owner, [])
            batch.append(message)
            if len(batch) >= BATCH:
                with brake.released():
                    _commit(run, memory, owner, batches.pop(owner), tally, known)
        for owner, batch in batches.items():
            with brake.released():
                _commit(run, memory, owner, batch, tally, known)
        _tie(run, memory, edges, known, tally, brake)


def _commit(
    run: Invocation, memory: Memory, owner: str, batch: Sequence[Message], tally: ImportTally, known: dict[str, ItemId]
) -> None:
    """One commit for all of `batch`; if one message is refused, a commit each, and that one is skipped.

    The ids of entities and facts go into `known`, by key: it is those that a source ties.
    """
    from mnemic.core.items import Channel

    try:
        receipt = run.scoped(memory, owner).observe(batch, channel=Channel.IMPORT)
    except (Conflict, Invalid) as error:
        if len(batch) == 1:
            tally.skip(batch[0].key, _unplaced(error))
            return
        for message in batch:
            _commit(run, memory, owner, [message], tally, known)
        return
    mine = run.scoped(memory, owner, shelved=False)
    _claim(tally, batch, owner)
    tally.expired += _expired(batch)
    tally.took(receipt, sum(_is_away(mine, item_id) for item_id in receipt.ids) if receipt.repeated else 0)
    known |= _ids(run.scoped(memory, owner), batch, receipt)


def _expired(batch: Sequence[Message]) -> int:
    """How many messages expired before they came, and so are shown to nobody."""
    ends = [message.expires for message in batch if isinstance(message.expires, datetime)]
    return sum(end <= datetime.now(UTC) for end in ends)


def _ids(me: ScopedMemory, batch: Sequence[Message], receipt: Receipt) -> dict[str, ItemId]:
    """The ids of entities and facts among what was just written, by key."""
    from mnemic.core.items import EVIDENCE, Channel

    if len(receipt.ids) == len(batch):
        pairs = zip(batch, receipt.ids, strict=True)
        return {message.key: item_id for message, item_id in pairs if message.kind not in EVIDENCE}
    tied = [message for message in batch if message.kind not in EVIDENCE]  # one was long, and came with its chunks
    return {message.key: me.observe([message], channel=Channel.IMPORT).ids[0] for message in tied}


def _tie(
    run: Invocation,
    memory: Memory,
    edges: Sequence[Edge],
    known: Mapping[str, ItemId],
    tally: ImportTally,
    brake: Brake,
) -> None:
    """Tie what the source ties and nobody has tied yet, once everything it speaks of is there."""
    mine = run.scoped(memory, shelved=False)
    for edge in edges:
        src, dst = known.get(edge.src), known.get(edge.dst)
        if src is None or dst is None:
            tally.skip(f"tie {edge.type}", "ties what is not here")
            continue
        try:
            with brake.released():
                if not any((link.dst, link.type) == (dst, edge.type) for link in mine.links(src)):
                    tally.tied(mine.link(src, dst, edge.type))
        except MnemicError as error:
            tally.skip(f"tie {edge.type}", str(error))


def _unplaced(error: MnemicError) -> str:
    return str(error).removeprefix("messages[0].")


def _is_away(me: ScopedMemory, item: ItemId) -> bool:
    """Whether an item has been erased, or taken back."""
    from mnemic.core.items import State

    try:
        me.get(item)
    except NotFound:
        pass
    else:
        return False
    try:
        versions = [version for version in me.history(item) if version.item.id == item]
    except NotFound:
        return True
    return versions[-1].item.state is State.RETIRED


def _moved(run: Invocation, intent: Intent, report: BarReport) -> Callable[[int], None] | None:
    """What is told how many bytes were read; None where nobody sees it."""
    if not run.output.draws:
        return None
    from mnemic.ingest.inputs import count_hint

    total = count_hint(intent.path, intent.exclude) or None
    return lambda done: report("importing", done, total)


def _report(run: Invocation, tally: ImportTally, seconds: float, *, dry_run: bool, interrupted: bool) -> None:
    if run.output.json:
        run.output.document(_record(tally, seconds, dry_run=dry_run, interrupted=interrupted))
        return
    output, verb = run.output, "would write" if dry_run else "written"
    rate = f" ({tally.written / seconds:,.0f} items/s)" if tally.written and seconds > 0 else ""
    there = "not looked up in a dry run" if dry_run else f"{tally.repeated - tally.away:,}"
    rows = [(verb, f"{tally.written:,} in {seconds:.1f} s{rate}"), ("already there", there)]
    rows += [("gone", _erased_since(tally.away))] if tally.away else []
    rows.append(("skipped", f"{tally.skipped.total():,}"))
    rows += [("expired", f"{tally.expired:,} before they came: nobody is shown them")] if tally.expired else []
    for zone, count in tally.assumed.items():
        rows.append(("dates", f"{count:,} without a zone, read as {zone} (--zone names another)"))
    rows += [("of you", _claims(tally))] if tally.claimed else []
    rows += [("links", f"{tally.ties:,}")] if tally.ties else []
    rows += [("in", _commits(tally))] if tally.commits else []
    rows += [("masked", many(tally.masked, "secret"))] if tally.masked else []
    rows += [("source", flat(", ".join(tally.sources)))] if tally.sources else []
    output.table(rows)
    for why, count in tally.skipped.most_common():
        places = ", ".join(tally.places[why]) + (", ..." if count > len(tally.places[why]) else "")
        output.line(f"  {count:,} x {flat(why)} ({flat(places)})")
    if interrupted:
        output.note("interrupted; what is counted above is safe on disk. The same command again goes on from there.")


def _claims(tally: ImportTally) -> str:
    """What to do where a file speaks in the user's name and gives no role."""
    name = shlex.quote(flat(next(iter(tally.claimed))))
    said = (
        f"{many(tally.claimed.total(), 'message')} by {flat(', '.join(tally.claimed))}, without a role: recalled, but"
    )
    remedy = f"if they are your words, take this back and import it with `--me {name}` and a new --source"
    return f"{said} no fact about you is drawn from them; {remedy}"


def _erased_since(away: int) -> str:
    were = "was" if away == 1 else "were"
    return (
        f"{away:,} {were} imported before and since erased or taken back: they stay away; "
        "a new --source brings them in again"
    )


def _commits(tally: ImportTally) -> str:
    if tally.commits == 1:
        return f"commit {tally.first} (take it back: mnemic undo {tally.first})"
    return f"commits {tally.first}-{tally.last} (take them back: mnemic undo {tally.first}..{tally.last})"


def _record(tally: ImportTally, seconds: float, *, dry_run: bool, interrupted: bool) -> dict[str, Any]:
    why_not = tally.skipped.most_common()
    return {
        "written": 0 if dry_run else tally.written,
        "readable": tally.written + tally.repeated,
        "repeated": None if dry_run else tally.repeated,
        "away": None if dry_run else tally.away,
        "claimed": dict(tally.claimed),
        "expired": tally.expired,
        "zones_assumed": dict(tally.assumed),
        "links": 0 if dry_run else tally.ties,
        "commits": tally.commits,
        "first_commit": tally.first,
        "last_commit": tally.last,
        "masked": tally.masked,
        "skipped": [{"reason": why, "count": count, "places": tally.places[why]} for why, count in why_not],
        "sources": list(tally.sources),
        "seconds": round(seconds, 3),
        "dry_run": dry_run,
        "interrupted": interrupted,
    }
