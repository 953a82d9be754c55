"""A calibration that is made up: known errors, known words, no fitting."""

from dataclasses import replace
from pathlib import Path

import numpy as np

import hybridsim as hs
from hybridsim.calibrate.result import Calibration, Candidate, Curve, Finding, Prediction, Stage
from hybridsim.data.log import ChannelQuality, Quality, Trajectory
from hybridsim.identify import Errors, Estimate, Fit
from hybridsim.identify.apparatus import perfect

DT, SAMPLES, WINDOWS = 0.01, 100, 6
TITLES = {
    "original": "as in the file",
    "calibrated": "with fitted parameters",
    "explained": "with the laws that were found",
    "hybrid": "with a network",
}
MEDIANS = {"original": 0.2146, "calibrated": 0.0412, "explained": 0.00812, "hybrid": 0.00541}
"""Median error of each stage [rad]."""
ESTIMATES = (
    Estimate("link/link1/mass", 1.2345, 0.012, 1.211, 1.258, 1.0, "kg"),
    Estimate("link/link2/mass", 0.812, 0.02, 0.773, 0.851, 1.0, "kg"),
    Estimate("link/link2/com.z", -0.431, 0.006, -0.443, -0.419, -0.5, "m"),
    Estimate("link/link2/inertia.xx", 0.0831, np.inf, -np.inf, np.inf, 0.0833, "kg m^2", "not determined by the data"),
    Estimate("joint/joint1/damping", 0.05, 0.004, 0.042, 0.058, 0.0, "N m s/rad"),
    Estimate("joint/joint1/friction", 0.31, 0.007, 0.296, 0.324, 0.0, "N m"),
    Estimate("control/delay", 0.012, 0.0004, 0.0112, 0.0128, 0.0, "s"),
    Estimate("joint/joint2/armature", 0.0, 1e-4, 0.0, 2e-4, 0.01, "kg m^2", "at its bound"),
)
FILES = {
    "report.html": "this page",
    "calibrated.urdf": "the fitted model, for any simulator",
    "model.hybrid": "the model with its network, for hybridsim.load_hybrid",
    "parameters.json": "every fitted number with its interval",
}


def model(joint: str = "joint1", kinds: tuple[str, str] = ("revolute", "revolute")) -> hs.Model:
    """A pendulum of two links whose first joint has this name, and whose joints are of these kinds."""
    made = hs.chain(2)
    names, kind = (joint, "joint2"), tuple(hs.chain(1, kind=k).topology.kinds[0] for k in kinds)
    return replace(made, topology=replace(made.topology, joint_names=names, kinds=kind))


def calibration(
    names: tuple[str, ...] = tuple(MEDIANS),
    runs: tuple[str, ...] = ("logs/run_c.csv", "logs/run_d.csv"),
    medians: dict[str, float] | None = None,
    robot: hs.Model | None = None,
    held_out: bool = True,
    title: str = "Two-link arm",
) -> Calibration:
    """With these stages, whose median errors are known; windows are of these runs."""
    robot = robot or model()
    errors = MEDIANS | (medians or {})
    fitted = ("logs/run_a.csv", "logs/run_b.csv") if held_out else runs
    return Calibration(
        title=title,
        model_file=Path("arm.urdf"),
        training=tuple(_log(run) for run in fitted),
        held_out=tuple(_log(run) for run in runs) if held_out else (),
        qualities={run: _quality(run) for run in dict.fromkeys((*fitted, *runs))},
        stages=tuple(_stage(name, robot, runs, errors[name]) for name in names),
        candidates=_candidates() if "explained" in names else (),
        findings=_findings() if "explained" in names else (),
        curves=(line(), surface()) if "hybrid" in names else (),
        warnings=("run_b.csv: 3 samples out of order were dropped",),
        window=DT * SAMPLES,
        seconds={"reading": 0.4, "fit": 8.2, "discovery": 5.1, "network": 14.0},
        stopped="hybrid" not in names,
    )


def _stage(name: str, robot: hs.Model, runs: tuple[str, ...], median: float) -> Stage:
    prediction = _prediction(robot, runs, median)
    errors = Errors(DT, prediction.runs, prediction.joints, prediction.simulated - prediction.measured)
    fit = None if name == "original" else _fit(robot, errors)
    return Stage(name, TITLES[name], robot, None, fit, errors, errors, prediction)


