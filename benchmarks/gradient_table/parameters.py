"""What a rollout is differentiated by: groups of numbers, all zero at the scene as it is given."""

from collections.abc import Callable
from dataclasses import dataclass

import equinox as eqx
import jax.numpy as jnp
import numpy as np

import hybridsim as hs
from hybridsim.dynamics import move

from .scenes import Scene


@dataclass(frozen=True)
class Group:
    """Numbers of a kind. Masses, sizes, stiffness and dissipation change in parts of themselves, others by units."""

    name: str
    count: int
    relative: bool = False


def groups(scene: Scene, springs: bool) -> list[Group]:
    """In the order in which they lie in the vector of all."""
    model, pairs = scene.model, len(scene.model.contacts.pairs)
    shared = [
        Group("q", model.nv),
        Group("qd", model.nv),
        Group("control", len(scene.control)),
        Group("mass", len(model.links.mass), True),
        Group("size", len(_sizes(model)[0]), True),
        Group("friction", pairs),
        Group("joint damping", model.topology.nv_all),
    ]
    if springs:
        return [*shared, Group("stiffness", pairs, True), Group("dissipation", pairs, True)]
    return [*shared, Group("restitution", pairs)]


def final_state(scene: Scene, contact) -> tuple[list[Group], Callable]:
    """The groups, and the state at the end as a function of the vector of all their numbers."""
    of = groups(scene, isinstance(contact, hs.Springs))
    ends = np.cumsum([group.count for group in of])

    def final(theta):
        parts = {g.name: theta[end - g.count : end] for g, end in zip(of, ends, strict=True)}
        model = _changed(scene.model, parts)
        q, _ = move(scene.model, jnp.asarray(scene.q), jnp.zeros(model.nv), parts["q"], 1.0)
        control = jnp.broadcast_to(scene.control + parts["control"], (scene.steps, len(scene.control)))
        trajectory = hs.rollout(model, (q, scene.qd + parts["qd"]), control, dt=scene.dt, contact=contact)
        return jnp.concatenate([trajectory.q[-1], trajectory.qd[-1]])

    return of, final


def _changed(model: hs.Model, parts: dict) -> hs.Model:
    contacts, joints, (rows, columns) = model.contacts, model.joints, _sizes(model)
    size = jnp.asarray(model.geometry.size)
    fields = {
        "friction": contacts.friction + parts["friction"],
        "restitution": contacts.restitution + parts.get("restitution", 0.0),
        "stiffness": contacts.stiffness * (1 + parts.get("stiffness", 0.0)),
        "dissipation": contacts.dissipation * (1 + parts.get("dissipation", 0.0)),
    }
    return eqx.tree_at(
        lambda m: [m.links.mass, m.geometry.size, m.joints.damping, *(getattr(m.contacts, name) for name in fields)],
        model,
        [
            model.links.mass * (1 + parts["mass"]),
            size.at[rows, columns].add(size[rows, columns] * parts["size"]),
            joints.damping + parts["joint damping"],
            *fields.values(),
        ],
    )


def _sizes(model: hs.Model) -> tuple[np.ndarray, np.ndarray]:
    """Where the sizes of shapes that may touch lie in `Geometry.size`."""
    size = np.asarray(model.geometry.size)
    touching = np.isin(np.arange(len(size)), np.array(model.contacts.pairs, dtype=int))
    return np.nonzero((size > 0) & touching[:, None])
