"""From a table whose columns are known to arrays in SI units with masks."""

from dataclasses import replace
from typing import Literal

import numpy as np

from ...model import Model
from ..folder import DataError
from .angles import unwrapped
from .channels import QUANTITIES, Channel, channels, poses, quaternions
from .columns import ColumnMap
from .convert import converted, unit_of
from .interpolate import filled
from .repair import present, spikes
from .rotations import between
from .suspicion import suspicious
from .table import Table
from .trajectory import Trajectory
from .velocity_frames import in_the_body

Kind = Literal["command", "force"]
_OFF = 0.05
"""How far from 1 the length of a quaternion may be; it is brought to 1."""
_MOST_BAD = 0.2
"""Part of the rows with a quaternion of another length beyond which the columns are no quaternion."""


def assemble(
    table: Table,
    names: list[str],
    model: Model,
    chosen: dict[Channel, str | float | None],
    units: dict[str, str],
    given: dict,
    kept: dict[str, tuple[str, ...]],
    time: np.ndarray,
    rows: np.ndarray,
    time_columns: tuple[str, ...],
    controls: Kind | None,
    unwrap: bool | float,
    mask_spikes: bool,
    max_gap: float | None,
) -> Trajectory:
    notes, t = table.notes, time[rows]
    limit = 5 * float(np.median(np.diff(t))) if max_gap is None else max_gap
    _check_units(table, model, units)
    arrays: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    used: dict[str, str] = {}
    for quantity in QUANTITIES:
        group = [c for c in channels(model) if c.quantity == quantity]
        if not any(isinstance(chosen.get(c), str | float | int) for c in group):
            continue
        x, good = np.zeros((len(t), len(group))), np.zeros((len(t), len(group)), bool)
        for channel in group:
            i, column = channel.index, chosen.get(channel)
            if isinstance(column, str):
                k = names.index(column)
                found = unit_of(table, k, channel, units)
                used[channel.key] = found.name if found else "SI (not said)"
                good[:, i] = present(table, rows, k, channel.key, notes)
                _check_numbers(table, k, channel, good[:, i])
                x[:, i] = converted(table.data[rows, k], good[:, i], found)
                if mask_spikes:
                    _mask_spikes(table, rows, k, channel, x[:, i], good[:, i])
                suspicious(table, channel, model, t, x[:, i], good[:, i], found, notes)
                if channel.winds and unwrap is not False:
                    x[:, i] = _unwind(table, channel, t, x[:, i], good[:, i], unwrap, limit)
            elif column is not None:
                x[:, i], good[:, i] = float(column), True
        arrays[quantity] = (filled(t, x, good), good)
    none = np.zeros((len(t), model.nq))
    q, q_mask = _rotations(table, model, chosen, rows, t, *arrays.get("position", (none, none.astype(bool))))
    kind = _control_kind(table, arrays, controls)
    extra, extra_masks = _values(table, names, kept, rows, t)
    other = "force" if kind == "command" else "command"
    if other in arrays and kind in arrays:
        name = "joint.actuation" if other == "force" else "actuator.command"
        extra[name], extra_masks[name] = arrays[other]
    taken = (
        {c for c in chosen.values() if isinstance(c, str)} | set(time_columns) | {c for cs in kept.values() for c in cs}
    )
    shown: dict[str, str | float | None] = {"time": ", ".join(time_columns)} if time_columns else {}
    shown |= {c.key: column for c, column in chosen.items()}
    guessed = frozenset(key for key in shown if key not in given)
    columns = ColumnMap(shown, guessed, used, tuple(n for n in names if n and n not in taken), kept)
    none = (None, None)
    qd, qd_mask = arrays.get("velocity", none)
    forces, forces_mask = arrays.get(kind, none)
    found = Trajectory(
        t, q, qd, forces, kind, extra, q_mask, qd_mask, forces_mask, extra_masks, model.joint_names, columns,
        table.path, table.row[rows], tuple(notes.all), table.path, limit, quaternions(model), poses(model),
    )  # fmt: skip
    found = in_the_body(found, model, notes)
    return replace(found, notes=tuple(notes.all))


def _check_units(table: Table, model: Model, units: dict[str, str]) -> None:
    known = ["time", *QUANTITIES, *(c.key for c in channels(model))]
    if wrong := [key for key in units if key not in known]:
        raise DataError(f"{table.path}: units= names {wrong[0]!r}, which is not one of: {', '.join(known)}")


