"""A bouncing ball against the closed form of its motion.

The derivative of a bounce holds the time of impact: a ball that starts higher lands later. An engine whose impacts
happen at the ends of time steps loses that part, and its derivative is wrong by a finite amount however small the step.
"""

from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

import hybridsim as hs

GRAVITY, RADIUS, TIME = 9.81, 0.1, 0.25
START = np.array([0.1, -0.2, 0.8])
"""Height of the lowest point [m], velocity upwards [m/s], restitution."""
NAMES = ("start height", "start velocity", "restitution")


@dataclass(frozen=True)
class Bounce:
    """d(height, velocity at the end) / d(height, velocity, restitution), and their largest relative error."""

    engine: str
    dt: float
    jacobian: np.ndarray
    error: float


def exact(x):
    """Height and velocity at the end, after one bounce."""
    height, velocity, restitution = x
    speed = jnp.sqrt(velocity**2 + 2 * GRAVITY * height)
    left = TIME - (velocity + speed) / GRAVITY
    up = restitution * speed
    return jnp.stack([up * left - GRAVITY * left**2 / 2, up - GRAVITY * left])


def simulated(contact, dt: float):
    model = hs.world(hs.free_body(hs.solid("ball", 0.5, "sphere", RADIUS)), hs.ground())
    if contact.stabilisation == "velocities":
        # Without Baumgarte's push, whose slope 1/dt would hide what the grid does.
        model = hs.with_contacts(model, position_gain=0.0)
    start, _ = model.rest()

    def final(x):
        height, velocity, restitution = x
        q = jnp.asarray(start).at[2].set(RADIUS + height)
        qd = jnp.zeros(6).at[5].set(velocity)
        moved = eqx.tree_at(lambda m: m.contacts.restitution, model, restitution[None])
        end = hs.rollout(moved, (q, qd), dt=dt, steps=round(TIME / dt), contact=contact)[-1]
        return jnp.stack([end.q[2] - RADIUS, end.qd[5]])

    return final


def bounces(steps: tuple[float, ...] = (1e-3, 5e-4, 2.5e-4), on_grid: bool = True) -> list[Bounce]:
    """The closed form first; `on_grid`: also impacts that wait for the end of a step."""
    truth = np.array(jax.jacfwd(exact)(jnp.asarray(START)))
    found = [Bounce("closed form", 0.0, truth, 0.0)]
    models = {"impulses": hs.Impulses()}
    if on_grid:
        models["impulses, impact at the end of a step"] = hs.Impulses(stabilisation="velocities")
    for name, contact in models.items():
        for dt in steps:
            f = simulated(contact, dt)
            forward = hs.native.jit(lambda x, dx, f=f: jax.jvp(f, (x,), (dx,))[1], optimise=0)
            jacobian = np.stack([np.array(forward(START, row)) for row in np.eye(3)], axis=1)
            error = float(np.max(np.abs(jacobian - truth) / np.max(np.abs(truth), axis=1, keepdims=True)))
            found.append(Bounce(name, dt, jacobian, error))
    return found
