"""Read a GGUF file of the Llama family without its engine: matrices, numbers and tokeniser, kept in safetensors.

Matrices are dequantised to float32, and the rows of W_q and W_k put back in the order that the model was trained in:
the format has the two halves of each head's rotation interleaved. That takes seconds, and is done once: what comes of
it lies in a file named by the digest of the GGUF, which later processes map.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import gguf
import numpy as np
import torch
from jinja2.exceptions import TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers
from torch import Tensor

from mnemic.errors import Invalid
from mnemic.neural.llama import BARE, Entries, Llama, LlamaShape

FORMAT: Final = "1"
"""Of converted files: raised when one is made otherwise."""

_NAMES: Final = {
    "token_embd": "model.embed_tokens",
    "output_norm": "model.norm",
    "output": "lm_head",
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
"""What the format calls a matrix -> what Hugging Face's files call it."""

_GPT2_WORDS: Final = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_DIGIT: Final = r"\p{N}"
_CUTS: Final = {"gpt-2": (_GPT2_WORDS,), "smollm": (_DIGIT, _GPT2_WORDS)}
"""Where texts are cut before pairs are merged, by the name of the way that the file gives."""
_CONTROL, _USER_DEFINED = 3, 4
"""Types of tokens that text is searched for."""
_TOKENIZER: Final = "tokenizer.json"
"""The tokeniser's JSON, among the matrices as bytes: so one file holds all, and is written in one step."""


class TextModel:
    """A decoder, its tokeniser and its chat template."""

    def __init__(self, decoder: Llama, tokenizer: Tokenizer, template: str, end: int) -> None:
        self.decoder, self.end = decoder, end
        self._tokenizer, self._template = tokenizer, template
        self.tokenizer_digest = hashlib.sha256(tokenizer.to_str().encode() + template.encode()).hexdigest()

    def ids(self, text: str) -> list[int]:
        """The tokens of a text, control tokens that it names among them, as the engine cuts a prompt."""
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    def text(self, ids: list[int]) -> str:
        """What tokens say, control tokens included."""
        text: str = self._tokenizer.decode(ids, skip_special_tokens=False)
        return text

    def prompt(self, *messages: tuple[str, str]) -> list[int]:
        """The tokens of (role, content) messages up to where the assistant is to speak, by the file's template.

        Raises:
            Invalid: the template refuses it.
        """
        rows = [{"role": role, "content": content} for role, content in messages]
        try:
            shown = _compiled(self._template).render(messages=rows, add_generation_prompt=True)
        except TemplateError as error:
            raise Invalid("messages", f"the model's template refuses them: {error}", "Ask another model.") from error
        return self.ids(shown)

    def answers(self, questions: Sequence[str], entries: Entries = BARE, limit: int = 16, told: str = "") -> list[str]:
        """What it says to each question of a user, the likeliest word each time.

        Args:
            told: What the system's message says beforehand.
        """
        before = [("system", told)] if told else []
        prompts = [self.prompt(*before, ("user", question)) for question in questions]
        return [self.answer(ids) for ids in self.decoder.generate(prompts, limit, frozenset({self.end}), entries)]

    def logits_of(self, ids: Sequence[int], entries: Entries = BARE) -> Tensor:
        """Logits (T, V) of tokens."""
        with torch.inference_mode():
            return self.decoder.logits(self.batch(ids), entries)[0]

    def batch(self, ids: Sequence[int]) -> Tensor:
        """Tokens as a batch of one row."""
        return torch.tensor([list(ids)], dtype=torch.int64)

    def next_token(self, ids: Sequence[int], entries: Entries = BARE) -> int:
        """The likeliest token behind some, with no more computed than that takes."""
        return self.decoder.generate([ids], 1, entries=entries)[0][0]

    def perplexity(self, text: str, entries: Entries = BARE) -> float:
        """e to the mean loss of a text's tokens behind the first."""
        ids = torch.tensor([self.ids(text)])
        with torch.inference_mode():
            logits = self.decoder.logits(ids, entries)[0, :-1]
        return float(torch.nn.functional.cross_entropy(logits, ids[0, 1:]).exp())

    def answer(self, ids: list[int]) -> str:
        """What generated tokens say, as a person reads it."""
        text: str = self._tokenizer.decode([token for token in ids if token != self.end], skip_special_tokens=True)
        return text.strip()


