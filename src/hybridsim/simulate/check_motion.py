"""What is refused as the motion of prescribed joints: numbers that are missing, quaternions that are not unit, jumps."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import jax
import numpy as np
from jax.core import Tracer
from jaxtyping import Float

from ..dynamics import velocity_between
from ..dynamics.joints import by_kind
from ..dynamics.layout import prescribed_groups
from ..model import Model, PrescribedMotion, State
from ..spatial import Scalar
from .checks import UNIT

_JUMP = 10.0
"""A step of positions is a jump if it is so many times faster than all that the record says about speeds. In 50 recorded
pushes of a robot (250 Hz, with jitter) the largest ratio is 1.4; a wrapped angle or a lost row has more than 20."""
_USUAL = 90.0
"""Percentile of speeds that counts as the usual fast motion of a record."""
_ALIKE = 0.9
"""Correlation above which given velocities and those of positions differ by a factor, not by noise."""


class _Part(NamedTuple):
    name: str
    q: slice
    v: slice


def prescribed_parts(model: Model) -> Iterator[_Part]:
    """Prescribed joints, with the places of their numbers among those of prescribed joints."""
    q = v = 0
    for j in model.topology.prescribed:
        kind = model.topology.kinds[j]
        yield _Part(model.joint_names[j], slice(q, q + kind.nq), slice(v, v + kind.nv))
        q, v = q + kind.nq, v + kind.nv


def check_positions(
    model: Model,
    t: Float[np.ndarray, " n"],
    q: Float[np.ndarray, "n prescribed_q"],
    error: type[Exception] = ValueError,
) -> None:
    """Refuse positions that are not finite, and quaternions that are not unit."""
    for part in prescribed_parts(model):
        bad = ~np.isfinite(q[:, part.q]).all(axis=1)
        if bad.any():
            k = int(np.argmax(bad))
            raise error(
                f"prescribed joint {part.name!r}: its position at t = {t[k]:.6g} s (row {k}) is {q[k, part.q]}; a motion "
                "needs every row, so fill the hole or begin after it"
            )
    groups = prescribed_groups(model.topology)
    valid = np.asarray(jax.vmap(lambda q: by_kind(groups, lambda kind: kind.project, "q->q", q))(q))
    for part in prescribed_parts(model):
        off = np.abs(valid[:, part.q] - q[:, part.q]).max(axis=1)
        if (off > UNIT).any():
            k = int(np.argmax(off > UNIT))
            length = np.linalg.norm(q[k, part.q][-4:])
            raise error(
                f"prescribed joint {part.name!r}: its quaternion at t = {t[k]:.6g} s (row {k}) is {q[k, part.q][-4:]}, of "
                f"length {length:.4g}; give unit quaternions (w, x, y, z)"
            )


def check_given(model: Model, state: State, controls: Any, dt: Scalar) -> None:
    """Refuse a motion that a rollout cannot follow from its start. Says nothing of numbers that are being traced."""
    given = getattr(controls, "prescribed", None)
    if given is None or any(isinstance(x, Tracer) for x in jax.tree.leaves((given, state, dt))):
        return
    start = PrescribedMotion.of(model, state.q[None], state.qd[None])
    shapes = np.shape(given.q)[1:], np.shape(given.qd)[1:]
    if shapes != (start.q.shape[1:], start.qd.shape[1:]) or len(given.q) != len(given.qd):
        return  # as_control and rollout tell what is wrong
    q, qd = np.concatenate([start.q, given.q]), np.concatenate([start.qd, given.qd])
    t = float(dt) * np.arange(len(q))
    check_positions(model, t, q)
    check_jumps(model, t, q, qd)


def check_jumps(
    model: Model,
    t: Float[np.ndarray, " n"],
    q: Float[np.ndarray, "n prescribed_q"],
    qd: Float[np.ndarray, "n prescribed_v"] | None,
    error: type[Exception] = ValueError,
) -> None:
    """Refuse positions that jump, or that do not belong to the velocities given.

    The speed of positions between two samples is compared with the velocities at both, with the 90th percentile of all
    velocities and of all other speeds of positions; where no velocities are given, also with speeds two to four samples
    away, so that a quick motion of several samples is none. It is a jump where it is 10 times faster than all of these.
    Velocities that follow those of positions (correlation above 0.9) but are 10 times larger or smaller have another unit.
    """
    if len(t) < 2:
        return
    # Two stamps that lie close together are jitter of the clock, not a jump.
    steps = np.maximum(np.diff(t), np.median(np.diff(t)))
    speeds = np.asarray(jax.vmap(lambda a, b, h: velocity_between(model.topology, a, b, h))(q[:-1], q[1:], steps))
    for part in prescribed_parts(model):
        for i in range(part.v.start, part.v.stop):
            speed = speeds[:, i]
            if qd is not None:
                _check_velocities(part.name, qd[:, i], speed, error)
            allowed = _usual(np.abs(speed)) if qd is None else _plausible(np.abs(qd[:, i]), np.abs(speed))
            # What rounding makes of positions that do not move is no speed.
            rounding = 1e-9 * (1 + np.abs(q[:, part.q]).max()) / steps
            jump = np.abs(speed) > _JUMP * allowed + rounding
            if jump.any():
                k = int(np.argmax(jump))
                raise error(
                    f"prescribed joint {part.name!r} jumps between t = {t[k]:.6g} s and {t[k + 1]:.6g} s (rows {k} and "
                    f"{k + 1}): from {q[k, part.q]} to {q[k + 1, part.q]}, a speed of {speed[k]:.4g} where "
                    f"{np.broadcast_to(allowed, jump.shape)[k]:.3g} is plausible; mend the data (a wrapped angle? a lost "
                    "row? a start elsewhere?), or give velocities and steps that belong to the positions"
                )


def _plausible(given: np.ndarray, speed: np.ndarray) -> np.ndarray:
    """What is plausible between two samples, by velocities given at both and by the record."""
    return np.maximum(np.maximum(given[:-1], given[1:]), max(_percentile(given), _percentile(np.sort(speed)[:-1])))


def _usual(speed: np.ndarray) -> np.ndarray:
    """What is plausible by positions alone: speeds nearby, but not next to it, or usual ones of the record."""
    if len(speed) < 8:
        return np.full(len(speed), np.inf)
    wide = np.pad(speed, 4)
    near = np.max([np.roll(wide, shift) for shift in (-4, -3, -2, 2, 3, 4)], axis=0)[4:-4]
    return np.maximum(near, _percentile(speed[speed > 0]))


def _percentile(x: np.ndarray) -> float:
    return float(np.percentile(x, _USUAL)) if len(x) else 0.0


def _check_velocities(name: str, given: np.ndarray, speed: np.ndarray, error: type[Exception]) -> None:
    if not np.isfinite(given).all():
        k = int(np.argmin(np.isfinite(given)))
        raise error(
            f"prescribed joint {name!r}: its velocity in row {k} is {given[k]}; a motion needs every row, so give positions "
            "only, of which velocities are made, or fill the hole"
        )
    mean = (given[:-1] + given[1:]) / 2
    size, other = np.sum(speed * speed), np.sum(mean * mean)
    if len(speed) < 8 or size == 0 or other == 0:
        return
    both = np.sum(speed * mean)
    if abs(both) > _ALIKE * np.sqrt(size * other) and not 1 / _JUMP < both / size < _JUMP:
        raise error(
            f"prescribed joint {name!r}: its velocities are {both / size:.3g} times the change of its positions over time; "
            "give both in the same unit (rad and rad/s, m and m/s) and the times in seconds, or positions only"
        )
