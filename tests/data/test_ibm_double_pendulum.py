"""The reader of the filmed double pendulum: the published format, its traps, and damaged files."""

import numpy as np
import pytest

from hybridsim.data import VARIABLE, DataError
from hybridsim.data.ibm_double_pendulum import (
    FRAME_RATE,
    LINK_LENGTHS,
    ibm_double_pendulum_runs,
    read_ibm_double_pendulum,
)

from .weak_form import energies, fit_second_link

PIVOT = np.array([1200, 1180])


def pixels(angle: np.ndarray, scale: float = 6450.0) -> np.ndarray:
    """Points of a pendulum with these absolute angles, as the files have them."""
    joint = PIVOT + scale * LINK_LENGTHS[0] * np.stack([np.cos(angle[:, 0]), np.sin(angle[:, 0])], axis=1)
    end = joint + scale * LINK_LENGTHS[1] * np.stack([np.cos(angle[:, 1]), np.sin(angle[:, 1])], axis=1)
    return np.round(np.concatenate([np.broadcast_to(PIVOT, joint.shape), joint, end], axis=1)).astype(int)


def written(folder, table, name="3.csv"):
    path = folder / name
    np.savetxt(path, table, fmt="%d", delimiter=",")
    return path


@pytest.fixture
def angle() -> np.ndarray:
    """Link 1 swings, link 2 turns over and over."""
    t = np.arange(200) / 500
    return np.stack([2 * np.cos(9 * t), 1 - 40 * t], axis=1)


def test_reads_the_published_format(tmp_path, angle):
    written(tmp_path, pixels(angle))
    run = read_ibm_double_pendulum("3", tmp_path)
    assert (run.name, len(run)) == ("3", 200)
    assert run.source.endswith("3.csv")
    np.testing.assert_allclose(run.angle, angle, atol=3e-3)
    np.testing.assert_allclose(run.joint_position, angle @ [[1, -1], [0, 1]], atol=5e-3)
    np.testing.assert_allclose(run.time, np.arange(200) / FRAME_RATE, rtol=1e-14)
    assert run.units_per_metre == pytest.approx(6450, rel=2e-3)


def test_points_are_right_and_up_in_metres(tmp_path):
    """A quarter turn of link 1 puts it to the right; link 2 hangs below."""
    written(tmp_path, pixels(np.tile([np.pi / 2, 0.0], (5, 1))))
    pivot, joint, end = read_ibm_double_pendulum("3", tmp_path).points[0]
    np.testing.assert_allclose(pivot, 0, atol=1e-4)
    np.testing.assert_allclose(joint, [0.091, 0], atol=2e-4)
    np.testing.assert_allclose(end, [0.091, -0.07], atol=2e-4)


def test_the_frame_rate_can_be_given(tmp_path, angle):
    written(tmp_path, pixels(angle))
    assert read_ibm_double_pendulum("3", tmp_path, frame_rate=502.0).dt == 1 / 502
    with pytest.raises(ValueError, match=r"frame_rate is 0\.0; it must be a positive number"):
        read_ibm_double_pendulum("3", tmp_path, frame_rate=0.0)


def test_runs_are_found_by_the_variable_in_the_order_of_their_numbers(monkeypatch, tmp_path, angle):
    folder = tmp_path / "ibm-double-pendulum"
    folder.mkdir()
    for name in ("10.csv", "2.csv", "notes.csv"):
        written(folder, pixels(angle), name)
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    assert list(ibm_double_pendulum_runs()) == ["2", "10"]
    assert read_ibm_double_pendulum("10").name == "10"


def test_an_unknown_run_lists_the_known(tmp_path, angle):
    written(tmp_path, pixels(angle))
    with pytest.raises(DataError, match="has no run '7'; it has '3'"):
        read_ibm_double_pendulum("7", tmp_path)


