"""Is this model physically possible? Asked once, of concrete numbers, before they become arrays."""

import warnings

import numpy as np

from .errors import ModelError, ModelWarning
from .geometry import SIZES
from .inertial import LinkNumbers
from .joints import JointKind
from .spec import Geom, Numbers
from .topology import Topology

# Moments of inertia in files are rounded to a few digits; a thin rod has a = b + 0 within that rounding.
ROUNDING = 1e-3
# An inertia below this is a zero with rounding errors [kg m^2].
SMALLEST = 1e-18


def finite(where: str, what: str, value: np.ndarray) -> None:
    """Every number is finite."""
    if not np.all(np.isfinite(value)):
        raise ModelError(f"{where}: {what} is {_show(value)}, which is not finite; give real numbers")


def rows(what: str, value: Numbers | None, width: int, least: int, needed: str) -> np.ndarray:
    """A table of numbers, as an array of at least so many rows."""
    try:
        table = np.zeros((0, width)) if value is None else np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise ModelError(f"{what} is {value}, which is no table of numbers; give {needed}") from None
    if table.ndim != 2 or table.shape[1] != width or len(table) < least:
        raise ModelError(f"{what} has shape {table.shape}; give {needed}")
    return table


def links(numbers: dict[str, LinkNumbers], strict: bool) -> None:
    """All links are bodies that could exist. Where files are read, inertias that none has are a warning: they
    are common, and the equations of motion can still be solved."""
    problems = [f"{where}: {problem}" for where, n in numbers.items() if (problem := _link(where, n))]
    if not problems:
        return
    fix = "check units, signs of the off-diagonals, and whether it is taken about the centre of mass"
    if strict:
        raise ModelError(f"{problems[0]}; {fix}")
    listed = "\n  ".join(problems)
    warnings.warn(f"inertias that no body has are used as they are; {fix}:\n  {listed}", ModelWarning, stacklevel=3)


def _link(where: str, numbers: LinkNumbers) -> str | None:
    """What is wrong with an inertia, if anything; other impossible numbers are errors."""
    finite(where, "mass", numbers.mass)
    finite(where, "centre of mass", numbers.com)
    finite(where, "inertia", numbers.tensor)
    if numbers.mass < 0:
        raise ModelError(f"{where}: mass is {numbers.mass:g} kg; a mass cannot be negative")
    moments = np.linalg.eigvalsh(numbers.tensor)
    size = max(abs(moments[0]), moments[2])
    if size < SMALLEST:
        return None
    if moments[0] < -ROUNDING * size:
        return f"the smallest principal moment of inertia is {moments[0]:g} kg m^2; it cannot be negative"
    if moments[0] + moments[1] < moments[2] * (1 - ROUNDING):
        return (
            f"the principal moments of inertia are {_show(moments)} kg m^2; no body has them, because the "
            "largest must be at most the sum of the other two (triangle inequality)"
        )
    return None


def shape(where: str, geom: Geom, size: np.ndarray) -> None:
    """A collision shape has the sizes or points that it needs."""
    needed = SIZES[geom.shape]
    if np.count_nonzero(size) < needed:
        raise ModelError(f"{where}: the size of a {geom.shape} is {geom.size}; it needs {needed} positive numbers")
    if geom.shape == "patch":
        _patch(where, geom)
        return
    if geom.shape not in ("points", "prism"):
        return
    if geom.shape == "points":
        finite(where, "points", rows(f"{where}: points", geom.points, 3, 1, "rows of x, y, z"))
    else:
        _polygon(where, rows(f"{where}: the corners of a prism", geom.points, 3, 3, "three or more rows of x, y, z"))


def _polygon(where: str, corners: np.ndarray) -> None:
    """Convex, counter-clockwise about z and in the plane z = 0."""
    finite(where, "corners of a prism", corners)
    needed = f"{where}: the corners of a prism must have z = 0 and make a convex polygon, counter-clockwise"
    if np.any(outside := corners[:, 2] != 0):
        raise ModelError(f"{needed}; there is {_show(corners[np.argmax(outside)])}: turn the shape by its quaternion")
    before, after = corners - np.roll(corners, 1, axis=0), np.roll(corners, -1, axis=0) - corners
    turns = np.arctan2(np.cross(before, after)[:, 2], np.sum(before * after, axis=1))
    if not np.all(turns > 0):
        wrong = _show(corners[np.argmin(turns)])
        raise ModelError(f"{needed}; there is no left turn at {wrong}: exchange the order, or leave out such corners")
    if turns.sum() > 3 * np.pi:
        raise ModelError(f"{needed}; this one crosses itself: exchange the order")


def _patch(where: str, geom: Geom) -> None:
    points = rows(f"{where}: points of a patch", geom.points, 3, 1, "rows of x, y, z")
    finite(where, "points of a patch", points)
    areas = np.asarray(() if geom.areas is None else geom.areas, dtype=float)
    if areas.shape != (len(points),) or not np.all((areas > 0) & np.isfinite(areas)):
        raise ModelError(
            f"{where}: a patch of {len(points)} points has areas {areas}; give each point the area [m^2] that it stands "
            "for, or let hs.contact_grid do it"
        )


