"""Which shapes may touch, from collision filters or as the user says, and the numbers that pairs start with."""

import dataclasses
import warnings
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from .checks import AT_LEAST_ONE, FRACTION, NOT_NEGATIVE, POSITIVE
from .contacts import Contacts, Limits
from .errors import ModelError, ModelWarning
from .geometry import SHAPES, Geometry
from .model import Joints, Model
from .spec import WORLD, Numbers
from .topology import Topology
from .upright import upright_pairs

TOUCHING = frozenset(
    (a, b)
    for i, a in enumerate(SHAPES)
    for b in SHAPES[i:]
    if not {a, b} <= {"patch", "plane"} or (a, b) == ("patch", "plane")
)
"""Kinds of shapes, in the order of `SHAPES`, whose contact is known: the keys of `contact.detect.PAIRS`."""

# Thickness over extent below which points count as lying in a plane.
FLAT = 1e-6

# The papers' values; a softness that is felt nowhere but shares the load among redundant contacts, such as the four
# corners of a box, in one way only.
DEFAULTS = {
    "restitution": 0.0,
    "position_gain": 1.0,
    "velocity_gain": 1.0,
    "softness": 1e-6,
    "stiffness": 5e4,
    "dissipation": 5e4,
    "exponent": 1.5,
    "static_friction": 0.5,
    "transition_speed": 0.01,
}
# A gain above 1 removes more than there is. An exponent below 1 has an infinite slope at the touch.
RANGES = {
    "restitution": FRACTION,
    "position_gain": FRACTION,
    "velocity_gain": FRACTION,
    "exponent": AT_LEAST_ONE,
    "transition_speed": POSITIVE,
}
LIMIT_DEFAULTS = {
    "restitution": 0.0,
    "position_gain": 1.0,
    "velocity_gain": 1.0,
    "softness": 1e-6,
    "stiffness": 1e4,
    "dissipation": 1e4,
}


def with_contacts(
    model: Model,
    pairs: Sequence[tuple[str, str]] | None = None,
    self_collision: bool = False,
    **numbers: Numbers | jax.Array,
) -> Model:
    """The same model with other pairs of shapes that may touch, or with other numbers for them.

    `pairs` are patterns of names of shapes or links, such as [("*foot*", "ground")]; None keeps the pairs there are,
    or, with `self_collision`, takes all pairs that the collision filters allow, those within one mechanism included.
    `numbers` are fields of `Contacts`: one number for all pairs or one for each.
    """
    if model.augmentation is not None and (pairs is not None or self_collision):
        raise ModelError("networks know which contacts there are; choose the pairs before they are grafted")
    geometry, topology = model.geometry, model.topology
    if pairs is not None and self_collision:
        raise ModelError("with_contacts: give pairs or self_collision=True, which takes all pairs, not both")
    if pairs is None and not self_collision:
        contacts = model.contacts
    else:
        chosen = filtered(geometry, topology, True) if pairs is None else _named(geometry, topology, pairs)
        contacts = contacts_of(geometry, topology, model.joints, known(geometry, chosen))
    for name, value in numbers.items():
        if name not in DEFAULTS and name != "friction":
            raise ModelError(f"contacts have no number {name!r}; they have friction, {', '.join(DEFAULTS)}")
        RANGES.get(name, NOT_NEGATIVE).check(f"{name} of a contact", value, ModelError)
        size = len(contacts.pairs)
        array = jnp.asarray(value) if isinstance(value, jax.Array) else np.asarray(value, dtype=float)
        if array.shape not in ((), (size,)):
            raise ModelError(f"{name} has shape {array.shape}; give one number, or one for each of the {size} pairs")
        full = (jnp if isinstance(array, jax.Array) else np).broadcast_to(array, (size,))
        contacts = dataclasses.replace(contacts, **{name: full + 0.0})
    return dataclasses.replace(model, contacts=contacts)


