"""From records to a model: sort the forest, check every number, stack arrays."""

from collections.abc import Sequence

import numpy as np

from . import validate
from .carried import joints_without_inertia
from .checks import NOT_NEGATIVE
from .errors import ModelError
from .geometry import SHAPES, Geometry
from .inertial import link_numbers
from .joints import KINDS, JointKind
from .model import Actuators, Joints, Links, Model
from .pairs import default_contacts, default_limits
from .sort import sorted_joints
from .spec import WORLD, Actuator, Geom, Joint, Link, Spec
from .topology import Topology


def build(
    links: Sequence[Link],
    joints: Sequence[Joint],
    actuators: Sequence[Actuator] = (),
    **options,
) -> Model:
    """A model from records. Raises `ModelError` where a number is impossible or a name does not exist.

    `options` are the other fields of `Spec`: gravity, timestep, world_geoms, self_collision, excludes, pairs, source.
    """
    return build_spec(Spec(links, joints, actuators, **options))


def build_spec(spec: Spec, strict: bool = True) -> Model:
    """`build` for loaders. With strict=False an inertia that no body has is a warning: such files are common."""

    def where(thing: str) -> str:
        place = spec.elements.get(thing)
        return f"{spec.source}, {place}, {thing}" if place else f"{spec.source}, {thing}"

    for what, records in (("link", spec.links), ("joint", spec.joints), ("actuator", spec.actuators)):
        _unique(what, [record.name for record in records], where)
    kinds = {joint.name: _kind(where(f"joint {joint.name}"), joint.kind) for joint in spec.joints}
    joints, parents = sorted_joints(spec, where)
    topology = _topology(spec, joints, parents, kinds, where)
    by_name = {link.name: link for link in spec.links}
    links = [by_name[name] for name in topology.link_names]

    numbers = [link_numbers(where(f"link {link.name}"), link) for link in links]
    validate.links({where(f"link {link.name}"): n for link, n in zip(links, numbers, strict=True)}, strict)
    stacked = _stack_joints(joints, topology, where)
    masses = np.array([n.mass for n in numbers])
    turning = np.array([np.trace(n.tensor) for n in numbers])
    validate.movable(topology, masses, turning, np.asarray(stacked.armature), where)
    validate.turnable(
        {where(f"joint {name}"): name for name in joints_without_inertia(topology, stacked, numbers)}, strict
    )
    gravity = _vector(spec.source, "gravity", spec.gravity, 3)
    validate.finite(spec.source, "gravity", gravity)
    if not (np.isfinite(spec.timestep) and spec.timestep > 0):
        raise ModelError(f"{spec.source}: the time step is {spec.timestep:g} s; it must be positive")
    geometry = _stack_geometry(spec, links, where)
    return Model(
        links=Links(
            mass=masses,
            com=np.array([n.com for n in numbers]).reshape(-1, 3),
            inertia=np.array([n.six for n in numbers]).reshape(-1, 6),
        ),
        joints=stacked,
        geometry=geometry,
        contacts=default_contacts(geometry, topology, stacked, spec.self_collision, spec.excludes, spec.pairs),
        limits=default_limits(stacked, topology),
        actuators=_stack_actuators(spec, topology, where),
        gravity=gravity,
        timestep=np.asarray(spec.timestep, dtype=float),
        topology=topology,
    )


def _unique(what: str, names: list[str], where) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ModelError(f"{where(f'{what} {name}')}: two {what}s are called {name!r}; rename one")
        seen.add(name)


def _kind(where: str, kind: str | JointKind) -> JointKind:
    if isinstance(kind, JointKind):
        return kind
    if kind not in KINDS:
        raise ModelError(f"{where}: there is no joint kind {kind!r}; the kinds are {', '.join(KINDS)}")
    return KINDS[kind]


