"""What a run works with: the model and the logs that its fit.toml names."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ..contact import Contact, ContactByPair
from ..data import DataError
from ..data.log import Trajectory, parts, read_log
from ..identify.cautions import LOST_BY_RUNGE_KUTTA, decay_rates
from ..identify.setting import contact_of
from ..model import Model, prescribed
from ..simulate import ImplicitDamping, Integrator, RungeKutta4, SemiImplicitEuler
from .config import Config
from .world import world_of

_LONGEST_STEP = {"rk4": 5e-3, "euler": 1e-3, "implicit": 1e-3}
"""Of the simulator, unless fit.toml says how many there are in a sample [s]."""

_EVEN = 1e-3
"""Part of a step by which the steps of a log may differ and are still equal: stamps are rounded."""
_MOST_SUBSTEPS = 8
_FOLLOWED = {"rk4": LOST_BY_RUNGE_KUTTA, "euler": 1.0}
"""How long a step may be beside the time in which the fastest joint slows down."""
_FRICTION = 0.1
"""Part of the usual control that dry friction is thought to be, before anything is known of it."""


@dataclass(frozen=True)
class Bench:
    """Model and logs, and how they are simulated."""

    original: Model
    """As in the file."""
    model: Model
    """The same, with friction smooth enough to be fitted."""
    training: tuple[Trajectory, ...]
    held_out: tuple[Trajectory, ...]
    integrator: Integrator
    contact: Contact | None
    dt: float
    substeps: int


def bench_of(config: Config) -> Bench:
    """Read everything that a config names."""
    original = prescribed(world_of(config.model_file, config.base, config.floor), config.prescribed)
    logs = read_logs(config, (*config.training, *config.held_out), original)
    training, held_out = logs[: len(config.training)], logs[len(config.training) :]
    if config.held_out_part and not held_out:
        training, held_out = _cut(training, config.held_out_part)
    dt = config.dt or _usual_step(training)
    contact = contact_of(original, config.contact)
    if isinstance(contact, ContactByPair):
        contact.springs_of(original)  # names that match nothing are told before anything is compiled
    kind = config.integrator if config.integrator != "auto" else "euler" if contact is not None else "rk4"
    integrator = {"rk4": RungeKutta4(), "euler": SemiImplicitEuler(), "implicit": ImplicitDamping()}[kind]
    model = original
    if config.friction_speed is not None:
        slow = np.maximum(np.asarray(original.joints.friction_speed), config.friction_speed)
        model = replace(original, joints=replace(original.joints, friction_speed=slow))
    substeps = config.substeps or max(1, int(np.ceil(dt / _LONGEST_STEP[kind] - 1e-9)))
    if config.substeps is None and kind != "implicit":
        substeps = max(
            substeps, min(_MOST_SUBSTEPS, int(np.ceil(dt * fastest_decay(model, training) / _FOLLOWED[kind])))
        )
    return Bench(original, model, tuple(training), tuple(held_out), integrator, contact, dt, substeps)


def fastest_decay(model: Model, logs: Sequence[Trajectory]) -> float:
    """How fast damping, and friction as it may be, slow a joint down at most [1/s]: steps must not be longer than this."""
    forces = [np.asarray(log.controls) for log in logs if log.controls is not None and log.control_kind == "force"]
    usual = np.sqrt(np.mean(np.concatenate(forces) ** 2, axis=0)) if forces else np.zeros(model.nv)
    friction = np.maximum(np.asarray(model.joints.friction)[model.topology.own_v], _FRICTION * usual)
    some = logs[0].q[:: max(1, len(logs[0]) // 5)]
    return float(np.max(decay_rates(model, some, friction), initial=0.0))


def read_logs(config: Config, paths: Sequence[Path], model: Model) -> list[Trajectory]:
    """Each is a run by itself, called like its file."""
    unknown = [key for key, column in config.columns if column == "?"]
    if unknown:
        raise DataError(
            f'fit.toml does not say yet which column is {unknown[0]}: put the name of a column in place of "?" in '
            '[logs.columns], or "none" if it was not measured'
        )
    found = []
    for path in paths:
        log = read_log(path, model, dict(config.columns), dict(config.units), controls=config.controls)
        found.append(replace(log, run=path.stem))
    names = [log.run for log in found]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        # Runs of the same name in several folders.
        found = [replace(log, run=f"{path.parent.name}/{path.stem}") if log.run in twice else log
                 for log, path in zip(found, paths, strict=True)]  # fmt: skip
    return found


def _cut(logs: list[Trajectory], part: float) -> tuple[list[Trajectory], list[Trajectory]]:
    """The end of every log is a run by itself."""
    seen, unseen = [], []
    for log in logs:
        count = max(2, round(1 / part))
        pieces = parts(log, count)
        last = pieces[-1]
        first = log[: len(log) - len(last)]
        seen.append(replace(first, run=log.run))
        unseen.append(replace(last, run=f"{log.run} (end)"))
    return seen, unseen


def _usual_step(logs: Sequence[Trajectory]) -> float:
    """That of the logs where all have one and the same, so that nothing is resampled; else the one that was meant [s]."""
    dt = float(np.median([log.dt for log in logs]))
    uneven = max(float(np.abs(np.diff(log.time) - dt).max(initial=0.0)) for log in logs)
    return dt if uneven < _EVEN * dt else _rounded(dt)


def _rounded(dt: float) -> float:
    """The step that a logger meant: 0.00399 s is 250 Hz."""
    rate = 1 / dt
    nice = [r for r in (10, 20, 25, 30, 40, 50, 60, 80, 100, 120, 125, 150, 200, 240, 250, 300, 400, 500, 800, 1000, 2000)
            if abs(rate / r - 1) < 0.02]  # fmt: skip
    return 1 / min(nice, key=lambda r: abs(r - rate)) if nice else dt
