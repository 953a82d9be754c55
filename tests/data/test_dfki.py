"""The reader of the torque-driven arm: the published format, its traps, and damaged files."""

import numpy as np
import pytest
from scipy.signal import savgol_filter

from hybridsim.data import VARIABLE, DataError
from hybridsim.data.dfki import POSITION_STEP, PUBLISHED_DFKI, TORQUE_STEP, dfki_runs, read_dfki

SIGNALS = ("pos_meas", "vel_meas", "pos_filt", "vel_filt", "tau_con", "tau_fric", "tau_meas")
HEADER = ",".join(["time", *(f"{signal}{joint}" for signal in SIGNALS for joint in (1, 2))])


@pytest.fixture
def table() -> np.ndarray:
    """Every column differs from every other."""
    time = 2e-3 * np.arange(30)
    return np.stack([time, *(k + np.sin(k * time) for k in range(1, 15))], axis=1)


def written(folder, table, header=HEADER, name="run.csv"):
    path = folder / name
    np.savetxt(path, table, delimiter=",", header=header, comments="")
    return path


def test_reads_the_published_format(tmp_path, table):
    path = written(tmp_path, table)
    run = read_dfki("run", tmp_path)
    assert (run.name, run.source, len(run), run.repairs) == ("run", str(path), 30, ())
    parts = (
        run.time[:, None],
        run.position,
        run.velocity,
        run.filtered_position,
        run.filtered_velocity,
        run.command,
        run.friction_compensation,
        run.torque,
    )
    np.testing.assert_array_equal(np.concatenate(parts, axis=1), table)


def test_columns_are_found_by_their_names(tmp_path, table):
    """In any order, among others."""
    written(tmp_path, table, name="one.csv")
    written(
        tmp_path,
        np.fliplr(np.c_[table, table]),
        ",".join([f"x{k}" for k in range(15)][::-1] + HEADER.split(",")[::-1]),
        name="two.csv",
    )
    one, two = read_dfki("one", tmp_path), read_dfki("two", tmp_path)
    np.testing.assert_array_equal(one.torque, two.torque)
    np.testing.assert_array_equal(one.time, two.time)


def test_runs_are_found_by_the_variable(monkeypatch, tmp_path, table):
    folder = tmp_path / "dfki-double-pendulum"
    folder.mkdir()
    written(folder, table)
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    assert list(dfki_runs()) == ["run"]
    assert read_dfki("run").name == "run"


def test_an_unknown_run_lists_the_known(tmp_path, table):
    written(tmp_path, table)
    with pytest.raises(DataError, match="has no run 'walk'; it has 'run'"):
        read_dfki("walk", tmp_path)


def test_missing_folders_and_runs_are_named(tmp_path):
    with pytest.raises(DataError, match=r"there is no .*absent; give .*HYBRIDSIM_DATA"):
        dfki_runs(tmp_path / "absent")
    with pytest.raises(DataError, match=r"has no runs, which are files \*\.csv"):
        dfki_runs(tmp_path)


def test_samples_out_of_order_are_sorted_and_told(tmp_path, table):
    shuffled = table[[0, 1, 3, 2, 4, 4, *range(5, 30)]]
    written(tmp_path, shuffled)
    run = read_dfki("run", tmp_path)
    np.testing.assert_array_equal(run.time, table[:, 0])
    np.testing.assert_array_equal(run.position, table[:, 1:3])
    went_back, repeated = run.repairs
    assert went_back.endswith("time went back 1 times; sorted")
    assert repeated.endswith("1 samples repeated a time; dropped")


