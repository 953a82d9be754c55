"""Scenes that touch the floor: rollouts beside MuJoCo's, from one state and from many."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from contact_scenes import Scene
from measure import Effort, Timings, Wait, in_rounds, prepare_native
from rivals import MuJoCo

import hybridsim as hs

STATES = 64
"""Of a batch."""
SPREAD = 0.2
"""States of a batch differ from the scene's by up to this in each velocity [rad/s or m/s]."""
BATCH_STEPS, BATCH_ROUNDS = 2000, 3
"""At most, as MuJoCo needs seconds for a batch."""
SPRINGS = 2e-4
"""Step with which springs let the cube come to rest [s]; with 1 ms it trembles."""


@dataclass(frozen=True)
class Result:
    """Of one scene. Times are of one step of one state [s]."""

    scene: Scene
    wait: Wait
    one: Timings
    """Of "native" and "MuJoCo", and of "springs" for the cube."""
    batch: Timings
    states: int
    batch_steps: int
    finite: bool
    """Whether all numbers of our rollouts are."""


def run(scene: Scene, effort: Effort, states: int = STATES, batch_steps: int = BATCH_STEPS) -> Result:
    """All measurements of one scene."""
    model, mujoco = scene.load(), MuJoCo(scene.mjcf())
    wait, calls, steps = _one(scene, model, mujoco)
    one = _per_step(in_rounds(calls, effort), steps)
    n = min(scene.steps, batch_steps)
    calls = _batch(scene, model, mujoco, n, states)
    rounds = Effort(min(effort.rounds, BATCH_ROUNDS), effort.at_least)
    batch = _per_step(in_rounds(calls, rounds), dict.fromkeys(calls, n * states))
    return Result(scene, wait, one, batch, states, n, bool(np.isfinite(calls["native"]()).all()))


def positions(model: hs.Model, dt: float, steps: int, contact: hs.Impulses | hs.Springs) -> Callable:
    """All positions as a function of the first state and of the controls; the model is a constant, as it is for MuJoCo."""
    return lambda q, qd, controls: hs.rollout(model, (q, qd), controls, dt=dt, steps=steps, contact=contact).q


def drawn(scene: Scene, states: int) -> tuple[np.ndarray, np.ndarray]:
    """States around the scene's: its positions, and velocities about its own."""
    noise = np.random.default_rng(0).uniform(-SPREAD, SPREAD, (states, len(scene.qd)))
    return np.tile(scene.q, (states, 1)), scene.qd + noise


def _one(scene: Scene, model: hs.Model, mujoco: MuJoCo) -> tuple[Wait, dict[str, Callable], dict[str, int]]:
    """How long the native program takes to make, what to call, and the number of steps of each."""
    given = scene.q, scene.qd, scene.controls
    wait, native = prepare_native(positions(model, scene.dt, scene.steps, hs.Impulses()), *given)
    calls = {
        "native": lambda: native(*given),
        "MuJoCo": mujoco.rollout(scene.q, scene.qd, scene.steps, controls=scene.controls),
    }
    steps = dict.fromkeys(calls, scene.steps)
    if scene.name == "thrown cube":
        steps["springs"] = round(scene.steps * scene.dt / SPRINGS)
        springs = hs.native.jit(positions(model, SPRINGS, steps["springs"], hs.Springs()))
        calls["springs"] = lambda: springs(*given)
    return wait, calls, steps


def _batch(scene: Scene, model: hs.Model, mujoco: MuJoCo, steps: int, states: int) -> dict[str, Callable]:
    """Results go to memory that was allocated before, for both."""
    q, qd = drawn(scene, states)
    controls = None if scene.controls is None else scene.controls[:steps]
    native = hs.native.batch(positions(model, scene.dt, steps, hs.Impulses()), in_axes=(0, 0, None), threads=1)
    out = native(q, qd, controls)
    return {
        "native": lambda: native(q, qd, controls, out=out),
        "MuJoCo": mujoco.rollout(q, qd, steps, controls=controls),
    }


def _per_step(timings: Timings, steps: dict[str, int]) -> Timings:
    return Timings([{engine: time / steps[engine] for engine, time in row.items()} for row in timings.rows])
