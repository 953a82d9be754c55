"""Does the cost follow what touches? Scenes with many shapes of which few touch, and long chains without contact.

python benchmarks/touching.py                          everything; writes benchmarks/RESULTS_TOUCHING.md
python benchmarks/touching.py --only A1 "16 boxes"     these alone, printed
python benchmarks/touching.py --quick                  one state only, few rounds
"""

import os
from pathlib import Path

import jax
import tyro

jax.config.update("jax_enable_x64", True)

import touching_report
import touching_rollouts
from measure import Effort
from tables import machine, table, targets_table, versions
from touching_scenes import MissingError, scenes

RESULTS = Path(__file__).with_name("RESULTS_TOUCHING.md")


def main(only: tuple[str, ...] = (), quick: bool = False, out: Path | None = None) -> None:
    """Measure, print, and write the results if everything was measured.

    Args:
        only: Names of scenes; all if none are given.
        quick: One state only, in few rounds.
        out: The file to write.
    """
    where = machine()
    os.environ["HYBRIDSIM_CACHE"] = "off"  # so that compiling is seen
    makers = scenes()
    if unknown := set(only) - set(makers):
        raise SystemExit(f"unknown: {', '.join(sorted(unknown))}; there are {', '.join(makers)}")
    effort = Effort(2, 0.05) if quick else Effort(5, 0.3)
    results, missing = [], {}
    for name in only or makers:
        try:
            scene = makers[name]()
        except MissingError as error:
            missing[name] = str(error)
            print(f"{name}: {error}")
            continue
        results.append(touching_rollouts.run(scene, effort, batch=not quick))
        print(table(touching_report.HEAD, [touching_report.row(results[-1])]), flush=True)
    parts = [
        "# Benchmark results of cost that follows what touches",
        "Written by `python benchmarks/touching.py`; do not edit.",
        f"- {where}\n- {versions()}",
        "## Targets",
        targets_table(touching_report.targets(results)),
        *touching_report.rollouts(results, missing),
    ]
    text = "\n\n".join(parts) + "\n"
    print(text)
    if out is not None or not (only or quick):
        (out or RESULTS).write_text(text)


if __name__ == "__main__":
    tyro.cli(main)
