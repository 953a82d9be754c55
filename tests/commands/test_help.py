"""Help fits a screen and comes at once; wrong arguments end in few words; shells complete the command."""

import json
import subprocess
import sys
from math import ceil

import pytest

from hybridsim.cli import COMMANDS, main

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
import hybridsim

before = set(sys.modules)
from hybridsim.cli import main

codes = [main(arguments) for arguments in (["--help"], ["fit", "--help"], ["--version"], ["completion", "bash"])]
print(json.dumps({"codes": codes, "new": sorted({name.split(".")[0] for name in set(sys.modules) - before})}))
"""
HEAVY = {"equinox", "jax", "lxml", "matplotlib", "mujoco", "numpy", "optax", "pandas", "scipy", "llvmlite", "yourdfpy"}


def test_help_imports_nothing_heavy():
    """Beyond what the package itself imports."""
    run = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    seen = json.loads(run.stdout.splitlines()[-1])
    assert seen["codes"] == [0, 0, 0, 0]
    assert "tyro" in seen["new"]
    assert HEAVY & set(seen["new"]) == set()


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
