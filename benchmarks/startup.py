"""How long a new process waits for a gradient: by native code from nothing, from disk, and by jax.jit.

`python benchmarks/startup.py` prints these waits and those for the command line (waits.py). Each measurement is a process
of its own, `python startup.py NAME MODE`, that prints its seconds as JSON. The clock starts after imports and after the
model is built.
"""

import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from statistics import median

import double_pendulum
import jax
import jax.numpy as jnp
import numpy as np
import waits
from measure import Wait, prepare_jax
from mechanisms import mechanisms, quadruped, random_state
from processes import result_of
from rollouts import DT, loss, numbers
from tables import Target, at_most, machine, sum_of, table, targets_table

import hybridsim as hs

STEPS = 500
SYSTEMS = {"double pendulum of the papers": 1.0, "chain of 2": 1.0, "quadruped, 18 dof": 8.0}
"""Longest acceptable time to trace and compile the gradient [s]."""
SECOND_WAYS = {"jit": "`native.jit(jax.value_and_grad(f))`", "value_and_grad": "`native.value_and_grad(f)`"}
"""The latter finds its code without differentiating."""
SECOND = 0.3
"""Longest acceptable time of a second process [s]."""
STEP_TRACE = 2.0
"""Longest acceptable time to trace the gradient of one step of the quadruped [s]."""


@dataclass(frozen=True)
class Result:
    name: str
    native: Wait
    jax: Wait
    second: dict[str, float]
    """From the call to the result, with the code on disk, by the keys of `SECOND_WAYS` [s]."""


def run(names: Iterable[str], repeats: int) -> list[Result]:
    """Of these systems. The second process is started several times, as it is quick."""
    results = []
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            native = Wait(**_process(name, "native", folder))
            _process(name, "value_and_grad", folder)  # fills the disk, as "native" does for "jit"
            second = {way: median(_process(name, way, folder)["total"] for _ in range(repeats)) for way in SECOND_WAYS}
            xla = Wait(**_process(name, "jax", folder))
        results.append(Result(name, native, xla, second))
    return results


def step_trace() -> float:
    """Processor time of tracing the gradient of one step of the quadruped, with respect to all its numbers [s]."""
    model = jax.tree.map(jnp.asarray, quadruped())
    state = hs.State(*(jnp.asarray(x) for x in random_state(model)[:2]))

    def loss(model, state):
        return sum(jnp.sum(x**2) for x in hs.step(model, state, dt=DT, contact=None))

    def once() -> float:
        jax.clear_caches()
        begin = time.process_time()
        jax.jit(jax.grad(loss, argnums=(0, 1))).trace(model, state)
        return time.process_time() - begin

    return median(once() for _ in range(3))


def sections(results: list[Result]) -> list[str]:
    return [
        "## A new process",
        "Seconds until the gradient of 500 steps can be called, after imports: the double pendulum of the papers with respect to "
        "two lengths, the others to all numbers as above. Native: trace + lower and emit + LLVM. The second process finds the code "
        "on disk; its time is that of the first call, which traces too.",
        table(
            [
                "",
                "native",
                "sum",
                *(f"second process, {way}" for way in SECOND_WAYS.values()),
                "jax.jit: trace + compile",
                "native / jax.jit",
            ],
            [
                [
                    r.name,
                    sum_of(r.native.trace, r.native.lower, r.native.compile),
                    f"{r.native.total:.2f}",
                    *(f"{r.second[way]:.2f}" for way in SECOND_WAYS),
                    sum_of(r.jax.trace, r.jax.compile),
                    f"{r.native.total / r.jax.total:.2f}",
                ]
                for r in results
            ],
        ),
    ]


def targets(results: list[Result], traced: float) -> list[Target]:
    listed = []
    for r in results:
        share = r.native.total / r.jax.total
        listed += [
            at_most(f"{r.name}: trace and compile the gradient", r.native.total, SYSTEMS[r.name]),
            Target(f"{r.name}: the same beside `jax.jit`", "less than a third", f"{share:.2f}", share < 1 / 3),
            *(
                at_most(f"{r.name}: the same in a second process, {words}", r.second[way], SECOND)
                for way, words in SECOND_WAYS.items()
            ),
        ]
    return [*listed, at_most("quadruped: trace the gradient of one step, processor time", traced, STEP_TRACE)]


def _process(name: str, mode: str, folder: str) -> dict[str, float]:
    return result_of(__file__, name, mode, HYBRIDSIM_CACHE=folder, JAX_ENABLE_COMPILATION_CACHE="false")


def _problem(name: str) -> tuple[Callable, tuple]:
    """What is differentiated with respect to its first argument, and its arguments."""
    if name == "double pendulum of the papers":
        return double_pendulum.cost(), (double_pendulum.GUESS, np.zeros((double_pendulum.STEPS, 2)))
    model = mechanisms()[name]
    return loss(model, STEPS), (numbers(model), *random_state(model)[:2])


def _child(name: str, mode: str) -> dict[str, float]:
    """In the new process."""
    f, arguments = _problem(name)
    if mode == "jax":
        return vars(prepare_jax(jax.value_and_grad(f), *arguments)[0])
    # This imports LLVM, so the clock starts after it.
    native = hs.native.value_and_grad(f) if mode == "value_and_grad" else hs.native.jit(jax.value_and_grad(f))
    begin = time.perf_counter()
    if mode in SECOND_WAYS:
        native(*arguments)
        return {"total": time.perf_counter() - begin}
    lowered = native.lower(*arguments)
    traced = time.perf_counter()
    kernel = lowered.kernel
    end = time.perf_counter()
    llvm = kernel.compiled.seconds
    return {"trace": traced - begin, "lower": end - traced - llvm, "compile": llvm}


if __name__ == "__main__":
    jax.config.update("jax_enable_x64", True)
    if len(sys.argv) > 1:
        print(json.dumps(_child(*sys.argv[1:])))
    else:
        waited, started = waits.run(5), run(SYSTEMS, 3)
        goals = targets_table([*waits.targets(waited), *targets(started, step_trace())])
        print("\n\n".join([machine(), *waits.section(waited), *sections(started), goals]))
