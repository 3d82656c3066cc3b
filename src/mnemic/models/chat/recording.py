"""Answers of a model kept in a file, and given again to who asks that model the same.

An answer is kept under the model's name, the schema, the prompt and all else that bears on it, and only if it is sound:
what one model said is never given for another.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mnemic.core.forking import renew_in_child
from mnemic.errors import Invalid, ModelError
from mnemic.models.chat.base import Ask, Chat, Pieces, Reply, Size, ToolCall, refuse_unanswerable
from mnemic.models.chat.soundness import is_sound
from mnemic.models.model_opening import open_chat

if TYPE_CHECKING:
    from mnemic.settings import Settings

_SPELLING: Final = "Write recorded:FILE, or recorded:FILE=MODEL to ask MODEL for what FILE has not, and keep it there."


def question_key(model: str, ask: Ask) -> bytes:
    """Write down a question and whom it is put to: equal for those that have the same answer."""
    asked = dataclasses.asdict(dataclasses.replace(ask, task="", size=Size.LARGE, sound=None))
    return json.dumps([model, asked], ensure_ascii=True, sort_keys=True, separators=(",", ":")).encode()


def packed_reply(reply: Reply) -> bytes:
    """Encode a reply."""
    return json.dumps(dataclasses.asdict(reply), ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def unpacked_reply(packed: bytes | str) -> Reply:
    """Restore what `packed_reply` returned."""
    fields: dict[str, Any] = json.loads(packed)
    calls = tuple(ToolCall(**call) for call in fields.pop("calls"))
    return Reply(calls=calls, **fields)


class RecordedChat:
    """Gives the answers of one model that a file holds; what it does not hold the model is asked for, if there is one.

    A line of the file is an answer: the model's name, a hash of the question, and the reply. Safe for many threads.

    Args:
        path: Of the file.
        chat: Who is asked for what is not there; its sound answers are added. None: nobody is.

    Raises:
        Invalid: nobody is to be asked, and the file is not there or has answers of no model or of several.
    """

    def __init__(self, path: Path, chat: Chat | None = None) -> None:
        self._path, self._chat = path, chat
        self.name = f"recorded:{path}" if chat is None else f"recorded:{path}={chat.name}"
        answers = _read(path)
        self._model = _only_model(path, answers) if chat is None else chat.name
        self._answers = {asked: reply for (model, asked), reply in answers.items() if model == self._model}
        self.renew()
        renew_in_child(self)

    def renew(self) -> None:
        """Begin with a fresh lock, as a forked child must."""
        self._lock = threading.Lock()

    @classmethod
    def opened(cls, details: str, settings: Settings) -> RecordedChat:
        """Open the answers that `recorded:FILE` or `recorded:FILE=MODEL` names."""
        file, _, model = details.partition("=")
        if not file:
            raise Invalid("model", "recorded: names no file", _SPELLING)
        return cls(Path(file).expanduser(), open_chat(model, settings) if model else None)

    def stream(self, ask: Ask) -> Pieces:
        """The recorded answer, in one piece; or the model's own as it comes, which is recorded at its end."""
        refuse_unanswerable(ask)
        return self._pieces(ask)

    def _pieces(self, ask: Ask) -> Pieces:
        asked = hashlib.blake2b(question_key(self._model, ask), digest_size=16).hexdigest()
        if (reply := self._answers.get(asked)) is not None:
            if reply.text:
                yield reply.text
            return reply
        if self._chat is None:
            raise ModelError(f"{self.name}: {self._model} was never asked this; its answers are all there is")
        reply = yield from self._chat.stream(ask)
        if is_sound(ask, reply):
            self._add(asked, ask.task, reply)
        return reply

    def _add(self, asked: str, task: str, reply: Reply) -> None:
        line = {"model": self._model, "asked": asked, "task": task, "reply": dataclasses.asdict(reply)}
        written = json.dumps(line, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        with self._lock:
            self._answers[asked] = reply
            try:
                file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
                with open(file, "wb") as opened:
                    opened.write(written)
            except OSError as error:
                raise ModelError(f"{self.name}: the answer cannot be kept: {error.strerror}") from error


def _read(path: Path) -> dict[tuple[str, str], Reply]:
    """Read the answers of a file by model and question; of a line that was cut short, none."""
    if not path.exists():
        return {}
    answers: dict[tuple[str, str], Reply] = {}
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            record = json.loads(line)
            answers[record["model"], record["asked"]] = unpacked_reply(json.dumps(record["reply"]))
        except (ValueError, KeyError, TypeError):
            continue
    return answers


def _only_model(path: Path, answers: dict[tuple[str, str], Reply]) -> str:
    models = {model for model, _ in answers}
    if len(models) == 1:
        return models.pop()
    problem = f"holds answers of {', '.join(sorted(models))}" if models else "holds no answers"
    raise Invalid("model", f"{path} {problem}", _SPELLING)
