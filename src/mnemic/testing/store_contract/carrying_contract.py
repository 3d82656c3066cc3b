"""What is taken out as lines comes in again the same: ids, seqs, hashes; and what is collected behind a horizon."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from mnemic.core.events import Verb
from mnemic.core.items import Strength
from mnemic.core.queries import Entry, View
from mnemic.core.scope import SHARED
from mnemic.errors import Conflict, Invalid, MnemicError, NotFound
from mnemic.past.merging import merging
from mnemic.store.contract import Store
from mnemic.store.engine import compaction, journal_io
from mnemic.store.sqlite.sqlite_store import MemoryStore
from mnemic.store.values.drafts import Draft, Erasure, Fork, Note
from mnemic.testing.deeds import state_hash
from mnemic.testing.generators import TEXTS
from mnemic.testing.store_contract.contract_world import ANY_STATE, TENANT, World, day


def busy(world: World) -> None:
    """A store with something of everything in it."""
    one, two, three = (world.item(text, session="s", agent="bot") for text in TEXTS[-12:-9])
    fact = world.item("fact", source=(one.id,), tags=("x",))
    newer = world.item("newer", said=day(9), valid_from=day(3))
    world.commit(*(world.put(item, key=item.id, lasting=True) for item in (one, two, three)))
    world.commit(world.put(fact, key="k"), user=SHARED)
    world.commit(world.put(newer), world.put(replace(two, text="revised"), Verb.REVISED), actor="someone")
    world.tie(one.id, two.id, "about")
    world.tie(two.id, three.id, "after")
    world.tie(one.id, two.id, "about", verb=Verb.UNLINKED)
    world.commit(Note(verb=Verb.USED, payload=b"{}"), used={two.id: Strength(uses=3, last_used=day(1))})
    world.erase(three.id, reason="asked to")
    world.commit("gone", user="eve", actor="eve")
    world.erase(user="eve", whole=True)
    world.retire(newer)


def same(a: Store, b: Store) -> None:
    """Two stores hold the same, and are sound."""
    assert state_hash(a, TENANT) == state_hash(b, TENANT)
    assert list(a.export(TENANT)) == list(b.export(TENANT))
    assert list(a.verify()) == list(b.verify()) == []


def test_a_busy_store_verifies(world: World) -> None:
    busy(world)
    assert world.faults() == []


def test_what_was_exported_is_loaded_the_same(world: World) -> None:
    busy(world)
    fresh = MemoryStore()
    assert fresh.transact(journal_io.load, world.store.export(TENANT)).commits == world.seq()
    same(world.store, fresh)
    loaded = World(fresh)
    with world.store.read() as ours, fresh.read() as theirs:
        for owner in ("ada", SHARED):
            here, there = world.space(owner), loaded.space(owner)
            assert [_numberless(entry) for entry in ours.entries(here)] == [
                _numberless(entry) for entry in theirs.entries(there)
            ]
            assert ours.latest((here,), ANY_STATE) == theirs.latest((there,), ANY_STATE)
        changes = [[replace(c, space=0) for c in s.changes(s.tenant(TENANT) or 0, 0, 100)] for s in (ours, theirs)]
        assert changes[0] == changes[1]


def _numberless(entry: Entry) -> Entry:
    """An entry without the numbers that are its store's own."""
    return entry._replace(ver=0, agent=min(entry.agent, 1), session=min(entry.session, 1))


def test_a_journal_of_another_keeper_is_loaded_the_same(world: World) -> None:
    other = World(MemoryStore())
    busy(other)
    assert world.store.transact(journal_io.load, other.store.export(TENANT)).commits == other.seq()
    same(world.store, other.store)


def test_a_loaded_store_goes_on_where_the_other_stopped(world: World) -> None:
    other = World(MemoryStore(), "other")
    busy(other)
    world.store.transact(journal_io.load, other.store.export(TENANT))
    assert world.commit("next").seq == other.seq() + 1
    known = other.versions()[0].item
    assert world.commit(world.put(known, key=known.id, lasting=True)).repeated == 1
    assert world.faults() == []
    assert world.faults() == []


