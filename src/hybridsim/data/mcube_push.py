"""A robot pushes a steel object over a plate: Yu, Bauza, Fazeli, Rodriguez, "More than a million ways to be pushed" (2016).

An HDF5 file a push, with its conditions in its name. Three sensors, each with its own time stamps at about 250 Hz:
pose of the object, pose of the tip, force on the tip; all in one fixed frame, in metres, radians and newtons. A
push is a straight stroke of 50 mm with 0.2 s of rest before and some after.

Traps, of which the reader mends the first four:

- Time stamps repeat or go back in a fourth of the files: sorted and dropped, and told in `repairs`.
- Yaw jumps at half turns: unwrapped.
- Outlines in the files are turned by a quarter against the yaw of the poses: `read_push_outline` turns them.
- The force sensor did not work in all pushes of rect1: their force is None.
- The force is that ON THE PUSHER; the object feels its opposite. It is not always 0 before the stroke (up to 5 N):
  the tip often rests against the object already. Noise is 0.02 N and 0.05 N.
- Time steps vary, with gaps of up to 80 ms. Poses at rest are good to 5 um and 0.05 mrad.
- The stroke runs at about 92 % of the speed in the name (100 % at 20 mm/s): use the measured motion of the tip.
- While pushing, the centre of the tip is 3.3 to 6.4 mm from the outline (the tip's radius is 4.75): poses and
  outlines are off by about 1 mm.
- A few pushes graze: see `displacement`.
"""

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float

from .files import dataset_path, finite, found_runs, in_order, known_run
from .folder import DataError

DATASET = "mcube-push"
TIP_RADIUS = 0.00475
"""Of the pusher [m]."""
THICKNESS = 0.013
"""Of all objects [m]."""
WITHOUT_FORCE = ("rect1",)
"""Shapes whose recorded force is invalid."""
_NAME = re.compile(
    r"motion_surface=(?P<surface>\w+)_shape=(?P<shape>\w+)_a=(?P<a>[-\d.]+)_v=(?P<v>[-\d.]+)"
    r"_i=(?P<i>[-\d.]+)_s=(?P<s>[-\d.]+)_t=(?P<t>[-\d.]+)"
)


@dataclass(frozen=True)
class PushedObject:
    """Numbers of one object."""

    mass: float
    """[kg]"""
    inertia: float
    """About the vertical through the centre [kg m^2]."""


PUSHED_OBJECTS = {
    "rect1": PushedObject(0.8374, 0.001131),
    "ellip1": PushedObject(0.8937, 0.001231),
    "ellip3": PushedObject(1.3338, 0.002973),
    "hex": PushedObject(0.9827, 0.001497),
    "butter": PushedObject(1.1974, 0.002954),
}
"""By shape, as the authors of the dataset give them."""


@dataclass(frozen=True)
class Push:
    """One push. Every sensor has its own times, counted from the earliest stamp of all."""

    name: str
    source: str
    """The file."""
    surface: str
    shape: str
    speed: float
    """Of the tip, as commanded [m/s]."""
    edge: int
    """Of the outline, that is pushed."""
    place: float
    """Along the edge, 0 to 1."""
    direction: float
    """Of the push from the edge's normal [rad]."""
    start: float
    """UNIX time of time 0 [s]."""
    object_time: Float[np.ndarray, " object"]
    """[s]"""
    object_position: Float[np.ndarray, "object 2"]
    """Of the centre [m]."""
    object_yaw: Float[np.ndarray, " object"]
    """Without jumps [rad]."""
    tip_time: Float[np.ndarray, " tip"]
    """[s]"""
    tip_position: Float[np.ndarray, "tip 2"]
    """Of the tip's centre [m]; the tip does not turn."""
    force_time: Float[np.ndarray, " force"] | None
    """[s]; None where the sensor did not work."""
    force: Float[np.ndarray, "force 2"] | None
    """On the pusher [N]; the force on the object is its opposite."""
    torque: Float[np.ndarray, " force"] | None
    """On the pusher about the vertical through the tip [N m]."""
    repairs: tuple[str, ...]
    """What the reader changed, in words: samples sorted by time or dropped."""

    @property
    def displacement(self) -> float:
        """How far the object's centre moved in all [m]; a few millimetres: the push grazed."""
        return float(np.linalg.norm(self.object_position[-1] - self.object_position[0]))


