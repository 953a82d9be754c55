"""Motions of a double pendulum, and how far a model is from them."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

import hybridsim as hs

Array = jax.Array | np.ndarray

DT, STEPS = 1e-2, 100
"""Of every trajectory: one second."""


class Motion(NamedTuple):
    """Positions and velocities, the start included; perhaps with an axis of trajectories before."""

    q: Float[Array, "*many time joints"]
    qd: Float[Array, "*many time joints"]


def pendulum(**numbers) -> hs.Model:
    """Two links of half a metre, as in the paper's Figure 10 without friction unless it is given."""
    return hs.chain(2, length=0.5, **numbers)


def motions(model: hs.Model, count: int, seed: int, steps: int = STEPS) -> Motion:
    """From random angles within 90 degrees and velocities within 1 rad/s."""
    rng = np.random.default_rng(seed)
    q, qd = rng.uniform(-np.pi / 2, np.pi / 2, (count, 2)), rng.uniform(-1, 1, (count, 2))
    run = hs.native.batch(lambda q, qd: _motion(hs.rollout(model, (q, qd), dt=DT, steps=steps, contact=None)))
    return run(q, qd)


def _motion(rollout: hs.Rollout) -> Motion:
    return Motion(rollout.q, rollout.qd)


def windows(motion: Motion, steps: int) -> Motion:
    """Pieces of that many steps, each from the measured state at its start."""
    count = (motion.q.shape[1] - 1) // steps
    pieces = steps * np.arange(count)[:, None] + np.arange(steps + 1)
    return Motion(*(np.asarray(x)[:, pieces].reshape(-1, steps + 1, x.shape[-1]) for x in motion))


def misfit(model: hs.Model, measured: Motion) -> Float[Array, ""]:
    """Mean squared error of positions and velocities over a rollout from the measured start."""
    steps = measured.q.shape[0] - 1
    made = hs.rollout(model, (measured.q[0], measured.qd[0]), dt=DT, steps=steps, contact=None)
    return jnp.mean((made.q - measured.q) ** 2) + jnp.mean((made.qd - measured.qd) ** 2)


def errors(model: hs.Model, measured: Motion) -> Float[np.ndarray, " many"]:
    """The misfit of each trajectory."""
    return np.asarray(hs.native.batch(lambda one: misfit(model, one))(measured))
