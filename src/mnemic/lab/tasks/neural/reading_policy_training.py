"""The overwriting policy in words: it learns on made-up texts with needles what six slots hold, and texts are read so.

It learns from nothing but which share of the needles its slots hold behind four segments, by the loss of
`overwrite_rl`; tested on other texts and sixteen segments, as `me.read` runs it, with notes of 128 tokens for whoever
chooses. Controls: the newest sentences, chance, the policy before it has learnt, and the rules that read without a
model. It is told nothing of the needles' form but what a card has of any sentence.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final

import torch
from torch import Tensor

from mnemic.flow import Request, run
from mnemic.lab.kit.figures import Figure
from mnemic.lab.tasks.needles_bench import CASES, NeedleCase, text_of
from mnemic.lab.tasks.neural.experiment import ExperimentPlan
from mnemic.models.model_requests import NameModel
from mnemic.neural.overwrite_rl import PolicySettings, dapo_loss
from mnemic.neural.reading_policy import ReadingPolicy, ReadingWeights, described, drawn, pointer, scored
from mnemic.strategies.knowledge import NotesPolicy, SentenceCard, WordCounts
from mnemic.strategies.memagent import ReaderState, TextStretch, folded, pieces_of, segments_of
from mnemic.strategies.rules.overwritten_notes import counted_words, sentences_of, weights_of
from mnemic.strategies.rules.policy_notes import sentence_card

SLOTS: Final = 6
SEGMENT: Final = 512
"""Tokens."""
NOTES: Final = 128
_TRAINED: Final = 4
_KINDS: Final = ("single", "multi-key", "multi-value", "variables")
_ROLLOUTS: Final = 16


@dataclass(frozen=True, slots=True)
class NeedleEpisode:
    """A text's cards, segment by segment: keys and values (C, d), and which are needles (C,)."""

    segments: tuple[tuple[Tensor, Tensor, Tensor], ...]


class _Newest:
    """Keeps what was read last."""

    name = "newest"

    def chosen(self, held: Sequence[SentenceCard], read: Sequence[SentenceCard]) -> list[int]:
        return list(range(len(held) + len(read)))[::-1][:SLOTS]


class _Chance:
    """Keeps any."""

    name = "chance"

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)  # noqa: S311 - an experiment

    def chosen(self, held: Sequence[SentenceCard], read: Sequence[SentenceCard]) -> list[int]:
        return self._chance.sample(range(len(held) + len(read)), min(SLOTS, len(held) + len(read)))


def in_words(plan: ExperimentPlan) -> Iterator[Figure]:
    """Learn, and read texts four times as long."""
    steps, texts, segments = (4, 1, 6) if plan.quick else (60, 6, 16)
    plan.progress(f"in words: {steps} steps")
    weights = learned(plan.seed, steps)
    whos: dict[str, NotesPolicy | None] = {
        "policy": ReadingPolicy(SLOTS, weights),
        "policy that has not learnt": ReadingPolicy(SLOTS, ReadingWeights()),
        "newest": _Newest(),
        "chance": _Chance(plan.seed),
        "rules": None,
    }
    chances = [(kind, random.Random(f"{kind}/{plan.seed}/{n}")) for kind in _KINDS for n in range(texts)]  # noqa: S311
    cases = [CASES[kind](chance) for kind, chance in chances]
    kept = {who: [_kept(case, segments, plan.seed, policy) for case in cases] for who, policy in whos.items()}
    for who, shares in kept.items():
        bar, more = {"policy": (0.5 if plan.quick else 0.9, True), "newest": (0.3, False), "chance": (0.3, False)}.get(
            who, (None, False)
        )
        yield Figure(
            name=f"{who}: needles kept of {segments} segments, in words", value=fmean(shares), unit="", bar=bar,
            more=more,
        )  # fmt: skip
    for kind in _KINDS if not plan.quick else ():
        for who in ("policy", "rules"):
            of = [share for share, case in zip(kept[who], cases, strict=True) if case.kind == kind]
            yield Figure(name=f"{who}: {kind}, in words", value=fmean(of), unit="")


