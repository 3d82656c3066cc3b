"""Erasure erases: canaries in every place that content can reach, and a byte scan of every file."""

from __future__ import annotations

import multiprocessing
import random
from collections.abc import Iterator
from datetime import UTC, datetime
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from mnemic import SHARED, Conflict, Memory, Message, NotFound, ScopedMemory, StoreError
from mnemic.core import facets, mask, parts
from mnemic.core.items import Kind
from mnemic.core.tokens import terms, tokenise
from mnemic.models.scripted_embedder import ScriptedEmbedder
from mnemic.settings import Settings
from mnemic.store.sqlite.sqlite_store import SqliteStore

CANARIES = 100


def canary(number: int, random_: random.Random) -> str:
    letters = "".join(random_.choice("bcdfghjklmnpqrstvwxz") for _ in range(12))
    chinese = "".join(chr(random_.randrange(0x7000, 0x9000)) for _ in range(4))
    return f"zq{letters}{number}{chinese}"


def forms(word: str) -> Iterator[bytes]:
    """What could be left of a word: its bytes in two encodings, the bytes of its tokens, its tokens' hashes."""
    yield word.encode()
    yield word.encode("utf-16-le")
    for token in tokenise(word):
        yield token.encode()
    hashes = terms(word)
    yield from (hashes[i : i + 8] for i in range(0, len(hashes), 8))


def residue(folder: Path, words: list[str]) -> list[str]:
    data = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    return [word for word in words for form in forms(word) if len(form) > 3 and form in data]


def plant(memory: Memory, word: str, number: int) -> tuple[str, ...]:
    """One canary in each place in turn: text, speaker, session, agent, metadata, tag, fact, link, key, long text."""
    me = memory.scope(user="ada", agent=word if number % 10 == 3 else None, session=word if number % 10 == 2 else None)
    match number % 10:
        case 0:
            return me.observe(f"the word is {word}, remember it").ids
        case 1:
            return me.observe("somebody spoke", speaker=word).ids
        case 2 | 3:
            return me.observe(f"a quiet turn number {number}").ids
        case 4:
            return me.observe("with metadata", slots={"metadata": {word: [word]}}).ids
        case 5:
            return me.observe("with a tag", tags=[word]).ids
        case 6:
            evidence = me.observe(f"evidence {word}")
            me.write(f"a fact about {word}", source=evidence.ids)
            return evidence.ids
        case 7:
            one, two = me.write(f"a statement {word}"), me.write("another statement")
            me.link(one.id, two.id, word)
            me.revise(one.id, f"a corrected statement {word}")
            return (*one.ids, *two.ids)
        case 8:
            return me.observe(f"said {word}", key=f"key-{word}").ids
        case _:
            return me.observe((f"{word} " + "filler words of a long text " * 20 + "\n\n") * 80).ids


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str], list[tuple[str, ...]]]:
    folder = tmp_path_factory.mktemp("canaries")
    random_ = random.Random(11)
    words = [canary(i, random_) for i in range(CANARIES)]
    with Memory(folder / "memory.db") as memory:
        ids = [plant(memory, word, i) for i, word in enumerate(words)]
        memory.scope(user="ada").observe([f"ordinary turn {i} that stays" for i in range(300)])
    return folder, words, ids


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "memory.db") as opened:
        yield opened
        assert list(opened.admin.verify()) == []


@pytest.fixture
def me(memory: Memory) -> ScopedMemory:
    return memory.scope(user="ada")


def texts(scoped: ScopedMemory) -> list[str]:
    return sorted(v.item.text for v in scoped.list(limit=100))


def bytes_of(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.iterdir())


def test_a_hundred_canaries_leave_no_byte_in_any_file_while_the_store_is_open_and_after(
    planted: tuple[Path, list[str], list[tuple[str, ...]]],
) -> None:
    folder, words, ids = planted
    hidden = [w for i, w in enumerate(words) if i % 10 == 8]  # a key is never in the file, only a keyed hash of it
    assert set(residue(folder, words)) >= set(words) - set(hidden)
    memory = Memory(folder / "memory.db")
    me = memory.scope(user="ada")
    for word in words:
        me.recall(word)
    receipt = me.erase(*(i for some in ids for i in some), reason="a test")
    assert receipt.status == "clean"
    assert receipt.versions > CANARIES
    assert residue(folder, words) == []
    assert all(word not in item.text for word in words for item in me.recall(word, k=50).items)
    assert list(memory.admin.verify()) == []
    assert me.count() == 300
    me.observe("life goes on")
    memory.close()
    assert residue(folder, words) == []


