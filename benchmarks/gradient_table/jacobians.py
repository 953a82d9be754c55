"""Whole Jacobians by forward and by reverse mode, in native code: all columns or rows in one call."""

from collections.abc import Callable

import jax
import numpy as np

import hybridsim as hs

from .parameters import final_state, groups
from .scenes import Scene, scenes

PRECISE = hs.Impulses(tolerance=1e-12)
"""Differences are taken of its solutions. What is asked for below, rounding errors of hard contacts do not let it reach."""


def contact_models() -> dict[str, tuple]:
    """By name: that which is differentiated, and that which differences are taken of."""
    return {
        "impulses, implicit": (hs.Impulses(), PRECISE),
        "impulses, 30 sweeps": (hs.Impulses(sweeps=30, derivative="sweeps"), None),
        "springs": (hs.Springs(), None),
    }


def scenes_for(contact) -> list[Scene]:
    return scenes(isinstance(contact, hs.Springs))


class Programs:
    """The final state of scenes with one contact model: its value and derivatives. Scenes of the same build share code.

    Differences need values without the noise of a solver that stops early: those of the contact model `precise`.
    """

    def __init__(self, contact, precise=None, function: Callable = final_state):
        self.contact = contact

        def bound(of, steps, arrays):
            return lambda x: function(of, steps, contact, arrays, x)

        def value(of, steps, arrays, x):
            return final_state(of, steps, contact if precise is None else precise, arrays, x)

        def default(of, steps, arrays, x):
            return final_state(of, steps, contact, arrays, x)

        def forward(of, steps, arrays, x, dx):
            return jax.jvp(bound(of, steps, arrays), (x,), (dx,))[1]

        def reverse(of, steps, arrays, x, dy):
            return jax.vjp(bound(of, steps, arrays), x)[1](dy)[0]

        self.value, self.forward, self.reverse = (
            hs.native.batch(f, in_axes=(None,) * (f.__code__.co_argcount - 1) + (0,), lanes=2, optimise=0)
            for f in (value, forward, reverse)
        )
        self.default = hs.native.jit(default, optimise=0)


class Map:
    """The final state of one scene as a function of the numbers in `groups`, which are zero at the scene."""

    def __init__(self, programs: Programs, scene: Scene):
        self.groups = groups(scene, programs.contact)
        self.zero = np.zeros(sum(group.count for group in self.groups))
        self._programs = programs
        end = np.array(scene.steps if scene.end is None else scene.end)
        arrays = (scene.model, hs.State(scene.q, scene.qd, scene.memory), scene.control, np.array(scene.dt), end)
        self._of = (self.groups, scene.steps, arrays)
        self._outputs = len(scene.q) + len(scene.qd)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Of many x, one in each row, by the precise contact model."""
        return np.array(self._programs.value(*self._of, x))

    def default(self) -> np.ndarray:
        """At zero, by the contact model that is differentiated."""
        return np.array(self._programs.default(*self._of, self.zero))

    def forward(self) -> np.ndarray:
        """(outputs, inputs)"""
        return np.array(self._programs.forward(*self._of, self.zero, np.eye(len(self.zero)))).T

    def reverse(self) -> np.ndarray:
        """(outputs, inputs)"""
        return np.array(self._programs.reverse(*self._of, self.zero, np.eye(self._outputs)))
