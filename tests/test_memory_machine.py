"""Any run of verbs leaves both stores as a plain model says: views, histories, links, undo, erasure, restarts.

The fast profile runs with the suite; the long one with `python -m pytest -m slow tests/test_memory_machine.py`.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from mnemic import SHARED, Memory, MnemicError, Settings
from mnemic.core.clock import moment
from mnemic.core.items import Channel, Item, Kind, Version
from mnemic.core.queries import Filter
from mnemic.core.scope import Shared
from mnemic.errors import Invalid, NotFound
from mnemic.memory import ScopedMemory
from mnemic.testing import model as plain
from mnemic.testing.generators import REFUSED, START, TEXTS, ManualClock, SeededEntropy, words
from mnemic.testing.model import Model, ModelVersion, VersionSpan

USERS = ("ada", "Ada", "ada'; DROP TABLE version; --", plain.SHARED)
SESSIONS = (None, "s1", "S1", "会议%")
TYPES = ("about", "关于'--")
HOUR = 3_600_000_000
LONG = 32 * 1024

users = st.sampled_from((*USERS[:1] * 4, *USERS))  # most of it in one space, where things meet
picks = st.integers(0, 10**6)
texts = st.sampled_from([text for text in TEXTS if len(text.encode()) < 20_000]) | st.text(
    min_size=1, max_size=40
).filter(lambda text: text.strip() and "\x00" not in text)
moments = st.none() | st.integers(-40, 120).map(lambda n: moment(START + n * 6 * HOUR))
spans = st.none() | st.integers(1, 100).map(lambda n: timedelta(hours=n))


class MemoryMachine(RuleBasedStateMachine):
    """Both stores and the model, side by side."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.clock = ManualClock()
        self.entropies = {name: SeededEntropy(7) for name in ("sqlite", "memory")}
        self.memories = {name: self._open(name) for name in self.entropies}
        self.model = Model()
        self.words = words("machine")
        self.worded: dict[str, list[str]] = {}
        self.ids: list[str] = []
        self.keyed: list[tuple[str, str, dict[str, Any], Channel]] = []

    def teardown(self) -> None:
        try:
            self._every_past_is_as_the_model_says()
        finally:
            for memory in self.memories.values():
                memory.close()
            shutil.rmtree(self.folder)

    # Writing

    @rule(
        user=users,
        text=texts,
        said=moments,
        session=st.sampled_from(SESSIONS),
        mail=st.booleans(),
        key=st.booleans(),
        lasting=st.booleans(),
    )
    def observe(
        self, user: str, text: str, said: datetime | None, session: str | None, mail: bool, key: bool, lasting: bool
    ) -> None:
        text = self._worded(text)
        given = {"text": text, "said": said, "session": session, "mail": mail}
        name = f"key'{len(self.keyed)}" if key else None
        channel = Channel.IMPORT if lasting else Channel.USER
        if name is not None:
            self.keyed.append((user, name, given, channel))
        self._observe(user, given, name, channel)

    @precondition(lambda self: self.keyed)
    @rule(pick=picks, change=st.booleans())
    def observe_again(self, pick: int, change: bool) -> None:
        user, name, given, channel = self.keyed[pick % len(self.keyed)]
        if change:
            given = {**given, "text": given["text"] + "!"}
        self._observe(user, given, name, channel)

    def _observe(self, user: str, given: dict[str, Any], key: str | None, channel: Channel) -> None:
        done = self.both(
            lambda m: self.handle(m, user, given["session"]).observe(
                given["text"],
                said=given["said"],
                key=key,
                channel=channel,
                slots={"source": "mail"} if given["mail"] else None,
            )
        )
        says = ModelVersion(
            text=given["text"], kind=Kind.TURN, said=given["said"] or self.now, session=given["session"],
            from_source="mail" if given["mail"] else None,
        )  # fmt: skip
        ids = [] if isinstance(done, MnemicError) else list(done.ids)
        self.expect(
            done,
            lambda: self.model.add(
                user,
                dict.fromkeys(ids or ["?"], says),
                self.now,
                key=key,
                content=given,
                lasting=channel is Channel.IMPORT,
            ),
        )
        self._met(ids, given["text"])

    @rule(user=users, lead=st.sampled_from(["long " * 9_000, "汉" * 12_000, "x" * 64 * 1024, "a para\n\n" * 5_000]))
    def observe_long(self, user: str, lead: str) -> None:
        text = self._worded(lead)
        done = self.both(lambda m: self.handle(m, user).observe(text))
        shown = {v.item.id: v.item for v in self.handle(self.memories["memory"], user).list(limit=1000)}
        head, *chunks = (shown[one] for one in done.ids)
        assert head.kind is Kind.DOCUMENT
        assert "".join("".join(c.text.split()) for c in chunks) == "".join(text.split())
        assert all(c.kind is Kind.CHUNK and c.source == (head.id,) and len(c.text.encode()) <= LONG for c in chunks)
        says = {i.id: ModelVersion(text=i.text, kind=i.kind, said=self.now, source=i.source) for i in (head, *chunks)}
        self.expect(done, lambda: self.model.add(user, says, self.now))
        self._met([chunks[-1].id], text)
        self.ids += done.ids

    @rule(
        user=users, text=texts, said=moments, starts=moments, lasts=spans,
        tags=st.sampled_from([(), ("red",), ("red", "RED'")]), kind=st.sampled_from([Kind.FACT, Kind.PLAN]),
        sources=st.lists(picks, max_size=2), session=st.sampled_from(SESSIONS),
    )  # fmt: skip
    def write(
        self, user: str, text: str, said: datetime | None, starts: datetime | None, lasts: timedelta | None,
        tags: tuple[str, ...], sources: list[int], session: str | None, kind: Kind,
    ) -> None:  # fmt: skip
        text, cited = self._worded(text), self._cited(user, sources)
        when = said or self._latest(user, cited)
        ends = None if lasts is None else (starts or when) + lasts
        done = self.both(
            lambda m: self.handle(m, user, session).write(
                text, kind=kind, said=said, valid_from=starts, valid_to=ends, source=cited, tags=tags
            )
        )
        says = ModelVersion(
            text=text, kind=kind, said=when, valid_from=starts, valid_to=ends, source=cited, session=session,
            tags=tuple(sorted(tags)),
        )  # fmt: skip
        self.expect(done, lambda: self.model.add(user, {done.id: says}, self.now))
        self._met(done.ids, text)

    @rule(user=users, text=st.sampled_from(REFUSED), pick=picks)
    def write_what_cannot_be_kept(self, user: str, text: str, pick: int) -> None:
        for verb in (lambda m: self.handle(m, user).observe(text), lambda m: self.handle(m, user).write(text)):
            assert isinstance(self.both(verb), Invalid)

    @precondition(lambda self: self.ids)
    @rule(user=users, pick=picks, text=texts, same=st.booleans())
    def revise(self, user: str, pick: int, text: str, same: bool) -> None:
        item = self._mostly_own(user, pick)
        text = self.worded_text(user, item) if same else self._worded(text)
        done = self.both(lambda m: self.handle(m, user).revise(item, text))
        self.expect(done, lambda: self.model.revise(user, item, text, self.now))
        if not isinstance(done, MnemicError):
            self._met([item], text)

    @precondition(lambda self: self.ids)
    @rule(user=users, pick=picks, text=texts, said=moments, starts=moments, sources=st.lists(picks, max_size=2))
    def supersede(
        self, user: str, pick: int, text: str, said: datetime | None, starts: datetime | None, sources: list[int]
    ) -> None:
        old = self._mostly_own(user, pick)
        text, cited = self._worded(text), self._cited(user, sources)
        done = self.both(
            lambda m: self.handle(m, user).supersede(old, text, said=said, valid_from=starts, source=cited)
        )
        says = ModelVersion(
            text=text, kind=Kind.FACT, said=said or self._latest(user, cited), valid_from=starts, source=cited
        )
        fresh = "?" if isinstance(done, MnemicError) else done.id
        self.expect(done, lambda: self.model.supersede(user, old, fresh, says, self.now))
        if fresh != "?":
            self._met([fresh], text)

    @precondition(lambda self: self.ids)
    @rule(user=users, picked=st.lists(picks, min_size=1, max_size=3))
    def forget(self, user: str, picked: list[int]) -> None:
        items = list(dict.fromkeys(self._mostly_own(user, pick) for pick in picked))
        done = self.both(lambda m: self.handle(m, user).forget(*items))
        self.expect(done, lambda: self.model.forget(user, items, self.now))

    @precondition(lambda self: self.ids)
    @rule(user=users, picked=st.lists(picks, min_size=1, max_size=2), pinned=st.booleans())
    def pin(self, user: str, picked: list[int], pinned: bool) -> None:
        items = list(dict.fromkeys(self._mostly_own(user, pick) for pick in picked))
        done = self.both(lambda m: self.handle(m, user).pin(*items) if pinned else self.handle(m, user).unpin(*items))
        self.expect(done, lambda: self.model.pin(user, items, pinned, self.now))

    @precondition(lambda self: self.ids)
    @rule(user=users, a=picks, b=picks, type_=st.sampled_from(TYPES), weight=st.sampled_from([1.0, 0.25]))
    def link(self, user: str, a: int, b: int, type_: str, weight: float) -> None:
        src, dst = self._mostly_own(user, a), self._mostly_own(user, b)
        done = self.both(lambda m: self.handle(m, user).link(src, dst, type_, weight=weight))
        self.expect(done, lambda: self.model.link(user, (src, dst, type_), weight, self.now))

    @rule(user=users, pick=picks)
    def unlink(self, user: str, pick: int) -> None:
        space = self.model.spaces.get(user)
        tied = [ln for ln in space.links if space.tied(ln.ends) == ln] if space else []
        if tied:
            ends = tied[pick % len(tied)].ends
            done = self.both(lambda m: self.handle(m, user).unlink(*ends))
            self.expect(done, lambda: self.model.link(user, ends, None, self.now))

    # Taking back, taking out

    @rule(user=users, pick=picks, cascade=st.booleans(), own=st.booleans())
    def undo(self, user: str, pick: int, cascade: bool, own: bool) -> None:
        mine = self.model.commits(user)
        seq = mine[-1 - pick % min(len(mine), 4)] if own and mine else 1 + pick % (self.model.seq + 1)
        done = self.both(lambda m: self.handle(m, user).undo(seq, cascade=cascade))
        self.expect(done, lambda: self.model.undo(user, seq, self.now, cascade=cascade))

    @precondition(lambda self: self.ids)
    @rule(user=users, picked=st.lists(picks, min_size=1, max_size=2), reason=st.sampled_from(["", "asked 'to'"]))
    def erase(self, user: str, picked: list[int], reason: str) -> None:
        items = [self._mostly_own(user, pick) for pick in picked]
        self._erased(user, items, self.both(lambda m: self.handle(m, user).erase(*items, reason=reason)))

    @rule(user=users, session=st.sampled_from(SESSIONS[1:]), by_source=st.booleans())
    def erase_by(self, user: str, session: str, by_source: bool) -> None:
        if by_source:
            done = self.both(lambda m: self.handle(m, user).erase(source="mail"))
        else:
            done = self.both(lambda m: self.handle(m, user).erase(session=session))
        standing = self.model.spaces[user].standing() if user in self.model.spaces else {}
        found = [i for i, s in standing.items() if (s.from_source == "mail" if by_source else s.session == session)]
        self._erased(user, found, done)

    def _erased(self, user: str, items: list[str], done: Any) -> None:
        before = self.model.seq
        went = self.expect(done, lambda: self.model.erase(user, items, self.now))
        if went is not None:
            assert set(done.ids) == went
            assert done.seq == (before + 1 if went else None)
            assert done.status == "clean"

    @rule(user=users, pick=picks)
    def erase_user(self, user: str, pick: int) -> None:
        if pick % 4 == 0:
            done = self.both(lambda m: self.handle(m, user).erase_user())
            went = self.expect(done, lambda: self.model.erase_user(user, self.now))
            assert went is None or set(done.ids) == went

    @precondition(lambda self: self.model.seq)
    @rule(pick=picks)
    def compact(self, pick: int) -> None:
        horizon = max(0, self.model.seq + 1 - pick % (self.model.seq + 3))
        done = self.both(lambda m: m.admin.compact(horizon))
        dropped = self.expect(done, lambda: self.model.compact(horizon, self.now))
        assert dropped is None or done == dropped

    # Going on

    @rule(hours=st.sampled_from([0, 1, 30, -5, 60]))
    def time_passes(self, hours: int) -> None:
        self.clock.tick(hours * HOUR)

    @rule()
    def restart(self) -> None:
        self.memories["sqlite"].close()
        self.memories["sqlite"] = self._open("sqlite")

    @precondition(lambda self: self.model.seq)
    @rule(from_=st.sampled_from(["sqlite", "memory"]), to_file=st.booleans())
    def carry(self, from_: str, to_file: bool) -> None:
        source = self.memories[from_]
        with tempfile.TemporaryDirectory() as folder, Memory(Path(folder) / "m.db" if to_file else "memory:") as fresh:
            assert fresh.admin.load(source.admin.export()).commits == len(list(source.admin.export())) - len(
                [line for line in source.admin.export() if not line.startswith(b'{"change"')]
            )
            assert fresh.admin.state_hash() == source.admin.state_hash()
            assert list(fresh.admin.verify()) == []
            assert list(fresh.admin.export()) == list(source.admin.export())
            for user in self.model.spaces:
                self._same(self.handle(fresh, user), self.model.seen(user, self.now))

    # Looking

    @rule(
        user=users,
        at=st.none() | picks,
        as_of=moments,
        valid_at=moments,
        session=st.sampled_from(SESSIONS),
        red=st.booleans(),
    )
    def look(
        self,
        user: str,
        at: int | None,
        as_of: datetime | None,
        valid_at: datetime | None,
        session: str | None,
        red: bool,
    ) -> None:
        seq = None if at is None else at % (self.model.seq + 1)
        where = Filter(session=session, tags=("red",) if red else (), kinds=(Kind.FACT, Kind.TURN) if red else ())

        def meant(says: ModelVersion) -> bool:
            return (session is None or says.session == session) and (
                not red or ("red" in says.tags and says.kind in (Kind.FACT, Kind.TURN))
            )

        def view(memory: Memory) -> ScopedMemory:
            handle = self.handle(memory, user)
            handle = handle if seq is None else handle.at(seq)
            handle = handle if as_of is None else handle.as_of(as_of)
            return handle if valid_at is None else handle.valid_at(valid_at)

        done = self.both(lambda m: (view(m).count(where=where), view(m).list(where=where, limit=1000)))
        shown = self.expect(
            done, lambda: self.model.seen(user, self.now, at=seq, as_of=as_of, valid_at=valid_at, where=meant)
        )
        if shown is not None:
            assert done[0] == len(shown)
            self._agree(done[1], shown)

    @rule(user=users, back=st.integers(-10, 100))
    def look_at_a_moment(self, user: str, back: int) -> None:
        last = self.model.journal[-1].at if self.model.journal else self.now  # ahead, where the clock was put back
        when = min(self.now - timedelta(hours=back), max(self.now, last))
        done = self.both(lambda m: self.handle(m, user).at(when).list(limit=1000))
        shown = self.expect(done, lambda: self.model.seen(user, self.now, at=when))
        if shown is not None:
            self._agree(done, shown)

    @precondition(lambda self: self.ids)
    @rule(user=users, pick=picks, at=st.none() | picks)
    def look_at_one(self, user: str, pick: int, at: int | None) -> None:
        item = self._any(pick)
        story = self.both(lambda m: self.handle(m, user).history(item))
        told = self.expect(story, lambda: self.model.history(user, item))
        if told is not None:
            for version, was in zip(
                sorted(story, key=lambda v: (v.seq_from, v.item.said, v.item.id)), told, strict=True
            ):
                self._alike(version, was)
        seq = None if at is None else max(self.model.horizon, at % (self.model.seq + 1))
        links = self.both(lambda m: (self.handle(m, user) if seq is None else self.handle(m, user).at(seq)).links(item))
        found = [(ln.src, ln.dst, ln.type, ln.weight) for ln in links]
        assert sorted(found) == sorted((*ln.ends, ln.weight) for ln in self.model.links(user, item, seq))

    @rule(user=users, a=picks, b=picks)
    def compare(self, user: str, a: int, b: int) -> None:
        first, last = a % (self.model.seq + 1), b % (self.model.seq + 1)
        done = self.both(lambda m: self.handle(m, user).diff(first, last))
        shown = self.expect(done, lambda: (self._own_at(user, first), self._own_at(user, last)))
        if shown is None:
            return
        before, after = shown
        changed = {i for i in before.keys() | after.keys() if self._says(before, i) != self._says(after, i)}
        assert {d.id for d in done} == changed
        for d in done:
            assert (d.before and d.before.text) == (before[d.id].says.text if d.id in before else None)
            assert (d.after and d.after.text) == (after[d.id].says.text if d.id in after else None)

    def _own_at(self, user: str, seq: int) -> dict[str, VersionSpan]:
        if user not in self.model.spaces:
            raise NotFound(user)
        alone = Model()
        alone.spaces, alone.horizon = {user: self.model.spaces[user]}, self.model.horizon
        alone.journal = self.model.journal
        return alone.seen(user, self.now, at=seq) if seq else {}

    @staticmethod
    def _says(shown: dict[str, VersionSpan], item: str) -> object:
        return None if item not in shown else _facts_of_model(shown[item].says)

    @precondition(lambda self: self.worded)
    @rule(user=users, pick=picks)
    def recall(self, user: str, pick: int) -> None:
        item = list(self.worded)[pick % len(self.worded)]
        shown = self.model.seen(user, self.now)
        for word in self.worded[item]:
            done = self.both(lambda m, word=word: self.handle(m, user).recall(word, k=5))
            self._write_counts()
            found = {r.item.id for r in done.items}
            holders = {one for one, was in shown.items() if word in was.says.text}
            assert item in found or item not in holders, (word, item, done.notes)
            assert found <= set(shown)
            assert holders or all(word not in r.item.text for r in done.items)

    def _write_counts(self) -> None:
        for memory in self.memories.values():
            memory._opened.uses.flush()

    # What always holds

    @invariant()
    def both_stores_hold_the_same_and_are_sound(self) -> None:
        if self.model.seq:
            hashes = {memory.admin.state_hash() for memory in self.memories.values()}
            assert len(hashes) == 1
            lines = [list(memory.admin.export()) for memory in self.memories.values()]
            assert lines[0] == lines[1]
        for name, memory in self.memories.items():
            assert list(memory.admin.verify()) == [], name

    @invariant()
    def now_is_as_the_model_says(self) -> None:
        for user in USERS:
            shown = self.model.seen(user, self.now)
            for memory in self.memories.values():
                handle = self.handle(memory, user)
                self._same(handle, shown)
                known = [seq for seq in self.model.logged(user)[::-1] if seq > self.model.horizon]
                assert [change.seq for change in handle.log(limit=1000, after=self.model.horizon)] == known

    def _every_past_is_as_the_model_says(self) -> None:
        for user in self.model.spaces:
            for seq in range(self.model.horizon, self.model.seq + 1):
                for memory in self.memories.values():
                    self._same(self.handle(memory, user).at(seq), self.model.seen(user, self.now, at=seq))
            for memory in self.memories.values():
                for item in self.model.gone:
                    with pytest.raises(NotFound):
                        self.handle(memory, user).get(item)

    def _same(self, handle: ScopedMemory, shown: dict[str, VersionSpan]) -> None:
        assert handle.count() == len(shown)
        self._agree(handle.list(limit=1000), shown)
        for item, was in list(shown.items())[-3:]:
            self._alike(handle.get(item), was)

    def _agree(self, versions: list[Version], shown: dict[str, VersionSpan]) -> None:
        assert {v.item.id for v in versions} == set(shown)
        assert [v.seq_from for v in versions] == sorted((w.first for w in shown.values()), reverse=True)
        for version in versions:
            self._alike(version, shown[version.item.id])

    def _alike(self, version: Version, was: VersionSpan) -> None:
        assert (version.item.id, version.seq_from, version.seq_to) == (was.id, was.first, was.end)
        assert _facts(version.item) == _facts_of_model(was.says)
        assert version.recorded == self.model.journal[was.first - 1].at

    # Underneath

    @property
    def now(self) -> datetime:
        return moment(self.clock.now())

    def _open(self, name: str) -> Memory:
        where = self.folder / "memory.db" if name == "sqlite" else "memory:"
        never = Settings(use_flush_seconds=1e6)
        return Memory(where, settings=never, clock=self.clock, entropy=self.entropies[name])

    def handle(self, memory: Memory, user: str, session: str | None = None) -> ScopedMemory:
        owner: str | Shared = SHARED if user == plain.SHARED else user
        return memory.scope(user=owner, session=session)

    def both(self, act: Callable[[Memory], Any]) -> Any:
        """What both answer; an error is an answer."""
        answers = [_answer(act, memory) for memory in self.memories.values()]
        comparable = [(type(a), str(a)) if isinstance(a, MnemicError) else _without_place(a) for a in answers]
        assert comparable[0] == comparable[1]
        return answers[0]

    def expect(self, done: Any, by_model: Callable[[], Any]) -> Any:
        """What the model answers, or None if both refuse alike."""
        before, answer = self.model.seq, _answer(lambda _: by_model(), None)
        if isinstance(answer, MnemicError):
            assert type(done) is type(answer), (done, answer)
            assert self.model.seq == before
            return None
        assert not isinstance(done, MnemicError), done
        if isinstance(answer, int) and hasattr(done, "seq"):
            assert done.seq == answer
        return answer

    def _worded(self, text: str) -> str:
        return f"{text} {next(self.words)}"

    def worded_text(self, user: str, item: str) -> str:
        space = self.model.spaces.get(user)
        return space.now(item).text if space and item in space.items else "nothing"

    def _met(self, ids: list[str], text: str) -> None:
        for one in ids:
            if one not in self.ids:
                self.ids.append(one)
            self.worded.setdefault(one, []).append(text.rstrip("!").split()[-1])

    def _any(self, pick: int) -> str:
        return self.ids[-1 - pick % len(self.ids)]

    def _mostly_own(self, user: str, pick: int) -> str:
        own = list(self.model.spaces[user].items) if user in self.model.spaces else []
        return own[pick % len(own)] if own and pick % 8 else self._any(pick // 8)

    def _cited(self, user: str, picked: list[int]) -> tuple[str, ...]:
        seen = [item for space in self.model._read(user) for item in space.items]
        return tuple(dict.fromkeys(seen[pick % len(seen)] for pick in picked)) if seen else ()

    def _latest(self, user: str, cited: tuple[str, ...]) -> datetime:
        return max((s.now(i).said for i in cited for s in self.model._read(user) if i in s.items), default=self.now)


def _answer(act: Callable[[Any], Any], memory: Memory | None) -> Any:
    try:
        return act(memory)
    except MnemicError as error:
        return error


def _without_place(answer: Any) -> Any:
    """An answer without what two stores need not agree on: how long it took, and which files hold nothing any more."""
    if hasattr(answer, "scanned"):
        return (answer.seq, answer.ids, answer.versions, answer.links)
    if hasattr(answer, "milliseconds"):
        return (answer.text, answer.items, answer.seq)
    return answer


def _facts(item: Item) -> tuple[object, ...]:
    return (
        item.text, item.kind, item.said, item.state, item.known_to, item.valid_from, item.valid_to, item.source,
        item.session, item.tags, item.pinned, item.slots.get("source"),
    )  # fmt: skip


def _facts_of_model(says: ModelVersion) -> tuple[object, ...]:
    return (
        says.text, says.kind, says.said, says.state, says.known_to, says.valid_from, says.valid_to, says.source,
        says.session, says.tags, says.pinned, says.from_source,
    )  # fmt: skip


def _run(examples: int, steps: int, *, quick: bool) -> None:
    """The quick profile runs the same examples each time, and does not look for the smallest one that fails."""
    quiet = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
    phases = (Phase.generate,) if quick else tuple(Phase)
    profile = settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        suppress_health_check=quiet,
        print_blob=False,
        derandomize=quick,
        phases=phases,
    )
    run_state_machine_as_test(MemoryMachine, settings=profile)


@pytest.mark.heavy
def test_any_run_of_verbs_leaves_both_stores_as_the_model_says() -> None:
    _run(6, 20, quick=True)


@pytest.mark.slow
def test_any_long_run_of_verbs_leaves_both_stores_as_the_model_says() -> None:
    _run(300, 50, quick=False)
