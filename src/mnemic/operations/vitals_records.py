"""Makes JSON of what the processes of a store measure and do: their vitals, the backlog of lanes, what models took."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from mnemic.core.clock import moment
from mnemic.core.prices import price_of, read_prices
from mnemic.operations.store_records import lane_record
from mnemic.watching.metering import Sort

if TYPE_CHECKING:
    from mnemic.admin import Behind
    from mnemic.core.prices import Price
    from mnemic.store.values.spending import Spending
    from mnemic.watching.vitals import Process, Vitals

WINDOW_GAUGES = ("references", "hits", "faults", "evictions", "write_backs")
"""Counters of windows, summed over all processes since each opened the store."""


def look_record(vitals: Vitals, behind: Iterable[Behind]) -> dict[str, Any]:
    """Make the record of one look at a store, with what its lanes have yet to do."""
    return {**vitals_record(vitals), "lanes": [lane_record(lane) for lane in behind]}


def vitals_record(vitals: Vitals) -> dict[str, Any]:
    """Make the record of one look; durations are in milliseconds."""
    return {
        "at": moment(vitals.at).isoformat(),
        "commits": vitals.commits,
        "commits_per_second": vitals.commits_per_second,
        "jobs": dict(vitals.jobs),
        "windows": {
            "open": vitals.windows.sessions,
            "known": vitals.windows.known,
            "pages": vitals.windows.pages,
            "tokens": vitals.windows.tokens,
            "budget": vitals.windows.budget,
            **{name: int(vitals.gauge(f"windows.{name}")) for name in WINDOW_GAUGES},
        },
        "engine_prompts": prompt_work_record(vitals),
        "bytes": vitals.bytes,
        "free_bytes": vitals.free,
        "log_bytes": vitals.log,
        "collected": None
        if (run := vitals.collected) is None
        else {**dataclasses.asdict(run), "at": moment(run.at).isoformat()},
        "verbs": _timed_record(vitals, Sort.VERB),
        "requests": _timed_record(vitals, Sort.REQUEST),
        "runs": _timed_record(vitals, Sort.RUN),
        "processes": [_process_record(process) for process in vitals.processes],
    }


PROMPT_COUNTS = ("prompts", "prefilled", "prefilled_ahead", "reused", "hits", "restored", "misses", "saved", "evicted")
"""Counters of what local engines read of prompts, summed likewise."""


def prompt_work_record(vitals: Vitals) -> dict[str, Any]:
    """Make the record of what local engines read of prompts, and what of them was restored."""
    prompts = vitals.gauge("kv.prompts")
    mean = vitals.gauge("kv.first_token_seconds") / prompts if prompts else 0.0
    return {
        **{name: int(vitals.gauge(f"kv.{name}")) for name in PROMPT_COUNTS},
        "missed": missed_prompts(vitals),
        "held": int(vitals.gauge("kv.held")),
        "bytes": int(vitals.gauge("kv.bytes")),
        "first_token_milliseconds": round(mean * 1000, 3),
    }


def missed_prompts(vitals: Vitals) -> dict[str, int]:
    """Count by reason the prompts for which nothing was restored."""
    lead = "kv.missed "
    names = {name for process in vitals.processes for name in process.measured.gauges if name.startswith(lead)}
    return {name.removeprefix(lead): int(vitals.gauge(name)) for name in sorted(names)}


def _timed_record(vitals: Vitals, sort: str) -> Mapping[str, Any]:
    return {
        name: {
            "count": timed.count,
            "failed": timed.failed,
            "per_second": round(vitals.rate(name, sort), 3),
            "total": round(timed.total * 1000, 3),
            "p50": round(timed.quantile(0.5) * 1000, 3),
            "p95": round(timed.quantile(0.95) * 1000, 3),
            "max": round(timed.longest * 1000, 3),
        }
        for name, timed in sorted(vitals.timed(sort).items())
    }


def _process_record(process: Process) -> dict[str, Any]:
    measured = process.measured
    return {"pid": measured.pid, "seconds": measured.seconds, "age": process.age, "gauges": dict(measured.gauges)}


def spending_record(spending: Spending, price: Price | None) -> dict[str, Any]:
    """Make the record of what the calls of one model for one task took; `cost` is None without a price."""
    return {
        "strategy": spending.strategy,
        "task": spending.task,
        "model": spending.model,
        "calls": spending.calls,
        "failed": spending.failed,
        "unsound": spending.unsound,
        "answered_as": list(spending.answered_as),
        "prompt_tokens": spending.prompt_tokens,
        "answer_tokens": spending.answer_tokens,
        "estimated": spending.estimated,
        "seconds": spending.seconds,
        "cost": None if price is None else price.of(spending.prompt_tokens, spending.answer_tokens),
        "currency": None if price is None else price.currency,
    }


def spending_records(spendings: Iterable[Spending], prices: str) -> list[dict[str, Any]]:
    """Make the records of what models took, priced by the setting `prices`."""
    known = read_prices(prices)
    return [spending_record(spending, price_of(spending.model, known)) for spending in spendings]