def changed(table, row, column, value):
    copy = table.copy()
    copy[row, column] = value
    return copy


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: changed(t, 7, 3, np.nan), "line 9 has a number that is not finite"),
        (lambda t: changed(t, 7, 14, np.inf), "line 9 has a number that is not finite"),
        (lambda t: changed(t, 7, 2, 9.0), "at 0.01.* s an angle changes at .* rad/s"),
        (lambda t: np.r_[t + 1, t], "row 30: time goes back by 1.06 s; the file joins several recordings"),
        (lambda t: t[:1], "has 1 rows of numbers"),
        (lambda t: t[[0, 0]], "all samples have the same time 0 s"),
        (lambda t: t * np.where(np.arange(15) == 0, 1e-6, 1), "or the time is not in seconds"),
    ],
)
def test_damaged_numbers_are_named(change, message, tmp_path, table):
    written(tmp_path, change(table))
    with pytest.raises(DataError, match=message) as error:
        read_dfki("run", tmp_path)
    assert "run.csv" in str(error.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text[:-9], "cut short: its last line has no end"),
        (lambda text: "", "cut short"),
        (lambda text: text.replace("tau_meas2", "tau2"), "has no columns tau_meas2; its header is 'time,"),
        (lambda text: "\n".join(text.split("\n")[1:]), "has no columns time, pos_meas1"),
        (lambda text: text.replace(",", "\t"), "has no columns time"),
        (lambda text: text[: text.index("\n", 900) - 30] + "\n", "columns; it must have 15 numbers"),
        (lambda text: text.replace("e+00", "x", 1), "something that is not a number"),
    ],
)
def test_damaged_text_is_named(change, message, tmp_path, table):
    path = written(tmp_path, table)
    path.write_text(change(path.read_text()))
    with pytest.raises(DataError, match=message) as error:
        read_dfki("run", tmp_path)
    assert "run.csv" in str(error.value)


def test_published_equations_conserve_energy():
    """Power of the torques without friction is the change of the energy of two links and two rotors."""
    p = PUBLISHED_DFKI
    t = np.linspace(0, 2, 4001)[:, None]
    rate = np.array([2.0, 3.0])
    q, qd, qdd = np.sin(rate * t), rate * np.cos(rate * t), -(rate**2) * np.sin(rate * t)
    friction = np.array(p.damping) * qd + np.array(p.coulomb_friction) * np.arctan(100 * qd)
    power = np.sum((p.torque(q, qd, qdd) - friction) * qd, axis=1)
    kinetic = np.einsum("ti,tij,tj->t", qd, p.mass_matrix(q[:, 1]), qd) / 2
    heights = -p.mass[0] * p.centre_of_mass[0] * np.cos(q[:, 0]) - p.mass[1] * (
        p.length[0] * np.cos(q[:, 0]) + p.centre_of_mass[1] * np.cos(q.sum(axis=1))
    )
    change = np.gradient(kinetic + p.gravity * heights, t[:, 0])
    np.testing.assert_allclose(change[1:-1], power[1:-1], atol=1e-4)


@pytest.fixture(scope="module")
def measured(real_data):
    folder = real_data / "dfki-double-pendulum"
    return [read_dfki(name, folder) for name in dfki_runs(folder)]


@pytest.mark.real_data
def test_measured_runs(measured):
    assert len(measured) == 6
    for run in measured:
        steps = np.diff(run.time)
        assert run.time[0] == 0
        assert run.time[-1] == pytest.approx(10, abs=0.01)
        assert np.median(steps) == pytest.approx(2e-3, rel=1e-4)
        assert steps.max() < 4e-3
        assert np.sum(steps > 2.1e-3) <= 16
        assert run.repairs == ()
        assert np.abs(run.position[0]).max() < 1e-3, "it starts hanging"
        assert np.abs(run.torque).max() < 1
        np.testing.assert_array_equal(run.friction_compensation, 0)
        np.testing.assert_array_equal(run.filtered_position, run.position)
        np.testing.assert_array_equal(run.filtered_velocity, run.velocity)


@pytest.mark.real_data
def test_measured_velocities_are_backward_differences(measured):
    for run in measured:
        rate = np.diff(run.position, axis=0) / np.diff(run.time)[:, None]
        np.testing.assert_allclose(run.velocity[1:], rate, rtol=1e-12)


@pytest.mark.real_data
def test_measured_resolution(measured):
    for run in measured:
        for values, step in ((run.position, POSITION_STEP), (run.torque, TORQUE_STEP)):
            counts = (values - values[0, 0]) / step
            np.testing.assert_allclose(counts, np.round(counts), atol=1e-6)


