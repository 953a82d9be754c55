"""Gradients through contact: of a tossed cube, and of the papers' five links on a floor (P5) beside TDS."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import jax.numpy as jnp
import numpy as np
from contact_scenes import pendulum_on_floor, thrown_cube
from measure import Effort, Timings, Wait, in_rounds, prepare_native

import hybridsim as hs

TOSS = 500
"""Steps of a toss; the cube lands after about 200."""
TDS_VALUE = 0.00856907588979
TDS_GRADIENT = np.array([0.2005692878, 0.1525636797, 0.1025380879, 0.053362589, 0.0219375365])
"""By the five first velocities."""
TDS_BEST = 0.62
"""One gradient of P5 [s]: recorded earlier, on another machine of the same kind."""
DERIVATIVES = {
    "of the solution": replace(hs.Impulses.tds(50), derivative="implicit", tolerance=1e-10),
    "through 50 sweeps": hs.Impulses.tds(50),
}
"""Contact of the papers' engine, with the two derivatives that there are."""


@dataclass(frozen=True)
class Toss:
    wait: Wait
    """For the gradient."""
    timings: Timings
    """Of "forward" and "gradient"."""


@dataclass(frozen=True)
class P5:
    wait: Wait
    timings: Timings
    value: float
    gradient: np.ndarray


def toss(effort: Effort) -> Toss:
    """A number of the cube's last pose, by its first state and all numbers of its model."""
    scene = thrown_cube()
    given = scene.load(), scene.q, scene.qd

    def pose(model, q, qd):
        end = hs.rollout(model, (q, qd), dt=scene.dt, steps=TOSS, contact=hs.Impulses()).q[-1]
        return jnp.sum(end * jnp.arange(1.0, 8.0))

    forward = hs.native.jit(pose)
    wait, gradient = prepare_native(pose, *given, by=lambda f: hs.native.value_and_grad(f, (0, 1, 2)))
    calls = {"forward": lambda: forward(*given), "gradient": lambda: gradient(*given)}
    return Toss(wait, in_rounds(calls, effort))


def p5(effort: Effort, derivatives: Iterable[str] = tuple(DERIVATIVES)) -> dict[str, P5]:
    return {how: _p5(DERIVATIVES[how], effort) for how in derivatives}


def mean_angle(contact: hs.Impulses) -> Callable:
    """Of all links over all steps, as a function of the first velocities; contact with the numbers of the papers."""
    scene = pendulum_on_floor()
    model = scene.load()
    # The softness of TDS, 1e-5 / kg, is not relative to masses.
    masses = np.asarray(model.links.mass)[[model.geometry.links[a] for a, _ in model.contacts.pairs]]
    model = hs.with_contacts(model, position_gain=0.2, softness=1e-5 * masses)

    def mean(qd):
        return jnp.mean(hs.rollout(model, (scene.q, qd), dt=scene.dt, steps=scene.steps, contact=contact).q[1:])

    return mean


def _p5(contact: hs.Impulses, effort: Effort) -> P5:
    qd = pendulum_on_floor().qd
    wait, gradient = prepare_native(mean_angle(contact), qd, by=hs.native.value_and_grad)
    value, slopes = gradient(qd)
    return P5(wait, in_rounds({"native": lambda: gradient(qd)}, effort), float(value), np.asarray(slopes))
