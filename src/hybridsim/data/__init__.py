"""Measured motion: readers of public datasets in the formats that their authors published."""

from .contactnets import PUBLISHED_CUBE, CubeParameters, CubeToss, read_cube_tosses
from .folder import VARIABLE, DataError, data_folder

__all__ = [
    "PUBLISHED_CUBE",
    "VARIABLE",
    "CubeParameters",
    "CubeToss",
    "DataError",
    "data_folder",
    "read_cube_tosses",
]
