"""What the scenes in which few shapes touch showed, as tables and targets."""

from tables import Target, at_least, duration, sum_of, table
from touching_rollouts import SPREAD, STATES, Result

ONE, BATCH, HARD = 1.5, 4.0, 1.0
"""Least speed beside MuJoCo's, from one state and from many; both of the scenes that are hardest for us."""
HARDEST = ("Humanoid", "ANYmal", "16 boxes", "16 boxes, apart")
HEAD = [
    "",
    "dof",
    "candidates",
    "touching",
    "native",
    "MuJoCo",
    "times faster",
    f"native, {STATES}",
    f"MuJoCo, {STATES}",
    f"times faster, {STATES}",
    "compile",
    f"compile, {STATES}",
]


def rollouts(results: list[Result], missing: dict[str, str]) -> list[str]:
    """`missing`: why a scene is not there."""
    broken = [r.scene.name for r in results if not r.finite]
    lost = [[name, *["-"] * (len(HEAD) - 2), why] for name, why in missing.items()]
    return [
        "## Rollouts, time a step",
        "The same mechanisms, shapes and pairs in both engines: 2 ms, Euler with implicit damping (`hs.ImplicitDamping()`), "
        "contact by `hs.Impulses()` here and by the file's solver settings in MuJoCo, whose contact is softer, so that motions are "
        "alike and not equal. Candidates: points that we may find touching. Touching: mean number of MuJoCo's contacts. MuJoCo: "
        f"`mujoco.rollout`. All on one thread. {STATES}: as many states, whose velocities differ by up to {SPREAD:g}, by "
        "`native.batch` and `mujoco.rollout`, over fewer steps where they would take long. Compile: trace + lower and emit + LLVM of "
        "the rollout with nothing on disk [s].",
        *([f"**Not finite: {', '.join(broken)}.**"] if broken else []),
        table(HEAD, [row(r) for r in results] + lost),
    ]


def targets(results: list[Result]) -> list[Target]:
    found = []
    for r in results:
        name = r.scene.name
        one, many = (HARD, HARD) if name in HARDEST else (ONE, BATCH)
        found.append(at_least(f"{name}: one state, native over MuJoCo", r.one.speedup("native", "MuJoCo"), one))
        if r.batch is not None:
            ratio = r.batch.speedup("native", "MuJoCo")
            found.append(at_least(f"{name}: batch of {STATES} on one core, native over MuJoCo", ratio, many))
    return found


def row(r: Result) -> list[str]:
    many = ["-", "-", "-"] if r.batch is None else _times(r.batch)
    return [
        r.scene.name,
        str(r.scene.model.nv),
        str(r.scene.candidates),
        f"{r.touching:.1f}",
        *_times(r.one),
        *many,
        sum_of(r.wait.trace, r.wait.lower, r.wait.compile),
        "-" if r.batch is None else f"{r.batch_compile:.1f} s",
    ]


def _times(timings) -> list[str]:
    return [
        *(duration(timings.time(engine)) for engine in ("native", "MuJoCo")),
        f"{timings.speedup('native', 'MuJoCo'):.3g}",
    ]
