"""Rotations that a log gives as roll, pitch and yaw become columns of a quaternion."""

import numpy as np
from scipy.spatial.transform import Rotation

from ..folder import DataError
from .rotations import continuous
from .table import Table
from .units import split_unit, unit
from .words import tokens

ANGLES = ("roll", "pitch", "yaw")
_LARGEST = 2 * np.pi + 0.1
"""Beyond it an angle without a unit is one in degrees [rad]."""
_OTHER_WORDS = "rate rates vel velocity dot ref reference des desired target cmd command err error acc w"
_NO_ANGLE = frozenset(_OTHER_WORDS.split())


def with_quaternions(table: Table, names: list[str], given: str | None) -> list[str]:
    """Adds columns qw, qx, qy, qz for every roll, pitch and yaw to the table; the names of its columns with them.

    Roll, pitch and yaw turn about the fixed axes x, y and z, one after the other, as in URDF and ROS. `given`: their unit as
    the user says it.
    """
    groups: dict[tuple[str, ...], dict[str, int]] = {}
    for k, name in enumerate(names):
        words = tokens(split_unit(name)[0])
        said = [word for word in words if word in ANGLES]
        if len(said) == 1 and not any(word in _NO_ANGLE for word in words):
            groups.setdefault(tuple(word for word in words if word not in ANGLES), {})[said[0]] = k
    for rest, places in groups.items():
        if len(places) < 3:
            continue
        k = [places[angle] for angle in ANGLES]
        factor = _factor(table, names, k, given)
        rows = np.isfinite(table.data[:, k]).all(axis=1)
        found = np.full((len(table.data), 4), np.nan)
        if rows.any():
            turned = Rotation.from_euler("xyz", factor * table.data[rows][:, k])
            found[rows] = continuous(turned.as_quat(scalar_first=True))
        table.data = np.concatenate([table.data, found], axis=1)
        prefix = "".join(f"{word}_" for word in rest)
        new = [f"{prefix}rpy_{part}" for part in ("qw", "qx", "qy", "qz")]
        names = [*names, *new]
        table.names = [*table.names, *new]
        kind = "rad" if factor == 1.0 else "deg"
        table.notes.say(
            f"columns {', '.join(repr(names[i]) for i in k)} are taken as rotations about the fixed axes x, y, z, one after "
            f"the other, in {kind}"
        )
    return names


def _factor(table: Table, names: list[str], k: list[int], given: str | None) -> float:
    text = given or table.units.get(k[0]) or split_unit(names[k[0]])[1]
    if text:
        found = unit(text, f"{table.path}, column {names[k[0]]!r}")
        if found.dimension == "angle":
            return found.factor
        if not given:
            raise DataError(
                f"{table.path}, column {names[k[0]]!r}: an angle cannot be in {found.name}; rename the column"
            )
    values = np.abs(table.data[:, k])
    large = np.nanmax(values, initial=0.0) > _LARGEST
    return np.pi / 180 if large else 1.0
