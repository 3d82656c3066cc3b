"""`session`: the windows of talks: what is said and asked in one, its pages, and what they cost."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import click

from mnemic.core.clock import moment
from mnemic.core.items import Kind
from mnemic.core.listing import LISTED
from mnemic.core.queries import Filter
from mnemic.errors import Invalid, NotFound
from mnemic.faces.cli.bars import meter
from mnemic.faces.cli.command import WORDS, CommandGroup, page_options, verb
from mnemic.faces.cli.commands.remember import acknowledge, note_withheld, said_fields, said_options
from mnemic.faces.cli.invocation import argument_text, checked_words, invocation
from mnemic.faces.cli.item_ids import resolve_all
from mnemic.faces.cli.output import flat, many
from mnemic.operations.journal_records import page_record, session_record, tier
from mnemic.operations.records import receipt_record
from mnemic.registry import POLICIES
from mnemic.settings import LEAST_WINDOW, MOST_WINDOW
from mnemic.tiers.pager import pressure
from mnemic.window.terms import MARKS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mnemic.core.ids import ItemId
    from mnemic.faces.cli.invocation import Invocation
    from mnemic.memory import ScopedMemory
    from mnemic.session import Session
    from mnemic.store.values.row_values import PageRow, SessionRow

_WORDS: Final = 48
_SESSION: Final = ("talk", "turns", "budget", "policy", "written at", "open")
_PAGE: Final = ("id", "tier", "pinned", "tokens", "uses", "last use", "came in", "text")


@click.group(
    cls=CommandGroup,
    examples=("mnemic session list", "mnemic session context trip 'When do we leave?'"),
    epilog=f"Policies: {', '.join(POLICIES)}.",
)
def session() -> None:
    """The windows of talks: say and ask in one, move its pages, see what it costs.

    A talk keeps the budget and the policy it had last.
    """


@verb("mnemic session list", "mnemic session list --json", name="list")
@page_options(LISTED)
def listed(limit: int, after: str | None) -> None:
    """Every talk that has a window, with who has it open."""
    run = invocation()
    with run.user_memory(shelved=False) as me:
        page = me.sessions(limit=limit, after=after)
    if run.output.json:
        run.output.records([session_record(name, row) for name, row in page], page.next)
        return
    run.output.table([_session_row(name, row) for name, row in page], head=_SESSION)
    if not page:
        run.output.note("no talk has a window yet")
    run.output.more(page.next)


@verb("mnemic session show trip", "mnemic session show trip --json", name="show")
@click.argument("name", type=WORDS)
def shown(name: str) -> None:
    """The page table of a talk: what is in its window, in order, and what that costs.

    It is as it was written down last: a talk that is open may be some turns further. Hits, faults and dirty pages are
    of a window while it is open: the commands that open one tell of them, all of them with --json.
    """
    run = invocation()
    with run.user_memory(shelved=False) as me:
        row = me.find_session(name)
        if row is None:
            raise NotFound(f"no talk {name!r} has a window here; `mnemic session list` names them")
        written = me.session_pages(name)
        texts = _texts(me, written)
    pages = [page for page in written if page.item in texts]
    used, gone = sum(page.tokens for page in pages if page.resident), len(written) - len(pages)
    full = pressure(used, row.budget, MARKS)
    if run.output.json:
        counts = {"tokens": used, "pressure": full.value, "gone": gone}
        run.output.document({**session_record(name, row), **counts, "pages": [page_record(page) for page in pages]})
        return
    run.output.table([_session_row(name, row)], head=_SESSION)
    run.output.line(f"pages {meter(used, row.budget)} {used:,} of {row.budget:,} tokens, pressure {full.value}")
    run.output.table([_page_row(page, texts[page.item]) for page in pages], head=_PAGE)
    if gone:
        run.output.note(f"{many(gone, 'page')} not shown: forgotten or erased since, and out of the window")
    waiting = sum(not page.resident for page in pages)
    if waiting:
        run.output.note(f"{many(waiting, 'turn')} left the window and wait to be made part of a segment")


def _texts(me: ScopedMemory, pages: Sequence[PageRow]) -> dict[str, str]:
    """Read the texts of pages that are still there: one may be erased meanwhile."""
    return {version.item.id: version.item.text for version in me.visible([page.item for page in pages])}


def _session_row(name: str, row: SessionRow) -> tuple[str, ...]:
    until = f"until {moment(row.lease_until):%H:%M:%S} UTC" if row.owner else "no"
    return flat(name), f"{row.turns:,}", f"{row.budget:,}", flat(row.policy), f"{row.seq:,}", until


def _page_row(page: PageRow, text: str) -> tuple[str, ...]:
    short = flat(text)
    return (
        page.item, tier(page), "yes" if page.pinned else "", f"{page.tokens:,}", f"{page.uses:,}",
        f"{page.last_use:,}", f"{page.arrived:,}", short if len(short) <= _WORDS else f"{short[: _WORDS - 3]}...",
    )  # fmt: skip


def _window_options(function: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option(
            "--policy",
            type=WORDS,
            metavar="NAME",
            help=f"Which page leaves first: {', '.join(POLICIES)} (left out: as it was, or setting `policy`).",
        ),
        click.option(
            "--budget",
            type=click.IntRange(LEAST_WINDOW, MOST_WINDOW),
            help="Tokens of the window (likewise: `window`).",
        ),
        click.argument("name", type=WORDS),
    ):
        function = option(function)
    return function


def _page_arguments(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the arguments that name a talk and some of its pages."""
    ids = click.argument("ids", type=WORDS, nargs=-1, required=True)
    return click.argument("name", type=WORDS)(ids(function))


