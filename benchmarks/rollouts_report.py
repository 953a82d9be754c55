"""What the rollouts showed, as tables and targets."""

from measure import Timings
from rollouts import BATCH_ROUNDS, CORES, DT, Result
from tables import Target, at_least, duration, sum_of, table


def sections(results: list[Result], alone: dict[str, Timings]) -> list[str]:
    """`alone`: gradients where XLA has one thread, by mechanism."""
    steps = results[0].steps
    return [
        f"## Rollouts of {steps} steps of {DT * 1e3:g} ms: forward, time a step",
        "From one state to all positions; the model is a constant of the program, in all engines. MuJoCo: `mujoco.rollout`, its "
        "own C loop, one thread. MJX: a scan of `mjx.step` under `jax.jit`. TDS: the wheel `pytinydiffsim`, two calls a step from "
        "Python, chains only. Pinocchio has no loop outside of Python: see its single calls below. Differences are the largest, "
        "relative to the largest position.",
        _forward(results),
        f"## Rollouts of {steps} steps: gradient, time a step",
        "Value and gradient of the sum of squared positions with respect to all masses, centres of mass, inertias, and places of "
        "joints (the lengths). jax.jit as it comes has a thread for each core; programs of tiny operations can be faster with one "
        "(NPROC=1), so that is measured as well, in a process of its own beside native. Trust the smaller ratio.",
        table(
            [
                "",
                "native",
                "jax.jit",
                "times faster",
                "jax.jit, 1 thread",
                "times faster",
                "gradient / forward",
                "differ by",
            ],
            [
                [
                    r.name,
                    *(duration(r.gradient.time(engine) / steps) for engine in ("native", "jax.jit")),
                    f"{r.gradient.speedup('native', 'jax.jit'):.3g}",
                    duration(alone[r.name].time("jax.jit") / steps),
                    f"{alone[r.name].speedup('native', 'jax.jit'):.3g}",
                    f"{r.gradient.time('native') / r.forward.time('native'):.2g}",
                    f"{r.differences['gradient']:.0e}",
                ]
                for r in results
            ],
        ),
        f"## Rollouts of {steps} steps: {results[0].states} states at once, time a step and state",
        f"`native.batch` and `mujoco.rollout`, on one core and in {CORES} threads on all; at most {BATCH_ROUNDS} rounds.",
        _batch(results),
        "## What one waits for once",
        "Seconds with nothing on disk and JAX's caches cleared. Native: trace + lower and emit + LLVM; others: trace + compile.",
        _waits(results),
    ]


def targets(results: list[Result], alone: dict[str, Timings]) -> list[Target]:
    forward = [
        at_least(
            f"{r.name}: forward, native over MuJoCo", r.forward.speedup("native", "MuJoCo"), 8 if is_chain(r) else 4
        )
        for r in results
    ]
    gradient = [
        at_least(f"{r.name}: gradient, native over `jax.jit`", r.gradient.speedup("native", "jax.jit"), 50)
        for r in results
    ]
    gradient += [
        at_least(f"{name}: gradient, native over `jax.jit` with one thread", timings.speedup("native", "jax.jit"), 50)
        for name, timings in alone.items()
    ]
    batch = [
        at_least(f"{r.name}: batch on one core, native over MuJoCo", r.batch.speedup("native", "MuJoCo"), 40)
        for r in results
        if is_chain(r)
    ]
    return [*gradient, *forward, *batch]


def is_chain(result: Result) -> bool:
    return result.name.startswith("chain")


def _forward(results: list[Result]) -> str:
    engines = ("native", "jax.jit", "MuJoCo", "MJX", "TDS")
    rivals = [e for e in engines[1:] if any(e in r.forward for r in results)]
    return table(
        ["", "native", *rivals, *(f"times faster than {rival}" for rival in rivals), "differ by"],
        [
            [
                r.name,
                *(_time(r.forward, engine, r.steps) for engine in ("native", *rivals)),
                *(f"{r.forward.speedup('native', e):.3g}" if e in r.forward else "-" for e in rivals),
                f"{max(r.differences[e] for e in rivals if e in r.differences):.0e}",
            ]
            for r in results
        ],
    )


def _batch(results: list[Result]) -> str:
    engines = ("native", "MuJoCo", "native, all cores", "MuJoCo, all cores")
    return table(
        ["", *engines, "times faster, one core", "times faster, all cores"],
        [
            [
                r.name,
                *(_time(r.batch, engine, r.steps * r.states) for engine in engines),
                f"{r.batch.speedup('native', 'MuJoCo'):.3g}",
                f"{r.batch.speedup('native, all cores', 'MuJoCo, all cores'):.3g}",
            ]
            for r in results
        ],
    )


def _waits(results: list[Result]) -> str:
    kinds = ("forward native", "forward jax.jit", "forward MJX", "gradient native", "gradient jax.jit")

    def cell(r: Result, kind: str) -> str:
        if kind not in r.waits:
            return "-"
        wait = r.waits[kind]
        return sum_of(*((wait.trace, wait.lower, wait.compile) if "native" in kind else (wait.trace, wait.compile)))

    return table(["", *kinds], [[r.name, *(cell(r, kind) for kind in kinds)] for r in results])


def _time(timings: Timings, engine: str, parts: int) -> str:
    return duration(timings.time(engine) / parts) if engine in timings else "-"