def test_a_compacted_journal_is_loaded_the_same(world: World) -> None:
    other = World(MemoryStore())
    busy(other)
    compaction.compact(other.store, TENANT, other.seq() - 2)
    world.store.transact(journal_io.load, other.store.export(TENANT))
    same(world.store, other.store)


def test_the_same_store_is_exported_the_same_twice(world: World) -> None:
    busy(world)
    assert list(world.store.export(TENANT)) == list(world.store.export(TENANT))


HOUSE = "another house"
"""A tenant that is in the store before another is loaded."""


def resident(world: World) -> list[bytes]:
    """Write something of another tenant, so that nothing that is loaded gets the ids it had; its export."""
    for user in ("ada", "bob", SHARED):
        world.commit("of another house", user=user, tenant=HOUSE, actor="neighbour")
    return list(world.store.export(HOUSE))


def test_a_journal_is_loaded_beside_another_tenant_the_same(world: World) -> None:
    beside = resident(world)
    other = World(MemoryStore(), "other")
    busy(other)
    lines = list(other.store.export(TENANT))
    loaded = world.store.transact(journal_io.load, iter(lines))
    assert (loaded.tenant, loaded.commits) == (TENANT, other.seq())
    same(world.store, other.store)
    assert list(world.store.export(HOUSE)) == beside
    with world.store.read() as ours, other.store.read() as theirs:
        changes = [[replace(c, space=0) for c in s.changes(s.tenant(TENANT) or 0, 0, 100)] for s in (ours, theirs)]
        assert changes[0] == changes[1]
    third = World(MemoryStore(), "third")
    third.store.transact(journal_io.load, world.store.export(TENANT))
    same(world.store, third.store)


def test_a_branch_is_loaded_beside_another_tenant_with_its_parent_and_merges(world: World) -> None:
    resident(world)
    other = World(MemoryStore(), "other")
    other.commit("of all", user="bob")
    other.commit("of the trunk")
    forked = {"tenant": TENANT, "user": "ada", "actor": "tester", "branch": "try"}
    other.store.commit(Draft(ops=(Note(verb=Verb.BRANCHED, payload=b"{}"),), fork=Fork(), **forked))  # type: ignore[arg-type]
    other.store.commit(Draft(ops=(other.put("of the branch"),), **forked))  # type: ignore[arg-type]
    for _ in range(2):  # the second time nothing is new: it tells of the first, whose note names the branch
        merged = _merge(other)
    world.store.transact(journal_io.load, other.store.export(TENANT))
    same(world.store, other.store)
    assert world.texts() == ["of the trunk", "of the branch"]
    assert _merge(world) == merged
    other.store.erase(Erasure(whole=True, **forked))  # type: ignore[arg-type]
    fresh = World(MemoryStore(), "fresh")
    resident(fresh)
    fresh.store.transact(journal_io.load, other.store.export(TENANT))
    same(fresh.store, other.store)


def _merge(world: World) -> tuple[int | None, bool]:
    with world.store.read() as snapshot:
        tenant = snapshot.tenant(TENANT) or 0
        parent, branch = snapshot.space(tenant, "ada"), snapshot.space(tenant, "ada", "try")
        assert parent is not None
        assert branch is not None
        draft = Draft(tenant=TENANT, user="ada", actor="tester", ops=())
        merge, drafted = merging(snapshot, parent, branch, draft, "")
    seq = world.store.commit(drafted).seq if drafted.ops else merge.seq
    return seq, merge.repeated


def test_a_tenant_goes_by_another_name_if_it_is_loaded_so(world: World) -> None:
    busy(world)
    lines = list(world.store.export(TENANT))
    with pytest.raises(Conflict, match="another name"):
        world.store.transact(journal_io.load, iter(lines))
    assert world.store.transact(journal_io.load, iter(lines), HOUSE).tenant == HOUSE
    assert list(world.store.export(TENANT)) == lines
    renamed = list(world.store.export(HOUSE))
    assert renamed[1:-1] == lines[1:-1]  # all but its head, and the digest over it
    assert state_hash(world.store, HOUSE) == state_hash(world.store, TENANT)
    assert world.faults() == []
    world.commit("only here", tenant=HOUSE)
    world.erase(world.versions()[0].item.id)
    assert world.texts(tenant=HOUSE) == ["ﬁne ligatures ﬀ", "revised", "only here"]
    assert world.texts() == ["revised"]
    assert world.faults() == []


