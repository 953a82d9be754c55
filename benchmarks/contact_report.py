"""What the scenes with contact showed, as tables and targets."""

from contact_gradients import P5, TDS_BEST, TDS_GRADIENT, TDS_VALUE, TOSS, Toss
from contact_rollouts import BATCH_ROUNDS, SPREAD, SPRINGS, Result
from measure import Wait
from tables import Target, at_least, at_most, duration, sum_of, table

ONE, BATCH, GRADIENT, COMPILE = 1.0, 4.0, 10.0, 3.0
"""Least speed beside MuJoCo's, from one state and from many; most tosses that a gradient may cost; longest wait [s]."""


def sections(results: list[Result], toss: Toss, p5: dict[str, P5]) -> list[str]:
    broken = [r.scene.name for r in results if not r.finite]
    return [
        "## Contact: rollouts, time a step",
        "The scenes of contact_scenes.py. native: `hs.Impulses()`. MuJoCo: `mujoco.rollout` with its own solver settings and its "
        "pyramidal cone; its contact is softer, so motions are alike, not equal. Both on one thread. Many states: "
        f"{results[0].states}, whose velocities differ by up to {SPREAD:g}, by `native.batch` and `mujoco.rollout`; at most "
        f"{max(r.batch_steps for r in results)} steps and {BATCH_ROUNDS} rounds. Springs: `hs.Springs()` in steps of "
        f"{SPRINGS * 1e3:g} ms, as with 1 ms the cube trembles. Compile: trace + lower and emit + LLVM [s], for one state; "
        "trotting is the same program as standing, found on disk.",
        *([f"**Not finite: {', '.join(broken)}.**"] if broken else []),
        table(
            ["", "dof", "dt", "native", "MuJoCo", "times faster", *_MANY, "springs", "compile"],
            [_row(r) for r in results],
        ),
        f"## Contact: gradient of a toss of {TOSS} steps",
        "A number of the thrown cube's last pose, and its gradient with respect to its first state and all numbers of its model, "
        "by `native.value_and_grad`; forward is the number alone, of the same arguments.",
        table(
            ["", "forward", "gradient", "gradient / forward", "compile the gradient"],
            [["thrown cube", *map(duration, _times(toss)), f"{_cost(toss):.3g}", _sum(toss.wait)]],
        ),
        "## Contact: gradient of the papers' five links on a floor (P5)",
        "Mean angle of 5000 steps by the five first velocities, contact as in TDS (`hs.Impulses.tds(50)`): the derivative of the "
        "solution, for which sweeps go on until nothing changes, or that through exactly 50 sweeps. TDS: the best of its ways, "
        "recorded earlier on another machine of the same kind, not this run.",
        table(
            ["", "time", "compile", "value", *(f"by velocity {i}" for i in range(1, 6))],
            [
                *(
                    [f"native, {how}", duration(r.timings.time("native")), _sum(r.wait), *_digits(r)]
                    for how, r in p5.items()
                ),
                ["TDS", duration(TDS_BEST), "-", f"{TDS_VALUE:.10f}", *(f"{x:.10f}" for x in TDS_GRADIENT)],
            ],
        ),
    ]


def targets(results: list[Result], toss: Toss, p5: dict[str, P5]) -> list[Target]:
    one = [at_least(f"contact, {r.scene.name}: one state, native over MuJoCo", _faster(r.one), ONE) for r in results]
    batch = [
        at_least(f"contact, {r.scene.name}: batch on one core, native over MuJoCo", _faster(r.batch), BATCH)
        for r in results
    ]
    gradient = Target(
        "contact, toss of the cube: gradient over forward",
        f"at most {GRADIENT:g} times",
        f"{_cost(toss):.3g} times",
        _cost(toss) <= GRADIENT,
    )
    links = [
        target
        for how, r in p5.items()
        for target in (
            at_most(f"contact, P5: gradient {how}, a tenth of TDS's best", r.timings.time("native"), TDS_BEST / 10),
            at_most(f"contact, P5: trace and compile the gradient {how}", r.wait.total, COMPILE),
        )
    ]
    return [*one, *batch, gradient, *links]


_MANY = ("native, many states", "MuJoCo, many states", "times faster, many states")


def _row(r: Result) -> list[str]:
    return [
        r.scene.name,
        str(len(r.scene.qd)),
        f"{r.scene.dt * 1e3:g} ms",
        *(duration(r.one.time(engine)) for engine in ("native", "MuJoCo")),
        f"{_faster(r.one):.3g}",
        *(duration(r.batch.time(engine)) for engine in ("native", "MuJoCo")),
        f"{_faster(r.batch):.3g}",
        duration(r.one.time("springs")) if "springs" in r.one else "-",
        _sum(r.wait),
    ]


def _faster(timings) -> float:
    return timings.speedup("native", "MuJoCo")


def _times(toss: Toss) -> tuple[float, float]:
    return toss.timings.time("forward"), toss.timings.time("gradient")


def _cost(toss: Toss) -> float:
    return toss.timings.speedup("forward", "gradient")


def _sum(wait: Wait) -> str:
    return sum_of(wait.trace, wait.lower, wait.compile)


def _digits(r: P5) -> list[str]:
    return [f"{r.value:.10f}", *(f"{x:.10f}" for x in r.gradient)]
