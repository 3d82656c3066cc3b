"""Ask a language model many questions, none twice: what it said before, in the log of this run too, is taken again."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeVar

from mnemic.errors import ModelError
from mnemic.lab.kit.model_words import ModelWords
from mnemic.models.chat.base import Ask, Chat, CutOff, reply_of
from mnemic.models.chat.recording import question_key

if TYPE_CHECKING:
    from mnemic.models.chat.base import Reply

K = TypeVar("K")

GIVEN_UP: Final = 5
"""Failures one after another for which the rest is not asked."""


class AskedChat:
    """One model of a run.

    Args:
        chat: Who is asked.
        held: What it said before, by the hash of what it was asked.
        at_once: So many questions at once.
    """

    def __init__(self, chat: Chat, held: Mapping[str, ModelWords], at_once: int = 1) -> None:
        self.name = chat.name
        self._chat, self._held, self._at_once = chat, dict(held), at_once

    def each(self, questions: Iterable[tuple[K, Ask, int]]) -> Iterator[tuple[K, ModelWords]]:
        """Ask all, and yield what was said in their order, each with what it was asked for.

        The third part of a question tells apart those that are the same and shall be asked anew.

        Raises:
            ModelError: it failed five times one after another; a single failure is told in its place.
        """
        listed = [(key, ask, self._hash(ask, turn)) for key, ask, turn in questions]
        pool = ThreadPoolExecutor(self._at_once)
        try:
            asked: dict[str, Future[ModelWords]] = {}
            for _, ask, digest in listed:
                if digest not in self._held and digest not in asked:
                    asked[digest] = pool.submit(self._said, ask, digest)
            yield from self._each([(key, digest) for key, _, digest in listed], asked)
        finally:  # whoever stops listening is not kept waiting for what was not asked yet
            pool.shutdown(cancel_futures=True)

    def _each(
        self, listed: Iterable[tuple[K, str]], asked: Mapping[str, Future[ModelWords]]
    ) -> Iterator[tuple[K, ModelWords]]:
        failed = 0
        for key, digest in listed:
            if digest in self._held:
                yield key, replace(self._held[digest], again=True)
                continue
            said = asked[digest].result()
            failed = failed + 1 if said.failed else 0
            if failed == GIVEN_UP:
                raise ModelError(f"{self.name} failed {failed} times one after another: {said.failed}")
            if not said.failed:
                self._held[digest] = said
            yield key, said

    def _hash(self, ask: Ask, turn: int) -> str:
        return hashlib.blake2b(question_key(self.name, ask) + str(turn).encode(), digest_size=16).hexdigest()

    def _said(self, ask: Ask, digest: str) -> ModelWords:
        began = time.perf_counter()
        try:
            reply = _whole(self._chat, ask)
        except ModelError as error:
            return ModelWords(asked=digest, failed=str(error), milliseconds=_since(began))
        return ModelWords(
            asked=digest,
            text=reply.text.strip(),
            prompt_tokens=reply.prompt_tokens,
            answer_tokens=reply.answer_tokens,
            milliseconds=_since(began),
        )


def _whole(chat: Chat, ask: Ask) -> Reply:
    """The whole answer; of one that came to its limit, what came before, if that is anything."""
    try:
        return reply_of(chat.stream(ask))
    except CutOff as cut:
        if not cut.reply.text.strip():
            raise
        return cut.reply


def _since(began: float) -> float:
    return round((time.perf_counter() - began) * 1000, 2)
