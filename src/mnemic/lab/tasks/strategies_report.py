"""From the log of `bench strategies` to its tables: every figure is recomputed from what was shown and metered."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final, TextIO

import numpy as np

from mnemic.derive.own_recall import RECALL
from mnemic.errors import Invalid
from mnemic.lab.kit import log, metrics
from mnemic.lab.kit.figures import Figure
from mnemic.lab.kit.metrics import DRAWS, Array, Estimate
from mnemic.lab.kit.replays import HOUSE
from mnemic.lab.kit.tables import TextTable, aligned, finite, percent_of, piped
from mnemic.lab.tasks.strategies_bench import BUDGETS
from mnemic.models.model_requests import JudgedBy

MOVED: Final = 0.1
"""Points of R@10 by which strategies that are followed may move everybody's recall."""

SLOWER: Final = 1.1
"""How many times as long it may take beside them."""

STATED: Final = 100
"""Questions from which a missed bar counts."""

KS: Final = (1, 5, 10)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundRow:
    """What one recall found.

    Attributes:
        mixture, by: Of the strategy whose recall it is; both `house` for everybody's.
        scores: `R@k`, `within N` for as many items as fit N tokens, `tokens` and `turns` of the ten best: what they
            cost in a prompt, and how many turns they are credited with.
        by_conversation: R@10 with the interval of a bootstrap over conversations; NaN with fewer than two.
        p50_ms: On the processor, for ten items.
    """

    mixture: str
    by: str
    n: int
    scores: Mapping[str, Estimate]
    by_conversation: Estimate
    p50_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class IsolationRow:
    """What a mixture does to everybody's recall.

    Attributes:
        moved: By how much R@10 is more than without it, question by question.
        changed: Share of the questions whose ten best were credited otherwise.
        slower: How many times the processor time without it a recall takes, over all questions that were timed.
    """

    mixture: str
    recall: Estimate
    moved: Estimate
    changed: float
    slower: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class CostRow:
    """What a mixture costs beyond taking the journal in; of `house`, what it and embedding cost.

    Attributes:
        calls, tokens: Of models, for each message; tokens of prompts and answers together.
        recall_calls: Of models, for each recall of its own; NaN where none was asked.
        cpu_ms, seconds, bytes: For each message; bytes of the file on top of what it has without.
        by_rules: Share of the judgements that rules made, for want of a model or of a sound answer; NaN without any.
        derived: Items that stand, for each strategy.
        unread: What was left unread, and why.
    """

    mixture: str
    calls: float
    tokens: float
    recall_calls: float
    cpu_ms: float
    seconds: float
    bytes: float
    by_rules: float
    derived: Mapping[str, int]
    unread: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StrategiesReport:
    """A run's tables as values; `complete` says whether it came to its end."""

    header: Mapping[str, Any]
    complete: bool
    found: tuple[FoundRow, ...]
    isolation: tuple[IsolationRow, ...]
    costs: tuple[CostRow, ...]


@dataclass(slots=True)
class _Records:
    """The records of a log, sorted: what was shown by mixture and strategy, what was timed and metered by mixture."""

    header: dict[str, Any] = field(default_factory=dict)
    shown: dict[tuple[str, str], list[dict[str, Any]]] = field(default_factory=dict)
    latency: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    digested: dict[str, dict[str, Any]] = field(default_factory=dict)
    complete: bool = False


def read_strategies(path: Path, *, seed: int | None = None) -> StrategiesReport:
    """Compute every figure of a run from its log.

    Args:
        seed: Of the bootstrap; the run's own when None.

    Raises:
        NotFound: there is no such log.
        Invalid: it is another bench's.
    """
    records = _sorted(path)
    if records.header.get("bench") != "strategies":
        remedy = "Name the .jsonl file that `mnemic bench strategies` wrote."
        raise Invalid("log", f"{path.name} is not a log of this bench", remedy)
    seed = int(records.header["seed"]) if seed is None else seed
    house = records.shown.get((HOUSE, HOUSE), [])
    own = {key: value for key, value in records.shown.items() if key[1] != HOUSE or key[0] == HOUSE}
    timed = {mixture: value for mixture, value in records.latency.items() if (mixture, HOUSE) in records.shown}
    return StrategiesReport(
        header=records.header,
        complete=records.complete,
        found=tuple(_recall_row(*key, shown, seed) for key, shown in own.items()),
        isolation=tuple(_isolation(value, house, records.shown[value, HOUSE], timed[value], seed) for value in timed),
        costs=tuple(_cost(value, records.digested[HOUSE]) for value in records.digested.values()),
    )


