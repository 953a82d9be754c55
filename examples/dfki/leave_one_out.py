"""The main job on a real arm: `hybridsim init` and `hybridsim fit`, for every run judged by models of all others.

    HYBRIDSIM_DATA=folder python examples/dfki/leave_one_out.py out/dfki_runs

The URDF beside this file has the published lengths; everything else in it is a guess. Prints the median and the 90th
percentile over all windows of all held-out runs, in degrees; a run takes about a minute.
"""

import json
import sys
from pathlib import Path

import numpy as np

from hybridsim.cli import main
from hybridsim.data.files import dataset_path

URDF = Path(__file__).parent / "double_pendulum.urdf"


def leave_one_out(out: Path) -> dict[str, dict[str, list[float]]]:
    """Of each stage the errors of all windows: as logged, and after the first 2 s have told the encoders' zeros."""
    logs = sorted(dataset_path("dfki-double-pendulum", None).glob("*.csv"))
    found: dict[str, dict[str, list[float]]] = {}
    for held in logs:
        folder = out / held.stem
        config = folder / "fit.toml"
        folder.mkdir(parents=True, exist_ok=True)
        others = [log for log in logs if log != held]
        assert main(["init", str(URDF), *map(str, [*others, held]), "--out", str(config), "--force"]) == 0
        config.write_text(_one_held_out(config.read_text(), others, held))
        assert main(["fit", str(config), "--out", str(folder / "run"), "--force"]) == 0
        for stage in json.loads((folder / "run" / "summary.json").read_text())["stages"]:
            kept = found.setdefault(stage["name"], {"as logged": [], "zero known": []})
            kept["as logged"] += stage["windows"]
            kept["zero known"] += stage["settled_windows"] or stage["windows"]
    return found


def _one_held_out(text: str, others: list[Path], held: Path) -> str:
    """`init` holds out a quarter of the runs; here it is one."""
    lines = text.splitlines()
    for i, line in enumerate(lines):
        if line.startswith("training = "):
            lines[i] = f"training = {json.dumps([str(path) for path in others])}"
        if line.startswith("held_out = "):
            lines[i] = f"held_out = {json.dumps([str(held)])}"
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    for name, kinds in leave_one_out(Path(sys.argv[1] if len(sys.argv) > 1 else "out/dfki_runs").resolve()).items():
        for kind, errors in kinds.items():
            values = np.degrees(errors)
            print(f"{name:12} {kind:12} median {np.median(values):6.2f}  90 % {np.quantile(values, 0.9):6.2f}")