def push_runs(folder: str | Path | None = None) -> dict[str, Path]:
    """Files of all pushes by their names, also in folders below; without `folder`, of the folder of HYBRIDSIM_DATA."""
    place = dataset_path(DATASET, folder)
    return found_runs(place, ((file.stem, file) for file in sorted(place.rglob("motion_*.h5"))), "files motion_*.h5")


def read_push(run: str, folder: str | Path | None = None) -> Push:
    """One push; needs h5py, of the extra `datasets`."""
    path = known_run(dataset_path(DATASET, folder), push_runs(folder), run)
    conditions = _NAME.fullmatch(run)
    if conditions is None:
        raise DataError(
            f"{path}: the name must be motion_surface=.._shape=.._a=.._v=.._i=.._s=.._t=.., the push's conditions"
        )
    tables: dict[str, np.ndarray] = {}
    repairs: tuple[str, ...] = ()
    for name, table in _tables(path).items():
        tables[name], repaired = in_order(f"{path}: {name}", table)
        repairs += repaired
    body, tip, wrench = tables["object_pose"], tables["tip_pose"], tables["ft_wrench"]
    start = min(table[0, 0] for table in tables.values())
    works = conditions["shape"] not in WITHOUT_FORCE
    return Push(
        name=run,
        source=str(path),
        surface=conditions["surface"],
        shape=conditions["shape"],
        speed=float(conditions["v"]) / 1e3,
        edge=int(float(conditions["i"])),
        place=float(conditions["s"]),
        direction=float(conditions["t"]),
        start=float(start),
        object_time=body[:, 0] - start,
        object_position=body[:, 1:3],
        object_yaw=np.unwrap(body[:, 3]),
        tip_time=tip[:, 0] - start,
        tip_position=tip[:, 1:3],
        force_time=wrench[:, 0] - start if works else None,
        force=wrench[:, 1:3] if works else None,
        torque=wrench[:, 3] if works else None,
        repairs=repairs,
    )


def read_push_outline(shape: str, folder: str | Path | None = None) -> Float[np.ndarray, "corners 2"]:
    """Corners of an object's outline in order, in the frame of its pose: turn by the yaw, then add the position [m]."""
    place = dataset_path(DATASET, folder) / "shapes"
    files = ((file.stem.removesuffix("_ext"), file) for file in sorted(place.glob("*_ext.npy")))
    path = known_run(place, found_runs(place, files, "outlines <shape>_ext.npy"), shape)
    try:
        corners = np.load(path, allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        raise DataError(f"{path} is not a readable npy file ({error}); fetch it again") from error
    if corners.ndim != 2 or corners.shape[1] != 2 or len(corners) < 3 or corners.dtype.kind != "f":
        raise DataError(f"{path} is an array of {corners.dtype} of shape {corners.shape}; it must have 3 or more x, y")
    corners = finite(str(path), corners)
    return np.stack([-corners[:, 1], corners[:, 0]], axis=1)


def _tables(path: Path) -> dict[str, np.ndarray]:
    """The three sets of one file."""
    try:
        import h5py  # pyright: ignore[reportMissingImports]
    except ImportError as error:
        raise DataError(
            f'reading {path} needs h5py, which is not installed: pip install "hybridsim[datasets]"'
        ) from error
    tables = {}
    try:
        with h5py.File(path, "r") as file:
            for name in ("object_pose", "tip_pose", "ft_wrench"):
                if name not in file:
                    raise DataError(f"{path} has no set {name!r} but {', '.join(map(repr, file))}; fetch it again")
                tables[name] = np.asarray(file[name])
    except (OSError, RuntimeError, KeyError) as error:
        raise DataError(f"{path} is not a readable HDF5 file ({error}); fetch it again") from error
    for name, table in tables.items():
        if table.ndim != 2 or table.shape[1] != 4 or len(table) < 2 or table.dtype.kind != "f":
            raise DataError(
                f"{path}: {name!r} is an array of {table.dtype} of shape {table.shape}; it must have two or more rows "
                "of time and three numbers"
            )
        tables[name] = finite(f"{path}: {name!r}", table.astype(float))
    return tables
