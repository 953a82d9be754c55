"""Rules that every source file obeys."""

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src/hybridsim"
FILES = sorted(SOURCE.rglob("*.py"))
LONGEST = 400


def name_of(path: Path) -> str:
    return str(path.relative_to(SOURCE))


@pytest.fixture(params=FILES, ids=name_of)
def source(request) -> Path:
    return request.param


def test_files_are_short(source):
    assert len(source.read_text().splitlines()) < LONGEST


def test_every_module_says_what_it_is(source):
    assert ast.get_docstring(ast.parse(source.read_text()))


def test_only_the_command_line_prints(source):
    if source.name == "cli.py" or "view" in source.relative_to(SOURCE).parts:
        return
    calls = [node for node in ast.walk(ast.parse(source.read_text())) if isinstance(node, ast.Call)]
    assert not [call.lineno for call in calls if isinstance(call.func, ast.Name) and call.func.id == "print"]


def test_no_file_is_pickled(source):
    if source.name == "executors.py":
        # To its own workers, not to files, functions travel as Python sends them.
        return
    tree = ast.parse(source.read_text())
    names = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert not {"pickle", "cloudpickle", "dill", "joblib"} & set(names)


def test_layers():
    """The contracts in pyproject.toml: each folder imports only from folders further down."""
    program = Path(sys.executable).with_name("lint-imports")
    command = [str(program)] if program.exists() else [shutil.which("lint-imports") or "lint-imports"]
    run = subprocess.run([*command, "--no-cache"], cwd=SOURCE.parents[1], capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.parametrize("source", sorted((SOURCE / "experiments").glob("*.py")), ids=name_of)
def test_experiments_use_only_what_users_have(source):
    """Each is an example too: it imports the package, its neighbours and libraries, nothing from inside."""
    tree = ast.walk(ast.parse(source.read_text()))
    imported = [node for node in tree if isinstance(node, ast.ImportFrom)]
    assert not [node.module for node in imported if node.level > 1 or (node.module or "").startswith("hybridsim.")]
