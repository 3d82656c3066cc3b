"""Care of a store as a whole: how many users it has, and what each has."""

from __future__ import annotations

from pathlib import Path

import pytest

from mnemic import SHARED, Memory, Settings
from mnemic.core.events import Verb
from mnemic.core.items import Kind
from mnemic.core.queries import Filter
from mnemic.errors import Invalid

DERIVED = Filter(kinds=(Kind.PROFILE, Kind.PROCEDURE))


def test_a_branch_is_no_user_and_what_is_on_it_is_counted_apart() -> None:
    with Memory("memory:", embedder="none") as memory:
        me = memory.scope(user="ada")
        me.observe("I live in Lisbon.")
        me.branch("try").observe("I live in Porto.")
        me.on_branch("try").branch("other")
        memory.scope(user=SHARED).observe("The office is closed on Friday.")
        found = memory.admin.stats()
        assert [(one.user, one.items, one.branches) for one in found.users] == [("ada", 1, 2), (None, 1, 0)]
        assert found.items == 2
        me.drop_branch("other")
        assert [one.branches for one in memory.admin.stats().users] == [1, 0]


def test_a_tenant_that_was_moved_goes_on_where_it_was(tmp_path: Path) -> None:
    quiet = Settings(background=False, embedder="none")
    with Memory(tmp_path / "one.db", settings=quiet) as one, Memory(tmp_path / "two.db", settings=quiet) as two:
        two.scope(user="ada", tenant="neighbour").observe("I live in Porto.")
        two.flush()
        me = one.scope(user="ada")
        me.observe(("I live in Lisbon.", "Please always answer in verse."))
        mark = me.changes()[-1].mark
        lines = list(one.admin.export())
        me.observe("My sister is called Ana.")
        two.admin.load(lines)
        there = two.scope(user="ada")
        there.observe("My sister is called Ana.")
        assert [notice.events[0].verb for notice in there.changes(after=mark)] == [Verb.WROTE]
        for memory in (one, two):
            memory.flush()
        derived = [
            {v.item.id: v.item.text for v in scope.list(where=DERIVED) if "Ana" not in v.item.text}
            for scope in (me, there)
        ]
        assert len(derived[0]) == 2
        assert derived[0] == derived[1]  # the same ids: rules make them of what the journal calls the space
        (home,) = two.scope(user="ada", tenant="neighbour").list(where=DERIVED)
        assert "Porto" in home.item.text
        assert one.admin.verify() == two.admin.verify() == []
        there.erase_user()
        assert two.scope(user="ada", tenant="neighbour").count() == 2
        assert two.admin.verify() == []


def test_a_load_says_how_far_it_is_and_takes_a_callable(tmp_path: Path) -> None:
    with Memory("memory:", embedder="none") as one, Memory(tmp_path / "two.db", embedder="none") as two:
        me = one.scope(user="ada")
        for n in range(501):
            me.observe(f"turn {n}")
        told: list[tuple[int, int]] = []
        loaded = two.admin.load(one.admin.export(), tenant="moved", progress=lambda done, of: told.append((done, of)))
        assert (loaded.tenant, loaded.commits) == ("moved", one.scope(user="ada").log(limit=1)[0].seq)
        assert told == [(500, loaded.commits)]
        with pytest.raises(Invalid):
            two.admin.load(one.admin.export(), tenant="again", progress="loudly")  # type: ignore[arg-type]
