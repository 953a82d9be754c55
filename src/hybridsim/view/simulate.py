"""A model's motion from rest or along a log: simulated, written as a table of numbers, and told in short."""

import csv
import warnings
from dataclasses import dataclass
from io import StringIO
from typing import Any, Literal

import numpy as np
from jaxtyping import Bool, Float
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from .. import native
from ..contact import Contact, Impulses
from ..data import DataError
from ..data.log import DataWarning, Trajectory
from ..data.log.channels import channels
from ..identify.parts import part_differences, parts_of
from ..identify.prescribed import given_motion, with_all_velocities
from ..identify.setting import contact_of
from ..model import Model, ModelError, PrescribedMotion
from ..simulate import (
    Control,
    RungeKutta4,
    SemiImplicitEuler,
    check_overlaps,
    check_quaternions,
    check_rollout,
    needed_to_check,
    rollout,
)
from .summary_errors import shown_unit
from .tables import terminal

MOST_STEPS = 10_000_000


@dataclass(frozen=True, eq=False)
class Motion:
    """What was simulated, beside what was measured if there was a log."""

    model: Model
    time: Float[np.ndarray, " n"]
    """[s]"""
    q: Float[np.ndarray, "n nq"]
    qd: Float[np.ndarray, "n nv"]
    dt: float
    log: Trajectory | None = None
    """At the same times."""

    @property
    def measured(self) -> Bool[np.ndarray, "n nq"]:
        """What was measured and is a prediction: not what the log itself drives."""
        known = np.zeros(self.q.shape, bool) if self.log is None else np.array(self.log.q_mask)
        known[:, self.model.topology.prescribed_q] = False
        return known

    def errors(self) -> dict[str, tuple[str, float, float]]:
        """Of each part that was measured its unit, and root of the mean square and largest error [rad or m]."""
        if self.log is None:
            return {}
        parts, found = parts_of(self.model), {}
        apart = part_differences(parts, self.q, self.log.q, self.measured)
        for part, own in zip(parts, apart.T, strict=True):
            own = own[~np.isnan(own)]
            if len(own):
                found[part.name] = part.unit, float(np.sqrt(np.mean(own**2))), float(np.abs(own).max())
        return found


def from_rest(
    model: Model,
    q: tuple[float, ...],
    seconds: float,
    dt: float,
    limits: bool = False,
    contact: Contact | Literal["auto"] | None = "auto",
) -> Motion:
    """Let go at q (the model's own rest where q is empty) without velocity; nothing drives it. Prescribed joints stay."""
    rest, zero = model.rest()
    if q and len(q) != model.nq:
        raise ModelError(f"--q has {len(q)} numbers, but the model has {model.nq}: {', '.join(_keys(model))}")
    if not np.isfinite(q).all():
        raise ModelError(f"--q is {' '.join(map(str, q))}; its numbers must be finite")
    steps = _steps(seconds, dt)
    start = np.array(q) if q else rest
    still = None
    if model.topology.prescribed:
        rows = np.tile(start, (steps, 1)), np.tile(zero, (steps, 1))
        still = Control(prescribed=PrescribedMotion.of(model, *rows))
    found, rates = _run(model, start, zero, still, dt, steps, _contact(model, limits, contact))
    return Motion(model, dt * np.arange(steps + 1), found, rates, dt)


def along_log(
    model: Model,
    log: Trajectory,
    seconds: float | None = None,
    dt: float | None = None,
    limits: bool = False,
    contact: Contact | Literal["auto"] | None = "auto",
) -> Motion:
    """Start at the log's first whole sample and follow its controls, to its end or for so many seconds."""
    measured = log.qd is not None
    log = with_all_velocities(model, log)
    whole = np.all([mask.all(1) for mask in (log.q_mask, log.qd_mask, log.controls_mask) if mask is not None], axis=0)
    if not whole.any():
        raise DataError(f"{log.source}: no sample has all that was measured of every joint: there is nowhere to start")
    dt = log.dt if dt is None else dt
    _steps(log.duration if seconds is None else seconds, dt)
    log = log[int(np.argmax(whole)) :]
    log = (log if seconds is None else log.window(log.time[0], log.time[0] + seconds + 1e-9)).resampled(dt)
    if len(log) < 2:
        raise DataError(
            f"{log.source}: it has less than one step of {dt:g} s to simulate; give a smaller --dt or more --seconds"
        )
    if log.controls is not None and not np.asarray(log.controls_mask).all():
        warnings.warn(
            f"{log.source}: controls were not measured all the time; they are guessed between",
            DataWarning,
            stacklevel=2,
        )
    assert log.qd is not None
    driven = _drive(model, log, measured)
    q, qd = _run(model, log.q[0], log.qd[0], driven, dt, len(log) - 1, _contact(model, limits, contact))
    return Motion(model, log.time, q, qd, dt, log)


def _drive(model: Model, log: Trajectory, measured: bool) -> Control | None:
    motion = None
    if model.topology.prescribed:
        rows = given_motion(model, log, 1, measured)[1:]
        size = len(model.topology.prescribed_q)
        motion = PrescribedMotion(rows[:, :size], rows[:, size:])
    if log.controls is None:
        return None if motion is None else Control(prescribed=motion)
    rows = log.controls[:-1]
    kind = "command" if log.control_kind == "command" else "force"
    return Control(**{kind: rows}, prescribed=motion)


