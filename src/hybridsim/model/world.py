"""Several mechanisms in one world: a model again."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np

from .contacts import Contacts, Limits
from .errors import ModelError
from .geometry import Geometry
from .model import Actuators, Joints, Links, Model
from .pairs import contacts_of, filtered, known
from .topology import Topology


def world(*models: Model) -> Model:
    """All mechanisms of `models` in one model, in that order. Gravity and time step are the first's."""
    if not models:
        raise ModelError("a world needs at least one model")
    for i, model in enumerate(models):
        if model.augmentation is not None:
            raise ModelError(f"model {i} of this world has networks in it; graft them onto the world instead")
    for what in ("link", "joint", "actuator"):
        seen: dict[str, int] = {}
        for i, model in enumerate(models):
            for name in _names(model, what):
                if name in seen:
                    raise ModelError(
                        f"models {seen[name]} and {i} of this world both have a {what} called {name!r}; "
                        'rename one of them, for example by hs.prefixed(model, "left/")'
                    )
                seen[name] = i
    link_offsets = _offsets([len(m.link_names) for m in models])
    joint_offsets = _offsets([len(m.joint_names) for m in models])
    geometry, topology = _geometry(models, link_offsets), _topology(models, joint_offsets)
    joints = Joints(**_joined([_with_all_fields(m.joints, models) for m in models], _fields(Joints)))
    return Model(
        links=Links(**_joined([m.links for m in models], _fields(Links))),
        joints=joints,
        geometry=geometry,
        contacts=_contacts(models, geometry, topology, joints),
        limits=_limits(models),
        actuators=_actuators(models, joint_offsets),
        gravity=models[0].gravity,
        timestep=models[0].timestep,
        topology=topology,
    )


def prefixed(model: Model, prefix: str) -> Model:
    """The same model with `prefix` before the names of all links, joints, shapes and actuators."""
    if model.augmentation is not None:
        raise ModelError("networks know the names of what they act on; rename the model before they are grafted")

    def rename(names):
        return tuple(prefix + name for name in names)

    t = model.topology
    topology = dataclasses.replace(t, joint_names=rename(t.joint_names), link_names=rename(t.link_names))
    geometry = dataclasses.replace(model.geometry, names=rename(model.geometry.names))
    actuators = dataclasses.replace(model.actuators, names=rename(model.actuators.names))
    return dataclasses.replace(model, topology=topology, geometry=geometry, actuators=actuators)


def _names(model: Model, what: str) -> tuple[str, ...]:
    return {"link": model.link_names, "joint": model.joint_names, "actuator": model.actuators.names}[what]


def _fields(cls: type) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(cls))


def _with_all_fields(joints: Joints, models: tuple[Model, ...]) -> Joints:
    """Fields that are None here but present in another model, filled with what None stands for."""
    count = len(joints.axis)
    fill = {
        "anchor": np.zeros((count, 3)),
        "mimic_ratio": np.ones(count),
        "mimic_offset": np.zeros(count),
    }
    wanted = {
        name: value
        for name, value in fill.items()
        if getattr(joints, name) is None and any(getattr(m.joints, name) is not None for m in models)
    }
    return dataclasses.replace(joints, **wanted)


def _joined(parts: list, names: tuple[str, ...]) -> dict:
    """Array fields, concatenated over the models; traced arrays are welcome."""
    fields = {}
    for name in names:
        arrays = [getattr(part, name) for part in parts]
        traced = any(isinstance(x, jax.Array) for x in arrays)
        fields[name] = None if arrays[0] is None else (jnp if traced else np).concatenate(arrays)
    return fields


def _geometry(models: tuple[Model, ...], offsets: list[int]) -> Geometry:
    parts = [m.geometry for m in models]
    names: list[str] = []
    for i, part in enumerate(parts):
        names += [name if name not in names else f"{name}/{i}" for name in part.names]
    return Geometry(
        **_joined(parts, ("position", "quaternion", "size", "friction")),
        points=sum((part.points for part in parts), ()),
        areas=sum((part.areas for part in parts), ()),
        names=tuple(names),
        shapes=sum((part.shapes for part in parts), ()),
        links=_shifted([part.links for part in parts], offsets),
        groups=sum((part.groups for part in parts), ()),
    )


def _contacts(models: tuple[Model, ...], geometry: Geometry, topology: Topology, joints: Joints) -> Contacts:
    """The pairs of every model, with their numbers, and those between models that the collision filters allow."""
    offsets = _offsets([len(m.geometry.names) for m in models])
    model_of = [i for i, m in enumerate(models) for _ in m.geometry.names]
    allowed = filtered(geometry, topology, self_collision=True)
    apart = known(geometry, [(a, b) for a, b in allowed if model_of[a] != model_of[b]])
    between = contacts_of(geometry, topology, joints, apart)
    parts = [m.contacts for m in models] + [between]
    pairs = [(a + first, b + first) for m, first in zip(models, offsets, strict=True) for a, b in m.contacts.pairs]
    upright = [(a + first, b + first) for m, first in zip(models, offsets, strict=True) for a, b in m.contacts.upright]
    return Contacts(
        **_joined(parts, _fields(Contacts)[:-2]), pairs=(*pairs, *between.pairs), upright=between.upright.union(upright)
    )


def _limits(models: tuple[Model, ...]) -> Limits:
    offsets = _offsets([m.topology.nv_all for m in models])
    freedoms = _shifted([m.limits.freedoms for m in models], offsets)
    return Limits(**_joined([m.limits for m in models], _fields(Limits)[:-1]), freedoms=freedoms)


def _actuators(models: tuple[Model, ...], offsets: list[int]) -> Actuators:
    parts = [m.actuators for m in models]
    return Actuators(
        **_joined(parts, ("gain", "bias", "gear", "command_range", "force_range")),
        names=sum((part.names for part in parts), ()),
        joints=_shifted([part.joints for part in parts], offsets),
    )


def _topology(models: tuple[Model, ...], offsets: list[int]) -> Topology:
    parts = [m.topology for m in models]
    return Topology(
        joint_names=sum((t.joint_names for t in parts), ()),
        kinds=sum((t.kinds for t in parts), ()),
        parents=_shifted([t.parents for t in parts], offsets),
        link_names=sum((t.link_names for t in parts), ()),
        link_joints=_shifted([t.link_joints for t in parts], offsets),
        mimics=_shifted([t.mimics for t in parts], offsets),
        prescribed=_shifted([t.prescribed for t in parts], offsets),
    )


def _shifted(parts: list[tuple[int, ...]], offsets: list[int]) -> tuple[int, ...]:
    """Indices into each model as indices into the world; -1 stays -1."""
    return tuple(i + offset if i >= 0 else -1 for part, offset in zip(parts, offsets, strict=True) for i in part)


def _offsets(counts: list[int]) -> list[int]:
    return [sum(counts[:i]) for i in range(len(counts))]
