"""Rollouts of the mechanisms: forward, gradient and batch, by this engine's two compilers and by its rivals."""

import os
from collections.abc import Callable
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from measure import Effort, Timings, Wait, difference, in_rounds, prepare_jax, prepare_native
from mechanisms import mjcf, random_state
from optional_rivals import mjx_rollout, tds_rollout
from rivals import MuJoCo

import hybridsim as hs

DT = 1e-3
"""Step of the rollouts [s]."""
BATCH_ROUNDS = 3
"""Fewer than elsewhere, as MuJoCo needs seconds for a batch."""
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class Result:
    """Of one mechanism. Times are of whole rollouts, of all states of the batch."""

    name: str
    dofs: int
    steps: int
    states: int
    """Of the batch."""
    waits: dict[str, Wait]
    """By "forward" or "gradient" and the engine; MJX: forward only."""
    forward: Timings
    gradient: Timings
    batch: Timings
    differences: dict[str, float]
    """Largest relative difference of native results from those of others."""


def positions(model: hs.Model, steps: int) -> Callable:
    """All positions as a function of the first state; the model is a constant, as it is for MuJoCo."""
    return lambda q, qd: hs.rollout(model, (q, qd), dt=DT, steps=steps, contact=None).q


def loss(model: hs.Model, steps: int) -> Callable:
    """Sum of squared positions as a function of every link's numbers and the joints' places, and of the first state."""

    def squares(numbers, q, qd):
        changed = eqx.tree_at(lambda m: (m.links, m.joints.position), model, numbers)
        return jnp.sum(positions(changed, steps)(q, qd) ** 2)

    return squares


def gradient(model: hs.Model, steps: int) -> Callable:
    """The loss and its gradient with respect to the model's numbers."""
    return jax.value_and_grad(loss(model, steps))


def numbers(model: hs.Model) -> tuple:
    """Masses, centres of mass and inertias of links; places of joints, which are the links' lengths."""
    return model.links, model.joints.position


def run(name: str, model: hs.Model, steps: int, states: int, effort: Effort) -> Result:
    """All measurements of one mechanism."""
    q, qd, _ = random_state(model)
    mujoco = MuJoCo(mjcf(model, DT))
    waits: dict[str, Wait] = {}
    differences: dict[str, float] = {}
    forward = _forward(model, mujoco, q, qd, steps, waits, differences)
    gradients = _gradients(model, q, qd, steps, waits, differences)
    batch = _batch(model, mujoco, steps, states, differences)
    return Result(
        name,
        model.nv,
        steps,
        states,
        waits,
        in_rounds(forward, effort),
        in_rounds(gradients, effort),
        in_rounds(batch, Effort(min(effort.rounds, BATCH_ROUNDS), effort.at_least)),
        differences,
    )


def _forward(model, mujoco: MuJoCo, q, qd, steps: int, waits: dict, differences: dict) -> dict[str, Callable]:
    f = positions(model, steps)
    waits["forward native"], native = prepare_native(f, q, qd)
    waits["forward jax.jit"], xla = prepare_jax(f, q, qd)
    calls = {
        "native": lambda: native(q, qd),
        "jax.jit": lambda: xla(q, qd),
        "MuJoCo": mujoco.rollout(q, qd, steps),
    }
    ours = native(q, qd)
    differences["jax.jit"] = difference(ours, xla(q, qd))
    differences["MuJoCo"] = difference(calls["MuJoCo"]()[0], ours[1:])
    if mjx := mjx_rollout(mujoco, q, qd, steps):
        waits["forward MJX"], calls["MJX"] = mjx
        differences["MJX"] = difference(calls["MJX"](), ours[1:])
    if tds := tds_rollout(model, q, qd, DT, steps):
        calls["TDS"] = tds
        differences["TDS"] = difference(tds(), ours[-1])
    return calls


def _gradients(model, q, qd, steps: int, waits: dict, differences: dict) -> dict[str, Callable]:
    f, given = gradient(model, steps), numbers(model)
    waits["gradient native"], native = prepare_native(f, given, q, qd)
    waits["gradient jax.jit"], xla = prepare_jax(f, given, q, qd)
    differences["gradient"] = difference(native(given, q, qd), xla(given, q, qd))
    return {"native": lambda: native(given, q, qd), "jax.jit": lambda: xla(given, q, qd)}


def _batch(model, mujoco: MuJoCo, steps: int, states: int, differences: dict) -> dict[str, Callable]:
    """Results go to memory that was allocated before, for both: fresh memory costs more than the simulation."""
    q, qd = (np.stack(x) for x in list(zip(*(random_state(model, i) for i in range(states)), strict=True))[:2])
    f = positions(model, steps)
    one, all_cores = (hs.native.batch(f, threads=n) for n in (1, CORES))
    out = one(q, qd)
    all_cores(q, qd, out=out)
    differences["batch"] = difference(out[-1], hs.native.jit(f)(q[-1], qd[-1]))
    return {
        "native": lambda: one(q, qd, out=out),
        "MuJoCo": mujoco.rollout(q, qd, steps),
        "native, all cores": lambda: all_cores(q, qd, out=out),
        "MuJoCo, all cores": mujoco.rollout(q, qd, steps, threads=CORES),
    }
