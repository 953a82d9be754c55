"""The reader of the cube tosses: the published format, its traps, and damaged files."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import hybridsim as hs
from hybridsim.data import PUBLISHED_CUBE, VARIABLE, DataError, read_cube_tosses

DT = 1 / 148


def spinning(rows: int, seed: int) -> np.ndarray:
    """A toss in free flight, exact: constant angular velocity and gravity."""
    rng = np.random.default_rng(seed)
    t = DT * np.arange(rows)[:, None]
    w, v, p = rng.normal(size=(3, 3))
    first = Rotation.from_quat(rng.normal(size=4))
    gravity = np.array([0, 0, -9.81])
    return np.concatenate(
        [
            (first * Rotation.from_rotvec(t * w)).as_quat(scalar_first=True),
            p + t * v + t**2 / 2 * gravity,
            np.broadcast_to(w, (rows, 3)),
            v + t * gravity,
        ],
        axis=1,
    )


@pytest.fixture
def tables() -> dict[str, np.ndarray]:
    return {"000": spinning(12, 0), "002": spinning(9, 1), "dt": np.array(DT)}


def written(folder, tables):
    path = folder / "tosses.npz"
    np.savez(path, **tables)
    return path


def test_reads_the_published_format(tmp_path, tables):
    tosses = read_cube_tosses(written(tmp_path, tables))
    assert [toss.name for toss in tosses] == ["000", "002"]
    assert [len(toss) for toss in tosses] == [12, 9]
    for toss in tosses:
        parts = (toss.quaternion, toss.position, toss.angular_velocity, toss.velocity)
        np.testing.assert_array_equal(np.concatenate(parts, axis=1), tables[toss.name])
        np.testing.assert_allclose(toss.time, DT * np.arange(len(toss)), rtol=1e-15)
        assert toss.dt == DT


def test_finds_the_file_by_the_variable(monkeypatch, tmp_path, tables):
    (tmp_path / "contactnets-cube").mkdir()
    written(tmp_path / "contactnets-cube", tables)
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    assert len(read_cube_tosses()) == 2


def test_states_are_those_of_a_free_joint(tmp_path, tables):
    """The rate of change that our kinematics gives from a state is that of the recorded poses."""
    toss = read_cube_tosses(written(tmp_path, tables))[0]
    q, qd = toss.states()
    cube = hs.free_body(hs.solid("cube", 0.37, "box", (0.0524,) * 3))
    middle = np.asarray(hs.configuration_rate(cube, q[5], qd[5]))
    np.testing.assert_allclose(middle, (q[6] - q[4]) / (2 * DT), atol=2e-4)


def test_states_start_a_rollout_that_follows_a_flight(tmp_path, tables):
    toss = read_cube_tosses(written(tmp_path, tables))[0]
    q, qd = toss.states()
    cube = hs.free_body(hs.solid("cube", 0.37, "box", (0.0524,) * 3))
    flight = hs.rollout(cube, (q[0], qd[0]), dt=DT, steps=len(toss) - 1, integrator=hs.RungeKutta4())
    np.testing.assert_allclose(flight.q[:, :3], q[:, :3], atol=1e-9)
    np.testing.assert_allclose(flight.q[:, 3:], q[:, 3:], atol=1e-7)
    np.testing.assert_allclose(flight.qd, qd, atol=1e-7)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(DataError, match=r"no file .*absent\.npz; give the file .*HYBRIDSIM_DATA"):
        read_cube_tosses(tmp_path / "absent.npz")


def test_a_file_cut_short_is_named(tmp_path, tables):
    path = written(tmp_path, tables)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(DataError, match=r"tosses\.npz is not a readable npz file .*fetch it again"):
        read_cube_tosses(path)


@pytest.mark.parametrize("content", [b"", b"time,x,y\n", b"\x93NUMPY"])
def test_a_file_of_another_format_is_named(content, tmp_path):
    path = tmp_path / "tosses.npz"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"tosses\.npz is not a readable npz file .*fetch it again"):
        read_cube_tosses(path)


def test_damaged_bytes_are_named(tmp_path, tables):
    path = tmp_path / "tosses.npz"
    np.savez_compressed(path, **tables)
    content = bytearray(path.read_bytes())
    content[200:220] = bytes(20)
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"tosses\.npz is not a readable npz file .*fetch it again"):
        read_cube_tosses(path)


def test_a_single_array_is_no_set_of_tosses(tmp_path, tables):
    path = tmp_path / "tosses.npy"
    np.save(path, tables["000"])
    with pytest.raises(DataError, match=r"tosses\.npy is not a readable npz file"):
        read_cube_tosses(path)


def test_pickled_objects_are_refused(tmp_path, tables):
    path = written(tmp_path, tables | {"000": np.array([{"a": 1}], dtype=object)})
    with pytest.raises(DataError, match="not a readable npz file"):
        read_cube_tosses(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dt": np.array(0.0)}, "'dt' is 0.0; it must be one positive number"),
        ({"dt": np.array([DT, DT])}, "must be one positive number"),
        ({"dt": np.array("fast")}, "'dt' is fast; it must be one positive number"),
        ({"002": np.zeros((9, 12))}, r"toss '002' is an array of float64 of shape \(9, 12\).* 13 floats"),
        ({"002": np.zeros((9, 13), dtype=int)}, "toss '002' is an array of int64"),
        ({"002": np.zeros((9, 13))}, "toss '002', row 0: the quaternion has length 0, not 1"),
    ],
)
def test_damage_is_named(change, message, tmp_path, tables):
    with pytest.raises(DataError, match=message) as error:
        read_cube_tosses(written(tmp_path, tables | change))
    assert "tosses.npz" in str(error.value)


def test_a_file_without_dt_or_tosses_is_named(tmp_path, tables):
    with pytest.raises(DataError, match="has no tosses"):
        read_cube_tosses(written(tmp_path, {"dt": tables["dt"]}))
    with pytest.raises(DataError, match="has no 'dt'"):
        read_cube_tosses(written(tmp_path, {"000": tables["000"]}))


def test_a_number_that_is_not_finite_is_named(tmp_path, tables):
    tables["002"][4, 7] = np.nan
    with pytest.raises(DataError, match="toss '002', row 4 has a number that is not finite"):
        read_cube_tosses(written(tmp_path, tables))


@pytest.fixture(scope="module")
def measured(real_data):
    return read_cube_tosses(real_data / "contactnets-cube" / "tosses.npz")


@pytest.mark.real_data
def test_measured_tosses(measured):
    assert len(measured) == 449
    assert len({toss.name for toss in measured}) == 449
    for toss in measured:
        assert toss.dt == pytest.approx(1 / 148, rel=1e-6)
        np.testing.assert_allclose(np.linalg.norm(toss.quaternion, axis=1), 1, atol=1e-12)


@pytest.mark.real_data
def test_measured_frames(measured):
    """Angular velocity is in the body, velocity in the world: in these frames the rates of the poses agree."""
    ratios = []
    for toss in measured[::20]:
        turn = Rotation.from_quat(toss.quaternion[:8], scalar_first=True)
        in_body = (turn[:-1].inv() * turn[1:]).as_rotvec() / toss.dt
        in_world = turn[1:].apply(in_body)
        w = toss.angular_velocity[1:8]
        ratios.append(np.mean(np.abs(in_body - w)) / np.mean(np.abs(in_world - w)))
        np.testing.assert_allclose(np.diff(toss.position, axis=0) / toss.dt, toss.velocity[1:], atol=0.15)
    assert np.median(ratios) < 0.05


@pytest.mark.real_data
def test_measured_velocities_lag_half_a_sample(measured):
    """In the first eight samples, of free flight, the velocity is that of half a sample earlier."""
    lags = []
    for toss in measured:
        t = toss.time[:8]
        fall = np.polyfit(t, toss.position[:8, 2], 2)
        lags.append(np.mean(toss.velocity[:8, 2] - np.polyval(np.polyder(fall), t)))
    assert np.median(lags) == pytest.approx(9.63 * measured[0].dt / 2, rel=0.3)


@pytest.mark.real_data
def test_measured_fall_and_rest(measured):
    """Traps of the data: the cube falls at 9.63 m/s^2 and comes to rest 1.8 mm below the board."""
    falls = [np.polyfit(toss.time[:8], toss.velocity[:8, 2], 1)[0] for toss in measured]
    assert np.median(falls) == pytest.approx(-9.63, abs=0.05)
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    corners = PUBLISHED_CUBE.edge / 2 * signs
    lowest = []
    for toss in measured:
        turn = Rotation.from_quat(toss.quaternion[-1], scalar_first=True)
        lowest.append(np.min(turn.apply(corners)[:, 2]) + toss.position[-1, 2])
    assert np.median(lowest) == pytest.approx(-0.0018, abs=2e-4)