def _topology(spec: Spec, joints: list[Joint], parents: list[int], kinds: dict[str, JointKind], where) -> Topology:
    index = {joint.name: i for i, joint in enumerate(joints)}
    last = {joint.child: i for i, joint in enumerate(joints)}
    mimics = []
    for joint in joints:
        if joint.mimic is None:
            mimics.append(-1)
            continue
        here, copied = where(f"joint {joint.name}"), joint.mimic.joint
        if copied not in index:
            raise ModelError(
                f"{here}: it mimics joint {copied!r}, which does not exist; name another or load with mimic=False"
            )
        if kinds[joint.name].nq != 1 or kinds[copied].nq != 1:
            raise ModelError(f"{here}: it mimics {copied!r}; only joints with one coordinate can mimic one another")
        if joints[index[copied]].mimic is not None:
            raise ModelError(f"{here}: it mimics {copied!r}, which mimics another joint; name that one instead")
        validate.finite(here, "mimic ratio and offset", np.array([joint.mimic.ratio, joint.mimic.offset]))
        mimics.append(index[copied])
    order = sorted((link.name for link in spec.links), key=last.__getitem__)
    return Topology(
        joint_names=tuple(index),
        kinds=tuple(kinds[name] for name in index),
        parents=tuple(parents),
        link_names=tuple(order),
        link_joints=tuple(last[name] for name in order),
        mimics=tuple(mimics),
    )


def _vector(where: str, what: str, value, size: int, one_for_all: bool = False) -> np.ndarray:
    """`size` numbers; where it makes sense, a single one stands for all."""
    array = np.asarray(value, dtype=float)
    if array.shape == (size,):
        return array
    if array.ndim == 0 and one_for_all:
        return np.full(size, array)
    raise ModelError(f"{where}: {what} has shape {array.shape}; {size} numbers are needed")


def _unit_quaternion(where: str, value) -> np.ndarray:
    quaternion = _vector(where, "quaternion", value, 4)
    return quaternion / np.linalg.norm(quaternion)


def _stack_joints(joints: list[Joint], topology: Topology, where) -> Joints:
    rows = []
    for joint, kind in zip(joints, topology.kinds, strict=True):
        here = where(f"joint {joint.name}")
        row = {what: _vector(here, what, getattr(joint, what), 3) for what in ("position", "axis", "anchor")}
        row["quaternion"] = _vector(here, "quaternion", joint.quaternion, 4)
        for what in ("stiffness", "damping", "friction", "friction_speed", "armature", "lower", "upper", "effort"):
            row[what] = _vector(here, what, getattr(joint, what), kind.nv, one_for_all=True)
        row["rest"] = _vector(
            here, "rest", kind.rest() if joint.rest is None else joint.rest, kind.nq, one_for_all=kind.nq == 1
        )
        spring_rest = row["rest"] if joint.spring_rest is None else joint.spring_rest
        row["spring_rest"] = _vector(here, "spring_rest", spring_rest, kind.nq, one_for_all=kind.nq == 1)
        validate.joint(here, kind, row)
        row["quaternion"] = _unit_quaternion(here, joint.quaternion)
        if kind.name in ("spherical", "free"):
            for what in ("rest", "spring_rest"):
                row[what] = np.concatenate([row[what][:-4], _unit_quaternion(here, row[what][-4:])])
        rows.append(row)

    def stack(what: str, width: int) -> np.ndarray:
        return np.array([row[what] for row in rows]).reshape(-1, width)

    def join(what: str) -> np.ndarray:
        return np.concatenate([np.zeros(0), *(row[what] for row in rows)])

    anchor = stack("anchor", 3)
    mimic = [joint.mimic for joint in joints]
    return Joints(
        position=stack("position", 3),
        quaternion=stack("quaternion", 4),
        anchor=anchor if np.any(anchor) else None,
        axis=stack("axis", 3),
        rest=join("rest"),
        stiffness=join("stiffness"),
        spring_rest=join("spring_rest"),
        damping=join("damping"),
        friction=join("friction"),
        friction_speed=join("friction_speed"),
        armature=join("armature"),
        lower=join("lower"),
        upper=join("upper"),
        effort=join("effort"),
        mimic_ratio=np.array([m.ratio if m else 1.0 for m in mimic]) if any(mimic) else None,
        mimic_offset=np.array([m.offset if m else 0.0 for m in mimic]) if any(mimic) else None,
    )


