"""Does the cost follow what touches? Scenes with many shapes of which few touch, long chains, compile times of gradients.

python benchmarks/touching.py                          everything; writes benchmarks/RESULTS_TOUCHING.md
python benchmarks/touching.py --only A1 "16 boxes"     these alone, printed; also "chain of 50", "gradient of P5", ...
python benchmarks/touching.py --only A1 --quick        one state only, few rounds
python benchmarks/touching.py --only A1 --profile      where the time of a step goes
"""

import os
import traceback
from collections.abc import Callable
from pathlib import Path

import jax
import tyro

jax.config.update("jax_enable_x64", True)

import touching_chains
import touching_gradients
import touching_profile
import touching_report
import touching_rollouts
from measure import Effort
from tables import machine, table, targets_table, versions
from touching_report import Part
from touching_scenes import MissingError, Scene, scenes

import hybridsim as hs

RESULTS = Path(__file__).with_name("RESULTS_TOUCHING.md")


def main(only: tuple[str, ...] = (), quick: bool = False, profile: bool = False, out: Path | None = None) -> None:
    """Measure, print, and write the results if everything was measured.

    Args:
        only: Names of scenes, mechanisms and gradients; all if none are given.
        quick: One state only, in few rounds.
        profile: Print where the time of a step goes, scene by scene, instead.
        out: The file to write.
    """
    where = machine()  # first, as it tells how busy the machine was before
    os.environ["HYBRIDSIM_CACHE"] = "off"  # so that compiling is seen
    effort = Effort(2, 0.05) if quick else Effort(5, 0.3)
    if profile:
        parts = [(_of_scenes(lambda scene: touching_profile.run(scene, effort)), touching_profile.PART)]
    else:
        parts = [
            (_of_scenes(lambda scene: touching_rollouts.run(scene, effort, not quick)), touching_report.ROLLOUTS),
            (touching_chains.chains(effort), touching_report.CHAINS),
            (touching_gradients.gradients(effort), touching_report.GRADIENTS),
        ]
    known = [name for measures, _ in parts for name in measures]
    if unknown := set(only) - set(known):
        raise SystemExit(f"unknown: {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    _warm_up()
    found = [
        _measured({name: f for name, f in measures.items() if not only or name in only}, part)
        for measures, part in parts
    ]
    targets = [t for (results, _), (_, part) in zip(found, parts, strict=True) for t in part.targets(results)]
    sections = [
        "# Benchmark results of cost that follows what touches",
        "Written by `python benchmarks/touching.py`, which `make bench` runs; do not edit.",
        f"- {where}\n- {versions()}\n- float64, one thread. Times are medians of {effort.rounds} rounds; a round measures "
        'both engines one after the other. "Times faster" is the median of the rounds\' ratios.',
        *(["## Targets", targets_table(targets)] if targets else []),
        *(line for got, (_, part) in zip(found, parts, strict=True) if any(got) for line in part.section(*got)),
    ]
    text = "\n\n".join(sections) + "\n"
    print(text)
    if out is not None or not (only or quick or profile):
        (out or RESULTS).write_text(text)


def _of_scenes(measure: Callable[[Scene], object]) -> dict[str, Callable[[], object]]:
    """How to measure each scene, by name."""
    return {name: lambda make=make: measure(make()) for name, make in scenes().items()}


def _measured(measures: dict[str, Callable[[], object]], part: Part) -> tuple[list, dict[str, str]]:
    """What was found, printed as it comes; and why what is missing is."""
    results, missing = [], {}
    for name, measure in measures.items():
        print(f"{name} ...", flush=True)
        try:
            results.append(measure())
            print(table(part.head, [part.row(results[-1])]), flush=True)
        except MissingError as error:
            missing[name] = str(error)
            print(error, flush=True)
        except Exception as error:  # of the engine; the other rows are worth having all the same
            missing[name] = f"**{type(error).__name__}**"
            traceback.print_exc()
    return results, missing


def _warm_up() -> None:
    """Import what tracing and compiling need, or the first measurement would pay for it."""
    ball = hs.world(hs.free_body(hs.solid("ball", 1.0, "sphere", 0.1)), hs.ground())
    hs.native.jit(lambda q, qd: hs.rollout(ball, (q, qd), dt=1e-3, steps=1).q)(*ball.rest())


if __name__ == "__main__":
    tyro.cli(main)
