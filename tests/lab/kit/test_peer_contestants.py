"""Memories of others: each keeps the contract where its environment is made; one that fails is a row that says so."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner

import mnemic
from bare_environment import bare
from mnemic.errors import Invalid
from mnemic.faces.cli import cli
from mnemic.lab.contestants import peer_contestant
from mnemic.lab.contestants.peer_contestant import PEERS, PeerContestant, PublishedMemory
from mnemic.lab.kit import peer_table
from mnemic.lab.kit.contest import Limits
from mnemic.lab.kit.contestant import Contestant, ElsewhereContestant, Means
from mnemic.lab.kit.foreign_environment import PeerFailed
from mnemic.lab.kit.log import read
from mnemic.lab.kit.run import RunPlan, run
from mnemic.lab.kit.run_report import report
from mnemic.settings import Settings
from mnemic.testing.contestant_contract import *  # noqa: F403

HERE = Path(__file__).parent
RUN = [peer for peer in PEERS if not peer.unfit]


@pytest.fixture(params=[pytest.param(peer, marks=pytest.mark.slow, id=peer.name) for peer in RUN], scope="module")
def contestant(request: pytest.FixtureRequest) -> Callable[[], Contestant]:
    """Each peer; one whose environment is not made below the home of whoever runs this is passed over."""
    peer: PublishedMemory = request.param
    if not peer.environment.is_made(peer_contestant.environments(Means().settings)):
        pytest.skip(f"its environment is not made: mnemic bench peers --install '{peer.name}'")
    return partial(PeerContestant, peer, Means(embedder="scripted:64"))


FAKE = PublishedMemory(name="fake", package="fake==1.0", adapter="fake", settings="words in common")


def start_fake(how: str, folder: Path, dims: int) -> subprocess.Popen[str]:
    command = [sys.executable, str(HERE / "fake_peer.py"), str(folder), str(dims), how]
    root = str(Path(mnemic.__file__).parents[1])
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8", env=bare(PYTHONPATH=root)
    )


class Faked(PeerContestant):
    """The fake as a row; a process that has a row of its own finds it by its place."""

    how = "well"

    def __init__(self, means: Means) -> None:
        super().__init__(FAKE, means, partial(start_fake, self.how))


class Raising(Faked):
    how = "raise"


class Aborting(Faked):
    how = "abort"


class Leaving(Faked):
    how = "leave"


class Babbling(Faked):
    how = "babble"


class Hanging(Faked):
    how = "hang"


class Eating(Faked):
    how = "eat"


class Flooding(Faked):
    how = "flood"


MEANS = Means(embedder="scripted:16")


def test_a_peer_ranks_what_it_was_told_and_says_what_it_cost() -> None:
    with closing(Faked(MEANS)) as peer:
        peer.ingest(corpora())  # noqa: F405 - of the contract
        ranking = peer.rank(asked("talk", "where is the kiln from"), 2)  # noqa: F405 - of the contract
        assert ranking.ids == ("d2", "d1")
        assert list(ranking.scores) == sorted(ranking.scores, reverse=True)
        assert peer.cpu_elsewhere_seconds > 0
        figures = peer.figures()
        assert figures.bytes_per_message == 1000 / sum(len(corpus.docs) for corpus in corpora())  # noqa: F405 - of the contract
        assert figures.lag_ms is not None
        assert figures.lag_ms > 0
        assert figures.model_calls == 0
        if sys.platform == "linux":
            assert figures.peak_elsewhere_mib is not None
            assert figures.peak_elsewhere_mib > 5


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (Raising, r"fake==1.0: ValueError: no such luck$"),
        (Aborting, r"fake==1.0 ended: signal 6"),
        (Leaving, r"fake==1.0 ended: exit code 3"),
        (Babbling, r"fake==1.0 said what is no answer: 'I am well"),
    ],
)
def test_a_peer_that_fails_says_how_in_a_line(made: type[Faked], why: str) -> None:
    with closing(made(MEANS)) as peer:
        peer.ingest(corpora())  # noqa: F405 - of the contract
        peer.rank(asked("talk", "kiln"), 3)  # noqa: F405 - of the contract
        with pytest.raises(PeerFailed, match=why):
            peer.rank(asked("talk", "kiln"), 3)  # noqa: F405 - of the contract


def test_its_processor_time_counts_as_the_contestants(locomo_file: Path, tmp_path: Path) -> None:
    logged = read(run(RunPlan(tasks={"locomo": locomo_file}, rows=(f"{__name__}:Faked",), means=MEANS), tmp_path))
    (cost,) = logged.costs.values()
    assert cost.ingest_cpu_seconds is not None
    with closing(Faked(MEANS)) as peer:
        started = peer.cpu_elsewhere_seconds
        peer.ingest(corpora())  # noqa: F405 - of the contract
        assert peer.cpu_elsewhere_seconds > started
        assert isinstance(peer, ElsewhereContestant)


@pytest.mark.heavy
def test_a_peer_that_hangs_is_a_row_that_says_so(locomo_file: Path, tmp_path: Path) -> None:
    row = f"{__name__}:Hanging"  # alone: who else runs may be silent as long on a busy machine
    plan = RunPlan(tasks={"locomo": locomo_file}, rows=(row,), means=MEANS)
    (made,) = report(run(plan, tmp_path / "a.jsonl", apart=Limits(silent_seconds=1))).tasks
    assert made.run.failures[row].startswith("hung: nothing came")
    assert [line[0] for line in peer_table.peer_table(made).cells()] == [f"{row} (hung)"]


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("row", "limits", "why"),
    [
        ("Raising", Limits(), "crashed: mnemic.lab.kit.foreign_environment.PeerFailed: fake==1.0: ValueError: no such"),
        ("Aborting", Limits(), "crashed: mnemic.lab.kit.foreign_environment.PeerFailed: fake==1.0 ended: signal 6"),
        ("Eating", Limits(memory_mib=900), "took too much memory"),
        ("Flooding", Limits(disk_mib=40), "filled the disk"),
    ],
)
def test_a_peer_that_crashes_or_floods_is_a_row_that_says_so(
    locomo_file: Path, tmp_path: Path, row: str, limits: Limits, why: str
) -> None:
    if row == "Eating" and sys.platform != "linux":
        pytest.skip("only Linux tells how much a process holds")
    rows = (f"{__name__}:{row}", "BM25 turns")
    path = run(RunPlan(tasks={"locomo": locomo_file}, rows=rows, means=MEANS), tmp_path / "a.jsonl", apart=limits)
    (made,) = report(path).tasks
    assert made.run.failures[rows[0]].startswith(why)
    sound = next(each for each in made.rows if each.system == "BM25 turns")
    assert not sound.failure
    assert sound.asked == 6
    assert f"{rows[0]} ({why.partition(':')[0]})" in [line[0] for line in peer_table.peer_table(made).cells()]


def test_one_that_is_not_installed_or_does_not_run_says_so(tmp_path: Path) -> None:
    means = Means(embedder="scripted:16", settings=Settings(home=tmp_path))
    with pytest.raises(PeerFailed, match=r"chromadb==.* is not installed: .*bench peers --install"):
        PeerContestant(PEERS[0], means)
    with pytest.raises(PeerFailed, match="does not run here: it asks for a moon"):
        PeerContestant(replace(FAKE, unfit="it asks for a moon"), means)
    with pytest.raises(Invalid, match="has no vectors but ours"):
        PeerContestant(FAKE, Means(), partial(start_fake, "well"))


def test_an_environment_that_cannot_be_made_says_why_in_the_row_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*given: object, **options: object) -> None:
        raise OSError("no room")

    monkeypatch.setattr("venv.create", refused)
    settings, said = Settings(home=tmp_path), list[str]()
    failed = peer_contestant.make_ready(["chromadb", "mnemic"], settings, said.append)
    assert failed == {"chromadb": "its environment cannot be made: no room"}
    assert said == ["chromadb: making its environment"]
    with pytest.raises(PeerFailed, match="is not installed: its environment cannot be made: no room"):
        PeerContestant(PEERS[0], Means(embedder="scripted:16", settings=settings))


def test_every_peer_is_pinned_with_all_that_it_needs_and_without_torch() -> None:
    homes = {peer.environment.python(Path("/x")) for peer in RUN}
    assert len(homes) == len(RUN) >= 5
    for peer in RUN:
        environment = peer.environment
        assert environment.alone
        assert peer.package in [named.replace("_", "-") for named in environment.requirements]
        assert all("==" in named for named in environment.requirements)
        assert not [named for named in environment.requirements if named.startswith(("torch", "nvidia", "triton"))]


@pytest.mark.heavy
def test_a_log_says_what_of_a_peer_ran(locomo_file: Path, tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    plan = RunPlan(
        tasks={"locomo": locomo_file}, rows=("chromadb", "BM25 turns"), means=replace(MEANS, settings=settings)
    )
    (made,) = report(run(plan, tmp_path / "a.jsonl", apart=Limits())).tasks
    about = made.run.header["peers"]
    assert list(about) == ["chromadb"]
    assert about["chromadb"]["package"].startswith("chromadb==")
    assert "HNSW" in about["chromadb"]["settings"]
    assert "is not installed" in made.run.failures["chromadb"]
    assert any("chromadb==" in note and "HNSW" in note for note in made.notes)


def test_where_mnemic_is_behind_a_peer_stands_in_bold(locomo_file: Path, tmp_path: Path) -> None:
    plan = RunPlan(tasks={"locomo": locomo_file}, rows=("mnemic", f"{__name__}:Faked"), means=MEANS)
    written = run(plan, tmp_path).read_text().replace(f"{__name__}:Faked", "fake")
    of_peers = json.dumps({"fake": {"package": "fake==1.0", "settings": "words in common"}})
    path = tmp_path / "with_a_peer.jsonl"
    path.write_text(written.replace('"peers":{}', f'"peers":{of_peers}'))
    (made,) = report(path).tasks
    figures = peer_table.peer_table(made)
    ahead, titles = figures.behind(), [column.title for column in figures.columns]
    ours, theirs = ([*line.strip("| ").split(" | ")][1:] for line in figures.markdown().split("\n")[-2:])
    assert ahead["bytes/doc"] == ["fake"]
    assert not [cell for cell in theirs if "*" in cell]
    for title, cell in zip(titles, ours, strict=True):
        assert cell.startswith("**") == cell.endswith("**") == (title in ahead)
        assert "\\*" not in cell
    sure = replace(figures, rows=(figures.rows[0], replace(figures.rows[1], low=40.2, high=100.0)))
    alike, told = (cells[1 + titles.index(figures.headline)] for cells in sure.cells())
    assert (alike, told) == ("100.0", "100.0 [40, 100]")
    (kept,) = peer_table.keep_peers(report(path), tmp_path / "results")
    held = json.loads(kept.read_text("utf-8"))
    assert kept.name == "locomo.json"
    assert held["peers"]["fake"]["package"] == "fake==1.0"
    assert (held["asked"], held["limit"]) == (6, None)
    assert peer_table.kept_table(held).markdown() == figures.markdown()


def test_a_peer_that_does_not_run_is_a_row_that_says_so_and_why(locomo_file: Path, tmp_path: Path) -> None:
    plan = RunPlan(tasks={"locomo": locomo_file}, rows=("mnemic", "A-Mem"), means=MEANS)
    (made,) = report(run(plan, tmp_path / "a.jsonl", apart=Limits())).tasks
    figures = peer_table.peer_table(made)
    assert figures.cells()[1][0] == "A-Mem (does not run)"
    assert "asks a language model" in figures.rows[1].failure


def test_a_run_in_another_order_is_kept_beside_and_of_one_that_was_cut_short_what_came_to_its_end(
    locomo_file: Path, tmp_path: Path
) -> None:
    plan = RunPlan(tasks={"locomo": locomo_file}, rows=("BM25 turns", "mnemic", f"{__name__}:Faked"), means=MEANS)
    path = run(replace(plan, limit=2), tmp_path / "a.jsonl")
    (kept,) = peer_table.keep_peers(report(path), tmp_path)
    assert kept.name == "locomo-reversed.json"
    held = json.loads(kept.read_text("utf-8"))
    assert (held["limit"], held["asked"], held["unfinished"]) == (2, 2, [])
    lines = path.read_text("utf-8").splitlines(keepends=True)
    ends = [n for n, line in enumerate(lines) if '"kind":"cost"' in line]
    path.write_text("".join(lines[: ends[2]]), "utf-8")
    peer_table.keep_peers(report(path), tmp_path)
    held = json.loads(kept.read_text("utf-8"))
    assert held["unfinished"] == [f"{__name__}:Faked"]
    assert [row["system"] for row in held["table"]["rows"]] == ["BM25 turns", "mnemic"]
    path.write_text("".join(lines[: ends[1]]), "utf-8")
    with pytest.raises(Invalid, match="no row of mnemic"):
        peer_table.keep_peers(report(path), tmp_path)


def test_the_page_has_every_peer_with_its_version_and_why_one_does_not_run() -> None:
    page = " ".join((HERE.parents[2] / "docs" / "peers.md").read_text().split())
    for peer in PEERS:
        assert f"| {peer.name} | {peer.package}: {peer.unfit.partition(';')[0]}" in page


def test_the_command_lists_peers_and_says_which_cannot_be_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*given: object, **options: object) -> None:
        raise OSError("no room")

    monkeypatch.setattr("venv.create", refused)
    monkeypatch.setenv("MNEMIC_HOME", str(tmp_path))
    listed = json.loads(CliRunner().invoke(cli, ["bench", "peers", "--json"]).stdout)["peers"]
    assert [row["name"] for row in listed] == [peer.name for peer in PEERS]
    assert {row["state"] for row in listed} == {"not installed", "does not run"}
    failed = CliRunner().invoke(cli, ["bench", "peers", "--install", "--only", "txtai"])
    assert failed.exit_code == 9
    assert "its environment cannot be made: no room" in failed.stdout
    assert "chroma" not in failed.stdout
    assert CliRunner().invoke(cli, ["bench", "peers", "--only", "tx tai"]).exit_code == 2