def test_a_tenant_of_the_same_name_is_refused_and_stays_as_it_was(world: World) -> None:
    other = World(MemoryStore(), "other")
    busy(other)
    world.commit("x")
    before = list(world.store.export(TENANT))
    with pytest.raises(Conflict, match="another name"):
        world.store.transact(journal_io.load, other.store.export(TENANT))
    assert list(world.store.export(TENANT)) == before
    with world.store.read() as snapshot:
        assert [name for _, name in snapshot.tenants()] == [TENANT]


def test_tenants_that_were_loaded_go_on_each_for_itself(world: World) -> None:
    other = World(MemoryStore(), "other")
    busy(other)
    resident(world)
    world.store.transact(journal_io.load, other.store.export(TENANT))
    for one in (world, other):
        one.commit("next", user="new", actor="somebody new")
        one.commit("and next", actor="somebody new")
    assert _numbers(world) == _numbers(other)
    world.commit("a new neighbour", user="eve", tenant=HOUSE)
    assert world.faults() == []


def test_the_numbers_of_one_tenant_do_not_move_with_anothers(world: World) -> None:
    alone = World(MemoryStore(), "alone")
    for one in (world, alone):
        for user in ("ada", "bob"):
            if one is world:
                one.commit("of another house", user=user, tenant=HOUSE, actor="neighbour of " + user)
            one.commit(one.put(one.item("mine", session="s", agent="bot")), user=user)
    assert _numbers(world) == _numbers(alone)
    assert [line["name"]["id"] for line in _numbers(world) if "name" in line] == [1, 2, 3, 1, 2, 3]


def _numbers(world: World) -> list[dict[str, dict[str, object]]]:
    """What an export says of spaces and names."""
    lines = [json.loads(line) for line in world.store.export(TENANT) if line[:6] in (b'{"name', b'{"spac')]
    for line in lines:
        line.get("space", {}).pop("secret", None)
    return lines


def test_the_number_of_a_name_that_is_gone_is_not_given_again(world: World) -> None:
    item = world.item("x", agent="bot")
    world.commit(world.put(item), "y", actor="bot")
    world.erase(item.id)
    world.commit("z", actor="new")
    assert [change.actor for change in world.changes()] == ["(erased)", "tester", "new"]
    other = World(MemoryStore(), "other")
    resident(other)
    other.store.transact(journal_io.load, world.store.export(TENANT))
    other.commit("more", actor="newer")
    assert [change.actor for change in other.changes()] == ["(erased)", "tester", "new", "newer"]
    assert other.faults() == []


