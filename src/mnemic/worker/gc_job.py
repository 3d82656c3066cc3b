"""Work of the open store as a whole that jobs do: garbage collection, a slice at a time between everything else."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from mnemic.flow import Flow, run
from mnemic.store.following import JobState, Order
from mnemic.store.jobs import order
from mnemic.store.requests import look

if TYPE_CHECKING:
    from collections.abc import Callable

    from mnemic.collecting.collection import Collection
    from mnemic.opening import Opened
    from mnemic.store.drafts import JobStep
    from mnemic.store.following import Job
    from mnemic.worker.job_types import Bench, Work

GC: Final = "gc"


def gc_order(tenant: int, key: str, trigger: str = "asked", not_before: int = 0) -> Order:
    """The order to collect a tenant's garbage once; the same key is the same run.

    Tenants go by their numbers: a name would outlive its erasure here.
    """
    payload = json.dumps({"tenant": tenant, "trigger": trigger}).encode()
    return Order(name=GC, key=key, payload=payload, not_before=not_before)


def gc_work(opened: Opened) -> Work:
    """What a job called `gc` does here. A run that is cut short begins anew: what it had retired stays retired."""
    runs: dict[int, tuple[Collection, int]] = {}

    def work(bench: Bench, job: Job, step: JobStep) -> Flow[bool]:
        from mnemic.collecting.collection import Collection, collect_slice, conclude, recalled
        from mnemic.collecting.housekeeping import plan_for

        given = json.loads(job.order.payload)
        waiting = yield from look(lambda s: {one.id for one in s.jobs(JobState.WAITING)})
        for ended in runs.keys() - waiting:
            del runs[ended]  # elsewhere, or by whoever cancelled it
        name = yield from look(lambda s: dict(s.tenants()).get(given["tenant"], ""))
        if (yield from look(lambda s: s.tenant(name))) != given["tenant"]:  # it was erased
            runs.pop(job.id, None)
            return False
        if job.id not in runs:
            plan = plan_for(opened.settings, name, trigger=given["trigger"])
            runs[job.id] = Collection(plan), opened.store.info().folded
        collection, before = runs[job.id]
        yield from collect_slice(bench.desk, collection)
        if not collection.done:
            return True
        record = yield from recalled(collection.plan.tenant)
        yield from conclude(bench.desk, collection, record, before, opened.store.info().folded)
        del runs[job.id]
        return False

    return work


def gc_chore(opened: Opened) -> Callable[[float], None]:
    """What a worker asks from time to time: order a run for each tenant for which a trigger speaks."""

    def chore(idle: float) -> None:
        from mnemic.collecting.collection import due

        if not opened.settings.gc_auto:
            return
        info, desk = opened.store.info(), opened.kernel.desk
        with opened.store.read() as snapshot:
            tenants = list(snapshot.tenants())
        for tenant, name in tenants:
            trigger = run(due(desk, name, info.folded, info.free, idle), opened.background.perform)
            if trigger is not None:
                key = f"{tenant} {desk.clock.now()}"
                opened.store.transact(order, gc_order(tenant, key, trigger))

    return chore
