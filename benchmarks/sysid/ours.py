"""The two problems by hybridsim: `python ours.py small|large` prints its times and how good its answer is, as JSON.

As in rival.py the parent writes the problem's files, starts a process that solves it, and judges the answer.
"""

import json
import sys
import tempfile
import time
from pathlib import Path

BEGIN = time.perf_counter()
sys.path.append(str(Path(__file__).parent.parent))

FREE = {"small": ["joint/*/damping"], "large": ["link/*/inertial", "joint/*/damping"]}
HORIZONS = {"small": (), "large": (0.3, 1.2)}
"""Shorter windows first [s]: the cost of a long motion has narrow valleys."""


def run(name: str) -> dict:
    """In the parent."""
    from problems import PROBLEMS, from_lists
    from processes import result_of

    with tempfile.TemporaryDirectory() as folder:
        problem = PROBLEMS[name]()
        problem.write(Path(folder))
        begin = time.perf_counter()
        result = result_of(__file__, name, folder)
        seconds = time.perf_counter() - begin
    return {"process [s]": seconds, **problem.score(from_lists(result["found"])), **result}


def solve(name: str, folder: Path) -> dict:
    """In the new process."""
    import warnings

    import jax
    import numpy as np

    jax.config.update("jax_enable_x64", True)
    import hybridsim as hs

    # Of seventy inertial numbers of an arm some never show in any motion.
    warnings.simplefilter("ignore", hs.IdentifiabilityWarning)
    model = hs.load(folder / "start.xml")
    with np.load(folder / "log.npz") as file:
        log = dict(file)
    imported = time.perf_counter()
    # The start is known exactly, so it takes the place of the first sample.
    q = np.concatenate([log["q0"][None], log["q"][1:]])
    torque = np.concatenate([log["torque"], log["torque"][-1:]])
    measured = hs.Trajectory(log["t"], q, np.zeros_like(q), torque, "command", run=name)
    options = {"window": measured.duration, "start": "measured", "horizons": HORIZONS[name]}
    fit = hs.fit(model, measured, FREE[name], compare={"position": 1e-4}, **options)
    end = time.perf_counter()
    links, six = fit.model.links, np.asarray(fit.model.links.inertia)
    found = {
        "damping": np.asarray(fit.model.joints.damping).tolist(),
        "mass": np.asarray(links.mass).tolist(),
        "com": np.asarray(links.com).tolist(),
        "inertia": np.stack([six[:, [0, 3, 4]], six[:, [3, 1, 5]], six[:, [4, 5, 2]]], axis=1).tolist(),
    }
    return {
        "solve [s]": end - imported,
        "import [s]": imported - BEGIN,
        "processors' time [s]": time.process_time(),
        "parameters": len(fit.parameters),
        "iterations": len(fit.history),
        "identifiability": fit.identifiability.splitlines()[0],
        "found": found,
    }


if __name__ == "__main__":
    arguments = sys.argv[1:]
    print(json.dumps(solve(arguments[0], Path(arguments[1])) if len(arguments) == 2 else run(*arguments)))
