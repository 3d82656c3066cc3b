"""Learns the network of `recall.order_network` as a whole, by what stands first in the end.

Five things are asked of it, each by the usual loss: that of all candidates what answers now has the largest standing,
and what held before, or is of somebody else or only supposed, has less than that; that of all candidates those on the
matter bear most; that of what was never said nothing bears; and, pair by pair, which has taken the place of which, and
which are of one matter.
"""

from __future__ import annotations

import copyreg
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from mnemic.errors import Invalid
from mnemic.extract.chinese import has_chinese
from mnemic.lab.adapted_layers import repeatable
from mnemic.recall.currency import BEHIND, Pool
from mnemic.recall.order_network import FARTHEST, NEVER_SURE, OrderNetwork, scaled_inputs
from mnemic.recall.understand import Question

if TYPE_CHECKING:
    import torch

Floats = NDArray[np.float32]

HIDDEN: Final = 128
SHARED: Final = 12
PAIR_HIDDEN: Final = 64
DROPPED: Final = 0.2
"""The share of inputs and of hidden values that is left out at each step."""
EPOCHS: Final = 24
BATCH: Final = 64
RATE: Final = 3e-3
DECAY: Final = 0.02
OLDER: Final = 1.5
"""What counts, beside what stands first, that what held before stands lower than what answers now."""
ALIKE: Final = 0.5
"""The same of what is of somebody else or only supposed."""
BEARING: Final = 0.5
EACH_BEARS: Final = 0.3
PAIRS: Final = 0.3
NOTHING_BEARS: Final = 0.6
"""What the other losses count."""
DIRECTIONS: Final = 16
"""In how many directions the vectors of a question and of what was said meet."""
_DRAWN: Final = 8000
"""Of so many passages the directions that are begun with are taken."""
ANSWERS_BEAR: Final = 3.0
"""What half of all that answers bears at least, in log odds: recall's and `ask`'s floors are of this scale, and where
zero lies on it would else change with what is learned from."""
AVERAGED: Final = 0.999
"""What a running mean of the weights keeps of itself at each step, where it is taken in the end."""
BEGUN: Final = 0.5
"""What each direction's share of a deviation is at first."""
_ASK_ANEW: Final = "Have trait_training make what the embedders tell traits by, and let recall be asked anew."
_UNLIKELY: Final = -1e4
_NONE: Final = np.zeros((0, 0), np.float32)


def read_only(values: dict[str, float]) -> MappingProxyType[str, float]:
    """A mapping that nobody writes to, as weights of recall are; pickle knows no way to make one."""
    return MappingProxyType(values)


copyreg.pickle(MappingProxyType, lambda weights: (read_only, (dict(weights),)))


@dataclass(frozen=True, slots=True)
class Sample:
    """One question with its pool, and which candidates are what to it.

    Attributes:
        case: Whose questions are kept together when folds are made.
        current: By candidate: answers it as it is asked; none where memory does not hold the answer.
        outdated: By candidate: of the matter, and does not hold at the time asked for.
        alike: By candidate: of somebody else, or only supposed.
        weight: What it counts for.
    """

    case: str
    question: Question
    pool: Pool
    current: NDArray[np.bool_]
    outdated: NDArray[np.bool_]
    alike: NDArray[np.bool_]
    weight: float = 1.0


def train_networks(
    samples: Sequence[Sample], news: Sequence[Sample] = (), logs: Sequence[Sample] = (), *, epochs: int = EPOCHS
) -> tuple[OrderNetwork, ...]:
    """Learn a network from samples and news; where there are logs, another from these in place of news, and one of all.

    News of one matter teaches that it leaves the others as they were, short logs of one matter what follows from what:
    either alone costs elsewhere, and of what the three make the mean errs least. Those that learn from logs are the
    running means of their weights.
    """
    first = train_network([*samples, *news], epochs=epochs)
    with_logs = ([*samples, *logs], [*samples, *news, *logs]) if logs else ()
    return (first, *(train_network(some, epochs=epochs, averaged=AVERAGED) for some in with_logs))


