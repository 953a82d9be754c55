"""The order of rotations whose columns do not tell it: from the data, or from the user."""

from collections.abc import Callable, Mapping

from ...model import Model
from ..folder import DataError
from .channels import channels
from .notes import Notes
from .pose_choices import rotation_keys, unordered
from .quaternion_order import ORDERS, Order, Told, quaternion_order
from .trajectory import Trajectory


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
    for joint, four in unordered(model, names, given).items():
        start = next(c.index for c in channels(model) if c.owner == joint and c.part == "qw")
        place = model.v_of(joint).start
        angular = [
            log.qd[:, place : place + 3] if log.qd is not None and log.qd_mask[:, place : place + 3].any() else None
            for log in logs
        ]
        found = Told(asked, "as asked for") if asked else quaternion_order(model, logs, start, angular)
        if found is None:
            said = {
                order: {key: four[i] for key, i in zip(rotation_keys(joint), ORDERS[order], strict=True)}
                for order in ORDERS
            }
            raise DataError(
                f"{logs[0].source}: the columns {', '.join(map(repr, four))} are a rotation, but neither their names nor the "
                f"motion tell whether they are w, x, y, z or x, y, z, w; say it: --quaternion wxyz (or xyzw) of `hybridsim "
                f"init`, columns={said['wxyz']}, or columns={said['xyzw']}"
            )
        told[joint] = found
        columns |= {key: four[i] for key, i in zip(rotation_keys(joint), ORDERS[found.order], strict=True)}
    return columns, told


def with_order(
    model: Model, names: list[str], given: Mapping[str, object], read: Callable[[dict, Notes], Trajectory], notes: Notes
) -> dict[str, str]:
    """As `ordered`, of one log, which is read by `read(columns, notes)`; says what was found."""
    if not unordered(model, names, given):
        return {}
    columns, told = ordered(model, names, given, [read({}, Notes())])
    for joint, found in told.items():
        notes.say(f"the rotation of {joint} is taken as {', '.join(found.order)}, {found.why}")
    return columns