def joint(where: str, kind: JointKind, values: dict[str, np.ndarray]) -> None:
    """Numbers of one joint are finite, have signs that make sense and an axis that has a direction."""
    for what in ("position", "quaternion", "axis", "anchor", "rest", "stiffness", "spring_rest"):
        finite(where, what, values[what])
    if kind.nv and np.linalg.norm(values["axis"]) < 1e-9:
        raise ModelError(f"{where}: axis is {_show(values['axis'])}; an axis needs a direction, such as 0 0 1")
    if np.linalg.norm(values["quaternion"]) < 1e-9:
        raise ModelError(f"{where}: quaternion is zero; no rotation is 1 0 0 0")
    for what in ("damping", "friction", "armature"):
        finite(where, what, values[what])
        if np.any(values[what] < 0):
            raise ModelError(f"{where}: {what} is {_show(values[what])}; it cannot be negative")
    if not np.all(values["friction_speed"] > 0):
        raise ModelError(f"{where}: friction_speed is {_show(values['friction_speed'])}; it must be positive")
    if np.any(np.isnan(values["lower"])) or np.any(np.isnan(values["upper"])):
        raise ModelError(f"{where}: a limit is NaN; leave it out where there is none")
    if np.any(values["lower"] > values["upper"]):
        raise ModelError(
            f"{where}: lower limit {_show(values['lower'])} is above upper limit {_show(values['upper'])}; exchange them"
        )
    if not np.all(values["effort"] >= 0):
        raise ModelError(f"{where}: effort limit is {_show(values['effort'])}; it cannot be negative or NaN")
    for what in ("rest", "spring_rest"):
        quaternion = {"spherical": values[what], "free": values[what][3:]}.get(kind.name)
        if quaternion is not None and np.linalg.norm(quaternion) < 1e-9:
            raise ModelError(f"{where}: the quaternion in {what} is zero; no rotation is 1 0 0 0")
    for part in {"spherical": [slice(0, 3)], "free": [slice(0, 3), slice(3, 6)]}.get(kind.name, []):
        if np.ptp(values["stiffness"][part]) > 0:
            raise ModelError(
                f"{where}: stiffness is {_show(values['stiffness'])}; the three rotations of a {kind.name} joint need "
                "one stiffness, and so do its three translations, or the spring would have no energy"
            )
    if kind.name == "free" and np.any(values["anchor"]):
        raise ModelError(f"{where}: anchor is {_show(values['anchor'])}; a free joint has none, so leave it out")


def movable(topology: Topology, masses: np.ndarray, second_moments: np.ndarray, armature: np.ndarray, where) -> None:
    """Every freedom moves some inertia, or its acceleration would be infinite. A joint moves what its copies move."""
    moved = np.zeros(len(topology.kinds))
    for i, j in enumerate(topology.link_joints):
        moved[j] += masses[i] + second_moments[i]
    for j in reversed(range(len(moved))):
        if (parent := topology.parents[j]) >= 0:
            moved[parent] += moved[j]
    for j, kind in enumerate(topology.kinds):
        together = [j, *(i for i, copied in enumerate(topology.mimics) if copied == j)]
        has_rotor = any(np.all(armature[topology.v_slices[i]] > 0) for i in together)
        if kind.nv and topology.mimics[j] < 0 and moved[together].sum() <= 0 and not has_rotor:
            name = topology.joint_names[j]
            raise ModelError(
                f"{where(f'joint {name}')}: joint {name!r} moves links whose total mass is 0 kg, so its acceleration "
                "would be infinite; give them a mass (is the unit kg?), give the joint an armature, or fix the joint "
                '(hs.load(..., massless="fix") does that for all such joints)'
            )


def turnable(joints: dict[str, str], strict: bool) -> None:
    """No joint turns masses that all lie on its axis. In files that is a warning: other motions are still right."""
    if not joints:
        return
    fix = "give the links an inertia, or the joints an armature"
    if strict:
        place, name = next(iter(joints.items()))
        raise ModelError(
            f"{place}: joint {name!r} turns no inertia, as the masses that it carries are points on its axis, so its "
            f"acceleration would be infinite; {fix}"
        )
    listed = ", ".join(joints.values())
    warnings.warn(
        f"joints {listed} turn no inertia, so their accelerations mean nothing; {fix}", ModelWarning, stacklevel=3
    )


def ordered(where: str, what: str, limits: tuple[float, float]) -> None:
    """A range is two numbers, the smaller first; infinite where there is no limit."""
    low, high = limits
    if not low <= high:
        raise ModelError(f"{where}: {what} is {low:g} to {high:g}; give the smaller number first, and no NaN")


def _show(value: np.ndarray) -> str:
    return " ".join(f"{x:g}" for x in np.ravel(value))
