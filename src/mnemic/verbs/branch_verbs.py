"""The verbs over branches: make one, list them, merge one, drop one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mnemic.core.checking import clean_name
from mnemic.core.listing import Listing, one_page
from mnemic.core.uninterrupted import import_whole
from mnemic.errors import Conflict, NotFound, Refused
from mnemic.flow import Flow
from mnemic.store.engine.snapshot import Snapshot
from mnemic.store.requests import commit, erase, look
from mnemic.verbs.who import (
    Who,
    compare_and_commit,
    cursors_of,
    draft_of,
    erasure_of,
    named_branch,
    own_or_none,
    own_space,
    view_of,
    writable,
)

if TYPE_CHECKING:
    from mnemic.past.branching import Branch
    from mnemic.past.merging import Merge
    from mnemic.store.values.drafts import Draft
    from mnemic.store.values.receipts import ErasureReceipt


class BranchVerbs:
    """The verbs over branches, of a `Kernel`."""

    __slots__ = ()

    def branch(self, who: Who, name: str, *, understand: bool) -> Flow[None]:
        """Make a branch of what this handle reads, at its commit, if there is none of that name."""
        import_whole("mnemic.past.branching")
        from mnemic.past.branching import forked

        clean_name("branch", name)
        if (who.past.as_of, who.past.valid_at) != (None, None):
            raise Refused("a branch comes off a commit (`at`), not off what was known or held at a moment")
        base, there = yield from look(lambda s: (_base(s, who), named_branch(s, who, name)))
        if there is None:
            yield from commit(forked(draft_of(who, ()), name, base, lanes=understand))
        elif not who.past.is_now:
            raise Conflict(f"there is a branch {name!r} already, off commit {there.base}; give this one another name")

    def branches(self, who: Who, limit: int, after: str | None) -> Flow[Listing[Branch]]:
        """The branches of this user's memory, in the order they were made."""
        import_whole("mnemic.past.branching")
        from mnemic.past.branching import branches_of

        cursors = cursors_of("branches", who, size=1)
        (past,) = (0,) if after is None else cursors.read(after)
        rows = yield from look(
            lambda s: [each for own in s.spaces(own_or_none(s, who)) for each in branches_of(s, own, past)]
        )
        page = one_page(rows, limit, lambda last: cursors.write(last[0]))
        return Listing(tuple(branch for _, branch in page), page.next)

    def merge(self, who: Who, name: str, prefer: str, *, dry_run: bool) -> Flow[Merge]:
        """Take over what a branch has changed, in one commit; what both have changed is reported, or settled."""
        import_whole("mnemic.past.merging")
        from mnemic.past.merging import merging

        writable(who)
        clean_name("branch", name)

        def compared(snapshot: Snapshot) -> tuple[Merge, Draft]:
            there = named_branch(snapshot, who, name)
            if there is None:
                raise NotFound(f"no branch {name!r} here")
            own = snapshot.spaces((own_space(snapshot, who),))[0]
            return merging(snapshot, own, there, draft_of(who, ()), prefer)

        merge, receipt = yield from compare_and_commit(who, compared, dry_run=dry_run)
        return merge if receipt is None else replace(merge, seq=receipt.seq)

    def drop_branch(self, who: Who, name: str) -> Flow[ErasureReceipt]:
        """Take a branch out for good, with what was written to it alone."""
        writable(who)
        clean_name("branch", name)
        return (yield from erase(replace(erasure_of(who, whole=True, reason=""), branch=name)))


def _base(snapshot: Snapshot, who: Who) -> int | None:
    """The commit that a branch of what this handle reads comes off; None for the last.

    Raises:
        Invalid: it looks at a moment by which nothing had been remembered here.
    """
    import_whole("mnemic.past.branching")
    from mnemic.past.branching import refuse_unborn

    base, own = view_of(snapshot, who).at, own_or_none(snapshot, who)
    if base is not None and who.past.at_moment is not None and own:
        refuse_unborn(snapshot, own[0], base)
    return base
