"""The world of a run: the robot of a file, fixed or floating, and the floor under it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ..data.log import Floor, Trajectory, floor_of, holds_poses, read_log
from ..data.log.choices import column_names
from ..load import is_urdf, load
from ..model import Model, ModelError, ground, with_contacts, world

Base = Literal["fixed", "free"]
_RESTITUTION = 0.1
"""Of a floor, before anything is known of it: at zero, the least that there is, a fit would have to begin at a bound."""
_STILL = 1e-3
"""A root that moves less than this is fixed [m, and as entries of a quaternion]."""


@dataclass(frozen=True)
class FloorSetting:
    """[floor] of fit.toml: a horizontal plane that no file of the robot has."""

    height: float
    """[m]"""
    friction: float | None = None
    """Of all shapes on it; None: as the robot's file says."""
    restitution: float | None = None


def world_of(file: Path, base: Base = "fixed", floor: FloorSetting | None = None) -> Model:
    """The model of a file, on a floor if there is one."""
    model = load(file, base=base)
    return model if floor is None else with_floor(model, floor)


def with_floor(model: Model, floor: FloorSetting) -> Model:
    """The model on a floor. Pairs with the floor get its friction and restitution; others stay as they are."""
    both = world(model, ground(floor.height))
    name = len(both.geometry.names) - 1
    pairs = np.array([name in pair for pair in both.contacts.pairs], dtype=bool)
    given = {"friction": floor.friction, "restitution": floor.restitution}
    numbers: dict[str, Any] = {
        key: np.where(pairs, value, np.asarray(getattr(both.contacts, key)))
        for key, value in given.items()
        if value is not None
    }
    return with_contacts(both, **numbers)


def shown_floor(model: Model, logs: Sequence[Trajectory]) -> Floor | None:
    """The floor that logs show under what floats, where its file has nothing to stand on."""
    floats = any(kind.name == "free" for kind in model.topology.kinds)
    stands = any(link < 0 for link in model.geometry.links) or model.contacts.pairs
    return floor_of(model, logs) if floats and logs and not stands else None


def floor_setting(model: Model, floor: Floor) -> FloorSetting:
    """A floor that logs show, with the friction of the robot's file: where a fit begins."""
    friction = float(np.max(np.asarray(model.geometry.friction)))
    return FloorSetting(round(floor.height, 5), round(friction, 4), _RESTITUTION)


def world_along(file: Path, log: Path, free: bool = False) -> tuple[Model, FloorSetting | None]:
    """The model of a URDF or MJCF file for one log: it floats, and on a floor, where the log shows it."""
    base: Base = "free" if free else base_of(file, log)
    model = load(file, base=base)
    if base == "fixed":
        return model, None
    floor = shown_floor(model, [read_log(log, model)])
    setting = None if floor is None else floor_setting(model, floor)
    return (model, None) if setting is None else (with_floor(model, setting), setting)


def base_of(file: Path, log: Path) -> Base:
    """Free where a log holds poses of a URDF's root that moves. An MJCF file says itself what is free."""
    if not is_urdf(file):
        return "fixed"
    try:
        floating = load(file, base="free")
    except ModelError:
        return "fixed"
    poses = holds_poses(floating, column_names(log, floating))
    fixed = load(file)
    named = {word for name in (*floating.link_names[:1], file.stem) for word in name.lower().split("_")}
    own = [pose for pose in poses.values() if not fixed.nq or not pose.words or set(pose.words) & named]
    if not own or not fixed.nq:
        return "free" if own else "fixed"
    q = read_log(log, floating).q[:, floating.q_of(own[0].joint)]
    return "free" if np.ptp(q, axis=0).max() > _STILL else "fixed"
