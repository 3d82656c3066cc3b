"""Care of a store as a whole: how many users it has, and what each has."""

from __future__ import annotations

from mnemic import SHARED, Memory


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
