"""What touching.py measured, as tables and targets."""

from collections.abc import Callable
from dataclasses import dataclass

import touching_chains
from measure import Timings, Wait
from tables import Target, at_least, at_most, duration, sum_of, table
from touching_chains import DT, STEPS
from touching_gradients import Gradient
from touching_rollouts import SPREAD, STATES, Batch, Result

ONE, BATCH, HARD = 1.5, 4.0, 1.0
"""Least speed beside MuJoCo's, from one state and from many; and both of the scenes with the most to do."""
HARDEST = ("Humanoid", "Humanoid, Newton", "ANYmal", "16 boxes", "16 boxes, apart")
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
    finite = r.finite and (r.batch is None or r.batch.finite)
    return [
        r.scene.name + ("" if finite else " **(not finite)**"),
        str(r.scene.model.nv),
        str(r.scene.candidates),
        f"{r.touching:.1f}",
        *_beside_mujoco(r.one, "native"),
        _sum(r.wait),
        *(_batch_cells(r.batch) if r.batch else ["too slow" if r.too_slow else "-", "", "", "", ""]),
    ]


def _batch_cells(batch: Batch) -> list[str]:
    return [f"{batch.states} x {batch.steps}", *_beside_mujoco(batch.timings, "native"), f"{batch.compile:.1f}"]


def _rollout_targets(results: list[Result]) -> list[Target]:
    found = []
    for r in results:
        one, many = (HARD, HARD) if r.scene.name in HARDEST else (ONE, BATCH)
        found.append(at_least(f"{r.scene.name}: one state, native over MuJoCo", _faster(r.one), one))
        what = f"{r.scene.name}: batch of {STATES} on one core, native over MuJoCo"
        if r.batch is not None:
            found.append(at_least(what, _faster(r.batch.timings), many))
        elif r.too_slow:
            found.append(Target(what, f"at least {many:g} times", "too slow to measure", False))
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


def _beside_mujoco(timings: Timings, ours: str, steps: int = 1) -> list[str]:
    times = (duration(timings.time(engine) / steps) for engine in (ours, "MuJoCo"))
    return [*times, f"{timings.speedup(ours, 'MuJoCo'):.3g}"]


def _faster(timings: Timings) -> float:
    return timings.speedup("native", "MuJoCo")


def _sum(wait: Wait) -> str:
    return sum_of(wait.trace, wait.lower, wait.compile)


ENGINES = ["native", "MuJoCo", "times faster"]
ROLLOUTS = Part(
    [
        "",
        "dof",
        "candidates",
        "touching",
        *ENGINES,
        "compile",
        "batch",
        *(f"batch: {x}" for x in (*ENGINES, "compile")),
    ],
    _rollout_row,
    "Rollouts with contact, time a step",
    "The same mechanisms, shapes and pairs in both engines, in steps of 2 ms by Euler's method with implicit damping "
    "(`hs.ImplicitDamping()`). Contact is by `hs.Impulses()`, and by the file's solver settings in MuJoCo (Newton: by its default "
    "ones), whose contact is softer, so that motions are alike and not equal. Candidates: points that we may find touching. "
    "Touching: mean number of "
    "MuJoCo's contacts. MuJoCo: `mujoco.rollout`. Compile: trace + lower and emit + LLVM of the rollout, with nothing on disk "
    f"[s]; of the batch all together. Batch, states x steps: {STATES} states, whose velocities differ by up to {SPREAD:g}, by "
    "`native.batch` and `mujoco.rollout`; where that would take long, fewer steps, then fewer states.",
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
