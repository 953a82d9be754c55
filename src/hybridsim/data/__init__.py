"""Measured motion: readers of public datasets in the formats that their authors published."""

from .contactnets import PUBLISHED_CUBE, CubeParameters, CubeToss, read_cube_tosses
from .dfki import PUBLISHED_DFKI, DfkiParameters, DrivenRun, dfki_runs, read_dfki
from .folder import VARIABLE, DataError, data_folder
from .ibm_double_pendulum import FilmedSwing, ibm_double_pendulum_runs, read_ibm_double_pendulum
from .mcube_push import Push, push_runs, read_push, read_push_outline
from .multi_arm import PassiveSwing, multi_arm_runs, read_multi_arm_swing, read_multi_arm_swings

__all__ = [
    "PUBLISHED_CUBE",
    "PUBLISHED_DFKI",
    "VARIABLE",
    "CubeParameters",
    "CubeToss",
    "DataError",
    "DfkiParameters",
    "DrivenRun",
    "FilmedSwing",
    "PassiveSwing",
    "Push",
    "data_folder",
    "dfki_runs",
    "ibm_double_pendulum_runs",
    "multi_arm_runs",
    "push_runs",
    "read_cube_tosses",
    "read_dfki",
    "read_ibm_double_pendulum",
    "read_multi_arm_swing",
    "read_multi_arm_swings",
    "read_push",
    "read_push_outline",
]
