"""Every class of attacks, a quick share of it: nothing breaks but the weakened control."""

from __future__ import annotations

import json
from pathlib import Path
from unittest.mock import patch

import pytest
from click.testing import CliRunner

from mnemic.errors import Invalid
from mnemic.registry import STRATEGIES
from mnemic.testing.attack import cuts, killed_runs
from mnemic.testing.attack.__main__ import main
from mnemic.testing.attack.cuts import replayed
from mnemic.testing.attack.file_map import bytes_in_use
from mnemic.testing.attack.frame import AttackReport, attack_classes, class_module
from mnemic.testing.attack.lived_store import lived_store
from mnemic.testing.attack.secrets import PLACES, _unreached
from mnemic.testing.attack.strategy_replay import FOLLOWED, Replay, different
from mnemic.testing.attack.tampering import _unseen

TIMED = pytest.param("growth", marks=pytest.mark.slow)
"""What takes times is no test of a machine that is busy: `pytest -m slow`, and `scripts/attack growth`."""


@pytest.mark.parametrize("name", [TIMED if name == "growth" else name for name in attack_classes()])
def test_the_attack_breaks_nothing_but_its_control(name: str) -> None:
    module = class_module(name)
    report = module.attack(module.QUICK, seed=1)
    assert report.passed, report.line()


def test_every_registered_strategy_is_cut_and_killed() -> None:
    assert set(FOLLOWED) == set(STRATEGIES)
    assert cuts.FOLLOWED is killed_runs.FOLLOWED is FOLLOWED


def test_a_cut_makes_no_run_for_which_a_strategy_has_no_budget() -> None:
    """Of one run of 28 passages, and an answer in three to mend, the last three answers were left to rules."""
    seed = 90 * 1_000_003 + 284
    assert list(different(replayed("hippo2", seed, cut=False), replayed("hippo2", seed, cut=True))) == []


@pytest.mark.parametrize("seed", [77_000_236, 77_000_245])
def test_what_rules_make_of_news_that_comes_late_does_not_hang_on_the_cut(seed: int) -> None:
    assert list(different(replayed("house", seed, cut=False), replayed("house", seed, cut=True))) == []


def test_a_journal_that_a_strategy_cannot_digest_is_a_failure_however_it_is_cut() -> None:
    with patch.object(Replay, "say", side_effect=Invalid("edits", "come twice", "Say them once.")):
        wrong = list(different(replayed("house", 1, cut=False), replayed("house", 1, cut=True)))
    assert len(wrong) == 2
    assert all("come twice" in one for one in wrong)


def test_a_failing_round_is_seen_again_alone() -> None:
    asked = ["cuts", "--strategy", "hippo2", "--seed", "3", "--rounds", "1", "--first", "7", "--json"]
    again = CliRunner().invoke(main, asked)
    with patch.object(cuts, "different", lambda one, other: ["x"]):
        broken = CliRunner().invoke(main, asked)
    assert json.loads(again.output)["cuts"]["failures"] == []
    assert json.loads(broken.output)["cuts"]["failures"] == ["hippo2, seed 3, round 7: x"]


def test_a_class_that_draws_its_rounds_one_after_the_other_starts_at_the_first() -> None:
    refused = CliRunner().invoke(main, ["budgets", "--first", "7"])
    assert refused.exit_code == 2
    assert "one after the other" in refused.output


def test_each_byte_in_use_of_the_header_is_told_from_another(tmp_path: Path) -> None:
    header = [place for place in bytes_in_use(lived_store()) if place < 100]
    assert sorted(set(range(100)) - set(header)) == [40, 41, 42, 43, 97, 98, 99], "the cookie, and which SQLite wrote"
    assert [missed for place in header if (missed := _unseen(tmp_path, place, bit=0))] == []


def test_an_attack_that_its_control_survives_is_no_pass() -> None:
    assert AttackReport(tries=3, failures=(), caught_by_control=1).passed
    assert not AttackReport(tries=3, failures=(), caught_by_control=0).passed
    assert not AttackReport(tries=0, failures=(), caught_by_control=1).passed
    assert not AttackReport(tries=3, failures=("x",), caught_by_control=1).passed


def test_every_place_of_the_secrets_reaches_a_file_and_an_idempotency_key_does_not() -> None:
    assert _unreached() == []
    with patch.dict(PLACES, key=lambda memory, me, text, number: me.observe("x", key=text)):
        assert _unreached() == ["key"]
