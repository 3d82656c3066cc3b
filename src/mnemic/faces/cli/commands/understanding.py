"""`strategies`, `follow`: who understands what was said."""

from __future__ import annotations

from inspect import getdoc
from typing import TYPE_CHECKING

import click

from mnemic.errors import Invalid
from mnemic.faces.cli.command import WORDS, verb
from mnemic.faces.cli.invocation import Invocation, invocation
from mnemic.faces.cli.json_records import receipt_record
from mnemic.faces.cli.output import flat
from mnemic.registry import STRATEGIES
from mnemic.strategies.loading import followed, lane_of
from mnemic.strategies.loading import strategies as loaded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mnemic.strategies.base import Strategy


@verb("mnemic strategies", "mnemic strategies --json")
def strategies() -> None:
    """What can understand what you say: which of them do, and what each may ask a model.

    `follow` chooses among them.
    """
    run = invocation()
    following = _following(run)
    by_default = followed(run.settings.strategies)
    known = {strategy.name: strategy for strategy in loaded([*STRATEGIES, *by_default])}
    if run.output.json:
        for strategy in known.values():
            run.output.record(strategy_record(strategy, following))
        return
    rows = [
        ("*" if name in following else "", flat(name), _asks(strategy), summary(strategy))
        for name, strategy in known.items()
    ]
    run.output.table(rows, head=("", "name", "asks a model", "what it does"))
    run.output.note("* you follow it; choose others: mnemic follow NAME ...")


def strategy_record(strategy: Strategy, following: Sequence[str]) -> dict[str, object]:
    """Make the record of a strategy."""
    budget = strategy.budget
    return {
        "name": strategy.name,
        "followed": strategy.name in following,
        "summary": summary(strategy),
        "reads": sorted(strategy.reads),
        "calls_a_run": budget.calls,
        "tokens_a_run": budget.tokens or None,
        "own_recall": hasattr(strategy, "on_recall"),
    }


def summary(strategy: Strategy) -> str:
    """Read the first sentence of what a strategy says of itself."""
    described = (getdoc(type(strategy)) or "").partition("\n\n")[0]
    return flat(described.replace("\n", " ")).partition(". ")[0].rstrip(".")


def _asks(strategy: Strategy) -> str:
    return f"<= {strategy.budget.calls} calls a run" if strategy.budget.calls else "never"


def _following(run: Invocation) -> Sequence[str]:
    """The strategies that the user's memory follows; without a store, those that the settings name."""
    if not run.exists:
        return tuple(map(lane_of, followed(run.settings.strategies)))
    with run.user_memory() as me:
        return me.following()


@verb("mnemic follow", "mnemic follow house --json", "mnemic follow --none")
@click.argument("names", type=WORDS, nargs=-1)
@click.option("--none", is_flag=True, help="Nothing is derived from what you say.")
@click.option("--default", is_flag=True, help="What the settings say.")
def follow(names: tuple[str, ...], none: bool, default: bool) -> None:
    """Choose which strategies understand what you say; without a name, list those that do.

    They read all that you ever said; what others derived stays until `forget --by NAME`. `undo` takes the choice back.
    """
    run = invocation()
    if bool(names) + none + default > 1:
        raise Invalid("names", "or --none or --default: more than one is given", "Give one of them.")
    if not names and not none and not default:
        following = _following(run)
        run.output.answer({"following": list(following)}, ", ".join(map(flat, following)) or "no strategy")
        return
    with run.user_memory(create=True) as me:
        receipt = me.follow(*names, default=default)
        chosen = ", ".join(map(flat, me.following())) or "no strategy"
    said = f"this memory follows {chosen}; take it back: mnemic undo {receipt.seq}"
    run.output.answer(receipt_record(receipt), said)
