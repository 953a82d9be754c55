"""A measured motion of a model: what every reader returns and every fit takes."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float, Int

from ..folder import DataError
from .columns import ColumnMap
from .interpolate import Method, interpolated

_MOST_SAMPLES = 10_000_000
"""Of one log in equal steps: ten times as many as a quarter of an hour at 1 kHz has; 1.7 GB for 7 joints."""
_GAP_STEPS = 5.0
"""Without `max_gap`, a hole is longer than this many usual steps."""


@dataclass(frozen=True, eq=False)
class Trajectory:
    """Samples over time. Arrays are finite everywhere; where a mask is False the number is only a filler.

    Masks that are not given are True. `resampled`, `window` and slices return new trajectories of the same run.
    """

    time: Float[np.ndarray, " n"]
    """Rising, not always in equal steps [s]."""
    q: Float[np.ndarray, "n nq"]
    """In the model's order [rad or m, quaternions wxyz]."""
    qd: Float[np.ndarray, "n nv"] | None = None
    """[rad/s or m/s]; None where it was not measured."""
    controls: Float[np.ndarray, "n nc"] | None = None
    """Commands to actuators (nc = nu) or joint forces (nc = nv) [N m or N], as `control_kind` says."""
    control_kind: Literal["command", "force"] = "force"
    values: dict[str, np.ndarray] = field(default_factory=dict)
    """Other measured variables by name, one row a sample."""
    q_mask: Bool[np.ndarray, "n nq"] | None = None
    """True where measured."""
    qd_mask: Bool[np.ndarray, "n nv"] | None = None
    controls_mask: Bool[np.ndarray, "n nc"] | None = None
    value_masks: dict[str, np.ndarray] = field(default_factory=dict)
    joint_names: tuple[str, ...] = ()
    """Of the model that it was mapped to."""
    columns: ColumnMap | None = None
    """What came from where; print it."""
    source: str = ""
    """File."""
    rows: Int[np.ndarray, " n"] | None = None
    """Of each sample, its row in the file; -1 where it lies between rows."""
    notes: tuple[str, ...] = ()
    """What was found and repaired."""
    run: str = ""
    """Samples of one recording share it: a split never tears them apart. By default the source."""
    max_gap: float = 0.0
    """A longer time between samples is a hole [s]; 0: five usual steps."""
    quaternions: tuple[int, ...] = ()
    """Where in q quaternions begin."""
    poses: tuple[int, ...] = ()
    """Where in q poses of free joints begin: xyz, then a quaternion. Their velocity is angular, then linear, in the body."""

    def __post_init__(self) -> None:
        put = object.__setattr__.__get__(self)
        put("time", np.asarray(self.time, float))
        put("q", np.asarray(self.q, float))
        for name in ("q", "qd", "controls"):
            array, mask = getattr(self, name), getattr(self, f"{name}_mask")
            if array is not None:
                put(name, np.asarray(array, float))
                put(f"{name}_mask", np.ones(np.shape(array), bool) if mask is None else np.asarray(mask, bool))
        put("value_masks", {k: self.value_masks.get(k, np.ones(np.shape(v), bool)) for k, v in self.values.items()})
        if self.rows is None:
            put("rows", np.arange(len(self.time)))
        put("run", self.run or self.source)
        if self.max_gap == 0:
            put("max_gap", _GAP_STEPS * self.dt if len(self.time) > 1 else np.inf)
        self._check()

    def _check(self) -> None:
        where = f"trajectory {self.source!r}"
        steps = np.diff(self.time)
        if self.time.ndim != 1 or not np.isfinite(self.time).all() or (steps <= 0).any():
            raise DataError(f"{where}: time must be one rising finite number a sample; sort it and drop what repeats")
        arrays = {"q": self.q, "qd": self.qd, "controls": self.controls, **self.values}
        masks = {"q": self.q_mask, "qd": self.qd_mask, "controls": self.controls_mask, **self.value_masks}
        for name, array in arrays.items():
            if array is None:
                continue
            if np.ndim(array) < 2 or len(array) != len(self.time) or np.shape(masks[name]) != np.shape(array):
                raise DataError(
                    f"{where}: {name} has shape {np.shape(array)} and its mask {np.shape(masks[name])}; both need "
                    f"{len(self.time)} rows and as many columns as it has numbers"
                )
            if not np.isfinite(array).all():
                row = int(np.argwhere(~np.isfinite(array))[0][0])
                raise DataError(f"{where}: {name} is not finite at sample {row}; mask it and put a finite number there")

    def __len__(self) -> int:
        return len(self.time)

    @property
    def duration(self) -> float:
        """From the first sample to the last [s]."""
        return float(self.time[-1] - self.time[0]) if len(self) else 0.0

    @property
    def dt(self) -> float:
        """The usual step: the median [s]."""
        return float(np.median(np.diff(self.time))) if len(self) > 1 else float("nan")

    @property
    def holes(self) -> Int[np.ndarray, " holes"]:
        """Samples after which nothing was measured for longer than `max_gap`."""
        return np.flatnonzero(np.diff(self.time) > self.max_gap)

    def __getitem__(self, index: slice) -> "Trajectory":
        """Some samples, by number."""
        if not isinstance(index, slice):
            raise TypeError("a trajectory is sliced: trajectory[10:20]; one sample is trajectory.q[10]")
        cut: dict = {
            f.name: value[index] for f in fields(self) if isinstance(value := getattr(self, f.name), np.ndarray)
        }
        cut["values"] = {name: array[index] for name, array in self.values.items()}
        cut["value_masks"] = {name: array[index] for name, array in self.value_masks.items()}
        return replace(self, **cut)

    def window(self, start: float, stop: float) -> "Trajectory":
        """The samples with start <= time < stop [s]."""
        first, last = np.searchsorted(self.time, [start, stop])
        return self[int(first) : int(last)]

    def resampled(
        self,
        dt: float,
        positions: Method = "cubic",
        controls: Method = "linear",
        max_gap: float | None = None,
    ) -> "Trajectory":
        """In equal steps of dt [s]. In holes longer than `max_gap` [s] the masks are False.

        Controls "hold" keeps a command until the next one, as a digital controller does; measured forces are better
        joined by lines. To a longer dt nothing is filtered: `smooth` first where there is motion above 1 / (2 dt).
        """
        if not dt > 0 or not np.isfinite(dt):
            raise DataError(f"trajectory {self.source!r}: dt is {dt}; it must be a positive time step [s]")
        steps = int(self.duration / dt + 1e-6) + 1 if len(self) else 0
        if steps > _MOST_SAMPLES:
            raise DataError(
                f"trajectory {self.source!r}: {self.duration:g} s in steps of {dt:g} s are {steps} samples; cut it into runs "
                f"of at most {_MOST_SAMPLES}, or give a longer dt"
            )
        at = (self.time[0] if len(self) else 0.0) + dt * np.arange(steps)
        limit = self.max_gap if max_gap is None else max_gap
        new: dict = {"time": at, "rows": np.full(steps, -1), "max_gap": max(limit, 1.5 * dt)}
        methods: dict[str, Method] = {"q": positions, "qd": positions, "controls": controls}
        for name, method in methods.items():
            if getattr(self, name) is not None:
                old = getattr(self, name), getattr(self, f"{name}_mask")
                new[name], new[f"{name}_mask"] = interpolated(self.time, *old, at, method, limit)
        new["q"] = _unit(new["q"], self.quaternions)
        pairs = {k: _flat(self.time, v, self.value_masks[k], at, limit) for k, v in self.values.items()}
        new["values"], new["value_masks"] = ({k: pair[i] for k, pair in pairs.items()} for i in (0, 1))
        return replace(self, **new)

    def with_notes(self, notes: Sequence[str]) -> "Trajectory":
        return replace(self, notes=(*self.notes, *notes))

    def summary(self) -> str:
        """A few lines for people."""
        lines = [f"{self.source or 'trajectory'}: {len(self)} samples over {self.duration:.4g} s, {1 / self.dt:.4g} Hz"]
        lines[0] += f", {len(self.holes)} holes" if len(self.holes) else ""
        for name, array in (("q", self.q), ("qd", self.qd), (f"controls ({self.control_kind})", self.controls)):
            if array is None:
                lines.append(f"  {name}: not measured")
                continue
            mask = getattr(self, f"{name.split()[0]}_mask")
            low, high = (f"[{' '.join(f'{x:.3g}' for x in side)}]" for side in (array.min(0), array.max(0)))
            lines.append(f"  {name}: from {low} to {high}, {100 * mask.mean():.4g} % measured")
        lines += [f"  {name}: {' x '.join(map(str, array.shape[1:]))}" for name, array in self.values.items()]
        return "\n".join(lines + [f"  note: {note}" for note in self.notes])


def _flat(time, values, mask, at, limit) -> tuple[np.ndarray, np.ndarray]:
    """Linear interpolation of rows of any shape."""
    n, shape = len(values), np.shape(values)[1:]
    pair = interpolated(time, np.reshape(values, (n, -1)).astype(float), np.reshape(mask, (n, -1)), at, "linear", limit)
    return pair[0].reshape(-1, *shape), pair[1].reshape(-1, *shape)


def _unit(q: np.ndarray, starts: tuple[int, ...]) -> np.ndarray:
    for start in starts:
        part = q[:, start : start + 4]
        length = np.linalg.norm(part, axis=1, keepdims=True)
        q[:, start : start + 4] = np.where(length > 0, part / np.where(length > 0, length, 1), [1.0, 0, 0, 0])
    return q
