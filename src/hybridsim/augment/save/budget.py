"""Random numbers up to a count: a small file that names a huge network is refused before memory is taken for it."""

from math import prod

import numpy as np


class Budget(np.random.Generator):
    """A generator that gives only so many numbers."""

    def __init__(self, left: int):
        super().__init__(np.random.PCG64(0))
        self.left = left

    def _spend(self, size) -> None:
        self.left -= prod(np.atleast_1d(1 if size is None else size).tolist())
        if self.left < 0:
            raise MemoryError("its sizes are larger than the number of its weights in the file")

    def uniform(self, low=0.0, high=1.0, size=None):
        self._spend(size)
        return super().uniform(low, high, size)

    def normal(self, loc=0.0, scale=1.0, size=None):
        self._spend(size)
        return super().normal(loc, scale, size)

    def standard_normal(self, size=None, dtype=np.float64, out=None):
        self._spend(size)
        return super().standard_normal(size, dtype, out)

    def random(self, size=None, dtype=np.float64, out=None):
        self._spend(size)
        return super().random(size, dtype, out)
