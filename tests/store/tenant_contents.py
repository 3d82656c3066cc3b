"""All that a store has of a tenant, said in words of the journal, for tests that compare two stores."""

from __future__ import annotations

from typing import Any

from mnemic.store.contract import Store
from mnemic.store.engine.relations import JOB
from mnemic.store.engine.rows import Rows
from mnemic.store.values.work import embedding_lane
from mnemic.testing.store_contract.contract_world import TENANT


def contents(store: Store) -> dict[str, object]:
    """All that a store has of the tenant, with what is the store's own said in words of the journal."""
    with store.read() as snapshot:
        return _contents(snapshot.tables)


def _contents(rows: Rows) -> dict[str, object]:
    tenant = rows.spaces.known_tenant(TENANT)
    said: dict[str, Any] = {
        "memos": [],
        "holds": [],
        "jobs": [],
        "lanes": [],
        "vectors": [],
        "windows": [],
        "answers": [],
    }
    models = {row.id: row.name for row in rows.vectors.embedders()}
    lanes = {embedding_lane(number): f"embeds for {name}" for number, name in models.items()}
    spaces = rows.spaces.tenant_spaces(tenant.id)
    numbers = {0: 0, **{space.id: space.number for space in spaces}}
    for hold in rows.notes.holds(tenant.id):
        said["holds"].append((numbers[hold.space], *hold[3:]))
    for space in spaces:
        items = {
            ver: (item, seq)
            for ver, item, seq in ((v.ver, v.id, v.seq_from) for v in rows.items.all_versions(space.id))
        }

        def last(ver: int, items: dict[int, Any] = items) -> object:
            return max(((number, item) for number, item in items.items() if number <= ver), default=(0, None))[1]

        for lane in rows.lanes.lanes(space.id):
            said["lanes"].append(
                (space.number, lanes.get(lane.name, lane.name), last(lane.cursor), lane.attempt, lane.seq)
            )
        for model, name in models.items():
            for row in rows.vectors.vectors(space.id, model, 0):
                said["vectors"].append((space.number, name, items[row.ver], row.part, bytes(row.f16)))
        for entry in rows.items.entries(space.id, 0):
            said.setdefault("entries", []).append((space.number, items[entry.ver], *entry[1:8], bytes(entry.terms)))
        said.setdefault("facets", []).append(
            (space.number, sorted((items[v], bytes(h)) for v, h in rows.items.facets(space.id)))
        )
        for session in rows.sessions.sessions(space.id):
            text = rows.names.name_text(session.session)
            pages = rows.sessions.pages_at_hand(space.id, session.session)
            said["windows"].append((space.number, text, session.budget, session.policy, session.clock, pages))
        for job in rows.spaces.relations.find(JOB, order=("id",), space=space.id):
            wanted = job.order
            said["jobs"].append((space.number, wanted.name, wanted.key, wanted.payload, job.state, job.attempts))
    said["credentials"] = rows.notes.credentials(("tenant", "=", TENANT))
    said["spending"] = rows.notes.memo(tenant.id, "collected")
    said["owners"] = [
        (space.number, space.user, space.secret, space.branch, numbers[space.parent], space.base, space.epoch)
        for space in spaces
    ]
    return said


def journal(store: Store) -> list[bytes]:
    return list(store.export(TENANT))


def faults(store: Store) -> list[str]:
    return [f"{fault.where}: {fault.problem}" for fault in store.verify()]
