"""The table of commands, and from the words of a command line to the function that they ask for."""

import sys
from collections.abc import Callable
from difflib import get_close_matches
from functools import partial, wraps
from typing import Annotated, Any, Literal

import tyro

from .bench import bench
from .compare import compare
from .demo import demo
from .experiment import experiment
from .fit import fit
from .info import info
from .init import init
from .names import names
from .simulate import simulate

INSTALL = {
    "bash": "hybridsim completion bash > ~/.local/share/bash-completion/completions/hybridsim",
    "zsh": "hybridsim completion zsh > ~/.zfunc/_hybridsim, and fpath+=~/.zfunc before compinit in ~/.zshrc",
    "fish": "hybridsim completion fish > ~/.config/fish/completions/hybridsim.fish",
}


def completion(shell: Annotated[Literal["bash", "zsh", "fish"], tyro.conf.Positional]) -> None:
    """Print a script by which a shell completes this command.

    Args:
        shell: The shell that reads the script.
    """
    sys.stderr.write(f"hybridsim: to install: {INSTALL[shell]}\n")
    parse(["--tyro-write-completion", shell, "-"])


COMMANDS: dict[str, Callable[..., Any]] = {
    "init": init,
    "fit": fit,
    "compare": compare,
    "simulate": simulate,
    "info": info,
    "names": names,
    "bench": bench,
    "demo": demo,
    "experiment": experiment,
    "completion": completion,
}
"""Each command's arguments and help are those of its function."""


def parse(arguments: list[str]) -> partial[int | None]:
    """The command that the arguments ask for, to be called. Wrong options, and --help, end in SystemExit."""
    config = (tyro.conf.FlagCreatePairsOff, tyro.conf.HelptextFromCommentsOff)
    first = arguments[0] if arguments else "--help"
    if first in COMMANDS:
        return tyro.cli(_later(COMMANDS[first]), prog=f"hybridsim {first}", args=arguments[1:], config=config)
    if first == "--version":
        return partial(_print_version)
    if not first.startswith("-"):
        close = get_close_matches(first, COMMANDS, 1) or ["--help"]
        raise ValueError(f"there is no command {first!r}; try hybridsim {close[0]}; all are {', '.join(COMMANDS)}")
    return tyro.extras.subcommand_cli_from_dict(
        {name: _later(command, brief=first in ("-h", "--help")) for name, command in COMMANDS.items()},
        prog="hybridsim",
        description="Calibrate simulated robots from logs. See also: hybridsim COMMAND --help, hybridsim --version",
        args=arguments or ["--help"],
        config=config,
    )


def _later(command: Callable[..., int | None], brief: bool = False) -> Callable[..., partial[int | None]]:
    """A function with the command's arguments that does not run it yet: its errors are not those of parsing.

    `brief`: explained by one line, for a list.
    """

    @wraps(command)
    def called_later(*args, **kwargs) -> partial[int | None]:
        return partial(command, *args, **kwargs)

    if brief:
        called_later.__doc__ = (command.__doc__ or "").splitlines()[0]
    return called_later


def _print_version() -> None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        sys.stdout.write(f"hybridsim {version('hybridsim')}\n")
    except PackageNotFoundError:
        sys.stdout.write("hybridsim, not installed\n")
