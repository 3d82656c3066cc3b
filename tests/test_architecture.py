"""The house: imports point downhill, heavy packages are not paid for at the door, tables and folders agree."""

from __future__ import annotations

import ast
import gc
import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import mnemic
from mnemic.registry import STORES, load
from mnemic.store.contract import Store
from mnemic.store.engine import relations, rows

SOURCE = Path(mnemic.__file__).parent


def _script(name: str) -> Any:
    """A script of the checkout, as a module."""
    spec = importlib.util.spec_from_file_location(name, Path(__file__).parent.parent / "scripts" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


house = _script("house")
FLOORS = (
    ("_version", "errors"),
    ("core",),
    ("flow", "registry", "settings"),
    ("artefacts",),
    ("extract",),
    ("models",),
    ("neural",),
    ("store",),
    ("lanes",),
    ("index",),
    ("tiers",),
    ("strategies",),
    ("ingest",),
    ("demo",),
    ("recall",),
    ("past",),
    ("writing",),
    ("collecting",),
    ("derive",),
    ("verbs",),
    ("meaning",),
    ("credentials",),
    ("watching",),
    ("answering",),
    ("counting",),
    ("worker",),
    ("opening",),
    ("reindexing", "timekeeping"),
    ("window",),
    ("arguments",),
    ("admin",),
    ("session", "long_reading", "markdown_folder", "scope_artefacts", "cubes"),
    ("learnt_shards", "scope_learning", "stored_memory"),
    ("memory", "aio"),
    ("replicas", "placement", "engine_memory", "engine_adapters", "attached_memories"),
    ("operations",),
    ("tools",),
    ("lab",),
    ("testing",),
    ("faces",),
    ("__main__",),
)
"""From the ground up, by folder; a module imports from its own floor and from those below."""
CATCHING = (
    "flow",
    "store/sqlite/group_commit",
    "store/postgres/postgres_store",
    "worker/thread",
    "models/calling",
    "derive/own_recall",
    "watching/feed",
    "watching/journal_reader",
)
"""Worker loops, and what hands an error on, somebody else's code's too: these may catch whatever comes."""
LEVEL = {name: level for level, names in enumerate(FLOORS) for name in names}


@cache
def parsed() -> list[Any]:
    """Every module of the package, parsed once for all tests of this file."""
    return house.modules(SOURCE)  # type: ignore[no-any-return]


@pytest.fixture(autouse=True, scope="module")
def trees_are_let_go() -> Iterator[None]:
    """Trees of all the code are large: the collector of garbage does not look through them, nor do other files' tests
    carry them along.
    """
    gc.disable()
    try:
        yield
    finally:
        parsed.cache_clear()
        walked.cache_clear()
        gc.enable()


def modules() -> list[tuple[str, ast.Module]]:
    return [("/".join(module.name.split(".")[1:]), module.tree) for module in parsed()]


@cache
def walked() -> list[tuple[str, list[ast.AST]]]:
    """Every node of every module."""
    return [(name, list(ast.walk(tree))) for name, tree in modules()]


def placed(module: str) -> str:
    """The folder that a module lies in, or the module itself where it lies beside them: what `FLOORS` names."""
    return module.split("/")[0]


def floor(module: str) -> int:
    return LEVEL[placed(module)]


def imported(nodes: list[ast.AST]) -> list[str]:
    names: list[str] = []
    for node in nodes:
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute, so that they can be followed"
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    return [placed(name.removeprefix("mnemic.").replace(".", "/")) for name in names if name.startswith("mnemic.")]


def test_every_module_has_a_floor() -> None:
    assert {placed(name) for name, _ in modules() if not name.endswith("__init__")} <= set(LEVEL)


def test_imports_point_downhill() -> None:
    uphill = [
        f"{name} imports {target}"
        for name, nodes in walked()
        if placed(name) in LEVEL
        for target in imported(nodes)
        if target in LEVEL and LEVEL[target] > floor(name)
    ]
    assert uphill == []


def test_nobody_below_the_doors_imports_a_door_the_laboratory_or_the_tool_shed() -> None:
    for name, nodes in walked():
        if name.split("/")[0] in ("faces", "lab", "testing", "__main__"):
            continue
        assert not {"faces", "lab", "testing"} & set(imported(nodes)), name


def test_no_two_folders_import_each_other_and_no_files_go_in_a_circle() -> None:
    modules_of_house = parsed()
    arrows = house.imports(modules_of_house)
    assert house.up_arrows(modules_of_house, arrows) == []
    assert house.circles(arrows) == []


def test_no_two_modules_and_no_two_public_types_share_a_name() -> None:
    modules_of_house = parsed()
    assert house.shared_base_names(modules_of_house) == []
    assert house.shared_type_names(modules_of_house) == []


def _without_types(tree: ast.Module) -> ast.Module:
    """The module as it is run: what only a type checker reads costs nobody anything."""
    checked = [n for n in tree.body if not (isinstance(n, ast.If) and ast.unparse(n.test) == "TYPE_CHECKING")]
    return ast.Module(checked, [])


def test_the_ground_floor_needs_only_the_standard_library_and_a_stemmer() -> None:
    allowed = {*sys.stdlib_module_names, "mnemic", "Stemmer"}
    for name, tree in modules():
        if name.startswith("core/"):
            run = _without_types(tree)
            roots = {a.name.split(".")[0] for n in ast.walk(run) if isinstance(n, ast.Import) for a in n.names}
            roots |= {(n.module or "").split(".")[0] for n in ast.walk(run) if isinstance(n, ast.ImportFrom)}
            assert roots <= allowed, name


def test_every_module_holds_code() -> None:
    """One that only says what it would do, and imports what it would need, was left behind."""
    for name, tree in modules():
        if not name.endswith("__init__"):
            body = _without_types(tree).body
            assert any(not isinstance(node, ast.Import | ast.ImportFrom | ast.Expr) for node in body), name


def test_what_is_imported_amid_a_verb_is_imported_whole() -> None:
    """An interrupt in an import leaves a package of C half loaded, or a module locked that another thread waits for."""
    for name, tree in modules():
        if name.startswith(("faces/", "lab/", "testing/", "demo/", "ingest/")):  # nothing of ours runs beside them
            continue
        run = _without_types(tree)
        for function in (node for node in ast.walk(run) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)):
            for node in ast.walk(function):
                if isinstance(node, ast.Import):
                    wanted = {alias.name for alias in node.names}
                elif isinstance(node, ast.ImportFrom):
                    wanted = {node.module or ""}
                else:
                    continue
                if not {module.split(".")[0] for module in wanted} <= sys.stdlib_module_names:
                    assert "import_whole(" in ast.unparse(function), f"{name}:{node.lineno}"