def train_network(samples: Sequence[Sample], *, epochs: int = EPOCHS, averaged: float = 0.0) -> OrderNetwork:
    """Learn the network from samples, the same from the same samples on one build of torch and one thread.

    Args:
        averaged: What a running mean of the weights keeps of itself at each step; 0 for the weights of the last step.
    """

    inputs = np.concatenate([sample.pool.inputs for sample in samples])
    known = ~np.isnan(inputs)
    if not known.any(axis=0).all():
        raise Invalid("samples", "one of what is known of candidates is known of none", _ASK_ANEW)
    mean, deviation = np.nanmean(inputs, 0), np.nanstd(inputs, 0) + np.float32(0.05)
    batch = _padded(samples, mean, deviation)
    middles = Middles.of(samples)
    batch |= middles.taken_from(samples, batch["there"].shape[1])
    with repeatable(threads=1):
        parts = _learned(batch, middles.directions, epochs, averaged)
    for name, middle in (("asked_into", middles.asked), ("said_into", middles.said)):
        if name in parts:
            way = middles.off_language(parts[name].T, name.removesuffix("_into")).T
            parts[name] = np.concatenate((way, -(middle @ way)[None]))
    network = OrderNetwork(mean=mean, deviation=deviation, **{"asked_into": _NONE, "said_into": _NONE} | parts)
    return _on_scale(network, samples)


def _on_scale(network: OrderNetwork, samples: Sequence[Sample]) -> OrderNetwork:
    """The same network with all that bears raised alike, so that half of what answers bears `ANSWERS_BEAR` or more."""
    bearing = []
    for sample, pool in ((sample, sample.pool) for sample in samples if sample.current.any()):
        odds = network.weigh(pool.inputs, pool.pairs, pool.flags, pool.vectors, pool.asked)
        bearing.append(odds.bearing[sample.current].max())
    if not bearing:
        return network
    direct = network.direct.copy()
    direct[-1] += np.float32(ANSWERS_BEAR) - np.float32(np.median(bearing))
    return replace(network, direct=direct)


