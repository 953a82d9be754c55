"""What touching.py measured, as tables and targets."""

from collections.abc import Callable
from dataclasses import dataclass

import touching_chains
from tables import Target, at_least, at_most, duration, sum_of, table
from touching_chains import DT, STEPS
from touching_gradients import Gradient
from touching_rollouts import SPREAD, STATES, Result

ONE, BATCH, HARD = 1.5, 4.0, 1.0
"""Least speed beside MuJoCo's, from one state and from many; and both of the scenes with the most to do."""
HARDEST = ("Humanoid", "ANYmal", "16 boxes", "16 boxes, apart")
CHAIN = 6.0
"""Least speed of chains beside MuJoCo's."""
LONG = ("chain of 20", "chain of 50")


@dataclass(frozen=True)
class Part:
    """One table of results."""

    head: list[str]
    row: Callable[[object], list[str]]
    """Of one result."""
    title: str
    about: str
    targets: Callable[[list], list[Target]] = lambda results: []

    def section(self, results: list, missing: dict[str, str]) -> list[str]:
        """`missing`: why a row is not there."""
        lost = [[name, why, *[""] * (len(self.head) - 2)] for name, why in missing.items()]
        return [f"## {self.title}", self.about, table(self.head, [self.row(r) for r in results] + lost)]


def _rollout_row(r: Result) -> list[str]:
    many = ["-", "-", "-"] if r.batch is None else _beside_mujoco(r.batch, "native")
    return [
        r.scene.name + ("" if r.finite else " **(not finite)**"),
        str(r.scene.model.nv),
        str(r.scene.candidates),
        f"{r.touching:.1f}",
        *_beside_mujoco(r.one, "native"),
        *many,
        _sum(r.wait),
        "-" if r.batch is None else f"{r.batch_compile:.1f}",
    ]


def _rollout_targets(results: list[Result]) -> list[Target]:
    found = []
    for r in results:
        one, many = (HARD, HARD) if r.scene.name in HARDEST else (ONE, BATCH)
        ratios = [("one state", r.one, one), (f"batch of {STATES} on one core", r.batch, many)]
        found += [
            at_least(f"{r.scene.name}: {what}, native over MuJoCo", times.speedup("native", "MuJoCo"), least)
            for what, times, least in ratios
            if times is not None
        ]
    return found


def _chain_row(r: touching_chains.Result) -> list[str]:
    forward, mujoco, faster = _beside_mujoco(r.timings, "forward", STEPS)
    return [
        r.name,
        str(r.dofs),
        forward,
        mujoco,
        faster,
        duration(r.timings.time("gradient") / STEPS),
        f"{r.timings.speedup('forward', 'gradient'):.3g}",
        _sum(r.forward_wait),
        _sum(r.gradient_wait),
        f"{r.difference:.0e}",
    ]


def _chain_targets(results: list[touching_chains.Result]) -> list[Target]:
    return [
        at_least(f"{r.name}: one state, native over MuJoCo", r.timings.speedup("forward", "MuJoCo"), CHAIN)
        for r in results
        if r.name in LONG
    ]


def _gradient_row(r: Gradient) -> list[str]:
    return [r.name, _sum(r.wait), f"{r.wait.total:.1f}", duration(r.time)]


def _gradient_targets(results: list[Gradient]) -> list[Target]:
    return [at_most(f"gradient of {r.name}: trace and compile", r.wait.total, r.limit) for r in results]


def _beside_mujoco(timings, ours: str, steps: int = 1) -> list[str]:
    times = (duration(timings.time(engine) / steps) for engine in (ours, "MuJoCo"))
    return [*times, f"{timings.speedup(ours, 'MuJoCo'):.3g}"]


def _sum(wait) -> str:
    return sum_of(wait.trace, wait.lower, wait.compile)


ENGINES = ["native", "MuJoCo", "times faster"]
ROLLOUTS = Part(
    [
        "",
        "dof",
        "candidates",
        "touching",
        *ENGINES,
        *(f"{STATES}: {engine}" for engine in ENGINES),
        "compile",
        f"{STATES}: compile",
    ],
    _rollout_row,
    "Rollouts with contact, time a step",
    "The same mechanisms, shapes and pairs in both engines, in steps of 2 ms by Euler's method with implicit damping "
    "(`hs.ImplicitDamping()`). Contact is by `hs.Impulses()`, and by the file's solver settings in MuJoCo, whose contact is "
    "softer, so that motions are alike and not equal. Candidates: points that we may find touching. Touching: mean number of "
    f"MuJoCo's contacts. MuJoCo: `mujoco.rollout`. {STATES}: as many states, whose velocities differ by up to {SPREAD:g}, by "
    "`native.batch` and `mujoco.rollout`, over fewer steps where they would take long. Compile: trace + lower and emit + LLVM of "
    "the rollout, with nothing on disk [s].",
    _rollout_targets,
)
CHAINS = Part(
    ["", "dof", *ENGINES, "gradient", "gradient / forward", "compile", "compile the gradient", "differ by"],
    _chain_row,
    f"Without contact: rollouts of {STEPS} steps of {DT * 1e3:g} ms, time a step",
    "Gradient: of the sum of squared positions by all masses, centres of mass, inertias and places of joints. Compile: as above. "
    "Difference: of positions from MuJoCo's, relative to the largest.",
    _chain_targets,
)
GRADIENTS = Part(
    ["", "compile", "together [s]", "time of one"],
    _gradient_row,
    "Gradients through contact: what one waits for once",
    "`native.value_and_grad` of a number of the last pose (P5: of the mean angle) by all numbers of the model and the first "
    "state (P5: by the first velocities; the push: by the numbers of the model). Compile: as above.",
    _gradient_targets,
)