def _sorted(path: Path) -> _Records:
    records = _Records()
    for record in log.records(path):
        match record.pop("kind", None):
            case "run":
                records.header = record
            case "shown":
                records.shown.setdefault((record["mixture"], record["by"]), []).append(record)
            case "latency":
                records.latency.setdefault(record["mixture"], []).append(record)
            case "digested":
                records.digested[record["mixture"]] = record
            case "end":
                records.complete = True
    return records


def _recall(shown: Mapping[str, Any], items: int) -> float:
    """The share of the gold that the first items are credited with."""
    credited = list(dict.fromkeys(turn for turns in shown["turns"][:items] for turn in turns))
    return metrics.recall(shown["gold"], credited, len(credited))


def _measured(shown: Sequence[Mapping[str, Any]]) -> dict[str, Array]:
    table: dict[str, list[float]] = {f"R@{k}": [_recall(answer, k) for answer in shown] for k in KS}
    for budget in BUDGETS:
        table[f"within {budget}"] = [_recall(answer, metrics.fitting(answer["tokens"], budget)) for answer in shown]
    table["tokens"] = [float(sum(answer["tokens"][: KS[-1]])) for answer in shown]
    table["turns"] = [float(len({turn for turns in answer["turns"][: KS[-1]] for turn in turns})) for answer in shown]
    return {name: np.array(values) for name, values in table.items()}


def _recall_row(mixture: str, by: str, shown: Sequence[Mapping[str, Any]], seed: int) -> FoundRow:
    values = _measured(shown)
    return FoundRow(
        mixture=mixture,
        by=by,
        n=len(shown),
        scores=metrics.estimates(values, seed),
        by_conversation=metrics.clustered(values["R@10"], [answer["user"] for answer in shown], seed),
        p50_ms=float(np.median([answer["milliseconds"] for answer in shown])),
    )


def _isolation(
    mixture: str,
    house: Sequence[Mapping[str, Any]],
    shown: Sequence[Mapping[str, Any]],
    timed: Sequence[Mapping[str, Any]],
    seed: int,
) -> IsolationRow:
    ten = KS[-1]
    without, beside = ([_recall(answer, ten) for answer in each] for each in (house[: len(shown)], shown))
    changed = [answer["turns"][:ten] != other["turns"][:ten] for answer, other in zip(house, shown, strict=False)]
    return IsolationRow(
        mixture=mixture,
        recall=metrics.estimates({"R@10": np.array(beside)}, seed)["R@10"],
        moved=metrics.difference(np.array(beside), np.array(without), seed),
        changed=sum(changed) / len(changed),
        slower=metrics.ratio([answer["beside"] for answer in timed], [answer["without"] for answer in timed], seed),
    )


def _cost(digested: Mapping[str, Any], house: Mapping[str, Any]) -> CostRow:
    of_house, messages = digested["mixture"] == HOUSE, digested["messages"]
    charged = [spending for spending in digested["spendings"] if not spending["strategy"].endswith(RECALL)]
    recalling = [spending for spending in digested["spendings"] if spending["strategy"].endswith(RECALL)]
    judged = sum(digested["judged"].values())
    by_model = sum(digested["judged"].get(by, 0) for by in (JudgedBy.ANSWER, JudgedBy.REPAIR))
    return CostRow(
        mixture=digested["mixture"],
        calls=sum(spending["calls"] for spending in charged) / messages,
        tokens=sum(spending["prompt_tokens"] + spending["answer_tokens"] for spending in charged) / messages,
        recall_calls=sum(spending["calls"] for spending in recalling) / digested["recalls"]
        if digested["recalls"]
        else math.nan,
        cpu_ms=1000 * digested["cpu_seconds"] / messages,
        seconds=digested["seconds"] / messages,
        bytes=(digested["bytes"] - (0 if of_house else house["bytes"])) / messages,
        by_rules=1 - by_model / judged if judged else math.nan,
        derived=digested["derived"],
        unread=digested["unread"],
    )


def bars(report: StrategiesReport) -> list[Figure]:
    """What strategies may do to everybody's recall, beside its bars; nothing where too few questions were asked."""
    if report.header["data"]["questions"] < STATED:
        return []
    figures = []
    for row in report.isolation:
        moved = 100 * abs(row.moved.mean)
        figures.append(Figure(name=f"{row.mixture}: R@10 of recall moved", value=moved, unit="points", bar=MOVED))
        figures.append(Figure(name=f"{row.mixture}: recall slower", value=row.slower.mean, unit="times", bar=SLOWER))
    return figures


