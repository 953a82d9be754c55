"""The command `hybridsim`. Each subcommand is a function of `hybridsim.commands`; its arguments and help are those of the
function.

Exit codes: 0 done; 2 wrong input, said in one sentence; 130 interrupted by Ctrl-C; 141 the reader of a pipe has gone; 1 a
mistake of ours.
"""

import os
import re
import sys
import warnings
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from functools import partial, wraps
from typing import Annotated, Any, Literal

import tyro

from . import interrupt
from .commands.bench import bench
from .commands.compare import compare
from .commands.demo import demo
from .commands.experiment import experiment
from .commands.fit import INTERRUPTED, fit
from .commands.info import info
from .commands.init import init
from .commands.names import names
from .commands.simulate import simulate

WRONG_INPUT, MISTAKE, BROKEN_PIPE = 2, 1, 141
DEBUG = "HYBRIDSIM_DEBUG"
"""Set this environment variable to see where an error comes from."""

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
    _say(f"to install: {INSTALL[shell]}")
    _parse(["--tyro-write-completion", shell, "-"])


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


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code. Without arguments, run that of this process, and end it."""
    if arguments is not None:
        return _exit_code(list(arguments))
    interrupt.install()
    interrupt.end(_exit_code(sys.argv[1:]))


def _exit_code(arguments: list[str]) -> int:
    try:
        return _run(arguments)
    except BrokenPipeError:
        _drop_output()
        return BROKEN_PIPE
    except KeyboardInterrupt:
        return _fail("interrupted", INTERRUPTED)
    except OSError as error:
        _drop_output()
        return _fail(_sentence(error), WRONG_INPUT)
    except (ValueError, FloatingPointError) as error:
        # Every error of ours that a better file or number would avoid is one of these.
        return _fail(str(error), WRONG_INPUT)
    except MemoryError:
        return _fail("there is not enough memory for this", WRONG_INPUT)
    except Exception as error:
        return _fail(
            f"this is a mistake of HybridSim, not yours ({type(error).__name__}: {error}); please report it with the "
            f"command and its files, and with what {DEBUG}=1 shows",
            MISTAKE,
        )


def _run(arguments: list[str]) -> int:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = _Warnings()
            command = _parse(arguments)
            if command.func not in (completion, _print_version):
                _count_in_double_precision()
            code = command() or 0
    except SystemExit as stop:  # of the parser, which has said why
        code = stop.code if isinstance(stop.code, int) else 0
    sys.stdout.flush()
    return code


def _parse(arguments: list[str]) -> partial[int | None]:
    """What the arguments ask for, to be called. Wrong options, and --help, end in SystemExit."""
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
    """The same arguments, but only to be called with them: what is wrong then has nothing to do with parsing.

    `brief`: explained by one line, for a list.
    """

    @wraps(command)
    def called_later(*args, **kwargs) -> partial[int | None]:
        return partial(command, *args, **kwargs)

    if brief:
        called_later.__doc__ = (command.__doc__ or "").splitlines()[0]
    return called_later


def _count_in_double_precision() -> None:
    import jax

    jax.config.update("jax_enable_x64", True)


def _print_version() -> None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        sys.stdout.write(f"hybridsim {version('hybridsim')}\n")
    except PackageNotFoundError:
        sys.stdout.write("hybridsim, not installed\n")


def _sentence(error: OSError) -> str:
    """What the system says, about which file."""
    if error.strerror is None:
        return str(error)
    return f"{error.filename}: {error.strerror}" if error.filename else f"cannot read or write: {error.strerror}"


def _fail(problem: str, code: int) -> int:
    if os.environ.get(DEBUG):
        import traceback

        traceback.print_exc()
    _say(" ".join(problem.split()))
    return code


_UNITS = re.compile(r"(?:give )?units=\{'([^']+)': '([^']+)'\}")
"""How the library says it; here it is a line of fit.toml."""


def _say(sentence: str) -> None:
    sys.stderr.write(f"hybridsim: {_UNITS.sub(_as_toml, sentence)}\n")


def _as_toml(match: re.Match[str]) -> str:
    return f'write {match[1]} = "{match[2]}" under [logs.units] in fit.toml'


def _drop_output() -> None:
    """Where stdout takes no more, forget the rest: Python would complain when it empties the buffer at its end."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class _Warnings:
    """Says each warning once."""

    def __init__(self) -> None:
        self.said: set[str] = set()

    def __call__(self, message: Warning | str, *_, **__) -> None:
        text = " ".join(str(message).split())
        if text not in self.said:
            self.said.add(text)
            _say(f"warning: {text}")
