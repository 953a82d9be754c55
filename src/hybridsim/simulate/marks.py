"""Marks of what a step does not compute but is given (time, commands, parameters), and of what it could compute (links)."""

from dataclasses import replace
from functools import cache

import jax.numpy as jnp
from jaxtyping import Float

from ..dynamics import (
    Configuration,
    Mechanism,
    Velocities,
    assemble,
    link_forces,
    link_poses,
    link_velocities,
)
from ..model import Model
from ..model.names import Marks
from ..spatial import Array, Inertia, Scalar, Transform, quaternion_from_matrix
from .control import Control


def mark_control(model: Model, control: Control, time: Scalar, named: Marks, dtype) -> Control:
    """Time, and commands; where none is given they are zero."""
    named.offer("world.time", lambda: jnp.asarray(time, dtype=dtype))
    for field, name, size in (("command", "actuator.command", model.nu), ("force", "joint.command", model.nv)):
        if size and named.wants(name):
            given = getattr(control, field)
            value = jnp.zeros(size, dtype=dtype) if given is None else jnp.asarray(given)
            control = replace(control, **{field: named(name, value)})
    return control


def mark_numbers(model: Model, mechanism: Mechanism, named: Marks) -> tuple[Model, Mechanism]:
    """Parameters: a rollout takes what follows from them out of its loop, unless a network changes them."""
    gravity = named("world.gravity", model.gravity)
    joints = _marked(model.joints, "joint", ("stiffness", "damping", "friction", "armature"), named)
    links = _marked(model.links, "link", ("mass", "com", "inertia"), named)
    if gravity is model.gravity and joints is model.joints and links is model.links:
        return model, mechanism
    changed = replace(model, gravity=gravity, joints=joints, links=links)
    if links is not model.links:
        return changed, assemble(changed)
    return changed, replace(mechanism, armature=joints.armature, gravity=gravity)


def _marked(numbers, owner: str, fields: tuple[str, ...], named: Marks):
    """The numbers with their fields marked; the same object where no mark changes any."""
    marked = {field: named(f"{owner}.{field}", getattr(numbers, field)) for field in fields}
    if all(value is getattr(numbers, field) for field, value in marked.items()):
        return numbers
    return replace(numbers, **marked)


def offer_links(model: Model, mechanism: Mechanism, conf: Configuration, vel: Velocities, named: Marks) -> None:
    """Where links are and how they move."""

    @cache
    def poses() -> Transform:
        return link_poses(mechanism, conf)

    @cache
    def motion() -> Float[Array, "links 6"]:
        return link_velocities(mechanism, conf, vel)

    def pose() -> Float[Array, "links 7"]:
        return jnp.concatenate([poses().position, quaternion_from_matrix(poses().rotation)], axis=-1)

    def momenta() -> Float[Array, "links 6"]:
        inertia = Inertia.about_centre(*map(jnp.asarray, (model.links.mass, model.links.com, model.links.inertia)))
        turned = inertia.seen_from(Transform(poses().rotation, jnp.zeros_like(poses().position)))
        return jnp.einsum("nij,nj->ni", turned.matrix(), motion())

    named.offer("link.position", lambda: poses().position)
    named.offer("link.rotation", lambda: poses().rotation.reshape(-1, 9))
    named.offer("link.pose", pose)
    named.offer("link.velocity", motion)
    named.offer("link.momentum", momenta)


def mark_wrenches(mechanism: Mechanism, control: Control, named: Marks, dtype) -> Control:
    """Forces on links from outside."""
    if not named.wants("link.external_force"):
        return control
    return replace(control, wrenches=named("link.external_force", link_forces(mechanism, control.wrenches, dtype)))
