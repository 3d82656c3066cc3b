"""Wishes that no rule decides are told by their vectors where the embedder is the one that was learned from."""

import numpy as np

from mnemic.extract.instruction_meaning import EMBEDDER, form
from mnemic.memory import Memory
from mnemic.settings import Settings

WISH = "Anything that needs scrolling, I won't see it."


class Wishing:
    """Embeds every text as the direction that the form values most, or least."""

    dims = 384

    def __init__(self, name: str, *, wishes: bool) -> None:
        mean, (_, directions) = form().mean, np.linalg.eigh(form().form)
        toward = directions[:, -1 if wishes else 0]
        along = float(mean @ toward)
        far = -along + np.sqrt(along**2 + 1 - float(mean @ mean))
        self.name, self._vector = name, mean + far * toward

    def passages(self, texts: list[str]) -> np.ndarray:  # type: ignore[type-arg]
        unit = self._vector / np.linalg.norm(self._vector)
        return np.tile(unit.astype(np.float32), (len(texts), 1))

    def query(self, text: str) -> np.ndarray:  # type: ignore[type-arg]
        return self.passages([text])[0]


def standing(embedder: Wishing | str) -> list[str]:
    with Memory("memory:", settings=Settings(background=False), embedder=embedder) as memory:
        me = memory.scope(user="ana")
        me.observe(WISH, role="user")
        memory.flush()
        return [item.text for item in me.context("").always]


def test_a_wish_that_words_leave_open_stands_by_its_vector() -> None:
    assert standing(Wishing(EMBEDDER, wishes=True)) == [WISH]
    assert standing(Wishing(EMBEDDER, wishes=False)) == []


def test_without_an_embedder_and_with_another_one_words_decide() -> None:
    assert standing("none") == standing(Wishing("another:1", wishes=True)) == []
