"""Numbers that are possible but hardly so: constant, out of the joint's range, or of the size of degrees or millimetres."""

import numpy as np

from ...model import Model
from .channels import Channel
from .notes import Notes
from .table import Table
from .units import Unit

_FAST = 30.0
"""Bodies whose logs are read are slower; in mm they would be faster [m/s]."""


def suspicious(
    table: Table,
    channel: Channel,
    model: Model,
    t: np.ndarray,
    x: np.ndarray,
    good: np.ndarray,
    unit: Unit | None,
    notes: Notes,
) -> None:
    """Warn; nothing is changed, since the numbers may be right."""
    values = x[good]
    # A body may well slide along one line or turn about one axis.
    if len(values) > 2 and channel.motion != "other" and channel.joint != "free" and np.ptp(values) == 0:
        (notes.say if channel.quantity == "force" else notes.warn)(
            f"{channel.key} is always {values[0]:g}: a dead channel?"
        )
    if channel.joint == "free" and channel.quantity == "position" and channel.motion == "length" and unit is None:
        speed = _usual_speed(t[good], values)
        if speed > _FAST:
            notes.warn(
                f"{channel.key} moves at {speed:.3g} m/s: the column does not say its unit and was taken as m; if it is in "
                f"mm, units={{{channel.key!r}: 'mm'}}"
            )
    if channel.motion != "angle" or unit is not None:
        return
    size, said = float(np.abs(values).max()), "the column does not say its unit and was taken as"
    fix = f"units={{{channel.quantity!r}: 'deg{'/s' if channel.quantity == 'velocity' else ''}'}}"
    if channel.quantity == "position":
        lower, upper = limits(model, channel)
        wide = max(abs(lower), abs(upper)) if np.isfinite([lower, upper]).all() else np.inf
        if size > min(3 * wide, 40.0):
            notes.warn(f"{channel.key} reaches {size:.4g}: {said} rad; if it is in degrees, {fix}")
    elif channel.quantity == "velocity" and size > 100:
        notes.warn(f"{channel.key} reaches {size:.4g}: {said} rad/s; if it is in deg/s or rpm, {fix}")


def _usual_speed(t: np.ndarray, x: np.ndarray) -> float:
    """That is exceeded in a tenth of the time, over several samples, so that noise is no motion."""
    apart = max(1, min(8, len(x) // 4))
    if len(x) <= apart:
        return 0.0
    return float(np.quantile(np.abs(x[apart:] - x[:-apart]) / (t[apart:] - t[:-apart]), 0.9))


def limits(model: Model, channel: Channel) -> tuple[float, float]:
    """Of the joint of a position with one freedom [rad or m]; infinite where there are none."""
    if channel.part or channel.quantity != "position":
        return -np.inf, np.inf
    place = model.topology.v_slices[model.topology.joint(channel.owner)].start
    return float(np.asarray(model.joints.lower)[place]), float(np.asarray(model.joints.upper)[place])
