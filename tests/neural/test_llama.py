"""The decoder against oracles and against itself; its file, converted once, and files that are none."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="needs torch: pip install torch==2.13.0")

from mnemic.errors import Invalid, TooLarge  # noqa: E402
from mnemic.lab.tasks.neural.decoder_experiment import strings  # noqa: E402
from mnemic.neural import gguf_weights  # noqa: E402
from mnemic.neural.gguf_weights import gguf_name, in_order, interleaved, matrix_name, open_gguf  # noqa: E402
from mnemic.neural.llama import Entries, LowRank, attend  # noqa: E402
from mnemic.testing.tiny_llama import LAYERS, write_tiny_llama  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture(autouse=True)
def no_gradients() -> Any:
    with torch.no_grad():
        yield


def ids(tiny: Any, *texts: str) -> Any:
    return torch.tensor([tiny.ids(text) for text in texts])


def test_logits_are_those_of_transformers(tiny: Any, tiny_gguf: Path) -> None:
    pytest.importorskip("accelerate", reason="the oracle needs transformers and accelerate")
    transformers = pytest.importorskip("transformers", reason="the oracle needs transformers and accelerate")
    oracle = transformers.AutoModelForCausalLM.from_pretrained(str(tiny_gguf.parent), gguf_file=tiny_gguf.name)
    asked = ids(tiny, "The hare sleeps in the barn, and rain falls on the roof.")
    theirs, ours = oracle(asked).logits, tiny.decoder.logits(asked)
    assert (theirs - ours).abs().max() <= 1e-3
    assert torch.equal(theirs.argmax(-1), ours.argmax(-1))


@pytest.mark.model
@pytest.mark.heavy
def test_tokens_are_the_engines() -> None:
    pytest.importorskip("xllamacpp", reason="needs the engine")
    from mnemic.lab.tasks.neural.engine_oracle import Engine
    from mnemic.models.chat.gguf import smollm2_weights

    try:
        path = smollm2_weights()
    except Invalid as error:
        pytest.skip(str(error))
    model = open_gguf(path)
    with Engine(path) as engine:
        assert [text for text in strings(300, 1) if model.ids(text) != engine.tokens(text)] == []
    prompt = model.prompt(("user", "What is the capital of France?"))
    assert "Paris" in model.answer(model.decoder.generate([prompt], 10, frozenset({model.end}))[0])


def test_a_text_read_in_two_parts_is_read_as_in_one(tiny: Any) -> None:
    asked = ids(tiny, "The hare sleeps in the barn.")
    decoder = tiny.decoder
    _, past = decoder.run(decoder.embed(asked[:, :7]))
    rest = decoder.logits(asked[:, 7:], Entries(past))
    assert torch.allclose(rest, decoder.logits(asked)[:, 7:], atol=1e-4)


def test_layers_are_run_in_two_parts_as_in_one(tiny: Any) -> None:
    asked, decoder = ids(tiny, "the hare"), tiny.decoder
    h, _ = decoder.run(decoder.embed(asked), last=1)
    h, kept = decoder.run(h, first=1)
    assert torch.equal(decoder.head(h), decoder.logits(asked))
    assert len(kept) == LAYERS - 1


def test_padding_before_a_text_changes_nothing_of_it(tiny: Any) -> None:
    asked = ids(tiny, "the hare")
    padded = torch.cat((torch.zeros(1, 5, dtype=torch.int64), asked), 1)
    rows = tiny.decoder.logits(torch.cat((padded, padded)), pad=torch.tensor([5, 5]))
    assert torch.allclose(rows[:, 5:], tiny.decoder.logits(asked).expand(2, -1, -1), atol=1e-4)
    assert torch.isfinite(rows).all()


def test_prompts_of_different_lengths_are_answered_together_as_each_alone(tiny: Any) -> None:
    prompts = [tiny.ids(text) for text in ("the hare", "rain on the roof of the barn", "a")]
    together = tiny.decoder.generate(prompts, 6)
    assert together == [tiny.decoder.generate([prompt], 6)[0] for prompt in prompts]
    ends = frozenset({together[0][2]})
    assert tiny.decoder.generate(prompts[:1], 6, ends)[0] == together[0][: together[0].index(together[0][2])]
    assert len(tiny.decoder.generate(prompts[:1], 6, ends, least=6)[0]) == 6


def test_a_mask_says_what_a_triangle_says() -> None:
    draw = torch.Generator().manual_seed(0)
    q = torch.randn(2, 4, 5, 8, generator=draw)
    k, v = (torch.randn(2, 2, 5, 8, generator=draw) for _ in range(2))
    triangle = torch.ones(5, 5, dtype=torch.bool).tril()[None, None]
    assert torch.allclose(attend(q, k, v, None), attend(q, k, v, triangle), atol=1e-5)


def test_a_memory_enters_by_a_matrix_an_adapter_and_a_hidden_state(tiny: Any) -> None:
    asked, name = ids(tiny, "the hare"), "model.layers.1.mlp.down_proj.weight"
    matrix = tiny.decoder.weights[name]
    draw = torch.Generator().manual_seed(0)
    a, b = torch.randn(2, matrix.shape[1], generator=draw), torch.randn(matrix.shape[0], 2, generator=draw)
    bare = tiny.decoder.logits(asked)
    added = tiny.decoder.logits(asked, Entries(added={name: [LowRank(a, b, 0.5)]}))
    replaced = tiny.decoder.logits(asked, Entries(replaced={name: matrix + 0.5 * b @ a}))
    assert torch.allclose(added, replaced, atol=1e-4)
    assert not torch.allclose(added, bare, atol=1e-2)
    nothing = tiny.decoder.logits(asked, Entries(added={name: [LowRank(a, torch.zeros_like(b), 0.5)]}))
    assert torch.equal(nothing, bare)
    doubled = tiny.decoder.logits(asked, Entries(hidden={2: lambda h: h * 2}))
    assert not torch.allclose(doubled, bare, atol=1e-3)


def test_a_text_longer_than_the_context_is_refused(tiny: Any) -> None:
    with pytest.raises(TooLarge, match="leave something out"):
        tiny.decoder.logits(torch.zeros(1, 513, dtype=torch.int64))
    _, past = tiny.decoder.run(tiny.decoder.embed(torch.zeros(1, 512, dtype=torch.int64)))
    with pytest.raises(TooLarge):
        tiny.decoder.logits(torch.zeros(1, 1, dtype=torch.int64), Entries(past))


def test_names_and_rows_go_to_the_format_and_back() -> None:
    for name in ("blk.12.attn_q.weight", "token_embd.weight", "output_norm.weight", "blk.0.ffn_down.weight"):
        assert gguf_name(matrix_name(name)) == name
    matrix = torch.arange(48.0).view(16, 3).numpy()
    assert (in_order(interleaved(matrix, 2), 2) == matrix).all()
    assert (interleaved(matrix, 2) != matrix).any()


def test_what_is_said_comes_back_from_its_tokens(tiny: Any) -> None:
    for text in strings(200, 2):
        assert tiny.text(tiny.ids(text)) == text


def test_a_file_is_converted_once(tiny_gguf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = open_gguf(tiny_gguf, tmp_path / "cache")
    (kept,) = (tmp_path / "cache").iterdir()
    assert kept.stat().st_mode & 0o077 == 0
    monkeypatch.setattr(gguf_weights, "_converted", lambda path: pytest.fail("converted twice"))
    second = open_gguf(tiny_gguf, tmp_path / "cache")
    asked = ids(first, "the hare")
    assert torch.equal(first.decoder.logits(asked), second.decoder.logits(asked))
    assert first.tokenizer_digest == second.tokenizer_digest
    assert first.prompt(("user", "hi")) == second.prompt(("user", "hi"))


@pytest.mark.parametrize("harm", ["cut", "open to all", "of another"])
def test_a_converted_file_that_is_not_ours_is_made_again(tiny_gguf: Path, tmp_path: Path, harm: str) -> None:
    whole = open_gguf(tiny_gguf, tmp_path)
    asked = ids(whole, "the hare")
    wanted = whole.decoder.logits(asked)  # before the file that it is mapped from is harmed
    (kept,) = tmp_path.iterdir()
    if harm == "cut":
        raw = kept.read_bytes()
        kept.unlink()
        kept.write_bytes(raw[:1000])
    elif harm == "open to all":
        kept.chmod(0o666)
    else:
        other = write_tiny_llama(tmp_path / "other.gguf", seed=1)
        open_gguf(other, tmp_path / "elsewhere")
        (foreign,) = (tmp_path / "elsewhere").iterdir()
        foreign.replace(kept)
    again = open_gguf(tiny_gguf, tmp_path)
    assert torch.equal(again.decoder.logits(asked), wanted)
    assert kept.stat().st_mode & 0o077 == 0


def test_a_file_that_is_none_is_refused_in_a_sentence(tiny_gguf: Path, tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="cannot be read"):
        open_gguf(tmp_path / "none.gguf")
    raw = tiny_gguf.read_bytes()
    for harm in (b"", b"no model", raw[:50], raw[:3000], raw[: len(raw) // 2]):
        (tmp_path / "harmed.gguf").write_bytes(harm)
        with pytest.raises(Invalid, match=r"is no GGUF file|misses|of the family"):
            open_gguf(tmp_path / "harmed.gguf")


def test_a_chat_template_is_compiled_once(tiny: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    first = tiny.prompt(("user", "the hare"))
    monkeypatch.setattr(gguf_weights.ImmutableSandboxedEnvironment, "from_string", pytest.fail)
    opened_again = gguf_weights.TextModel(tiny.decoder, tiny._tokenizer, tiny._template, tiny.end)
    assert opened_again.prompt(("user", "the hare")) == tiny.prompt(("user", "the hare")) == first


def test_a_template_that_refuses_is_said(tiny: Any) -> None:
    refusing = gguf_weights.TextModel(tiny.decoder, tiny._tokenizer, "{{ raise_it() }}", tiny.end)
    with pytest.raises(Invalid, match="template"):
        refusing.prompt(("user", "hi"))


def test_the_shape_is_what_the_file_says(tiny: Any) -> None:
    shape = tiny.decoder.shape
    assert replace(shape, layers=LAYERS) == shape
    assert (shape.width, shape.heads, shape.kv_heads, shape.context) == (64, 4, 2, 512)


def test_without_torch_the_rest_is_there() -> None:
    assert importlib.util.find_spec("mnemic.neural") is not None
