"""One script of verbs gives the same answers through Python, the command line, REST and MCP, over one store."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol

import httpx2
import pytest
from click.testing import CliRunner
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from mnemic import Memory, Settings
from mnemic.core.ids import ItemId
from mnemic.errors import NotFound
from mnemic.faces.cli import cli
from mnemic.faces.server.application import application
from mnemic.faces.server.service import LoopbackAuthenticator, Service
from patience import PATIENCE
from serving_app import serving_app

SETTINGS = Settings(embedder="none", background=False)


class Face(Protocol):
    """A way to one user's memory; items are named by their ids."""

    def observe(self, text: str) -> str: ...
    def write(self, text: str) -> str: ...
    def supersede(self, id: str, text: str) -> str: ...
    def forget(self, id: str) -> int: ...
    def recall(self, query: str) -> tuple[list[tuple[str, list[str]]], float]: ...
    def history(self, id: str) -> list[tuple[str, str]]: ...
    def get(self, id: str) -> str | None: ...


class ByPython:
    def __init__(self, memory: Memory, user: str, address: str, path: Path) -> None:
        self._me = memory.scope(user=user)

    def observe(self, text: str) -> str:
        return self._me.observe(text).id

    def write(self, text: str) -> str:
        return self._me.write(text).id

    def supersede(self, id: str, text: str) -> str:
        return self._me.supersede(ItemId(id), text).id

    def forget(self, id: str) -> int:
        return len(self._me.forget(ItemId(id)).ids)

    def recall(self, query: str) -> tuple[list[tuple[str, list[str]]], float]:
        found = self._me.recall(query)
        return [(one.text, list(one.reasons)) for one in found.items], round(found.confidence, 3)

    def history(self, id: str) -> list[tuple[str, str]]:
        return [(v.item.text, v.item.state.name.lower()) for v in self._me.history(ItemId(id))]

    def get(self, id: str) -> str | None:
        try:
            return self._me.get(ItemId(id)).item.text
        except NotFound:
            return None


class ByCommands:
    def __init__(self, memory: Memory, user: str, address: str, path: Path) -> None:
        self._given = ["--store", str(path), "--user", user, "--json"]

    def _run(self, *words: str) -> Any:
        ran = CliRunner().invoke(cli, [*self._given, *words], env={"MNEMIC_EMBEDDER": "none"})
        assert ran.exit_code == 0, ran.output + ran.stderr
        return json.loads(ran.stdout)

    def observe(self, text: str) -> str:
        return str(self._run("add", text)["ids"][0])

    def write(self, text: str) -> str:
        return str(self._run("fact", text)["ids"][0])

    def supersede(self, id: str, text: str) -> str:
        return str(self._run("supersede", id, text)["ids"][0])

    def forget(self, id: str) -> int:
        return len(self._run("forget", id)["ids"])

    def recall(self, query: str) -> tuple[list[tuple[str, list[str]]], float]:
        found = self._run("recall", query)
        return [(one["item"]["text"], one["reasons"]) for one in found["items"]], round(found["confidence"], 3)

    def history(self, id: str) -> list[tuple[str, str]]:
        return [(v["text"], v["state"]) for v in self._run("history", id)["versions"]]

    def get(self, id: str) -> str | None:
        shown = self._run("show", id)  # a person is shown what is hidden too, as such
        return str(shown["text"]) if shown["state"] == "active" else None


class ByRest:
    def __init__(self, memory: Memory, user: str, address: str, path: Path) -> None:
        self._address, self._headers = f"{address}/v1", {"Mnemic-User": user}

    def _post(self, verb: str, **given: Any) -> Any:
        answer = httpx2.post(f"{self._address}/{verb}", json=given, headers=self._headers, timeout=PATIENCE)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def observe(self, text: str) -> str:
        return str(self._post("observe", messages=text)["ids"][0])

    def write(self, text: str) -> str:
        return str(self._post("write", text=text)["ids"][0])

    def supersede(self, id: str, text: str) -> str:
        return str(self._post("supersede", id=id, text=text)["ids"][0])

    def forget(self, id: str) -> int:
        return len(self._post("forget", ids=[id])["ids"])

    def recall(self, query: str) -> tuple[list[tuple[str, list[str]]], float]:
        found = self._post("recall", query=query)
        return [(one["item"]["text"], one["reasons"]) for one in found["items"]], round(found["confidence"], 3)

    def history(self, id: str) -> list[tuple[str, str]]:
        answer = httpx2.get(f"{self._address}/items/{id}/history", headers=self._headers, timeout=PATIENCE)
        return [(v["text"], v["state"]) for v in answer.json()["versions"]]

    def get(self, id: str) -> str | None:
        answer = httpx2.get(f"{self._address}/items/{id}", headers=self._headers, timeout=PATIENCE)
        return None if answer.status_code == 404 else str(answer.json()["text"])


