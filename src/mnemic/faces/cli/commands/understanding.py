"""`strategies`, `follow`: who understands what was said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from inspect import getdoc, getmodule
from typing import TYPE_CHECKING, Any

import click

from mnemic.errors import Invalid
from mnemic.faces.cli.command import WORDS, verb
from mnemic.faces.cli.invocation import Invocation, invocation
from mnemic.faces.cli.output import flat, many, plain
from mnemic.lanes.following import why_lost
from mnemic.lanes.slices import HOUSE
from mnemic.operations.records import receipt_record
from mnemic.operations.store_records import stated_cost, strategy_record, summary
from mnemic.registry import STRATEGIES
from mnemic.strategies.loading import followed, is_known, lane_of, strategy_called
from mnemic.strategies.loading import strategies as loaded
from mnemic.strategies.try_learner import TryLearner

if TYPE_CHECKING:
    from mnemic.admin import Behind
    from mnemic.faces.cli.output import Output
    from mnemic.strategies.base import Strategy


@verb("mnemic strategies", "mnemic strategies zep", "mnemic strategies --json")
@click.argument("name", type=WORDS, required=False)
def strategies(name: str | None) -> None:
    """What can understand what you say: which of them do, and what each may ask a model.

    NAME tells all about one: the paper it is of, where it departs from that, what may be set. `follow` chooses among
    them. One of your own is among them while the setting names it, as in
    `export MNEMIC_STRATEGIES=house,package.module:Class`, for the worker too.
    """
    run = invocation()
    standing = _standing(run)
    if name is not None:
        try:
            known = strategy_called(name, followed(run.settings.strategies))
        except Invalid as error:
            raise Invalid("name", error.problem, error.remedy) from error
        run.output.answer(
            {**_standing_record(known, standing), "description": description(known), "page": _page_of(known)},
            *_described(run.output, known, standing),
        )
        return
    known_ones = loaded([*STRATEGIES, *(each for each in followed(run.settings.strategies) if each not in STRATEGIES)])
    if run.output.json:
        for strategy in known_ones:
            run.output.record(_standing_record(strategy, standing))
        return
    rows = [
        (
            run.output.ink("*", fg="green") if each.name in standing.following else "",
            flat(each.name),
            _asks(each),
            "its own" if hasattr(each, "on_recall") else "a search",
            _waits(standing.behind.get(each.name)) if each.name in standing.following else "",
            flat(summary(each)),
        )
        for each in known_ones
    ]
    run.output.table(rows, head=("", "name", "asks a model, a message", "recall", "waits", "what it does"))
    run.output.note(
        "* you follow it; choose others: mnemic follow NAME ...; all about one: mnemic strategies NAME. "
        "Ours need no model: without one rules stand in, and find less."
    )


@dataclass(frozen=True, slots=True)
class StrategyStanding:
    """Which strategies a user's memory follows, and how far each is in this store."""

    following: Sequence[str]
    behind: Mapping[str, Behind]


def _standing_record(strategy: Strategy, standing: StrategyStanding) -> dict[str, Any]:
    """Make the record of a strategy, with what waits for it in this store."""
    behind = standing.behind.get(strategy.name)
    return {
        **strategy_record(strategy, followed=strategy.name in standing.following),
        "pending": behind.pending if behind else 0,
        "begun": behind.begun if behind else 0,
        "lacks": behind.lacks or None if behind else None,
        "dead": behind.dead if behind else 0,
    }


def description(strategy: Strategy) -> str:
    """Read all that a strategy says of itself: its file first, then its class."""
    module = getmodule(type(strategy))
    file = (getdoc(module) or "") if module is not None else ""
    return "\n\n".join(filter(None, (file, getdoc(type(strategy)) or "")))


def _page_of(strategy: Strategy) -> str | None:
    """Where the documentation tells of a strategy of the literature."""
    ours = strategy.name in STRATEGIES and strategy.name != HOUSE
    page = "experience" if isinstance(strategy, TryLearner) else strategy.name  # those that learn from tries share one
    return f"docs/strategies/{page}.md" if ours else None


