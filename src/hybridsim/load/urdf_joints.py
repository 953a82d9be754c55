"""Joints of a URDF."""

import math
import warnings
from dataclasses import replace
from pathlib import Path

import yourdfpy

from ..model import Joint, Mimic, ModelError, ModelWarning
from .poses import position_and_quaternion

_KINDS = {"floating": "free"}
_WITH_AXIS = ("revolute", "continuous", "prismatic", "planar")
_WITH_LIMITS = ("revolute", "prismatic")


def read_joint(joint: yourdfpy.Joint, mimic: bool) -> Joint:
    """One joint; with mimic=False a joint that copies another moves by itself."""
    position, quaternion = position_and_quaternion(joint.origin)
    options = {}
    if joint.type in _WITH_AXIS:
        options["axis"] = joint.axis
    if joint.type in _WITH_LIMITS and not _limits_missing(joint):
        options["lower"], options["upper"] = joint.limit.lower or 0.0, joint.limit.upper or 0.0
    if joint.type != "fixed":
        options["effort"] = math.inf if _effort_missing(joint) else joint.limit.effort
        if joint.dynamics is not None:
            options["damping"] = float(joint.dynamics.damping or 0.0)
            options["friction"] = float(joint.dynamics.friction or 0.0)
        if mimic and joint.mimic is not None:
            options["mimic"] = Mimic(joint.mimic.joint, joint.mimic.multiplier, joint.mimic.offset)
    kind = _KINDS.get(joint.type, joint.type)
    return Joint(joint.name, kind, joint.parent, joint.child, position, quaternion, **options)


def lead_directly(source: Path, joints: list[Joint]) -> list[Joint]:
    """A joint that copies one that copies another copies the latter: ratios multiply."""
    by_name = {joint.name: joint for joint in joints}

    def leader(mimic: Mimic, seen: tuple[str, ...]) -> Mimic:
        copied = by_name.get(mimic.joint)
        if copied is None or copied.mimic is None:
            return mimic
        if mimic.joint in seen:
            raise ModelError(
                f"{source}: joints mimic each other in a circle: {', '.join(seen)}; let one move by itself"
            )
        first = leader(copied.mimic, (*seen, mimic.joint))
        return Mimic(first.joint, mimic.ratio * first.ratio, mimic.ratio * first.offset + mimic.offset)

    return [replace(j, mimic=leader(j.mimic, (j.name,))) if j.mimic else j for j in joints]


def warn_of_placeholders(source: Path, joints: list[yourdfpy.Joint]) -> None:
    """Exporters write 0 where they know no limit. A joint that may not move or push would be a fixed one."""
    locked = [j.name for j in joints if j.type in _WITH_LIMITS and _limits_missing(j)]
    if locked:
        warnings.warn(
            f"{source}: joints without limits (lower and upper are 0 or missing) move freely: {', '.join(locked)}; "
            "give both limits, or use the type continuous or fixed",
            ModelWarning,
            stacklevel=2,
        )
    weak = [j.name for j in joints if j.type != "fixed" and j.limit is not None and j.limit.effort == 0]
    if weak:
        warnings.warn(
            f"{source}: joints with effort limit 0 have none: {', '.join(weak)}; give the largest force or torque",
            ModelWarning,
            stacklevel=2,
        )


def _limits_missing(joint: yourdfpy.Joint) -> bool:
    return joint.limit is None or not (joint.limit.lower or joint.limit.upper)


def _effort_missing(joint: yourdfpy.Joint) -> bool:
    return joint.limit is None or not joint.limit.effort
