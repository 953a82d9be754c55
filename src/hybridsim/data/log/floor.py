"""Whether logs show a floor: one height at which something holds up what else would fall."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.spatial.transform import Rotation

from ... import native
from ...dynamics import centre_of_mass, forward_kinematics
from ...model import Model
from .trajectory import Trajectory

_MOST = 5000
"""Samples of one log that are looked at."""
_NEAR = 0.08, 0.004
"""How near to the floor the lowest point counts as touching it: as part of the body's size, and at least [m]."""
_HELD = 0.5
"""Part of the weight that has to be held up near the floor."""
_THERE = 0.8
"""Part of all that holds the body up that has to come from near the floor, where one log alone speaks."""
_WHILE, _STILL = 0.1, 3e-3
"""A body rests, or slides, whose heights change by less than this [m] for so long [s]. A fall takes it farther."""
_WRONG = 0.8
"""Part of the samples of a body that is held up whose heights are compared."""


@dataclass(frozen=True)
class Floor:
    """A horizontal plane that logs show."""

    height: float
    """[m]"""
    spread: float
    """How far the lowest points of single runs are from it, root of the mean square [m]."""
    runs: int
    """In so many of them something touches it."""


def floor_of(model: Model, logs: Sequence[Trajectory]) -> Floor | None:
    """The floor on which the shapes of a model fall, rest or slide; None where the logs show none.

    A fall without support has the acceleration of gravity. What differs from it is support, and a floor is where support
    comes from only while the lowest point of all shapes is at one height.
    """
    weight = -float(np.asarray(model.gravity)[2])
    if not weight > 0 or not any(shape != "plane" for shape in model.geometry.shapes):
        return None
    runs = [run for log in logs if (run := _heights(model, log)) is not None]
    near = max(_NEAR[0] * body_size(model), _NEAR[1])
    if not runs:
        return None
    # Where soft contact lets a body sink in as it lands, only rest tells the height.
    rests = [_rest(run) for run in runs]
    settled = 2 * sum(rest is not None for rest in rests) >= len(runs)
    heights = [rest if settled else float(run.lowest.min()) for run, rest in zip(runs, rests, strict=True)]
    known = np.array([height for height in heights if height is not None])
    height = float(np.median(known))
    touching = [run for run in runs if run.lowest.min() < height + near]
    held, total, time = (sum(x) for x in zip(*(_support(run, height + near, weight) for run in touching), strict=True))
    if not touching or time <= 0 or held < _HELD * weight * time:
        return None
    agree = np.mean(np.abs(known - height) < near) if len(known) > 1 else float(held > _THERE * total)
    off = known[np.abs(known - height) < near] - height
    if agree < _THERE or not len(off):
        return None
    return Floor(height, float(np.sqrt(np.mean(off**2))), len(touching))


@dataclass(frozen=True)
class _Run:
    time: np.ndarray
    lowest: np.ndarray
    """Of all shapes [m]."""
    centre: np.ndarray
    """Height of the centre of mass [m]."""


