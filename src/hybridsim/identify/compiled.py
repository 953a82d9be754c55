"""Native code of a motion: made once in a process for all problems that differ only in their measured numbers."""

from functools import cached_property

import jax
import jax.numpy as jnp
import numpy as np

from .losses import Loss
from .motion import Motion, Window
from .sensitivity import Sensitivity

_MOST = 32
_known: dict[tuple, "Compiled"] = {}


class Compiled:
    """Compiled when first used."""

    def __init__(self, motion: Motion, loss: Loss, each: bool):
        """`each`: whether windows have physical values of their own."""
        self.motion, self.loss, self.axis = motion, loss, 0 if each else None

    @cached_property
    def run(self):
        """`Motion.run` of all windows."""
        from ..native import batch

        return batch(self.motion.run, in_axes=(self.axis, 0, 0), key=("run", self.motion.content))

    @cached_property
    def sensitivity(self) -> Sensitivity:
        return Sensitivity(self.motion, self.axis)

    @cached_property
    def value_and_gradient(self):
        """Cost of each window, and its slopes by z and by the window's own numbers, in reverse mode."""
        return self._gradient((self.axis, 0, 0, 0, 0))

    @cached_property
    def values_and_gradients(self):
        """The same for other parameters in every row."""
        return self._gradient(0)

    def _gradient(self, axes):
        from ..native import batch

        key = ("value and gradient", self.motion.content, self.loss)
        return batch(jax.value_and_grad(self._cost, argnums=(0, 1)), in_axes=axes, key=key)

    def _cost(self, z, own, window: Window, measured: dict, weights: dict):
        x = self.motion.parameters.physical(z)
        made = self.motion.run(x, own, window)
        shown, begin, total = self.motion.shown(x, made.states), 0, jnp.zeros(())
        for name, weight in weights.items():
            if name not in shown:
                width = measured[name].shape[-1]
                shown[name], begin = made.values[:, begin : begin + width], begin + width
            difference = jnp.where(weight > 0, shown[name] - measured[name], 0.0)
            total = total + jnp.sum(self.loss.cost(weight * difference))
        return total


def compiled(motion: Motion, loss: Loss, each: bool) -> Compiled:
    """That of an equal motion, if there was one."""
    parameters = motion.parameters
    leaves, form = jax.tree.flatten(parameters.base)
    start = parameters.values(np.zeros(parameters.size))
    numbers = tuple(np.asarray(x).tobytes() for x in (*leaves, start))
    options = (motion.dt, motion.margin, motion.control_kind, motion.record, motion.substeps)
    laws = (repr(motion.integrator), repr(motion.contact), motion.own_start, loss)
    free = tuple((p.names, repr(p.scale), p.free.tied) for p in parameters.list)
    key = (form, numbers, free, options, laws, each)
    found = _known.pop(key, None) or Compiled(motion, loss, each)
    _known[key] = found
    while len(_known) > _MOST:
        _known.pop(next(iter(_known)))
    return found
