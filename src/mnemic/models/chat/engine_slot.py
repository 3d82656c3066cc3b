"""The one slot of a llama.cpp engine: the keys and values of the prompt it read last, saved to a file and restored.

The engine hands these out over HTTP alone, on the loopback interface, to who has its key. It is given a folder of links
to save to and to restore from, none of them with any content: what it writes goes right to where it is to stay. It
believes whatever file it is given: one that is cut short ends the process, one with other bytes answers nonsense. So
whoever restores has checked every byte before.
"""

from __future__ import annotations

import atexit
import http.client
import json
import shutil
import struct
import tempfile
import time
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from mnemic.errors import ModelError

_MAGIC: Final = 0x67677371
_HEAD: Final = struct.Struct("<3I")
_INNER: Final = struct.Struct("<3I")
_MARK: Final = 0xFFFFFFFF
_MOST_TOKENS: Final = 1 << 24
_TIMEOUT: Final = 3_600.0
_STARTING_SECONDS: Final = 60.0
_PAUSE_SECONDS: Final = 0.02


@dataclass(frozen=True, slots=True)
class PromptWork:
    """What the engine did for the prompt of one answer.

    Attributes:
        prefilled: Tokens that it read.
        reused: Tokens before them whose keys and values it had.
    """

    prefilled: int = 0
    reused: int = 0


class EngineSlot:
    """The slot of one engine. Safe to share between threads: the engine does one thing after the other.

    Args:
        name: How errors call the model.
        address: Where the engine listens.
        key: What it asks for there.
        links: The folder that it was told to save to.
    """

    def __init__(self, name: str, address: str, key: str, links: Path) -> None:
        self._name, self._key, self._links = name, key, links
        self._address = urlsplit(address)
        self._started, self._answered = time.monotonic(), False

    def tokens_of(self, messages: Sequence[Mapping[str, object]]) -> list[int]:
        """The tokens of a conversation as the engine reads it, by the file's own template and tokeniser."""
        prompt = self._post("/apply-template", {"messages": list(messages)}).get("prompt")
        answer = self._post("/tokenize", {"content": prompt, "add_special": True, "parse_special": True})
        tokens: list[int] = answer["tokens"]
        return tokens

    def prefill(self, tokens: Sequence[int], adapters: Sequence[Mapping[str, float]] = ()) -> PromptWork:
        """Read a prompt without answering it, with adapters weighed as said."""
        body: dict[str, object] = {"prompt": list(tokens), "n_predict": 0, "cache_prompt": True, "temperature": 0}
        if adapters:
            body["lora"] = list(adapters)
        return work_of(self._post("/completion", body))

    def save(self, path: Path) -> int:
        """Write the slot to a file that is not there yet; the number of its tokens."""
        return int(self._at_link(path, "save")["n_saved"])

    def restore(self, path: Path) -> int:
        """Read the slot from a file whose bytes have been checked; the number of its tokens."""
        return int(self._at_link(path, "restore")["n_restored"])

    def empty(self) -> int:
        """Let go of all that the slot holds; the number of its tokens."""
        return int(self._post("/slots/0?action=erase", {})["n_erased"])

    def _at_link(self, path: Path, action: str) -> Mapping[str, Any]:
        link = self._links / uuid.uuid4().hex
        try:
            link.symlink_to(path)
            return self._post(f"/slots/0?action={action}", {"filename": link.name})
        except OSError as error:
            raise ModelError(f"{self._name}: cannot {action} at {path.parent}: {error.strerror}") from error
        finally:
            link.unlink(missing_ok=True)

    def _post(self, path: str, body: Mapping[str, object]) -> Mapping[str, Any]:
        headers = {"Authorization": f"Bearer {self._key}", "Content-Type": "application/json"}
        connection = http.client.HTTPConnection(self._address.hostname or "", self._address.port, timeout=_TIMEOUT)
        try:
            self._connect(connection)
            connection.request("POST", path, json.dumps(body), headers)
            response = connection.getresponse()
            status, answer = response.status, json.loads(response.read())
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise ModelError(f"{self._name}: the engine does not answer {path.partition('?')[0]}: {error}") from error
        finally:
            connection.close()
        if status != http.client.OK or not isinstance(answer, dict):
            told = answer.get("error", answer) if isinstance(answer, dict) else answer
            raise ModelError(f"{self._name}: the engine refused {path}: {str(told)[:200]}")
        return answer

    def _connect(self, connection: http.client.HTTPConnection) -> None:
        """Connect, patiently the first time: an engine that has just been started listens a moment later."""
        while True:
            try:
                connection.connect()
            except ConnectionRefusedError:
                if self._answered or time.monotonic() > self._started + _STARTING_SECONDS:
                    raise
                time.sleep(_PAUSE_SECONDS)
            else:
                self._answered = True
                return


def work_of(chunk: object) -> PromptWork:
    """What a chunk of the engine's says of the prompt; nothing where it does not."""
    timings = chunk.get("timings") if isinstance(chunk, Mapping) else None
    if not isinstance(timings, Mapping):
        return PromptWork()
    return PromptWork(int(timings.get("prompt_n", 0)), int(timings.get("cache_n", 0)))


def made_links_folder() -> Path:
    """Make a folder for links, which goes when the process ends."""
    folder = Path(tempfile.mkdtemp(prefix="mnemic-links-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def saved_tokens(path: Path) -> tuple[int, ...]:
    """Read the tokens that a saved slot begins with, which only says which file to check and to restore.

    Returns:
        Nothing where that is no such file: what it is not, the check of all its bytes finds out.
    """
    with suppress(OSError, struct.error), path.open("rb") as file:
        magic, _, packed = _HEAD.unpack(file.read(_HEAD.size))
        mark, _, count = _INNER.unpack(file.read(_INNER.size))
        if magic == _MAGIC and mark == _MARK and 0 <= count <= min(packed, _MOST_TOKENS):
            return struct.unpack(f"<{count}I", file.read(4 * count))
    return ()


def common_run(one: Sequence[int], other: Sequence[int]) -> int:
    """How many tokens two prompts have in common from their first one on."""
    for place, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return place
    return min(len(one), len(other))
