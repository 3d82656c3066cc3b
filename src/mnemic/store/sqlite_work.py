"""Lanes, jobs and embedders of a SQLite file: each step a transaction of its own, beside the queue of commits."""

from __future__ import annotations

from collections.abc import Sequence

from mnemic.store import jobs, lanes
from mnemic.store.drafts import JobStep
from mnemic.store.following import Answer, EmbedderState, Job, JobState, Lane, Order, Vectors
from mnemic.store.sqlite_file import SqliteFile
from mnemic.store.sqlite_rows import SqliteRows


class SqliteWork(SqliteFile):
    """The part of `SqliteStore` that work which follows a write needs."""

    def enlist(self, name: str, dims: int, state: EmbedderState) -> int:
        return self._alone(lambda rows: lanes.enlist(rows, name, dims, state))

    def appoint(self, model: int, state: EmbedderState) -> None:
        self._alone(lambda rows: lanes.appoint(rows, model, state))

    def dismiss(self, model: int) -> None:
        while self._alone(lambda rows: lanes.dismiss(rows, model)):
            self._probe("dismiss:slice")

    def claim(self, space: int, lane: str, owner: str, seconds: float) -> Lane | None:
        return self._alone(lambda rows: lanes.claim(rows, space, lane, owner, seconds, self._clock.now()))

    def release(
        self, space: int, lane: str, owner: str, error: str = "", not_before: int = 0, stride: int = 0, reach: int = 0
    ) -> None:
        self._alone(lambda rows: lanes.release(rows, space, lane, owner, error, not_before, stride, reach))

    def bury(self, space: int, lane: str, owner: str, after: int, ver: int, error: str) -> int:
        return self._alone(lambda rows: lanes.bury(rows, space, lane, owner, after, ver, error, self._clock.now()))

    def prolong(self, space: int, owner: str, seconds: float, job: int = 0) -> bool:
        return self._alone(lambda rows: jobs.prolong(rows, space, owner, seconds, self._clock.now(), job))

    def record(self, answer: Answer) -> bool:
        held = self._alone(lambda rows: jobs.record(rows, answer, self._clock.now()))
        self._probe("record:after-commit")
        return held

    def order(self, order: Order) -> int:
        return self._alone(lambda rows: jobs.order(rows, order, self._clock.now()))

    def claim_job(self, names: Sequence[str], owner: str, seconds: float) -> Job | None:
        if not self._has_job(names):
            return None  # looking takes no lock
        return self._alone(lambda rows: jobs.claim(rows, names, owner, seconds, self._clock.now()))

    def _has_job(self, names: Sequence[str]) -> bool:
        self._refuse_closed()
        with self.read() as snapshot:
            return bool(names) and any(job.order.name in names for job in snapshot.jobs(JobState.WAITING))

    def end_job(self, step: JobStep, state: JobState, error: str = "", not_before: int = 0) -> bool:
        ended = self._alone(lambda rows: jobs.end(rows, step, state, error, not_before))
        self._probe("job:after-end")
        return ended

    def steer_job(self, job: int, state: JobState) -> Job:
        return self._alone(lambda rows: jobs.steer(rows, job, state))

    def keep(self, batch: Vectors) -> int:
        def work(rows: SqliteRows) -> int:
            count = lanes.keep(rows, batch)
            self._probe("keep:before-commit")
            return count

        written = self._alone(work)
        self._probe("keep:after-commit")
        return written
