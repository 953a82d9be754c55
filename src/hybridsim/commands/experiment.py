"""`hybridsim experiment`"""

from pathlib import Path
from typing import Annotated, Literal

import tyro

from .arguments import Flag, Folder

Name = Literal[
    "swing",
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
]


def experiment(
    name: Annotated[Name, tyro.conf.Positional, tyro.conf.arg(metavar="NAME", help_behavior_hint="")],
    out: Folder = Path("out/experiments"),
    quick: Flag = False,
) -> None:
    """Repeat an experiment of the papers: a table and a figure.

    Args:
        name: swing: energy of an arm without friction, by integrator. discovery: Figure 10 of NeuralSim. friction: the same
            with springs and Coulomb friction. motor: a motor with delay and saturation. energy: physical structures over a
            minute. global-search: Figure 4 of NeuralSim. three-link: Figure 2 of Real2Sim. coverage: how often intervals
            hold the truth. unidentifiable: what angles cannot tell. dfki, pendulums: real measurements, found by
            HYBRIDSIM_DATA.
        out: Folder for the figure.
        quick: A small part of it, in seconds, only to see that it runs.
    """
    from ..view.all_experiments import EXPERIMENTS

    out.mkdir(parents=True, exist_ok=True)
    EXPERIMENTS[name](out, quick)
