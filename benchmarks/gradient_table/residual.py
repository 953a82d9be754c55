"""How well impulses solve the contact problem of a step: computed in NumPy, from the law and not from the solver.

With the velocity v = free + M^-1 J^T x after the impulses x, contact c has r = J_c v - wanted, and at a solution
  0 <= x_n  perpendicular to  r_n >= 0,   |x_t| <= mu x_n,   r_t opposite to x_t where |x_t| = mu x_n, else zero.
The residual is how far x is from what one projected step on r makes of it, as a velocity. The softness of contacts, by default
a millionth of what a point yields alone, is left out here and is all that is left at a solution.
"""

import jax.numpy as jnp
import numpy as np

import hybridsim as hs
from hybridsim.contact.points import pairs_of_points
from hybridsim.dynamics import turning

RECORDED = tuple(f"contact.{name}" for name in ("impulse", "distance", "normal_velocity", "point", "normal"))
"""Variables of a step from which the residual is computed."""
FADING_SPEED = 1e-3
"""Below about this speed restitution fades away [m/s]."""


def residuals(model: hs.Model, q, qd, control, dt: float, values: dict[str, np.ndarray]) -> np.ndarray:
    """Of the impulses of momentum of every step, beside the largest speed of a point before it; NaN with joint limits.

    q, qd and `values`, what was recorded (`RECORDED`), have one row a step.
    """
    if model.limits.freedoms:
        return np.full(len(q), np.nan)
    x, gap, before, point, normal = (np.asarray(values[name]) for name in RECORDED)
    mass, free, jacobians, origins = (np.asarray(part) for part in _program(model, q, qd, control, np.array(dt)))
    J = _rows(model, point, normal, jacobians, origins)
    free_rows = np.einsum("spin,sn->spi", J, free)
    flat = J.reshape(len(q), -1, model.nv)
    response = np.linalg.solve(mass, np.swapaxes(flat, 1, 2))
    after = free_rows + np.einsum("srn,snk,sk->sr", flat, response, x.reshape(len(q), -1)).reshape(x.shape)
    numbers = {
        name: np.asarray(getattr(model.contacts, name))[pairs_of_points(model)]
        for name in ("friction", "restitution", "velocity_gain")
    }
    r = after.copy()
    r[..., 0] -= _wanted(gap, before, free_rows[..., 0], dt, numbers)
    own = np.sum(flat * np.swapaxes(response, 1, 2), axis=2).reshape(x.shape).sum(axis=2)
    load = np.maximum(x[..., 0] - r[..., 0] / own, 0.0)
    sideways = x[..., 1:] - r[..., 1:] / own[..., None]
    size, most = np.linalg.norm(sideways, axis=-1), numbers["friction"] * load
    sideways *= np.minimum(1.0, most / np.where(size > 0, size, 1.0))[..., None]
    change = own[..., None] * (np.concatenate([load[..., None], sideways], axis=-1) - x)
    near = gap + dt * np.minimum(free_rows[..., 0], 0.0) <= 0
    speed = np.max(np.abs(free_rows) * near[..., None], axis=(1, 2), initial=1e-6)
    return np.where(near.any(axis=1), np.max(np.abs(change), axis=(1, 2)) / speed, 0.0)


def _wanted(gap, before, free, dt, numbers) -> np.ndarray:
    """The least normal velocity of each point: stopped or bounced if it touches within the step, else what closes its gap."""
    touching = gap + dt * free <= 0
    approach = np.maximum(-dt * free, 1e-300)
    tau = np.clip(np.where(free < 0, gap / approach, 0.0), 0.0, 1.0)
    by_forces = free - before
    speed = np.maximum(-before - tau * by_forces, 0.0)
    fast = speed**2 / (speed**2 + FADING_SPEED**2)
    bounce = fast * np.maximum(numbers["restitution"] * speed + (1 - tau) * by_forces, 0.0)
    return np.where(touching, (1 - numbers["velocity_gain"]) * free + bounce, -gap / dt)


def _rows(model: hs.Model, points, normals, jacobians, origins) -> np.ndarray:
    """(steps, points, 3, nv): velocity of shape a relative to shape b along the normal and two tangents."""
    relative = np.zeros((*points.shape, model.nv))
    for side, sign in enumerate((1.0, -1.0)):
        links = np.array([model.geometry.links[model.contacts.pairs[pair][side]] for pair in pairs_of_points(model)])
        moving = np.flatnonzero(links >= 0)
        spin, along = jacobians[:, links[moving], :3], jacobians[:, links[moving], 3:]
        lever = points[:, moving] - origins[:, links[moving]]
        relative[:, moving] += sign * (along - np.cross(lever[..., None], spin, axis=-2))
    return np.einsum("spij,spjn->spin", _frames(normals), relative)


def _frames(normal: np.ndarray) -> np.ndarray:
    """The engine's tangents, for the impulses to have the same axes: for a vertical normal they are -y and x."""
    x, y, z = np.moveaxis(normal, -1, 0)
    zero = np.zeros_like(x)
    steep = (np.abs(z) > np.sqrt(0.5))[..., None]
    first = np.where(steep, np.stack([zero, -z, y], -1), np.stack([-y, x, zero], -1))
    first /= np.linalg.norm(first, axis=-1, keepdims=True)
    return np.stack([normal, first, np.cross(normal, first)], axis=-2)


def _dynamics(model: hs.Model, q, qd, control, dt):
    """Mass matrix, velocity without contact, and of every link its Jacobian and its origin."""
    free = qd + dt * (hs.acceleration(model, (q, qd), control) + turning(model, qd))
    poses = hs.forward_kinematics(model, q)
    jacobians = jnp.stack([hs.jacobian(model, q, name) for name in model.link_names])
    return hs.mass_matrix(model, q), free, jacobians, jnp.stack([poses[name].position for name in model.link_names])


_program = hs.native.batch(_dynamics, in_axes=(None, 0, 0, None, None), optimise=0)
