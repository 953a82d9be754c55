"""From measured positions over time to what prescribed joints do in each step."""

from collections.abc import Mapping

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Float

from ..dynamics import hermite
from ..dynamics.joints import by_kind
from ..dynamics.layout import prescribed_groups
from ..model import Model, PrescribedMotion
from ..spatial import Array
from .check_motion import check_jumps, check_positions, prescribed_parts

_HOLE = 5.0
"""A longer time between samples than this many usual steps is a hole."""
_SAME = 1e-9
"""Times that differ by a smaller part of a step are one."""

ByJoint = Mapping[str, Array] | Array
"""Rows over time by name of joint, or of all prescribed joints in the order of `model.prescribed_names`."""


def prescribed_motion(
    model: Model,
    t: Float[Array, " n"],
    positions: ByJoint,
    velocities: ByJoint | None = None,
    *,
    dt: float | None = None,
    steps: int | None = None,
) -> PrescribedMotion:
    """What prescribed joints do in `steps` steps of dt (the model's own; as many as t has room for), from samples over time.

    `positions`, and `velocities` if they are known, by name of joint, {"tip": rows}, or as one array for all; t need not be
    in equal steps. Velocities that are not given are central differences, on the manifold of rotations where q has
    quaternions: of noisy positions they are noisy, so smooth these before. Between samples the motion is a cubic in
    time that has their positions and velocities (Hermite).

    Row 0 belongs to t[0], where a rollout starts: `motion.start(model)`, then `hs.Control(prescribed=motion.steps)`. Jumps,
    holes, numbers that are not finite and quaternions that are not unit are errors, unless they are being traced.
    """
    topology = model.topology
    if not topology.prescribed:
        raise ValueError("no joint of this model is prescribed; mark some: model = hs.prescribed(model, ['tip'])")
    traced = any(isinstance(x, Tracer) for x in jax.tree.leaves((t, positions, velocities)))
    t = _times(t)
    q = _stacked(model, "positions", positions, len(t), [part.q for part in prescribed_parts(model)])
    qd = None
    if velocities is not None:
        qd = _stacked(model, "velocities", velocities, len(t), [part.v for part in prescribed_parts(model)])
    if not traced:
        check_positions(model, t, np.asarray(q))
        check_jumps(model, t, np.asarray(q), None if qd is None else np.asarray(qd))
    at = _at(t, float(model.timestep) if dt is None else dt, steps)
    groups = prescribed_groups(topology)
    q = jax.vmap(lambda q: by_kind(groups, lambda kind: kind.project, "q->q", q))(q)
    return resampled(model, t, q, differences(model, t, q) if qd is None else qd, at)


def resampled(
    model: Model,
    t: Float[np.ndarray, " n"],
    q: Float[Array, "n prescribed_q"],
    qd: Float[Array, "n prescribed_v"],
    at: Float[np.ndarray, " m"],
) -> PrescribedMotion:
    """The motion at other times, between the first and the last of t; at times of t exactly the samples."""
    k = np.clip(np.searchsorted(t, at, side="right") - 1, 0, len(t) - 2)
    h = np.diff(t)[k]
    part = np.clip((at - t[k]) / h, 0.0, 1.0)
    nearest = np.where(part < 0.5, k, k + 1)
    sampled = np.abs(part - np.round(part)) < _SAME
    q, qd = jnp.asarray(q), jnp.asarray(qd)
    samples = q[nearest], qd[nearest]
    if sampled.all():
        return PrescribedMotion(*samples)

    def between(q, v, new_q, new_v, h, part):
        return hermite(model.topology, q, v, new_q, new_v, h, part)

    found = jax.vmap(between)(q[k], qd[k], q[k + 1], qd[k + 1], h, part)
    return PrescribedMotion(*(jnp.where(sampled[:, None], *pair) for pair in zip(samples, found, strict=True)))


