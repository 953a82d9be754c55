"""The command `hybridsim`. Each subcommand is a function; its arguments and help are those of the function."""

import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import tyro


def demo(seconds: float = 8.0, out: Path = Path("out/demo")) -> None:
    """Let a two-link arm swing: energy drift and speed of the integrators, and a picture.

    Args:
        seconds: How long the arm swings.
        out: Folder for the picture.
    """
    from .view.demo import run_demo

    run_demo(seconds, out)


def info(
    file: Annotated[Path, tyro.conf.Positional],
    free: bool = False,
) -> None:
    """Show the joints and links of a URDF or MJCF file with their numbers.

    Args:
        file: The robot's file.
        free: Let the root link of a URDF float instead of fixing it to the world.
    """
    from .load import load
    from .view.tables import show_model

    show_model(load(file, base="free" if free else "fixed"), str(file))


def names(
    file: Annotated[Path, tyro.conf.Positional],
    free: bool = False,
    springs: bool = False,
    json: bool = False,
) -> None:
    """List the named variables of a robot's time step, where networks can be put and values recorded.

    Args:
        file: The robot's file, URDF or MJCF.
        free: Let the root link of a URDF float instead of fixing it to the world.
        springs: Contact by springs instead of impulses; it has other variables.
        json: Print JSON, with all that each variable may depend on.
    """
    from .contact import Impulses, Springs
    from .load import load
    from .simulate import names
    from .view.names import print_names, show_names

    marks = names(load(file, base="free" if free else "fixed"), Springs() if springs else Impulses())
    (print_names if json else show_names)(marks, str(file))


def experiment(
    name: Annotated[
        Literal[
            "discovery",
            "friction",
            "motor",
            "energy",
            "global-search",
            "three-link",
            "coverage",
            "unidentifiable",
            "dfki",
            "pendulums",
        ],
        tyro.conf.Positional,
    ],
    out: Path = Path("out/experiments"),
    quick: bool = False,
) -> None:
    """Repeat one of the papers' experiments, or of those that follow them: a table, and a figure.

    Args:
        name: discovery: Figure 10 of NeuralSim. friction: the same with springs and Coulomb friction. motor: a motor with
            delay and saturation. energy: physical structures over a minute. global-search: Figure 4 of NeuralSim.
            three-link: Figure 2 of Real2Sim. coverage: how often intervals hold the truth. unidentifiable: what angles
            cannot tell. dfki, pendulums: real measurements, found by HYBRIDSIM_DATA.
        out: Folder for the figure.
        quick: A small part of it, in seconds, only to see that it runs.
    """
    from .view.all_experiments import EXPERIMENTS

    out.mkdir(parents=True, exist_ok=True)
    EXPERIMENTS[name](out, quick)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code: 0, or 2 with one sentence on stderr where the input is wrong."""
    import jax

    from .data import DataError
    from .model import ModelError

    jax.config.update("jax_enable_x64", True)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _warn
            tyro.extras.subcommand_cli_from_dict(
                {"demo": demo, "info": info, "names": names, "experiment": experiment},
                prog="hybridsim",
                description="A differentiable simulator of articulated rigid bodies.",
                args=arguments,
            )
    except (ModelError, DataError) as error:
        return _fail(str(error))
    except OSError as error:
        return _fail(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    return 0


def _fail(problem: str) -> int:
    print(f"hybridsim: {problem}", file=sys.stderr)
    return 2


def _warn(message, *_, **__) -> None:
    print(f"hybridsim: warning: {message}", file=sys.stderr)
