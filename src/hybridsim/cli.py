"""The command `hybridsim`: what it says where it fails, and with which exit code (see `commands/exit_codes.py`).

Each subcommand is a function of `hybridsim.commands`. This file imports nothing that takes time, so that an interruption
is answered from the start.
"""

import gc
import os
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from . import interrupt
from .commands.exit_codes import BROKEN_PIPE, INTERRUPTED, MISTAKE, WRONG_INPUT
from .escape import for_people

DEBUG = "HYBRIDSIM_DEBUG"
"""Set this environment variable to see where an error comes from."""


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
    from .commands.parse import parse

    try:
        with warnings.catch_warnings(), _seldom_collecting_garbage():
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = _Warnings()
            command = parse(arguments)
            _count_in_double_precision()
            code = command() or 0
    except SystemExit as stop:  # of the parser, which has said why
        code = stop.code if isinstance(stop.code, int) else 0
    sys.stdout.flush()
    return code


@contextmanager
def _seldom_collecting_garbage() -> Iterator[None]:
    """Look for unreachable cycles less often: imports and tracing make many objects that stay.

    By default Python looks after every 700 new ones, which takes a seventh of the time of a short fit and frees nothing.
    """
    before = gc.get_threshold()
    gc.set_threshold(50_000, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _count_in_double_precision() -> None:
    """Give JAX's numbers 64 bits, without importing it for a command that does without."""
    if "jax" in sys.modules:
        sys.modules["jax"].config.update("jax_enable_x64", True)
    else:
        os.environ["JAX_ENABLE_X64"] = "1"


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
    sys.stderr.write(f"hybridsim: {for_people(_UNITS.sub(_as_toml, sentence))}\n")


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
