"""The benchmark that the papers' own engine, TDS, was measured with: lengths of a double pendulum from its motion."""

from collections.abc import Callable
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from measure import Effort, Timings, in_rounds, prepare_jax, prepare_native
from tables import Target, at_most, duration, table

import hybridsim as hs

STEPS, DT = 500, 1e-3
INERTIA = 2 / 5 * 1.0 * 0.15**2
TRUE, GUESS = np.array([3.0, 4.0]), np.array([2.0, 5.0])
"""Lengths [m]."""
CHECK = ("0.00777826641144", "-0.01433660996", "-0.00096609036")
"""Cost and gradient at the guess, as TDS gives them."""
TDS = {"generated C by clang -O2": "83 to 95 us", "as it ships (-O0)": "200 to 210 us", "tape": "510 to 530 us"}
"""One gradient, from TDS.md: measured at another time, on one core of a 2-core AMD EPYC virtual machine."""
TDS_BEST = 83e-6


@dataclass(frozen=True)
class Result:
    timings: Timings
    right: bool
    """All printed digits of the check values are found, by both compilers."""


def swing() -> Callable:
    """Angles after each step from horizontal rest, as a function of the lengths."""
    links = [hs.Link(name, 1.0, inertia=INERTIA) for name in ("upper", "lower")]
    joints = [
        hs.Joint("shoulder", "revolute", "world", "upper", axis=(1, 0, 0)),
        hs.Joint("elbow", "revolute", "upper", "lower", axis=(1, 0, 0)),
    ]
    model = hs.build(links, joints)

    def angles(lengths):
        # As in that engine, link 2 is attached at (0, its OWN length, 0) of link 1.
        along_y = jnp.array([0.0, 1.0, 0.0])
        com, position = lengths[:, None] * along_y, jnp.stack([0 * along_y, lengths[1] * along_y])
        changed = eqx.tree_at(lambda m: (m.links.com, m.joints.position), model, (com, position))
        return hs.rollout(changed, (np.zeros(2), np.zeros(2)), dt=DT, steps=STEPS, contact=None).q[1:]

    return angles


def cost() -> Callable:
    """Mean squared difference from measured angles, as a function of the lengths and of these."""
    angles = swing()
    return lambda lengths, measured: jnp.mean((angles(lengths) - measured) ** 2)


def run(effort: Effort) -> Result:
    f, measured = jax.value_and_grad(cost()), np.asarray(hs.native.jit(swing())(TRUE))
    _, native = prepare_native(f, GUESS, measured)
    _, xla = prepare_jax(f, GUESS, measured)
    calls = {"native": lambda: native(GUESS, measured), "jax.jit": lambda: xla(GUESS, measured)}
    return Result(in_rounds(calls, effort), all(_digits(*call()) == CHECK for call in calls.values()))


def sections(result: Result) -> list[str]:
    rows = [[engine, duration(result.timings.time(engine)), "this run"] for engine in ("native", "jax.jit")]
    rows += [[f"TDS, {how}", time, "TDS.md: earlier, on a 2-core AMD EPYC"] for how, time in TDS.items()]
    return [
        "## The double pendulum of the papers: one gradient",
        f"Two lengths, {STEPS} steps; a call from Python, its cost included. Value and gradient "
        + ("agree" if result.right else "do **not** agree")
        + " with TDS's in all printed digits. Native is "
        f"{result.timings.speedup('native', 'jax.jit'):.3g} times faster than `jax.jit`.",
        table(["", "one gradient", "measured in"], rows),
    ]


def targets(result: Result) -> list[Target]:
    return [
        at_most(
            "double pendulum of the papers: gradient, half of TDS's best", result.timings.time("native"), TDS_BEST / 2
        ),
        Target("double pendulum of the papers: value and gradient", "TDS's digits", _words(result), result.right),
    ]


def _digits(cost, slopes) -> tuple[str, ...]:
    return f"{float(cost):.12g}", *(f"{float(slope):.11f}" for slope in slopes)


def _words(result: Result) -> str:
    return "the same" if result.right else "others"
