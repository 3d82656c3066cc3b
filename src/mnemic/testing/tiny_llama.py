"""Write a Llama of a few thousand random numbers as a GGUF file, whole in form, for tests of what reads it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import gguf
import numpy as np
from gguf.quants import quantize
from numpy.typing import NDArray

LAYERS, WIDTH, HEADS, KV_HEADS, HIDDEN, CONTEXT = 3, 64, 4, 2, 96, 512
"""Its shape: blocks of 32 numbers, which matrices are quantised by, go into every row."""

TEMPLATE: Final = (
    "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n'}}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
_CONTROL: Final = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
_MERGED: Final = ("th", "he", "in", "er", "an", "re", "on", "at", "Ġt", "Ġa", "Ġth", "the")
"""Tokens that pairs are merged to; `Ġ` is how the format writes a space."""


def write_tiny_llama(path: Path, seed: int = 0) -> Path:
    """Write the file, the same bytes for the same seed; return its path."""
    draw = np.random.default_rng(seed)
    writer = gguf.GGUFWriter(path, "llama")
    _write_numbers(writer)
    _write_tokenizer(writer)
    head = WIDTH // HEADS
    rows = {"attn_q": WIDTH, "attn_k": KV_HEADS * head, "attn_v": KV_HEADS * head, "attn_output": WIDTH}
    rows |= {"ffn_gate": HIDDEN, "ffn_up": HIDDEN, "ffn_down": WIDTH}

    def matrix(name: str, out: int, into: int, kind: gguf.GGMLQuantizationType) -> None:
        values = (draw.standard_normal((out, into)) * (0.8 / into**0.5)).astype(np.float32)
        writer.add_tensor(name, quantize(values, kind), raw_dtype=kind)

    def norm(name: str) -> None:
        values: NDArray[np.float32] = (1 + 0.1 * draw.standard_normal(WIDTH)).astype(np.float32)
        writer.add_tensor(name, values)

    matrix("token_embd.weight", len(_vocabulary()), WIDTH, gguf.GGMLQuantizationType.Q8_0)
    for layer in range(LAYERS):
        for short, out in rows.items():
            into = HIDDEN if short == "ffn_down" else WIDTH
            matrix(f"blk.{layer}.{short}.weight", out, into, gguf.GGMLQuantizationType.Q4_1)
        norm(f"blk.{layer}.attn_norm.weight")
        norm(f"blk.{layer}.ffn_norm.weight")
    norm("output_norm.weight")
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _write_numbers(writer: gguf.GGUFWriter) -> None:
    writer.add_block_count(LAYERS)
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_feed_forward_length(HIDDEN)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_rope_freq_base(10_000.0)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(len(_vocabulary()))


def _write_tokenizer(writer: gguf.GGUFWriter) -> None:
    tokens = _vocabulary()
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(tokens)
    writer.add_token_types([3 if token in _CONTROL else 1 for token in tokens])
    known = set(tokens)
    splits = [next((m[:n], m[n:]) for n in range(1, len(m)) if {m[:n], m[n:]} <= known) for m in _MERGED]
    writer.add_token_merges([" ".join(split) for split in splits])
    writer.add_eos_token_id(tokens.index("<|im_end|>"))
    writer.add_bos_token_id(tokens.index("<|im_start|>"))
    writer.add_add_bos_token(False)
    writer.add_chat_template(TEMPLATE)


def _vocabulary() -> list[str]:
    """Control tokens, every byte as the format writes it, and what pairs are merged to."""
    shown = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    hidden = [byte for byte in range(256) if byte not in shown]
    letters = [chr(byte) for byte in shown] + [chr(256 + n) for n in range(len(hidden))]
    return [*_CONTROL, *letters, *_MERGED]
