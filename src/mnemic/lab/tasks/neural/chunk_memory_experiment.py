"""Chunk memory on the smallest real model, untrained: a document's tail, with a bank of what has left the window."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Final

import torch
from torch.nn import functional as F  # noqa: N812 - what everybody calls it

from mnemic.lab.kit.figures import Figure
from mnemic.lab.tasks.neural.experiment import CurvePoint, ExperimentPlan
from mnemic.neural.base import state_bytes
from mnemic.neural.chunk_memory import ChunkMemory, ChunkSettings
from mnemic.neural.llama import BARE, Entries

if TYPE_CHECKING:
    from mnemic.neural.base import State
    from mnemic.neural.gguf_weights import TextModel

_MODULES: Final = ("configparser", "argparse", "tarfile", "zipfile", "optparse", "shutil", "subprocess", "tempfile")
"""Documents that every Python has, and in which names come again."""


def measure(plan: ExperimentPlan) -> Iterator[Figure | CurvePoint]:
    """Read tails with the window alone, with the bank, with chunks drawn from it, and with all of the document."""
    model, order = plan.open_model(), Random(plan.seed)  # noqa: S311 - data, not a secret
    settings = ChunkSettings(chunk=32, window=128, retrieved=2) if plan.quick else ChunkSettings()
    memory, tails = ChunkMemory(model, settings), 2 if plan.quick else 4
    behind = 6 if plan.quick else 16
    losses: dict[str, list[float]] = {"window": [], "bank": [], "drawn": [], "all": []}
    same = True
    for name in order.sample(_MODULES, 1 if plan.quick else 2):
        plan.progress(name)
        start = settings.window + behind * settings.chunk
        ids = _document(model, name, start + tails * settings.chunk)
        losses["all"].append(_loss(model, ids[:start], ids[start:], BARE))
        state = memory.write(ids[: settings.window], memory.empty())
        piece = ids[settings.window : settings.window + settings.chunk]
        bare = model.decoder.logits(torch.cat((state["recent"], piece))[None])[0, settings.window :]
        same = same and torch.equal(memory.read(piece[None], state)[0], bare)
        for tail in range(tails):
            at = start + tail * settings.chunk
            piece = ids[at : at + settings.chunk]
            state = memory.write(ids[len(state["recent"]) + len(state["counted"]) * settings.chunk : at], state)
            drawn = order.sample(range(len(state["counted"])), settings.retrieved)
            for way, numbers in (("window", []), ("bank", memory.near(state)), ("drawn", drawn)):
                losses[way].append(_loss(model, state["recent"], piece, memory.attach(state, numbers)))
        stored = _bank_bytes(state)
    window, bank, chance, whole = (sum(of) / len(of) for of in losses.values())
    yield Figure(name="nothing behind the window: logits equal the bare model's, to the bit", value=float(same),
                 unit="", bar=1, more=True)  # fmt: skip
    yield Figure(name="loss of the tail, window alone", value=window, unit="nats a token")
    yield Figure(name="loss of the tail, the whole document before it", value=whole, unit="nats a token")
    yield Figure(name="what the whole document saves", value=window - whole, unit="nats a token", bar=0, more=True)
    yield Figure(name="loss of the tail, with the bank", value=bank, unit="nats a token")
    yield Figure(name="control: loss of the tail, chunks drawn from the bank", value=chance, unit="nats a token")
    yield Figure(name="of the gap between window and whole document, the bank closes",
                 value=(window - bank) / (window - whole), unit="")  # fmt: skip
    yield Figure(name="of the gap, chunks that are drawn close", value=(window - chance) / (window - whole), unit="")
    yield Figure(name="bytes of a chunk in the bank", value=stored / 1e3, unit="kB")


def _document(model: TextModel, name: str, count: int) -> torch.Tensor:
    found = importlib.util.find_spec(name)
    assert found is not None, "a module of the standard library"
    assert found.origin is not None, "it is one file"
    text = Path(found.origin).read_text(encoding="utf-8")[: count * 12]
    return torch.tensor(model.ids(text)[:count])


def _loss(model: TextModel, before: Sequence[int] | torch.Tensor, piece: torch.Tensor, entries: Entries) -> float:
    """Mean loss of a piece's tokens behind what is read before it."""
    ids = torch.cat((torch.as_tensor(before), piece))
    with torch.inference_mode():
        h, _ = model.decoder.run(model.decoder.embed(ids[None]), entries)
        logits = model.decoder.head(h[0, -len(piece) - 1 : -1])
    return float(F.cross_entropy(logits, piece))


def _bank_bytes(state: State) -> float:
    """Bytes of the bank, by chunk."""
    return state_bytes({name: tensor for name, tensor in state.items() if name != "recent"}) / len(state["counted"])
