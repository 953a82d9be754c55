"""All steps of a random motion: states, what contact remembers, impulses, and what happens in each step."""

from dataclasses import dataclass
from functools import cached_property

import jax
import jax.numpy as jnp
import numpy as np

import hybridsim as hs
from hybridsim.contact.points import pairs_of_points
from hybridsim.model import Memory

from .motions import STEPS, Motion
from .regimes import Regime, regimes
from .residual import RECORDED, residuals
from .scenes import Scene

FAST = 0.3
"""[rad]"""
CORNER = 1e-7
"""Gaps and overlaps below this are too close to none [m]."""


@dataclass(frozen=True)
class Walk:
    """All steps of a motion."""

    motion: Motion
    q: np.ndarray
    """One row more than steps."""
    qd: np.ndarray
    memories: Memory
    """Before each step, and after the last."""
    values: dict[str, np.ndarray]
    """What was recorded in each step."""

    @cached_property
    def regimes(self) -> list[Regime | None]:
        """None where nothing touches, at corners that are known (`at_corner`), and after the motion became too fast."""
        found = regimes(self.motion.model, self.q, self.qd, self.values["contact.impulse"])
        without = self.at_corner | (np.arange(len(found)) >= self.too_fast)
        return [None if left_out else regime for regime, left_out in zip(found, without, strict=True)]

    @property
    def too_fast(self) -> int:
        """The first step before which something turns by more than `FAST` in a step: explicit steps become unstable."""
        fast = np.max(np.abs(self.qd[:-1]), axis=1) * self.motion.dt > FAST
        return int(np.argmax(fast)) if fast.any() else len(fast)

    @cached_property
    def at_corner(self) -> np.ndarray:
        """Steps closer to the corner of the law of position than differences can see.

        An overlap is taken back at the rate of the position gain, a gap closes at once. With a gain other than 1 all that
        rests, with an overlap of 1e-12 m or so, is at that corner.
        """
        model = self.motion.model
        gain = np.asarray(model.contacts.position_gain)[pairs_of_points(model)]
        return np.any((np.abs(self.values["contact.distance"]) < CORNER) & (gain != 1.0), axis=1)

    @property
    def in_contact(self) -> int:
        """How many steps have an impulse."""
        return int(np.sum(np.any(self.values["contact.impulse"][: self.too_fast, :, 0] > 0, axis=1)))

    @property
    def lost(self) -> int | None:
        """The first step that leads to a number that is not finite."""
        bad = ~np.all(np.isfinite(np.concatenate([self.q, self.qd], axis=1)), axis=1)
        lost = int(np.argmax(bad)) - 1
        return lost if bad.any() and lost < self.too_fast else None

    @cached_property
    def residuals(self) -> np.ndarray:
        """Of the contact problem of each step (`residual.py`)."""
        m = self.motion
        with np.errstate(all="ignore"):
            at_limits = np.asarray(self.memories.contact.bounded)[1:]
            found = residuals(m.model, self.q[:-1], self.qd[:-1], m.control, m.dt, self.values, at_limits)
        return np.where(np.arange(len(found)) < self.too_fast, found, 0.0)

    def scene(self, step: int) -> Scene:
        """One step, from the state and with the memory of the motion."""
        m = self.motion
        memory = jax.tree.map(lambda x: x[step], self.memories)
        return Scene(f"{m.kind} {m.seed}", m.model, self.q[step], self.qd[step], m.control, 1, m.dt, memory)


def walk(of: Motion) -> Walk:
    q, qd, memories, values = _program(of.model, of.q, of.qd, of.control, np.array(of.dt))
    return Walk(of, q, qd, memories, {name: np.asarray(x) for name, x in values.items()})


def _walk(model: hs.Model, q, qd, control, dt):
    """States and memories before every step, and what is recorded in it."""

    def once(state, _):
        path = hs.rollout(model, state, control[None], dt=dt, record=RECORDED)
        return path.end, (state, {name: value[0] for name, value in path.values.items()})

    first = hs.rollout(model, (q, qd), control[None], dt=dt).end.memory
    start = hs.State(jnp.asarray(q), jnp.asarray(qd), jax.tree.map(jnp.zeros_like, first))
    end, (states, values) = jax.lax.scan(once, start, None, length=STEPS)
    q, qd = (jnp.concatenate([x, last[None]]) for x, last in zip(states, end, strict=True))
    memories = jax.tree.map(lambda x, last: jnp.concatenate([x, last[None]]), states.memory, end.memory)
    return q, qd, memories, values


_program = hs.native.jit(_walk, optimise=1)
