"""The two problems by hybridsim: `python ours.py small|large` prints its times and how good its answer is, as JSON.

As in rival.py the parent writes the problem's files, starts a process that solves it, and judges the answer.
"""

import json
import sys
import tempfile
import time
from pathlib import Path

BEGIN = time.perf_counter()


def solve(folder: Path, name: str) -> dict:
    """In a process of its own, which imports nothing else."""
    import jax

    jax.config.update("jax_enable_x64", True)
    import numpy as np

    import hybridsim as hs

    model = hs.load(folder / "start.xml")
    with np.load(folder / "log.npz") as file:
        log = dict(file)
    # The start is known exactly, so it takes the place of the first sample.
    q = np.concatenate([log["q0"][None], log["q"][1:]])
    qd = np.zeros_like(q)
    torque = np.concatenate([log["torque"], log["torque"][-1:]])
    measured = hs.Trajectory(log["t"], q, qd, torque, "command", run=name)
    free = ["joint/*/damping"] if name == "small" else ["link/*/inertial", "joint/*/damping"]
    ready = time.perf_counter()
    fit = hs.fit(model, measured, free, window=measured.duration, start="measured", compare={"position": 1e-4}, horizons=[0.3])
    done = time.perf_counter()
    model = fit.model
    inertia = np.asarray(model.links.inertia)
    full = np.stack([inertia[:, [0, 3, 4]], inertia[:, [3, 1, 5]], inertia[:, [4, 5, 2]]], axis=1)
    found = {
        "damping": np.asarray(model.joints.damping).tolist(),
        "mass": np.asarray(model.links.mass).tolist(),
        "com": np.asarray(model.links.com).tolist(),
        "inertia": full.tolist(),
    }
    return {
        "found": found,
        "solve [s]": done - ready,
        "process [s]": done - BEGIN,
        "iterations": len(fit.history),
        "ended": fit.done,
        "determined": fit.identifiability.splitlines()[0],
    }


if __name__ == "__main__":
    import warnings

    warnings.simplefilter("ignore")
    folder, name = sys.argv[1:]
    print(json.dumps(solve(Path(folder), name)))