def contacts_of(geometry: Geometry, topology: Topology, joints: Joints, pairs: Sequence[tuple[int, int]]) -> Contacts:
    """Pairs with default numbers; the friction of a pair is the larger one of its shapes (as in MuJoCo)."""
    a, b = (np.array([pair[i] for pair in pairs], dtype=int) for i in (0, 1))
    friction = geometry.friction
    larger = (jnp if isinstance(friction, jax.Array) else np).maximum(friction[a], friction[b])
    defaults = {name: np.full(len(pairs), value) for name, value in DEFAULTS.items()}
    upright = upright_pairs(geometry, topology, joints, pairs)
    return Contacts(friction=larger, **defaults, pairs=tuple(pairs), upright=upright)


def default_numbers(model: Model) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """The numbers with which the model's pairs, and its limits, would start."""
    contacts = contacts_of(model.geometry, model.topology, model.joints, model.contacts.pairs)
    rows = len(model.limits.freedoms)
    return (
        {name: np.asarray(getattr(contacts, name)) for name in ("friction", *DEFAULTS)},
        {name: np.full(rows, value) for name, value in LIMIT_DEFAULTS.items()},
    )


def default_contacts(
    geometry: Geometry,
    topology: Topology,
    joints: Joints,
    self_collision: bool,
    excludes=(),
    pairs: Sequence[tuple[str, str, float]] = (),
) -> Contacts:
    """All pairs that the collision filters allow, and `pairs` (`Spec.pairs`) with their own friction."""
    own = _with_friction(geometry, topology, pairs)
    allowed = _not_excluded(geometry, topology, filtered(geometry, topology, self_collision), excludes)
    touching = known(geometry, [*allowed, *(pair for pair in own if pair not in allowed)])
    contacts = contacts_of(geometry, topology, joints, touching)
    friction = [own.get(pair, mu) for pair, mu in zip(contacts.pairs, contacts.friction, strict=True)]
    return dataclasses.replace(contacts, friction=np.array(friction, dtype=float)) if own else contacts


def _with_friction(
    geometry: Geometry, topology: Topology, pairs: Sequence[tuple[str, str, float]]
) -> dict[tuple[int, int], float]:
    """Pairs of shapes that are named one by one, as indices, with their friction; those that never move are left out."""
    found: dict[tuple[int, int], float] = {}
    for first, second, friction in pairs:
        for name in (first, second):
            if name not in geometry.names:
                raise ModelError(
                    f"contact of {first!r} with {second!r}: there is no shape {name!r}; shapes: {', '.join(geometry.names)}"
                )
        NOT_NEGATIVE.check(f"friction of {first!r} with {second!r}", friction, ModelError)
        a, b = geometry.names.index(first), geometry.names.index(second)
        if geometry.links[a] != geometry.links[b] and not (
            _fixed(topology, geometry, a) and _fixed(topology, geometry, b)
        ):
            found[ordered(geometry, a, b)] = float(friction)
    return found


def _fixed(topology: Topology, geometry: Geometry, shape: int) -> bool:
    return immovable(topology, geometry.links[shape])


def pairs_left_out(model: Model, excludes: Sequence[tuple[str, str]] = ()) -> list[tuple[str, str]]:
    """Names of shapes that the collision filters would let touch, and whose contact is known, but that are no pair."""
    geometry, topology = model.geometry, model.topology
    taken = {frozenset(pair) for pair in model.contacts.pairs}
    return [
        (geometry.names[a], geometry.names[b])
        for a, b in _not_excluded(geometry, topology, filtered(geometry, topology, True), excludes)
        if frozenset((a, b)) not in taken and (geometry.shapes[a], geometry.shapes[b]) in TOUCHING
    ]


def _not_excluded(geometry: Geometry, topology: Topology, pairs: Iterable[tuple[int, int]], excludes) -> list:
    owners = [topology.link_names[link] if link >= 0 else WORLD for link in geometry.links]
    apart = {frozenset(names) for names in excludes}
    return [(a, b) for a, b in pairs if frozenset((owners[a], owners[b])) not in apart]


