"""Attacks on what mnemic promises, one class of them a file; `scripts/attack` runs them, pytest a quick share of each.

To add a class, put one file into this folder, called what the attacks are on, with these two in it::

    QUICK = 200  # rounds that pytest runs: a few seconds


    def attack(rounds: int, seed: int) -> AttackReport: ...

It tries at least `rounds` times to break a promise, with every random choice started by `seed`, and turns the same
tries against a control: the same code with one wall taken out, by a patch or an argument. Where the control is not
caught, the attack sees nothing, and that is a failure too. Where each round draws its chances anew, of the seed and its
number, `attack` takes `first: int = 0` as well, so that a failure is seen again alone. A file without `attack` is no
class, and may serve several.
"""