def differences(
    model: Model, t: Float[np.ndarray, " n"], q: Float[Array, "n prescribed_q"]
) -> Float[Array, "n prescribed_v"]:
    """Velocities: from the sample before to the one after, over the time between; at the ends by a parabola through the next
    two. Where stamps jitter, weighting the nearer neighbour more, as a parabola would, makes spikes of noise."""
    n, groups = len(t), prescribed_groups(model.topology)
    a, b = np.arange(n) - 1, np.arange(n) + 1
    a[0], b[0] = 1, 2 % n
    a[-1], b[-1] = n - 2, max(n - 3, 0)
    ha, hb = t[a] - t, t[b] - t

    def offset(here, there):
        return -by_kind(groups, lambda kind: kind.displacement, "qq->v", here, there)

    q = jnp.asarray(q)
    to_a, to_b = (jax.vmap(offset)(q, q[i]) for i in (a, b))
    if n == 2:
        return to_a / ha[:, None]
    central = (to_b - to_a) / (hb - ha)[:, None]
    parabola = (to_a * (hb / ha)[:, None] - to_b * (ha / hb)[:, None]) / (hb - ha)[:, None]
    inside = np.sign(ha) != np.sign(hb)
    return jnp.where(inside[:, None], central, parabola)


def _times(t) -> np.ndarray:
    if isinstance(t, Tracer):
        raise ValueError("the times of a prescribed motion decide how many steps there are and cannot be traced")
    t = np.asarray(t, dtype=float)
    if t.ndim != 1 or len(t) < 2 or not np.isfinite(t).all() or (np.diff(t) <= 0).any():
        raise ValueError(
            f"the times of a prescribed motion have shape {t.shape}; give at least two rising finite times [s], sorted and "
            "without repetition"
        )
    steps = np.diff(t)
    if len(t) > 4 and steps.max() > _HOLE * np.median(steps):
        k = int(np.argmax(steps))
        raise ValueError(
            f"the prescribed motion has a hole of {steps[k]:.4g} s between t = {t[k]:.6g} s and {t[k + 1]:.6g} s, where rows "
            f"come every {np.median(steps):.4g} s; fill it, or give the motion after it"
        )
    return t


def _at(t: np.ndarray, dt: float, steps: int | None) -> np.ndarray:
    room = (t[-1] - t[0]) / dt
    steps = int(room + 1e-6) if steps is None else steps
    if steps < 1 or steps > room + 1e-6:
        raise ValueError(
            f"the prescribed motion lasts {t[-1] - t[0]:.6g} s, which has room for {int(room + 1e-6)} steps of {dt:g} s, not "
            f"for {steps}; give a longer motion or fewer steps"
        )
    return t[0] + dt * np.arange(steps + 1)


def _stacked(model: Model, what: str, given: ByJoint, rows: int, places: list[slice]) -> Array:
    """One row a sample, of all prescribed joints."""
    names = model.prescribed_names
    if not isinstance(given, Mapping):
        given = jnp.asarray(given)
        if given.shape != (rows, places[-1].stop):
            raise ValueError(
                f"the {what} of prescribed joint {', '.join(names)} have shape {given.shape}, but {rows} times need "
                f"({rows}, {places[-1].stop})"
            )
        return given
    if set(given) != set(names):
        raise ValueError(
            f"{what} are given for joint {', '.join(map(str, given)) or 'none'}, but the prescribed joints are: "
            f"{', '.join(names)}"
        )
    parts = []
    for name, place in zip(names, places, strict=True):
        size, array = place.stop - place.start, jnp.asarray(given[name])
        array = array[:, None] if array.ndim == 1 and size == 1 else array
        if array.shape != (rows, size):
            raise ValueError(
                f"prescribed joint {name!r}: its {what} have shape {jnp.shape(given[name])}, but {rows} times need "
                f"({rows}, {size})"
            )
        parts.append(array)
    return jnp.concatenate(parts, axis=1)