def default_limits(joints: Joints, topology: Topology) -> Limits:
    """A row for every freedom with a finite limit. A joint that copies another has none of its own."""
    finite = np.isfinite(joints.lower) | np.isfinite(joints.upper)
    own = np.zeros(len(finite), dtype=bool)
    own[topology.own_v] = True
    flat = np.concatenate([np.zeros(0, dtype=bool), *(np.full(k.nv, k.nq == k.nv) for k in topology.kinds)])
    freedoms = tuple(int(i) for i in np.flatnonzero(finite & own & flat))
    return Limits(**{name: np.full(len(freedoms), value) for name, value in LIMIT_DEFAULTS.items()}, freedoms=freedoms)


def filtered(geometry: Geometry, topology: Topology, self_collision: bool) -> list[tuple[int, int]]:
    """Pairs of shapes on different bodies that the collision filters allow; a body never touches its parent.

    Without `self_collision`, pairs within one mechanism are left out; scenery, which is fixed in the world and carries
    nothing, belongs to none.
    """
    bodies = [carrier(topology, link) for link in geometry.links]
    scenery = [link < 0 or is_scenery(topology, link) for link in geometry.links]
    mechanisms = [mechanism_of(topology, link) for link in geometry.links]
    pairs = []
    for a, body_a in enumerate(bodies):
        for b in range(a + 1, len(bodies)):
            body_b = bodies[b]
            if body_a == body_b or not _allowed(geometry.groups[a], geometry.groups[b]):
                continue
            if _never_move(geometry, topology, a, b):
                continue
            if mechanisms[a] == mechanisms[b] and not (scenery[a] or scenery[b]):
                near = body_b == parent_body(topology, body_a) or body_a == parent_body(topology, body_b)
                if near or not self_collision:
                    continue
            pairs.append(ordered(geometry, a, b))
    return pairs


def immovable(topology: Topology, link: int) -> bool:
    """Whether only prescribed joints, or none at all, move a link; -1 is the world."""
    joint = topology.link_joints[link] if link >= 0 else -1
    while joint >= 0:
        source = topology.mimics[joint] if topology.mimics[joint] >= 0 else joint
        if topology.kinds[joint].nv and source not in topology.prescribed:
            return False
        joint = topology.parents[joint]
    return True


def _never_move(geometry: Geometry, topology: Topology, a: int, b: int) -> bool:
    """Whether prescribed joints leave contact nothing to do between two shapes."""
    return bool(topology.prescribed) and all(immovable(topology, geometry.links[shape]) for shape in (a, b))


def is_scenery(topology: Topology, link: int) -> bool:
    """Whether a link is fixed in the world, such as a table, and no joint that moves is attached to it, as to a base."""
    if carrier(topology, link) >= 0:
        return False
    own = topology.link_joints[link]
    for j, kind in enumerate(topology.kinds):
        above = topology.parents[j] if kind.nv else -1
        while above >= 0 and kind.nv:
            if above == own:
                return False
            above = topology.parents[above]
    return True


def mechanism_of(topology: Topology, link: int) -> int:
    """The joint at the world, fixed or not, of the tree that a link belongs to; -1 for the world itself."""
    joint = topology.link_joints[link] if link >= 0 else -1
    while joint >= 0 and topology.parents[joint] >= 0:
        joint = topology.parents[joint]
    return joint


def ordered(geometry: Geometry, a: int, b: int) -> tuple[int, int]:
    """The pair in the order of kinds of shapes."""
    place = SHAPES.index
    return (a, b) if place(geometry.shapes[a]) <= place(geometry.shapes[b]) else (b, a)


def carrier(topology: Topology, link: int) -> int:
    """The joint that moves a link: its own, or the nearest below that is not fixed; -1 for the world."""
    joint = topology.link_joints[link] if link >= 0 else -1
    while joint >= 0 and topology.kinds[joint].nv == 0:
        joint = topology.parents[joint]
    return joint


