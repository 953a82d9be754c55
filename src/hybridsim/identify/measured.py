"""Measured motion as a fit wants it: windows of equal length, stacked, with what every number weighs."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from ..data import DataError
from ..data.log import DataWarning, Trajectory, windows
from ..model import Model
from ..model.checks import POSITIVE
from .prescribed import given_motion, with_all_velocities


@dataclass(frozen=True)
class Measured:
    """Windows of all logs. Sample k of a window lies k dt after its start."""

    dt: float
    """[s]"""
    time: Float[np.ndarray, " windows"]
    """When each begins in its run [s]."""
    q: Float[np.ndarray, "windows samples nq"]
    qd: Float[np.ndarray, "windows samples nv"]
    """Measured, or by a filter from positions."""
    controls: Float[np.ndarray, "windows wide nc"]
    """One row a step, with `margin` rows before and after for a delay."""
    prescribed: Float[np.ndarray, "windows rows prescribed"]
    """Positions, then velocities, of prescribed joints at the end of each step of the simulator."""
    margin: int
    values: dict[str, Float[np.ndarray, "windows steps _"]]
    """Other variables that are compared, one row a step."""
    weights: dict[str, np.ndarray]
    """Of "position", "velocity" and each of the values: one over the standard deviation of its noise, 0 where unknown."""
    runs: tuple[str, ...]
    """Of each window."""
    control_kind: str
    follows: Int[np.ndarray, " windows"]
    """The window that ends where this one begins; -1 where there is none."""

    def __len__(self) -> int:
        return len(self.q)

    @property
    def steps(self) -> int:
        return self.q.shape[1] - 1

    @property
    def count(self) -> int:
        """How many numbers are compared."""
        return int(sum(np.count_nonzero(w) for w in self.weights.values()))

    def __getitem__(self, index: slice | np.ndarray) -> "Measured":
        """Some of the windows."""
        rows = np.arange(len(self))[index]
        return replace(
            self,
            **{name: getattr(self, name)[rows] for name in ("time", "q", "qd", "controls", "prescribed")},
            values={name: x[rows] for name, x in self.values.items()},
            weights={name: x[rows] for name, x in self.weights.items()},
            runs=tuple(self.runs[i] for i in rows),
            follows=np.full(len(rows), -1),
        )

    def shortened(self, steps: int) -> "Measured":
        """Only the first steps of every window. Controls stay: a longer simulation costs little, another length compiling."""
        steps = min(steps, self.steps)
        cut = {name: x[:, : steps + (name in _STATES)] for name, x in self.weights.items()}
        return replace(
            self,
            q=self.q[:, : steps + 1],
            qd=self.qd[:, : steps + 1],
            values={name: x[:, :steps] for name, x in self.values.items()},
            weights=cut,
            follows=self.follows if steps == self.steps else np.full(len(self), -1),
        )

    def scaled(self, factor: float) -> "Measured":
        """With all weights times a factor: another level of noise."""
        return replace(self, weights={name: factor * w for name, w in self.weights.items()})


_MOST_SAMPLES = 40_000_000
"""In all windows together: three hours at 1 kHz in windows that overlap by half are 22 million."""
_STATES = ("position", "velocity")
Compare = str | Sequence[str] | Mapping[str, float | Sequence[float]]


def several(logs: Any) -> list[Trajectory]:
    """One log or many as a list; whatever else is refused."""
    logs = [logs] if isinstance(logs, Trajectory | str) else list(logs)
    for log in logs:
        if not isinstance(log, Trajectory):
            raise DataError(f"logs has {log!r}; give hs.Trajectory, as hs.read_log(path, model) reads it")
    if not logs:
        raise DataError("no logs are given; read one with hs.read_log(path, model)")
    return logs


def measured(
    model: Model,
    logs: Trajectory | Sequence[Trajectory],
    window: float,
    stride: float | None = None,
    dt: float | None = None,
    compare: Compare = "position",
    max_delay: float = 0.0,
    substeps: int = 1,
) -> Measured:
    """Cut logs into windows of `window` seconds, one every `stride` (default: end to end), in steps of dt (the logs' own).

    `compare` says what is compared: "position", "velocity", names of measured values, with the standard deviation of their
    noise where more than one is. Velocities that were not measured come from a filter. `max_delay`: how far controls may
    be shifted in time [s]. Prescribed joints are not compared: the logs say how they move, also in the `substeps` between
    samples.
    """
    logs = several(logs)
    for name, value in (("window", window), ("stride", stride), ("dt", dt)):
        if value is not None:
            POSITIVE.check(name, value, DataError)
    noise = _noise(compare)
    dt = float(np.median([log.dt for log in logs])) if dt is None else dt
    if round(window / dt) < 1:
        raise DataError(
            f"window is {window:g} s, shorter than one step of {dt:g} s; give a longer window or a shorter dt"
        )
    _check_size(logs, window, window if stride is None else stride, dt)
    margin = int(np.ceil(max_delay / dt)) + 1 if max_delay > 0 else 0
    pieces: list[_Piece] = []
    for log in logs:
        _check(model, log, noise)
        even = _even(model, log, dt)
        given = given_motion(model, even, substeps, log.qd is not None) if model.topology.prescribed else None
        for piece in windows(even, round(window / dt) * dt, stride):
            first = int(np.searchsorted(even.time, piece.time[0] - dt / 2))
            pieces.append(_Piece(model, even, first, round(window / dt), given))
    pieces = _driven(pieces)
    kinds = {piece.log.control_kind for piece in pieces if piece.log.controls is not None}
    if len(kinds) > 1 or len({piece.log.controls is None for piece in pieces}) > 1:
        raise DataError(
            "some logs have commands, some joint forces, or some nothing; fit them apart, or give all the same"
        )
    return Measured(
        dt,
        np.array([piece.log.time[piece.first] - piece.log.time[0] for piece in pieces]),
        np.stack([piece.samples(piece.log.q) for piece in pieces]),
        np.stack([piece.samples(piece.log.qd) for piece in pieces]),
        np.stack([piece.controls(margin) for piece in pieces]),
        np.stack([piece.prescribed(substeps) for piece in pieces]),
        margin,
        {name: np.stack([piece.value(name) for piece in pieces]) for name in noise if name not in _STATES},
        {name: np.stack([piece.known(name) for piece in pieces]) / noise[name] for name in noise},
        tuple(piece.log.run for piece in pieces),
        kinds.pop() if kinds else "force",
        _followed(pieces),
    )


def _driven(pieces: list["_Piece"]) -> list["_Piece"]:
    """Without those during which it is not known what drove the mechanism."""
    known = [piece for piece in pieces if piece.driven]
    what = "controls" if not pieces or pieces[0].given is None else "controls and prescribed joints"
    if not known:
        raise DataError(f"no window has all its {what} measured; shorten the window, or fill the holes of the {what}")
    if len(known) < len(pieces):
        text = f"{len(pieces) - len(known)} of {len(pieces)} windows are left out: their {what} were not measured throughout"
        warnings.warn(text, DataWarning, stacklevel=5)
    return known


@dataclass(frozen=True)
class _Piece:
    model: Model
    log: Trajectory
    first: int
    steps: int
    given: np.ndarray | None
    """What prescribed joints do in the whole log; None where there are none."""

    def samples(self, array: np.ndarray | None) -> np.ndarray:
        return np.asarray(array)[self.first : self.first + self.steps + 1]

    def value(self, name: str) -> np.ndarray:
        return self.log.values[name].reshape(len(self.log), -1)[self.first : self.first + self.steps]

    @property
    def driven(self) -> bool:
        mask, places = self.log.controls_mask, self.model.topology.prescribed_q
        moved = bool(np.all(self.samples(self.log.q_mask)[:, places]))
        return moved and (mask is None or bool(np.all(mask[self.first : self.first + self.steps])))

    def prescribed(self, substeps: int) -> np.ndarray:
        """At the end of each step of the simulator."""
        if self.given is None:
            return np.zeros((self.steps * substeps, 0))
        return self.given[self.first * substeps + 1 : (self.first + self.steps) * substeps + 1]

    def controls(self, margin: int) -> np.ndarray:
        """Of each step, with so many more on both sides; where the log has ended its last row stays."""
        if self.log.controls is None:
            return np.zeros((self.steps + 2 * margin, 0))
        rows = np.arange(self.first - margin, self.first + self.steps + margin)
        return self.log.controls[np.clip(rows, 0, len(self.log) - 1)]

    def known(self, name: str) -> np.ndarray:
        if name in _STATES:
            known = self.samples(self.log.q_mask if name == "position" else self.log.qd_mask).astype(float)
            topology = self.model.topology
            known[:, topology.prescribed_q if name == "position" else topology.prescribed_v] = 0.0
            return known
        mask = self.log.value_masks[name].reshape(len(self.log), -1)
        return mask[self.first : self.first + self.steps].astype(float)


def _followed(pieces: Sequence[_Piece]) -> Int[np.ndarray, " windows"]:
    ends = {(id(p.log), p.first + p.steps): i for i, p in enumerate(pieces)}
    return np.array([ends.get((id(p.log), p.first), -1) for p in pieces])


def _check_size(logs: Sequence[Trajectory], window: float, stride: float, dt: float) -> None:
    """Refuse windows, dt or stride so small that memory would not hold the samples of all windows."""
    samples = sum(log.duration for log in logs) / stride * (window / dt + 1)
    if samples > _MOST_SAMPLES:
        raise DataError(
            f"windows of {window:g} s, one every {stride:g} s, in steps of {dt:g} s have {samples:.3g} samples in all; at "
            f"most {_MOST_SAMPLES} are fitted, so give a longer dt, fewer overlapping windows or fewer logs"
        )


def _even(model: Model, log: Trajectory, dt: float) -> Trajectory:
    """In steps of dt, with velocities."""
    log = with_all_velocities(model, log)
    uneven = np.abs(np.diff(log.time) - dt).max(initial=0.0) > 1e-6 * dt
    return log.resampled(dt, controls="hold" if log.control_kind == "command" else "linear") if uneven else log


def _noise(compare: Compare) -> dict[str, np.ndarray]:
    names = [compare] if isinstance(compare, str) else list(compare)
    if isinstance(compare, Mapping):
        found = {name: np.asarray(level, dtype=float) for name, level in compare.items()}
    elif len(names) == 1:
        found = {names[0]: np.ones(())}
    else:
        raise DataError(
            f"{', '.join(names) or 'nothing'} is compared: several kinds need the standard deviation of each one's noise, "
            "compare={'position': 1e-3, 'velocity': 0.05}"
        )
    for name, level in found.items():
        if not np.all(level > 0) or not np.all(np.isfinite(level)):
            raise DataError(f"the noise of {name} is {level}; it must be positive")
    return found


def _check(model: Model, log: Trajectory, noise: Mapping[str, np.ndarray]) -> None:
    where = f"log {log.source or log.run!r}"
    if log.q.shape[1] != model.nq:
        raise DataError(f"{where} has {log.q.shape[1]} positions, but the model has {model.nq}; read it for this model")
    if log.controls is not None:
        wanted = model.nu if log.control_kind == "command" else model.nv
        if log.controls.shape[1] != wanted:
            raise DataError(
                f"{where} has {log.controls.shape[1]} controls ({log.control_kind}), but the model takes {wanted}"
            )
    widths = {"position": model.nq, "velocity": model.nv}
    for name, level in noise.items():
        if level.size > 1 and level.shape != (widths.get(name, level.size),):
            raise DataError(
                f"the noise of {name} has {level.size} numbers, but there are {widths[name]}; give one, or one for each"
            )
        if name == "velocity" and log.qd is None:
            raise DataError(f"{where} has no velocities to compare; compare positions, or smooth them: hs.smooth(log)")
        if name not in (*_STATES, *log.values):
            raise DataError(
                f"{where} has no {name!r} to compare; it has: {', '.join(['position', 'velocity', *log.values])}"
            )
