"""Forces that a joint may feel and a model may lack, as one network that is linear in its weights.

All terms of all joints are in it at once, with weights of zero: the slopes of the residuals with respect to the weights tell
what each term would explain, without training anything.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ..augment import Augment, Blueprint, Custom
from ..augment.entities import exactly
from ..contact import Contact
from ..data.log import Trajectory, with_velocities
from ..model import Model
from ..spatial import Array

TERMS: dict[str, tuple[str, ...]] = {
    "drag": ("v |v|",),
    "friction that differs by direction": ("|sign v|",),
    "friction that grows with the load": ("|u| sign v",),
    "friction that depends on position": ("sin q sign v", "cos q sign v"),
    "force that depends on position": ("1", "q", "sin 2q", "cos 2q"),
}
"""Effects of a joint by the terms of its own position q, velocity v and commanded force u."""
COUPLING = "coupling"
"""Terms of the other joints' positions and velocities."""


@dataclass(frozen=True)
class Scales:
    """Usual sizes of a log's numbers, by joint: terms are counted in them."""

    middle: tuple[float, ...]
    """Mean position [rad or m]."""
    spread: tuple[float, ...]
    speed: tuple[float, ...]
    force: tuple[float, ...]
    """Of the control, 1 where there is none [N m or N]."""
    friction_speed: tuple[float, ...]


class Terms(eqx.Module):
    """Forces of all joints; x has positions, velocities and, where forces drive the joints, those."""

    weights: Float[Array, "joints terms"]
    scales: Scales = eqx.field(static=True)
    driven: bool = eqx.field(static=True)

    def __call__(self, x: Float[Array, " inputs"]) -> Float[Array, " joints"]:
        n, scales = len(self.scales.middle), self.scales
        q = (x[:n] - np.array(scales.middle)) / np.array(scales.spread)
        v, sign = x[n : 2 * n] / np.array(scales.speed), jnp.tanh(x[n : 2 * n] / np.array(scales.friction_speed))
        load = jnp.abs(x[2 * n :]) / np.array(scales.force) if self.driven else jnp.zeros(n)
        angle = x[:n]
        own = [
            v * jnp.abs(v),
            jnp.abs(sign),
            load * sign,
            jnp.sin(angle) * sign,
            jnp.cos(angle) * sign,
            jnp.ones(n),
            q,
            jnp.sin(2 * angle),
            jnp.cos(2 * angle),
        ]
        others = jnp.concatenate([q, v])
        rows = [
            jnp.concatenate([jnp.stack([term[i] for term in own]), jnp.delete(others, np.array([i, n + i]))])
            for i in range(n)
        ]
        return jnp.stack([self.weights[i] @ row for i, row in enumerate(rows)])


def one_freedom_joints(model: Model) -> tuple[str, ...]:
    """Joints that a library can be put at: those that turn or slide about one axis of their own, and that forces move."""
    kinds, mimics, driven = model.topology.kinds, model.topology.mimics, model.prescribed_names
    return tuple(
        name
        for name, kind, mimic in zip(model.joint_names, kinds, mimics, strict=True)
        if kind.nv == 1 and kind.nq == 1 and mimic < 0 and name not in driven
    )


def with_library(model: Model, logs: Sequence[Trajectory], contact: Contact | None) -> tuple[Model, dict]:
    """The model with all terms at weight zero, and which weights belong to which effect at which joint."""
    joints = one_freedom_joints(model)
    if not joints:
        return model, {}
    n, scales = len(joints), scales_of(model, logs)
    driven = all(log.controls is not None and log.control_kind == "force" for log in logs)
    own = sum(len(terms) for terms in TERMS.values())
    count = own + 2 * (n - 1)
    inputs = ("joint.position", "joint.velocity", *(("joint.command",) if driven else ()))
    terms = Terms(np.zeros((n, count)), scales, driven)
    augment = Augment("joint.passive_force", inputs, Custom(terms, name="library"), exactly(joints), "together")
    places: dict[tuple[str, str], tuple[int, ...]] = {}
    for i, joint in enumerate(joints):
        first = i * count
        for effect, own_terms in TERMS.items():
            if driven or "load" not in effect:
                places[effect, joint] = tuple(range(first, first + len(own_terms)))
            first += len(own_terms)
        if n > 1:
            places[COUPLING, joint] = tuple(range(first, (i + 1) * count))
    return Blueprint(augment).graft(model, contact=contact), places


def terms_of(model: Model) -> Terms:
    """The library in a model that `with_library` has made."""
    found = [leaf for leaf in jax.tree.leaves(model.augmentation, is_leaf=_is_library) if _is_library(leaf)]
    if not found:
        raise ValueError("this model has no library of terms; with_library(model, ...) puts one in")
    return found[0]


def _is_library(leaf: object) -> bool:
    return isinstance(leaf, Terms)


def scales_of(model: Model, logs: Sequence[Trajectory]) -> Scales:
    """From all logs together."""
    joints = one_freedom_joints(model)
    at_q, at_v = [model.q_of(j).start for j in joints], [model.v_of(j).start for j in joints]
    q = np.concatenate([log.q for log in logs])[:, at_q]
    v = [np.asarray(with_velocities(log).qd)[:, at_v] for log in logs]
    forces = [log.controls[:, at_v] for log in logs if log.controls is not None and log.control_kind == "force"]
    u = np.concatenate(forces) if forces else np.ones((1, len(joints)))
    own = [int(np.flatnonzero(model.topology.own_v == model.topology.own_v[v])[0]) for v in at_v]
    speeds = np.asarray(model.joints.friction_speed)[model.topology.own_v][own]
    return Scales(
        _sizes(q.mean(axis=0), keep=True),
        _sizes(q.std(axis=0)),
        _sizes(np.sqrt(np.mean(np.concatenate(v) ** 2, axis=0))),
        _sizes(np.sqrt(np.mean(u**2, axis=0))),
        _sizes(speeds),
    )


def _sizes(numbers: np.ndarray, keep: bool = False) -> tuple[float, ...]:
    return tuple(float(x) if keep or x > 0 else 1.0 for x in numbers)
