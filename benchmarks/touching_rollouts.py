"""The scenes of touching_scenes.py beside MuJoCo: one state, a batch on one core, and what compiling takes."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from measure import Effort, Timings, Wait, in_rounds, prepare_native
from touching_scenes import Scene

import hybridsim as hs

STATES = 256
"""Of a batch."""
SPREAD = 0.2
"""Velocities of a batch differ from the scene's by up to this [rad/s or m/s]."""
CALL = 4.0
"""About how long one call of a batch may take [s]; its rollouts are shortened to that, but not below `FEWEST` steps."""
FEWEST = 100
FEW = 4
"""States with which the program of a batch is compiled; it is the same for all sizes."""
BATCH_ROUNDS = 3


@dataclass(frozen=True)
class Result:
    """Of one scene. Times are of one step of one state [s]."""

    scene: Scene
    touching: float
    """Contacts of a step, in MuJoCo's rollout."""
    wait: Wait
    one: Timings
    """Of "native" and "MuJoCo"."""
    batch: Timings | None
    """The same; None where it was not asked for."""
    batch_compile: float
    """Trace, lower and compile the batch [s]."""
    batch_steps: int
    finite: bool
    """Whether all numbers of our rollouts are."""


def run(scene: Scene, effort: Effort, batch: bool = True) -> Result:
    """All measurements of one scene."""
    given = scene.q, scene.qd, scene.controls
    wait, native = prepare_native(positions(scene, scene.steps), *given)
    calls = {
        "native": lambda: native(*given),
        "MuJoCo": scene.mujoco.rollout(scene.q, scene.qd, scene.steps, controls=scene.controls),
    }
    finite = bool(np.isfinite(native(*given)).all())
    one = per_step(in_rounds(calls, effort), scene.steps)
    touching, _ = scene.contacts()
    if not batch:
        return Result(scene, touching, wait, one, None, 0.0, 0, finite)
    steps = int(np.clip(CALL / (STATES * one.time("native")), FEWEST, scene.steps))
    compile_time, calls = _batch(scene, steps)
    rounds = Effort(min(effort.rounds, BATCH_ROUNDS), effort.at_least, fewest=1)
    many = per_step(in_rounds(calls, rounds), steps * STATES)
    finite = finite and bool(np.isfinite(calls["native"]()).all())
    return Result(scene, touching, wait, one, many, compile_time, steps, finite)


def positions(
    scene: Scene, steps: int, contact: hs.Impulses | hs.Springs | None = hs.Impulses(), model: hs.Model | None = None
) -> Callable:
    """All positions as a function of the first state and of the controls; the model is a constant, as it is for MuJoCo."""
    model = scene.model if model is None else model
    options = {"dt": scene.dt, "steps": steps, "contact": contact, "integrator": hs.ImplicitDamping()}
    return lambda q, qd, controls: hs.rollout(model, (q, qd), controls, **options).q


def per_step(timings: Timings, steps: int) -> Timings:
    return Timings([{engine: time / steps for engine, time in row.items()} for row in timings.rows])


def _batch(scene: Scene, steps: int) -> tuple[float, dict[str, Callable]]:
    """What compiling takes, and what to call: states around the scene's start, results to memory that is there already."""
    noise = np.random.default_rng(0).uniform(-SPREAD, SPREAD, (STATES, len(scene.qd)))
    q, qd = np.tile(scene.q, (STATES, 1)), scene.qd + noise
    controls = None if scene.controls is None else scene.controls[:steps]
    native = hs.native.batch(positions(scene, steps), in_axes=(0, 0, None), threads=1)
    times = [time.perf_counter()]
    for _ in range(2):
        native(q[:FEW], qd[:FEW], controls)
        times.append(time.perf_counter())
    first, second = np.diff(times)
    out = np.zeros((STATES, steps + 1, len(scene.q)))
    return first - second, {
        "native": lambda: native(q, qd, controls, out=out),
        "MuJoCo": scene.mujoco.rollout(q, qd, steps, controls=controls),
    }
