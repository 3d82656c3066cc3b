"""The torture runs, on the whole engine: kills, power cuts, I/O errors, many processes, killed imports and servers.

`scripts/torture` runs them; each returns a `Report` that a table and a JSON line show.
"""

from mnemic.testing.torture.collecting import collecting
from mnemic.testing.torture.imports import imports
from mnemic.testing.torture.io_errors import ioerror
from mnemic.testing.torture.kills import kill
from mnemic.testing.torture.many_processes import processes
from mnemic.testing.torture.power_cuts import power
from mnemic.testing.torture.report import Report
from mnemic.testing.torture.server_kills import failover, postgres
from mnemic.testing.torture.times import times
from mnemic.testing.torture.workers import workers

__all__ = [
    "Report",
    "collecting",
    "failover",
    "imports",
    "ioerror",
    "kill",
    "postgres",
    "power",
    "processes",
    "times",
    "workers",
]
