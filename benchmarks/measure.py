"""Times: tracing, compiling and running, each apart from the others."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

import jax
import jax.numpy as jnp
import numpy as np
from mechanisms import mjcf, random_state
from rivals import MuJoCo, Pinocchio

import hybridsim as hs

DT = 1e-3
"""Step of the rollouts [s]."""
BATCH = 2e-3
"""Shortest time that the clock is asked to measure [s]."""


@dataclass(frozen=True)
class Preparation:
    """What a user waits for once, in seconds of processor time: other programs on the machine do not count."""

    trace: float
    compile: float


@dataclass(frozen=True)
class Result:
    """Of one mechanism. Times are medians over the rounds; ratios are medians of the rounds' own ratios."""

    name: str
    dofs: int
    forward: Preparation
    step_gradient: Preparation
    rollout: Preparation
    rollout_gradient: Preparation
    times: dict[str, float]
    """[s] of one call, by the keys of `timed`."""
    ratios: dict[str, float]
    """HybridSim's time over the rival's."""
    disagreement: dict[str, float]
    """Largest relative difference from the rivals."""


def prepare(function: Callable, *arguments, repeats: int = 3) -> tuple[Preparation, Callable]:
    """Trace and compile from nothing, several times; also returns the function as users call it."""
    traces, compiles = [], []
    for _ in range(repeats):
        jax.clear_caches()
        begin = time.process_time()
        traced = jax.jit(function).trace(*arguments)
        middle = time.process_time()
        traced.lower().compile()
        end = time.process_time()
        traces.append(middle - begin)
        compiles.append(end - middle)
    return Preparation(median(traces), median(compiles)), jax.jit(function)


def seconds(function: Callable[[], object], at_least: float) -> float:
    """Of one call that waits for its result: the fastest of many batches of calls."""

    def batch(calls: int) -> float:
        begin = time.perf_counter()
        for _ in range(calls):
            jax.block_until_ready(function())
        return time.perf_counter() - begin

    batch(2)
    calls = max(1, round(BATCH / batch(1)))
    fastest, end = float("inf"), time.perf_counter() + at_least
    while time.perf_counter() < end:
        fastest = min(fastest, batch(calls) / calls)
    return fastest


def run(name: str, model: hs.Model, steps: int, rounds: int, at_least: float) -> Result:
    """All measurements of one mechanism. Rivals are timed in turn within each round."""
    q, qd, tau = random_state(model)
    model = jax.tree.map(jnp.asarray, model)
    state = hs.State(*(jnp.asarray(x) for x in (q, qd)))
    tau_jax = jnp.asarray(tau)

    def forward(model, state, tau):
        return hs.forward_dynamics(model, state.q, state.qd, tau)

    def step_loss(model, state):
        return sum(jnp.sum(x**2) for x in hs.step(model, state, dt=DT))

    def roll(model, state):
        return hs.rollout(model, state, dt=DT, steps=steps)

    def rollout_loss(model, state):
        return sum(jnp.sum(x**2) for x in roll(model, state)[-1])

    gradient = {"argnums": (0, 1)}
    prepared_forward, run_forward = prepare(forward, model, state, tau_jax)
    prepared_step, _ = prepare(jax.grad(step_loss, **gradient), model, state)
    prepared_rollout, run_rollout = prepare(roll, model, state, repeats=1)
    prepared_gradient, run_gradient = prepare(jax.value_and_grad(rollout_loss, **gradient), model, state, repeats=1)

    text = mjcf(model, DT)
    mj, pin = MuJoCo(text), Pinocchio(text)
    mj.set_state(q, qd, tau)
    disagreement = {
        "MuJoCo": _relative(mj.accelerations(), run_forward(model, state, tau_jax)),
        "Pinocchio": _relative(pin.accelerations(q, qd, tau), run_forward(model, state, tau_jax)),
    }
    mj_forward, mj_rollout = mj.forward(), mj.rollout(steps)
    timed = {
        "forward": lambda: run_forward(model, state, tau_jax),
        "forward MuJoCo": mj_forward,
        "forward Pinocchio": pin.forward(q, qd, tau),
        "rollout": lambda: run_rollout(model, state),
        "rollout MuJoCo": mj_rollout,
        "gradient": lambda: run_gradient(model, state),
    }
    last = np.asarray(mj_rollout())[0, -1, 1 : 1 + model.nq]
    disagreement["MuJoCo, end of rollout"] = _relative(last, run_rollout(model, state).q[-1])

    measured = [{key: seconds(call, at_least) for key, call in timed.items()} for _ in range(rounds)]
    pairs = (
        ("forward", "forward MuJoCo"),
        ("forward", "forward Pinocchio"),
        ("rollout", "rollout MuJoCo"),
        ("gradient", "rollout"),
    )
    return Result(
        name,
        model.nv,
        prepared_forward,
        prepared_step,
        prepared_rollout,
        prepared_gradient,
        {key: median(row[key] for row in measured) for key in timed},
        {f"{ours} / {theirs}": median(row[ours] / row[theirs] for row in measured) for ours, theirs in pairs},
        disagreement,
    )


def _relative(found, expected) -> float:
    found, expected = np.asarray(found), np.asarray(expected)
    return float(np.abs(found - expected).max() / np.abs(expected).max())
