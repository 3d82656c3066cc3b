"""`python -m mnemic.testing.attack`: attack, and say what came of it."""

from __future__ import annotations

import sys
import time
from inspect import signature
from types import ModuleType
from typing import Any

import click

from mnemic.testing.attack.frame import attack_classes, class_module


@click.command(epilog="Example: scripts/attack interrupts --rounds 20000 --seed 1")
@click.argument("which", metavar="CLASS", type=click.Choice([*attack_classes(), "all"]))
@click.option("--rounds", type=click.IntRange(min=1), help="Tries, at least; left out: as many as pytest runs.")
@click.option("--seed", type=int, default=1, show_default=True, help="Starts every random choice.")
@click.option("--strategy", multiple=True, help="Only this one, of the classes that attack strategies; repeatable.")
@click.option(
    "--first",
    type=click.IntRange(min=0),
    help="Start at this round, of the classes whose rounds stand alone: with --rounds 1 a failure is seen again.",
)
@click.option("--json", "as_json", is_flag=True, help="One line of JSON a class.")
def main(
    which: str, rounds: int | None, seed: int, strategy: tuple[str, ...], first: int | None, as_json: bool
) -> None:
    """Attack what mnemic promises. Exits with 1 if a promise was broken, or the control was not."""
    passed = True
    for name in attack_classes() if which == "all" else [which]:
        module, begun = class_module(name), time.perf_counter()
        options: dict[str, Any] = {"strategies": _attacked(name, module, strategy)} if strategy else {}
        if first is not None:
            options["first"] = _start(name, module, first)
        report = module.attack(rounds or module.QUICK, seed, **options)
        passed = passed and report.passed
        took = f"{time.perf_counter() - begun:.1f} s"
        click.echo(f'{{"{name}": {report.json()}}}' if as_json else f"{name}: {report.line()} ({took})")
    sys.exit(0 if passed else 1)


def _attacked(name: str, module: ModuleType, strategies: tuple[str, ...]) -> tuple[str, ...]:
    """Check which strategies a class is to attack."""
    known = getattr(module, "FOLLOWED", {})
    if unknown := [strategy for strategy in strategies if strategy not in known]:
        raise click.BadParameter(f"{name} attacks {', '.join(known) or 'no strategies'}, not {unknown[0]}")
    return strategies


def _start(name: str, module: ModuleType, first: int) -> int:
    """Check that a class can start at any of its rounds."""
    if "first" not in signature(module.attack).parameters:
        raise click.BadParameter(
            f"the rounds of {name} are drawn one after the other: start at the first", param_hint="--first"
        )
    return first


if __name__ == "__main__":
    main()
