"""Help fits a screen and comes at once; wrong arguments end in few words; shells complete the command."""

import json
import subprocess
import sys
from math import ceil

import pytest

from hybridsim.cli import main
from hybridsim.commands.parse import COMMANDS

SCREEN, WIDTH = 24, 80


def height(lines: list[str]) -> int:
    """Of lines in a terminal, which breaks the long ones."""
    return sum(max(1, ceil(len(line) / WIDTH)) for line in lines)


@pytest.fixture(autouse=True)
def narrow(monkeypatch):
    monkeypatch.setenv("COLUMNS", str(WIDTH))


@pytest.mark.parametrize("arguments", [["--help"], []])
def test_help_lists_every_command_in_one_line(arguments, capsys):
    assert main(arguments) == 0
    lines = capsys.readouterr().out.splitlines()
    assert height(lines) <= SCREEN
    for name, command in COMMANDS.items():
        assert any(name in line and command.__doc__.splitlines()[0] in line for line in lines), name


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_every_command_fits_a_screen(name, capsys):
    assert main([name, "--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert height(lines) <= SCREEN
    assert "None" not in "".join(lines)


PROGRAM = """
import json, sys
from hybridsim.cli import main

before = sorted(sys.modules)
code = main(sys.argv[1:])
print("\\n" + json.dumps({"code": code, "before": before, "after": sorted(sys.modules)}))
"""
HEAVY = {"equinox", "jax", "jaxtyping", "lxml", "matplotlib", "mujoco", "numpy", "optax", "pandas", "scipy", "llvmlite",
         "trimesh", "yourdfpy"}  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--help"], 0),
        ([], 0),
        (["--version"], 0),
        (["fit", "--help"], 0),
        (["completion", "bash"], 0),
        (["simulat"], 2),
        (["--dance"], 2),
        (["info"], 2),
        (["fit", "nowhere.toml"], 2),
        (["init", "nowhere.urdf", "nowhere.csv"], 2),
        (["compare", "nowhere", "elsewhere"], 2),
    ],
)
def test_answers_without_numbers_import_nothing_heavy(arguments, code):
    """Nor does the entry point import much before it can catch an interruption."""
    run = subprocess.run([sys.executable, "-c", PROGRAM, *arguments], capture_output=True, text=True)
    seen = json.loads(run.stdout.splitlines()[-1])
    assert seen["code"] == code
    assert {"asyncio", "tyro", *HEAVY} & {name.split(".")[0] for name in seen["before"]} == set()
    assert HEAVY & {name.split(".")[0] for name in seen["after"]} == set()


def test_numbers_have_64_bits_whether_jax_is_imported_before_or_after():
    """The command sets this for JAX, in an interpreter that has imported it as in one that has not."""
    program = """
import os, sys
os.environ["JAX_ENABLE_X64"] = "0"
if "before" in sys.argv:
    import jax
from hybridsim.cli import main
assert main(["experiment", "swing", "--quick", "--out", "/dev/null/file"]) == 2
import jax
print(jax.numpy.zeros(1).dtype)
"""
    for arguments in (["before"], []):
        run = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True)
        assert run.stdout.strip() == "float64", run.stderr


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("hybridsim")


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["simulat"], "there is no command 'simulat'; try hybridsim simulate; all are init, fit"),
        (["dance"], "try hybridsim --help"),
        (["--dance"], "--dance"),
        (["info"], "MODEL"),
        (["info", "arm.urdf", "--jso"], "--json"),
        (["simulate", "arm.urdf", "--seconds", "long"], "--seconds"),
        (["experiment", "dance"], "discovery"),
    ],
)
def test_wrong_arguments_are_told_in_few_lines(arguments, word, capsys):
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert word in captured.err
    assert len(captured.err.splitlines()) <= 15


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script_and_says_how_to_install_it(shell, capsys):
    assert main(["completion", shell]) == 0
    captured = capsys.readouterr()
    for name in COMMANDS:
        assert name in captured.out
    assert captured.err.startswith(f"hybridsim: to install: hybridsim completion {shell} > ")
    if shell == "bash":
        assert subprocess.run(["bash", "-n"], input=captured.out, text=True).returncode == 0
