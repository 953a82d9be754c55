"""What a motion is differentiated by: groups of numbers, all zero at the scene as it is given."""

from dataclasses import dataclass

import equinox as eqx
import jax.numpy as jnp
import numpy as np

import hybridsim as hs
from hybridsim.dynamics import move

from .scenes import Scene


@dataclass(frozen=True)
class Group:
    """Numbers of a kind. Some change in parts of themselves, others by units."""

    name: str
    count: int
    relative: bool = False


def groups(scene: Scene, contact) -> tuple[Group, ...]:
    """In the order in which they lie in the vector of all."""
    model, pairs = scene.model, len(scene.model.contacts.pairs)
    shared = [
        Group("q", model.nv),
        Group("qd", model.nv),
        Group("control", len(scene.control)),
        Group("mass", len(model.links.mass), True),
        Group("size", len(_sizes(model)[0]), True),
        Group("hull", len(_hulls(model)), True),
        Group("plane height", len(_planes(model))),
        Group("friction", pairs, True),
        Group("joint damping", model.topology.nv_all),
    ]
    if isinstance(contact, hs.Springs):
        return (*shared, Group("stiffness", pairs, True), Group("dissipation", pairs, True))
    limits = len(model.limits.freedoms)
    return (
        *shared,
        Group("restitution", pairs, True),
        Group("position gain", pairs),
        Group("velocity gain", pairs),
        Group("softness", pairs, True),
        Group("limit restitution", limits),
        Group("limit", 2 * limits),
    )


def final_state(groups: tuple[Group, ...], steps: int, contact, arrays: tuple, theta):
    """q and qd after as many steps as the last of `arrays` says, at most `steps`; the others are model, state, control
    and dt of a scene."""
    model, (q, qd), control, dt, end = arrays[0], arrays[1], *arrays[2:]
    ends = np.cumsum([group.count for group in groups])
    parts = {g.name: theta[end - g.count : end] for g, end in zip(groups, ends, strict=True)}
    q, _ = move(model, jnp.asarray(q), jnp.zeros_like(qd), parts["q"], 1.0)
    start = hs.State(q, qd + parts["qd"], arrays[1].memory)
    control = jnp.broadcast_to(control + parts["control"], (steps, len(control)))
    trajectory = hs.rollout(_changed(model, parts), start, control, dt=dt, contact=contact)
    return jnp.concatenate([jnp.take(x, end, axis=0) for x in (trajectory.q, trajectory.qd)])


def _changed(model: hs.Model, parts: dict) -> hs.Model:
    contacts, joints, (rows, columns) = model.contacts, model.joints, _sizes(model)
    size = jnp.asarray(model.geometry.size)
    height = jnp.asarray(model.geometry.position).at[_planes(model), 2].add(parts["plane height"])
    fields = {
        "friction": contacts.friction * (1 + parts["friction"]),
        "restitution": contacts.restitution * (1 + parts.get("restitution", 0.0)),
        "position_gain": contacts.position_gain + parts.get("position gain", 0.0),
        "velocity_gain": contacts.velocity_gain + parts.get("velocity gain", 0.0),
        "softness": contacts.softness * (1 + parts.get("softness", 0.0)),
        "stiffness": contacts.stiffness * (1 + parts.get("stiffness", 0.0)),
        "dissipation": contacts.dissipation * (1 + parts.get("dissipation", 0.0)),
    }
    hulls, freedoms = _hulls(model), np.array(model.limits.freedoms, dtype=int)
    lower, upper = jnp.split(parts.get("limit", jnp.zeros(2 * len(freedoms))), 2)
    return eqx.tree_at(
        lambda m: [
            *(m.links.mass, m.geometry.size, m.geometry.position, m.joints.damping),
            *(m.joints.lower, m.joints.upper, m.limits.restitution),
            *(m.geometry.points[i] for i in hulls),
            *(getattr(m.contacts, name) for name in fields),
        ],
        model,
        [
            model.links.mass * (1 + parts["mass"]),
            size.at[rows, columns].add(size[rows, columns] * parts["size"]),
            height,
            joints.damping + parts["joint damping"],
            *(jnp.asarray(joints.lower).at[freedoms].add(lower), jnp.asarray(joints.upper).at[freedoms].add(upper)),
            model.limits.restitution + parts.get("limit restitution", 0.0),
            *(model.geometry.points[i] * (1 + scale) for i, scale in zip(hulls, parts["hull"], strict=True)),
            *fields.values(),
        ],
    )


def _sizes(model: hs.Model) -> tuple[np.ndarray, np.ndarray]:
    """Where the sizes of shapes that may touch lie in `Geometry.size`."""
    shapes = model.geometry.shapes
    touching = sorted({shape for pair in model.contacts.pairs for shape in pair if shapes[shape] != "plane"})
    count = {"sphere": 1, "capsule": 2, "cylinder": 2, "box": 3, "points": 0}
    places = [(i, k) for i in touching for k in range(count[shapes[i]])]
    rows, columns = np.array(places, dtype=int).reshape(-1, 2).T
    return rows, columns


def _hulls(model: hs.Model) -> list[int]:
    return [i for i, shape in enumerate(model.geometry.shapes) if shape == "points"]


def _planes(model: hs.Model) -> np.ndarray:
    return np.array([i for i, shape in enumerate(model.geometry.shapes) if shape == "plane"], dtype=int)
