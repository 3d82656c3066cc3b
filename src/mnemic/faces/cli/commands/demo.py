"""`demo`: the main job in a minute, on a bundled year of talk; every figure it prints was just measured."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from mnemic.errors import Conflict
from mnemic.faces.cli.command import verb
from mnemic.faces.cli.commands.changes import print_history
from mnemic.faces.cli.commands.erasing import print_receipt
from mnemic.faces.cli.invocation import invocation
from mnemic.faces.cli.item_words import said_time, source_label
from mnemic.faces.cli.output import Output, flat, many, size
from mnemic.operations.records import erasure_record, recalled_record, version_record

if TYPE_CHECKING:
    from mnemic.core.ids import ItemId
    from mnemic.core.queries import Context
    from mnemic.memory import Memory, ScopedMemory

_ASKED: Final = ("en-09", "en-08", "zh-07", "zh-12")
"""Two questions in English, two in Chinese, of the bundled ones."""
_TIMED: Final = "What changed in Ada's diet last November?"
"""A question across the year, asked some days after the last session."""
_TODAY: Final = datetime(2026, 2, 1, 12, tzinfo=UTC)
_DIET: Final = "demo:s09:1"
_EARLIER: Final = "en-02"
"""A question asked as of an earlier date, and now."""
_CHANGED: Final = "demo:fact:city-2"
_UNDONE: Final = "demo:s03:3"
_CANARY: Final = "罗莎"


@dataclass(slots=True)
class Show:
    """The demo's stage: what it prints, what it measured, what came of it."""

    output: Output
    took: dict[str, float] = field(default_factory=dict)
    results: dict[str, Any] = field(default_factory=dict)

    def title(self, number: int, text: str) -> None:
        """Open an act."""
        if not self.output.json:
            click.echo()
            click.echo(self.output.bold(f"{number}. {text}"), color=self.output.color)

    def line(self, text: str = "") -> None:
        """Print one line for a person."""
        if not self.output.json:
            self.output.line(text)

    def timed(self, name: str, count: int = 1) -> _Stopwatch:
        """Measures what is done inside, in milliseconds each."""
        return _Stopwatch(self, name, count)


class _Stopwatch:
    def __init__(self, show: Show, name: str, count: int) -> None:
        self._show, self._name, self._count = show, name, count

    def __enter__(self) -> _Stopwatch:
        self._began = time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        self.milliseconds = (time.perf_counter() - self._began) * 1000
        self._show.took[self._name] = self.milliseconds / self._count


@verb("mnemic demo", "mnemic demo --keep demo.db", "mnemic demo --json")
@click.option("--keep", type=click.Path(path_type=Path), help="Keep the store in this new file, to go on playing.")
def demo(keep: Path | None) -> None:
    """The main job in a minute, on a year of made-up talk.

    In a store of its own, which goes afterwards: remember, recall with reasons, a fact that changed, a question as of
    an earlier date, an undo, an erasure with its proof, and the time each took.
    """
    from mnemic.memory import Memory

    run = invocation()
    if keep is not None and keep.exists():
        raise Conflict(f"{keep} is there already, and is not overwritten; name another file")
    show = Show(Output(json=run.output.json, color=run.output.color, margin="   "))
    with _place(keep) as path:
        with Memory(path, settings=run.settings) as memory:
            _play(show, memory, path)
        _end(show, keep)


@contextmanager
def _place(keep: Path | None) -> Iterator[Path]:
    if keep is not None:
        yield keep
        return
    with tempfile.TemporaryDirectory(prefix="mnemic-demo-") as folder:
        yield Path(folder) / "memory.db"


def _play(show: Show, memory: Memory, path: Path) -> None:
    from mnemic.demo import USER

    me = memory.scope(user=USER)
    turns = _remember(show, me, path)
    _ask(show, me, turns)
    facts = _state_facts(show, me, turns)
    _look_back(show, me)
    _undo(show, me, turns)
    _erase(show, me, path)
    _check(show, memory, len(facts))