def learned(seed: int, steps: int) -> ReadingWeights:
    """The weights after so many steps, each on a text of every kind."""
    draw, chance = torch.Generator().manual_seed(seed), random.Random(f"train/{seed}")  # noqa: S311
    numbers = torch.zeros(4, requires_grad=True)
    optimizer = torch.optim.Adam([numbers], lr=0.3)
    for step in range(steps):
        optimizer.zero_grad()
        for kind in _KINDS:
            episode = _episode(CASES[kind](chance), 1_000 * seed + step)
            (taught_by(numbers, episode, draw) / len(_KINDS)).backward()
        optimizer.step()
    told = [round(number, 3) for number in numbers.tolist()]
    return ReadingWeights((told[0], told[1]), told[2], told[3])


def taught_by(numbers: Tensor, episode: NeedleEpisode, draw: torch.Generator) -> Tensor:
    """The loss of one text's rollouts, drawn by the policy that these numbers come to."""
    logs, said, rewards = rolled_out(numbers, episode, draw)
    return dapo_loss(logs, logs.detach(), rewards, said, PolicySettings(slots=SLOTS))


def rolled_out(numbers: Tensor, episode: NeedleEpisode, draw: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
    """log π of what rollouts did (1, G, K, M), which slots had something to take (1, G, K, M), and the share of needles
    that each rollout holds in the end (1, G)."""
    policy, rows = pointer(numbers, SLOTS), torch.arange(_ROLLOUTS)[:, None]
    state = policy.start(torch.eye(policy.settings.width)[:1].expand(_ROLLOUTS, -1))
    needle, logs = torch.zeros(_ROLLOUTS, SLOTS, dtype=torch.bool), []
    said = list[Tensor]()
    for keys, values, needles in episode.segments:
        places, log = drawn(scored(policy, keys.expand(_ROLLOUTS, -1, -1), state), SLOTS, draw)
        logs.append(log)
        every = {
            "keys": torch.cat((state["keys"], keys.expand(_ROLLOUTS, -1, -1)), 1),
            "values": torch.cat((state["values"], values.expand(_ROLLOUTS, -1, -1)), 1),
            "held": torch.cat((state["held"], torch.ones(_ROLLOUTS, len(keys), dtype=torch.bool)), 1),
        }
        needle = torch.cat((needle, needles.expand(_ROLLOUTS, -1)), 1)[rows, places]
        state = {"question": state["question"], **{part: tensor[rows, places] for part, tensor in every.items()}}
        said.append(state["held"])
    count = sum(int(needles.sum()) for _, _, needles in episode.segments)
    return torch.stack(logs, 1)[None], torch.stack(said, 1)[None], (needle.sum(1) / max(1, count))[None]


def _episode(case: NeedleCase, seed: int) -> NeedleEpisode:
    counts, made = WordCounts(), []
    for number, segment in enumerate(segments_of(pieces_of(_streamed(case, _TRAINED, seed)), SEGMENT)):
        lines = tuple(piece.line for piece in segment.pieces)
        counts = counted_words(case.question, lines, counts)
        weights, notes = weights_of(case.question, counts), list(sentences_of(lines, number))
        cards = [sentence_card(note.text, case.question, weights) for note in notes]
        needles = torch.tensor([note.text in case.needles for note in notes])
        made.append((*described(cards), needles))
    return NeedleEpisode(tuple(made))


def _kept(case: NeedleCase, segments: int, seed: int, policy: NotesPolicy | None) -> float:
    """Share of a case's needles that the notes cite in the end."""
    state = ReaderState()
    for segment in segments_of(pieces_of(_streamed(case, segments, seed + 500_009)), SEGMENT):
        state = run(folded(case.question, state, segment, NOTES, policy), _without_model)
    held = {cited.piece.text for cited in state.cited.values()}
    return sum(needle in held for needle in case.needles) / len(case.needles)


def _streamed(case: NeedleCase, segments: int, seed: int) -> Iterator[TextStretch]:
    start = 0
    for sentence in text_of(case, segments * SEGMENT, seed):
        yield TextStretch(sentence, "text", start=start, ends=False)
        start += len(sentence)
    yield TextStretch("", "text", start=start)


def _without_model(request: Request) -> str | None:
    return "" if isinstance(request, NameModel) else None
