"""The main job on two real pendulums that nothing drives: `hybridsim init` and `hybridsim fit`.

    HYBRIDSIM_DATA=folder python examples/pendulums/two_commands.py out/pendulums

Angles are written as the tables that a lab would have; the URDFs beside this file have one right number each, the length of
the upper link. Prints the error on held-out runs, in degrees, and what was found; takes about three minutes.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from hybridsim.cli import main
from hybridsim.data import read_ibm_double_pendulum, read_multi_arm_swings

HERE = Path(__file__).parent


def motions(name: str) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Runs with their times [s] and joint angles [rad]: link 1 from hanging, link 2 from link 1."""
    if name == "multi_arm":
        # Pieces of one recording: neighbours are alike.
        for swing in read_multi_arm_swings()[::3]:
            yield swing.name, swing.time, swing.joint_position
    else:
        for run in map(str, range(8)):
            swing = read_ibm_double_pendulum(run)
            yield f"run{run}", swing.time, np.stack([swing.angle[:, 0], swing.angle[:, 1] - swing.angle[:, 0]], axis=1)


def calibrated(name: str, folder: Path) -> dict:
    """The summary of a run."""
    folder.mkdir(parents=True, exist_ok=True)
    logs = []
    for run, time, q in motions(name):
        logs.append(folder / f"{run}.csv")
        table = np.column_stack([time, q])
        np.savetxt(logs[-1], table, "%.6f", ",", header="time,shoulder,elbow", comments="")
    config = str(folder / "fit.toml")
    assert main(["init", str(HERE / f"{name}.urdf"), *map(str, logs), "--out", config, "--force"]) == 0
    assert main(["fit", config, "--out", str(folder / "run"), "--force"]) == 0
    return json.loads((folder / "run" / "summary.json").read_text())


if __name__ == "__main__":
    out = Path(sys.argv[1] if len(sys.argv) > 1 else "out/pendulums").resolve()
    for name in ("multi_arm", "filmed"):
        found = calibrated(name, out / name)
        print(f"\n{name}, windows of {found['window']:g} s")
        for stage in found["stages"]:
            values = np.degrees(stage["windows"])
            print(f"  {stage['title']:34} median {np.median(values):7.3f}  90 % {np.quantile(values, 0.9):7.3f}")
        for finding in found["findings"]:
            print(f"  - {finding['words']}")
