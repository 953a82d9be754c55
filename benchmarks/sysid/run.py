"""Identification beside mujoco.sysid: the same two problems, each program in a process of its own, one after the other.

python benchmarks/sysid/run.py writes RESULTS_SYSID.md; `make bench` does so too.
"""

import sys
from pathlib import Path

import numpy as np

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]
from processes import result_of
from tables import at_least, machine, table, targets_table, versions

ROUNDS = {"small": 5, "large": 3}
QUALITIES = (
    "training RMSE [rad]",
    "RMSE on torques never seen [rad]",
    "relative error of torques",
    "worst relative error of damping",
)
TITLES = {
    "small": "Double pendulum, 500 steps, 2 dampings",
    "large": "Arm of 7 joints, 5 s at 1 kHz, 70 inertial numbers and 7 dampings",
}


def measured(name: str) -> dict[str, list[dict]]:
    """Both programs in turn, so that a busy machine is busy for both. The first of ours compiles; later ones find its code."""
    found: dict[str, list[dict]] = {"hybridsim": [], "mujoco.sysid": []}
    for k in range(ROUNDS[name]):
        for program, script in (("hybridsim", "ours.py"), ("mujoco.sysid", "rival.py")):
            found[program].append(result_of(str(Path(__file__).parent / script), name))
            print(f"{name}, round {k + 1}, {program}: {found[program][-1]['process [s]']:.2f} s", flush=True)
    return found


def median(results: list[dict], key: str) -> float:
    return float(np.median([result[key] for result in results]))


def report() -> str:
    results = {name: measured(name) for name in ROUNDS}
    ratio = {
        name: median(both["mujoco.sysid"], "process [s]") / median(both["hybridsim"], "process [s]")
        for name, both in results.items()
    }
    targets = [
        at_least("small: whole process, beside mujoco.sysid", ratio["small"], 1),
        at_least("large: whole process, beside mujoco.sysid", ratio["large"], 10),
    ]
    lines = [
        "# Identification beside mujoco.sysid",
        "",
        "Written by `python benchmarks/sysid/run.py`; do not edit.",
        "",
    ]
    lines += [f"- {machine()}", f"- {versions()}", "", "## Targets", "", targets_table(targets), ""]
    for name, both in results.items():
        rows = []
        for program, found in both.items():
            times = (
                f"{found[0]['process [s]']:.2f} s",
                f"{median(found, 'process [s]'):.2f} s",
                f"{median(found, 'solve [s]'):.2f} s",
            )
            rows.append([program, *times, *(f"{median(found, key):.3g}" for key in QUALITIES)])
        head = ["", "process, first", "process, median", "solve, median", *QUALITIES]
        lines += [f"## {TITLES[name]}", "", f"{ROUNDS[name]} processes of each.", "", table(head, rows), ""]
    return "\n".join(lines)


if __name__ == "__main__":
    text = report()
    print(text)
    (Path(__file__).parent.parent / "RESULTS_SYSID.md").write_text(text)
