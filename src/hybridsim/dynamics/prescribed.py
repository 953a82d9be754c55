"""How prescribed joints get from one state to the next. All arrays hold the numbers of prescribed joints alone."""

import jax
import jax.numpy as jnp
from jaxtyping import Float

from ..model import JointKind, Topology
from ..spatial import Array, Scalar
from .joints import by_kind
from .layout import prescribed_groups


def velocity_between(
    topology: Topology, q: Float[Array, " q"], new_q: Float[Array, " q"], dt: Scalar
) -> Float[Array, " v"]:
    """The constant velocity that leads from q to new_q in dt, in the axes of q: `move` by it ends at new_q."""
    return -by_kind(prescribed_groups(topology), lambda kind: kind.displacement, "qq->v", q, new_q) / dt


def in_axes_before(
    topology: Topology, new_q: Float[Array, " q"], new_v: Float[Array, " v"], moving: Float[Array, " v"], dt: Scalar
) -> Float[Array, " v"]:
    """new_v, which belongs to new_q, in the axes of the configuration from which `moving` led to new_q in dt."""
    return _moved(topology, new_q, new_v, -moving, dt)[1]


def hermite(
    topology: Topology,
    q: Float[Array, " q"],
    v: Float[Array, " v"],
    new_q: Float[Array, " q"],
    new_v: Float[Array, " v"],
    dt: Scalar,
    part: Scalar,
) -> tuple[Float[Array, " q"], Float[Array, " v"]]:
    """Configuration and velocity at a part, 0 to 1, of the way between two states.

    Cubic in the numbers of q, whose rates follow from the velocities, brought back to valid configurations.
    """
    groups = prescribed_groups(topology)
    # A quaternion and its negative are the same turn; this is the one near q.
    new_q = _moved(topology, q, v, velocity_between(topology, q, new_q, dt), dt)[0]
    rate, new_rate = (dt * by_kind(groups, lambda kind: kind.rate, "qv->q", *x) for x in ((q, v), (new_q, new_v)))

    def at(s):
        early, late = s * (1 - s) ** 2 * rate, s * s * (1 - s) * new_rate
        number = q + s * s * (3 - 2 * s) * (new_q - q) + early - late
        return by_kind(groups, lambda kind: kind.project, "q->q", number)

    here, there = jax.jvp(at, (jnp.asarray(part, dtype=q.dtype),), (1 / jnp.asarray(dt, dtype=q.dtype),))

    def seen(x):
        return by_kind(groups, lambda kind: kind.displacement, "qq->v", x, here)

    return here, jax.jvp(seen, (here,), (there,))[1]


def _moved(topology: Topology, q, v, moving, dt):
    def step(kind: JointKind):
        return lambda q, v, moving: kind.move(q, v, moving, dt)

    return by_kind(prescribed_groups(topology), step, "qvv->qv", q, v, moving)