@dataclass(frozen=True, slots=True)
class Middles:
    """The middles of the vectors of questions and of what was said, and the directions that meeting begins with.

    The way from one language to the other is the longest of all, and both sides of every sample lie on one end of it:
    what a question meets in another language would be anything. It is taken out of both.

    Attributes:
        languages: By "asked" and "said" the way from one language to the other, of length one; none where there is but
            one.
        directions: The first principal ones of what was said, as long as each makes its share of a deviation; (dims,
            `DIRECTIONS`), none where there are no vectors.
    """

    asked: Floats
    said: Floats
    directions: Floats
    languages: Mapping[str, Floats]

    @classmethod
    def of(cls, samples: Sequence[Sample]) -> Middles:
        """The middles over all samples."""
        said = np.concatenate([sample.pool.vectors for sample in samples])
        asked = np.stack([sample.pool.asked for sample in samples])
        middles = asked.mean(0), said.mean(0)
        if not said.shape[1]:
            return cls(*middles, _NONE, {})
        chinese = np.array([has_chinese(sample.question.query.text) for sample in samples])
        each = chinese.repeat([len(sample.pool.vectors) for sample in samples])
        languages = {}
        if chinese.any() and not chinese.all():
            for name, vectors, of_chinese in (("asked", asked, chinese), ("said", said, each)):
                way = vectors[of_chinese].mean(0) - vectors[~of_chinese].mean(0)
                languages[name] = (way / np.linalg.norm(way)).astype(np.float32)
        made = cls(*middles, _NONE, languages)
        drawn = made.off_language(said[:: max(1, len(said) // _DRAWN)] - made.said, "said")
        _, lengths, ways = np.linalg.svd(drawn, full_matrices=False)
        spread = np.maximum(lengths[:DIRECTIONS] / len(drawn) ** 0.5, 1e-3)
        return replace(made, directions=(ways[:DIRECTIONS].T / spread * BEGUN).astype(np.float32))

    def off_language(self, vectors: Floats, of: str) -> Floats:
        """Vectors of what is asked or said without what they have of the way from one language to the other."""
        way = self.languages.get(of)
        return vectors if way is None else vectors - np.outer(vectors @ way, way)

    def taken_from(self, samples: Sequence[Sample], most: int) -> dict[str, torch.Tensor]:
        """The vectors of samples off their middles, "asked" and "said", the latter filled up to `most` candidates."""
        import torch

        said = np.zeros((len(samples), most, len(self.said)), np.float32)
        for row, sample in zip(said, samples, strict=True):
            row[: len(sample.pool.vectors)] = self.off_language(sample.pool.vectors - self.said, "said")
        asked = self.off_language(np.stack([sample.pool.asked - self.asked for sample in samples]), "asked")
        return {"asked": torch.from_numpy(asked), "said": torch.from_numpy(said)}


def _learned(batch: dict[str, torch.Tensor], directions: Floats, epochs: int, averaged: float) -> dict[str, Floats]:
    import torch

    flags, met = batch["flags"].shape[1], directions.shape[1] + 1 if directions.size else 0
    known, paired = batch["inputs"].shape[2] + met + flags, batch["pairs"].shape[3] + 2 * SHARED + flags
    sizes = {
        "hidden": (known + 1, HIDDEN),
        "direct": (known + 1, 1),
        "bearing": (HIDDEN, 1),
        "before": (HIDDEN + 1, SHARED),
        "behind": (HIDDEN + 1, SHARED),
        "pairs": (paired + 1, PAIR_HIDDEN),
        "verdicts": (PAIR_HIDDEN + 1, 2),
    }
    parts = {
        name: torch.empty(size).uniform_(-(bound := (size[0] - 1) ** -0.5), bound).requires_grad_()
        for name, size in sizes.items()
    }
    if met:
        parts |= {name: torch.tensor(directions).requires_grad_() for name in ("asked_into", "said_into")}
    optimiser = torch.optim.AdamW(parts.values(), lr=RATE, weight_decay=DECAY)
    count = len(batch["flags"])
    steps = max(1, count // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, RATE, total_steps=epochs * steps, pct_start=0.15)
    kept = {name: part.detach().clone() for name, part in parts.items()}
    for _ in range(epochs):
        order = torch.randperm(count)
        for step in range(steps):
            chosen = order[step * BATCH : (step + 1) * BATCH]
            loss = _loss(parts, {name: values[chosen] for name, values in batch.items()})
            optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(parts.values(), 1.0)
            optimiser.step()
            schedule.step()
            for name, part in parts.items():
                kept[name].lerp_(part.detach(), 1 - averaged)
    learned = {name: part.numpy().astype(np.float32) for name, part in kept.items()}
    return learned | {name: learned[name][:, 0] for name in ("direct", "bearing")}


def _padded(samples: Sequence[Sample], mean: Floats, deviation: Floats) -> dict[str, torch.Tensor]:
    """Samples side by side, each filled up with candidates that are none."""
    import torch

    most = max(len(sample.current) for sample in samples)

    def filled(values: Sequence[NDArray[Any]], axes: int = 1) -> torch.Tensor:
        full = np.zeros((len(values), *(most,) * axes, *values[0].shape[axes:]), np.float32)
        for row, array in zip(full, values, strict=True):
            row[tuple(slice(size) for size in array.shape[:axes])] = array
        return torch.from_numpy(full)

    pools = [sample.pool for sample in samples]
    off = [
        -np.float32(BEHIND) * (pool.apart | pool.machines & bool(sample.question.asks_own))
        for sample, pool in zip(samples, pools, strict=True)
    ]
    return {
        "inputs": filled([scaled_inputs(pool.inputs, mean, deviation) for pool in pools]),
        "pairs": filled([pool.pairs for pool in pools], 2),
        "allowed": filled([pool.allowed for pool in pools], 2),
        "flags": torch.tensor(np.stack([pool.flags for pool in pools])),
        "off": filled(off),
        "there": filled([np.ones(len(sample.current)) for sample in samples]),
        "current": filled([sample.current for sample in samples]),
        "outdated": filled([sample.outdated & ~sample.current for sample in samples]),
        "alike": filled([sample.alike for sample in samples]),
        "weight": torch.tensor([sample.weight for sample in samples]),
    }


def _odds_of(
    parts: dict[str, torch.Tensor], batch: dict[str, torch.Tensor]
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """What the network makes of pools: standings and bearings (n, most), and by pair (n, most, most) whether the second
    took the place of the first, and whether both are of one matter; log odds, as `recall.order_network` has them.
    """
    import torch
    from torch.nn.functional import dropout, logsigmoid

    def layer(values: torch.Tensor, name: str) -> torch.Tensor:
        return values @ parts[name][:-1] + parts[name][-1]

    there, most = batch["there"], batch["there"].shape[1]
    flags = batch["flags"][:, None].expand(-1, most, -1)
    known = [batch["inputs"]]
    if "said_into" in parts:
        met = (batch["asked"] @ parts["asked_into"])[:, None] * (batch["said"] @ parts["said_into"])
        both = torch.cat((met, met.sum(-1, keepdim=True) / 2), -1)
        known.append(both.clamp(-float(FARTHEST), float(FARTHEST)))
    inputs = dropout(torch.cat((*known, flags), -1), DROPPED)
    hidden = dropout(layer(inputs, "hidden").relu(), DROPPED)
    bears = (hidden @ parts["bearing"])[..., 0] + layer(inputs, "direct")[..., 0] + batch["off"]
    before, behind = layer(hidden, "before"), layer(hidden, "behind")
    pairs = torch.cat(
        (
            batch["pairs"],
            before[:, :, None].expand(-1, -1, most, -1),
            behind[:, None].expand(-1, most, -1, -1),
            flags[:, None].expand(-1, most, -1, -1),
        ),
        -1,
    )
    verdicts = layer(dropout(layer(pairs, "pairs").relu(), DROPPED), "verdicts")
    replaced, same = verdicts[..., 0], verdicts[..., 1]
    likely = replaced.sigmoid() * float(NEVER_SURE) * batch["allowed"]
    taken = (bears[:, :, None] + logsigmoid(replaced)).masked_fill(batch["allowed"] == 0, _UNLIKELY).amax(1)
    standing = torch.maximum(bears, taken) + torch.log1p(-likely).amin(-1)
    none = there == 0
    return standing.masked_fill(none, _UNLIKELY), bears.masked_fill(none, _UNLIKELY), replaced, same


def _loss(parts: dict[str, torch.Tensor], batch: dict[str, torch.Tensor]) -> torch.Tensor:
    import torch
    from torch.nn.functional import binary_cross_entropy_with_logits, softplus

    def mean(values: torch.Tensor, counts: torch.Tensor) -> torch.Tensor:
        return (values * weight).sum() / (counts * weight).sum().clamp(min=1e-6)

    def first(scores: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
        some = (wanted.sum(1) > 0).float()
        best = scores.masked_fill(wanted == 0, _UNLIKELY).logsumexp(1)
        return mean((scores.logsumexp(1) - best) * some, some)

    def below(scores: torch.Tensor, high: torch.Tensor, low: torch.Tensor) -> torch.Tensor:
        best = scores.masked_fill(high == 0, _UNLIKELY).logsumexp(1, keepdim=True)
        low = low * (high.sum(1, keepdim=True) > 0)
        return mean((softplus(scores - best) * low).sum(1), (low.sum(1) > 0).float())

    standing, bears, replaced, same = _odds_of(parts, batch)
    there, weight = batch["there"], batch["weight"]
    current, outdated, alike = batch["current"], batch["outdated"], batch["alike"]
    of_it = current + outdated
    total = first(standing, current) + BEARING * first(bears, of_it)
    total = total + OLDER * below(standing, current, outdated) + ALIKE * below(standing, of_it, alike)
    each = binary_cross_entropy_with_logits(bears, of_it, reduction="none")
    each = each * there * (1 + 2 * alike) * torch.where(of_it > 0, 2.0, 0.3)
    total = total + EACH_BEARS * mean(each.sum(1), torch.ones(len(there)))
    untold = (of_it.sum(1) == 0).float()
    total = total + NOTHING_BEARS * mean(softplus(bears.logsumexp(1)) * untold, untold)
    both = of_it[:, :, None] * of_it[:, None]
    takes = outdated[:, :, None] * of_it[:, None]
    beside = of_it[:, :, None] * there[:, None]
    for odds, wanted, asked, counts in (
        (replaced, takes, beside * batch["allowed"], 1 + takes),
        (same, both, beside * (1 - torch.eye(there.shape[1])), 1 + 2 * both),
    ):
        wrong = binary_cross_entropy_with_logits(odds, wanted, reduction="none") * asked * counts
        total = total + PAIRS * mean(wrong.sum((1, 2)), asked.sum((1, 2)))
    return total
