"""Every example in every `--help` is run as it stands there."""

from __future__ import annotations

import importlib.util
import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from commandline import Run

import mnemic
from mnemic.faces.cli import cli
from mnemic.faces.cli.command_table import COMMANDS, Listed
from mnemic.memory import Memory
from mnemic.models.chat import gguf

SOURCE = str(Path(mnemic.__file__).parent.parent)
FIXTURES = Path(__file__).parent.parent / "fixtures"
SHELL = ("|", ">", "MNEMIC_")
_PASSAGES = (("a", "Hollow Reed", "A film by Mara Lind."), ("b", "Mara Lind", "She was born in Oakmoor."))
_QUESTION = {"type": "query", "ns": "n", "id": "q", "text": "Where was the director of Hollow Reed born?"}
QUESTIONS = "".join(
    json.dumps(record) + "\n"
    for record in (
        *(
            {"type": "doc", "ns": "n", "id": i, "session": t, "pos": 0, "ts": "", "speaker": t, "text": x}
            for i, t, x in _PASSAGES
        ),
        {**_QUESTION, "answer": "Oakmoor", "category": "bridge", "gold": ["a", "b"], "gold_sessions": []},
    )
)
BOOK = " ".join(f"On page {n} the ferry to island {n * 7} is late by {n % 13} hours." for n in range(2_000))
SLOW = {
    "mnemic bench speed": "lab/tasks/test_speed_bench.py",
    "mnemic bench kv ": "lab/tasks/test_kv_bench.py",
    "mnemic bench session --tokens": "lab/tasks/session/test_session_bench.py",
    "mnemic bench load --tenants 4": "lab/tasks/test_load_bench.py",
    "mnemic bench busy --rounds 1 --writes 2 --slow-model": "lab/tasks/test_busy_bench.py",
    "mnemic bench locomo locomo10.json --out": "lab/kit/test_run.py",
    "mnemic bench locomo locomo10.json --limit": "lab/kit/test_run.py",
    "mnemic bench locomo locomo10.json --systems mnemic": "lab/kit/test_contestants.py",
    "mnemic bench current --embedder none --limit 1": "lab/tasks/test_task_contract.py",
    "mnemic bench ablate locomo=locomo10.json --strategies": "lab/kit/test_strategy_contestants.py",
    "mnemic neural ask": "faces/test_cli_neural.py",
    "mnemic neural bench": "lab/tasks/neural/test_mechanism_bench.py",
}
"""How examples begin that take the most of a processor, and where what they show is tested in small meanwhile.

`python -m pytest tests/faces/test_cli_examples.py -m slow` runs them; `scripts/test` ends with `mnemic neural bench`.
"""


def commands(group: click.Group, path: str) -> Iterator[tuple[str, click.Command]]:
    yield path, group
    for name in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands(command, f"{path} {name}")
        else:
            yield f"{path} {name}", command


EVERY = list(commands(cli, "mnemic"))


def cost(example: str) -> list[pytest.MarkDecorator]:
    if example.startswith(tuple(SLOW)):
        return [pytest.mark.slow]
    costly = example.startswith("mnemic bench") or "--model smollm2" in example
    return [pytest.mark.heavy] if costly else []


EXAMPLES = [
    pytest.param(example, marks=cost(example))
    for _, command in EVERY
    for example in command.examples  # type: ignore[attr-defined]
]


@pytest.mark.parametrize(("path", "command"), EVERY)
def test_every_help_has_examples_of_its_own_command(path: str, command: click.Command, run: Run) -> None:
    told = run(*path.split()[1:], "--help").out
    assert "Examples:" in told
    words = path.split()
    examples = command.examples  # type: ignore[attr-defined]
    assert examples
    assert all(all(word in shlex.split(example) for word in words) for example in examples)
    assert all(example in told for example in examples)
    assert "--json" in told


def test_what_is_left_for_a_slower_run_is_an_example_and_tested_in_small() -> None:
    every = [example for _, command in EVERY for example in command.examples]  # type: ignore[attr-defined]
    assert [one for one in SLOW if not any(example.startswith(one) for example in every)] == []
    assert [place for place in SLOW.values() if not (FIXTURES.parent / place).is_file()] == []


