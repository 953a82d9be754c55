"""A two-link arm, logs of it as files, and configurations of small jobs."""

from pathlib import Path

import numpy as np

import hybridsim as hs

JOINTS = ("shoulder", "elbow")
QUANTITIES = ("position", "velocity", "torque")


def write_log(path: Path, log: hs.Trajectory, quantities: tuple[str, ...] = QUANTITIES) -> Path:
    """As a CSV file with columns such as shoulder_position."""
    arrays = {"position": log.q, "velocity": log.qd, "torque": log.controls}
    names = [f"{joint}_{quantity}" for quantity in quantities for joint in JOINTS]
    table = np.column_stack([log.time, *(arrays[quantity] for quantity in quantities)])
    np.savetxt(path, table, "%.17g", ",", header=",".join(["time", *names]), comments="")
    return path


def driven(
    model: hs.Model,
    seconds: float = 1.5,
    dt: float = 1e-2,
    seed: int = 0,
    delay: float = 0.0,
    noise: float = 0.0,
    torque: tuple[float, float] = (2.0, 0.7),
    run: str = "a",
    held: bool = False,
) -> hs.Trajectory:
    """A log of a model under sums of sines, which act `delay` seconds later than the log says; `held`: in steps, each of
    them from one sample to the next."""
    rng = np.random.default_rng(seed)
    fine = 10
    t = dt / fine * np.arange(round(seconds / dt) * fine + 1)
    frequency, phase = rng.uniform(0.4, 1.6, (3, 2)), rng.uniform(0, 6, (3, 2))

    def command(t: np.ndarray) -> np.ndarray:
        return np.array(torque) * np.sum(np.sin(2 * np.pi * frequency * t[:, None, None] + phase), axis=1)

    start = rng.uniform(-0.5, 0.5, 2), rng.uniform(-1, 1, 2)

    def motion(model, forces):
        made = hs.rollout(
            model, start, hs.Control(force=forces), dt=dt / fine, contact=None, integrator=hs.RungeKutta4()
        )
        return made.q[::fine], made.qd[::fine]

    # A force that is constant during a fine step is that of its middle.
    when = t[:-1] + 0.5 * dt / fine - delay
    q, qd = (np.asarray(x) for x in hs.native.jit(motion)(model, command(np.floor(when / dt) * dt if held else when)))
    return hs.Trajectory(t[::fine], q + noise * rng.standard_normal(q.shape), qd, command(t[::fine]), run=run)


def swinging(seconds: float = 4.0, dt: float = 1e-2) -> hs.Trajectory:
    """A log that takes no time to make; no arm would move so."""
    t = dt * np.arange(round(seconds / dt) + 1)
    q, qd = np.sin(np.outer(t, [2, 3])), np.cos(np.outer(t, [2, 3])) * [2, 3]
    return hs.Trajectory(t, q, qd, np.cos(np.outer(t, [4, 5])))


RUN_FILES = frozenset(
    {
        "calibrated.urdf",
        "summary.json",
        "parameters.csv",
        "parameters.json",
        "ranges.json",
        "model.hybrid",
        "fits/",
        "progress/",
    }
)
"""Of every run with a fit, without its report and network."""
