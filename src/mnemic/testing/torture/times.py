"""`kill -9` in what goes back in time or copies: each has happened or it has not, and done again it completes."""

from __future__ import annotations

import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import Final

import apsw

from mnemic.errors import Conflict, NotFound
from mnemic.memory import Memory
from mnemic.settings import Settings
from mnemic.store.engine import rewinding
from mnemic.store.offline import replace_store
from mnemic.store.sqlite.sqlite_store import SqliteStore
from mnemic.testing.deeds import state_hash
from mnemic.testing.faults import CountingProbe, KillAt, Probe
from mnemic.testing.torture import children
from mnemic.testing.torture.report import Report
from mnemic.testing.torture.subject import silent

_ITEMS: Final = 40
_LONGEST: Final = 0.05
_SETTINGS: Final = Settings(background=False, embedder="none")


@dataclass(frozen=True, slots=True)
class TimedAct:
    """Something that must happen whole or not at all.

    Attributes:
        do: Does it to the store in a folder; doing it again after it was cut short completes it.
        state: What the folder holds, by which before and after are told apart.
    """

    name: str
    do: Callable[[Path, Probe], None]
    state: Callable[[Path], str]


def times(runs: int = 60, seed: int = 1, *, name: str = "memory", old: Path | None = None) -> Report:
    """Kill each act at every named point it passes, and `runs` times at random moments.

    Args:
        name: Of the report only: what is tortured is the whole engine.
        old: A file of an older format; with it, migration is one of the acts.
    """
    dice, problems, figures = Random(seed), [], Counter[str]()
    for act in _acts(old):
        with children.folder() as folder:
            seeded = folder / "seeded"
            children.asked(partial(_seeded, seeded, act, old))
            before, after, points = _measured_act(folder, seeded, act)
            shots = [(0.0, point, n) for point, count in sorted(points.items()) for n in range(1, count + 1)]
            shots += [(dice.uniform(0.0, _LONGEST), "", 0) for _ in range(runs)]
            for number, (delay, point, n) in enumerate(shots):
                place = folder / f"shot-{number}"
                shutil.copytree(seeded, place)
                reached = _shoot(act, place, delay, point, n)
                figures[f"{act.name}: kills"] += reached
                wrong = _problems(act, place, before, after)
                problems += [f"{act.name} at {point or 'random'}: {problem}" for problem in wrong]
                if point and not reached:
                    problems.append(f"{act.name}: {point} was not reached")
                shutil.rmtree(place)
            figures[f"{act.name}: named points"] = len(points)
    return Report(name="times", subject=name, seed=seed, figures={**figures, "bad": len(problems)}, problems=problems)


