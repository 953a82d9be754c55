"""Single calls from Python: forward dynamics beside MuJoCo and Pinocchio, and what a call costs by itself."""

from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
from measure import Effort, Timings, difference, in_rounds, prepare_jax, prepare_native
from mechanisms import mjcf, random_state
from rivals import MuJoCo, Pinocchio
from rollouts import DT
from tables import Target, at_most, duration, table

import hybridsim as hs

ENGINES = ("native", "jax.jit", "MuJoCo", "Pinocchio")
OVERHEAD = 10e-6
"""Longest time that a call for a small pytree may cost [s]."""


@dataclass(frozen=True)
class Accelerations:
    """Of one mechanism by all engines."""

    name: str
    timings: Timings
    difference: float


def accelerations(name: str, model: hs.Model, effort: Effort) -> Accelerations:
    """Forward dynamics, the model a constant."""
    q, qd, tau = random_state(model)

    def forward(q, qd, tau):
        return hs.forward_dynamics(model, q, qd, tau)

    _, native = prepare_native(forward, q, qd, tau)
    _, xla = prepare_jax(forward, q, qd, tau)
    text = mjcf(model, DT)
    mujoco, pinocchio = MuJoCo(text), Pinocchio(text)
    mujoco.set_state(q, qd, tau)
    found = (xla(q, qd, tau), mujoco.accelerations(), pinocchio.accelerations(q, qd, tau))
    calls = {
        "native": lambda: native(q, qd, tau),
        "jax.jit": lambda: xla(q, qd, tau),
        "MuJoCo": mujoco.forward(),
        "Pinocchio": pinocchio.forward(q, qd, tau),
    }
    ours = native(q, qd, tau)
    return Accelerations(name, in_rounds(calls, effort), max(difference(theirs, ours) for theirs in found))


def overhead(effort: Effort) -> Timings:
    """Of a program that does next to nothing, from a dict of three small arrays to a tuple of two."""
    given = {"a": np.ones(3), "b": np.ones((2, 2)), "c": np.ones(())}

    def little(x):
        return x["a"] * x["c"], jnp.sum(x["b"])

    _, native = prepare_native(little, given)
    _, xla = prepare_jax(little, given)
    return in_rounds({"native": lambda: native(given), "jax.jit": lambda: xla(given)}, effort)


def sections(results: list[Accelerations], little: Timings) -> list[str]:
    return [
        "## Forward dynamics, one call from Python",
        "The model is a constant. MuJoCo: `mj_forward`. Pinocchio: `aba`. Native and `jax.jit` include the cost of a call, which "
        f"from a dict of three small arrays to a tuple of two, computing next to nothing, is {duration(little.time('native'))} "
        f"for native and {duration(little.time('jax.jit'))} for `jax.jit`.",
        table(
            ["", *ENGINES, *(f"times faster than {e}" for e in ENGINES[1:]), "differ by"],
            [
                [
                    r.name,
                    *(duration(r.timings.time(engine)) for engine in ENGINES),
                    *(f"{r.timings.speedup('native', engine):.3g}" for engine in ENGINES[1:]),
                    f"{r.difference:.0e}",
                ]
                for r in results
            ],
        ),
    ]


def targets(little: Timings) -> list[Target]:
    return [at_most("a call of `native.jit`, dict of 3 arrays to tuple of 2", little.time("native"), OVERHEAD)]
