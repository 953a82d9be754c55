"""The structure of a mechanism as JSON: joints, links, shapes, pairs, limits, actuators, by their names."""

from dataclasses import replace
from typing import Any

from ...model import KINDS, SHAPES, TOUCHING, Actuators, Contacts, Geometry, Joints, Limits, Links, Model, Topology
from ...model.upright import EXTRUDED, upright_pairs
from .errors import damaged
from .fields import Field
from .numbers import Numbers

_EXTRAS = ("anchor", "mimic_ratio", "mimic_offset")
KEYS = ("joints", "joint_extras", "links", "shapes", "contact_pairs", "limited_freedoms", "actuators")
PRESCRIBED = "prescribed_joints"
"""A key that only models with such joints have."""
UPRIGHT = "upright_pairs"
"""A key that only models with extruded shapes have; files of earlier versions lack it."""


def mechanism_to_json(model: Model) -> dict[str, Any]:
    topology, geometry, joints = model.topology, model.geometry, model.joints
    for name, kind in zip(topology.joint_names, topology.kinds, strict=True):
        if KINDS.get(kind.name) != kind:
            raise damaged(f"joint {name!r} is of a kind of your own, {kind!r}", f"use one of {', '.join(KINDS)}")

    def joint(i: int) -> str | None:
        return topology.joint_names[i] if i >= 0 else None

    given: dict[str, Any] = {}
    if topology.prescribed:
        given[PRESCRIBED] = [joint(i) for i in topology.prescribed]
    if set(EXTRUDED) & set(geometry.shapes):
        given[UPRIGHT] = [[int(a), int(b)] for a, b in sorted(model.contacts.upright)]
    return given | {
        "joints": [
            {"name": name, "kind": kind.name, "parent": joint(parent), "mimics": joint(mimic)}
            for name, kind, parent, mimic in zip(
                topology.joint_names, topology.kinds, topology.parents, topology.mimics, strict=True
            )
        ],
        "joint_extras": [what for what in _EXTRAS if getattr(joints, what) is not None],
        "links": [
            {"name": name, "joint": joint(i)} for name, i in zip(topology.link_names, topology.link_joints, strict=True)
        ],
        "shapes": [
            {
                "name": name,
                "shape": shape,
                "link": topology.link_names[link] if link >= 0 else None,
                "group": [int(bits) for bits in group],
                "points": len(points),
            }
            for name, shape, link, group, points in zip(
                geometry.names, geometry.shapes, geometry.links, geometry.groups, geometry.points, strict=True
            )
        ],
        "contact_pairs": [[int(a), int(b)] for a, b in model.contacts.pairs],
        "limited_freedoms": [int(i) for i in model.limits.freedoms],
        "actuators": [
            {"name": name, "joint": joint(i)}
            for name, i in zip(model.actuators.names, model.actuators.joints, strict=True)
        ],
    }


def mechanism_from_json(fields: dict[str, Field], numbers: Numbers) -> Model:
    """A model without networks."""
    topology = _topology(fields["joints"], fields["links"])
    if PRESCRIBED in fields:
        topology = replace(topology, prescribed=_prescribed(fields[PRESCRIBED], topology))
    geometry = _geometry(fields["shapes"], topology, numbers)
    joints = _joints(fields["joint_extras"], topology, numbers)
    contacts = _contacts(fields["contact_pairs"], geometry, numbers)
    upright = (
        _upright(fields[UPRIGHT], geometry, contacts.pairs)
        if UPRIGHT in fields
        else upright_pairs(geometry, topology, joints, contacts.pairs)
    )
    return Model(
        links=Links(**_rows(numbers, "links", len(topology.link_names), mass=(), com=(3,), inertia=(6,))),
        joints=joints,
        geometry=geometry,
        contacts=replace(contacts, upright=upright),
        limits=_limits(fields["limited_freedoms"], topology, numbers),
        actuators=_actuators(fields["actuators"], topology, numbers),
        gravity=numbers.take("gravity", (3,)),
        timestep=numbers.take("timestep", ()),
        topology=topology,
    )


def _rows(numbers: Numbers, owner: str, count: int, **widths: tuple[int, ...]) -> dict:
    return {name: numbers.take(f"{owner}/{name}", (count, *width)) for name, width in widths.items()}


def _topology(joints: Field, links: Field) -> Topology:
    names, kinds, parents, mimics = {}, [], [], []
    rows = [row.record("name", "kind", "parent", "mimics") for row in joints.items()]
    for i, row in enumerate(rows):
        # Only joints before this one are known yet, so no chain of parents goes in a circle.
        parents.append(_joint(row["parent"], names, "joint before this one"))
        kinds.append(row["kind"].chosen(KINDS, "kind of joint"))
        _add(names, row["name"], i)
    for i, row in enumerate(rows):
        mimic = _joint(row["mimics"], names, "joint")
        if mimic >= 0 and (kinds[i].nq != 1 or kinds[mimic].nq != 1 or rows[mimic]["mimics"].value is not None):
            raise row["mimics"].wrong("must be a joint with one coordinate of its own")
        mimics.append(mimic)
    link_names: dict[str, int] = {}
    link_joints = []
    for i, field in enumerate(links.items()):
        row = field.record("name", "joint")
        _add(link_names, row["name"], i)
        link_joints.append(row["joint"].chosen(names, "joint"))
        if link_joints[-1] in link_joints[:-1]:
            raise row["joint"].wrong("already carries a link")
    return Topology(tuple(names), tuple(kinds), tuple(parents), tuple(link_names), tuple(link_joints), tuple(mimics))