class ByMcp:
    def __init__(self, memory: Memory, user: str, address: str, path: Path) -> None:
        self._address, self._headers = f"{address}/mcp", {"Mnemic-User": user}

    def _call(self, tool: str, **given: Any) -> Any:
        async def run() -> Any:
            async with (
                httpx2.AsyncClient(headers=self._headers, timeout=PATIENCE) as http,
                Client(streamable_http_client(self._address, http_client=http)) as client,
            ):
                return await client.call_tool(tool, given)

        result = asyncio.run(run())
        return None if result.is_error else result.structured_content

    def observe(self, text: str) -> str:
        return str(self._call("remember", text=text)["ids"][0])

    def write(self, text: str) -> str:
        return str(self._call("remember", text=text, kind="fact")["ids"][0])

    def supersede(self, id: str, text: str) -> str:
        return str(self._call("correct", id=id, text=text, changed=True)["ids"][0])

    def forget(self, id: str) -> int:
        return len(self._call("forget", ids=[id])["ids"])

    def recall(self, query: str) -> tuple[list[tuple[str, list[str]]], float]:
        found = self._call("recall", query=query)
        return [(one["text"], one["reasons"]) for one in found["items"]], round(found["confidence"], 3)

    def history(self, id: str) -> list[tuple[str, str]]:
        return [(v["text"], v["state"]) for v in self._call("history", id=id)["versions"]]

    def get(self, id: str) -> str | None:
        versions = self._call("history", id=id)
        last = versions["versions"][-1] if versions else {"state": "gone"}
        return str(last["text"]) if last["state"] == "active" else None


FACES: tuple[Callable[[Memory, str, str, Path], Face], ...] = (ByPython, ByCommands, ByRest, ByMcp)
QUESTIONS = ("Where does Noor live?", "what is Ada allergic to?", "花生")


@pytest.fixture
def faces(tmp_path: Path) -> Iterator[Callable[[bool], list[Face]]]:
    """Makes each face, all on one user's memory or each on one of its own."""
    path = tmp_path / "memory.db"
    with Memory(path, settings=SETTINGS) as memory:
        app = application(Service(memory, LoopbackAuthenticator(SETTINGS)))
        with serving_app(app) as address:
            yield lambda apart: [
                face(memory, face.__name__.lower() if apart else "ada", address, path)  # type: ignore[attr-defined]
                for face in FACES
            ]


def test_what_one_face_writes_all_find_alike(faces: Callable[[bool], list[Face]]) -> None:
    every = faces(False)
    said = [
        "My sister Noor lives in Porto.",
        "Ada is allergic to peanuts.",
        "我对花生过敏。",
        "The garden needs water.",
    ]
    ids = [face.observe(text) for face, text in zip(every, said, strict=True)]
    for question in QUESTIONS:
        answers = [face.recall(question) for face in every]
        assert answers[0][0]
        assert answers == answers[:1] * len(every)
    for id, text in zip(ids, said, strict=True):
        assert [face.get(id) for face in every] == [text] * len(every)
        assert [face.history(id) for face in every] == [[(text, "active")]] * len(every)
    for face, id in zip(every, ids, strict=True):
        assert face.forget(id) == 1
        assert [one.get(id) for one in every] == [None] * len(every)


def test_the_same_script_leaves_the_same_memory(faces: Callable[[bool], list[Face]], tmp_path: Path) -> None:
    told = []
    for face in faces(True):
        first = face.observe("The office is in Oslo.")
        second = face.write("The office is closed on Friday.")
        newer = face.supersede(second, "The office is open on Friday.")
        face.forget(first)
        told.append((face.history(first)[-1], face.recall("office on Friday")[0], face.get(newer)))
    assert told == told[:1] * len(told)
