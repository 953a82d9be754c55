"""The numbers of one link, read from the several ways in which people write them."""

from typing import NamedTuple

import numpy as np

from .errors import ModelError
from .spec import Link


class LinkNumbers(NamedTuple):
    mass: np.ndarray
    com: np.ndarray
    tensor: np.ndarray

    @property
    def six(self) -> np.ndarray:
        """xx, yy, zz, xy, xz, yz."""
        return self.tensor[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]


def link_numbers(where: str, link: Link) -> LinkNumbers:
    com = np.asarray(link.com, dtype=float)
    if com.shape != (3,):
        raise ModelError(f"{where}: the centre of mass has shape {com.shape}; give three numbers")
    given = np.asarray(link.inertia, dtype=float)
    if given.shape == ():
        matrix = given * np.eye(3)
    elif given.shape == (3,):
        matrix = np.diag(given)
    elif given.shape == (6,):
        matrix = given[[0, 3, 4, 3, 1, 5, 4, 5, 2]].reshape(3, 3)
    elif given.shape == (3, 3):
        if not np.allclose(given, given.T, rtol=1e-6, atol=1e-12, equal_nan=True):
            raise ModelError(f"{where}: the inertia matrix is not symmetric:\n{given}")
        matrix = (given + given.T) / 2
    else:
        raise ModelError(f"{where}: the inertia has shape {given.shape}; give 1, 3, 6 or 3x3 numbers")
    return LinkNumbers(np.asarray(link.mass, dtype=float), com, matrix)
