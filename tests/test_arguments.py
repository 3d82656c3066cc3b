"""What verbs take: whatever a parameter is given, only our own errors come out, and what was stored can be read."""

from __future__ import annotations

import array
import asyncio
import enum
import inspect
import itertools
import threading
from collections import UserDict, UserList, deque
from collections.abc import Callable, Iterator
from dataclasses import fields
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import cache
from pathlib import Path, PurePosixPath
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock
from uuid import UUID

import numpy as np
import pytest

from mnemic import (
    SHARED,
    AsyncMemory,
    AsyncScopedMemory,
    Filter,
    Invalid,
    Kind,
    Marks,
    Memory,
    Message,
    MnemicError,
    Order,
    Reach,
    ScopedMemory,
    Session,
    Settings,
    State,
    Statement,
    Writing,
)
from mnemic.admin import Admin
from mnemic.aio import AsyncAdmin
from mnemic.core.items import Channel
from mnemic.ingest.message import ExchangeMessage
from mnemic.testing.generators import ManualClock
from mnemic.verbs.statements import REVISABLE
from mnemic.verbs.transacting import Transaction

QUIET = Settings(background=False, embedder="none")
SAID = ExchangeMessage(said=Message(text="I saw a fox.", key=""), channel=Channel.USER, prompt="m1")


class Foreign(enum.Enum):
    USER = "user"


class ForeignText(enum.StrEnum):
    USER = "user"


class ForeignNumber(enum.IntEnum):
    ONE = 1


class Unspeakable:
    """Raises whatever it is asked."""

    def __repr__(self) -> str:
        raise RuntimeError("no repr")

    __str__ = __repr__

    def _refuse(self, *_: object) -> Any:
        raise RuntimeError("no")

    __eq__ = __lt__ = __len__ = __bool__ = __iter__ = __getitem__ = __hash__ = __fspath__ = __float__ = __index__ = (
        _refuse  # type: ignore[assignment]
    )


class Text(str):
    """A string that says it is another."""

    def __str__(self) -> str:
        raise RuntimeError("no str")

    __repr__ = __str__


class Number(int):
    def __repr__(self) -> str:
        raise RuntimeError("no repr")

    __str__ = __repr__


@cache
def _deep() -> object:
    nested: object = "x"
    for _ in range(100_000):
        nested = [nested]
    return nested


def _circle() -> list[object]:
    circle: list[object] = []
    circle.append(circle)
    return circle


