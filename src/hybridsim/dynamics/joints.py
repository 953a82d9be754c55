"""What joint kinds say, asked of all joints of a model at once."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Float

from ..model import JointKind, Model
from ..spatial import Array, Scalar
from .layout import KindGroup, layout, own_groups
from .traverse import add_up, put_together, rows


def displacements(model: Model, q_all: Float[Array, " all_q"]) -> Float[Array, " all_v"]:
    """How far every joint, mimics included, is from its spring's rest."""
    groups = layout(model.topology).groups
    rest = jnp.asarray(model.joints.spring_rest)
    return by_kind(groups, lambda kind: kind.displacement, "qq->v", q_all, rest)


def configuration_rate(model: Model, q: Float[Array, " nq"], qd: Float[Array, " nv"]) -> Float[Array, " nq"]:
    """dq/dt."""
    return by_kind(own_groups(model.topology), lambda kind: kind.rate, "qv->q", q, qd)


def project(model: Model, q: Float[Array, " nq"]) -> Float[Array, " nq"]:
    """The nearest valid configuration: quaternions of unit length."""
    return by_kind(own_groups(model.topology), lambda kind: kind.project, "q->q", q)


def euler(
    model: Model, q: Float[Array, " nq"], qd: Float[Array, " nv"], qdd: Float[Array, " nv"], dt: Scalar
) -> tuple[Float[Array, " nq"], Float[Array, " nv"]]:
    """One semi-implicit Euler step of all coordinates."""

    def step(kind: JointKind) -> Callable:
        return lambda q, v, a: kind.euler(q, v, a, dt)

    return by_kind(own_groups(model.topology), step, "qvv->qv", q, qd, qdd)


def move(
    model: Model, q: Float[Array, " nq"], v: Float[Array, " nv"], moving: Float[Array, " nv"], dt: Scalar
) -> tuple[Float[Array, " nq"], Float[Array, " nv"]]:
    """Positions after dt at the velocity `moving`, and v in the axes of the new positions."""

    def step(kind: JointKind) -> Callable:
        return lambda q, v, moving: kind.move(q, v, moving, dt)

    return by_kind(own_groups(model.topology), step, "qvv->qv", q, v, moving)


def turning(model: Model, qd: Float[Array, " nv"]) -> Float[Array, " nv"]:
    """What `euler` adds to accelerations of joints whose velocity is given in axes that turn."""
    own = own_groups(model.topology)
    total = jnp.zeros_like(qd)
    for group in own:
        added = jax.vmap(group.kind.turning)(rows(qd, group.v))
        if added is not None:
            total = total + add_up(added.ravel(), group.v.ravel(), len(qd))
    return total


def by_kind(
    groups: tuple[KindGroup, ...], function: Callable[[JointKind], Callable], types: str, *arrays: Array
) -> Any:
    """Apply a function of each kind to all joints of that kind; `types` says which arrays are q-like, which v-like."""
    inputs, outputs = types.split("->")
    arrays = tuple(jnp.asarray(x) for x in arrays)
    if not groups:
        return arrays[0] if len(outputs) == 1 else arrays[: len(outputs)]
    results = []
    for group in groups:
        places = {"q": group.q, "v": group.v}
        inputs_of_kind = [rows(x, places[t]) for x, t in zip(arrays, inputs, strict=True)]
        result = jax.vmap(function(group.kind))(*inputs_of_kind)
        results.append(tuple(jnp.ravel(x) for x in (result if len(outputs) > 1 else (result,))))
    joined = [
        put_together([result[i] for result in results], [{"q": g.q, "v": g.v}[t].ravel() for g in groups])
        for i, t in enumerate(outputs)
    ]
    return tuple(joined) if len(outputs) > 1 else joined[0]