def test_a_user_is_erased_with_their_name(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory.db") as memory:
        gone, stays = memory.scope(user="zqcanarygone", session="zqcanarysession"), memory.scope(user="bob")
        gone.observe("zqcanarytext is here", speaker="zqcanaryspeaker", key="zqcanarykey")
        fact = gone.write("zqcanaryfact")
        gone.supersede(fact.id, "zqcanarynewer")
        stays.observe("bob stays")
        receipt = gone.erase_user()
        assert receipt.status == "clean"
        assert len(receipt.ids) == 3
        assert b"zqcanary" not in b"".join(p.read_bytes() for p in tmp_path.iterdir())
        assert list(memory.admin.verify()) == []
        assert gone.recall("zqcanarytext").items == ()
        assert stays.count() == 1
        gone.observe("zqcanarygone may come back as a stranger")
        assert gone.count() == 1


def test_a_session_of_which_nothing_is_left_is_erased_with_its_name(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory.db", embedder="none") as memory:
        me = memory.scope(user="ada")
        me.observe([f"turn {n}" for n in range(80)])
        for session in ("zqcanaryone", "zqcanarytwo"):
            there = memory.scope(user="ada", session=session)
            there.forget(there.observe("gone").id)
            memory.admin.gc(keep="0 commits", collectors=[])
        held = b"".join(p.read_bytes() for p in tmp_path.iterdir() if p.is_file())
        assert b"zqcanarytwo" in held
        assert me.erase(session="zqcanarytwo").status == "clean"
        assert b"zqcanarytwo" not in b"".join(p.read_bytes() for p in tmp_path.iterdir() if p.is_file())
        assert list(memory.admin.verify()) == []


def test_an_erased_import_does_not_come_back_when_it_is_run_again(tmp_path: Path) -> None:
    from mnemic.core.items import Channel

    with Memory(tmp_path / "memory.db") as memory:
        me = memory.scope(user="ada")
        message = Message(text="zqcanarysecret", key="chat:1:1", slots={"source": "chat"})
        me.observe(message, channel=Channel.IMPORT)
        assert len(me.erase(source="chat").ids) == 1
        assert me.observe(message, channel=Channel.IMPORT).repeated == 1
        assert me.count() == 0
        with pytest.raises(NotFound):
            me.get(me.observe(message, channel=Channel.IMPORT).id)


def test_a_restored_backup_does_not_bring_back_what_was_erased_since(tmp_path: Path) -> None:
    from mnemic.admin import restore

    with Memory(tmp_path / "memory.db") as memory:
        me, other = memory.scope(user="ada"), memory.scope(user="zqcanaryother")
        doomed = me.observe("zqcanarydoomed")
        me.observe("kept")
        other.observe("a user who leaves")
        memory.admin.backup(tmp_path / "backup.db")
        me.erase(doomed.id)
        other.erase_user()
    assert restore(tmp_path / "backup.db", tmp_path / "memory.db") == 2
    (tmp_path / "backup.db").unlink()
    assert b"zqcanary" not in b"".join(p.read_bytes() for p in tmp_path.iterdir())
    with Memory(tmp_path / "memory.db") as memory:
        assert [v.item.text for v in memory.scope(user="ada").list()] == ["kept"]
        assert list(memory.admin.verify()) == []


def hold_a_reader(path: str, pipe: Connection) -> None:
    with Memory(path) as memory, memory._opened.store.read() as snapshot:
        snapshot.tenants()
        pipe.send("reading")
        pipe.recv()


def test_while_another_process_reads_the_receipt_says_pending_and_the_next_write_completes_it(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    with Memory(path) as memory:
        me = memory.scope(user="ada")
        doomed = me.observe("zqcanarydoomed words")
        reader = context.Process(target=hold_a_reader, args=(str(path), theirs))
        reader.start()
        assert ours.recv() == "reading"
        assert me.erase(doomed.id).status == "pending"
        assert not memory.admin.settle()
        ours.send("stop")
        reader.join()
        me.observe("the next write")
        assert b"zqcanarydoomed" not in b"".join(p.read_bytes() for p in tmp_path.iterdir())
        assert memory.admin.settle()


def test_evidence_takes_what_was_derived_from_it_along(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory.db") as memory:
        me = memory.scope(user="ada")
        turn = me.observe("I like tea")
        fact = me.write("ada likes tea", source=turn.ids)
        insight = me.write("ada likes hot drinks", kind=Kind.INSIGHT, source=fact.ids)
        assert set(me.erase(turn.id).ids) == {turn.id, fact.id, insight.id}
        with pytest.raises(Conflict):
            me.observe("something else", key="k") and me.observe("another thing", key="k")


def test_counts_that_are_still_to_be_written_bring_nobody_back(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory.db") as memory:
        me = memory.scope(user="zqcanaryuser", agent="zqcanaryagent")
        me.observe("tea")
        me.recall("tea")
        me.erase_user(reason="asked to")
    assert b"zqcanary" not in bytes_of(tmp_path)
    with Memory(tmp_path / "memory.db") as memory:
        assert memory.admin.stats().users == ()


def test_a_tenant_is_erased_with_every_user_and_name_and_leaves_the_others(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory.db") as memory:
        for user in ("zqcanaryada", "zqcanarybob"):
            gone = memory.scope(user=user, tenant="zqcanarytenant", session="zqcanarysession")
            gone.observe("zqcanaryword here", speaker="zqcanaryspeaker")
            gone.recall("zqcanaryword")
        stays = memory.scope(user="ada")
        stays.observe("stays")
        receipt = memory.admin.erase_tenant("zqcanarytenant")
        assert (len(receipt.ids), receipt.status) == (2, "clean")
        assert b"zqcanary" not in bytes_of(tmp_path)
        assert texts(stays) == ["stays"]
        assert list(memory.admin.verify()) == []
    assert b"zqcanary" not in bytes_of(tmp_path)


def test_reasons_go_with_the_user_they_speak_of(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory.db") as memory:
        me = memory.scope(user="ada")
        me.erase(me.observe("tea").id, reason="zqcanaryreason")
        me.erase_user()
        assert list(memory.admin.verify()) == []
    assert b"zqcanary" not in bytes_of(tmp_path)


def test_what_users_built_on_shared_evidence_goes_with_it(memory: Memory, me: ScopedMemory) -> None:
    common = memory.scope(user=SHARED)
    shared = common.observe("the code is 1234")
    me.write("ada knows the code 1234", source=shared.ids)
    assert len(common.erase(shared.id).ids) == 2
    assert texts(me) == []


def test_what_was_superseded_by_something_erased_stands_again(me: ScopedMemory) -> None:
    old = me.write("Paris", said=datetime(2025, 1, 1, tzinfo=UTC))
    new = me.supersede(old.id, "Lisbon", said=datetime(2025, 5, 1, tzinfo=UTC))
    me.erase(new.id)
    assert texts(me) == ["Paris"]


def test_a_generator_left_half_way_holds_nobody_up(memory: Memory, me: ScopedMemory) -> None:
    doomed = [me.observe(f"turn {n}") for n in range(3)]
    one, two = memory.admin.export(), memory.admin.export()
    next(one), next(two)
    list(one)
    assert me.erase(doomed[0].id).status == "pending"
    list(two)
    assert me.erase(doomed[1].id).status == "clean"


def test_a_landed_write_is_acknowledged_though_the_cleaning_after_it_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = SqliteStore(tmp_path / "memory.db")
    with Memory(store) as memory:
        me = memory.scope(user="ada")
        doomed = me.observe("doomed")

        def fail(*_arguments: object) -> bool:
            raise StoreError("the file is too large to be wiped in place")

        monkeypatch.setattr(store, "_scrub", fail)
        assert me.erase(doomed.id).status == "pending"
        assert me.observe("lands").seq == 3
        monkeypatch.undo()
        assert memory.admin.settle()


def test_a_recall_of_what_is_shared_leaves_no_trace_of_who_asked(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory.db") as memory:
        memory.scope(user=SHARED).observe("tea for all")
        assert memory.scope(user="zqcanarystranger").recall("tea").items
    assert b"zqcanary" not in bytes_of(tmp_path)


def test_no_pack_keeps_a_byte_of_what_was_erased(tmp_path: Path) -> None:
    random_ = random.Random(12)
    words = [canary(i, random_) for i in range(20)]
    path = tmp_path / "memory.db"
    with Memory(path, strategies=[], settings=Settings(pack_rows=16)) as memory:
        me = memory.scope(user="ada")
        ids = [plant(memory, word, i) for i, word in enumerate(words)]
        me.observe([f"ordinary turn {i} that stays" for i in range(100)])
        assert memory.flush()
        held = packed_bytes(path)
        spoken = [word for i, word in enumerate(words) if i % 10 in (0, 6, 7, 8, 9)]
        assert all(any(form in held for form in forms(word)) for word in spoken)
        assert me.erase(*(i for some in ids for i in some)).status == "clean"
        assert residue(tmp_path, words) == []
        left = packed_bytes(path)
        assert left
        assert not any(form in left for word in words for form in forms(word) if len(form) > 3)
        assert memory.flush()
        assert memory.admin.verify() == []
    assert residue(tmp_path, words) == []


def packed_bytes(path: Path) -> bytes:
    """All packs of a file, end to end."""
    store = SqliteStore(path)
    try:
        with store.read() as snapshot:
            spaces = [head.id for tenant, _ in snapshot.tenants() for head in snapshot.all_spaces(tenant)]
            return b"".join(snapshot.pack_body(row.id) or b"" for space in spaces for row in snapshot.packs(space))
    finally:
        store.close()


def test_no_pack_of_signs_keeps_a_byte_of_what_was_erased(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mnemic.index.vectors.EXACT", 2)  # so that a few vectors are many
    path = tmp_path / "memory.db"
    with Memory(path, strategies=[], settings=Settings(pack_rows=16), embedder=ScriptedEmbedder()) as memory:
        me = memory.scope(user="ada")
        (gone, *_) = me.observe([f"ordinary turn {i} with words of its own {i * i}" for i in range(200)]).ids
        assert memory.flush()
        (body,) = sign_packs(memory)
        assert any(body[at : at + 64] in bytes_of(tmp_path) for at in range(2_000, len(body) - 64, 512))
        assert me.erase(gone).status == "clean"
        assert sign_packs(memory) == []
        left = bytes_of(tmp_path)
        assert not any(
            body[at : at + 64] in left for at in range(2_000, len(body) - 64, 512) if any(body[at : at + 64])
        )
        me.observe([f"more of that, {i}" for i in range(16)])
        assert memory.flush()
        assert len(sign_packs(memory)) == 1
        assert memory.admin.verify() == []


def sign_packs(memory: Memory) -> list[bytes]:
    """The bytes of all packs of signs."""
    with memory._opened.store.read() as snapshot:
        spaces = [head.id for tenant, _ in snapshot.tenants() for head in snapshot.all_spaces(tenant)]
        rows = [row for space in spaces for row in snapshot.all_packs(space) if row.model]
        return [bytes(snapshot.pack_body(row.id) or b"") for row in rows]


def test_no_cache_of_words_and_names_keeps_what_was_erased(tmp_path: Path) -> None:
    with Memory(tmp_path / "m.db", embedder="none") as memory:
        me = memory.scope(user="ada")
        said = me.observe("我的银行密码是红色大象", speaker="Xanthippe", tags=("quokka-tag",))
        assert "我的银行密码是红色大象" in repr(parts._KNOWN._chunks)
        me.erase(said.id)
        assert "红色大象" not in repr(parts._KNOWN._chunks)
        for cache in (parts._speaker_terms, facets.tag_facet, mask.mask_name):
            assert cache.cache_info().currsize == 0
