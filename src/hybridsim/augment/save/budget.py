"""Random numbers up to a count: a small file that names a huge network is refused before memory is taken for it."""

from math import prod
from typing import Any

import numpy as np


class Budget(np.random.Generator):
    """A generator that gives only so many numbers of the kinds that weights start with."""

    def __init__(self, left: int):
        super().__init__(np.random.PCG64(0))
        self.left = left

    def _spend(self, size: Any) -> None:
        self.left -= prod(np.atleast_1d(1 if size is None else size).tolist())
        if self.left < 0:
            raise MemoryError("its sizes are larger than the number of its weights in the file")

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        self._spend(size)
        return super().uniform(low, high, size)

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        self._spend(size)
        return super().normal(loc, scale, size)

    def standard_normal(self, size: Any = None, *others: Any, **options: Any) -> Any:
        self._spend(size)
        return super().standard_normal(size, *others, **options)

    def random(self, size: Any = None, *others: Any, **options: Any) -> Any:
        self._spend(size)
        return super().random(size, *others, **options)