NONSENSE: dict[str, Callable[[], object]] = {
    "none": lambda: None,
    "true": lambda: True,
    "zero": lambda: 0,
    "minus one": lambda: -1,
    "2**63": lambda: 2**63,
    "2**64": lambda: 2**64,
    "a huge number": lambda: 10**5_000,
    "a hugely negative number": lambda: -(10**400),
    "float": lambda: 1.5,
    "nan": lambda: float("nan"),
    "infinity": lambda: float("inf"),
    "numpy number": lambda: np.int64(3),
    "numpy float": lambda: np.float32(0.5),
    "numpy text": lambda: np.str_("a"),
    "complex": lambda: 1j,
    "decimal": lambda: Decimal("NaN"),
    "fraction": lambda: Fraction(1, 3),
    "number that cannot be shown": lambda: Number(3),
    "foreign number": lambda: ForeignNumber.ONE,
    "foreign enum": lambda: Foreign.USER,
    "foreign text enum": lambda: ForeignText.USER,
    "kind": lambda: Kind.FACT,
    "state": lambda: State.RETIRED,
    "empty": lambda: "",
    "blank": lambda: " \t\n\u3000",
    "nul": lambda: "a\x00b",
    "lone surrogate": lambda: "a\ud800b",
    "control": lambda: "a\x1bb\x7f",
    "right to left": lambda: "\u202eab\u2066",
    "long": lambda: "x" * 300_000,
    "text that cannot be shown": lambda: Text("fox"),
    "emoji": lambda: "👩‍👩‍👧" * 5,
    "path up": lambda: "../../up",
    "digits": lambda: "٣",
    "bytes": lambda: b"bytes",
    "bytearray": lambda: bytearray(b"x"),
    "memoryview": lambda: memoryview(b"xy"),
    "array": lambda: array.array("d", [1.0, 2.0]),
    "numpy array": lambda: np.arange(4),
    "numpy texts": lambda: np.array(["a", "b"]),
    "empty numpy array": lambda: np.array([]),
    "list": lambda: ["a"],
    "empty list": list,
    "list of all sorts": lambda: [1, "a", None, b"x", ["y"]],
    "list of surrogates": lambda: ["\ud800"],
    "tuple": lambda: ("a", 1),
    "set": lambda: {1, "a"},
    "deque": lambda: deque(["a"]),
    "user list": lambda: UserList(["a"]),
    "circle": _circle,
    "deep": _deep,
    "dict": lambda: {"a": 1},
    "dict with odd keys": lambda: {1: "a", None: "b", ("x",): {2: "y"}},
    "dict with odd keys within": lambda: {"a": {1: "b", "\ud800": "\x00"}},
    "dict with odd values": lambda: {"a": float("nan"), "b": Foreign.USER, "c": b"x", "d": (1, "\x00")},
    "dict of unspeakable": lambda: {"a": Unspeakable()},
    "user dict": lambda: UserDict({"a": 1}),
    "generator": lambda: (c for c in "abc"),
    "endless": lambda: itertools.repeat("x"),
    "range": lambda: range(3),
    "function": lambda: print,
    "class": lambda: dict,
    "object": object,
    "unspeakable": Unspeakable,
    "mock": MagicMock,
    "namespace": lambda: SimpleNamespace(name="x"),
    "exception": lambda: ValueError("x"),
    "path": lambda: PurePosixPath("a"),
    "uuid": lambda: UUID(int=3),
    "naive": lambda: datetime(2026, 1, 1),
    "first moment": lambda: datetime.min.replace(tzinfo=UTC),
    "last moment": lambda: datetime.max.replace(tzinfo=UTC),
    "date": lambda: date(2026, 1, 1),
    "time": lambda: time(1),
    "timedelta": lambda: timedelta(days=1),
    "filter": lambda: Filter(kinds=("x",), said_from=1.5),  # type: ignore[arg-type]
    "message": lambda: Message(text="x", key=3, kind="y", tags=7),  # type: ignore[arg-type]
    "statement": lambda: Statement(text="x", kind=Foreign.USER),  # type: ignore[arg-type]
    "order": lambda: Order(name=1, key=b"x", space="y", payload="z"),  # type: ignore[arg-type]
    "marks": lambda: Marks(soft="x"),  # type: ignore[arg-type]
    "reach": lambda: Reach(k="x", share=float("nan")),  # type: ignore[arg-type]
    "writing": lambda: Writing(pages="x"),  # type: ignore[arg-type]
}


