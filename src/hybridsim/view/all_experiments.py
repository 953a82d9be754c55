"""Every experiment by its name."""

from collections.abc import Callable
from pathlib import Path

from .experiments import show_discovery, show_energy, show_friction, show_motor
from .identification import show_coverage, show_global_search, show_three_link, show_unidentifiable
from .real_data import show_dfki, show_pendulums
from .swing import show_swing

EXPERIMENTS: dict[str, Callable[[Path, bool], None]] = {
    "swing": show_swing,
    "discovery": show_discovery,
    "friction": show_friction,
    "motor": show_motor,
    "energy": show_energy,
    "global-search": show_global_search,
    "three-link": show_three_link,
    "coverage": show_coverage,
    "unidentifiable": show_unidentifiable,
    "dfki": show_dfki,
    "pendulums": show_pendulums,
}
