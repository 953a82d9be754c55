"""Is this model physically possible? Asked once, of concrete numbers, before they become arrays."""

import warnings

import numpy as np

from .errors import ModelError, ModelWarning
from .inertial import LinkNumbers
from .joints import JointKind
from .topology import Topology

# Moments of inertia in files are rounded to a few digits; a thin rod has a = b + 0 within that rounding.
ROUNDING = 1e-3


def finite(where: str, what: str, value: np.ndarray) -> None:
    """Every number is finite."""
    if not np.all(np.isfinite(value)):
        raise ModelError(f"{where}: {what} is {_show(value)}, which is not finite; give real numbers")


def link(where: str, numbers: LinkNumbers, strict: bool) -> None:
    """Mass, centre of mass and inertia of one link are those of a body that could exist."""
    finite(where, "mass", numbers.mass)
    finite(where, "centre of mass", numbers.com)
    finite(where, "inertia", numbers.tensor)
    if numbers.mass < 0:
        raise ModelError(f"{where}: mass is {numbers.mass:g} kg; a mass cannot be negative")
    moments = np.linalg.eigvalsh(numbers.tensor)
    size = max(abs(moments[0]), moments[2])
    problem = None
    if moments[0] < -ROUNDING * size:
        problem = f"the smallest principal moment of inertia is {moments[0]:g} kg m^2; it cannot be negative"
    elif moments[0] + moments[1] < moments[2] * (1 - ROUNDING):
        problem = (
            f"the principal moments of inertia are {_show(moments)} kg m^2; no body has them, because the "
            "largest must be at most the sum of the other two (triangle inequality)"
        )
    if problem is None:
        return
    fix = "check units, signs of the off-diagonals, and whether it is taken about the centre of mass"
    if strict:
        raise ModelError(f"{where}: {problem}; {fix}")
    warnings.warn(f"{where}: {problem}; it is used as it is. To mend it, {fix}.", ModelWarning, stacklevel=2)


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
    rotations = {"spherical": slice(0, 3), "free": slice(0, 3)}.get(kind.name)
    if rotations and np.ptp(values["stiffness"][rotations]) > 0:
        raise ModelError(
            f"{where}: stiffness is {_show(values['stiffness'])}; a {kind.name} joint's three rotations need one stiffness"
        )


def movable(topology: Topology, masses: np.ndarray, second_moments: np.ndarray, armature: np.ndarray, where) -> None:
    """Every freedom moves some inertia, or its acceleration would be infinite."""
    moving = [kind.nv > 0 for kind in topology.kinds]
    carried = np.zeros(len(moving))
    turning = np.zeros(len(moving))
    for i, j in enumerate(topology.link_joints):
        carried[j] += masses[i]
        turning[j] += second_moments[i]
    for j in reversed(range(len(moving))):
        if moving[j] and carried[j] <= 0 and turning[j] <= 0 and not np.all(armature[topology.v_slices[j]] > 0):
            name = topology.joint_names[j]
            raise ModelError(
                f"{where(f'joint {name}')}: joint {name!r} moves links whose total mass is 0 kg, so its acceleration "
                'would be infinite; give them a mass (is the unit kg?), give the joint an armature, or fix the joint '
                '(hs.load(..., massless="fix") does that for all such joints)'
            )
        if (parent := topology.parents[j]) >= 0:
            carried[parent] += carried[j]
            turning[parent] += turning[j]


def _show(value: np.ndarray) -> str:
    return " ".join(f"{x:g}" for x in np.ravel(value))
