"""A model whose answers were written by hand, so that the examples beside it run without a key and say the same."""

import json
from typing import Any

from mnemic.errors import ModelError
from mnemic.models.chat.base import Ask, Pieces, estimated_reply


class HandWritten:
    """Answers each question with what was written for its task and for words in its data."""

    name = "handwritten"

    def __init__(self, *answers: tuple[str, str, dict[str, Any]]) -> None:
        self.answers = answers
        self.calls = 0

    def stream(self, ask: Ask) -> Pieces:
        data = ask.messages[1].content
        for task, words, answer in self.answers:
            if task == ask.task and words in data:
                self.calls += 1
                text = json.dumps({"reasoning": "Written by hand.", **answer}, ensure_ascii=False)
                yield text
                return estimated_reply(ask, self.name, text)
        raise ModelError(f"nobody wrote an answer to {ask.task} about {data}")