def test_importing_mnemic_fetches_nothing_heavy() -> None:
    code = "import sys, mnemic; print([m for m in ('numpy', 'apsw', 'rich', 'click', 'Stemmer') if m in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown.strip() == "[]"


def test_torch_and_its_company_are_imported_by_what_works_inside_a_model_and_what_learns_alone() -> None:
    company = {"torch", "safetensors", "gguf", "tokenizers", "transformers", "accelerate", "peft", "jinja2"}
    some = {
        "testing/tiny_llama": {"gguf"},
        "lab/order_training": {"torch"},
        "lab/adapted_layers": {"torch"},
        "lab/question_training": {"torch"},
        "lab/reading_training": {"torch"},
        "lab/instruction_reading_training": {"torch"},
        "lab/trait_training": {"torch"},
        "lab/tasks/neural/recall_task": {"torch"},
        "lab/tasks/neural/reading_policy_training": {"torch"},
        "lab/tasks/neural/peer_runs": {"torch"},
        "stored_memory": {"torch"},  # the type of what is written
    }
    for name, nodes in walked():
        roots = {module.split(".")[0] for node in nodes for module in _imported(node)}
        inside = name.startswith("neural/") and name != "neural/__init__"
        learns = name.startswith("lab/tasks/neural/") and name.endswith("_experiment")
        allowed = company if inside or learns else some.get(name, set())
        assert roots & company <= allowed, name


def test_nobody_above_the_store_knows_a_backend_by_name() -> None:
    for name, nodes in walked():
        if name.split("/")[0] in ("store", "lab", "testing") or name == "registry":
            continue
        known = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
        known += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
        known += [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
        assert [text for text in known if text.startswith(("apsw", "sqlite:", "mnemic.store.sqlite"))] == [], name


def test_the_environment_is_read_by_settings_and_by_faces_alone() -> None:
    readers = [
        name
        for name, nodes in walked()
        for node in nodes
        if isinstance(node, ast.Attribute) and node.attr in ("environ", "getenv") and isinstance(node.ctx, ast.Load)
    ]
    assert "settings" in readers
    # What starts programs for tests hands its own environment on.
    assert all(name == "settings" or name.startswith(("faces/", "testing/")) for name in readers), readers


def test_every_name_in_a_table_is_a_class_that_loads() -> None:
    for name in STORES:
        assert isinstance(load(STORES, name), type)


def test_no_module_is_broad_about_what_it_catches_without_a_reason() -> None:
    for name, nodes in walked():
        for node in nodes:
            if isinstance(node, ast.ExceptHandler) and isinstance(node.type, ast.Name) and node.type.id == "Exception":
                assert name in CATCHING or name.startswith(("faces/", "testing/")), f"{name}:{node.lineno}"


def test_a_new_store_has_at_most_sixty_methods_to_write() -> None:
    written = [name for name in vars(Store) if not name.startswith("_")]
    written += [name for name in vars(relations.Relations) if not name.startswith("_")]
    for group in vars(rows).values():
        if isinstance(group, type) and issubclass(group, rows.Group):
            written += getattr(group, "__abstractmethods__", ())
    assert len(written) <= 60


def test_what_is_imported_whole_is_what_is_imported_then() -> None:
    by_another = {("models/calling", "numpy"), ("models/e5/cores", "concurrent.futures.thread")}
    for name, tree in modules():
        run = _without_types(tree)
        for function in (node for node in ast.walk(run) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)):
            called = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
            whole_ones = [call for call in called if isinstance(call.func, ast.Name) and call.func.id == "import_whole"]
            given = [arg for call in whole_ones for arg in call.args]
            whole = {str(arg.value) for arg in given if isinstance(arg, ast.Constant)}
            if not given or len(whole) < len(given):  # some are worked out
                continue
            imported = [_imported(node) for node in ast.walk(function)]
            for module in whole:
                used = any(module in names for names in imported) or (name, module) in by_another
                assert used, f"{name}:{function.lineno}: {module} is imported whole, and not imported"
            for names in imported:
                foreign = {module for module in names if module.split(".")[0] not in sys.stdlib_module_names}
                assert not foreign or foreign & whole, f"{name}:{function.lineno}: {names[0]} is not imported whole"


def _imported(node: ast.AST) -> list[str]:
    """What an import may be of: the module, or names in it that may be modules; nothing for any other node."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)]
    return []