@verb(
    "mnemic session observe trip 'We leave on Friday at nine.' --role user",
    "echo 'The ferry is late.' | mnemic session observe trip - --speaker Ben --json",
    name="observe",
)
@_window_options
@click.argument("text", type=WORDS)
@said_options
def observed(name: str, text: str, budget: int | None, policy: str | None, **options: Any) -> None:
    """Remember what was said in a talk; it comes into the talk's window, and what no longer fits leaves.

    TEXT `-` reads standard input. A talk that nothing was said in yet begins.
    """
    run = _invocation_on(name)
    fields = said_fields(**options)
    words = checked_words(text, run.settings)
    with run.user_memory(create=True) as me, me.session(name, budget=budget, policy=policy) as window:
        receipt = window.observe(words, **fields)
        if run.output.json:
            took = round(run.seconds * 1000, 3)
            run.output.document({**receipt_record(receipt), "milliseconds": took, **_state(window)})
            return
        acknowledge(run, "remembered", receipt)
        note_withheld(run, me, receipt)
        _note_state(run, window)


@verb(
    "mnemic session context trip 'When do we leave?'",
    "mnemic session context trip 'When do we leave?' --budget 1000 --json",
    name="context",
)
@_window_options
@click.argument("query", type=WORDS)
def asked(name: str, query: str, budget: int | None, policy: str | None) -> None:
    """The window of a talk after a question: what bears on it is paged in, what was there stays where it was.

    A talk without a window gets one of its last turns. QUERY `-` reads standard input.
    """
    run = _invocation_on(name)
    words = argument_text(query, run.settings)
    with run.user_memory() as me, me.session(name, budget=budget, policy=policy) as window:
        new = not _was_said_in(me, name)
        context = window.context(words)
        if run.output.json:
            ids = [item.id for item in context]
            notes = {"notes": list(context.notes), "new": new}
            run.output.document({"text": context.text, "items": ids, **notes, **_state(window)})
            return
        run.output.line(context.text)
        if new:
            run.output.note(f"nothing was said in a talk {name!r} yet: what is shown is of others")
        for note in context.notes:
            run.output.note(note)
        _note_state(run, window)


