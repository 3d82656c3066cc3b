"""Every class of attacks, a quick share of it: nothing breaks but the weakened control."""

from __future__ import annotations

import pytest

from mnemic.testing.attack.frame import AttackReport, attack_classes, class_module


@pytest.mark.parametrize("name", attack_classes())
def test_the_attack_breaks_nothing_but_its_control(name: str) -> None:
    module = class_module(name)
    report = module.attack(module.QUICK, seed=1)
    assert report.passed, report.line()


def test_an_attack_that_its_control_survives_is_no_pass() -> None:
    assert AttackReport(tries=3, failures=(), caught_by_control=1).passed
    assert not AttackReport(tries=3, failures=(), caught_by_control=0).passed
    assert not AttackReport(tries=0, failures=(), caught_by_control=1).passed
    assert not AttackReport(tries=3, failures=("x",), caught_by_control=1).passed
