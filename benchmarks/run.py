"""HybridSim beside its rivals on the same tasks in one run. Writes RESULTS.md beside this file.

make bench
python benchmarks/run.py --quick --out quick.md
"""

import os
import tempfile
import time
from pathlib import Path

import jax
import tyro

jax.config.update("jax_enable_x64", True)

import augmented
import calls
import contact_gradients
import contact_report
import contact_rollouts
import double_pendulum
import network
import one_thread
import optional_rivals
import rollouts
import rollouts_report
import startup
import waits
from contact_scenes import scenes
from measure import Effort
from mechanisms import mechanisms
from tables import machine, targets_table, versions

QUICK = ("chain of 2", "quadruped, 18 dof")
QUICK_SCENES = ("thrown cube", "pendulum of 5 on a floor (P5)")
QUICK_BATCH = 8, 600
"""States and steps; P5 lands after 511."""


def main(
    steps: int = 500,
    rounds: int = 5,
    at_least: float = 0.3,
    quick: bool = False,
    out: Path = Path(__file__).with_name("RESULTS.md"),
) -> None:
    """Measure and write the results.

    Args:
        steps: Length of a rollout.
        rounds: Times each engine is measured; medians are reported.
        at_least: Duration of one measurement [s].
        quick: Few rounds and two mechanisms, to see that all runs; the numbers mean little.
        out: The file to write.
    """
    effort = Effort(2, 0.05) if quick else Effort(rounds, at_least)
    where = machine()  # first, as it tells how busy the machine was before
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HYBRIDSIM_CACHE"] = folder  # empty, so that compiling is seen
        text = report(where, steps, effort, quick)
    out.write_text(text)
    print(text)


def report(where: str, steps: int, effort: Effort, quick: bool) -> str:
    """Measure, and the results as Markdown."""
    chosen = {name: model for name, model in mechanisms().items() if not quick or name in QUICK}
    step = _Progress()
    # New processes first: what runs later heats and fills the machine.
    waited = step("the command line", lambda: waits.run(1 if quick else 5))
    started = step("start-up", lambda: startup.run(*((QUICK, 1) if quick else (startup.SYSTEMS, 3))))
    traced = step("tracing", startup.step_trace)
    pendulum = step("double pendulum of the papers", lambda: double_pendulum.run(effort))
    networks = step("network of the papers", lambda: network.run(effort))
    little = step("a call", lambda: calls.overhead(effort))
    accelerations = [
        step(f"{name}: forward dynamics", lambda n=name, m=model: calls.accelerations(n, m, effort))
        for name, model in chosen.items()
    ]
    rolled = [
        step(f"{name}: rollouts", lambda n=name, m=model: rollouts.run(n, m, steps, 128 if quick else 1024, effort))
        for name, model in chosen.items()
    ]
    alone = {
        name: step(f"{name}: gradient, one thread", lambda n=name: one_thread.run(n, steps, effort)) for name in chosen
    }
    touching = [
        step(f"{s.name}: contact", lambda s=s: contact_rollouts.run(s, effort, *(QUICK_BATCH if quick else ())))
        for s in scenes()
        if not quick or s.name in QUICK_SCENES
    ]
    toss = step("gradient of a toss", lambda: contact_gradients.toss(effort))
    p5 = step("gradient of P5", lambda: contact_gradients.p5(effort, *([["of the solution"]] if quick else ())))
    hybrid = step("networks in a model", lambda: augmented.run(effort))
    targets = [
        *rollouts_report.targets(rolled, alone),
        *double_pendulum.targets(pendulum),
        *network.targets(networks),
        *waits.targets(waited),
        *startup.targets(started, traced),
        *calls.targets(little),
        *contact_report.targets(touching, toss, p5),
        *augmented.targets(*hybrid),
    ]
    parts = [
        "# Benchmark results",
        "Written by `make bench`; do not edit.",
        f"- {where}; the benchmark took {step.total / 60:.1f} minutes\n"
        f"- {versions()}\n"
        f"- float64, CPU. Run times are medians of {effort.rounds} rounds; a round measures all engines one after the other and "
        'takes the fastest of many batches of calls, of at least three. "Times faster" is the median of the rounds\' ratios.\n'
        "- All engines are given the same mechanism, without contact except where the title says so, and step by semi-implicit "
        "Euler. native: `hs.native.jit`; `jax.jit`: the same function of the same arguments.",
        *(["A quick run: the numbers mean little."] if quick else []),
        *optional_rivals.notes(),
        "## Targets",
        targets_table(targets),
        *rollouts_report.sections(rolled, alone),
        *waits.section(waited),
        *startup.sections(started),
        *double_pendulum.sections(pendulum),
        *network.sections(networks),
        *calls.sections(accelerations, little),
        *contact_report.sections(touching, toss, p5),
        *augmented.sections(*hybrid),
    ]
    return "\n\n".join(parts) + "\n"


class _Progress:
    """Says what is being measured, and how long it took."""

    def __init__(self):
        self.begin = time.perf_counter()

    def __call__(self, what: str, measure):
        print(f"{what} ...", end=" ", flush=True)
        begin = time.perf_counter()
        result = measure()
        print(f"{time.perf_counter() - begin:.0f} s", flush=True)
        return result

    @property
    def total(self) -> float:
        return time.perf_counter() - self.begin


if __name__ == "__main__":
    tyro.cli(main)