def _contact(model: Model, limits: bool, contact: Contact | Literal["auto"] | None) -> Contact | None:
    """As in a fit unless limits are to act where nothing else does."""
    found = contact_of(model, contact)
    return Impulses() if limits and found is None else found


def _steps(seconds: float, dt: float) -> int:
    if not (0 < dt < np.inf and 0 < seconds < np.inf):
        raise ModelError(f"--seconds is {seconds:g} and --dt {dt:g}; both must be positive times in seconds")
    if not 1 <= (steps := round(seconds / dt)) <= MOST_STEPS:
        raise ModelError(f"{seconds:g} s in steps of {dt:g} s are {steps} steps; they must be 1 to {MOST_STEPS:,}")
    return steps


def _run(
    model: Model,
    q: Float[np.ndarray, " nq"],
    qd: Float[np.ndarray, " nv"],
    controls: Control | None,
    dt: float,
    steps: int,
    contact: Contact | None,
) -> tuple[Float[np.ndarray, "n nq"], Float[np.ndarray, "n nv"]]:
    """Positions and velocities over time. Without impulses a step of higher order costs little and errs less."""
    integrator = RungeKutta4() if contact is None else SemiImplicitEuler()
    check_quaternions(model, q)
    check_overlaps(model, q, contact)
    found = _motion(model, (q, qd), controls, dt, steps, integrator, contact)
    check_rollout(model, found, dt)
    return found.q, found.qd


def _rollout(model, state, controls, dt, steps, integrator, contact):
    needed = needed_to_check(model, contact)
    return rollout(model, state, controls, dt, steps, integrator, contact, record=needed)


_motion = native.jit(_rollout, fallback="xla")


def _keys(model: Model, quantity: str = "position") -> list[str]:
    return [channel.key for channel in channels(model) if channel.quantity == quantity]


def motion_csv(motion: Motion) -> str:
    """A table with names in its first line, as `read_log` reads it; with what drove the model, if anything did."""
    names, columns = ["time", *_keys(motion.model), *_keys(motion.model, "velocity")], [motion.q, motion.qd]
    if motion.log is not None and motion.log.controls is not None:
        names += _keys(motion.model, motion.log.control_kind)
        columns.append(motion.log.controls)
    if broken := [name for name in names if name.splitlines() != [name]]:
        raise ModelError(
            f"the motion cannot be a CSV file: the name {broken[0]!r} has a line break in it; rename the joint"
        )
    text = StringIO()
    csv.writer(text, lineterminator="\n").writerow(names)
    np.savetxt(text, np.column_stack([motion.time, *columns]), "%.12g", ",")
    return text.getvalue()


def motion_record(motion: Motion) -> dict[str, Any]:
    """In short, for programs."""
    positions, errors = [], motion.errors()
    for channel in channels(motion.model):
        if channel.quantity == "position":
            values, error = motion.q[:, channel.index], errors.get(channel.owner) if not channel.part else None
            positions.append(
                {"name": channel.key, "start": float(values[0]), "end": float(values[-1])}
                | {"lowest": float(values.min()), "highest": float(values.max())}
                | ({} if error is None else {"error_rms": error[1], "error_largest": error[2]})
            )
    several = {c.owner for c in channels(motion.model) if c.part}
    # A place and a rotation have several numbers, but one error each.
    of_parts = [
        {"name": name, "unit": unit, "error_rms": rms, "error_largest": largest}
        for name, (unit, rms, largest) in errors.items()
        if name.removesuffix(".position").removesuffix(".rotation") in several
    ]
    times = {"seconds": float(motion.time[-1] - motion.time[0]), "dt": motion.dt, "steps": len(motion.time) - 1}
    return times | {"positions": positions} | ({"errors": of_parts} if of_parts else {})


def show_motion(motion: Motion, title: str, written: str | None, console: Console | None = None) -> None:
    """Print one row a coordinate: where it went, and how far it was from the log."""
    console, record = console or terminal(), motion_record(motion)
    console.print(
        f"{title}: {record['seconds']:g} s in {record['steps']} steps of {record['dt']:g} s",
        markup=False,
        highlight=False,
        soft_wrap=True,
    )
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("rad or m")
    shown = ["start", "end", "lowest", "highest"]
    if any("error_rms" in row for row in record["positions"]):
        shown += ["error_rms", "error_largest"]
    for column in shown:
        table.add_column({"error_rms": "error, rms", "error_largest": "largest"}.get(column, column), justify="right")
    for row in record["positions"]:
        table.add_row(escape(row["name"]), *(f"{row[column]:.4g}" if column in row else "" for column in shown))
    console.print(table)
    for row in record.get("errors", []):
        factor, unit = shown_unit(row["unit"])
        rms, largest = (f"{factor * row[key]:.3g} {unit}" for key in ("error_rms", "error_largest"))
        words = f"error of {row['name']}: {rms} (root of the mean square), at most {largest}"
        console.print(words, markup=False, highlight=False, soft_wrap=True)
    if written is not None:
        console.print(f"Motion: {written}", markup=False, highlight=False, soft_wrap=True)