@pytest.fixture(scope="module")
def seeded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all that the examples speak of."""
    root = tmp_path_factory.mktemp("seeded")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MNEMIC_HOME", str(root / "home"))
        (root / "desk" / "runs").mkdir(parents=True)
        patch.chdir(root / "desk")
        Path("chat.jsonl").write_text('{"id": "1", "text": "Which city?", "time": "2025-03-01T10:00:00Z"}\n')
        Path("notes.md").write_text("# Notes\n\nThe wifi password is on the fridge.\n")
        Path("talk.txt").write_text("[2025-03-01 10:00] Ada: Hello.\n[2025-03-01 10:01] Ben: Hello Ada!\n")
        shutil.copy(FIXTURES / "locomo_small.json", "locomo10.json")
        Path("questions.jsonl").write_text(QUESTIONS)
        Path("book.txt").write_text(BOOK)
        Path("memory.key").write_text("correct horse battery staple")
        for line in (
            "add 'We leave on Friday.' --session trip --said 2025-03-01T10:00:00Z",
            "import chat.jsonl",
            "add 'I work at Acme.' --role user --said 2025-01-02T10:00:00Z",
            "add 'Handed in my badge, Acme is behind me.' --role user --said 2025-01-03T10:00:00Z",
            "fact 'Ada lives in Rome.' --said 2025-02-01T10:00:00Z",
            "session context trip 'When do we leave?'",
            "backup memory-backup.db",
            "checkpoint before-import",
            "branch try",
            "--branch try fact 'Ada lives in Oslo.'",
            "export --out journal.jsonl",
            "fact 'Zoe is under investigation.' --user zoe",
            "hold add --everything --user zoe --reason 'case 7'",
            "keys create --name laptop",
            "files write memory",
            "bench locomo locomo10.json --out runs/run.jsonl --limit 2 --systems mnemic --embedder none",
        ):
            with pytest.raises(SystemExit) as left:
                cli.main(shlex.split(line))
            assert left.value.code == 0, line
        with Memory(root / "home" / "memory.db") as memory:
            me = memory.scope(user="me")
            source = me.list(limit=1)[0].item.id
            me.artefacts.put(b"made-up", mechanism="kv", made_by={"model": "made-up"}, sources=(source,), remade=True)
            me.export_cube("ada.cube", caches=True)
    return root


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_works_as_it_stands(
    example: str, run: Run, home: Path, seeded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gguf, "THREADS", 1)  # several wait for each other at every step
    shutil.copytree(seeded / "home", home)
    shutil.copytree(seeded / "desk", Path.cwd(), dirs_exist_ok=True)
    for made in ("memory-backup.db", "journal.jsonl", "ada.cube"):
        if not any(word in example for word in ("restore", "load journal", "move memory-backup", "cube import")):
            Path(made).unlink()
    if example.startswith("mnemic keys create "):  # a name is of one key
        run("keys", "revoke", "laptop")
    if example.startswith("mnemic restore "):  # refused while what would go is held
        run("hold", "release", "1")
    if example == "mnemic reindex":  # with whoever serves
        monkeypatch.setenv("MNEMIC_EMBEDDER", "scripted")
    if any(mark in example for mark in SHELL):
        in_a_shell(example, home)
    elif "bench asked" in example:  # its data may not be carried here: the folder is empty, and it says what is missing
        Path("data").mkdir()
        assert "holds none of the data" in run(*shlex.split(example)[1:], code=2).err
    elif "--model smollm2" in example and importlib.util.find_spec("xllamacpp") is None:
        assert "not installed" in run(*shlex.split(example)[1:], code=2).err
    elif example.startswith("mnemic place "):  # of the store that a setting names, which is a file here
        assert "Tenants are placed on PostgreSQL servers" in run(*shlex.split(example)[1:], code=2).err
    elif ".example/" in example:  # a server of nobody's
        assert "no server answers there" in run(*shlex.split(example)[1:], code=5).err
    elif (
        any(words in example for words in ("neural bench", "neural ask")) and importlib.util.find_spec("torch") is None
    ):
        assert "pip install torch==2.13.0" in run(*shlex.split(example)[1:], code=2).err
    else:
        run(*shlex.split(example)[1:])


def in_a_shell(line: str, home: Path) -> None:
    words = home.parent / "bin"
    words.mkdir()
    command = words / "mnemic"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "from mnemic.faces.cli import main; main()" "$@"\n')
    command.chmod(0o755)
    environ = {**os.environ, "PATH": f"{words}:{os.environ['PATH']}", "HOME": str(home.parent), "PYTHONPATH": SOURCE}
    environ["MNEMIC_EMBEDDER"] = "none"  # as for those that run in this process
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", line], env=environ, capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("listed", COMMANDS.values(), ids=lambda listed: listed.name)
def test_the_table_says_of_a_command_what_its_own_help_says(listed: Listed) -> None:
    command = listed.load()
    assert command.name == listed.name
    assert command.get_short_help_str(limit=1_000) == listed.summary


def test_help_and_completion_of_commands_import_none_of_them() -> None:
    code = (
        "import sys, click\nfrom mnemic.faces.cli import cli\n"
        "context = click.Context(cli)\ncli.get_help(context), cli.shell_complete(context, 'b')\n"
        "print([name for name in sys.modules if name.startswith('mnemic.') and 'commands.' in name])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_completion_offers_the_commands_with_what_they_do() -> None:
    offered = cli.shell_complete(click.Context(cli), "bra")
    assert [item.value for item in offered] == ["branch", "branches"]
    assert offered[0].help == COMMANDS["branch"].summary
