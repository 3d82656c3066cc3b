"""As a real process: pipes, terminals, signals, and how long it takes to say `--help`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import mnemic as mnemic_package
from patience import eventually

pytestmark = pytest.mark.heavy

COMMAND = [sys.executable, "-W", "error", "-c", "from mnemic.faces.cli import main; main()"]


def environ(home: Path, **more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MNEMIC_") and name != "NO_COLOR"}
    kept["PYTHONPATH"] = str(Path(mnemic_package.__file__).parent.parent)
    return {**kept, "MNEMIC_HOME": str(home), "TERM": "xterm-256color", **more}


def mnemic(home: Path, *args: str | bytes, **options: object) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*COMMAND, *args], env=environ(home), capture_output=True, **options)  # type: ignore[call-overload, no-any-return]


def turns(count: int) -> str:
    return "".join(f'{{"text": "message number {n}", "time": "2025-01-01T00:00:00Z"}}\n' for n in range(count))


@pytest.fixture(scope="module")
def talk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home that holds 900 messages."""
    home = tmp_path_factory.mktemp("talk")
    done = mnemic(home, "import", "-", "--format", "jsonl", input=turns(900).encode())
    assert done.returncode == 0, done.stderr
    return home


def in_terminal(home: Path, *args: str, **more: str) -> str:
    import pty

    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, *args], env=environ(home, **more), stdin=follower, stdout=follower, stderr=follower
    )
    os.close(follower)
    told = b""
    while True:
        try:
            part = os.read(leader, 65536)
        except OSError:
            break
        if not part:
            break
        told += part
    os.close(leader)
    assert process.wait() == 0, told
    return told.decode()


def test_a_pipe_gets_no_escape_codes(talk: Path) -> None:
    for args in (("recall", "message"), ("log",), ()):
        assert b"\x1b" not in mnemic(talk, *args).stdout


def test_a_terminal_gets_colour_unless_it_is_not_wanted(talk: Path) -> None:
    assert "\x1b[" in in_terminal(talk, "list")
    assert "\x1b[" not in in_terminal(talk, "list", "--no-color")
    assert "\x1b[" not in in_terminal(talk, "list", NO_COLOR="1")


def test_a_terminal_sees_a_progress_bar_and_then_the_summary(home: Path) -> None:
    Path("chat.jsonl").write_text('{"text": "hello there", "time": "2025-01-01T00:00:00Z"}\n')
    told = in_terminal(home, "import", "chat.jsonl")
    assert "importing" in told
    assert "written" in told


def test_the_reader_of_a_pipe_may_leave(talk: Path) -> None:
    line = f'"{sys.executable}" -c "from mnemic.faces.cli import main; main()" list -n 900 --json | head -n 1'
    done = subprocess.run(
        ["bash", "-c", line + '; echo "${PIPESTATUS[0]}"'], env=environ(talk), capture_output=True, text=True
    )
    first, code = done.stdout.splitlines()
    assert json.loads(first)["kind"] == "turn"
    assert int(code) in (0, 141)
    assert done.stderr == ""


def test_output_in_a_poorer_encoding_is_spelt_out(home: Path) -> None:
    mnemic(home, "add", "我住在里斯本")
    for args in (("list",), ("list", "--json"), ("recall", "里斯本")):
        done = subprocess.run([*COMMAND, *args], env=environ(home, PYTHONIOENCODING="latin-1"), capture_output=True)
        assert done.returncode == 0, done.stderr
        assert b"\\u91cc" in done.stdout


def test_an_argument_that_is_not_utf8_is_one_line_and_code_two(home: Path) -> None:
    done = mnemic(home, "add", b"caf\xe9")
    assert done.returncode == 2
    assert done.stderr.startswith(b"error: text: is not UTF-8")
    assert done.stderr.count(b"\n") == 1