class World:
    """A memory with a little in it, and arguments that each verb takes."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        self.folder = folder
        self.memory = Memory(
            folder / "m.db", settings=QUIET, clock=ManualClock(step=1_000), strategies=[], synchronous="OFF"
        )
        self.me = self.memory.scope(user="ada")
        self.evidence = self.me.observe("I live in Lisbon.", key="first", said=datetime(2026, 1, 1, tzinfo=UTC)).ids[0]
        self.fact = self.me.write("Ada lives in Lisbon.", source=[self.evidence]).ids[0]
        self.other = self.me.write("Ada likes tea.").ids[0]
        self.me.link(self.fact, self.other, "about")
        self.me.branch("try").observe("I live in Porto.")

    def good(self, verb: str) -> dict[str, Any]:
        stop = threading.Event()
        stop.set()
        known: dict[str, Any] = {
            "messages": "I saw a fox.", "text": "Ada likes coffee.", "id": self.other, "where": Filter(),
            "typed": "0", "folder": self.folder / "pages", "file": self.folder / "w.cube", "made_by": {"model": "m"},
            "think": lambda versions: Transaction(answer=len(versions)), "src": self.fact, "dst": self.other,
            "type": "about", "useful": True, "seq": 2, "name": "try", "query": "where does she live?", "a": 1,
            "when": datetime(2026, 1, 2, tzinfo=UTC), "session": "chat", "user": "ada", "to": 3, "tenant": "default",
            "dest": self.folder / "copy.db", "lines": [], "embedder": "none", "hold": 1, "horizon": 1,
            "strategy": "house", "first": 1, "last": 2, "order": Order(name="gc", key="x"), "stop": stop,
            "question": "Where?", "names": ["m1"], "exchange": [SAID],
        }  # fmt: skip
        if verb in ("retry", "cancel"):
            known["id"] = 1
        if verb == "undo_import":
            known["source"] = "notes"
        if verb == "page_out":
            known["id"] = self.evidence
        return known

    def check(self) -> None:
        """Read all that is stored, in every way there is."""
        assert self.memory.admin.verify() == []
        for one in self.memory.admin.stats().users:
            handle = self.memory.scope(user=SHARED if one.user is None else one.user, tenant=one.tenant)
            for version in handle.list(where=Filter(states=tuple(State)), limit=1_000):
                handle.history(version.item.id)
                handle.links(version.item.id)
            handle.log(limit=1_000)
            handle.changes(limit=1_000)
            handle.recall("fox")
            handle.context("tea")
            list(self.memory.admin.export(one.tenant))
        self.memory.admin.stats()

    def close(self) -> None:
        self.memory.close()


def verbs(kind: type) -> list[str]:
    return sorted(n for n, f in vars(kind).items() if inspect.isfunction(f) and not n.startswith("_") and n != "close")


def parameters(verb: Callable[..., object], name: str) -> Iterator[str]:
    for one in list(inspect.signature(verb).parameters.values())[1:]:
        if one.kind is not one.VAR_KEYWORD:
            yield one.name
        elif name in ("write", "supersede", "correct"):
            yield from (f.name for f in fields(Statement) if f.name != "text")
        elif name == "revise":
            yield from sorted(REVISABLE - {"text"})


def arguments(world: World, verb: Callable[..., object], odd: str, value: object) -> tuple[list[Any], dict[str, Any]]:
    """What is given to `verb`: what it must have, and `value` for one of its parameters."""
    good, args, named = world.good(verb.__name__), list[Any](), dict[str, Any]()
    wanted = list(inspect.signature(verb).parameters.values())[1:]
    by_place = [n for n, one in enumerate(wanted) if one.kind is one.VAR_POSITIONAL]
    for n, one in enumerate(wanted):
        if one.kind is one.VAR_POSITIONAL:
            args.append(value if one.name == odd else world.other)
        elif by_place and n < by_place[0]:
            args.append(value if one.name == odd else good[one.name])
        elif one.name == odd:
            named[one.name] = value
        elif one.default is one.empty and one.kind is not one.VAR_KEYWORD:
            named[one.name] = good[one.name]
    if odd not in named and odd not in inspect.signature(verb).parameters:
        named[odd] = value
    if args:
        for one in inspect.signature(verb).parameters.values():
            if one.kind is one.POSITIONAL_OR_KEYWORD and one.name in named:
                args.insert(0, named.pop(one.name))
    return args, named


def foreign(call: Callable[[], object]) -> str | None:
    """What came out that is none of our errors."""
    try:
        found = call()
        if hasattr(found, "close") and not isinstance(found, MagicMock):
            found.close()
    except MnemicError as error:
        try:
            str(error).encode()
        except Exception as shown:  # noqa: BLE001 - whatever it is, it is told
            return f"an error that cannot be shown: {shown!r}"
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is told
        return f"{type(error).__name__}: {str(error)[:100]}"
    return None


def said(wrong: list[str]) -> None:
    if wrong:
        pytest.fail("\n".join(wrong), pytrace=False)


CALLERS_OWN = {("think", "class"), ("progress", "class"), ("lines", "unspeakable"), ("sources", "unspeakable")}
"""What a caller's own function or iterator raises is the caller's."""

PLAIN = [(kind, name) for kind in (ScopedMemory, Memory, Session, Admin) for name in verbs(kind)]


@pytest.mark.parametrize(("kind", "name"), PLAIN, ids=lambda one: getattr(one, "__name__", one))
def test_no_verb_lets_nonsense_in_or_a_foreign_error_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: type, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    verb, wrong, world = getattr(kind, name), list[str](), World(tmp_path / "w")
    for odd in parameters(verb, name):
        target: Any = {ScopedMemory: world.me, Memory: world.memory, Admin: world.memory.admin}.get(kind)
        target = world.me.session("chat") if target is None else target
        for described, make in NONSENSE.items():
            if (odd, described) == ("sources", "endless"):
                continue  # a stream is read for as long as it goes on
            args, named = arguments(world, verb, odd, make())
            told = foreign(lambda a=args, n=named: getattr(target, name)(*a, **n))  # noqa: B023 - called at once  # type: ignore[misc]
            if told is not None and (odd, described) not in CALLERS_OWN:
                wrong.append(f"{name}({odd}={described}): {told}")
        if isinstance(target, Session):
            target.close()
    failed = foreign(world.check)
    if failed is not None:
        wrong.append(f"after {name}: {failed}")
    world.close()
    said(wrong)


def test_nor_does_opening_a_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MNEMIC_HOME", str(tmp_path / "home"))
    wrong = []
    for odd in ("where", "settings", "clock", "entropy", "embedder", "strategies", "model", "nonsense"):
        for described, make in NONSENSE.items():
            named = {"where": "memory:", "settings": QUIET, odd: make()}
            told = foreign(lambda n=named: Memory(**n))  # type: ignore[misc]
            if told is not None:
                wrong.append(f"Memory({odd}={described}): {told}")
    said(wrong)


@pytest.mark.parametrize("field", ["role", "content", "name", "tool_calls", "tool_call_id", "parts", "input"])
def test_nor_does_a_chat_message(tmp_path: Path, field: str) -> None:
    world, wrong = World(tmp_path / "w"), []
    for described, make in NONSENSE.items():
        message: dict[str, object] = {"role": "user", "content": "Good day."}
        if field == "parts":
            message["content"] = [make()]
        elif field == "input":
            message["content"] = [{"type": "tool_use", "name": "x", "id": "y", "input": make()}]
        else:
            message[field] = make()
        told = foreign(lambda m=message: world.me.observe(m))  # type: ignore[misc]
        if told is not None:
            wrong.append(f"{field}={described}: {told}")
    world.check()
    world.close()
    said(wrong)


RECORDS: dict[type, Callable[[World, dict[str, Any]], object]] = {
    Message: lambda w, f: w.me.observe(Message(**{"text": "fox", "key": "", **f})),
    Statement: lambda w, f: w.me.write(Statement(**{"text": "fox", **f})),
    Filter: lambda w, f: w.me.list(where=Filter(**f)),
    Transaction: lambda w, f: w.me.transact(Filter(), lambda _: Transaction(**{"answer": 1, **f})),
    Order: lambda w, f: w.memory.admin.order(Order(**{"name": "gc", "key": "x", **f})),
    Marks: lambda w, f: w.me.session("chat", marks=Marks(**f)).close(),
    Reach: lambda w, f: w.me.session("chat", reach=Reach(**f)).close(),
    Writing: lambda w, f: w.me.session("chat", writing=Writing(**f)).close(),
}


@pytest.mark.parametrize("kind", RECORDS, ids=lambda kind: kind.__name__)
def test_nor_does_a_field_of_what_a_verb_is_given(tmp_path: Path, kind: type) -> None:
    world, wrong = World(tmp_path / "w"), []
    for field in fields(kind):
        for described, make in NONSENSE.items():
            told = foreign(lambda f=field, m=make: RECORDS[kind](world, {f.name: m()}))  # type: ignore[misc]
            if told is not None:
                wrong.append(f"{kind.__name__}({field.name}={described}): {told}")
    world.check()
    world.close()
    said(wrong)


@pytest.mark.parametrize("kind", [AsyncScopedMemory, AsyncAdmin], ids=lambda kind: kind.__name__)
def test_awaited_verbs_take_what_the_plain_ones_take(tmp_path: Path, kind: type) -> None:
    few = {name: NONSENSE[name] for name in ("a huge number", "nan", "numpy array", "foreign enum", "unspeakable")}
    world, wrong = World(tmp_path / "w"), []

    async def main() -> None:
        async with AsyncMemory(world.folder / "m.db", settings=QUIET) as memory:
            target: Any = memory.scope(user="ada") if kind is AsyncScopedMemory else memory.admin
            for name in verbs({AsyncScopedMemory: ScopedMemory, AsyncAdmin: Admin}[kind]):
                verb = getattr(kind, name)
                for odd in parameters(verb, name):
                    for described, make in few.items():
                        args, named = arguments(world, verb, odd, make())
                        try:
                            found = getattr(target, name)(*args, **named)
                            if inspect.isasyncgen(found):
                                async for _ in found:
                                    pass
                            elif inspect.isawaitable(found):
                                await found
                        except MnemicError:
                            pass
                        except Exception as error:  # noqa: BLE001 - whatever it is, it is told
                            if (odd, described) in CALLERS_OWN:
                                continue
                            wrong.append(f"{name}({odd}={described}): {error!r}")

    asyncio.run(main())
    world.check()
    world.close()
    said(wrong)


def test_what_is_wrong_is_said_with_field_value_and_remedy(tmp_path: Path) -> None:
    world = World(tmp_path / "w")
    me = world.me
    for call, told in (
        (
            lambda: me.observe("x", channel=Foreign.USER),
            r"^channel: is Foreign\. Give one of: user, tool, import, model",
        ),  # type: ignore[arg-type]
        (lambda: me.observe("x", channel="post"), r"^channel: 'post' is none\. Give one of: user, tool"),  # type: ignore[arg-type]
        (lambda: me.recall("x", k=10**5_000), r"^k: is a number of 16610 bits\. Give"),
        (lambda: me.recall("x", k="9" * 99), r"^k: is '9{30,40}…, not a whole number\. Give at least 1"),  # type: ignore[arg-type]
        (lambda: me.observe("x", tags=np.array(["a"])), r"^tags: is ndarray, not a list\. Give a list"),  # type: ignore[arg-type]
        (lambda: me.observe("x", tags=[3]), r"^tags\[0\]: is 3, not a string\. "),  # type: ignore[list-item]
        (lambda: me.get(7), r"^id: 7 is not an item id\. Ids have 26 characters"),  # type: ignore[arg-type]
        (lambda: me.list(where={"kinds": ["turn"]}), r"^where: is dict\. Give a Filter\."),  # type: ignore[arg-type]
        (lambda: me.list(where=Filter(kinds=(Foreign.USER,))), r"^where\.kinds\[0\]: is Foreign\. Give one of: turn,"),  # type: ignore[arg-type]
        (lambda: me.transact(Filter(), 3), r"^think: is 3\. Give a function\."),  # type: ignore[arg-type]
        (lambda: me.undo(True), r"^seq: is True, not a whole number\. Give at least 0"),
        (lambda: me.feedback(world.other, useful="no"), r"^useful: is 'no'\. Give True or False\."),  # type: ignore[arg-type]
        (lambda: me.write("x", colour="red"), r"^colour: is no field of a statement\. A statement has: text, kind"),
        (lambda: world.memory.admin.gc(progress="x"), r"^progress: is 'x'\. Give a function\."),  # type: ignore[arg-type]
    ):
        with pytest.raises(Invalid, match=told):
            call()  # type: ignore[no-untyped-call]
    world.close()


def test_a_channel_may_be_named_by_its_value(tmp_path: Path) -> None:
    world = World(tmp_path / "w")
    id = world.me.observe("x", channel="tool").ids[0]  # type: ignore[arg-type]
    assert world.me.get(id).item.channel is Channel.TOOL
    world.close()


# Blank questions


@pytest.mark.parametrize("blank", ["", " ", "\t\n", "\u3000"])
def test_a_blank_question_is_refused_and_a_blank_context_is_what_is_always_on(tmp_path: Path, blank: str) -> None:
    world = World(tmp_path / "w")
    me = world.me
    with me.session("chat") as talk:
        for ask in (me.recall, me.ask, talk.context, lambda words: me.why_not(words, world.fact)):
            with pytest.raises(Invalid, match=r"^query: is empty\. Ask something"):
                ask(blank)  # type: ignore[operator]
    me.pin(world.fact)
    found = me.context(blank)
    assert world.fact in [one.id for one in found.always]
    assert found.items == ()
    assert "Lisbon" in found.text
    assert found.confidence == 0
    world.close()


def test_what_is_missing_or_unknown_is_said_with_its_name_and_the_nearest(tmp_path: Path) -> None:
    world = World(tmp_path / "w")
    me, memory = world.me, world.memory
    for call, told in (
        (lambda: me.review(reason="y"), r"^reason: is no parameter of review\. It takes none by name\."),  # type: ignore[call-arg]
        (lambda: me.observe("x", speeker="Ada"), r"^speeker: is no parameter of observe\. Did you mean 'speaker'\?"),  # type: ignore[call-arg]
        (lambda: memory.session(policy="lru"), r"^session: is missing, which session must have\. Give session=\.\.\."),  # type: ignore[call-arg]
        (lambda: memory.session("chat", policy="lru"), r"^user: is missing, which session must have\. Give user="),  # type: ignore[call-arg]
        (memory.scope, r"^user: is missing\. .*user='me' is what the command line writes as \(setting user\)"),
        (lambda: me.feedback(world.other), r"^useful: is missing"),  # type: ignore[call-arg]
        (lambda: me.recall(), r"^query: is missing"),  # type: ignore[call-arg]
        (lambda: me.session("chat", policy="mruu"), r"^policy: 'mruu' is not one\. (Did you mean|There are)"),
        (lambda: me.write("x", colour="red"), r"^colour: is no field of a statement"),
    ):
        with pytest.raises(Invalid, match=told):
            call()  # type: ignore[no-untyped-call]
    world.close()