@pytest.mark.real_data
def test_measured_torques_are_those_of_the_published_model(measured):
    """Signs and frames: with them the model explains the driven joints; with another sign of friction it does worse."""
    for run in measured:
        time = np.arange(0, run.time[-1], 2e-3)
        even = np.stack([np.interp(time, run.time, run.position[:, i]) for i in range(2)], axis=1)
        q, qd, qdd = (savgol_filter(even, 25, 3, deriv=k, delta=2e-3, axis=0)[50:-50] for k in range(3))
        torque = np.stack([np.interp(time, run.time, run.torque[:, i]) for i in range(2)], axis=1)[50:-50]
        model = PUBLISHED_DFKI.torque(q, qd, qdd)
        friction = model - PUBLISHED_DFKI.torque(q, 0 * qd, qdd)
        assert np.std(model - torque) < np.std(model - 2 * friction - torque)
        if np.ptp(run.command[:, 1]) > 0.1:
            assert np.corrcoef(model[:, 1], torque[:, 1])[0, 1] > 0.75


@pytest.mark.real_data
def test_measured_torque_follows_the_command_late(measured):
    for run in measured:
        for joint in range(2):
            if np.ptp(run.command[:, joint]) < 0.1:
                assert np.ptp(run.command[:, joint]) == 0
                assert abs(np.mean(run.torque[:, joint])) < 0.01
            else:
                fit = np.polyfit(run.command[:, joint], run.torque[:, joint], 1)
                assert 0.5 < fit[0] < 1.1


@pytest.mark.real_data
def test_measured_joint_that_sticks(measured):
    """Driven at joint 1 only, slowly: joint 2 stays where it is, which no smooth law of friction explains."""
    sticking = {run.name: np.ptp(run.position[:, 1]) for run in measured if np.ptp(run.command[:, 1]) == 0}
    assert list(sticking) == ["20230629-143906"]
    assert sticking["20230629-143906"] < 3e-3


def simulated(start: np.ndarray, torque: np.ndarray, dt: float) -> np.ndarray:
    """Angles by the published model from many states at once, torques held over a step; Runge-Kutta."""
    q, qd = start
    path = [q]

    def rates(q, qd, held):
        missing = held - PUBLISHED_DFKI.torque(q, qd, 0 * q)
        return qd, np.linalg.solve(PUBLISHED_DFKI.mass_matrix(q[:, 1]), missing[..., None])[..., 0]

    for held in torque:
        v1, a1 = rates(q, qd, held)
        v2, a2 = rates(q + dt / 2 * v1, qd + dt / 2 * a1, held)
        v3, a3 = rates(q + dt / 2 * v2, qd + dt / 2 * a2, held)
        v4, a4 = rates(q + dt * v3, qd + dt * a3, held)
        q, qd = q + dt / 6 * (v1 + 2 * v2 + 2 * v3 + v4), qd + dt / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
        path.append(q)
    return np.array(path)


@pytest.mark.real_data
def test_published_model_over_windows_of_a_second(measured):
    """The baseline of identification: its median error over windows every half second is about 4 degrees."""
    dt, steps = 2e-3, 500
    starts, torques, angles = [], [], []
    for run in measured:
        time = np.arange(0, run.time[-1], dt)
        torque, q = (
            np.stack([np.interp(time, run.time, signal[:, i]) for i in range(2)], axis=1)
            for signal in (run.torque, run.position)
        )
        qd = savgol_filter(q, 25, 3, deriv=1, delta=dt, axis=0)
        first = np.arange(0, len(time) - steps, 250)
        rows = first + np.arange(steps + 1)[:, None]
        starts.append(np.array([q[first], qd[first]]))
        torques.append(torque[rows[:-1]])
        angles.append(q[rows])
    path = simulated(np.concatenate(starts, axis=1), np.concatenate(torques, axis=1), dt)
    errors = np.sqrt(np.mean((path - np.concatenate(angles, axis=1)) ** 2, axis=(0, 2)))
    assert len(errors) == 108
    assert np.degrees(np.median(errors)) == pytest.approx(4.1, abs=0.1)
