"""The harness has teeth on plain SQLite; a little of each torture on the real engine."""

import json
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from mnemic.core.ids import ItemId
from mnemic.lanes import backlog
from mnemic.testing.raw_store import raw_store
from mnemic.testing.torture import Report, engine, ioerror, kill, memory_subject, power, processes
from mnemic.testing.torture.__main__ import main
from mnemic.testing.torture.carried import _made, carried
from mnemic.testing.torture.life import ActResult, WorkingLife
from mnemic.testing.torture.subject import ActReport, How, Promise, parse, promises, subject
from mnemic.testing.torture.toy import ToySubject
from patience import PATIENCE

pytestmark = pytest.mark.heavy

SEED = 11


def _said(who: str = "ada", *, adds: str = "", drops: str = "", done: bool = True) -> ActReport:
    return ActReport(who=who, act="change", adds=tuple(adds), drops=tuple(drops), done=done)


def test_a_line_said_is_read_back_as_it_was() -> None:
    said = ActReport(who="ada", act="erase", adds=("a",), drops=("搬",), gone=("搬",), done=True, seq=3, hash="ab")
    assert parse(said.line()) == said


def test_a_promise_holds_with_the_open_act_done_or_not_done_and_never_in_part() -> None:
    promise = Promise()
    for said in (_said(adds="ab"), _said(adds="cd", drops="a", done=False)):
        promise.take(said)
    assert promise.problems("ada", set("ab")) == []
    assert promise.problems("ada", set("bcd")) == []
    for partial in ("abc", "abcd", "b", "bc", "a", ""):
        assert promise.problems("ada", set(partial))


def test_promises_are_kept_apart_by_user() -> None:
    kept = promises([_said("ada", adds="a"), _said("eve", adds="b"), _said("ada", drops="a")])
    assert kept["ada"].sure == set()
    assert kept["eve"].sure == {"b"}


def test_an_audit_finds_a_lost_a_partial_and_an_unpromised_change(tmp_path: Path) -> None:
    toy = ToySubject()
    store = toy.open(tmp_path / "m.db", How())
    said: list[ActReport] = []
    life = store.life("ada", SEED)
    for _ in range(10):
        life.step(lambda line: said.append(parse(line)))
    store.close()
    assert toy.audit(tmp_path / "m.db", said).problems == ()
    assert toy.audit(tmp_path / "m.db", said).acks == 10
    assert toy.audit(tmp_path / "m.db", said[:-4]).problems
    assert toy.audit(tmp_path / "m.db", [*said, _said(adds="z")]).problems


def test_power_cuts_pass_on_plain_sqlite_at_full_and_fail_when_weakened() -> None:
    report = power(60, SEED, name="sqlite", weak_runs=40, workers=0)
    assert report.passed, report.problems
    assert report.figures["images"] == 60


def test_power_cuts_without_teeth_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mnemic.testing.torture.power_cuts.WEAKENED", ("FULL",))
    report = power(10, SEED, name="sqlite", weak_runs=10, workers=0)
    assert not report.passed
    assert "no teeth" in report.problems[0]


def test_a_report_is_a_table_and_a_line_of_json() -> None:
    report = Report(name="kill", subject="sqlite", seed=1, figures={"kills": 2000, "p50": 0.5}, problems=["lost"] * 30)
    assert "2,000" in report.table()
    assert "and 10 more" in report.table()
    assert json.loads(report.json())["passed"] is False