def _check_numbers(table: Table, k: int, channel: Channel, good: np.ndarray) -> None:
    name, text = table.names[k], table.text.get(k)
    if k in table.dates:
        raise DataError(f"{table.path}: column {name!r} ({channel.key}) holds dates; give another column")
    if text and text[0] > max(3, 0.1 * len(good)):
        raise DataError(
            f"{table.path}, {table.what} {text[1]}, column {name!r} ({channel.key}): {text[2]!r} is no number, nor are "
            f"{text[0]} cells of {len(good)}; give another column, or repair the file"
        )
    if not good.any():
        raise DataError(
            f"{table.path}: column {name!r} ({channel.key}) has no usable number; "
            f"give another column, or columns={{{channel.key!r}: None}} if it was not measured"
        )
    if good.mean() < 0.5:
        table.notes.warn(f"{channel.key} (column {name!r}) has numbers in {100 * good.mean():.3g} % of its rows only")


def _mask_spikes(table: Table, rows, k, channel: Channel, x, good) -> None:
    hits = spikes(x, good, channel.quantity, 2 * np.pi if channel.winds else None)
    if channel.motion != "other" and hits.any():
        i = np.flatnonzero(hits)[0]
        table.notes.warn(
            f"{channel.key} (column {table.names[k]!r}): {hits.sum()} single wild samples, such as "
            f"{table.data[rows[i], k]:g} at {table.what} {table.row[rows[i]]}: masked (spikes='keep' keeps them)"
        )
        good &= ~hits


def _unwind(table: Table, channel: Channel, t, x, good, unwrap: bool | float, limit: float) -> np.ndarray:
    period = None if isinstance(unwrap, bool) else float(unwrap)
    result, period, jumps, doubtful = unwrapped(t, x, good, period, limit)
    if jumps:
        table.notes.say(f"{channel.key} was wrapped into {period:.4g} rad: {jumps} jumps removed")
        if doubtful is not None:
            table.notes.warn(
                f"{channel.key}: after the hole at {doubtful:.4g} s the number of turns is a guess; cut the log there"
            )
    return result


def _rotations(
    table: Table,
    model: Model,
    chosen: dict[Channel, str | float | None],
    rows: np.ndarray,
    t: np.ndarray,
    q: np.ndarray,
    mask: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Quaternions of unit length whose sign does not flip; a row without all four numbers is masked."""
    for start in quaternions(model):
        own = slice(start, start + 4)
        whole = mask[:, own].all(axis=1)
        length = np.linalg.norm(q[:, own], axis=1)
        bad = whole & (np.abs(length - 1) > _OFF)
        if bad.any():
            i = int(np.flatnonzero(bad)[0])
            columns = [
                chosen.get(c) for c in channels(model) if c.quantity == "position" and start <= c.index < start + 4
            ]
            where = f"the quaternion in columns {', '.join(map(repr, columns))}"
            numbers = f"({', '.join(f'{x + 0.0:.4g}' for x in q[i, own])}), of length {length[i]:.4g}"
            at = f"{table.what} {table.row[rows[i]]}"
            if np.count_nonzero(bad) > _MOST_BAD * np.count_nonzero(whole):
                raise DataError(
                    f"{table.path}, {at}: {where} is {numbers}, but a rotation has length 1, and so it is in "
                    f"{np.count_nonzero(bad)} of {len(bad)} rows; give the columns of w, x, y and z, or mend the log"
                )
            table.notes.warn(f"{where} has not length 1 in {bad.sum()} rows, such as {numbers} at {at}: masked")
        good = whole & ~bad
        q[:, own] = between(t, q[:, own], good)
        mask[:, own] = good[:, None]
    return q, mask


def _control_kind(table: Table, arrays: dict, asked: Kind | None) -> Kind:
    if asked is not None and asked not in arrays:
        raise DataError(
            f"{table.path}: controls={asked!r}, but no column is a {asked}; say which: columns={{'...{'.' + asked}': ...}}"
        )
    return asked or ("command" if "command" in arrays else "force")


def _values(table, names, kept, rows, t) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    extra, masks = {}, {}
    for key, columns in kept.items():
        if absent := [c for c in columns if c not in names]:
            raise DataError(
                f"{table.path} has no column {absent[0]!r} (for {key}); its columns are: {', '.join(map(repr, names))}"
            )
        where = [names.index(c) for c in columns]
        masks[key] = np.stack([present(table, rows, k, key, table.notes) for k in where], 1)
        extra[key] = filled(t, np.where(masks[key], table.data[np.ix_(rows, where)], 0.0), masks[key])
    return extra, masks
