"""How well impulses solve the contact problem of a step: computed in NumPy, from the law and not from the solver.

With the velocity v = free + M^-1 J^T x after the impulses x, contact c has r = J_c v + R x - wanted, and at a solution
  0 <= x_n  perpendicular to  r_n >= 0,   |x_t| <= mu x_n,   r_t opposite to x_t where |x_t| = mu x_n, else zero.
A joint limit has the first of these conditions. The residual is how far x is from what one projected step on r makes of it,
as a velocity.
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


def residuals(
    model: hs.Model, q, qd, control, dt: float, values: dict[str, np.ndarray], at_limits: np.ndarray
) -> np.ndarray:
    """Of the impulses of momentum of every step, beside the largest speed of a row before it.

    q, qd, `values`, what was recorded (`RECORDED`), and `at_limits`, the impulses of joint limits, have one row a step.
    """
    x, gap, before, point, normal = (np.asarray(values[name]) for name in RECORDED)
    steps, points = x.shape[:2]
    mass, free, jacobians, origins = (np.asarray(part) for part in _program(model, q, qd, control, np.array(dt)))
    limit_gap, away = limit_rows(model, q)
    J = np.concatenate([_rows(model, point, normal, jacobians, origins).reshape(steps, -1, model.nv), away], axis=1)
    response = np.linalg.solve(mass, np.swapaxes(J, 1, 2))
    all_x, numbers = np.concatenate([x.reshape(steps, -1), at_limits], axis=1), _numbers(model)
    free_rows = np.einsum("srn,sn->sr", J, free)
    soft = np.concatenate([np.repeat(_softness(model), 3), np.asarray(model.limits.softness)])
    r = free_rows + np.einsum("srn,snk,sk->sr", J, response, all_x) + soft * all_x
    own = np.sum(J * np.swapaxes(response, 1, 2), axis=2) + soft

    normals = np.concatenate([np.arange(0, 3 * points, 3), np.arange(3 * points, J.shape[1])])
    all_gap = np.concatenate([gap, limit_gap], axis=1)
    all_before = np.concatenate([before, np.einsum("srn,sn->sr", away, qd)], axis=1)
    closing = free_rows[:, normals]
    r[:, normals] -= _wanted(all_gap, all_before, closing, dt, numbers)
    load = np.maximum(all_x[:, normals] - r[:, normals] / own[:, normals], 0.0)
    change = own[:, normals] * (load - all_x[:, normals])
    step = own[:, : 3 * points].reshape(steps, points, 3)[..., 1:].sum(axis=2, keepdims=True)
    sideways = x[..., 1:] - r[:, : 3 * points].reshape(steps, points, 3)[..., 1:] / step
    size = np.linalg.norm(sideways, axis=-1)
    most = np.asarray(model.contacts.friction)[pairs_of_points(model)] * load[:, :points]
    sideways *= np.minimum(1.0, most / np.where(size > 0, size, 1.0))[..., None]
    changes = np.concatenate([change, (step * (sideways - x[..., 1:])).reshape(steps, -1)], axis=1)
    near = all_gap + dt * np.minimum(closing, 0.0) <= 0
    touching = np.concatenate([np.repeat(near[:, :points], 3, axis=1), near[:, points:]], axis=1)
    speed = np.max(np.abs(free_rows) * touching, axis=1, initial=1e-6)
    return np.where(near.any(axis=1), np.max(np.abs(changes), axis=1, initial=0.0) / speed, 0.0)


def _numbers(model: hs.Model) -> dict[str, np.ndarray]:
    """Of all points, then of all limits."""
    pairs = pairs_of_points(model)
    return {
        name: np.concatenate(
            [np.asarray(getattr(model.contacts, name))[pairs], np.asarray(getattr(model.limits, name))]
        )
        for name in ("restitution", "velocity_gain")
    }


def _softness(model: hs.Model) -> np.ndarray:
    """Of each point [1/kg]: the softness of its pair, times what both bodies would yield if they were points."""
    masses = np.array([model.links.mass[link] if link >= 0 else np.inf for link in model.geometry.links])
    yields = np.array([1 / masses[a] + 1 / masses[b] for a, b in model.contacts.pairs])
    return (np.asarray(model.contacts.softness) * yields)[pairs_of_points(model)]


def limit_rows(model: hs.Model, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of each limited hinge: the gap to the nearer limit, and the row of velocities away from it."""
    freedoms, topology = np.array(model.limits.freedoms, dtype=int), model.topology
    places = [
        q.start for q, v in zip(topology.q_slices, topology.v_slices, strict=True) for i in freedoms if v.start == i
    ]
    lower, upper = (np.asarray(bound)[freedoms] for bound in (model.joints.lower, model.joints.upper))
    position = q[:, places]
    gap = np.minimum(position - lower, upper - position)
    away = np.where(position - lower <= upper - position, 1.0, -1.0)
    return gap, away[..., None] * np.eye(model.nv)[freedoms]


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