def test_the_command_runs_a_torture_and_says_its_seed() -> None:
    done = CliRunner().invoke(main, ["ioerror", "--runs", "5", "--seed", "3", "--subject", "sqlite", "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["seed"] == 3


@pytest.mark.parametrize("name", ["sqlite", pytest.param("memory", marks=pytest.mark.slow)])
def test_a_few_kills_lose_nothing(name: str) -> None:
    report = kill(4, SEED, name=name, per_file=4, passes=1, workers=1)
    assert report.passed, report.problems
    assert report.figures["points not reached"] == "none"


def test_a_few_power_cuts_lose_nothing() -> None:
    report = power(60, SEED, weak_runs=20, workers=0)
    assert report.passed, report.problems
    assert report.figures["rewinds before the cuts"]


@pytest.mark.parametrize("name", ["sqlite", "memory"])
def test_a_few_io_errors_are_typed_and_lose_nothing(name: str) -> None:
    report = ioerror(30, SEED, name=name, workers=0)
    assert report.passed, report.problems


@pytest.mark.parametrize("name", ["sqlite", "memory"])
def test_a_few_processes_turn_nobody_away(name: str) -> None:
    report = processes(15, SEED, name=name, writers=2)
    assert report.passed, report.problems
    assert report.figures["writes acknowledged"] == 30


def test_the_store_by_itself_is_a_subject_too() -> None:
    assert power(30, SEED, name="store", weak_runs=20, workers=0).passed


@pytest.mark.slow
@pytest.mark.parametrize("run", [kill, power, ioerror, processes])
def test_the_whole_torture_passes(run: object) -> None:
    assert callable(run)
    report = run(seed=SEED)
    assert report.passed, report.problems


@pytest.mark.parametrize("name", ["store", "memory"])
def test_a_life_packs_counts_retires_and_loads(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_subject, "_PATIENCE", PATIENCE)
    path, said = tmp_path / "m.db", list[ActReport]()
    store = subject(name).open(path, How())
    life = store.life("ada", SEED, alone=True)
    packed = set[bool]()
    for _ in range(200):
        life.step(lambda line: said.append(parse(line)))
        if said[-1].act == "pack":
            with raw_store(path) as db:  # what erases, or gives up the past, drops the packs of it
                packed |= {signs for (signs,) in db.execute("SELECT DISTINCT model > 0 FROM pack")}
    store.close()
    assert packed == ({False, True} if name == "memory" else {False})
    assert {"write_expiring", "retire", "pack", "count", "load"} <= {one.act for one in said if one.done}
    assert subject(name).audit(path, said).problems == ()
    with raw_store(path) as db:
        assert db.execute("SELECT sum(uses) FROM strength").get
        db.execute("DELETE FROM strength WHERE space IN (SELECT id FROM space WHERE tenant > 1)").fetchall()
        db.execute("DELETE FROM tenant WHERE id = (SELECT max(id) FROM tenant)").fetchall()
    assert subject(name).audit(path, said).problems, "a tenant that was loaded has gone"


class _Forgetful:
    """Hands that lose the second thing they are told."""

    acts = frozenset({"write"})

    def __init__(self) -> None:
        self.kept: list[str] = []
        self.calls = 0

    def write(self, text: str, key: str) -> ActResult:
        self.calls += 1
        if self.calls != 2:
            self.kept.append(text)
        return ActResult(seq=self.calls, ids=(ItemId(f"{self.calls:026}"),))

    def head(self) -> tuple[int, str]:
        return self.calls, ""


def test_the_journal_that_lives_load_is_the_same_on_a_machine_that_stalls(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = count()  # before each count, which looks twice, the machine stood still for longer than counts are kept
    journal = carried()
    monkeypatch.setattr(backlog, "time", SimpleNamespace(monotonic=lambda: next(looks) // 2 * 1_000.0))
    assert _made.__wrapped__() == journal


def test_a_life_tells_beforehand_what_it_will_change_and_so_finds_out_a_forgetful_store() -> None:
    hands = _Forgetful()
    said: list[ActReport] = []
    life = WorkingLife(hands, "ada", SEED)  # type: ignore[arg-type]
    for _ in range(3):
        life.step(lambda line: said.append(parse(line)))
    assert [one.done for one in said] == [False, True] * 3
    (promise,) = promises(said).values()
    assert promise.problems("ada", set(hands.kept))


@pytest.mark.parametrize("name", ["store", "memory"])
def test_a_life_alone_brings_the_store_back_and_one_among_others_does_not(tmp_path: Path, name: str) -> None:
    for alone in (True, False):
        path = tmp_path / f"{alone}.db"
        store = subject(name).open(path, How())
        life, said = store.life("ada", SEED, alone=alone), list[ActReport]()
        for _ in range(80):
            life.step(lambda line, said=said: said.append(parse(line)))  # type: ignore[misc]
        store.close()
        assert subject(name).audit(path, said).problems == ()
        untold = [one for one in said if one.act != "rewind"]
        assert (len(untold) < len(said)) == alone
        assert bool(subject(name).audit(path, untold).problems) == alone


def test_an_audit_knows_which_commits_must_be_there_after_a_rewind() -> None:
    def done(act: str, seq: int, hash: str) -> ActReport:
        return ActReport(who="ada", act=act, done=True, seq=seq, hash=hash)

    acts = [done("write", 1, "a"), done("write", 2, "b"), done("write", 3, "c")]
    begun = ActReport(who="ada", act="rewind", seq=1)
    whole, cut = {1: "a", 2: "b", 3: "c"}, {1: "a"}
    assert engine.journals([*acts, begun]) == [whole, cut]
    assert engine.journals([*acts, begun, begun, done("rewind", 1, "a")]) == [cut]
    assert engine.journals([*acts, begun, done("write", 2, "d")]) == [{**whole, 2: "d"}, {**cut, 2: "d"}]
    assert engine.journals([]) == [{}]


def test_an_audit_asks_for_no_commit_of_a_past_that_was_to_be_given_up() -> None:
    acts = [ActReport(who="ada", act="write", done=True, seq=seq, hash=f"{seq}") for seq in (1, 2, 3)]
    begun = ActReport(who="ada", act="collect", seq=2)
    kept = {2: "2", 3: "3"}
    assert engine.journals([*acts, begun]) == [kept]
    done = ActReport(who="ada", act="collect", done=True, seq=4, hash="4")
    assert engine.journals([*acts, begun, done]) == [{**kept, 4: "4"}]


def test_an_unknown_subject_is_refused() -> None:
    with pytest.raises(KeyError):
        subject("nothing")