def _remember(show: Show, me: ScopedMemory, path: Path) -> dict[str, ItemId]:
    """Write the conversation, one commit a session; return the id behind each import key."""
    from mnemic.core.items import Channel
    from mnemic.demo import conversation

    turns = conversation()
    sessions = [list(group) for _, group in groupby(turns, key=lambda turn: turn.session)]
    show.title(1, f"Ten sessions, {many(len(turns), 'turn')}, February 2025 to January 2026, English and Chinese")
    ids: dict[str, ItemId] = {}
    with show.timed("remember a session", len(sessions)) as watch:
        for session in sessions:
            receipt = me.observe(session, channel=Channel.IMPORT)
            ids.update(zip((turn.key for turn in session), receipt.ids, strict=True))
    show.line(f"on disk and recallable in {watch.milliseconds:.0f} ms, a commit for each session")
    show.line(f"in one file: {path} ({size(_bytes(path))})")
    show.results["remembered"] = len(ids)
    return ids


def _ask(show: Show, me: ScopedMemory, turns: Mapping[str, ItemId]) -> None:
    from mnemic.demo import questions

    show.title(2, "Questions: the evidence, and why it was chosen (no model, no network)")
    known = {question.id: question for question in questions()}
    me.recall("warm up")  # the first recall builds the catalogue; the times below are those of a running program
    answers = []
    asked = [(known[name].text, {turns[key] for key in known[name].gold}) for name in _ASKED]
    for place, (text, gold) in enumerate([*asked, (_TIMED, {turns[_DIET]})], start=1):
        with show.timed(f"recall, question {place}"):
            context = me.recall(text, k=2, now=_TODAY)
        items = [recalled_record(rank, recalled) for rank, recalled in enumerate(context.items, start=1)]
        answers.append(
            {"question": text, "right": any(recalled.id in gold for recalled in context.items), "items": items}
        )
        _tell_answer(show, text, context)
    show.results["questions"] = answers


def _tell_answer(show: Show, question: str, context: Context) -> None:
    output = show.output
    show.line()
    show.line(f"{output.ink('? ' + question, fg='cyan', bold=True)}  {_took(output, context)}")
    for recalled in context.items:
        show.line(f"  {said_time(recalled.item)}  {source_label(recalled.item)}: {flat(recalled.text)}")
        show.line(output.dim(f"    score {recalled.score:.1f}; why: {flat('; '.join(recalled.reasons))}"))


def _took(output: Output, context: Context) -> str:
    return output.dim(f"{context.milliseconds:.1f} ms")


def _state_facts(show: Show, me: ScopedMemory, turns: Mapping[str, ItemId]) -> dict[str, ItemId]:
    """Write the facts the talk states, each over the one it takes the place of."""
    from mnemic.demo import facts

    statements = facts()
    show.title(3, "A fact that changed, and its history")
    ids: dict[str, ItemId] = {}
    with show.timed("write a fact", len(statements)):
        for fact in statements:
            fields: dict[str, Any] = {
                "said": fact.said,
                "valid_from": fact.valid_from,
                "source": [turns[key] for key in fact.source],
                "key": fact.key,
            }
            old = ids.get(fact.supersedes or "")
            receipt = me.write(fact.text, **fields) if old is None else me.supersede(old, fact.text, **fields)
            ids[fact.key] = receipt.id
    with show.timed("history"):
        versions = me.history(ids[_CHANGED])
    if not show.output.json:
        print_history(show.output, versions)
    show.results["history"] = [version_record(version) for version in versions]
    return ids