def test_missing_folders_and_runs_are_named(tmp_path):
    with pytest.raises(DataError, match=r"there is no .*absent; give .*HYBRIDSIM_DATA"):
        ibm_double_pendulum_runs(tmp_path / "absent")
    with pytest.raises(DataError, match=r"has no runs, which are files <number>\.csv"):
        ibm_double_pendulum_runs(tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text[:-3], "cut short: its last line has no end"),
        (lambda text: "", "cut short"),
        (lambda text: text.splitlines()[0] + "\n", "has 1 rows of numbers"),
        (lambda text: text.replace(",", ";"), "line 1 has 1 columns; it must have 6 numbers"),
        (lambda text: "p0,p1,j0,j1,e0,e1\n" + text, "something that is not a number .*p0"),
        (lambda text: text.replace("1200,1180", "1200,nan", 1), "line 1 has a number that is not finite"),
        (lambda text: text.replace("1200,1180", "1200", 1), "line 1 has 5 columns"),
        (lambda text: text.replace("1200,1180", "1200,118", 1), "line 1: link 1 is .* units long"),
        (lambda text: "\n".join(text.splitlines()[::40]) + "\n", "line .: a link turns by .* degrees in a frame"),
        (lambda text: "0,0,0,0,0,0\n" * 9, "line 1: link 1 is 0 units long"),
    ],
)
def test_damage_is_named(change, message, tmp_path, angle):
    path = written(tmp_path, pixels(angle))
    path.write_text(change(path.read_text()))
    with pytest.raises(DataError, match=message) as error:
        read_ibm_double_pendulum("3", tmp_path)
    assert "3.csv" in str(error.value)


def test_bytes_that_are_no_text_are_named(tmp_path):
    (tmp_path / "3.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DataError, match=r"3\.csv is not a readable text file"):
        read_ibm_double_pendulum("3", tmp_path)


@pytest.fixture(scope="module")
def measured(real_data):
    folder = real_data / "ibm-double-pendulum"
    return [read_ibm_double_pendulum(name, folder) for name in ibm_double_pendulum_runs(folder)]


@pytest.mark.real_data
def test_measured_runs(measured):
    assert len(measured) == 16
    for run in measured:
        assert 34 < run.time[-1] < 37
        assert 6400 < run.units_per_metre < 6700
        lengths = np.linalg.norm(np.diff(run.points, axis=1), axis=2)
        np.testing.assert_allclose(np.median(lengths, axis=0), LINK_LENGTHS, rtol=0.01)
        assert np.degrees(np.abs(np.diff(run.angle, axis=0)).max()) < 12
        assert np.abs(run.points[:, 0]).max() < 3e-3, "the pivot stays"
    scales = [run.units_per_metre for run in measured]
    assert scales[0] / np.median(scales) == pytest.approx(1.022, abs=0.003)


@pytest.mark.real_data
def test_measured_frame_rate(measured):
    """Read at 500 frames a second, link 1 of length 91 mm comes out a little long: the rate is 502, and not 400."""
    fits = [fit_second_link(run.angle, run.dt, smooth=7, half=40) for run in measured]
    rates = [FRAME_RATE * np.sqrt(fit.first / LINK_LENGTHS[0]) for fit in fits]
    assert np.mean(rates) == pytest.approx(502, abs=1)
    assert np.std(rates) < 1
    assert min(fit.explained for fit in fits) > 0.999
    assert np.degrees(np.median([fit.tilt for fit in fits])) == pytest.approx(-0.5, abs=0.15)


@pytest.mark.real_data
def test_measured_energy_decays(measured):
    """At 0 a link hangs: the energy that a pendulum keeps over 20 ms falls steadily over seconds."""
    for run in measured[::5]:
        energy = energies(run.angle, run.dt, smooth=9, short=10)
        coarse = np.array([part.mean() for part in np.array_split(energy, 16)])
        assert (np.diff(coarse) < 0).all()
        assert np.ptp(coarse) > 5 * np.std(energy[:1000])


@pytest.mark.real_data
def test_measured_noise(measured):
    """Second differences of slow stretches: a tenth of a degree and less."""
    for run in measured:
        slow = np.abs(np.diff(run.angle, axis=0)[:-2]) < np.radians(0.3)
        third = np.diff(run.angle, n=3, axis=0) / np.sqrt(20)
        noise = [np.degrees(np.median(np.abs(third[slow[:, i], i])) / 0.6745) for i in range(2)]
        assert 0.02 < noise[0] < 0.06
        assert 0.03 < noise[1] < 0.1