def tables(report: StrategiesReport) -> tuple[TextTable, ...]:
    """What each recall finds, what becomes of everybody's, and what it costs."""
    return _found_table(report), _isolation_table(report), _cost_table(report)


def _found_table(report: StrategiesReport) -> TextTable:
    columns = (
        "recall of", "n", "R@1", "R@5", "R@10", "by conversations", "tokens@10", "turns@10",
        *(f"in {budget:,} tokens" for budget in BUDGETS), "p50 ms",
    )  # fmt: skip
    rows = []
    for row in report.found:
        name = "everybody" if row.by == HOUSE else row.by if row.by == row.mixture else f"{row.by}, in {row.mixture}"
        within = (percent_of(row.scores[f"within {budget}"], True) for budget in BUDGETS)
        rows.append((
            name, f"{row.n:,}", *(percent_of(row.scores[f"R@{k}"], True) for k in KS), _interval(row.by_conversation),
            f"{row.scores['tokens'].mean:,.0f}", f"{row.scores['turns'].mean:,.1f}", *within, f"{row.p50_ms:,.1f}",
        ))  # fmt: skip
    return TextTable("1. Evidence found by each recall, %", columns, tuple(rows))


def _isolation_table(report: StrategiesReport) -> TextTable:
    columns = ("followed beside house", "R@10", "moved, points", "questions changed, %", "times as slow")
    rows = tuple(
        (
            row.mixture,
            percent_of(row.recall, True),
            f"{100 * row.moved.mean:+.2f} [{100 * row.moved.low:+.2f}, {100 * row.moved.high:+.2f}]",
            f"{100 * row.changed:.1f}",
            f"{row.slower.mean:.3f} [{row.slower.low:.3f}, {row.slower.high:.3f}]",
        )
        for row in report.isolation
    )
    return TextTable("2. Everybody's recall with them followed", columns, rows)


def _cost_table(report: StrategiesReport) -> TextTable:
    columns = (
        "followed", "calls/message", "tokens/message", "calls/recall", "CPU ms/message", "s/message", "bytes/message",
        "by rules, %", "items",
    )  # fmt: skip
    rows = tuple(
        (
            row.mixture, f"{row.calls:.2f}", f"{row.tokens:,.0f}", _number(row.recall_calls, 2), f"{row.cpu_ms:,.2f}",
            f"{row.seconds:.4f}", f"{row.bytes:,.0f}", _number(100 * row.by_rules, 1),
            f"{sum(row.derived.values()):,}",
        )
        for row in report.costs
    )  # fmt: skip
    return TextTable("3. What it costs to follow them, on top of house", columns, rows)


def notes(report: StrategiesReport) -> list[str]:
    """What must be known to read the tables."""
    data, effective = report.header["data"], report.header["effective"]
    lines = [
        f"{data['name']}, sha256 {data['sha256'][:12]}: {data['messages']:,} messages of {len(data['users'])} users, "
        f"{data['questions']:,} questions with evidence. Model: {effective['model'] or 'none, rules judge'}. "
        f"Embedder: {effective['embedder'] or 'none, words alone'}.",
        "Items are credited with the turns that they are or rest on, down to the last; turns@10 says with how many. "
        "A budget takes items from the top as long as they fit. +- is half a 95 % interval, percentile bootstrap over "
        f"questions, {DRAWS:,} draws, seed {report.header['seed']}; `by conversations` draws whole conversations.",
        "Everybody's recall is timed without and with them in turns, on the processor. Bytes and times are what comes "
        "on top of taking the journal in; the line of house is the whole file, and reading and embedding it.",
    ]
    lines += [f"{row.mixture} left unread: {row.unread}" for row in report.costs if row.unread]
    if not report.complete:
        lines.append("The run was cut short: figures cover what was asked until then.")
    return lines


def show(report: StrategiesReport, stream: TextIO, form: str | None = None) -> None:
    """Write the report: as `json`, `markdown`, or aligned text when None."""
    if form == "json":
        record = {**asdict(report), "notes": notes(report)}
        stream.write(json.dumps(finite(record), ensure_ascii=False, indent=2) + "\n")
        return
    shape = piped if form == "markdown" else aligned
    blocks = [shape(table) for table in tables(report)]
    stream.write("\n\n".join([*blocks, "\n".join(f"* {note}" for note in notes(report))]) + "\n")


def _interval(value: Estimate) -> str:
    return f"[{100 * value.low:.1f}, {100 * value.high:.1f}]" if value.has_interval else "-"


def _number(value: float, digits: int) -> str:
    return "-" if math.isnan(value) else f"{value:,.{digits}f}"