def _look_back(show: Show, me: ScopedMemory) -> None:
    from mnemic.core.items import Kind
    from mnemic.core.queries import Filter
    from mnemic.demo import questions

    question = next(each for each in questions() if each.id == _EARLIER)
    facts = Filter(kinds=(Kind.FACT,))
    assert question.as_of is not None
    show.title(4, f"The same question, now and as of {question.as_of:%d %B %Y}")
    answers = {}
    for name, then in (("now", me), ("as_of", me.as_of(question.as_of))):
        with show.timed(f"recall {name}"):
            context = then.recall(question.text, k=1, where=facts)
        answers[name] = context.items[0].text if context.items else ""
        show.line(f"{'now ' if name == 'now' else 'then'}  {flat(answers[name])}  {_took(show.output, context)}")
    show.line(show.output.dim("she moved in March and said so in April: in March nobody had told the memory"))
    show.results["as_of"] = {"question": question.text, "date": question.as_of, **answers}


def _undo(show: Show, me: ScopedMemory, turns: Mapping[str, ItemId]) -> None:
    show.title(5, "Forget, and undo")
    item = turns[_UNDONE]
    before = me.count()
    forgotten = me.forget(item)
    hidden = me.count()
    with show.timed("undo"):
        me.undo(forgotten.seq)
    after = me.count()
    show.line(f"{before:,} items; {hidden:,} once commit {forgotten.seq} hid one; {after:,} once that was undone")
    show.results["undo"] = {"before": before, "hidden": hidden, "after": after}


def _erase(show: Show, me: ScopedMemory, path: Path) -> None:
    from mnemic.core.items import Kind
    from mnemic.core.queries import Filter

    show.title(6, f"Erase the neighbour {_CANARY} (Rosa), and look for her in every byte of every file")
    every = me.list(where=Filter(kinds=(Kind.TURN, Kind.FACT)), limit=10_000)
    doomed = [version.item.id for version in every if _CANARY in version.item.text or "Rosa" in version.item.text]
    before = _occurrences(path)
    with show.timed("erase") as watch:
        receipt = me.erase(*doomed, reason="demo")
    after = _occurrences(path)
    show.line(f"found before: {_counted(before)}")
    if not show.output.json:
        print_receipt(show.output, receipt, watch.milliseconds / 1000)
    show.line(f"found after:  {_counted(after)}")
    show.results["erasure"] = {**erasure_record(receipt), "found_before": before, "found_after": after}


def _occurrences(path: Path) -> dict[str, int]:
    """Count the erased words in each file of the store, byte for byte."""
    words = [_CANARY.encode(), b"Rosa"]
    return {file.name: sum(file.read_bytes().count(word) for word in words) for file in _files(path)}


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} in {name}" for name, count in counts.items())


def _files(path: Path) -> Sequence[Path]:
    return sorted(path.parent.glob(path.name + "*"))


def _bytes(path: Path) -> int:
    return sum(file.stat().st_size for file in _files(path))


def _check(show: Show, memory: Memory, facts: int) -> None:
    with show.timed("verify the whole store"):
        faults = list(memory.admin.verify())
    show.results["facts"], show.results["sound"] = facts, not faults


def _end(show: Show, keep: Path | None) -> None:
    if show.output.json:
        show.output.document({**show.results, "milliseconds": {name: round(ms, 3) for name, ms in show.took.items()}})
        return
    show.title(7, "How long each took")
    show.output.table((name, f"{ms:8.2f} ms") for name, ms in show.took.items())
    verdict = "sound" if show.results["sound"] else "NOT SOUND"
    show.line(f"and the store is {verdict}: hash chain, digests, versions and index agree")
    show.title(8, "Your turn")
    show.output.table((command, show.output.dim(purpose)) for command, purpose in _next(keep))


def _next(keep: Path | None) -> Iterable[tuple[str, str]]:
    if keep is not None:
        yield f'mnemic --store {keep} --user ada recall "跑鞋是什么颜色的？"', "ask this store more"
        yield f"mnemic --store {keep} --user ada log", "what was done to it"
    else:
        yield "mnemic demo --keep demo.db", "the same, in a file that stays"
    yield 'mnemic add "I moved to Lisbon in March."', "your own memory"
    yield 'mnemic recall "when did I move?"', "with reasons"
    yield "mnemic", "where it lies, and how to take it away"
