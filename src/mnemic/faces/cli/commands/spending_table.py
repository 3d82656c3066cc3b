"""What language models took, as a table and as records: calls, tokens, and money where their user says the price."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from mnemic.core.prices import Price, price_of, read_prices
from mnemic.faces.cli.output import flat, many
from mnemic.operations.vitals_records import spending_records
from mnemic.store.engine.job_queue import SHARE_USED

if TYPE_CHECKING:
    from mnemic.faces.cli.invocation import Invocation
    from mnemic.memory import Memory
    from mnemic.store.values.spending import Spending

_HEAD = (
    "strategy", "task", "model", "calls", "failed", "unsound", "prompt tokens", "answer tokens", "seconds", "cost",
)  # fmt: skip


def show_spending(run: Invocation) -> None:
    """Print what models took: of this user, and of all."""
    prices = read_prices(run.settings.prices)
    with run.memory() as memory:
        mine = memory.admin.spending(user=run.user, tenant=run.tenant)
        everybody = memory.admin.spending(tenant=run.tenant)
        failing = _failing(memory)
    if run.output.json:
        records = {
            "spending": spending_records(mine, run.settings.prices),
            "all_users": spending_records(everybody, run.settings.prices),
        }
        run.output.document({"user": run.user, "tenant": run.tenant, **records, "failing": failing})
        return
    if not everybody:
        run.output.line("no language model was asked yet")
    else:
        _print(run, mine, everybody, prices)
    for name, error in failing.items():
        why = "" if error.startswith(SHARE_USED) else " after a failure"
        run.output.line(f"{flat(name)} waits{why}: {flat(error)} (`mnemic jobs` shows for whom)")


def _failing(memory: Memory) -> dict[str, str]:
    """Find the lanes that wait after a failure, each with one of its errors."""
    return {job.name: job.error for job in memory.admin.jobs() if job.error and job.id is None}


def _print(
    run: Invocation, mine: Sequence[Spending], everybody: Sequence[Spending], prices: Mapping[str, Price]
) -> None:
    run.output.table([_row(spending, prices) for spending in mine], head=_HEAD)
    run.output.line()
    run.output.line(f"user {flat(run.user)}: {spending_line(mine, prices)}")
    run.output.line(f"all users: {spending_line(everybody, prices)}")
    if guessed := sum(spending.estimated for spending in everybody):
        run.output.line(f"of {many(guessed, 'call')} the tokens are guessed: the endpoint did not count them")
    for model, names in _answered_as(everybody).items():
        run.output.line(f"{flat(model)} has answered as {', '.join(map(flat, names))}")


def _answered_as(spendings: Sequence[Spending]) -> dict[str, list[str]]:
    """Find the models that answered under more than one name, with these names."""
    names: dict[str, list[str]] = defaultdict(list)
    for spending in spendings:
        names[spending.model] += [name for name in spending.answered_as if name not in names[spending.model]]
    return {model: known for model, known in names.items() if len(known) > 1}


def spending_line(spendings: Sequence[Spending], prices: Mapping[str, Price]) -> str:
    """Say in a line what models took together, and what of it has no price."""
    calls, failed = sum(spending.calls for spending in spendings), sum(spending.failed for spending in spendings)
    asked, answered = (
        sum(spending.prompt_tokens for spending in spendings),
        sum(spending.answer_tokens for spending in spendings),
    )
    costs: dict[str, float] = defaultdict(float)
    unpriced = set()
    for spending in spendings:
        if (price := price_of(spending.model, prices)) is None:
            unpriced.add(spending.model)
        else:
            costs[price.currency] += price.of(spending.prompt_tokens, spending.answer_tokens)
    unsound = sum(spending.unsound for spending in spendings)
    how = f"{failed:,} failed" + (f", {unsound:,} not what was asked for" if unsound else "")
    line = f"{many(calls, 'call')} ({how}), {asked:,} tokens of prompts, {answered:,} of answers"
    money = [f"{cost:,.4f} {currency}" for currency, cost in sorted(costs.items())]
    if money and unpriced:
        money.append(f"and {many(len(unpriced), 'model')} without a price")
    return ", ".join([line, *money])


def _row(spending: Spending, prices: Mapping[str, Price]) -> tuple[str, ...]:
    price = price_of(spending.model, prices)
    tokens = spending.prompt_tokens, spending.answer_tokens
    cost = "-" if price is None else f"{price.of(*tokens):,.4f} {price.currency}"
    counts = (f"{count:,}" for count in (spending.calls, spending.failed, spending.unsound, *tokens))
    return (
        flat(spending.strategy),
        flat(spending.task) or "-",
        flat(spending.model),
        *counts,
        f"{spending.seconds:,.1f}",
        cost,
    )