@lru_cache(maxsize=8)
def _compiled(template: str) -> Any:
    """Compile a chat template once: compiling takes as long as a small model's pass over a prompt."""
    return ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True).from_string(template)


def open_gguf(path: Path, cache: Path | None = None) -> TextModel:
    """Open a GGUF file as a decoder; converted once, if there is a folder to keep that in.

    Raises:
        Invalid: there is no such file, it is none of the format, or none of the family.
    """
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise Invalid(
            "model", f"{path} cannot be read ({error.strerror})", "Name a GGUF file that is there."
        ) from error
    if cache is None:
        return _model(*_converted(path), digest)
    kept = cache / f"llama-{digest[:32]}-f32.safetensors"
    if (found := _kept(kept, digest)) is None:
        weights, about = _converted(path)
        _keep(kept, weights, about | {"source": digest, "format": FORMAT})
        found = _kept(kept, digest) or (weights, about)
    return _model(*found, digest)


@contextmanager
def single_threaded() -> Iterator[None]:
    """Have torch make sums with one thread, and so in one order, while it is entered."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def _model(weights: dict[str, Tensor], about: dict[str, str], digest: str) -> TextModel:
    tokenizer = Tokenizer.from_str(weights.pop(_TOKENIZER).numpy().tobytes().decode())
    shape = LlamaShape(**json.loads(about["shape"]))
    return TextModel(Llama(shape, weights, digest), tokenizer, about["template"], int(about["end"]))


def _kept(path: Path, digest: str) -> tuple[dict[str, Tensor], dict[str, str]] | None:
    """Map a converted file; None where there is none, it is none of ours, or somebody else could have written it."""
    with suppress(OSError, SafetensorError, ValueError, KeyError):
        status = path.stat()
        if hasattr(os, "getuid") and (status.st_uid != os.getuid() or status.st_mode & 0o022):
            return None
        with safe_open(path, framework="pt") as file:
            about = dict(file.metadata() or {})
            if about["source"] == digest and about["format"] == FORMAT:
                return {name: file.get_tensor(name) for name in file.keys()}, about  # noqa: SIM118 - no mapping
    return None


def _keep(path: Path, weights: dict[str, Tensor], about: dict[str, str]) -> None:
    """Write a converted file in one step; a disk that is full keeps none, and the next process converts again."""
    with suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".llama-", dir=path.parent) as folder:
            made = Path(folder) / path.name
            with suppress(SafetensorError):
                save_file(weights, made, metadata=about)
                made.chmod(0o600)
                with made.open("rb") as file:
                    os.fsync(file.fileno())
                os.replace(made, path)


def _converted(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    try:
        reader = gguf.GGUFReader(path)
    except (ValueError, OSError, IndexError, KeyError, OverflowError) as error:
        raise Invalid("model", f"{path.name} is no GGUF file ({error})", "Name a whole one.") from error
    said = {name: part.contents() for name, part in reader.fields.items()}
    if said.get("general.architecture") != "llama":
        family = said.get("general.architecture")
        raise Invalid("model", f"{path.name} is of the family {family!r}", "The decoder reads the family llama.")
    shape = _shape(said)
    weights = {}
    for tensor in reader.tensors:
        matrix = gguf.quants.dequantize(tensor.data, tensor.tensor_type).astype(np.float32)
        short = tensor.name.removesuffix(".weight").split(".")[-1]
        if short not in _NAMES:
            raise Invalid("model", f"{path.name} has a matrix {tensor.name!r}", "The decoder has no place for it.")
        if short in ("attn_q", "attn_k"):
            matrix = in_order(matrix, shape.heads if short == "attn_q" else shape.kv_heads)
        weights[matrix_name(tensor.name)] = torch.from_numpy(np.ascontiguousarray(matrix))
    tokenizer = _tokenizer(said).to_str().encode()
    weights[_TOKENIZER] = torch.frombuffer(bytearray(tokenizer), dtype=torch.uint8)
    about = {
        "shape": json.dumps(asdict(shape)),
        "template": str(said.get("tokenizer.chat_template", "")),
        "end": str(said["tokenizer.ggml.eos_token_id"]),
    }
    return weights, about


def matrix_name(name: str) -> str:
    """What Hugging Face's files call a matrix of the format: blk.3.attn_q.weight -> model.layers.3.self_attn.q_proj."""
    *_, short, weight = name.split(".")
    long = _NAMES[short]
    return f"model.layers.{name.split('.')[1]}.{long}.{weight}" if name.startswith("blk.") else f"{long}.{weight}"


