"""The reader of the planar pushes: the published format, its traps, and damaged files."""

import sys

import numpy as np
import pytest

from hybridsim.data import VARIABLE, DataError
from hybridsim.data.mcube_push import PUSHED_OBJECTS, TIP_RADIUS, push_runs, read_push, read_push_outline

NAME = "motion_surface=abs_shape={}_a=0_v=50_i=4.000_s=0.700_t=-0.349"
HEX, RECT = NAME.format("hex"), NAME.format("rect1")
START = 1.4e9


def sets(seed: int = 0) -> dict[str, np.ndarray]:
    """A push along x; the object's yaw crosses half a turn."""
    rng = np.random.default_rng(seed)
    tables = {}
    for name, late in (("object_pose", 0.01), ("tip_pose", 0.0), ("ft_wrench", 0.02)):
        time = late + 4e-3 * np.arange(100)
        tables[name] = np.c_[START + time, 0.05 * time, rng.normal(size=100), 0 * time]
    yaw = np.pi - 0.2 + time
    tables["object_pose"][:, 3] = np.mod(yaw + np.pi, 2 * np.pi) - np.pi
    return tables


def written(folder, tables, name=HEX):
    h5py = pytest.importorskip("h5py", reason='h5py is not installed: pip install "hybridsim[datasets]"')
    (folder / "train").mkdir(exist_ok=True)
    path = folder / "train" / f"{name}.h5"
    with h5py.File(path, "w") as file:
        for key, table in tables.items():
            file[key] = table
    return path


def test_reads_the_published_format(tmp_path):
    tables = sets()
    path = written(tmp_path, tables)
    push = read_push(HEX, tmp_path)
    assert (push.name, push.source, push.repairs) == (HEX, str(path), ())
    assert (push.surface, push.shape, push.edge, push.place, push.direction) == ("abs", "hex", 4, 0.7, -0.349)
    assert push.speed == 0.05
    assert push.start == START
    np.testing.assert_allclose(push.object_time, 0.01 + 4e-3 * np.arange(100), atol=1e-6)
    np.testing.assert_allclose(push.tip_time, 4e-3 * np.arange(100), atol=1e-6)
    np.testing.assert_allclose(push.force_time, 0.02 + 4e-3 * np.arange(100), atol=1e-6)
    np.testing.assert_array_equal(push.object_position, tables["object_pose"][:, 1:3])
    np.testing.assert_array_equal(push.tip_position, tables["tip_pose"][:, 1:3])
    np.testing.assert_array_equal(push.force, tables["ft_wrench"][:, 1:3])
    np.testing.assert_array_equal(push.torque, tables["ft_wrench"][:, 3])
    moved = push.object_position[-1] - push.object_position[0]
    assert push.displacement == pytest.approx(np.hypot(*moved))


def test_yaw_does_not_jump(tmp_path):
    written(tmp_path, sets())
    yaw = read_push(HEX, tmp_path).object_yaw
    np.testing.assert_allclose(np.diff(yaw), 4e-3, atol=1e-9)


def test_times_that_repeat_or_go_back_are_repaired_and_told(tmp_path):
    tables = sets()
    good = tables["object_pose"]
    tables["object_pose"] = good[[0, 2, 1, 3, 3, *range(4, 100)]]
    written(tmp_path, tables)
    push = read_push(HEX, tmp_path)
    np.testing.assert_array_equal(push.object_position, good[:, 1:3])
    assert (np.diff(push.object_time) > 0).all()
    went_back, repeated = push.repairs
    assert went_back.endswith("object_pose: time went back 1 times; sorted")
    assert repeated.endswith("object_pose: 1 samples repeated a time; dropped")


def test_force_that_is_invalid_is_left_out(tmp_path):
    written(tmp_path, sets(), RECT)
    push = read_push(RECT, tmp_path)
    assert push.force is None
    assert push.force_time is None
    assert push.torque is None


def test_runs_are_found_by_the_variable(monkeypatch, tmp_path):
    (tmp_path / "mcube-push").mkdir()
    written(tmp_path / "mcube-push", sets())
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    assert list(push_runs()) == [HEX]
    assert read_push(HEX).shape == "hex"


def test_an_unknown_run_lists_the_known(tmp_path):
    written(tmp_path, sets())
    with pytest.raises(DataError, match=f"has no run 'shove'; it has '{HEX}'"):
        read_push("shove", tmp_path)


def test_missing_folders_and_runs_are_named(tmp_path):
    with pytest.raises(DataError, match=r"there is no .*absent; give .*HYBRIDSIM_DATA"):
        push_runs(tmp_path / "absent")
    with pytest.raises(DataError, match=r"has no runs, which are files motion_\*\.h5"):
        push_runs(tmp_path)


def test_the_extra_is_named_where_h5py_is_missing(monkeypatch, tmp_path):
    (tmp_path / f"{HEX}.h5").write_bytes(b"")
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(DataError, match=r'needs h5py, .*pip install "hybridsim\[datasets\]"'):
        read_push(HEX, tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tip_pose": None}, "has no set 'tip_pose' but 'ft_wrench', 'object_pose'"),
        ({"tip_pose": np.zeros((9, 3))}, r"'tip_pose' is an array of float64 of shape \(9, 3\)"),
        ({"tip_pose": np.zeros((1, 4))}, "it must have two or more rows"),
        ({"tip_pose": np.full((9, 4), np.nan)}, "'tip_pose', row 0 has a number that is not finite"),
        (
            {"ft_wrench": np.r_[sets()["ft_wrench"], sets()["ft_wrench"] - 9]},
            "ft_wrench, row 100: time goes back by 9.4 s",
        ),
    ],
)
def test_damage_is_named(change, message, tmp_path):
    tables = {name: table for name, table in (sets() | change).items() if table is not None}
    written(tmp_path, tables)
    with pytest.raises(DataError, match=message):
        read_push(HEX, tmp_path)


