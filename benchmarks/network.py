"""The network of 175 parameters that TDS was measured with: one value and one gradient inside a compiled loop."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import jax
import numpy as np
from measure import Effort, Timings, difference, in_rounds, prepare_jax, prepare_native
from tables import Target, at_most, duration, table

SIZES = (4, 10, 10, 1)
INPUT = np.array([0.1, -0.2, 0.3, 0.4])
EVALUATIONS = 1000
LIMIT = 0.3e-6
"""Longest time of one evaluation [s]."""
TDS = {"value": "0.57 to 1.0 us", "gradient": "0.32 to 0.50 us"}
"""From TDS.md: measured at another time, on one core of a 2-core AMD EPYC virtual machine."""


def parameters() -> dict[str, list[np.ndarray]]:
    """150 weights and 25 biases: the inputs have biases too."""
    rng = np.random.default_rng(0)
    weights = [rng.normal(0, n**-0.5, (m, n)) for n, m in pairwise(SIZES)]
    return {"weights": weights, "biases": [rng.normal(0, 0.1, n) for n in SIZES]}


def output(parameters, x):
    first, *biases = parameters["biases"]
    x = x + first
    for i, (W, b) in enumerate(zip(parameters["weights"], biases, strict=True)):
        x = W @ x + b
        x = jax.nn.elu(x) if i < len(biases) - 1 else x
    return x[0]


def values(parameters, x):
    """Each evaluation needs the last one's output, so that none can be left out or done at once."""
    return jax.lax.fori_loop(0, EVALUATIONS, lambda _, x: x + 1e-9 * output(parameters, x), x)


def gradients(parameters, x):
    """The same with parameters that follow their gradient."""

    def descend(_, parameters):
        slopes = jax.grad(output)(parameters, x)
        return jax.tree.map(lambda p, slope: p - 1e-9 * slope, parameters, slopes)

    return jax.lax.fori_loop(0, EVALUATIONS, descend, parameters)


@dataclass(frozen=True)
class Result:
    timings: Timings
    difference: float
    """Of the changes that the loop has made, which are a millionth of the numbers: rounding alone gives 1e-10."""


def run(effort: Effort) -> dict[str, Result]:
    return {"value": _run(values, INPUT, effort), "gradient": _run(gradients, parameters(), effort)}


def _run(f: Callable, start, effort: Effort) -> Result:
    given = parameters()
    _, native = prepare_native(f, given, INPUT)
    _, xla = prepare_jax(f, given, INPUT)
    ours, theirs = (jax.tree.map(np.subtract, engine(given, INPUT), start) for engine in (native, xla))
    calls = {"native": lambda: native(given, INPUT), "jax.jit": lambda: xla(given, INPUT)}
    return Result(in_rounds(calls, effort), difference(ours, theirs))


def sections(results: dict[str, Result]) -> list[str]:
    return [
        "## The network of the papers: 175 parameters",
        f"4-10-10-1, ELU. Time of one evaluation in a compiled loop of {EVALUATIONS}; the gradient's includes a step of descent. "
        "TDS: from TDS.md, not this run; plain C++ for the value, generated C by clang -O2 for the gradient.",
        table(
            ["", "native", "jax.jit", "times faster", "TDS", "differ by"],
            [
                [
                    what,
                    *(duration(r.timings.time(engine) / EVALUATIONS) for engine in ("native", "jax.jit")),
                    f"{r.timings.speedup('native', 'jax.jit'):.3g}",
                    TDS[what],
                    f"{r.difference:.0e}",
                ]
                for what, r in results.items()
            ],
        ),
    ]


def targets(results: dict[str, Result]) -> list[Target]:
    return [
        at_most(f"network of 175 parameters: {what}", r.timings.time("native") / EVALUATIONS, LIMIT)
        for what, r in results.items()
    ]
