"""Small worlds with contact, and their motion.

One compiled function serves all numbers of a scene, so tests vary friction, restitution and sizes at no cost.
"""

import dataclasses
from functools import cache

import jax
import numpy as np

import hybridsim as hs

G = 9.81
PIECE = 500
BOTH = [hs.Impulses(), hs.Springs()]
BY_NAME = {"argvalues": BOTH, "ids": ["impulses", "springs"]}
"""For pytest.mark.parametrize."""


def step_of(contact) -> float:
    """Time step at which a model is right: springs of friction are stiff."""
    return 1e-3 if isinstance(contact, hs.Impulses) else 1e-4


def motion(contact, steps: int, dt: float = 1e-3, integrator=hs.SemiImplicitEuler(), compiler=jax.jit):
    """model, q, qd and a constant force (or None) to a `Rollout`, in pieces of `PIECE` steps.

    Most of the time of these tests is compiling, which XLA does faster (at the level of optimisation of tests).
    """

    def run(model, q, qd, force=None):
        times, positions, speeds = [np.zeros(1)], [q[None]], [qd[None]]
        for k in range(-(-steps // PIECE)):
            path = _piece(contact, integrator, compiler)(model, q, qd, dt, force)
            q, qd = path.q[-1], path.qd[-1]
            times.append(np.asarray(path.t)[1:] + k * PIECE * dt)
            positions.append(path.q[1:])
            speeds.append(path.qd[1:])
        return hs.Rollout(*(np.concatenate(x)[: steps + 1] for x in (times, positions, speeds)))

    return run


@cache
def _piece(contact, integrator, compiler):
    def run(model, q, qd, dt, force):
        control = None if force is None else (lambda t, state: hs.Control(force=force))
        return hs.rollout(model, (q, qd), control, dt=dt, steps=PIECE, contact=contact, integrator=integrator)

    return compiler(run)


def lasting(contact, seconds: float, compiler=jax.jit):
    """`motion` for so long, at the model's own time step."""
    dt = step_of(contact)
    return motion(contact, round(seconds / dt), dt, compiler=compiler)


def start(model: hs.Model) -> tuple[np.ndarray, np.ndarray]:
    """A state at rest, to be changed in place."""
    return np.array(model.rest()[0], dtype=float), np.zeros(model.nv)


def alone(shape: str, size, mass: float = 1.0, **numbers) -> hs.Model:
    """A free body over the ground. `numbers` are those of the pair."""
    model = hs.world(hs.free_body(hs.solid(shape, mass, shape, size)), hs.ground())
    return hs.with_contacts(model, **numbers)


def many(*links: hs.Link, ground: bool = True) -> hs.Model:
    """Free bodies `0/...`, `1/...`, with contact among all of them."""
    bodies = [hs.prefixed(hs.free_body(link), f"{i}/") for i, link in enumerate(links)]
    return hs.world(*bodies, *([hs.ground()] if ground else []))


def with_gravity(model: hs.Model, gravity) -> hs.Model:
    return dataclasses.replace(model, gravity=np.asarray(gravity, dtype=float))


def with_limits(model: hs.Model, **numbers) -> hs.Model:
    """The same model with other numbers for all joint limits."""
    full = {name: np.full(len(model.limits.freedoms), float(value)) for name, value in numbers.items()}
    return dataclasses.replace(model, limits=dataclasses.replace(model.limits, **full))


def tilted(angle: float) -> np.ndarray:
    """Gravity on an incline that falls towards +x."""
    return G * np.array([np.sin(angle), 0.0, -np.cos(angle)])


def spring_depth(load: float, stiffness: float = 5e4) -> float:
    """How deep a point rests in the ground under a load."""
    return (load / stiffness) ** (2 / 3)


def turned(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Vectors v of a body's frame in the world; q are rows of a free joint's (position, quaternion)."""
    w, u = q[..., 3:4], q[..., 4:]
    return v + 2 * np.cross(u, np.cross(u, v) + w * v)
