"""What every memory inside a model has in common: a state apart from the weights, written and read, kept in one file.

Weights are shipped: they are the model's, or a mechanism's own, and no write changes them. A state is what one user,
one session or one agent has lived through. It is a flat dict of tensors that nobody changes in place: `write` returns a
new one, so an earlier state is a snapshot, and two that came of it are branches.

A state leaves the process as safetensors, whose header says whose it is, and vouches for every byte. Nothing is
unpickled.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias, TypeVar

import safetensors.torch
import torch
from safetensors import SafetensorError
from torch import Tensor

from mnemic.errors import DamagedState, ForeignState, Invalid

FORMAT: Final = "1"
"""Of files of states."""

HEADER_LIMIT: Final = 4 << 20
"""Most bytes of a file's header."""

State: TypeAlias = dict[str, Tensor]
"""What has been written, by name: contiguous tensors that ask for no gradient. Nobody changes one in place."""

W = TypeVar("W", contravariant=True)


class Family(StrEnum):
    """Where a memory lies: in keys and values, in adapters beside matrices, or in a layer of its own."""

    CACHE = "cache"
    PARAMETER = "parameter"
    SEQUENCE = "sequence"


@dataclass(frozen=True, slots=True)
class Identity:
    """Whose a state is: it is refused by every module of which one of these differs.

    Attributes:
        mechanism: The module's name in the registry.
        model: Digest of the weights that it works in.
        tokenizer: Digest of the tokeniser and the chat template; empty where no text is read.
        settings: Digest of the module's own settings; see `settings_digest`.
    """

    mechanism: str
    model: str
    tokenizer: str
    settings: str


class MemoryModule(Protocol[W]):
    """A memory inside a model. What is written and asked depends on its family:

    cache       writes token ids (T,); is asked token ids (B, T) that follow them; logits (B, T, V).
    parameter   writes all facts that are to be known; is asked token ids (B, T); logits (B, T, V).
    sequence    writes hidden states (B, T, D); is asked hidden states (B, T, D); hidden states (B, T, D).

    One that can drop what came of some sources, and keep the rest, has `forget(sources, state)` too, which returns the
    state without whatever any of them has a part in.
    """

    @property
    def family(self) -> Family:
        """Where it lies."""
        ...

    @property
    def bounded(self) -> bool:
        """Whether a state stays as large as it is, however much is written; not one that grows up to a capacity."""
        ...

    @property
    def identity(self) -> Identity:
        """Whose its states are."""
        ...

    @property
    def weights(self) -> Mapping[str, Tensor]:
        """What is shipped: no write changes it."""
        ...

    def empty(self) -> State:
        """The state of who has lived through nothing; read, it is the bare model, or zeros."""
        ...

    def write(self, given: W, state: State) -> State:
        """Return the state after a write; `state` stands as it was.

        The same write to the same state gives the same bits, whatever the process drew before.
        """
        ...

    def read(self, asked: Tensor, state: State) -> Tensor:
        """What the model makes of `asked` with this memory; position t is not changed by what is asked behind it."""
        ...


def settings_digest(settings: Any) -> str:
    """Digest of a frozen dataclass of settings, by its fields' names and values."""
    return hashlib.sha256(json.dumps(asdict(settings), sort_keys=True, default=str).encode()).hexdigest()


def own_identity(mechanism: str, weights: Mapping[str, Tensor], settings: Any) -> Identity:
    """Whose the states of a mechanism are that works in weights of its own and reads no text."""
    digest = state_digest({name: weight.detach() for name, weight in weights.items()})
    return Identity(mechanism, digest, "", settings_digest(settings))


def check_sizes(settings: Any, *names: str) -> None:
    """Refuse settings of which one of these is less than one.

    Raises:
        Invalid: one is.
    """
    for name in names:
        if getattr(settings, name) < 1:
            raise Invalid(name, f"{getattr(settings, name)} is less than one", "Give 1 or more.")


def check_hidden(given: Tensor, name: str, width: int, like: Tensor, rows: int) -> None:
    """Refuse what a memory of hidden states cannot take.

    Args:
        name: Of the argument.
        like: A weight, whose type it must have.
        rows: Of the state.

    Raises:
        Invalid: it is not of shape (rows, time, width), of another type, or not all numbers.
    """
    if given.ndim != 3 or given.shape[2] != width or given.dtype != like.dtype:
        raise Invalid(
            name,
            f"of shape {tuple(given.shape)} and {given.dtype} are no hidden states of this memory",
            f"Give (rows, time, {width}) in {like.dtype}.",
        )
    if len(given) != rows:
        raise Invalid(name, f"have {len(given)} rows, and the state {rows}", "Give as many of each.")
    if not torch.isfinite(given).all():
        raise Invalid(name, "are not all numbers", "Look for what made NaN or infinity; nothing was written.")


def rows_of(state: State, form: Mapping[str, tuple[int, ...]]) -> int:
    """How many rows a state has whose parts have these shapes, a row each.

    Raises:
        DamagedState: it has other parts, other shapes, or not as many rows in each.
    """
    if form_of(state) != form:
        raise DamagedState("the state is of another form than this memory's. Make it again from the text.")
    if len(rows := {len(tensor) for tensor in state.values()}) > 1:
        raise DamagedState("the parts of the state have not as many rows each. Make it again from the text.")
    return rows.pop()


