"""A long fit is killed in the middle; another process goes on, and ends where an uninterrupted one ends.

Run as a program, this file is that long fit: `python test_killed.py CASE FOLDER`.
"""

import signal
import subprocess
import sys
import time
from pathlib import Path

import jax
import numpy as np
import pytest

import hybridsim as hs
from hybridsim.identify import journal

FREE = [hs.Free("joint/*/damping", 0.0, 2.0, start=0.5), hs.Free("link/link2/mass", 0.2, 5.0)]
KNOWN = [hs.Free("joint/*/damping", start=0.5), hs.Free("link/link2/mass", prior=(1.0, 0.1))]
LOCAL = hs.LevenbergMarquardt(iterations=3)
CASES = {
    "levenberg-marquardt": ({"free": FREE, "solver": hs.LevenbergMarquardt(tolerance=1e-300)}, 3),
    "horizons": ({"free": FREE, "solver": hs.LevenbergMarquardt(tolerance=1e-300), "horizons": (0.1, 0.2)}, 6),
    "priors": ({"free": KNOWN, "solver": hs.LevenbergMarquardt(tolerance=1e-300)}, 12),
    "adam": ({"free": FREE, "solver": hs.Adam(steps=80, learning_rate=1e-3, batch=2)}, 30),
    "l-bfgs-b": ({"free": FREE, "solver": hs.LBFGSB(iterations=40)}, 10),
    "l-bfgs-b, horizons": ({"free": FREE, "solver": hs.LBFGSB(iterations=20), "horizons": (0.1,)}, 25),
    "basin hopping": ({"free": FREE, "solver": hs.BasinHopping(LOCAL, rounds=8, searches=3)}, 4),
}
"""Options of the fit, and after how many iterations it is killed."""


def recording() -> hs.Trajectory:
    """A double pendulum for 1.5 s, with noise."""
    truth = hs.chain(2, length=0.5, mass=1.2, damping=0.05)
    made = hs.rollout(truth, (np.array([1.0, -0.5]), np.zeros(2)), dt=1e-2, steps=150, contact=None)
    noise = 1e-3 * np.random.default_rng(0).standard_normal(made.q.shape)
    return hs.Trajectory(1e-2 * np.arange(151), np.asarray(made.q) + noise, run="swing")


def fitted(case: str, folder: Path | None = None, resume: bool = False) -> hs.Fit:
    model = hs.chain(2, length=0.5, mass=1.2)
    return hs.fit(
        model, recording(), **CASES[case][0], window=0.3, contact=None, folder=folder, resume=resume, progress=False
    )


def started(case: str, folder: Path) -> subprocess.Popen:
    """The long fit in a process of its own, once it is in the middle."""
    process = subprocess.Popen([sys.executable, __file__, case, str(folder)], stdout=subprocess.PIPE, text=True)
    began = time.monotonic()
    while iterations(folder) < CASES[case][1]:
        assert process.poll() is None, "the fit ended before it could be interrupted"
        assert time.monotonic() - began < 300, "the fit does not get on"
        time.sleep(0.05)
    return process


def iterations(folder: Path) -> int:
    try:
        with np.load(folder / "progress.npz") as file:
            return len(file["costs"])
    except FileNotFoundError:
        return 0


def check_same(found: hs.Fit, expected: hs.Fit) -> None:
    assert found.done == expected.done
    np.testing.assert_array_equal(found.history, expected.history)
    np.testing.assert_array_equal([e.value for e in found.parameters], [e.value for e in expected.parameters])
    assert found.cost == expected.cost


@pytest.mark.parametrize(
    "case", [name if name == "horizons" else pytest.param(name, marks=pytest.mark.slow) for name in CASES]
)
def test_a_killed_fit_goes_on(case, tmp_path):
    process = started(case, tmp_path)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    left = iterations(tmp_path)
    expected, found = fitted(case), fitted(case, tmp_path, resume=True)
    assert CASES[case][1] <= left < len(expected.history)
    check_same(found, expected)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_ctrl_c_leaves_the_best_fit_until_then(case, tmp_path):
    process = started(case, tmp_path)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=300)
    done, error = output.split()
    before = hs.evaluate(hs.chain(2, length=0.5, mass=1.2, damping=0.5), recording(), 0.3, contact=None)
    assert process.returncode == 0
    assert done == "stopped"
    assert float(error) < before.median
    check_same(fitted(case, tmp_path, resume=True), fitted(case))


def _wait_in_the_middle(case: str, folder: Path) -> None:
    """Every iteration is written, and after so many of them the fit waits to be interrupted."""
    journal._SECONDS = 0.0
    note = journal.Journal.note

    def waiting(self, stage, iteration, cost, state):
        note(self, stage, iteration, cost, state)
        if iterations(folder) >= CASES[case][1]:
            time.sleep(600)

    journal.Journal.note = waiting


if __name__ == "__main__":
    jax.config.update("jax_enable_x64", True)
    _wait_in_the_middle(sys.argv[1], Path(sys.argv[2]))
    fit = fitted(sys.argv[1], Path(sys.argv[2]))
    sys.stdout.write(f"{fit.done} {fit.errors.median}")