def _seeded(place: Path, act: TimedAct, old: Path | None, _say: Callable[[str], None]) -> None:
    place.mkdir()
    if act.name == "migrate" and old is not None:
        shutil.copy(old, place / "memory.db")
        return
    with closing(SqliteStore(place / "memory.db")) as store, Memory(store, settings=_SETTINGS) as memory:
        me = memory.scope(user="ada")
        first = [me.write(f"statement {number}").id for number in range(_ITEMS)]
        branch = me.branch("try")
        for item in first[: _ITEMS // 2]:
            branch.revise(item, f"revised {item}")
            me.pin(first[-1]) if item == first[0] else None
        if act.name == "load":
            (place / "journal.jsonl").write_bytes(b"".join(memory.admin.export()))
    if act.name == "load":
        (place / "memory.db").unlink()
        with closing(SqliteStore(place / "memory.db")) as store, Memory(store, settings=_SETTINGS) as memory:
            memory.scope(user="ada", tenant="neighbour").write("of another house")


def _measured_act(folder: Path, seeded: Path, act: TimedAct) -> tuple[str, str, Counter[str]]:
    """What the act changes, and which points it passes; all in children, so that this process stays free to fork."""
    whole = folder / "whole"
    shutil.copytree(seeded, whole)

    def work(say: Callable[[str], None]) -> None:
        passed = CountingProbe()
        say(act.state(whole))
        act.do(whole, passed)
        say(act.state(whole))
        for point, count in passed.points.items():
            say(f"{point} {count}")

    before, after, *points = children.asked(work)
    shutil.rmtree(whole)
    return before, after, Counter({point: int(count) for point, count in (line.split() for line in points)})


def _shoot(act: TimedAct, place: Path, delay: float, point: str, n: int) -> bool:
    child = children.fork(lambda say: act.do(place, KillAt(point, n) if point else silent))
    if not point:
        time.sleep(delay)
        child.kill()
    child.lines()
    return child.status() < 0


def _problems(act: TimedAct, place: Path, before: str, after: str) -> list[str]:
    def work(say: Callable[[str], None]) -> None:
        state = act.state(place)
        if state not in (before, after):
            say(f"left {state}, which is neither {before} nor {after}")
        act.do(place, silent)
        if act.state(place) != after:
            say(f"done again it left {act.state(place)}, not {after}")
        for fault in _faults(place):
            say(fault)

    return children.asked(work)


def _faults(place: Path) -> Iterator[str]:
    with closing(SqliteStore(place / "memory.db")) as store:
        yield from (f"{fault.where}: {fault.problem}" for fault in store.verify())
    for left in sorted(place.rglob("*.restoring*")):
        yield f"{left.name} was left behind"


def _acts(old: Path | None) -> list[TimedAct]:
    acts = [
        TimedAct("checkpoint", _checkpoint, _checkpoints),
        TimedAct("rewind", _rewind, _hash),
        TimedAct("restore", _restore, _hash),
        TimedAct("merge", _merge, _hash),
        TimedAct("load", _load, _hash_beside),
        TimedAct("compact", _compact, _horizon),
    ]
    return acts if old is None else [*acts, TimedAct("migrate", _migrate, _format)]


def _opened(place: Path, probe: Probe) -> Memory:
    return Memory(SqliteStore(place / "memory.db", probe=probe), settings=_SETTINGS)


def _checkpoint(place: Path, probe: Probe) -> None:
    with _opened(place, probe) as memory:
        if any(checkpoint.name == "one" for checkpoint in memory.admin.checkpoints()):
            return
        with suppress(Conflict):  # the copy was named before the kill and is whole: another one is made beside it
            memory.admin.checkpoint("one")
            return
        with suppress(Conflict):
            memory.admin.checkpoint("one-again")


def _checkpoints(place: Path) -> str:
    """Whether a checkpoint is known; every one that is there is whole."""
    with _opened(place, silent) as memory:
        known = memory.admin.checkpoints()
        for checkpoint in known:
            assert checkpoint.path is not None
            with closing(SqliteStore(checkpoint.path)) as copy:
                assert state_hash(copy, "default") == checkpoint.hash
    for file in (place / "checkpoints").glob("*.db"):
        with closing(SqliteStore(file)) as copy:
            assert not list(copy.verify())
    return f"{min(len(known), 1)} checkpoint"


def _rewind(place: Path, probe: Probe) -> None:
    with closing(SqliteStore(place / "memory.db", probe=probe)) as store:
        store.transact(rewinding.rewind, "default", _ITEMS // 2)


def _restore(place: Path, probe: Probe) -> None:
    """The store put back over itself, from a copy, as of an earlier commit."""
    copy = place / "copy.db"
    if not copy.exists():
        with closing(SqliteStore(place / "memory.db")) as store:
            store.backup(copy)

    def back(store: SqliteStore) -> None:
        store.transact(rewinding.rewind, "default", _ITEMS // 2)

    replace_store(copy, place / "memory.db", without_tombstones=False, then=back, probe=probe)


def _merge(place: Path, probe: Probe) -> None:
    with _opened(place, probe) as memory:
        memory.scope(user="ada").merge("try", prefer="branch")


def _load(place: Path, probe: Probe) -> None:
    with _opened(place, probe) as memory, suppress(Conflict):
        memory.admin.load((place / "journal.jsonl").read_bytes().splitlines(keepends=True))


def _compact(place: Path, probe: Probe) -> None:
    with _opened(place, probe) as memory:
        with suppress(NotFound):
            memory.scope(user="ada").drop_branch("try")
        memory.admin.compact(_ITEMS)


def _migrate(place: Path, probe: Probe) -> None:
    SqliteStore(place / "memory.db", probe=probe).close()


def _hash(place: Path) -> str:
    """The state hash without the journal's moments, so that it is the same in each run."""
    with closing(SqliteStore(place / "memory.db")) as store, store.read() as snapshot:
        number = snapshot.tenant("default")
        if number is None:
            return "empty"
        heads = snapshot.all_spaces(number)
        said = sorted((v.item.id, v.item.text, v.seq_from) for h in heads for v in snapshot.latest((h.id,), limit=1000))
        return (
            f"{len(heads)} spaces, commit {snapshot.head(number).seq}, {len(said)} items, {hash(tuple(said)) & 0xFFFF}"
        )


def _hash_beside(place: Path) -> str:
    """The same, with the state hash of the other tenant that is there."""
    with closing(SqliteStore(place / "memory.db")) as store:
        beside = state_hash(store, "neighbour")
    return f"{_hash(place)}, beside {beside}"


def _horizon(place: Path) -> str:
    with closing(SqliteStore(place / "memory.db")) as store, store.read() as snapshot:
        number = snapshot.tenant("default")
        return "empty" if number is None else f"horizon {snapshot.head(number).horizon}"


def _format(place: Path) -> str:
    """Which format a file has and how much it holds, seen without opening it as a store: that would migrate it."""
    with closing(apsw.Connection(str(place / "memory.db"))) as db:
        counts = [db.execute(f"SELECT count(*) FROM {table} WHERE space <> 0").get for table in ("version", "entry")]
        return f"format {db.pragma('user_version')}, {counts}"
