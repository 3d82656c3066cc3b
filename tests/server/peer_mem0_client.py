"""mem0's own Python client, as it is installed, against a server of ours: each of its calls.

Run by scripts/peer-clients, which installs it: the name keeps it out of every other run.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest
from mem0 import AsyncMemoryClient, MemoryClient
from mem0.exceptions import AuthenticationError, MemoryError, MemoryNotFoundError, ValidationError

from mnemic import Memory, Settings
from mnemic.credentials.authenticator import Authenticator
from mnemic.credentials.principal import Right
from mnemic.faces.server.application import application
from mnemic.faces.server.service import Service
from serving_app import serving_app

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # it leaves sockets open
SETTINGS = Settings(embedder="none", background=False)
CALLS = {
    "add", "get", "get_all", "search", "update", "delete", "delete_all", "history", "users", "delete_users", "reset",
    "batch_update", "batch_delete", "create_memory_export", "get_memory_export", "feedback",
}  # fmt: skip
"""Each has its test below."""
NOT_SERVED = {
    "get_summary", "get_profile", "generate_profile", "get_profile_settings", "update_profile_settings",
    "sample_profiles", "get_profile_job", "get_project", "update_project", "get_webhooks", "create_webhook",
    "update_webhook", "delete_webhook",
}  # fmt: skip
"""What is of the hosted service alone; each is answered with 501."""


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[str, str]]:
    """The address of a server, and a key of its administrator."""
    with Memory(tmp_path / "memory.db", settings=SETTINGS) as memory:
        service = Service(memory, Authenticator.from_settings(memory.keys, SETTINGS))
        key = memory.keys.create("app", tenant="default", right=Right.ADMIN).text
        with serving_app(application(service)) as url:
            yield url, key


@pytest.fixture
def client(served: tuple[str, str]) -> Iterator[MemoryClient]:
    url, key = served
    made = MemoryClient(api_key=key, host=url)
    yield made
    made.client.close()


def stated(client: MemoryClient, text: str, user: str = "ada", **more: object) -> str:
    id: str = client.add(text, user_id=user, infer=False, **more)["results"][0]["id"]
    return id


def test_every_call_of_the_client_is_known() -> None:
    calls = {name for name, one in inspect.getmembers(MemoryClient, inspect.isfunction) if not name.startswith("_")}
    assert calls - {"chat"} == CALLS | NOT_SERVED  # `chat` sends nothing: the client has not made it yet


def test_a_wrong_key_is_told_when_the_client_is_made(served: tuple[str, str]) -> None:
    with pytest.raises(ValueError, match="not valid"):
        MemoryClient(api_key="mk_wrong", host=served[0])


def test_add_get_and_history(client: MemoryClient) -> None:
    talk = [{"role": "user", "content": "I prefer window seats."}]
    (record,) = client.add(talk, user_id="ada", metadata={"topic": "seats"})["results"]
    assert (record["event"], client.get(record["id"])["memory"]) == ("ADD", "I prefer window seats.")
    assert [one["event"] for one in client.history(record["id"])] == ["ADD"]
    with pytest.raises(MemoryNotFoundError, match="no memory"):
        client.get("nothing")
    with pytest.raises(ValidationError, match="nonsense"):
        client.add("x", user_id="ada", nonsense=1)


def test_search(client: MemoryClient) -> None:
    stated(client, "I prefer window seats.", metadata={"topic": "seats"})
    stated(client, "I drink tea.", metadata={"topic": "tea"})
    found = client.search("which seat?", filters={"user_id": "ada"}, top_k=1)["results"]
    assert [one["memory"] for one in found] == ["I prefer window seats."]
    tea = {"AND": [{"user_id": "ada"}, {"metadata": {"topic": "tea"}}]}
    assert [one["memory"] for one in client.search("seat", filters=tea)["results"]] == ["I drink tea."]
    with pytest.raises(ValidationError, match="NOT"):
        client.search("seat", filters={"NOT": [{"user_id": "ada"}]})


def test_get_all_past_the_twentieth(client: MemoryClient) -> None:
    for number in range(45):
        stated(client, f"note {number}")
    pages = [client.get_all(filters={"user_id": "ada"}, page=page, page_size=20) for page in (1, 2, 3)]
    assert [one["count"] for one in pages] == [45] * 3
    assert len({one["id"] for page in pages for one in page["results"]}) == 45
    assert len(client.get_all(filters={"user_id": "ada"})["results"]) == 45


def test_update_and_delete(client: MemoryClient) -> None:
    id = stated(client, "Tea at five.")
    assert client.update(id, text="Tea at six.", metadata={"a": 1})["memory"] == "Tea at six."
    assert client.update(id, expiration_date="2099-01-01")["expiration_date"] == "2099-01-01"
    assert client.update(id, expiration_date=None)["expiration_date"] is None
    assert client.get(id)["metadata"] == {"a": 1}
    client.delete(id)
    with pytest.raises(MemoryNotFoundError):
        client.get(id)
    with pytest.raises(MemoryNotFoundError):
        client.delete(id, delete_linked=True)


def test_delete_all(client: MemoryClient) -> None:
    for more in ({"user_id": "ada"}, {"filters": {"user_id": "ada"}}):
        stated(client, "Tea.")
        stated(client, "Kept.", "bob")
        client.delete_all(**more)
        assert client.get_all(filters={"user_id": "ada"})["count"] == 0
    assert client.get_all(filters={"user_id": "bob"})["count"] == 2


def test_batch_update_and_batch_delete(client: MemoryClient) -> None:
    ids = [stated(client, f"note {number}", user) for number, user in enumerate(("ada", "bob"))]
    client.batch_update([{"memory_id": id, "text": "new"} for id in ids])
    assert {client.get(id)["memory"] for id in ids} == {"new"}
    client.batch_delete([{"memory_id": id} for id in ids])
    assert [client.get_all(filters={"user_id": user})["count"] for user in ("ada", "bob")] == [0, 0]


def test_users_and_delete_users(client: MemoryClient) -> None:
    stated(client, "Tea.", "ada")
    stated(client, "Tea.", "小/明")
    assert [one["name"] for one in client.users()["results"]] == ["ada", "小/明"]
    client.delete_users(user_id="小/明")
    assert [one["name"] for one in client.users()["results"]] == ["ada"]


def test_reset(client: MemoryClient) -> None:
    stated(client, "Tea.", "ada", agent_id="x", run_id="r")
    stated(client, "Tea.", "bob")
    client.reset()
    assert client.users()["results"] == []


def test_exports(client: MemoryClient) -> None:
    stated(client, "Tea.")
    made = client.create_memory_export(schema="{}", user_id="ada")
    assert [one["memory"] for one in client.get_memory_export(memory_export_id=made["id"])["memories"]] == ["Tea."]
    assert [one["memory"] for one in client.get_memory_export(user_id="ada")["memories"]] == ["Tea."]


def test_feedback(client: MemoryClient) -> None:
    assert client.feedback(stated(client, "Tea."), "positive", "so it is")["feedback"] == "POSITIVE"


def test_what_is_not_served_is_an_error_that_says_so(client: MemoryClient) -> None:
    calls = [
        lambda: client.get_summary(),
        lambda: client.get_profile("ada"),
        lambda: client.generate_profile("ada"),
        lambda: client.get_profile_settings(),
        lambda: client.update_profile_settings(enabled=True),
        lambda: client.sample_profiles(),
        lambda: client.get_profile_job("job"),
        lambda: client.get_project(),
        lambda: client.update_project(custom_instructions="x"),
        lambda: client.get_webhooks("p"),
        lambda: client.create_webhook("http://localhost", "n", "p", ["memory_add"]),
        lambda: client.update_webhook(1, name="n"),
        lambda: client.delete_webhook(1),
    ]
    assert len(calls) == len(NOT_SERVED)
    for call in calls:
        with pytest.raises(MemoryError, match="not served here"):
            call()


def test_a_key_of_one_user_stays_with_that_user(served: tuple[str, str], client: MemoryClient, tmp_path: Path) -> None:
    with Memory(tmp_path / "memory.db", settings=SETTINGS) as memory:
        key = memory.keys.create("ada's", tenant="default", user="ada", right=Right.WRITE).text
    bobs = stated(client, "Bob's.", "bob")
    ada = MemoryClient(api_key=key, host=served[0])
    assert ada.add("Mine.", infer=False)["results"][0]["user_id"] == "ada"
    assert ada.get_all()["count"] == 1
    with pytest.raises(MemoryNotFoundError):
        ada.get(bobs)
    with pytest.raises(AuthenticationError):
        ada.get_all(filters={"user_id": "bob"})


def test_the_client_that_is_awaited(served: tuple[str, str]) -> None:
    async def talk() -> list[str]:
        url, key = served
        async with AsyncMemoryClient(api_key=key, host=url) as client:
            added = await client.add("I drink tea.", user_id="ada", infer=False)
            id = added["results"][0]["id"]
            await client.update(id, text="I drink coffee.")
            found = await client.search("drink", filters={"user_id": "ada"})
            await client.delete(id)
            return [one["memory"] for one in found["results"]]

    assert asyncio.run(talk()) == ["I drink coffee."]
