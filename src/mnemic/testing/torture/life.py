"""One user's mixed work, as acts whose outcome can be told beforehand, done by any pair of hands."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from random import Random
from typing import Final, Protocol

from mnemic.core.ids import ItemId
from mnemic.errors import Conflict, NotFound
from mnemic.testing.torture.carried import carried
from mnemic.testing.torture.subject import ActReport, Say

_WEIGHTS: Final = {
    "observe": 8,
    "write": 8,
    "revise": 5,
    "supersede": 4,
    "forget": 3,
    "link": 4,
    "undo": 4,
    "erase": 2,
    "rewind": 3,
    "collect": 2,
    "write_expiring": 3,
    "retire": 2,
    "pack": 2,
    "count": 2,
    "load": 2,
}
_NOT_UNDONE: Final = ("undo", "erase", "rewind", "collect")
_FEW: Final = 4
"""Items a user has before any is revised, forgotten or erased."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActResult:
    """The result of one act: its commit, the items it wrote, and whether an erasure has left no byte."""

    seq: int
    ids: tuple[ItemId, ...] = ()
    clean: bool = False


class Hands(Protocol):
    """The calls that a life makes. Every key makes its call safe to repeat."""

    acts: frozenset[str]
    """Which of the acts these hands can do."""
    reopens: bool
    """Whether erasing what superseded something lets that stand again."""

    def observe(self, texts: tuple[str, ...], key: str) -> ActResult: ...

    def write(self, text: str, key: str) -> ActResult: ...

    def revise(self, item: ItemId, text: str, key: str) -> ActResult: ...

    def supersede(self, item: ItemId, text: str, key: str) -> ActResult: ...

    def forget(self, item: ItemId, key: str) -> ActResult: ...

    def link(self, src: ItemId, dst: ItemId, key: str) -> ActResult: ...

    def undo(self, seq: int, key: str) -> ActResult: ...

    def erase(self, item: ItemId) -> ActResult: ...

    def rewind(self, seq: int) -> ActResult: ...

    def collect(self, seq: int) -> ActResult: ...

    def write_expiring(self, text: str, key: str) -> ActResult:
        """Write a fact that expires: only `retire` lives to see it."""
        ...

    def retire(self, items: tuple[ItemId, ...]) -> ActResult:
        """Have the lane of expiry retire these, as if their time had run out."""
        ...

    def pack(self) -> ActResult:
        """Pack what this user has."""
        ...

    def count(self) -> ActResult:
        """Show this user something, and write that it was."""
        ...

    def load(self, tenant: str) -> ActResult:
        """Load an exported journal as another tenant."""
        ...

    def head(self) -> tuple[int, str]:
        """Where the journal stands: seq and hash."""
        ...


@dataclass(frozen=True, slots=True)
class Mind:
    """What the user expects to be remembered.

    Attributes:
        facts, turns: Texts by id.
        older: What each fact took the place of.
        expiring: Those that the lane of expiry would take, some of them gone already.
        tenants: Tenants that were loaded; they stay, whatever becomes of this user's.
    """

    facts: dict[ItemId, str] = field(default_factory=dict)
    turns: dict[ItemId, str] = field(default_factory=dict)
    links: frozenset[str] = frozenset()
    older: dict[ItemId, tuple[ItemId, str]] = field(default_factory=dict)
    expiring: frozenset[ItemId] = frozenset()
    tenants: frozenset[str] = frozenset()

    def seen(self) -> set[str]:
        """All that an audit must find."""
        return {*self.facts.values(), *self.turns.values(), *self.links, *self.tenants}

    def without(self, items: Collection[ItemId]) -> Mind:
        """What is expected once these facts are hidden, with the links that tie them."""
        links = frozenset(link for link in self.links if not any(item in link for item in items))
        return replace(self, facts={i: text for i, text in self.facts.items() if i not in items}, links=links)


@dataclass(frozen=True, slots=True)
class _Act:
    name: str
    call: Callable[[], ActResult]
    after: Callable[[ActResult], Mind]
    adds: tuple[str, ...] = ()
    drops: tuple[str, ...] = ()
    erases: str | None = None
    seq: int = 0
    """The commit that a rewind brings the journal back to, or before which a collection gives it up."""


def tenant_text(tenant: str, digest: str) -> str:
    """How a tenant that was loaded, and the hash of the last commit that came with it, are told in a promise."""
    return f"tenant {tenant}: {digest}"


def link_text(src: str, dst: str) -> str:
    """How a link is told in a promise."""
    return f"{src} -> {dst}"


