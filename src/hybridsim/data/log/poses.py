"""The columns of free joints: whole poses, in an order that the names or the data tell."""

from collections.abc import Callable, Mapping

from ...model import Model
from ..folder import DataError
from .channels import channels
from .notes import Notes, listed
from .pose_names import ANGULAR, LINEAR, PLACE, TURN, PoseColumns, pose_columns
from .quaternion_order import ORDERS, Order, Told, quaternion_order
from .trajectory import Trajectory

_QUANTITY = dict.fromkeys((*PLACE, *TURN), "position") | dict.fromkeys((*LINEAR, *ANGULAR), "velocity")


def pose_choices(model: Model, names: list[str], given: Mapping[str, object], path: str) -> dict[str, list[str]]:
    """Of channels of free joints the columns that their names allow. Rotations of unknown order are taken as w, x, y, z.

    A rotation of which some numbers are missing is an error, unless they are `given`.
    """
    found: dict[str, list[str]] = {}
    for joint, pose in pose_columns(model, names).items():
        parts = dict(pose.columns)
        if pose.unordered:
            parts |= {part: [name] for part, name in zip(TURN, pose.unordered, strict=True)}
        own = {f"{joint}.{_QUANTITY[part]}.{part}": columns for part, columns in parts.items() if part in _QUANTITY}
        missing = [key for key in _rotation(joint) if key not in own and key not in given]
        if missing and len(missing) < 4:
            there = [name for part in TURN for name in pose.columns.get(part, [])]
            raise DataError(
                f"{path}: a rotation needs four numbers, but beside the columns {', '.join(map(repr, there))} there is none "
                f"for {listed(missing)}; add it to the log, say which it is: columns={{{missing[0]!r}: ...}}, or give roll, "
                "pitch and yaw"
            )
        found |= own
    return found


def unordered(model: Model, names: list[str]) -> dict[str, tuple[str, ...]]:
    """Of free joints the four columns of a rotation whose names do not tell their order."""
    return {joint: pose.unordered for joint, pose in pose_columns(model, names).items() if pose.unordered}


def holds_poses(model: Model, names: list[str]) -> dict[str, PoseColumns]:
    """Of free joints what columns hold of their poses, damaged ones included."""
    return pose_columns(model, names)


def ordered(
    model: Model,
    names: list[str],
    given: Mapping[str, object],
    logs: list[Trajectory],
    asked: Order | None = None,
) -> tuple[dict[str, str], dict[str, Told]]:
    """The columns of rotations whose names do not tell their order, and how it was told, from logs in which they were read as
    w, x, y, z; `asked` is what the user says. Where nothing tells it: an error that asks."""
    columns: dict[str, str] = {}
    told: dict[str, Told] = {}
    for joint, four in unordered(model, names).items():
        if any(key in given for key in _rotation(joint)):
            continue
        start = next(c.index for c in channels(model) if c.owner == joint and c.part == "qw")
        place = model.v_of(joint).start
        angular = [
            log.qd[:, place : place + 3] if log.qd is not None and log.qd_mask[:, place : place + 3].any() else None
            for log in logs
        ]
        found = Told(asked, "as asked for") if asked else quaternion_order(model, logs, start, angular)
        if found is None:
            said = {
                order: {key: four[i] for key, i in zip(_rotation(joint), ORDERS[order], strict=True)}
                for order in ORDERS
            }
            raise DataError(
                f"{logs[0].source}: the columns {', '.join(map(repr, four))} are a rotation, but neither their names nor the "
                f"motion tell whether they are w, x, y, z or x, y, z, w; say it: --quaternion wxyz (or xyzw) of `hybridsim "
                f"init`, columns={said['wxyz']}, or columns={said['xyzw']}"
            )
        told[joint] = found
        columns |= {key: four[i] for key, i in zip(_rotation(joint), ORDERS[found.order], strict=True)}
    return columns, told


def with_order(
    model: Model, names: list[str], given: Mapping[str, object], read: Callable[[dict, Notes], Trajectory], notes: Notes
) -> dict[str, str]:
    """As `ordered`, of one log, which is read by `read(columns, notes)`; says what was found."""
    if not unordered(model, names):
        return {}
    columns, told = ordered(model, names, given, [read({}, Notes())])
    for joint, found in told.items():
        notes.say(f"the rotation of {joint} is taken as {', '.join(found.order)}, {found.why}")
    return columns


def _rotation(joint: str) -> list[str]:
    return [f"{joint}.position.{part}" for part in TURN]
