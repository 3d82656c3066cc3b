"""The job that collects a tenant's garbage in slices between other work, and the chore that orders it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from mnemic.core.uninterrupted import import_whole
from mnemic.flow import Flow, run
from mnemic.store.engine.job_queue import order
from mnemic.store.requests import look
from mnemic.store.values.work import JobState, Order

if TYPE_CHECKING:
    from collections.abc import Callable

    from mnemic.answering import Answering
    from mnemic.collecting.collection import Collection
    from mnemic.settings import Settings
    from mnemic.store.contract import Store
    from mnemic.store.values.drafts import JobStep
    from mnemic.store.values.work import Job
    from mnemic.worker.job_types import JobContext, JobSlice
    from mnemic.writing import Desk

GC: Final = "gc"


def gc_order(tenant: int, key: str, trigger: str = "asked", not_before: int = 0) -> Order:
    """Make the order for one garbage collection of a tenant; the same key is the same run.

    Tenants go by their numbers: a name would outlive its erasure here.
    """
    payload = json.dumps({"tenant": tenant, "trigger": trigger}).encode()
    return Order(name=GC, key=key, payload=payload, not_before=not_before)


def gc_slices(store: Store, settings: Settings) -> JobSlice:
    """Make the slice function of `gc` jobs. A run that is cut short begins anew; what it had retired stays retired."""
    runs: dict[int, tuple[Collection, int]] = {}

    def gc_slice(context: JobContext, job: Job, step: JobStep) -> Flow[bool]:
        import_whole("mnemic.collecting.collection", "mnemic.collecting.housekeeping")
        from mnemic.collecting.collection import Collection, collect_slice, conclude, recalled
        from mnemic.collecting.housekeeping import plan_for

        payload = json.loads(job.order.payload)
        waiting = yield from look(lambda s: {other.id for other in s.jobs(JobState.WAITING)})
        for ended in runs.keys() - waiting:
            del runs[ended]  # elsewhere, or by whoever cancelled it
        name = yield from look(lambda s: dict(s.tenants()).get(payload["tenant"], ""))
        if (yield from look(lambda s: s.tenant(name))) != payload["tenant"]:  # it was erased
            runs.pop(job.id, None)
            return False
        if job.id not in runs:
            plan = plan_for(settings, name, trigger=payload["trigger"])
            runs[job.id] = Collection(plan), store.info().folded
        collection, before = runs[job.id]
        yield from collect_slice(context.desk, collection)
        if not collection.done:
            return True
        record = yield from recalled(collection.plan.tenant)
        yield from conclude(context.desk, collection, record, before, store.info().folded)
        del runs[job.id]
        return False

    return gc_slice


def gc_chore(answering: Answering, desk: Desk) -> Callable[[float], None]:
    """Make the chore that a worker calls from time to time: it orders a run for each tenant whose trigger fires."""

    def chore(idle: float) -> None:
        import_whole("mnemic.collecting.collection")
        from mnemic.collecting.collection import due

        if not desk.settings.gc_auto:
            return
        store, info = answering.store, answering.store.info()
        with store.read() as snapshot:
            tenants = list(snapshot.tenants())
        for tenant, name in tenants:
            trigger = run(due(desk, name, info.folded, info.free, idle), answering.perform)
            if trigger is not None:
                key = f"{tenant} {desk.clock.now()}"
                store.transact(order, gc_order(tenant, key, trigger))

    return chore
