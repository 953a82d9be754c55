"""Figure 2 of Real2Sim: the lengths of a three-link pendulum as a Gaussian mixture, while samples of its motion arrive."""

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

import jax.numpy as jnp
import numpy as np

import hybridsim as hs

TRUTH = np.array([1.0, 0.6, 0.8])
LOWER, UPPER = 0.3, 2.0
"""Lengths [m], and between which they are sought."""
DT, NOISE = 1e-2, 1e-2
"""[s], [rad]"""
ARRIVING = (5, 10, 20, 40, 80)
"""How many samples are known, one number after another."""
FREE = (
    hs.Free(("joint/joint2/position.z", "link/link1/com.z"), -UPPER, -LOWER, scale="linear", tied=True),
    hs.Free(("joint/joint3/position.z", "link/link2/com.z"), -UPPER, -LOWER, scale="linear", tied=True),
    hs.Free("link/link3/com.z", -UPPER, -LOWER, scale="linear"),
)
"""At the end of each link is its mass and the next joint."""


def pendulum(lengths: np.ndarray) -> hs.Model:
    """Small heavy bodies of 1 kg at the ends of light rods of these lengths [m]."""
    model, ends = hs.chain(3), jnp.zeros((3, 3)).at[:, 2].set(-lengths)
    inertia = jnp.zeros((3, 6)).at[:, :3].set(1e-3)
    joints = replace(model.joints, position=jnp.zeros((3, 3)).at[1:].set(ends[:2]))
    return replace(model, links=replace(model.links, com=ends, inertia=inertia), joints=joints)


def recording(seed: int = 0) -> hs.Trajectory:
    """Angles after it is let go, with noise; how it was let go is known."""
    start, steps = (np.array([np.pi / 2, 0.3, -0.3]), np.zeros(3)), max(ARRIVING)
    made = hs.rollout(pendulum(TRUTH), start, dt=DT, steps=steps, contact=None)
    noise = NOISE * np.random.default_rng(seed).standard_normal(made.q.shape)
    noise[0] = 0.0
    return hs.Trajectory(DT * np.arange(steps + 1), np.asarray(made.q) + noise, np.asarray(made.qd), run="let go")


def run(
    objective: Literal["evidence", "paper"] = "evidence",
    arriving: tuple[int, ...] = ARRIVING,
    epochs: int = 80,
    seed: int = 0,
    seen: Callable[[int, float], None] = lambda observed, loss: None,
) -> hs.MixtureEstimate:
    """The mixture after every epoch. Numbers are positions along z, the lengths with a minus."""
    middle = np.full(3, (LOWER + UPPER) / 2)
    return hs.estimate_mixture(
        pendulum(middle),
        recording(seed),
        FREE,
        arriving,
        window=max(ARRIVING) * DT,
        compare={"position": NOISE},
        epochs=epochs,
        objective=objective,
        contact=None,
        seed=seed,
        seen=seen,
    )
