"""Candidates among the columns of a log for the channels of free joints: whole poses."""

from collections.abc import Mapping

from ...model import Model
from ..folder import DataError
from .notes import listed
from .pose_names import ANGULAR, LINEAR, PLACE, TURN, PoseColumns, pose_columns

_QUANTITY = dict.fromkeys((*PLACE, *TURN), "position") | dict.fromkeys((*LINEAR, *ANGULAR), "velocity")


def pose_choices(model: Model, names: list[str], given: Mapping[str, object], path: str) -> dict[str, list[str]]:
    """Of channels of free joints the columns that their names allow. Rotations of unknown order are taken as w, x, y, z.

    A rotation of which some numbers are missing is an error, unless they are `given`.
    """
    found: dict[str, list[str]] = {}
    for joint, pose in pose_columns(model, names, list(given)).items():
        parts = dict(pose.columns)
        if pose.unordered:
            parts |= {part: [name] for part, name in zip(TURN, pose.unordered, strict=True)}
        own = {f"{joint}.{_QUANTITY[part]}.{part}": columns for part, columns in parts.items() if part in _QUANTITY}
        own = {key: columns for key, columns in own.items() if key not in given}
        missing = [key for key in rotation_keys(joint) if key not in own and key not in given]
        if missing and len(missing) < 4:
            there = [name for part in TURN for name in pose.columns.get(part, [])]
            raise DataError(
                f"{path}: a rotation needs four numbers, but beside the columns {', '.join(map(repr, there))} there is none "
                f"for {listed(missing)}; add it to the log, say which it is: columns={{{missing[0]!r}: ...}}, or give roll, "
                "pitch and yaw"
            )
        found |= own
    return found


def unordered(model: Model, names: list[str], given: Mapping[str, object]) -> dict[str, tuple[str, ...]]:
    """Of free joints the four columns of a rotation whose names do not tell their order, and that is not `given`."""
    found = pose_columns(model, names, list(given))
    return {
        joint: pose.unordered
        for joint, pose in found.items()
        if pose.unordered and not any(key in given for key in rotation_keys(joint))
    }


def holds_poses(model: Model, names: list[str]) -> dict[str, PoseColumns]:
    """Of free joints what columns hold of their poses, damaged ones included."""
    return pose_columns(model, names)


def rotation_keys(joint: str) -> list[str]:
    """The channels of a free joint's quaternion."""
    return [f"{joint}.position.{part}" for part in TURN]