def parent_body(topology: Topology, joint: int) -> int | None:
    """The joint that moves the body to which this joint's body is attached, -1 for the world; None for the world's own.

    Joints without a link are passed over.
    """
    if joint < 0:
        return None
    linked = {carrier(topology, link) for link in range(len(topology.link_names))}
    joint = topology.parents[joint]
    while joint >= 0 and joint not in linked:
        joint = topology.parents[joint]
    return joint


def _allowed(a: tuple[int, int], b: tuple[int, int]) -> bool:
    return bool(a[0] & b[1] or b[0] & a[1])


def known(geometry: Geometry, pairs: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Pairs whose contact is known; the others, of a patch with a patch, are a warning, and flat hulls an error."""
    known, unknown = [], {}
    for a, b in pairs:
        kinds = (geometry.shapes[a], geometry.shapes[b])
        if kinds in TOUCHING:
            _not_flat(geometry, a, b)
            known.append((a, b))
        elif kinds != ("plane", "plane"):
            unknown.setdefault(kinds, []).append(f"{geometry.names[a]} with {geometry.names[b]}")
    if unknown:
        listed = "; ".join(
            f"{a} with {b}: {len(names)} ({names[0]}{', ...' if len(names) > 1 else ''})"
            for (a, b), names in unknown.items()
        )
        warnings.warn(
            f"shapes that will pass through each other, because contact of these kinds is not known: {listed}. "
            "Use other shapes for one of each two, such as a box, or choose pairs by hs.with_contacts",
            ModelWarning,
            stacklevel=3,
        )
    return known


def _not_flat(geometry: Geometry, a: int, b: int) -> None:
    """Points in a plane have no inside, so only a plane can hold them."""
    for shape, other in ((a, b), (b, a)):
        points = geometry.points[shape]
        if geometry.shapes[shape] != "points" or geometry.shapes[other] == "plane" or isinstance(points, Tracer):
            continue
        spread = np.linalg.svd(points - np.mean(points, axis=0), compute_uv=False)
        if len(points) < 4 or spread[2] < FLAT * spread[0]:
            raise ModelError(
                f"contact of {geometry.names[shape]} with {geometry.names[other]}: the {len(points)} points of "
                f"{geometry.names[shape]} lie in a plane and enclose no volume; give the shape some thickness, use a thin "
                "box, or leave the pair out by hs.with_contacts or a collision filter"
            )


def _named(geometry: Geometry, topology: Topology, patterns: Sequence[tuple[str, str]]) -> list[tuple[int, int]]:
    """Pairs of shapes whose names, or whose links' names, match."""
    pairs: list[tuple[int, int]] = []
    if not all(isinstance(pattern, (tuple, list)) and len(pattern) == 2 for pattern in patterns):
        raise ModelError(f'the pairs are {patterns!r}; give a list of pairs of names, such as [("*foot*", "ground")]')
    for first, second in patterns:
        some_a, some_b = matching_shapes(geometry, topology, first), matching_shapes(geometry, topology, second)
        found = [ordered(geometry, a, b) for a in some_a for b in some_b if geometry.links[a] != geometry.links[b]]
        if not found:
            raise ModelError(
                f"contact of {first!r} with {second!r}: these are shapes of the same link; name shapes of two links"
            )
        pairs += [pair for pair in found if pair not in pairs and not _never_move(geometry, topology, *pair)]
    return pairs


def matching_shapes(geometry: Geometry, topology: Topology, pattern: str) -> list[int]:
    """Indices of the shapes whose names, or whose links' names, match; a pattern without any is an error."""
    owners = [topology.link_names[link] if link >= 0 else WORLD for link in geometry.links]
    found = [
        i
        for i, (name, owner) in enumerate(zip(geometry.names, owners, strict=True))
        if fnmatchcase(name, pattern) or fnmatchcase(owner, pattern)
    ]
    if not found:
        shapes, links = (", ".join(dict.fromkeys(names)) or "none" for names in (geometry.names, owners))
        raise ModelError(f"no shape, and no link with a shape, matches {pattern!r}; shapes: {shapes}; links: {links}")
    return found