def _described(output: Output, strategy: Strategy, standing: StrategyStanding) -> list[str]:
    """Write all about a strategy for a person."""
    reads = ", ".join(kind.value for kind in sorted(strategy.reads))
    budget = f"at most {many(strategy.budget.calls, 'call')} a run" if strategy.budget.calls else "never"
    rows = [
        ("followed", "yes" if strategy.name in standing.following else f"no; mnemic follow {flat(strategy.name)}"),
        ("reads", reads),
        ("asks a model", f"{_asks(strategy)}, {budget}" if stated_cost(strategy) else budget),
        ("recall", f"mnemic recall ... --by {flat(strategy.name)}"),
        *([("waits", _waits(standing.behind.get(strategy.name)))] if strategy.name in standing.following else []),
        *([("page", page)] if (page := _page_of(strategy)) else []),
    ]
    return [
        output.bold(flat(strategy.name)),
        *(f"  {output.dim(f'{what:<12}')}  {value}" for what, value in rows),
        "",
        *(plain(line) for line in description(strategy).splitlines()),
    ]


def _asks(strategy: Strategy) -> str:
    if not strategy.budget.calls:
        return "never"
    cost = stated_cost(strategy)
    return f"{cost[0]:.2f} calls, {cost[1]:,} tokens" if cost else f"<= {strategy.budget.calls} calls a run"


def _waits(behind: Behind | None) -> str:
    """Say what a strategy has not read yet."""
    if behind is None:
        return "nothing"
    reasons = [f"{behind.pending:,} to read"] if behind.pending else []
    reasons += [f"for {flat(behind.lacks) or 'more to be said'}"] if behind.begun and not behind.pending else []
    reasons += [f"{behind.dead:,} given up"] if behind.dead else []
    return ", ".join(reasons) or "nothing"


def _standing(run: Invocation) -> StrategyStanding:
    """Read what the user's memory follows, and what waits; without a store, what the settings name."""
    if not run.exists:
        return StrategyStanding(tuple(map(lane_of, followed(run.settings.strategies))), {})
    with run.memory() as memory:
        behind = {lane.lane: lane for lane in memory.admin.behind() if not lane.embedder}
        return StrategyStanding(run.scoped(memory).following(), behind)


@verb("mnemic follow", "mnemic follow house --json", "mnemic follow --none")
@click.argument("names", type=WORDS, nargs=-1)
@click.option("--none", is_flag=True, help="Nothing is derived from what you say.")
@click.option("--default", is_flag=True, help="What the settings say.")
def follow(names: tuple[str, ...], none: bool, default: bool) -> None:
    """Choose which strategies alone understand what you say; without a name, list them.

    They read all that you ever said; what others derived stays until `forget --by NAME`. `undo` takes the choice back.
    """
    run = invocation()
    if bool(names) + none + default > 1:
        raise Invalid("names", "or --none or --default: more than one is given", "Give one of them.")
    if not names and not none and not default:
        following = _standing(run).following
        own = followed(run.settings.strategies)
        unknown = [name for name in following if not is_known(name, own)]
        run.output.answer(
            {"following": list(following), "lost": unknown}, ", ".join(map(flat, following)) or "no strategy"
        )
        for name in unknown:
            run.output.note(flat(why_lost(name)))
        return
    with run.user_memory(create=True) as me:
        before = me.following()
        receipt = me.follow(*names, default=default)
        following = me.following()
    dropped = [name for name in before if name not in following]
    chosen = ", ".join(map(flat, following)) or "no strategy"
    said = [f"this memory follows {chosen}; take it back: mnemic undo {receipt.seq}"]
    if dropped:
        keeps = {HOUSE: f"{HOUSE} (its rules keep standing instructions and the profile)"}
        lost = f"no longer {', '.join(keeps.get(name, flat(name)) for name in dropped)}"
        said.append(f"{lost}: `mnemic follow {flat(' '.join((*dropped, *following)))}` keeps following")
    run.output.answer({**receipt_record(receipt), "following": list(following), "dropped": dropped}, *said)