def form_of(state: State) -> dict[str, tuple[int, ...]]:
    """The shape of each part of a state, without its rows."""
    return {part: tuple(tensor.shape[1:]) for part, tensor in state.items()}


def check_real(real: Tensor, h: Tensor) -> None:
    """Refuse what does not say of each hidden state (B, T, D) whether it is one.

    Raises:
        Invalid: it is of another shape, or no bool.
    """
    if real.shape != h.shape[:2] or real.dtype != torch.bool:
        raise Invalid("real", f"is of shape {tuple(real.shape)} and {real.dtype}", "Give a bool for each token.")


def at_front(h: Tensor, real: Tensor | None) -> tuple[Tensor, Tensor]:
    """Hidden states (B, T, D) with each row's own at its beginning, in order, and how many these are (B,).

    Raises:
        Invalid: as `check_real`.
    """
    if real is None:
        return h, torch.full((len(h),), h.shape[1])
    check_real(real, h)
    order = (~real).to(torch.int64).argsort(stable=True, dim=1)
    return h.gather(1, order[..., None].expand_as(h)), real.sum(1)


def state_bytes(state: State) -> int:
    """Bytes of a state's tensors."""
    return sum(tensor.nbytes for tensor in state.values())


def state_digest(state: State, about: Mapping[str, str] | None = None) -> str:
    """SHA-256 over names, types, shapes and bytes of a state's tensors, and over what is said about it."""
    digest = hashlib.sha256(json.dumps(dict(about or {}), sort_keys=True).encode())
    for name in sorted(state):
        tensor = state[name].contiguous()
        digest.update(f"\n{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        digest.update(tensor.reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()


def source_digests(sources: Iterable[str]) -> Tensor:
    """Digests of sources (n, 32), in order: a state names them to who asks by name, and tells them to nobody else."""
    digests = sorted({hashlib.sha256(source.encode()).digest() for source in sources})
    return torch.tensor([list(digest) for digest in digests], dtype=torch.uint8).view(-1, 32)


def cited(rows: Tensor, sources: Iterable[str]) -> bool:
    """Whether any of these sources is among digests (n, 32) that a state holds."""
    return bool((rows[:, None] == source_digests(sources)[None]).all(2).any())


def packed(state: State, identity: Identity, about: Mapping[str, str] | None = None) -> bytes:
    """Write a state as the bytes of a file.

    Args:
        about: What else its header says: sources, when it was made.
    """
    said = {**(about or {}), **asdict(identity), "format": FORMAT}
    tensors = {name: tensor.contiguous() for name, tensor in state.items()}
    raw: bytes = safetensors.torch.save(tensors, metadata={**said, "sha256": state_digest(tensors, said)})
    return raw


def unpacked(raw: bytes, identity: Identity) -> tuple[State, dict[str, str]]:
    """Read a state from the bytes of a file, and what its header says about it.

    Raises:
        DamagedState: these are not the bytes that were written.
        ForeignState: it is whole, and of another model, tokeniser, mechanism, settings or format.
    """
    said = _said(raw)
    try:
        state = safetensors.torch.load(raw)
    except (SafetensorError, ValueError, KeyError, RuntimeError) as error:
        raise DamagedState(f"the state cannot be read: {error}. Make it again from the text.") from error
    if said.pop("sha256", None) != state_digest(state, said):
        raise DamagedState("the state is not the bytes that were written. Make it again from the text.")
    wanted = {**asdict(identity), "format": FORMAT}
    if differing := [name for name, value in wanted.items() if said.get(name) != value]:
        raise ForeignState(f"the state is of another {' and another '.join(differing)}. Make it again from the text.")
    return state, {name: value for name, value in said.items() if name not in wanted}


def save(path: Path, state: State, identity: Identity, about: Mapping[str, str] | None = None) -> None:
    """Write a state to a file, readable by its owner alone, in one step: the name holds this state or the earlier one.

    Raises:
        OSError: it cannot be written; nothing is left behind.
    """
    raw = packed(state, identity, about)
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)  # 0600
    try:
        with open(descriptor, "wb") as file:
            file.write(raw)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise


def load(path: Path, identity: Identity) -> tuple[State, dict[str, str]]:
    """Read a state from a file; as `unpacked`.

    Raises:
        DamagedState, ForeignState: as `unpacked`.
        OSError: there is no such file.
    """
    return unpacked(path.read_bytes(), identity)


def _said(raw: bytes) -> dict[str, str]:
    """What a header says, read with nothing allocated for what it claims."""
    length = int.from_bytes(raw[:8], "little")
    if len(raw) < 8 or length > min(HEADER_LIMIT, len(raw) - 8):
        raise DamagedState("the state is cut short, or its header is. Make it again from the text.")
    try:
        said = json.loads(raw[8 : 8 + length])["__metadata__"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise DamagedState("the state has no header that can be read. Make it again from the text.") from error
    if not isinstance(said, dict) or not all(isinstance(value, str) for value in said.values()):
        raise DamagedState("the state's header says no words. Make it again from the text.")
    return said