def test_an_interrupted_import_keeps_what_it_counted_and_goes_on(home: Path) -> None:
    command = ["import", "-", "--format", "jsonl", "--source", "chat", "--json"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen([*COMMAND, *command], env=environ(home), **pipes)
    assert process.stdin is not None
    process.stdin.write(turns(2500).encode())
    process.stdin.flush()
    eventually(lambda: (home / "memory.db").exists() or process.poll() is not None, "the store")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    assert process.returncode == 130, err
    told = json.loads(out)
    assert told["interrupted"] is True
    assert b"Traceback" not in err
    after = json.loads(mnemic(home, *command, input=turns(3000).encode()).stdout)
    assert after["repeated"] == told["written"]
    assert after["written"] == 3000 - told["written"]


@pytest.mark.parametrize("json_wanted", [False, True])
def test_an_interrupt_while_the_command_line_is_loaded_is_one_line_and_130(home: Path, *, json_wanted: bool) -> None:
    code = (
        "import sys\n"
        "class Pressed:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'click':\n"
        "            raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Pressed())\n"
        "from mnemic.faces.cli import main\n"
        "main()"
    )
    line = [sys.executable, "-c", code, *(["--json"] if json_wanted else [])]
    done = subprocess.run(line, env=environ(home), capture_output=True)
    assert done.returncode == 130
    if json_wanted:
        assert json.loads(done.stderr)["error"]["type"] == "Interrupted"
    else:
        assert done.stderr == b"error: interrupted\n"


@pytest.mark.parametrize("raised", ["KeyboardInterrupt", "LookupError"])
def test_an_interrupt_amid_a_class_statement_is_one_too(home: Path, raised: str) -> None:
    code = (
        "import sys\n"
        "class Field:\n"
        "    def __set_name__(self, *_):\n"
        f"        raise {raised}\n"
        "def command():\n"
        "    class Record:\n"
        "        field = Field()\n"
        "from mnemic.faces.cli import app, main\n"
        "app.cli.invoke = lambda ctx: command()\n"
        "sys.argv[1:] = ['list']\n"
        "main()"
    )
    done = subprocess.run([sys.executable, "-c", code], env=environ(home), capture_output=True)
    if raised == "KeyboardInterrupt":
        assert (done.returncode, done.stderr.strip()) == (130, b"error: interrupted")
    else:
        assert done.returncode == 1
        assert b"LookupError" in done.stderr


def test_an_interrupt_in_a_callback_is_not_swallowed(home: Path) -> None:
    code = (
        "import signal, sys, time, weakref\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # whoever started the tests may ignore it
        "from mnemic.faces.cli import app, main\n"
        "class Thing: pass\n"
        "def goes(_): signal.raise_signal(signal.SIGINT)\n"
        "def command():\n"
        "    thing = Thing()\n"
        "    kept = weakref.ref(thing, goes)\n"
        "    del thing\n"
        "    time.sleep(5)\n"
        "app.cli.invoke = lambda ctx: command()\n"
        "sys.argv[1:] = ['list']\n"
        "main()"
    )
    done = subprocess.run([sys.executable, "-c", code], env=environ(home), capture_output=True)
    assert (done.returncode, done.stderr.strip()) == (130, b"error: interrupted")


def test_completion_knows_the_commands(home: Path) -> None:
    done = subprocess.run(
        COMMAND,
        env=environ(home, _MNEMIC_COMPLETE="bash_complete", COMP_WORDS="mnemic rec", COMP_CWORD="1"),
        capture_output=True,
    )
    assert b"recall" in done.stdout


def test_help_imports_nothing_heavy(home: Path) -> None:
    heavy = "{'numpy', 'rich', 'apsw', 'Stemmer', 'mnemic.memory', 'mnemic.store.sqlite.sqlite_store'}"
    code = (
        "import sys\nfrom mnemic.faces.cli import cli\ntry:\n    cli.main(['--help'])\nexcept SystemExit:\n    pass\n"
        f"sys.exit(bool({heavy} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], env=environ(home), capture_output=True).returncode == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no such device here")
@pytest.mark.parametrize("args", [("list", "-n", "900"), ("list", "-n", "1"), ("--help",), ("show", "last")])
def test_a_full_disk_under_the_output_is_one_line_and_code_one(talk: Path, args: tuple[str, ...]) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([*COMMAND, *args], env=environ(talk), stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 1
    assert done.stderr.startswith(b"error: ")
    assert done.stderr.count(b"\n") == 1


def test_a_command_that_asks_nothing_needs_no_numbers_and_no_stemmer(talk: Path) -> None:
    heavy = "{'numpy', 'rich', 'Stemmer', 'asyncio', 'mnemic.core.timex', 'mnemic.recall.pipeline'}"
    for args in (["list"], ["show", "last"], ["stats"], ["log"]):
        code = (
            "import sys\nfrom mnemic.faces.cli import cli\n"
            f"try:\n    cli.main({args!r})\nexcept SystemExit:\n    pass\n"
            f"sys.exit(bool({heavy} & set(sys.modules)))"
        )
        assert subprocess.run([sys.executable, "-c", code], env=environ(talk), capture_output=True).returncode == 0
