"""What memory should do, said plainly: dicts and lists, no tables, no indexes - for tests to hold the real one against.

Written from the decisions on scope, time, erasure and undo, not from the code that it checks. One tenant; users are
walls, `SHARED` is read by all. An error of the model is named by its class, as the real one would be raised.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from mnemic.core.items import Kind, State
from mnemic.errors import Compacted, Conflict, Invalid, NotFound

EVIDENCE = frozenset({Kind.TURN, Kind.DOCUMENT, Kind.CHUNK})
SHARED = "<shared>"
"""The shared space among the model's users; no user of a test has this name."""
KEY_LIFE = timedelta(days=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelVersion:
    """The content of one version of an item.

    Attributes:
        expires: From when on it is as good as retired, whatever its state; None for never.
        unwritten: Retired because what wrote it, or all it stood on, was undone; not because it was forgotten.
    """

    text: str
    kind: Kind
    said: datetime
    state: State = State.ACTIVE
    known_to: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    source: tuple[str, ...] = ()
    session: str | None = None
    tags: tuple[str, ...] = ()
    pinned: bool = False
    from_source: str | None = None
    expires: datetime | None = None
    unwritten: bool = False

    def expired(self, now: datetime) -> bool:
        """Whether its time has run out by now."""
        return self.expires is not None and self.expires <= now


@dataclass(frozen=True, slots=True)
class VersionSpan:
    """One version of an item, with the commits between which it stood."""

    id: str
    says: ModelVersion
    first: int
    end: int | None = None

    def stood(self, at: int) -> bool:
        return self.first <= at and (self.end is None or at < self.end)


@dataclass(frozen=True, slots=True)
class LinkSpan:
    """One version of a link, with the commits between which it stood; `weight` is None once the link is removed."""

    src: str
    dst: str
    type: str
    weight: float | None
    first: int
    end: int | None = None

    @property
    def ends(self) -> tuple[str, str, str]:
        return self.src, self.dst, self.type


@dataclass(frozen=True, slots=True)
class ModelCommit:
    """One line of the journal: whose, and when."""

    user: str | None
    at: datetime


@dataclass(frozen=True, slots=True)
class Key:
    """What an idempotency key stands for; `content` is None once only the key itself is left."""

    content: object
    seq: int
    ids: tuple[str, ...]
    lasting: bool
    at: datetime


@dataclass(slots=True)
class Space:
    """One user's memory."""

    items: dict[str, list[VersionSpan]] = field(default_factory=dict)
    links: list[LinkSpan] = field(default_factory=list)
    keys: dict[str, Key] = field(default_factory=dict)

    def now(self, item: str) -> ModelVersion:
        if item not in self.items:
            raise NotFound(item)
        return self.items[item][-1].says

    def standing(self) -> dict[str, ModelVersion]:
        return {item: versions[-1].says for item, versions in self.items.items()}

    def tied(self, ends: tuple[str, str, str]) -> LinkSpan | None:
        """The link between these ends, if there is one now."""
        return next((ln for ln in self.links if ln.ends == ends and ln.end is None and ln.weight is not None), None)


class Model:
    """Memory as it is specified. Every verb changes all or raises and changes nothing."""

    def __init__(self) -> None:
        self.spaces: dict[str, Space] = {}
        self.journal: list[ModelCommit] = []
        self.horizon = 0
        self.gone: set[str] = set()

    @property
    def seq(self) -> int:
        """The last commit."""
        return len(self.journal)

    # Writing

    def add(
        self, user: str, given: dict[str, ModelVersion], now: datetime, *, key: str | None = None, **how: object
    ) -> int:
        """Write new items in one commit; with a key that has landed before, nothing. Returns the commit they are of."""
        lasting, content = bool(how.get("lasting")), how.get("content")
        space = self.spaces.setdefault(user, Space())
        if key is not None and (before := space.keys.get(key)) is not None:
            if before.content is not None and before.content != content:
                raise Conflict(key)
            return before.seq
        self._commit(user, now, given, {})
        if key is not None:
            space.keys[key] = Key(content, self.seq, tuple(given), lasting, now)
        return self.seq

    def revise(self, user: str, item: str, text: str, now: datetime) -> int:
        """Say it better."""
        before = self._space(user).now(item)
        if before.kind in EVIDENCE:
            raise Invalid("id", item, "")
        return self._change(user, {item: replace(before, text=text, unwritten=False)}, now)

    def expire(self, user: str, item: str, expires: datetime | None, now: datetime) -> int:
        """Say when an item expires, even of evidence; a document does so with its chunks."""
        if expires is not None and expires <= now:
            raise Invalid("expires", str(expires), "")
        space = self._space(user)
        every = _with_chunks(space, [item])
        return self._change(user, {i: replace(space.now(i), expires=expires, unwritten=False) for i in every}, now)

    def expired(self, now: datetime) -> dict[str, set[str]]:
        """What a lane has to retire, by memory: each item whose time has run out, in the memory that wrote it last."""
        ended = {
            user: {item for item, says in space.standing().items() if says.expired(now)}
            for user, space in self.spaces.items()
        }
        live = {user: {i for i in items if self.spaces[user].now(i).state in _LIVING} for user, items in ended.items()}
        return {user: items for user, items in live.items() if items}

    def retire(self, user: str, items: Collection[str], now: datetime) -> int:
        """Retire what has expired, in one commit of a memory."""
        space = self.spaces[user]
        self._commit(user, now, {i: replace(space.now(i), state=State.RETIRED, unwritten=False) for i in items}, {})
        return self.seq

    def supersede(self, user: str, old: str, fresh: str, says: ModelVersion, now: datetime) -> int:
        """What was said later is newer, and closes both clocks of what was said before."""
        before = self._space(user).now(old)
        if before.kind in EVIDENCE:
            raise Invalid("id", old, "")
        if before.state is not State.ACTIVE:
            raise Conflict(old)
        newer, older = (fresh, old) if says.said >= before.said else (old, fresh)
        both = {fresh: says, old: before}
        new = both[newer]
        began = new.valid_from or new.said
        ends = min(began, both[older].valid_to or began)
        closed = replace(both[older], state=State.SUPERSEDED, known_to=new.said, valid_to=ends)
        written = {fresh: says, older: closed}
        self._commit(user, now, written, {(newer, older, "supersedes"): 1.0})
        return self.seq

    def forget(self, user: str, items: Sequence[str], now: datetime) -> int:
        """Hide; a document with its chunks."""
        space = self._space(user)
        every = _with_chunks(space, items)
        return self._change(user, {i: replace(space.now(i), state=State.RETIRED, unwritten=False) for i in every}, now)

    def pin(self, user: str, items: Sequence[str], pinned: bool, now: datetime) -> int:
        """Keep at hand, or not."""
        space = self._space(user)
        return self._change(user, {i: replace(space.now(i), pinned=pinned, unwritten=False) for i in items}, now)

    def link(self, user: str, ends: tuple[str, str, str], weight: float | None, now: datetime) -> int:
        """Tie, or with no weight untie."""
        space = self._space(user)
        for item in ends[:2]:
            space.now(item)
        if weight is None and space.tied(ends) is None:
            raise NotFound(str(ends))
        self._commit(user, now, {}, {ends: weight})
        return self.seq

    def _space(self, user: str) -> Space:
        if user not in self.spaces:
            raise NotFound(user)
        return self.spaces[user]

    def _change(self, user: str, wanted: dict[str, ModelVersion], now: datetime) -> int:
        space = self._space(user)
        changed = {item: says for item, says in wanted.items() if says != plain_said(space.now(item), says)}
        if not changed:
            return max(space.items[item][-1].first for item in wanted)
        self._commit(user, now, changed, {})
        return self.seq

    def _commit(
        self,
        user: str | None,
        now: datetime,
        says: dict[str, ModelVersion],
        links: dict[tuple[str, str, str], float | None],
    ) -> None:
        self.journal.append(ModelCommit(user, max([now, *(c.at for c in self.journal[-1:])])))
        if user is None:
            return
        space = self.spaces[user]
        for item, text in says.items():
            versions = space.items.setdefault(item, [])
            if versions:
                versions[-1] = replace(versions[-1], end=self.seq)
            versions.append(VersionSpan(item, text, self.seq))
        for ends, weight in links.items():
            space.links = [
                replace(ln, end=self.seq) if ln.ends == ends and ln.end is None else ln for ln in space.links
            ]
            space.links.append(LinkSpan(*ends, weight, self.seq))

    # Taking back

    def undo(self, user: str, seq: int, now: datetime, *, cascade: bool) -> int:
        """The inverse of a commit and its consequences, as a commit."""
        space = self._space(user)
        if 0 < seq <= self.horizon:
            raise Compacted(str(seq))
        if not 0 < seq <= self.seq or not self.mine(user, seq):
            raise NotFound(str(seq))
        touched = {item: place for item, vs in space.items.items() for place, v in enumerate(vs) if v.first == seq}
        ties = [ln for ln in space.links if ln.first == seq]
        if not cascade and (
            any(space.items[item][-1].first != seq for item in touched) or any(_tied_since(space, ln) for ln in ties)
        ):
            raise Conflict(str(seq))
        after = {item: self._before(space.items[item], place) for item, place in touched.items()}
        made = {item for item, place in touched.items() if _is_first(space.items[item], place)}
        gone = [
            item
            for item, says in after.items()
            if says.unwritten and (item in made or space.now(item).state is not State.RETIRED)
        ]
        self._follow(space, after, gone, self.seen(user, now))
        after = {item: says for item, says in after.items() if says != plain_said(space.now(item), says)}
        links = {ln.ends: self._tied_before(space, ln) for ln in ties}
        links = {ends: weight for ends, weight in links.items() if weight != weight_of(space, ends)}
        if not touched and not ties:
            raise NotFound(str(seq))
        self._commit(user, now, after, links)
        return self.seq

    def mine(self, user: str, seq: int) -> bool:
        """Whether a commit is one of those that a user reads as their own."""
        return self.journal[seq - 1].user == user

    def _before(self, versions: list[VersionSpan], place: int) -> ModelVersion:
        """What an item comes back as: without an end that had come when it was changed, or it would be gone again."""
        if _is_first(versions, place):
            return replace(versions[-1].says, state=State.RETIRED, unwritten=True)
        before, changed = versions[place - 1].says, self.journal[versions[place].first - 1].at
        return replace(before, expires=None) if before.expired(changed) else before

    @staticmethod
    def _tied_before(space: Space, undone: LinkSpan) -> float | None:
        former = [ln for ln in space.links if ln.ends == undone.ends and ln.end == undone.first]
        return former[0].weight if former else None

    @staticmethod
    def _follow(
        space: Space, after: dict[str, ModelVersion], gone: Sequence[str], seen: dict[str, VersionSpan]
    ) -> None:
        """Retire also what was derived from these alone, and reopen what that had superseded."""
        standing = space.standing()

        def active(item: str) -> bool:
            return after[item].state is State.ACTIVE if item in after else item in seen

        fresh, going = list(gone), set(gone)
        while fresh:
            after.update((item, says) for item, says in freed(space, fresh, going).items() if item not in after)
            derived = [
                item for item, says in standing.items() if not going.isdisjoint(says.source) and item not in after
            ]
            fresh = []
            for item in derived:
                says = standing[item]
                if says.state in _LIVING and not any(active(source) for source in says.source):
                    after[item] = replace(says, state=State.RETIRED, unwritten=True)
                    fresh.append(item)
            going.update(fresh)

    # Taking out

    def erase(self, user: str, items: Sequence[str], now: datetime) -> set[str]:
        """Take items out, with all that was ever derived from them, by whomever may read them; returns what went."""
        own = self._space(user)
        going = {item for item in items if item in own.items}
        reach = list(self.spaces.values()) if user == SHARED else [own]
        while more := {i for s in reach for i, vs in s.items.items() if i not in going and going & set(_sources(vs))}:
            going |= more
        if not going:
            return going
        reopened = freed(own, going, going)
        for space in reach:
            _drop(space, going)
        self._commit(user, now, reopened, {})
        self.gone |= going
        return going

    def erase_user(self, user: str, now: datetime) -> set[str]:
        """Take a user out."""
        space = self._space(user)
        del self.spaces[user]
        self._commit(None, now, {}, {})
        self.journal = [replace(c, user=None) if c.user == user else c for c in self.journal]
        self.gone |= set(space.items)
        return set(space.items)

    def compact(self, horizon: int, now: datetime) -> int:
        """Drop what was closed at or before the horizon; returns how many versions went."""
        if not self.horizon <= horizon <= self.seq:
            raise Invalid("horizon", str(horizon), "")
        dropped = 0
        for space in self.spaces.values():
            space.keys = {
                k: replace(key, content=None) if key.at < now - KEY_LIFE else key
                for k, key in space.keys.items()
                if key.lasting or key.at >= now - KEY_LIFE
            }
        for space in self.spaces.values():
            dropped += sum(not _kept(v, horizon) for versions in space.items.values() for v in versions)
            space.items = {
                item: [_untold(v, horizon) for v in vs if _kept(v, horizon)] for item, vs in space.items.items()
            }
            space.links = [ln for ln in space.links if ln.end is None or ln.end > horizon]
            space.links = [ln for ln in space.links if ln.weight is not None or ln.end or ln.first > horizon]
        while expendable := [
            (space, item) for space in self.spaces.values() for item in self._expendable(space, horizon)
        ]:
            for space, item in expendable:
                dropped += len(space.items.pop(item))
                for space_model in self.spaces.values():
                    space_model.links = [ln for ln in space_model.links if item not in (ln.src, ln.dst)]
        if horizon > self.horizon:
            self.horizon = horizon
            self._commit(None, now, {}, {})
        return dropped

    def _expendable(self, space: Space, horizon: int) -> list[str]:
        """Items retired at or before the horizon on which nothing rests that is kept."""
        retired = [i for i, vs in space.items.items() if vs[-1].says.state is State.RETIRED]
        old = [i for i in retired if space.items[i][-1].first <= horizon and not space.items[i][-1].says.pinned]
        cited = {source for other in self.spaces.values() for vs in other.items.values() for source in _sources(vs)}
        return [
            i for i in old if i not in cited and not any(_ties(other, i, horizon) for other in self.spaces.values())
        ]

    # Looking

    def seen(
        self,
        user: str,
        now: datetime,
        *,
        at: int | datetime | None = None,
        as_of: datetime | None = None,
        valid_at: datetime | None = None,
        states: Collection[State] = (),
        where: Callable[[ModelVersion], bool] = lambda says: True,
    ) -> dict[str, VersionSpan]:
        """What a view shows a user: their own, and the shared; `at` is a commit, or a moment."""
        looked = self._looked(now, at, as_of)
        at = self.seq_at(at) if isinstance(at, datetime) else at
        if at is not None and at < self.horizon and self._read(user):
            raise Compacted(str(at))
        past = as_of is not None or valid_at is not None
        shown = states or ({State.ACTIVE, State.SUPERSEDED} if past else {State.ACTIVE})
        visible = {}
        for space in self._read(user):
            for item, versions in space.items.items():
                for v in versions:
                    stood = v.end is None if at is None else v.stood(at)
                    state = State.RETIRED if v.says.expired(looked) else v.says.state
                    if stood and state in shown and _in_time(v.says, as_of, valid_at) and where(v.says):
                        visible[item] = v
        return visible

    def _looked(self, now: datetime, at: int | datetime | None, as_of: datetime | None) -> datetime:
        """The moment at which a view tells what has expired: now, or when its commit was made; never before `as_of`."""
        if isinstance(at, int):
            at = self.journal[at - 1].at if at else now
        looked = now if at is None else at
        return looked if as_of is None else max(looked, as_of)

    def history(self, user: str, item: str) -> list[VersionSpan]:
        """The versions of an item, and of all that it superseded or was superseded by."""
        spaces = list(self._read(user))
        story, queue = set(), [item]
        while queue:
            space_name = queue.pop()
            if space_name in story or not any(space_name in space.items for space in spaces):
                continue
            story.add(space_name)
            for ln in self.links(user, space_name):
                if ln.type == "supersedes":
                    queue += [ln.src, ln.dst]
        if not story:
            raise NotFound(item)
        versions = [v for space in spaces for space_name in story for v in space.items.get(space_name, ())]
        return sorted(versions, key=lambda v: (v.first, v.says.said, v.id))

    def links(self, user: str, item: str, at: int | None = None) -> list[LinkSpan]:
        """The links at an item."""
        return [
            ln
            for space in self._read(user)
            for ln in space.links
            if item in (ln.src, ln.dst)
            and ln.weight is not None
            and (ln.end is None if at is None else ln.first <= at and (ln.end is None or at < ln.end))
        ]

    def commits(self, user: str) -> list[int]:
        """The seqs of a user's own commits."""
        return [seq for seq, commit in enumerate(self.journal, start=1) if commit.user == user]

    def logged(self, user: str) -> list[int]:
        """The seqs that a user's log shows."""
        return self.commits(user)

    def seq_at(self, when: datetime) -> int:
        """The last commit recorded by then."""
        return sum(commit.at <= when for commit in self.journal)

    def _read(self, user: str) -> list[Space]:
        return [self.spaces[name] for name in dict.fromkeys((user, SHARED)) if name in self.spaces]


_LIVING = (State.ACTIVE, State.SUPERSEDED)


def _with_chunks(space: Space, items: Sequence[str]) -> list[str]:
    """Items of a memory, and the chunks of those that are documents."""
    documents = {i for i in items if space.now(i).kind is Kind.DOCUMENT}
    chunks = [i for i, s in space.standing().items() if s.kind is Kind.CHUNK and documents & set(s.source)]
    return [*items, *chunks]


def weight_of(space: Space, ends: tuple[str, str, str]) -> float | None:
    tied = space.tied(ends)
    return None if tied is None else tied.weight


def _tied_since(space: Space, ln: LinkSpan) -> bool:
    """Whether a link has changed since: it, or that there is none, no more stands as it was left."""
    return weight_of(space, ln.ends) != ln.weight


def _is_first(versions: Sequence[VersionSpan], place: int) -> bool:
    """Whether a version follows none."""
    return place == 0 or versions[place - 1].end != versions[place].first


def plain_said(now: ModelVersion, wanted: ModelVersion) -> ModelVersion:
    """Whether it was forgotten or unwritten makes no version differ."""
    return replace(now, unwritten=wanted.unwritten)


def _ties(space: Space, item: str, horizon: int) -> bool:
    """Whether a link keeps an item: something live points at it, or the link is younger than the horizon."""
    for ln in space.links:
        if item in (ln.src, ln.dst) and (ln.first > horizon or ln.end is not None):
            return True
        live = ln.src in space.items and space.items[ln.src][-1].says.state is not State.RETIRED
        if ln.dst == item and ln.src != item and ln.weight is not None and live:
            return True
    return False


def _sources(versions: list[VersionSpan]) -> Iterator[str]:
    return (source for v in versions for source in v.says.source)


def _drop(space: Space, going: set[str]) -> None:
    space.items = {item: versions for item, versions in space.items.items() if item not in going}
    space.links = [ln for ln in space.links if not going & {ln.src, ln.dst}]
    for name, key in list(space.keys.items()):
        if going & set(key.ids[:1]):
            if key.lasting:
                space.keys[name] = replace(key, content=None)
            else:
                del space.keys[name]


def freed(space: Space, items: Collection[str], going: Collection[str]) -> dict[str, ModelVersion]:
    """What stands again on account of items that go: its place was theirs, and nothing that stays says otherwise."""
    freed_items: dict[str, bool] = {}
    below = {item for item in items if item in space.items and space.now(item).state is not State.RETIRED}
    while below:
        older = {old for item in below for new, old in _places(space) if new == item and old not in freed_items}
        freed_items |= {old: place_taken(space, old, going) for old in older}
        below = older & set(going)
    loose = [item for item, taken in freed_items.items() if not taken and item not in going]
    return {item: reopened_said(space.items[item]) for item in loose if space.now(item).state is State.SUPERSEDED}


def place_taken(space: Space, item: str, going: Collection[str] = ()) -> bool:
    """Whether something that stays has taken an item's place, or that of something that goes and had taken it."""
    newer: set[str] = set()
    every = {item}
    while every:
        every = {new for new, old in _places(space) if old in every and new != item} - newer
        newer |= every
        every &= set(going)
    return any(new not in going for new in newer)


def _places(space: Space) -> list[tuple[str, str]]:
    """Whatever took the place of what, newer and older, as it is said now by what is not retired."""
    ties = [ln for ln in space.links if ln.type == "supersedes" and ln.end is None and ln.weight is not None]
    return [(ln.src, ln.dst) for ln in ties if ln.src in space.items and space.now(ln.src).state is not State.RETIRED]


def _kept(version: VersionSpan, horizon: int) -> bool:
    return version.end is None or version.end > horizon


def _untold(version: VersionSpan, horizon: int) -> VersionSpan:
    """A version as it is told once its commit lies behind the horizon: how it came to be retired is not known then."""
    if version.first > horizon:
        return version
    return replace(version, says=replace(version.says, unwritten=False))


def reopened_said(versions: list[VersionSpan]) -> ModelVersion:
    """As it stands now, with the end that it had before it was superseded; an open one if it never stood otherwise."""
    ends = [v.says.valid_to for v in versions if v.says.known_to is None]
    return replace(versions[-1].says, state=State.ACTIVE, known_to=None, valid_to=ends[-1] if ends else None)


def _in_time(says: ModelVersion, as_of: datetime | None, valid_at: datetime | None) -> bool:
    """What was known; what held, as we now believe; with both, what was known then to hold, its end not yet known."""
    ended = says.known_to is not None and as_of is not None and says.known_to <= as_of
    known = as_of is None or (says.said <= as_of and (valid_at is not None or not ended))
    since = says.valid_from or says.said
    open_then = as_of is not None and says.known_to is not None and not ended
    until = None if open_then else says.valid_to
    held = valid_at is None or (since <= valid_at and (until is None or valid_at < until))
    return known and held
