"""The network of 175 parameters that TDS was measured with: one value and one gradient inside a compiled loop."""

from collections.abc import Callable
from itertools import pairwise

import jax
import numpy as np
from markdown import Target, at_most, duration, table
from measure import Effort, Timings, in_rounds, prepare_jax, prepare_native

SIZES = (4, 10, 10, 1)
INPUT = np.array([0.1, -0.2, 0.3, 0.4])
EVALUATIONS = 1000
LIMIT = 0.3e-6
"""Longest time of one evaluation [s]."""
TDS = {"value": "0.57 to 1.0 us", "gradient": "0.32 to 0.50 us"}
"""TDS's best on such a machine. From a document, measured at another time."""


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


def run(effort: Effort) -> dict[str, Timings]:
    return {"value": _run(values, effort), "gradient": _run(gradients, effort)}


def _run(f: Callable, effort: Effort) -> Timings:
    given = parameters()
    _, native = prepare_native(f, given, INPUT)
    _, xla = prepare_jax(f, given, INPUT)
    return in_rounds({"native": lambda: native(given, INPUT), "jax.jit": lambda: xla(given, INPUT)}, effort)


def sections(results: dict[str, Timings]) -> list[str]:
    return [
        "## The network of the papers: 175 parameters",
        f"4-10-10-1, ELU. Time of one evaluation in a compiled loop of {EVALUATIONS}; the gradient's includes a step of descent. "
        "TDS: its best, measured at another time on a machine of this kind.",
        table(
            ["", "native", "`jax.jit`", "times faster", "TDS"],
            [
                [
                    what,
                    *(duration(timings.time(engine) / EVALUATIONS) for engine in ("native", "jax.jit")),
                    f"{timings.speedup('native', 'jax.jit'):.3g}",
                    TDS[what],
                ]
                for what, timings in results.items()
            ],
        ),
    ]


def targets(results: dict[str, Timings]) -> list[Target]:
    return [
        at_most(f"network of 175 parameters: {what}", timings.time("native") / EVALUATIONS, LIMIT)
        for what, timings in results.items()
    ]
