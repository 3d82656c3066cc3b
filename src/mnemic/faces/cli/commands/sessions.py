"""`session` with `session list` and `session show`: the windows of talks, as they were written down last."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from mnemic.core.clock import moment
from mnemic.errors import NotFound
from mnemic.faces.cli.bars import meter
from mnemic.faces.cli.command import WORDS, Verbs, verb
from mnemic.faces.cli.commands.turns import TURNS
from mnemic.faces.cli.invocation import errand
from mnemic.faces.cli.output import flat, many
from mnemic.registry import POLICIES
from mnemic.tiers.pager import pressure
from mnemic.window.terms import MARKS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mnemic.memory import ScopedMemory
    from mnemic.store.pages import PageRow, SessionRow

_WORDS: Final = 48
_SESSION: Final = ("talk", "turns", "budget", "policy", "written at", "open")
_PAGE: Final = ("id", "tier", "pinned", "tokens", "uses", "last use", "came in", "text")


@click.group(
    cls=Verbs,
    examples=("mnemic session list", "mnemic session context trip 'When do we leave?'"),
    epilog=f"Policies: {', '.join(POLICIES)}.",
)
def session() -> None:
    """The windows of an agent's talks: say something in one, ask it, move its pages, see what it costs.

    A talk keeps the budget and the policy it had last.
    """


@verb("mnemic session list", "mnemic session list --json", name="list")
def listed() -> None:
    """Every talk that has a window, with who has it open."""
    run = errand()
    with run.mine(shelved=False) as me:
        found = me.sessions()
    if run.paper.json:
        for name, row in found:
            run.paper.record(_session_record(name, row))
        return
    run.paper.table([_session_row(name, row) for name, row in found], head=_SESSION)
    if not found:
        run.paper.note("no talk has a window yet")


@verb("mnemic session show trip", "mnemic session show trip --json", name="show")
@click.argument("name", type=WORDS)
def shown(name: str) -> None:
    """The page table of a talk: what is in its window, in order, and what that costs.

    It is as it was written down last: a talk that is open may be some turns further. Hits, faults and dirty pages are
    of a window while it is open: the commands that open one tell of them, all of them with --json.
    """
    run = errand()
    with run.mine(shelved=False) as me:
        row = dict(me.sessions()).get(name)
        if row is None:
            raise NotFound(f"no talk {name!r} has a window here; `mnemic session list` names them")
        written = me.session_pages(name)
        texts = _texts(me, written)
    pages = [page for page in written if page.item in texts]
    used, gone = sum(page.tokens for page in pages if page.resident), len(written) - len(pages)
    full = pressure(used, row.budget, MARKS)
    if run.paper.json:
        counts = {"tokens": used, "pressure": full.value, "gone": gone}
        run.paper.document({**_session_record(name, row), **counts, "pages": [_page_record(page) for page in pages]})
        return
    run.paper.table([_session_row(name, row)], head=_SESSION)
    run.paper.line(f"pages {meter(used, row.budget)} {used:,} of {row.budget:,} tokens, pressure {full.value}")
    run.paper.table([_page_row(page, texts[page.item]) for page in pages], head=_PAGE)
    if gone:
        run.paper.note(f"{many(gone, 'page')} not shown: forgotten or erased since, and out of the window")
    waiting = sum(not page.resident for page in pages)
    if waiting:
        run.paper.note(f"{many(waiting, 'turn')} left the window and wait to be made part of a segment")


def _texts(me: ScopedMemory, pages: Sequence[PageRow]) -> dict[str, str]:
    """What is still there of them: a page may be erased while this is read."""
    return {version.item.id: version.item.text for version in me.visible([page.item for page in pages])}


def _session_record(name: str, row: SessionRow) -> dict[str, Any]:
    return {
        "session": name,
        "budget": row.budget,
        "policy": row.policy,
        "turns": row.turns,
        "references": row.clock,
        "seq": row.seq,
        "open_until": moment(row.lease_until).isoformat() if row.owner else None,
    }


def _session_row(name: str, row: SessionRow) -> tuple[str, ...]:
    until = f"until {moment(row.lease_until):%H:%M:%S} UTC" if row.owner else "no"
    return flat(name), f"{row.turns:,}", f"{row.budget:,}", flat(row.policy), f"{row.seq:,}", until


def _page_record(page: PageRow) -> dict[str, Any]:
    record = {name: value for name, value in page._asdict().items() if name != "item"}
    return {"id": page.item, "tier": _tier(page), **record}


def _page_row(page: PageRow, text: str) -> tuple[str, ...]:
    short = flat(text)
    return (
        page.item, _tier(page), "yes" if page.pinned else "", f"{page.tokens:,}", f"{page.uses:,}",
        f"{page.last_use:,}", f"{page.arrived:,}", short if len(short) <= _WORDS else f"{short[: _WORDS - 3]}...",
    )  # fmt: skip


def _tier(page: PageRow) -> str:
    return "short" if page.resident else "middle"


for _command in (listed, shown, *TURNS):
    session.add_command(_command)

COMMANDS: Final = {"session": session}