class WorkingLife:
    """A life of random acts; it knows the outcome of each before it is done.

    Args:
        alone: Nobody else works on the store: it may be brought back to an earlier commit, and give up its past.
    """

    def __init__(self, hands: Hands, who: str, seed: int, *, alone: bool = False) -> None:
        self._hands = hands
        self._who = who
        self._random = Random(f"{who}:{seed}")
        self._number = 0
        self._mind = Mind()
        self._before = Mind()
        self._undoable: int | None = None
        self._alone = alone
        self._path: list[tuple[int, Mind]] = []
        """Where the journal stood after each act since the last erasure, and what was to be seen then."""
        self._pending: _Act | None = None
        self._done: ActResult | None = None

    def step(self, say: Say) -> None:
        """One act. After an error the next step repeats it, with the same key."""
        again = self._pending is not None
        act = self._pending = self._pending or self._next()
        said = ActReport(who=self._who, act=act.name, adds=act.adds, drops=act.drops, seq=act.seq)
        say(said.line())
        self._done = self._done or self._call(act, again)
        seq, digest = self._hands.head()
        gone = (act.erases,) if act.erases is not None and self._done.clean else ()
        self._take(act, self._done, seq)
        say(replace(said, done=True, gone=gone, seq=seq, hash=digest).line())

    def _call(self, act: _Act, again: bool) -> ActResult:
        try:
            return act.call()
        except (Conflict, NotFound):
            # what a repeated act answers when it had landed, and no key could tell it so
            if not again:
                raise
            return ActResult(seq=0)

    def _take(self, act: _Act, done: ActResult, seq: int) -> None:
        self._before, self._mind = self._mind, act.after(done)
        self._undoable = None if act.name in _NOT_UNDONE else done.seq or None
        self._path = [*self._kept(act), (seq, self._mind)]
        self._pending = self._done = None

    def _kept(self, act: _Act) -> list[tuple[int, Mind]]:
        """Of where the journal stood, what it may still be brought back to."""
        match act.name:
            case "erase":
                return []
            case "rewind":
                return [commit for commit in self._path if commit[0] < act.seq]
            case "collect":
                return [commit for commit in self._path if commit[0] >= act.seq]
            case _:
                return self._path

    def _next(self) -> _Act:
        self._number += 1
        key = f"{self._who}:{self._number}"
        names = [name for name in _WEIGHTS if name in self._hands.acts and self._can(name)]
        name = self._random.choices(names, [_WEIGHTS[name] for name in names])[0]
        act: _Act = getattr(self, f"_{name}")(key)
        return act

    def _can(self, name: str) -> bool:
        match name:
            case "observe" | "write" | "write_expiring":
                return True
            case "undo":
                return self._undoable is not None
            case "retire":
                return bool(self._expiring())
            case "pack" | "count" | "load":
                return bool(self._mind.facts)
            case "link":
                return len(self._mind.facts) > 1
            case "rewind" | "collect":
                return self._alone and len(self._path) > 1
            case _:
                return len(self._mind.facts) >= _FEW

    def _text(self) -> str:
        words = " ".join(self._random.choices(_WORDS, k=self._random.randint(3, 40)))
        return f"{canary(self._who, self._number, self._random.getrandbits(32))} {words}"

    def _any_fact(self) -> tuple[ItemId, str]:
        return self._random.choice(list(self._mind.facts.items()))

    def _observe(self, key: str) -> _Act:
        texts = tuple(self._text() for _ in range(self._random.randint(1, 3)))
        mind = self._mind
        return _Act(
            "observe",
            lambda: self._hands.observe(texts, key),
            lambda done: replace(mind, turns={**mind.turns, **dict(zip(done.ids, texts, strict=True))}),
            adds=texts,
        )

    def _write(self, key: str) -> _Act:
        text, mind = self._text(), self._mind
        return _Act(
            "write",
            lambda: self._hands.write(text, key),
            lambda done: replace(mind, facts={**mind.facts, done.ids[0]: text}),
            adds=(text,),
        )

    def _revise(self, key: str) -> _Act:
        (item, old), text, mind = self._any_fact(), self._text(), self._mind
        return _Act(
            "revise",
            lambda: self._hands.revise(item, text, key),
            lambda _: replace(mind, facts={**mind.facts, item: text}),
            adds=(text,),
            drops=(old,),
        )

    def _supersede(self, key: str) -> _Act:
        (item, old), text, mind = self._any_fact(), self._text(), self._mind
        rest = {i: text for i, text in mind.facts.items() if i != item}
        return _Act(
            "supersede",
            lambda: self._hands.supersede(item, text, key),
            lambda done: self._superseded(mind, rest, done, text, (item, old)),
            adds=(text,),
            drops=(old,),
        )

    @staticmethod
    def _superseded(mind: Mind, rest: dict[ItemId, str], done: ActResult, text: str, old: tuple[ItemId, str]) -> Mind:
        if not done.ids:
            return replace(mind, facts=rest)
        new = done.ids[0]
        return replace(mind, facts={**rest, new: text}, older={**mind.older, new: old})

    def _forget(self, key: str) -> _Act:
        (item, _old), mind = self._any_fact(), self._mind
        after = mind.without((item,))
        return _Act(
            "forget",
            lambda: self._hands.forget(item, key),
            lambda _: after,
            drops=_lost(mind, after),
        )

    def _link(self, key: str) -> _Act:
        src, dst = self._random.sample(list(self._mind.facts), 2)
        text, mind = link_text(src, dst), self._mind
        return _Act(
            "link",
            lambda: self._hands.link(src, dst, key),
            lambda _: replace(mind, links=mind.links | {text}),
            adds=(text,),
        )

    def _undo(self, key: str) -> _Act:
        seq, mind = self._undoable, self._mind
        assert seq is not None
        # What was retired because its time had run out comes back to stay.
        before = replace(self._before, expiring=self._before.expiring & mind.expiring)
        return _Act(
            "undo",
            lambda: self._hands.undo(seq, key),
            lambda _: before,
            adds=_lost(before, mind),
            drops=_lost(mind, before),
        )

    def _erase(self, _: str) -> _Act:
        (item, old), mind = self._any_fact(), self._mind
        back = dict([mind.older[item]]) if self._hands.reopens and item in mind.older else {}
        rest = mind.without((item,))
        return _Act(
            "erase",
            lambda: self._hands.erase(item),
            lambda _: replace(rest, facts={**rest.facts, **back}),
            adds=tuple(back.values()),
            drops=_lost(mind, rest),
            erases=old,
        )

    def _rewind(self, _: str) -> _Act:
        seq, then = self._random.choice(self._path[:-1])
        mind = self._mind
        after = replace(then, tenants=mind.tenants)
        return _Act(
            "rewind",
            lambda: self._hands.rewind(seq),
            lambda _: after,
            adds=_lost(after, mind),
            drops=_lost(mind, after),
            seq=seq,
        )

    def _collect(self, _: str) -> _Act:
        seq, _mind = self._random.choice(self._path)
        mind = self._mind
        return _Act("collect", lambda: self._hands.collect(seq), lambda _: mind, seq=seq)

    def _write_expiring(self, key: str) -> _Act:
        text, mind = self._text(), self._mind
        return _Act(
            "write_expiring",
            lambda: self._hands.write_expiring(text, key),
            lambda done: replace(mind, facts={**mind.facts, done.ids[0]: text}, expiring=mind.expiring | {done.ids[0]}),
            adds=(text,),
        )

    def _expiring(self) -> tuple[ItemId, ...]:
        return tuple(sorted(self._mind.expiring & self._mind.facts.keys()))

    def _retire(self, _: str) -> _Act:
        items, mind = self._expiring(), self._mind
        after = replace(mind.without(items), expiring=frozenset())
        return _Act("retire", lambda: self._hands.retire(items), lambda _: after, drops=_lost(mind, after))

    def _pack(self, _: str) -> _Act:
        mind = self._mind
        return _Act("pack", self._hands.pack, lambda _: mind)

    def _count(self, _: str) -> _Act:
        mind = self._mind
        return _Act("count", self._hands.count, lambda _: mind)

    def _load(self, key: str) -> _Act:
        mind, loaded = self._mind, tenant_text(key, carried().hash)
        return _Act(
            "load",
            lambda: self._hands.load(key),
            lambda _: replace(mind, tenants=mind.tenants | {loaded}),
            adds=(loaded,),
        )


def canary(who: str, number: int, noise: int) -> str:
    """One word that occurs nowhere else."""
    return f"{who.replace('-', '')}n{number}x{noise:08x}"


def _lost(before: Mind, after: Mind) -> tuple[str, ...]:
    """What is seen before and not after."""
    return tuple(sorted(before.seen() - after.seen()))


_WORDS: Final = (
    *("the", "harbour", "was", "grey", "and", "my", "sister", "moved", "from", "Paris", "to", "Lisbon", "in", "March"),
    *("because", "rent", "went", "up", "we", "planned", "dinner", "without", "她", "搬到", "里斯本", "去年", "喜欢"),
)
