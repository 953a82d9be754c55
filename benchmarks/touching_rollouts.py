"""The scenes of touching_scenes.py beside MuJoCo: one state, a batch on one core, and what compiling takes."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from measure import Effort, Timings, Wait, in_rounds, prepare_native, seconds
from touching_scenes import Scene

import hybridsim as hs

STATES = 256
"""Of a batch."""
SPREAD = 0.2
"""Velocities of a batch differ from the scene's by up to this [rad/s or m/s]."""
FEW = 8
"""States of a batch at least, and those with which its program is compiled, which is the same for all sizes."""
STEPS = 100
"""Of a batch at least."""
CALL, LONGEST = 4.0, 60.0
"""About how long a call of a batch may take: its rollouts are shortened, then its states are fewer. One that would take
longest all the same is not measured [s]."""
SLOW = 5.0
"""A rollout that takes longer is measured once [s]."""
ROUNDS = 3
"""Of a batch at most."""


@dataclass(frozen=True)
class Batch:
    timings: Timings
    """Of one step of one state [s]: "native" and "MuJoCo"."""
    compile: float
    """Trace, lower and compile [s]."""
    states: int
    steps: int
    finite: bool


@dataclass(frozen=True)
class Result:
    """Of one scene."""

    scene: Scene
    touching: float
    """Contacts of a step, in MuJoCo's rollout."""
    wait: Wait
    one: Timings
    """Of one step from one state [s]: "native" and "MuJoCo"."""
    finite: bool
    """Whether all numbers of our rollout are."""
    batch: Batch | None
    too_slow: bool
    """Why there is no batch, if it was asked for."""


def run(scene: Scene, effort: Effort, with_batch: bool = True) -> Result:
    """All measurements of one scene."""
    given = scene.q, scene.qd, scene.controls
    wait, native = prepare_native(positions(scene, scene.steps), *given)
    begin = time.perf_counter()
    found = native(*given)
    once = time.perf_counter() - begin
    calls = {
        "native": lambda: native(*given),
        "MuJoCo": scene.mujoco.rollout(scene.q, scene.qd, scene.steps, controls=scene.controls),
    }
    if once < SLOW:
        timings = in_rounds(calls, effort)
    else:
        timings = Timings([{"native": once, "MuJoCo": seconds(calls["MuJoCo"], effort.at_least)}])
    one = per_step(timings, scene.steps)
    too_slow = STEPS * FEW * one.time("native") > LONGEST
    batch = _batch(scene, one.time("native"), effort) if with_batch and not too_slow else None
    finite = bool(np.isfinite(found).all())
    return Result(scene, scene.contacts()[0], wait, one, finite, batch, with_batch and too_slow)


def positions(
    scene: Scene, steps: int, contact: hs.Impulses | hs.Springs | None = hs.Impulses(), model: hs.Model | None = None
) -> Callable:
    """All positions as a function of the first state and of the controls; the model is a constant, as it is for MuJoCo."""
    model = scene.model if model is None else model
    options = {"dt": scene.dt, "steps": steps, "contact": contact, "integrator": hs.ImplicitDamping()}
    return lambda q, qd, controls: hs.rollout(model, (q, qd), controls, **options).q


def per_step(timings: Timings, steps: int) -> Timings:
    return Timings([{engine: time / steps for engine, time in row.items()} for row in timings.rows])


def _batch(scene: Scene, step: float, effort: Effort) -> Batch:
    """States around the scene's start; `step`: how long we need for one [s]. Both engines write to memory that is there."""
    steps = int(np.clip(CALL / (STATES * step), STEPS, scene.steps))
    states = int(np.clip(CALL / (steps * step), FEW, STATES))
    noise = np.random.default_rng(0).uniform(-SPREAD, SPREAD, (states, len(scene.qd)))
    q, qd = np.tile(scene.q, (states, 1)), scene.qd + noise
    controls = None if scene.controls is None else scene.controls[:steps]
    native = hs.native.batch(positions(scene, steps), in_axes=(0, 0, None), threads=1)
    times = [time.perf_counter()]
    for _ in range(2):
        native(q[:FEW], qd[:FEW], controls)
        times.append(time.perf_counter())
    first, second = np.diff(times)
    out = np.zeros((states, steps + 1, len(scene.q)))
    calls = {
        "native": lambda: native(q, qd, controls, out=out),
        "MuJoCo": scene.mujoco.rollout(q, qd, steps, controls=controls),
    }
    timings = in_rounds(calls, Effort(min(effort.rounds, ROUNDS), effort.at_least, fewest=1))
    return Batch(per_step(timings, steps * states), first - second, states, steps, bool(np.isfinite(out).all()))