@verb("mnemic session page-in trip last", "mnemic session page-in trip last --json", name="page-in")
@_page_arguments
def paged_in(name: str, ids: tuple[str, ...]) -> None:
    """Bring items into a talk's window, whatever talk they are of; `last` is what was said last in this one."""
    with _moving_pages(name, ids, "paged in") as (window, items):
        for item in items:
            window.page_in(item)


@verb("mnemic session page-out trip last", "mnemic session page-out trip last --json", name="page-out")
@_page_arguments
def paged_out(name: str, ids: tuple[str, ...]) -> None:
    """Send pages out of a talk's window; they stay addressable. `last` is what was said last in it."""
    with _moving_pages(name, ids, "paged out") as (window, items):
        for item in items:
            window.page_out(item)


@verb("mnemic session pin trip last", "mnemic session pin trip last --json", name="pin")
@_page_arguments
def pinned(name: str, ids: tuple[str, ...]) -> None:
    """Keep pages in a talk's window, whatever the policy says.

    `mnemic pin` keeps an item at hand in every talk.
    """
    with _moving_pages(name, ids, "pinned in its window") as (window, items):
        for item in items:
            window.pin(item)


@verb("mnemic session unpin trip last", "mnemic session unpin trip last --json", name="unpin")
@_page_arguments
def unpinned(name: str, ids: tuple[str, ...]) -> None:
    """Let pinned pages of a talk's window go again."""
    with _moving_pages(name, ids, "unpinned") as (window, items):
        for item in items:
            window.unpin(item)


@contextmanager
def _moving_pages(name: str, ids: tuple[str, ...], did: str) -> Iterator[tuple[Session, list[ItemId]]]:
    """Open a talk's window, yield it with the items that were named, and print what was done to them."""
    run = _invocation_on(name)
    with run.user_memory() as me, _known_session(me, name) as window:
        items = resolve_all(me, [_newest(me, name) if given_id == "last" else given_id for given_id in ids])
        yield window, items
        if run.output.json:
            run.output.document({"ids": items, "pages": [page.id for page in window.window().pages], **_state(window)})
            return
        for item in items:
            run.output.line(f"{did}: {run.output.ink(item, fg='yellow')}")
        _note_state(run, window)


def _known_session(me: ScopedMemory, name: str) -> Session:
    """Return a talk's window; refuse a talk in which nothing was said."""
    if not _was_said_in(me, name):
        raise NotFound(f"nothing was said in a talk {name!r}; `mnemic session list` names those with a window")
    return me.session(name)


def _invocation_on(name: str) -> Invocation:
    """Return this invocation; refuse a --session that names another talk than the argument.

    Raises:
        Invalid: `--session` names another.
    """
    run = invocation()
    if run.options.session not in (None, name):
        raise Invalid("--session", f"names {run.options.session!r}, the command {name!r}", "Leave the option out.")
    return run


def _was_said_in(me: ScopedMemory, name: str) -> bool:
    return me.count(where=Filter(session=name, kinds=(Kind.TURN, Kind.DOCUMENT))) > 0


def _newest(me: ScopedMemory, name: str) -> ItemId:
    """Find what was said last in a talk; segments of it are written later, but say nothing new."""
    turns = Filter(session=name, kinds=(Kind.TURN, Kind.DOCUMENT))
    return me.list(where=turns, limit=1)[0].item.id


def _state(window: Session) -> dict[str, Any]:
    return {
        "session": window.name,
        "tokens": dict(window.tokens),
        "pressure": window.pressure.value,
        "counters": window.counters.as_dict(),
        "dirty": window.dirty,
    }


def _note_state(run: Invocation, window: Session) -> None:
    used = window.budget - window.tokens["free"]
    state = f"window {used:,} of {window.budget:,} tokens, pressure {window.pressure.value}"
    counts = window.counters
    state += f"; {many(counts.hits, 'hit')}, {many(counts.faults, 'fault')}, {many(counts.evictions, 'eviction')}"
    run.output.note(f"{meter(used, window.budget)} {state}")


for _command in (listed, shown, observed, asked, paged_in, paged_out, pinned, unpinned):
    session.add_command(_command)
