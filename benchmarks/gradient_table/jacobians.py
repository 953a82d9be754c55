"""Whole Jacobians by forward and by reverse mode, in native code: one column, one row a call."""

from collections.abc import Callable

import jax
import numpy as np

import hybridsim as hs


class Compiled:
    """A function of one vector, its derivative along a direction and that of a weighted sum."""

    def __init__(self, function: Callable, size: int):
        self.size = size
        self.value = hs.native.jit(function)
        self._forward = hs.native.jit(lambda x, dx: jax.jvp(function, (x,), (dx,))[1])
        self._reverse = hs.native.jit(lambda x, dy: jax.vjp(function, x)[1](dy)[0])

    def forward(self, x: np.ndarray) -> np.ndarray:
        """(outputs, inputs)"""
        return np.stack([np.array(self._forward(x, row)) for row in np.eye(self.size)], axis=1)

    def reverse(self, x: np.ndarray) -> np.ndarray:
        """(outputs, inputs)"""
        outputs = len(self.value(x))
        return np.stack([np.array(self._reverse(x, row)) for row in np.eye(outputs)])
