"""MJX and TDS, which need not be installed: `None` stands for a rival that is not there or cannot do the task."""

from collections.abc import Callable
from contextlib import redirect_stdout
from importlib import import_module
from io import StringIO
from types import ModuleType

import jax
import numpy as np
from measure import Wait, prepare_jax
from rivals import MuJoCo

import hybridsim as hs


def found(module: str) -> ModuleType | None:
    """A module, if it is installed."""
    try:
        with redirect_stdout(StringIO()):  # MJX reports the absence of what it needs for GPUs
            return import_module(module)
    except ImportError:
        return None


def notes() -> list[str]:
    """A line for each rival that is skipped."""
    names = {"mujoco.mjx": "MJX (PyPI: mujoco-mjx)", "pytinydiffsim": "TDS (PyPI: pytinydiffsim, Python 3.11 only)"}
    return [f"{name} is not installed and was skipped." for module, name in names.items() if found(module) is None]


def mjx_rollout(mujoco: MuJoCo, q: np.ndarray, qd: np.ndarray, steps: int) -> tuple[Wait, Callable] | None:
    """A scan of MJX's step under jax.jit, its model a constant: positions after each step."""
    mjx = found("mujoco.mjx")
    if mjx is None:
        return None
    model = mjx.put_model(mujoco.model)
    data = mjx.make_data(model)

    def roll(q, qd):
        def step(data, _):
            data = mjx.step(model, data)
            return data, data.qpos

        return jax.lax.scan(step, data.replace(qpos=q, qvel=qd), None, length=steps)[1]

    start = q, mujoco.velocity(q, qd)
    wait, run = prepare_jax(roll, *start)
    return wait, lambda: run(*start)


def tds_rollout(model: hs.Model, q: np.ndarray, qd: np.ndarray, dt: float, steps: int) -> Callable | None:
    """The last positions after a loop in Python of two calls a step: the wheel has no loop of its own.

    Only for chains that turn about y: the engine knows no armature, and its free joint has other coordinates.
    """
    tds = found("pytinydiffsim")
    turning = all(kind.name == "revolute" for kind in model.topology.kinds)
    if tds is None or not turning or np.any(model.joints.armature) or np.any(model.joints.axis != [0, 1, 0]):
        return None
    body = tds.TinyMultiBody(False)
    for i in range(model.nv):
        place = tds.TinySpatialTransform()
        place.translation = tds.Vector3(*map(float, model.joints.position[i]))
        body.attach_link(tds.TinyLink(tds.JOINT_REVOLUTE_Y, place, _inertia(tds, model, i)), i - 1, True)
    body.initialize()
    gravity, start = tds.Vector3(*map(float, model.gravity)), list(zip(q.tolist(), qd.tolist(), strict=True))

    def run() -> np.ndarray:
        for i, (position, velocity) in enumerate(start):
            body.q[i], body.qd[i] = position, velocity
        for _ in range(steps):
            tds.forward_dynamics(body, gravity)
            tds.integrate_euler(body, dt)
        return np.array([body.q[i] for i in range(len(start))])

    return run


def _inertia(tds: ModuleType, model: hs.Model, i: int):
    """Of link i. About its centre of mass the axes of a link of a chain are principal ones."""
    matrix = tds.Matrix3()
    for row in range(3):
        for column in range(3):
            matrix[row, column] = float(model.links.inertia[i, row]) if row == column else 0.0
    return tds.RigidBodyInertia(float(model.links.mass[i]), tds.Vector3(*map(float, model.links.com[i])), matrix)
