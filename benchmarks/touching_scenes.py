"""Scenes in which few of many shapes touch: robots' own files on a floor, and free boxes."""

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import mujoco
import numpy as np
from rivals import MuJoCo

import hybridsim as hs

DT = 2e-3
"""Step of all scenes, by Euler with implicit damping in both engines [s]."""
STEPS = 1000


class MissingError(Exception):
    """A robot's file is not on this machine."""


@dataclass(frozen=True)
class Scene:
    """One mechanism or several over a floor, the same in both engines."""

    name: str
    model: hs.Model
    mjcf: str
    q: np.ndarray
    qd: np.ndarray
    """As ours: of a free joint angular, then linear, in the body."""
    controls: np.ndarray | None = None
    """Commands of the actuators, one row a step; None where there is no actuator."""
    dt: float = DT
    steps: int = STEPS

    @cached_property
    def mujoco(self) -> MuJoCo:
        return MuJoCo(self.mjcf)

    @property
    def candidates(self) -> int:
        """Points at which our model may touch."""
        return next((mark.shape[0] for mark in hs.names(self.model) if mark.name == "contact.distance"), 0)

    def lifted(self, height: float) -> np.ndarray:
        """The start, with everything that stands on its own so much higher."""
        q = self.q.copy()
        for at, _ in self.mujoco.free:
            q[at + 2] += height
        if not self.mujoco.free:
            q[self.model.q_of("rootz")] += height
        return q

    def contacts(self) -> tuple[float, float]:
        """Means over MuJoCo's rollout: of contacts that its solver is given, and of that solver's iterations."""
        model, data = self.mujoco.model, self.mujoco.data
        mujoco.mj_resetData(model, data)
        self.mujoco.set_state(self.q, self.qd, np.zeros(model.nv))
        found = np.zeros((self.steps, 2))
        for i in range(self.steps):
            if self.controls is not None:
                data.ctrl[:] = self.controls[i]
            mujoco.mj_step(model, data)
            found[i] = np.sum(data.contact.efc_address >= 0), data.solver_niter[0]
        return tuple(found.mean(axis=0))


def scenes() -> dict[str, Callable[[], Scene]]:
    """How to make each scene, by name. A maker raises `MissingError` where the robot's file is not installed."""
    import box_scenes
    import robot_scenes

    return robot_scenes.makers() | box_scenes.makers()


def gymnasium_file(name: str) -> Path:
    """A file of the environments with MuJoCo that the package gymnasium brings."""
    found = importlib.util.find_spec("gymnasium")
    if found is None or not found.submodule_search_locations:
        raise MissingError("gymnasium is not installed")
    path = Path(found.submodule_search_locations[0], "envs", "mujoco", "assets", name)
    if not path.is_file():
        raise MissingError(f"gymnasium has no {name}")
    return path


def robot_file(end: str) -> Path:
    """The file of the package example-robot-data whose path ends like this."""
    try:
        files = distribution("example-robot-data").files or []
    except PackageNotFoundError:
        raise MissingError("example-robot-data is not installed") from None
    for file in files:
        if str(file).endswith(end):
            return Path(str(file.locate()))
    raise MissingError(f"example-robot-data has no {end}")