def gguf_name(name: str) -> str:
    """What the format calls a matrix: `matrix_name` the other way."""
    back = {long: short for short, long in _NAMES.items()}
    stem = name.removesuffix(".weight")
    if stem.startswith("model.layers."):
        _, _, layer, long = stem.split(".", 3)
        return f"blk.{layer}.{back[long]}.weight"
    return f"{back[stem]}.weight"


def in_order(matrix: Any, heads: int) -> Any:
    """Rows of W_q or W_k (H·d, D) from the format's order, halves of a head interleaved, to the model's."""
    return matrix.reshape(heads, -1, 2, matrix.shape[1]).swapaxes(1, 2).reshape(matrix.shape)


def interleaved(matrix: Any, heads: int) -> Any:
    """Rows of W_q or W_k (H·d, D) from the model's order to the format's: `in_order` the other way."""
    return matrix.reshape(heads, 2, -1, matrix.shape[1]).swapaxes(1, 2).reshape(matrix.shape)


def _shape(said: dict[str, Any]) -> LlamaShape:
    def number(name: str) -> int:
        return int(said[f"llama.{name}"])

    heads = number("attention.head_count")
    return LlamaShape(
        layers=number("block_count"),
        width=number("embedding_length"),
        heads=heads,
        kv_heads=int(said.get("llama.attention.head_count_kv", heads)),
        head_width=int(said.get("llama.rope.dimension_count", number("embedding_length") // heads)),
        hidden=number("feed_forward_length"),
        vocabulary=len(said["tokenizer.ggml.tokens"]),
        context=number("context_length"),
        rope_base=float(said.get("llama.rope.freq_base", 10_000.0)),
        epsilon=float(said["llama.attention.layer_norm_rms_epsilon"]),
    )


def _tokenizer(said: dict[str, Any]) -> Tokenizer:
    """The file's byte-pair encoder."""
    way = said.get("tokenizer.ggml.pre", "gpt-2")
    if said.get("tokenizer.ggml.model") != "gpt2" or way not in _CUTS:
        raise Invalid("model", f"its tokeniser {way!r} is not known", f"Known are {', '.join(_CUTS)}.")
    tokens, types = said["tokenizer.ggml.tokens"], said["tokenizer.ggml.token_type"]
    merges = [tuple(merge.split(" ", 1)) for merge in said["tokenizer.ggml.merges"]]
    tokenizer = Tokenizer(models.BPE(vocab={token: n for n, token in enumerate(tokens)}, merges=merges))
    cuts = [pre_tokenizers.Split(Regex(cut), "isolated") for cut in _CUTS[way]]
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [*cuts, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    found = [token for token, kind in zip(tokens, types, strict=True) if kind in (_CONTROL, _USER_DEFINED)]
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in found])
    return tokenizer
