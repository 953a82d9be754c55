"""How fast small errors grow: by hand where it is known, and what a first fit.toml makes of it."""

import warnings

import numpy as np
import pytest

import hybridsim as hs
from hybridsim.calibrate import propose
from hybridsim.calibrate.horizon import error_growth
from hybridsim.calibrate.judge import _whole_turns
from hybridsim.calibrate.propose import _turns_round

LENGTH, DT = 0.4, 5e-3
ROD = f"""<robot name="rod"><link name="base"/><link name="rod"><inertial><origin xyz="0 0 -{LENGTH}"/><mass value="1"/>
<inertia ixx="1e-9" iyy="1e-9" izz="1e-9" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="pivot" type="continuous"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/></joint></robot>"""


@pytest.fixture
def rod(tmp_path):
    file = tmp_path / "rod.urdf"
    file.write_text(ROD)
    return file


def still(model: hs.Model, angle: float, seconds: float = 2.0) -> hs.Trajectory:
    """A rod that is held somewhere."""
    time = np.arange(round(seconds / DT) + 1) * DT
    return hs.Trajectory(time, np.full((len(time), 1), angle), np.zeros((len(time), 1)), run="a")


@pytest.mark.parametrize(("angle", "growth"), [(np.pi, lambda wt: np.exp(wt)), (0.0, lambda wt: 1.0)])
def test_of_a_pendulum_that_stands_or_hangs(rod, angle, growth):
    """About upright d'' = w^2 d, which grows by exp(w t); about hanging it turns in a circle."""
    model = hs.load(rod)
    found = error_growth(model, [still(model, angle)], 1.0)
    rate = np.sqrt(9.81 / LENGTH)
    expected = [growth(rate * t) for t in found[:, 0]]
    np.testing.assert_allclose(found[:, 1], expected, rtol=0.01)


def test_of_a_body_in_space_nothing_is_said(rod):
    model = hs.load(rod, base="free")
    assert model.nq != model.nv
    assert error_growth(model, [still(hs.load(rod), 0.0)], 1.0) is None


@pytest.mark.parametrize(("angle", "window"), [(0.0, "window = 1"), (np.pi, "window = 0.5")])
def test_windows_are_as_long_as_a_motion_can_be_foretold(tmp_path, rod, angle, window):
    """exp(w t) is 141 after a second and 11.9 after half of one."""
    model = hs.load(rod)
    rng = np.random.default_rng(0)
    logs = []
    for k in range(2):
        log = still(model, angle, 4.0)
        q = log.q + 1e-3 * rng.standard_normal(log.q.shape)
        logs.append(write_table(tmp_path / f"{k}.csv", log.time, q))
    text = propose(rod, logs, folder=tmp_path)
    (line,) = (line for line in text.splitlines() if line.startswith("window"))
    assert line.startswith(f"{window}  #")
    assert ("small errors grow 1.4e+02 times" in line) == (angle > 0)


def write_table(path, time, q):
    rows = [f"{t:.6f},{x:.9f}" for t, x in zip(time, q[:, 0], strict=True)]
    path.write_text("\n".join(["time,pivot_position", *rows, ""]))
    return path


TURNS = {
    "many turns and then swings": (lambda t: np.where(t < 4, 15 * t, 60 + np.sin(3 * (t - 4))), True),
    "degrees": (lambda t: 90 + 60 * np.sin(3 * t), False),
}


@pytest.mark.parametrize("kind", TURNS)
def test_large_angles_of_what_turns_round_are_no_degrees(tmp_path, rod, kind):
    motion, round_and_round = TURNS[kind]
    time = np.arange(0, 20, 5e-3)
    log = write_table(tmp_path / "a.csv", time, motion(time)[:, None])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        text = propose(rod, [log], folder=tmp_path)
        read = hs.read_log(log, hs.load(rod))
    assert ('position = "deg"  #' in text) is not round_and_round
    assert ('position = "rad"  # a joint turns round many times' in text) is round_and_round
    assert _turns_round(read, hs.load(rod)) is round_and_round


def test_a_joint_with_limits_does_not_turn_round(tmp_path):
    limited = tmp_path / "limited.urdf"
    limits = '<limit lower="-2" upper="2" effort="1" velocity="1"/></joint>'
    limited.write_text(ROD.replace("continuous", "revolute").replace("</joint>", limits))
    time = np.arange(0, 20, 5e-3)
    motion, _ = TURNS["many turns and then swings"]
    log = write_table(tmp_path / "a.csv", time, motion(time)[:, None])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert 'position = "deg"  #' in propose(limited, [log], folder=tmp_path)


def test_windows_of_what_turns_round_are_drawn_as_if_they_were_the_first_turn(rod):
    model = hs.load(rod)
    q = np.linspace(0, 40, 9)[:, None, None] + np.linspace(0, 1, 5)[None, :, None]
    turns = _whole_turns(model, q)
    np.testing.assert_allclose(turns % (2 * np.pi) % 6.283185, 0, atol=1e-6)
    assert np.abs((q - turns)[:, 0]).max() <= np.pi
    assert not _whole_turns(model, q % 6).any()