def _prescribed(field: Field, topology: Topology) -> tuple[int, ...]:
    chosen = tuple(sorted(item.chosen(topology.joint_index, "joint") for item in field.items()))
    for j in chosen:
        if topology.kinds[j].nv == 0 or topology.mimics[j] >= 0:
            raise field.wrong(f"names {topology.joint_names[j]!r}, which has no coordinates of its own")
    if not chosen or len(set(chosen)) < len(chosen):
        raise field.wrong("must name some joints, each once")
    return chosen


def _add(names: dict[str, int], name: Field, i: int) -> None:
    if name.text() in names:
        raise name.wrong(f"is {name.text()!r} for the second time")
    names[name.text()] = i


def _joint(field: Field, names: dict[str, int], what: str) -> int:
    return -1 if field.value is None else field.chosen(names, what)


def _joints(extras: Field, topology: Topology, numbers: Numbers) -> Joints:
    given = extras.names()
    if strange := set(given) - set(_EXTRAS):
        raise extras.wrong(f"names {', '.join(sorted(strange))}, which joints do not have")
    if topology.has_mimics and not {"mimic_ratio", "mimic_offset"} <= set(given):
        raise extras.wrong("lacks the ratio and offset of joints that copy others")
    count = len(topology.kinds)
    widths = {"position": (3,), "quaternion": (4,), "axis": (3,)} | {
        what: (3,) if what == "anchor" else () for what in given
    }
    freedoms = ["stiffness", "damping", "friction", "friction_speed", "armature", "lower", "upper", "effort"]
    found: dict[str, Any] = dict.fromkeys(_EXTRAS)
    found |= _rows(numbers, "joints", count, **widths)
    found |= _rows(numbers, "joints", topology.nq_all, rest=(), spring_rest=())
    found |= _rows(numbers, "joints", topology.nv_all, **dict.fromkeys(freedoms, ()))
    return Joints(**found)


def _geometry(shapes: Field, topology: Topology, numbers: Numbers) -> Geometry:
    rows = [row.record("name", "shape", "link", "group", "points") for row in shapes.items()]
    kinds: dict[str, str] = {shape: shape for shape in SHAPES}
    points, areas = [], []
    for i, row in enumerate(rows):
        least = {"points": 1, "patch": 1, "prism": 3}.get(shape := row["shape"].chosen(kinds, "shape"))
        count = row["points"].integer(least or 0, 2**31 if least else 1)
        points.append(numbers.take(f"geometry/points/{i}", (count, 3)))
        areas.append(numbers.take(f"geometry/areas/{i}", (count,)) if shape == "patch" else None)
    return Geometry(
        **_rows(numbers, "geometry", len(rows), position=(3,), quaternion=(4,), size=(3,), friction=()),
        points=tuple(points),
        areas=tuple(areas),
        names=tuple(row["name"].text() for row in rows),
        shapes=tuple(row["shape"].text() for row in rows),
        links=tuple(
            -1 if row["link"].value is None else row["link"].chosen(topology.link_index, "link") for row in rows
        ),
        groups=tuple(_two(row["group"], -(2**63), 2**63) for row in rows),
    )


def _two(field: Field, low: int, below: int) -> tuple[int, int]:
    items = field.items()
    if len(items) != 2:
        raise field.wrong("must be two numbers")
    return items[0].integer(low, below), items[1].integer(low, below)


def _contacts(field: Field, geometry: Geometry, numbers: Numbers) -> Contacts:
    pairs = tuple(_two(item, 0, len(geometry.names)) for item in field.items())
    for item, (a, b) in zip(field.items(), pairs, strict=True):
        if a == b or (geometry.shapes[a], geometry.shapes[b]) not in TOUCHING:
            raise item.wrong(f"are shapes whose contact is not known: {geometry.names[a]} with {geometry.names[b]}")
    fields = [name for name in Contacts.__dataclass_fields__ if name not in ("pairs", "upright")]
    rows = _rows(numbers, "contacts", len(pairs), **dict.fromkeys(fields, ()))
    return Contacts(**rows, pairs=pairs, upright=frozenset())


def _upright(field: Field, geometry: Geometry, pairs: tuple[tuple[int, int], ...]) -> frozenset[tuple[int, int]]:
    found = [_two(item, 0, len(geometry.names)) for item in field.items()]
    for item, (a, b) in zip(field.items(), found, strict=True):
        if (a, b) not in pairs or geometry.shapes[a] != "cylinder" or geometry.shapes[b] not in EXTRUDED:
            raise item.wrong("is no contact of a cylinder with an extruded shape")
    return frozenset(found)


def _limits(field: Field, topology: Topology, numbers: Numbers) -> Limits:
    freedoms = tuple(item.integer(0, topology.nv_all) for item in field.items())
    if len(set(freedoms)) < len(freedoms):
        raise field.wrong("has a freedom twice")
    fields = [name for name in Limits.__dataclass_fields__ if name != "freedoms"]
    return Limits(**_rows(numbers, "limits", len(freedoms), **dict.fromkeys(fields, ())), freedoms=freedoms)


def _actuators(field: Field, topology: Topology, numbers: Numbers) -> Actuators:
    rows = [row.record("name", "joint") for row in field.items()]
    names: dict[str, int] = {}
    for i, row in enumerate(rows):
        _add(names, row["name"], i)
    widths = {"gain": (), "bias": (3,), "gear": (6,), "command_range": (2,), "force_range": (2,)}
    return Actuators(
        **_rows(numbers, "actuators", len(rows), **widths),
        names=tuple(names),
        joints=tuple(row["joint"].chosen(topology.joint_index, "joint") for row in rows),
    )