def _cut(lines: list[bytes]) -> Iterable[bytes]:
    return [*lines[:6], lines[6][: len(lines[6]) // 2]]


def _headless(lines: list[bytes]) -> Iterable[bytes]:
    return lines[1:]


def _unknown(lines: list[bytes]) -> Iterable[bytes]:
    return [*lines, b'{"surprise":{}}\n']


def _newer(lines: list[bytes]) -> Iterable[bytes]:
    head = json.loads(lines[0])
    head["head"]["mnemic"] = 99
    return [json.dumps(head).encode(), *lines[1:]]


def _without_salt(lines: list[bytes]) -> Iterable[bytes]:
    return [line.replace(b'"salt":', b'"pepper":') for line in lines]


def _short(lines: list[bytes]) -> Iterable[bytes]:
    return lines[:-1]


def _one_missing(lines: list[bytes]) -> Iterable[bytes]:
    return [*lines[:5], *lines[6:]]


def _one_twice(lines: list[bytes]) -> Iterable[bytes]:
    return [*lines[:-1], lines[-2], lines[-1]]


def _other_text(lines: list[bytes]) -> Iterable[bytes]:
    return [line.replace(b"revised", b"reviled") for line in lines]


def _forged(lines: list[bytes]) -> Iterable[bytes]:
    return _ended([*_other_text(lines)])


def _huge(lines: list[bytes]) -> Iterable[bytes]:
    return [re.sub(rb'"seq":\d+', b'"seq":' + b"9" * 40, line) for line in lines]


def _of_no_space(lines: list[bytes]) -> Iterable[bytes]:
    return _ended([re.sub(rb'("seq":1,"space":)1', rb"\g<1>0", line) for line in lines])


def _of_a_later_space(lines: list[bytes]) -> Iterable[bytes]:
    return _ended([re.sub(rb'("seq":1,"space":)1', rb"\g<1>7", line) for line in lines])


def _two_heads(lines: list[bytes]) -> Iterable[bytes]:
    return _ended([lines[0], lines[0].replace(b'"tenant":"t"', b'"tenant":"u"'), *lines[1:]])


def _one_number_twice(lines: list[bytes]) -> Iterable[bytes]:
    return _ended([line.replace(b'"id":2', b'"id":1') if line[:7] == b'{"space' else line for line in lines])


def _highest_number(lines: list[bytes]) -> Iterable[bytes]:
    return _ended([re.sub(rb'"id":3,', b'"id":9223372036854775807,', line) for line in lines])


def _nameless(lines: list[bytes]) -> Iterable[bytes]:
    return _ended([lines[0].replace(b'"tenant":"t"', b'"tenant":"a\\nb"'), *lines[1:]])


def _user_with_controls(lines: list[bytes]) -> Iterable[bytes]:
    return _ended([re.sub(rb'"user":"[^"]*"', rb'"user":"a\\u001b[31mb"', line) for line in lines])


def _one_user_twice(lines: list[bytes]) -> Iterable[bytes]:
    spaces = [line for line in lines if line[:7] == b'{"space']
    again = re.sub(rb'"id":\d+', b'"id":77', spaces[0])
    return _ended([*lines[:2], again, *lines[2:]])


def _ended(lines: list[bytes]) -> Iterable[bytes]:
    digest = hashlib.sha256()
    for line in lines[:-1]:
        digest.update(line.strip())
        yield line
    yield json.dumps({"end": {"sha256": digest.hexdigest()}}).encode()


def _no_json(lines: list[bytes]) -> Iterable[bytes]:
    return [*lines[:3], b"\xff\xfe not json", *lines[3:]]


def _list(lines: list[bytes]) -> Iterable[bytes]:
    return [lines[0], b"[1, 2]"]


def _nothing(_: list[bytes]) -> Iterable[bytes]:
    return []


@pytest.mark.parametrize(
    "damage",
    [
        _cut,
        _short,
        _headless,
        _unknown,
        _newer,
        _without_salt,
        _no_json,
        _list,
        _nothing,
        _one_missing,
        _other_text,
        _forged,
        _huge,
        _of_no_space,
        _of_a_later_space,
        _two_heads,
        _one_number_twice,
        _highest_number,
        _nameless,
        _user_with_controls,
        _one_user_twice,
    ],
    ids=lambda damage: damage.__name__.strip("_"),
)
@pytest.mark.parametrize("crowded", [False, True])
def test_damaged_lines_are_refused_and_nothing_is_written(
    world: World, crowded: bool, damage: Callable[[list[bytes]], Iterable[bytes]]
) -> None:
    other = World(MemoryStore())
    busy(other)
    lines = list(other.store.export(TENANT))
    beside = resident(world) if crowded else []
    with pytest.raises(Invalid):
        world.store.transact(journal_io.load, iter(damage(lines)))
    with world.store.read() as snapshot:
        assert [name for _, name in snapshot.tenants()] == [HOUSE] * crowded
    assert not crowded or list(world.store.export(HOUSE)) == beside
    assert world.faults() == []
    assert world.store.transact(journal_io.load, iter(lines)).commits == other.seq()
    same(world.store, other.store)


def test_a_line_that_comes_twice_is_refused_too(world: World) -> None:
    other = World(MemoryStore())
    busy(other)
    with pytest.raises(MnemicError):
        world.store.transact(journal_io.load, iter(_one_twice(list(other.store.export(TENANT)))))
    with world.store.read() as snapshot:
        assert snapshot.tenants() == []


def test_an_unknown_tenant_has_nothing_to_carry(world: World) -> None:
    with pytest.raises(NotFound):
        list(world.store.export("nowhere"))
    with pytest.raises(NotFound):
        state_hash(world.store, "nowhere")
    with pytest.raises(NotFound):
        compaction.compact(world.store, "nowhere", 1)


def test_the_state_hash_changes_with_every_version_and_link(world: World) -> None:
    one, two = world.item("one"), world.item("two")
    seen = set()
    for step in (
        lambda: world.commit(world.put(one), world.put(two)),
        lambda: world.tie(one.id, two.id),
        lambda: world.commit(world.put(replace(one, text="1"), Verb.REVISED)),
        lambda: world.tie(one.id, two.id, verb=Verb.UNLINKED),
        lambda: world.retire(two),
        lambda: world.erase(one.id),
    ):
        step()
        seen.add(state_hash(world.store, TENANT))
    assert len(seen) == 6


def test_compaction_drops_what_was_closed_and_keeps_what_stands(world: World) -> None:
    item = world.item("one")
    world.commit(world.put(item))
    world.commit(world.put(replace(item, text="two"), Verb.REVISED))
    world.commit("stands")
    world.commit(world.put(replace(item, text="three"), Verb.REVISED))
    assert compaction.compact(world.store, TENANT, 3) == 1
    assert world.texts() == ["stands", "three"]
    assert world.texts(view=View(at=3)) == ["two", "stands"]
    assert [change.seq for change in world.changes()] == [2, 3, 4, 5]
    with world.store.read() as snapshot:
        assert [v.item.text for v in snapshot.history((world.space(),), item.id)] == ["two", "three"]
        assert snapshot.head(world.tenant()).horizon == 3
    assert world.faults() == []


def test_the_horizon_only_moves_forward_and_never_past_the_head(world: World) -> None:
    for _ in range(4):
        world.commit("x")
    compaction.compact(world.store, TENANT, 2)
    for horizon in (1, -1, 9):
        with pytest.raises(Invalid):
            compaction.compact(world.store, TENANT, horizon)
    seq = world.seq()
    assert compaction.compact(world.store, TENANT, 2) == 0
    assert world.seq() == seq


def test_compaction_then_erasure_then_compaction_verifies(world: World) -> None:
    items = [world.item(f"{n}") for n in range(4)]
    world.commit(*(world.put(item) for item in items))
    world.tie(items[0].id, items[1].id)
    world.commit(world.put(replace(items[0], text="again"), Verb.REVISED))
    compaction.compact(world.store, TENANT, 3)
    world.erase(items[0].id)
    assert world.faults() == []
    world.commit(world.put(replace(items[2], text="more"), Verb.REVISED))
    compaction.compact(world.store, TENANT, world.seq())
    assert world.faults() == []
    assert world.texts() == ["1", "3", "more"]


def test_a_backup_overwrites_nothing(world: World, tmp_path: Path) -> None:
    busy(world)
    dest = tmp_path / "copy.db"
    remedy = ""
    try:
        world.store.backup(dest)
    except Invalid as refused:  # its engine has tools of its own for that, which it names
        remedy = refused.remedy
    if remedy:
        assert "`" in remedy
        assert not dest.exists()
        return
    before = dest.read_bytes()
    with pytest.raises(Conflict):
        world.store.backup(dest)
    assert dest.read_bytes() == before


def test_a_store_says_what_it_is(world: World) -> None:
    world.commit("x")
    info = world.store.info()
    assert info.url
    assert info.engine
    assert info.bytes > 0


def test_a_closed_store_refuses_with_an_error_of_ours(world: World) -> None:
    world.commit("x")
    world.store.close()
    world.store.close()
    with pytest.raises(MnemicError):
        world.commit("y")
    with pytest.raises(MnemicError), world.store.read():
        pass