def _prediction(robot: hs.Model, runs: tuple[str, ...], median: float) -> Prediction:
    """A swing of two joints; the simulated one is off by a growing wave. Windows' errors lie evenly about the median."""
    count = WINDOWS * len(runs)
    times = DT * (np.arange(SAMPLES) + SAMPLES * (np.arange(count) % WINDOWS)[:, None])
    phase = 4.1 * times + np.repeat(np.arange(len(runs)), WINDOWS)[:, None]
    measured = np.stack([0.9 * np.sin(phase) * np.exp(-0.1 * times), 0.6 * np.sin(1.7 * phase + 1)], -1)
    measured += 0.003 * np.random.default_rng(1).normal(size=measured.shape)
    # From 0.5 to 1.5 with two windows beside 1, for an even number of windows: the median is that of 1.
    factors = np.linspace(0.5, 1.5, count)
    growth = np.linspace(0.1, 1.0, SAMPLES)[:, None] * np.cos(3 * DT * np.arange(SAMPLES)[:, None] + [0.0, 1.0])
    growth /= np.sqrt(np.mean(growth**2))
    with np.errstate(invalid="ignore"):
        simulated = measured + median * factors[:, None, None] * growth
    run_of = tuple(run for run in runs for _ in range(WINDOWS))
    return Prediction(run_of, (robot.joint_names[0], "joint2"), times, measured, simulated, 0.05)


def _fit(robot: hs.Model, errors: Errors) -> Fit:
    size = len(ESTIMATES)
    words = (
        "the data determine only 7 combinations of 8 numbers\n- link/link2/inertia.xx has no effect on what was measured"
        "\n- joint/joint2/armature = 0 kg m^2 is uncertain by 0.0001 kg m^2, since it acts like link/link2/mass"
    )
    return Fit(
        robot, perfect(robot, 2), {}, ESTIMATES, np.eye(size), words, "from the curvature at the best fit", 1.0, errors,
        np.array([3.0, 1.0]), 1.0, "converged", 2.5,
    )  # fmt: skip


def _log(run: str) -> Trajectory:
    time = DT * np.arange(300)
    return Trajectory(time, np.stack([np.sin(time), np.cos(time)], 1), source=run)


def _quality(run: str) -> Quality:
    channels = tuple(ChannelQuality(f"q.joint{i}", -1.1, 1.2, 0.998, 0.0031, 0.0015, 0.0, 0.0) for i in (1, 2))
    verdicts = (
        ("look", "2 % of the samples jitter by more than half a step"),
        ("good", "positions are finer than their noise"),
    )
    return Quality(run, 100.0, 0.021, 1, 0.08, 6.0, channels, {"joint1": 1.02}, {}, verdicts)


def _candidates() -> tuple[Candidate, ...]:
    found = (Candidate("Coulomb friction", "joint1", 0.62, True, 0), Candidate("delay of commands", "", 0.21, True, 1))
    others = ("viscous damping", "backlash", "spring", "gear ripple", "payload", "motor saturation", "stiction")
    tried = [Candidate(e, j, 0.05 / (k + 1), False) for k, e in enumerate(others) for j in ("joint1", "joint2")]
    return (*found, *tried)


def _findings() -> tuple[Finding, ...]:
    friction = "force at joint joint1 depends on its velocity, odd, saturating: looks like Coulomb friction of 0.31 N m"
    return (
        Finding("Coulomb friction", "joint1", 0.62, friction),
        Finding("delay of commands", "", 0.21, "commands act 12 ms later than the log says"),
    )


def line() -> Curve:
    v = np.linspace(-3, 3, 121)
    law = -0.31 * np.tanh(v / 0.1)
    words = "Friction at joint1, with a slight Stribeck dip that the law does not have."
    return Curve(
        "joint1", "N m", ("velocity of joint1 [rad/s]",), (v,), law - 0.06 * np.sign(v) * np.exp(-(v**2)), law, words
    )


def surface() -> Curve:
    q, v = np.linspace(-1.5, 1.5, 41), np.linspace(-3, 3, 61)
    law = np.broadcast_to(-0.1 * v, (41, 61))
    force = law + 0.1 * np.sin(3 * q)[:, None]
    labels = ("position of joint2 [rad]", "velocity of joint2 [rad/s]")
    return Curve("joint2", "N m", labels, (q, v), force, law, "A ripple of the gear over the position of joint2.")