def _stack_geometry(spec: Spec, links: list[Link], where) -> Geometry:
    owned: list[tuple[int, str, Geom]] = [(-1, WORLD, geom) for geom in spec.world_geoms]
    owned += [(i, link.name, geom) for i, link in enumerate(links) for geom in link.geoms]
    sizes = np.zeros((len(owned), 3))
    for row, (_, owner, geom) in zip(sizes, owned, strict=True):
        here = where(f"link {owner}")
        if geom.shape not in SHAPES:
            raise ModelError(f"{here}: there is no shape {geom.shape!r}; the shapes are {', '.join(SHAPES)}")
        size = np.atleast_1d(np.asarray(geom.size, dtype=float))
        validate.finite(here, f"size of {geom.shape}", size)
        if np.any(size < 0) or len(size) > 3:
            raise ModelError(
                f"{here}: the size of a {geom.shape} is {geom.size}; up to 3 numbers, none negative, are needed"
            )
        row[: len(size)] = size
        validate.shape(here, geom, size)
        validate.finite(here, f"position of {geom.shape}", np.asarray(geom.position, dtype=float))
        validate.finite(here, f"quaternion of {geom.shape}", np.asarray(geom.quaternion, dtype=float))
        if not np.any(geom.quaternion):
            raise ModelError(f"{here}: the quaternion of a {geom.shape} is zero; no rotation is 1 0 0 0")
        what = f"{here}: the friction of a {geom.shape}"
        if np.ndim(geom.friction):
            raise ModelError(f"{what} is {geom.friction}; give one number, Coulomb's coefficient of sliding")
        NOT_NEGATIVE.check(what, geom.friction, ModelError)
    names, used = [], set()
    for i, (_, owner, geom) in enumerate(owned):
        name = geom.name or f"{owner}/{geom.shape}"
        name = name if name not in used else f"{name}/{i}"
        used.add(name)
        names.append(name)
    return Geometry(
        position=np.array([_vector("geometry", "position", g.position, 3) for *_, g in owned]).reshape(-1, 3),
        quaternion=np.array([_unit_quaternion("geometry", g.quaternion) for *_, g in owned]).reshape(-1, 4),
        size=sizes,
        friction=np.array([g.friction for *_, g in owned]),
        points=tuple(np.zeros((0, 3)) if g.points is None else np.asarray(g.points, dtype=float) for *_, g in owned),
        areas=tuple(None if g.areas is None else np.asarray(g.areas, dtype=float) for *_, g in owned),
        names=tuple(names),
        shapes=tuple(g.shape for *_, g in owned),
        links=tuple(link for link, *_ in owned),
        groups=tuple(g.group for *_, g in owned),
    )


def _stack_actuators(spec: Spec, topology: Topology, where) -> Actuators:
    gears = np.zeros((len(spec.actuators), 6))
    for gear, actuator in zip(gears, spec.actuators, strict=True):
        here = where(f"actuator {actuator.name}")
        if actuator.joint not in topology.joint_index:
            raise ModelError(f"{here}: it drives joint {actuator.joint!r}, which does not exist")
        nv = topology.kinds[topology.joint_index[actuator.joint]].nv
        gear[:nv] = _vector(here, "gear", actuator.gear, nv, one_for_all=True)
        validate.ordered(here, "command_range", actuator.command_range)
        validate.ordered(here, "force_range", actuator.force_range)
        validate.finite(here, "gain, bias and gear", np.concatenate([[actuator.gain], np.ravel(actuator.bias), gear]))
    return Actuators(
        gain=np.array([a.gain for a in spec.actuators], dtype=float),
        bias=np.array([_vector("actuator", "bias", a.bias, 3) for a in spec.actuators]).reshape(-1, 3),
        gear=gears,
        command_range=np.array([a.command_range for a in spec.actuators], dtype=float).reshape(-1, 2),
        force_range=np.array([a.force_range for a in spec.actuators], dtype=float).reshape(-1, 2),
        names=tuple(a.name for a in spec.actuators),
        joints=tuple(topology.joint_index[a.joint] for a in spec.actuators),
    )