def test_files_that_are_cut_or_of_another_kind_are_named(tmp_path):
    path = written(tmp_path, sets())
    content = path.read_bytes()
    for damaged in (content[: len(content) // 2], b"", b"time,x,y\n"):
        path.write_bytes(damaged)
        with pytest.raises(DataError, match=r"is not a readable HDF5 file .*fetch it again"):
            read_push(HEX, tmp_path)


def test_a_name_without_conditions_is_named(tmp_path):
    written(tmp_path, sets(), "motion_fast")
    with pytest.raises(DataError, match=r"motion_fast.h5: the name must be motion_surface="):
        read_push("motion_fast", tmp_path)


def test_outlines_are_turned_into_the_frame_of_the_poses(tmp_path):
    (tmp_path / "shapes").mkdir()
    np.save(tmp_path / "shapes/bar_ext.npy", np.array([[2.0, 1.0], [-2, 1], [-2, -1], [2, -1]]))
    np.testing.assert_array_equal(read_push_outline("bar", tmp_path), [[-1, 2], [-1, -2], [1, -2], [1, 2]])
    with pytest.raises(DataError, match="has no run 'disc'; it has 'bar'"):
        read_push_outline("disc", tmp_path)
    np.save(tmp_path / "shapes/bar_ext.npy", np.zeros((4, 3)))
    with pytest.raises(DataError, match=r"bar_ext\.npy is an array of float64 of shape \(4, 3\)"):
        read_push_outline("bar", tmp_path)
    (tmp_path / "shapes/bar_ext.npy").write_bytes(b"\x93NUMPY")
    with pytest.raises(DataError, match=r"bar_ext\.npy is not a readable npy file"):
        read_push_outline("bar", tmp_path)


@pytest.fixture(scope="module")
def measured(real_data):
    pytest.importorskip("h5py", reason='h5py is not installed: pip install "hybridsim[datasets]"')
    folder = real_data / "mcube-push"
    return [read_push(name, folder) for name in push_runs(folder)]


def tip_motion(push):
    """Velocity of the tip at the times of the object, and where it moves at more than half its speed."""
    tip = np.stack([np.interp(push.object_time, push.tip_time, push.tip_position[:, i]) for i in range(2)], axis=1)
    velocity = np.gradient(tip, push.object_time, axis=0)
    return tip, velocity, np.linalg.norm(velocity, axis=1) > push.speed / 2


@pytest.mark.real_data
def test_measured_pushes(measured):
    assert len(measured) == 50
    shapes = [push.shape for push in measured]
    assert {shape: shapes.count(shape) for shape in shapes} == {"ellip1": 13, "ellip3": 10, "hex": 14, "rect1": 13}
    assert set(shapes) < set(PUSHED_OBJECTS)
    assert sum(bool(push.repairs) for push in measured) == 17
    for push in measured:
        assert push.surface == "abs"
        assert np.linalg.norm(push.tip_position[-1] - push.tip_position[0]) == pytest.approx(0.05, abs=3e-4)
        assert (push.force is None) == (push.shape == "rect1")
        for time in (push.object_time, push.tip_time):
            assert np.median(np.diff(time)) == pytest.approx(4e-3, rel=0.15)
            assert np.diff(time).min() > 0
            assert np.diff(time).max() < 0.09
        assert np.abs(np.diff(push.object_yaw)).max() < 0.05
    assert sum(push.displacement < 5e-3 for push in measured) == 10, "pushes that graze"


@pytest.mark.real_data
def test_measured_speeds_are_below_those_in_the_names(measured):
    for push in measured:
        _, velocity, moving = tip_motion(push)
        assert 0.88 < np.median(np.linalg.norm(velocity[moving], axis=1)) / push.speed < 1.05


@pytest.mark.real_data
def test_measured_force_is_on_the_pusher(measured):
    """Against the motion of the tip, and of the size of friction on the plate."""
    checked = 0
    for push in measured:
        if push.force is None or push.displacement < 0.01:
            continue
        _, velocity, moving = tip_motion(push)
        force = np.stack([np.interp(push.object_time, push.force_time, push.force[:, i]) for i in range(2)], axis=1)
        assert np.median(np.sum(force * velocity, axis=1)[moving]) < 0
        weight = 9.81 * PUSHED_OBJECTS[push.shape].mass
        assert 0.05 < np.median(np.linalg.norm(force[moving], axis=1)) / weight < 1
        checked += 1
    assert checked > 20


def distance(corners: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Of points from the sides of a polygon."""
    sides = np.roll(corners, -1, axis=0) - corners
    offset = points[:, None] - corners
    along = np.clip(np.sum(offset * sides, axis=2) / np.sum(sides**2, axis=1), 0, 1)
    return np.linalg.norm(offset - along[..., None] * sides, axis=2).min(axis=1)


@pytest.mark.real_data
def test_measured_tip_touches_the_outline(measured, real_data):
    """Where the object moves, the tip is its radius away from the outline, within 2 mm; for three shapes this fixes the frame."""
    gaps = []
    for push in measured:
        if push.displacement < 0.01:
            continue
        tip, _, moving = tip_motion(push)
        moving &= np.linalg.norm(push.object_position - push.object_position[0], axis=1) > 1e-3
        c, s = np.cos(push.object_yaw), np.sin(push.object_yaw)
        x, y = (tip - push.object_position).T
        in_object = np.stack([c * x + s * y, -s * x + c * y], axis=1)[moving]
        gaps.append(np.median(distance(read_push_outline(push.shape, real_data / "mcube-push"), in_object)))
    np.testing.assert_allclose(gaps, TIP_RADIUS, atol=0.002)
