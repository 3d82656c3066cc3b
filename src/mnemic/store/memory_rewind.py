"""Rows in memory that were written after a commit, taken out, as `sqlite_rewind` does it in a file."""

from __future__ import annotations

from collections.abc import Sequence

from mnemic.core.clock import FOREVER
from mnemic.store.heads import CheckpointRow
from mnemic.store.memory_tables import SpaceTables, Tables
from mnemic.store.rows import HoldRow, StrengthRow


class MemoryRewound:
    """The part of `store.rows.Rows` that going back in time needs."""

    _tables: Tables

    def checkpoints(self, tenant: int) -> list[CheckpointRow]:
        """None: there is no file to copy."""
        return []

    def set_strength(self, row: StrengthRow) -> None:
        self._tables.content(row.space).strengths[row.id] = row

    def set_hold(self, row: HoldRow) -> None:
        self._tables.holds[row.id] = row

    def drop_after(self, tenant: int, seq: int) -> int:
        spaces = [space for space, row in self._tables.spaces.items() if row.tenant == tenant]
        gone = sum(self._rewind(self._tables.content(space), seq) for space in spaces)
        self._rewind_journal(tenant, seq)
        for space in spaces:
            self._drop_unborne(tenant, space)
        return gone

    def drop_spaces(self, spaces: Sequence[int]) -> None:
        for space in spaces:
            content, row = self._tables.content(space), self._tables.spaces[space]
            for number in content.names.values():
                self._tables.homes.discard(number)
            content.empty()
            for number in [number for number, job in self._tables.jobs.items() if job.order.space == space]:
                del self._tables.jobs[number]
            if row.user is not None:
                del self._tables.owners[row.tenant, row.user, row.branch]
            del self._tables.spaces[space]

    def _rewind(self, content: SpaceTables, seq: int) -> int:
        later = [row for row in content.versions.values() if row.seq_from > seq]
        self._drop_jobs({row.ver for row in later})
        for version in later:
            content.drop_version(version)
        for item in {row.id for row in later} - content.items.keys():
            content.drop_pages(item)
            _underive(content, item)
        for ver, version in list(content.versions.items()):
            if seq < version.seq_to < FOREVER:
                content.versions[ver] = version._replace(seq_to=FOREVER)
                content.entries[ver] = tuple(entry._replace(seq_to=FOREVER) for entry in content.entries[ver])
        self._rewind_links(content, seq)
        self._rewind_sessions(content, seq)
        for key in [key for key in content.keys.values() if key.seq > seq]:
            if not (key.lasting and key.item in content.tombs):
                content.drop_key(key)
        for item, used in list(content.strengths.items()):
            if max(used.uses, used.useful, used.harms) <= 0:
                del content.strengths[item]
        return len(later)

    @staticmethod
    def _rewind_sessions(content: SpaceTables, seq: int) -> None:
        said = {version.session for version in content.versions.values()}
        for number, session in [(n, row) for n, row in content.sessions.items() if row.seq > seq]:
            for home, item in [key for key in content.pages if key[0] == number]:
                del content.pages[home, item]
                content.paged.remove(item, home)
            del content.sessions[number]
            if number in said:  # its window as it was is not known: it is made again from its last turns
                content.sessions[number] = session._replace(owner="", lease_until=0, clock=0, turns=0, seq=0)

    @staticmethod
    def _rewind_links(content: SpaceTables, seq: int) -> None:
        for link in [row for row in content.links.values() if row.seq_from > seq]:
            content.drop_link(link)
        for lver, link in list(content.links.items()):
            if seq < link.seq_to < FOREVER:
                content.links[lver] = link._replace(seq_to=FOREVER)

    def _drop_jobs(self, vers: set[int]) -> None:
        for number in [number for number, job in self._tables.jobs.items() if job.order.ver in vers]:
            del self._tables.jobs[number]

    def _rewind_journal(self, tenant: int, seq: int) -> None:
        journal, head = self._tables.journal(tenant), self._tables.tenants[tenant]
        for later in [number for number in journal.changes if number > seq]:
            journal.events.discard(later)
            del journal.changes[later]
        last = journal.changes.get(seq)
        at, hash_ = (0, bytes(32)) if last is None else (last.at, last.hash)
        self._tables.tenants[tenant] = head._replace(seq=seq, at=at, hash=hash_)

    def _drop_unborne(self, tenant: int, space: int) -> None:
        content = self._tables.content(space)
        borne = {n for row in content.versions.values() for n in (row.agent, row.session)}
        borne |= {row.type for row in content.links.values()} | set(content.sessions)
        borne |= {change.actor for change in self._tables.journal(tenant).changes.values()}
        for text, number in list(content.names.items()):
            if number not in borne:
                del content.names[text]
                del self._tables.homes[number]


def _underive(content: SpaceTables, item: bytes) -> None:
    """Forget what an item was derived from; what a branch derived from it, where it read it in its parent, stays."""
    for source in [source for source, items in content.derived.items() if item in items]:
        content.derived.remove(source, item)