def _heights(model: Model, log: Trajectory) -> _Run | None:
    known = np.flatnonzero(np.asarray(log.q_mask).all(axis=1))
    known = known[:: max(1, -(-len(known) // _MOST))]
    if len(known) < 8:
        return None
    lowest, centre = lowest_points(model, log.q[known])
    return _Run(log.time[known], lowest, centre)


def _support(run: _Run, below: float, weight: float) -> tuple[float, float, float]:
    """What holds the body up while its lowest point is near the floor, and all the time [m/s]; how long it is near [s]."""
    steps = np.diff(run.time)
    speed = np.diff(run.centre) / steps
    between = 0.5 * (steps[1:] + steps[:-1])
    gained = np.diff(speed) + weight * between
    # An impact between two samples is felt at the sample beside the one that is low.
    low = run.lowest < below
    near = (low | np.roll(low, 1) | np.roll(low, -1))[1:-1]
    return float(gained[near].sum()), float(np.sum(gained)), float(between[near].sum())


def _rest(run: _Run) -> float | None:
    """The lowest height at which the lowest point stays for a while, and the body with it; None where it never does."""
    step = float(np.median(np.diff(run.time)))
    count = max(5, round(_WHILE / step))
    if len(run.time) < count:
        return None
    low, centre = (np.lib.stride_tricks.sliding_window_view(x, count) for x in (run.lowest, run.centre))
    still = [np.diff(np.quantile(x, (0.1, 0.9), axis=1), axis=0)[0] < _STILL for x in (low, centre)]
    found = np.median(low, axis=1)[still[0] & still[1]]
    return float(np.quantile(found, 0.1)) if len(found) else None


def unsteadiness(model: Model, log: Trajectory) -> float | None:
    """How much the height of the lowest point varies while something holds the body up [m]; None where nothing does.

    On a floor it hardly does, if the rotations of the log are read as they are meant.
    """
    weight = -float(np.asarray(model.gravity)[2])
    run = _heights(model, log)
    if run is None or not weight > 0:
        return None
    steps = np.diff(run.time)
    gained = np.diff(np.diff(run.centre) / steps) / (0.5 * (steps[1:] + steps[:-1])) + weight
    usual = np.convolve(gained, np.full(5, 0.2), mode="same")
    held = run.lowest[1:-1][usual > _HELD * weight]
    return float(np.quantile(np.abs(held - np.median(held)), _WRONG)) if len(held) >= 10 else None


def body_size(model: Model) -> float:
    """The largest extent of any shape that moves [m]."""
    reach = [0.0]
    for i, shape in enumerate(model.geometry.shapes):
        if shape != "plane" and model.geometry.links[i] >= 0:
            directions = np.concatenate([np.eye(3), -np.eye(3)])
            low = support(model, i, directions)
            reach.append(float(np.max(low[:3] + low[3:])))
    return max(reach)


def lowest_points(
    model: Model, q: Float[np.ndarray, "n nq"]
) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, " n"]]:
    """The height of the lowest point of all shapes that move, and of the centre of mass [m]."""

    def poses(q):
        links = forward_kinematics(model, q).X_WL
        return links.rotation, links.position, centre_of_mass(model, q)[2]

    rotation, position, centre = (np.asarray(x) for x in native.batch(poses, key=("poses", model))(q))
    lowest = np.full(len(q), np.inf)
    for i, shape in enumerate(model.geometry.shapes):
        link = model.geometry.links[i]
        if shape == "plane" or link < 0:
            continue
        place = np.asarray(model.geometry.position)[i]
        turned = Rotation.from_quat(np.asarray(model.geometry.quaternion)[i], scalar_first=True).as_matrix()
        R = rotation[:, link] @ turned
        height = position[:, link, 2] + rotation[:, link, 2] @ place
        lowest = np.minimum(lowest, height - support(model, i, -R[:, 2]))
    return lowest, centre


def support(model: Model, i: int, directions: Float[np.ndarray, "n 3"]) -> Float[np.ndarray, " n"]:
    """How far a shape reaches in directions of its own frame, from its origin [m]."""
    geometry, d = model.geometry, directions
    kind, size = geometry.shapes[i], np.asarray(geometry.size)[i]
    across = np.hypot(d[:, 0], d[:, 1])
    if kind == "sphere":
        return np.full(len(d), size[0])
    if kind == "capsule":
        return size[0] + size[1] * np.abs(d[:, 2])
    if kind == "cylinder":
        return size[0] * across + size[1] * np.abs(d[:, 2])
    if kind == "box":
        return np.abs(d) @ size
    if kind == "ellipsoid":
        return np.linalg.norm(d * size, axis=1)
    if kind == "elliptic":
        return np.linalg.norm(d[:, :2] * size[:2], axis=1) + size[2] * np.abs(d[:, 2])
    reach = np.max(d @ np.asarray(geometry.points[i]).T, axis=1)
    return reach + size[0] * np.abs(d[:, 2]) if kind == "prism" else reach
