"""What cannot be used is refused with its name, the value found and the fix, and what misleads is warned of."""

from dataclasses import replace

import numpy as np
import pytest

import hybridsim as hs
from identify.logs import driven

ARM = hs.chain(2, length=0.5, damping=0.3)
LOG = driven(ARM, 0.6)
BAD = {
    "a path instead of a log": ({"logs": "run.csv"}, "logs has 'run.csv'; give hs.Trajectory"),
    "paths instead of logs": ({"logs": ["run.csv"]}, "give hs.Trajectory, as hs.read_log"),
    "window of NaN": ({"window": float("nan")}, "window is nan; it must be a finite number, positive"),
    "window of nothing": ({"window": 0.0}, "window is 0.0; it must be"),
    "stride back": ({"stride": -1.0}, "stride is -1.0; it must be"),
    "step of nothing": ({"dt": 0.0}, "dt is 0.0; it must be"),
    "step longer than the window": ({"dt": 0.5}, "window is 0.2 s, shorter than one step of 0.5 s"),
    "a solver's class": ({"solver": hs.LevenbergMarquardt}, "give hs.LevenbergMarquardt"),
    "noise of three joints": (
        {"compare": {"position": [1e-3] * 3}},
        "noise of position has 3 numbers, but there are 2",
    ),
    "jump against unknown noise": ({"jump": 1e-3}, "only be weighed against noise that is known"),
}
CHOICES = {
    "bounds the wrong way": ({"lower": 1.0, "upper": 0.1}, "lower is 1.0 and upper 0.1"),
    "a scale that is not there": ({"scale": "logarithmic"}, "scale is 'logarithmic'; it must be 'linear' or"),
    "a prior without width": ({"prior": (0.1, 0.0)}, "standard deviation of its prior is 0.0; it must be"),
}
SOLVERS = {
    "iterations": (lambda: hs.LevenbergMarquardt(iterations=0), "LevenbergMarquardt: iterations is 0"),
    "tolerance": (lambda: hs.LBFGSB(tolerance=-1.0), "LBFGSB: tolerance is -1.0"),
    "steps": (lambda: hs.Adam(steps=0), "Adam: steps is 0"),
    "batch": (lambda: hs.Adam(batch=0), "Adam: batch is 0"),
    "rate": (lambda: hs.Adam(learning_rate=np.nan), "Adam: learning_rate is nan"),
}


@pytest.mark.parametrize("case", BAD)
def test_options_of_a_fit(case):
    change, message = BAD[case]
    options = {"logs": LOG, "free": ["joint/*/damping"], "window": 0.2} | change
    # Under the tests' own type checks a wrong kind is refused even before.
    with pytest.raises((ValueError, TypeError), match=message):
        _unchecked(hs.fit)(ARM, **options)


def _unchecked(function):
    """Without the type checks of tests: users have none."""
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    return function


@pytest.mark.parametrize("case", CHOICES)
def test_choices_of_what_is_free(case):
    change, message = CHOICES[case]
    with pytest.raises(ValueError, match=message):
        _unchecked(hs.Free.__post_init__)(_free(change))


def _free(change):
    free = object.__new__(hs.Free)
    for name, value in {**vars(hs.Free("joint/*/damping")), **change}.items():
        object.__setattr__(free, name, value)
    return free


@pytest.mark.parametrize("case", SOLVERS)
def test_options_of_solvers(case):
    make, message = SOLVERS[case]
    with pytest.raises(ValueError, match=message):
        make()


def test_a_folder_that_is_a_file(tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(OSError, match="is no folder; give one"):
        hs.fit(ARM, LOG, ["joint/*/damping"], window=0.2, folder=tmp_path / "file")
    assert (tmp_path / "file").read_text() == "mine"


def test_how_a_window_starts():
    with pytest.raises(ValueError, match="start is 'fited'; it must be 'measured', 'fitted' or"):
        _unchecked(hs.evaluate)(ARM, LOG, 0.2, start="fited")


def test_dead_logs_are_warned_of():
    dead = replace(LOG, q=LOG.q * [0.0, 1.0], qd=None)
    with pytest.warns(hs.DataWarning, match=r"joint1.position is always 0: a dead channel"):
        hs.fit(ARM, dead, ["sensor/joint1/bias"], window=0.2)


def test_steps_that_are_too_long_for_friction_are_warned_of():
    stiff = replace(ARM, joints=replace(ARM.joints, friction=np.full(2, 0.5), friction_speed=np.full(2, 0.01)))
    with pytest.warns(hs.StepWarning, match=r"joint2.*within one step of 2 ms.*substeps="):
        hs.fit(stiff, LOG, ["link/link2/mass"], hs.LevenbergMarquardt(3), window=0.2)
