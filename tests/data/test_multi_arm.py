"""The reader of the passive double pendulum: the published format, its traps, and damaged files."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.signal import savgol_filter

from hybridsim.data import VARIABLE, DataError
from hybridsim.data.multi_arm import multi_arm_runs, read_multi_arm_swing, read_multi_arm_swings

from .weak_form import energies, fit_second_link


def swinging(rows: int, phase: float) -> np.ndarray:
    t = phase + 1e-3 * np.arange(rows)[:, None]
    rate = np.array([5.0, 7.0])
    return np.concatenate([np.pi + np.sin(rate * t), rate * np.cos(rate * t)], axis=1)


@pytest.fixture
def tables() -> dict[str, np.ndarray]:
    return {"swing01": swinging(80, 2.0), "swing00": swinging(60, 0.0)}


def written(folder, tables):
    path = folder / "double.npz"
    np.savez(path, **tables)
    return path


def test_reads_the_published_format(tmp_path, tables):
    path = written(tmp_path, tables)
    assert multi_arm_runs(path) == ["swing00", "swing01"]
    for swing in read_multi_arm_swings(path):
        assert swing.source == str(path)
        np.testing.assert_array_equal(np.concatenate([swing.angle, swing.velocity], axis=1), tables[swing.name])
        np.testing.assert_allclose(swing.time, 1e-3 * np.arange(len(swing)), rtol=1e-14)
        assert swing.dt == 1e-3
    assert len(read_multi_arm_swing("swing01", path)) == 80


def test_joints_hang_at_zero_and_are_relative(tmp_path):
    """Upright link 1 with link 2 hanging: half a turn from rest each."""
    still = np.tile([0.0, np.pi, 1.0, 3.0], (4, 1))
    swing = read_multi_arm_swing("swing00", written(tmp_path, {"swing00": still}))
    np.testing.assert_allclose(swing.joint_position[0], [-np.pi, np.pi])
    np.testing.assert_allclose(swing.joint_velocity[0], [1, 2])


def test_finds_the_file_by_the_variable(monkeypatch, tmp_path, tables):
    (tmp_path / "multiarm-pendulum").mkdir()
    written(tmp_path / "multiarm-pendulum", tables)
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    assert [swing.name for swing in read_multi_arm_swings()] == ["swing00", "swing01"]


def test_an_unknown_run_lists_the_known(tmp_path, tables):
    with pytest.raises(DataError, match="has no run 'swing7'; it has 'swing00', 'swing01'"):
        read_multi_arm_swing("swing7", written(tmp_path, tables))


def test_a_missing_file_is_named(monkeypatch, tmp_path):
    with pytest.raises(DataError, match=r"there is no .*absent\.npz; give .*HYBRIDSIM_DATA"):
        multi_arm_runs(tmp_path / "absent.npz")
    (tmp_path / "multiarm-pendulum").mkdir()
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    with pytest.raises(DataError, match=r"there is no .*multiarm-pendulum/double\.npz"):
        multi_arm_runs()


def test_files_that_are_cut_or_of_another_kind_are_named(tmp_path, tables):
    path = written(tmp_path, tables)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(DataError, match=r"double\.npz is not a readable npz file .*fetch it again"):
        read_multi_arm_swings(path)
    path.write_text("time,x\n")
    with pytest.raises(DataError, match="not a readable npz file"):
        read_multi_arm_swings(path)
    with pytest.raises(DataError, match="has no runs, which are arrays"):
        read_multi_arm_swings(written(tmp_path, {}))


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (np.zeros((9, 3)), r"of float64 of shape \(9, 3\); .* 4 floats: angle 1, angle 2"),
        (np.zeros((1, 4)), r"of shape \(1, 4\); it must have two or more rows"),
        (np.zeros((9, 4), dtype=int), "an array of int64"),
        (np.full((9, 4), np.nan), "row 0 has a number that is not finite"),
        (np.mod(10 * swinging(900, 0.0), 2 * np.pi), r"a link turns by .* rad in 1 ms; .* must not jump"),
    ],
)
def test_damage_is_named(table, message, tmp_path, tables):
    path = written(tmp_path, tables | {"swing01": table})
    with pytest.raises(DataError, match=message) as error:
        read_multi_arm_swings(path)
    assert "double.npz: swing 'swing01'" in str(error.value)
    assert read_multi_arm_swing("swing00", path).name == "swing00"


@pytest.fixture(scope="module")
def measured(real_data):
    return read_multi_arm_swings(real_data / "multiarm-pendulum" / "double.npz")


@pytest.mark.real_data
def test_measured_swings_are_one_recording(measured):
    """The first sample of a swing is one step after the last of the swing before."""
    assert len(measured) == 26
    for before, after in pairwise(measured):
        assert len(before) == 2667
        np.testing.assert_allclose(after.angle[0], before.angle[-1] + 1e-3 * before.velocity[-1], atol=4e-4)
        np.testing.assert_allclose(after.velocity[0], before.velocity[-1], atol=0.15)
    assert measured[0].angle.min() > 1, "it never turns over"
    assert np.degrees(np.abs(measured[0].joint_position[:, 0]).max()) == pytest.approx(65, abs=2)
    assert np.degrees(np.abs(measured[-1].joint_position[:, 0]).max()) == pytest.approx(12, abs=1)


@pytest.mark.real_data
def test_measured_velocities_lag(measured):
    """Velocities are the derivatives of angles within 0.15 rad/s, and best if those are taken 1 to 3 ms earlier."""
    for swing in measured[::5]:
        rate = savgol_filter(swing.angle, 31, 4, deriv=1, delta=swing.dt, axis=0)
        errors = [np.std(swing.velocity[50 + lag : -50 + lag] - rate[50:-50]) for lag in range(-5, 6)]
        assert 1 <= np.argmin(errors) - 5 <= 3
        assert 0.01 < errors[5] < 0.15


@pytest.mark.real_data
def test_measured_physics(measured):
    """Hanging is half a turn from the zero of the angles: link 2's equation of motion holds, and energy falls."""
    angle = np.concatenate([swing.angle for swing in measured]) - np.pi
    fit = fit_second_link(angle, 1e-3, smooth=21, half=40)
    assert fit.explained > 0.9999
    assert fit.first == pytest.approx(0.173, abs=0.001)
    assert fit.second == pytest.approx(0.196, abs=0.001)
    assert np.degrees(abs(fit.tilt)) < 0.1
    energy = energies(angle, 1e-3, smooth=21, short=20)
    coarse = np.array([part.mean() for part in np.array_split(energy, 100)])
    assert (np.diff(coarse) < 0).all()


@pytest.mark.real_data
def test_measured_noise_of_angles(measured):
    for swing in measured:
        smooth = savgol_filter(swing.angle, 31, 4, axis=0)
        assert np.degrees((swing.angle - smooth)[20:-20].std()) < 0.004


@pytest.mark.real_data
def test_measured_encoders_stick_where_joints_reverse(measured):
    """A joint that reverses is read as still for some samples; then its angle jumps by about 0.35 mrad."""
    for swing in measured[:17]:
        steps = np.diff(swing.joint_position[:, 1])
        still = np.abs(steps) < 1e-9
        assert 0.002 < still.mean() < 0.02
        jumps = np.abs(steps[1:][still[:-1] & ~still[1:]])
        assert 3e-4 < np.median(jumps) < 5e-4
