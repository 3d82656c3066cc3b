"""A PgBouncer of one's own before a server of one's own, for tests."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from mnemic.testing.postgres_server import APPLICATION, PostgresFailed, PostgresServer, as_unprivileged

_STARTING_SECONDS: Final = 60.0
_SETTINGS: Final = """[databases]
{database} = host=127.0.0.1 port={server_port} dbname={database}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = {folder}/users
pool_mode = {mode}
default_pool_size = 40
logfile = {folder}/log
"""


def installed_pgbouncer() -> Path | None:
    """The program, where Debian puts it or on the path; None where it is not installed."""
    found = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin")
    return None if found is None else Path(found)


@contextlib.contextmanager
def running_pgbouncer(program: Path, server: PostgresServer, database: str, mode: str) -> Iterator[str]:
    """Have a pooler stand before a database until the block is left; yields the URL through it.

    It has one for each connection that a process of ours may have at a time: by sessions, some would wait for good.

    Args:
        mode: `session`, `transaction` or `statement`.

    Raises:
        PostgresFailed: it did not come up.
    """
    with (
        tempfile.TemporaryDirectory(prefix="mnemic-pgbouncer-") as named,
        socket.create_server(("127.0.0.1", 0)) as free,
    ):
        folder, port = Path(named), int(free.getsockname()[1])
        free.close()
        (folder / "users").write_text(f'"{APPLICATION}" "{server.password}"\n')
        fields = {"database": database, "server_port": server.port, "port": port, "folder": folder, "mode": mode}
        (folder / "ini").write_text(_SETTINGS.format(**fields))
        for path in (folder, *folder.iterdir()):
            path.chmod(0o755)
        folder.chmod(0o777)  # it writes its log there, as another user where we are root
        with subprocess.Popen(
            [program, "-q", folder / "ini"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **as_unprivileged()
        ) as process:
            try:
                _wait_until_it_listens(process, port, folder)
                yield f"postgresql://{APPLICATION}:{server.password}@127.0.0.1:{port}/{database}"
            finally:
                process.terminate()


def _wait_until_it_listens(process: subprocess.Popen[bytes], port: int, folder: Path) -> None:
    until = time.monotonic() + _STARTING_SECONDS
    while time.monotonic() < until and process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.05)
    log = folder / "log"
    raise PostgresFailed(f"pgbouncer did not come up: {log.read_text()[-500:] if log.exists() else 'it said nothing'}")
