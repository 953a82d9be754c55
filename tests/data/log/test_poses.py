"""Logs of free bodies: columns, orders, frames and units of poses, and what is wrong with them."""

import warnings

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import hybridsim as hs
from hybridsim.data import DataError
from hybridsim.data.log import DataWarning, Trajectory, floor_of, read_log, smooth
from hybridsim.data.log.pose_names import part_of
from hybridsim.data.log.words import tokens

from .tosses import COLUMNS, DT, brick, toss, written

XYZW = (0, 1, 2, 4, 5, 6, 3)


def flown(n: int = 60, dt: float = DT) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times, poses and exact velocities of a body that turns steadily about a fixed axis of its own and flies."""
    t, w = dt * np.arange(n), np.array([3.0, -2.0, 5.0])
    turned = Rotation.from_quat([0.5, 0.1, -0.3, 0.8], scalar_first=True) * Rotation.from_rotvec(np.outer(t, w))
    place = np.stack([0.5 * t, 1 - t, 2 + 3 * t - 4.905 * t**2], 1)
    world = np.stack([0 * t + 0.5, 0 * t - 1, 3 - 9.81 * t], 1)
    velocity = np.concatenate([np.tile(w, (n, 1)), turned.inv().apply(world)], 1)
    return t, np.concatenate([place, turned.as_quat(scalar_first=True)], 1), velocity


def test_velocities_are_those_of_the_manifold_whatever_the_signs_of_quaternions():
    t, q, velocity = flown()
    q[np.random.default_rng(0).random(len(q)) < 0.4, 3:] *= -1
    found = smooth(Trajectory(t, q, quaternions=(3,), poses=(0,)), window=0.05)
    np.testing.assert_allclose(found.qd, velocity, atol=1e-7)
    assert found.qd_mask.all()
    ball = smooth(Trajectory(t, q[:, 3:], quaternions=(0,)), window=0.05)
    np.testing.assert_allclose(ball.qd, velocity[:, :3], atol=1e-7)


def test_smoothed_rotations_are_nearer_to_the_truth():
    t, q, _ = flown(200)
    rng = np.random.default_rng(1)
    true = Rotation.from_quat(q[:, 3:], scalar_first=True)
    noisy = true * Rotation.from_rotvec(0.01 * rng.normal(size=(len(q), 3)))
    log = Trajectory(t, np.concatenate([q[:, :3], noisy.as_quat(scalar_first=True)], 1), quaternions=(3,), poses=(0,))
    found = Rotation.from_quat(smooth(log, window=0.1, positions=True).q[:, 3:], scalar_first=True)
    before, after = ((true.inv() * other).magnitude().mean() for other in (noisy, found))
    assert after < 0.6 * before


def test_velocities_stop_at_holes_and_masked_rows():
    t, q, velocity = flown(80)
    keep = (t < 0.15) | (t > 0.22)
    mask = np.ones(q[keep].shape, bool)
    mask[10, 4] = False
    log = Trajectory(t[keep], q[keep], q_mask=mask, quaternions=(3,), poses=(0,))
    found = smooth(log, window=0.05)
    np.testing.assert_allclose(found.qd[found.qd_mask], velocity[keep][found.qd_mask], atol=1e-4)
    assert found.qd_mask.mean() > 0.9


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("x", "x"), ("px", "x"), ("tx", "x"), ("pos_x", "x"), ("position.x", "x"), ("pose.position.x", "x"), ("posX", "x"),
        ("qw", "qw"), ("quat_w", "qw"), ("orientation.w", "qw"), ("pose.pose.orientation.w", "qw"), ("rot_x", "qx"),
        ("quat_0", "q0"), ("q3", "q3"), ("vx", "vx"), ("twist.linear.x", "vx"), ("velocity_y", "vy"), ("omega_x", "wx"),
        ("twist.angular.z", "wz"), ("angular_velocity.y", "wy"), ("wx", "wx"),
    ],
)  # fmt: skip
def test_names_of_parts(name, part):
    assert part_of(tokens(name)) == (part, ())


@pytest.mark.parametrize(
    "name", ["acc_x", "linear_acceleration.x", "x_ref", "force.x", "target_qw", "temperature", "w"]
)
def test_names_of_other_things(name):
    assert part_of(tokens(name)) is None


@pytest.mark.parametrize(
    ("header", "order"),
    [
        (COLUMNS, range(7)),
        ("time,px,py,pz,qx,qy,qz,qw", XYZW),
        ("stamp,tx,ty,tz,qx,qy,qz,qw", XYZW),
        ("t,pose.position.x,pose.position.y,pose.position.z,pose.orientation.x,pose.orientation.y,pose.orientation.z,"
         "pose.orientation.w", XYZW),
        ("t,brick_pos_x,brick_pos_y,brick_pos_z,brick_quat_w,brick_quat_x,brick_quat_y,brick_quat_z", range(7)),
        ("t,root.position.x,root.position.y,root.position.z,root.position.qw,root.position.qx,root.position.qy,"
         "root.position.qz", range(7)),
    ],
)  # fmt: skip
def test_columns_of_poses(tmp_path, header, order):
    _, q, _ = flown()
    log = read_log(written(tmp_path / "flight.csv", q, header, order), brick())
    np.testing.assert_allclose(log.q[:, :3], q[:, :3], atol=1e-8)
    np.testing.assert_allclose(np.abs(np.sum(log.q[:, 3:] * q[:, 3:], axis=1)), 1, atol=1e-8)
    assert log.qd is None
    assert log.poses == (0,)


def test_of_two_bodies_the_one_is_read_that_is_called_like_the_joint_or_link(tmp_path):
    _, q, _ = flown()
    other = q + 1
    header = "t," + ",".join(f"{body}_{part}" for body in ("brick", "table") for part in COLUMNS.split(",")[1:])
    path = written(tmp_path / "two.csv", q, header, extra=other)
    np.testing.assert_allclose(read_log(path, brick()).q[:, :3], q[:, :3], atol=1e-8)
    nameless = hs.free_body(hs.solid("thing", 0.5, "box", (0.05, 0.04, 0.03)))
    with pytest.raises(DataError, match="'brick_x', 'table_x'; say which"):
        read_log(path, nameless)


@pytest.mark.parametrize(("order", "told"), [(range(7), "w, x, y, z"), (XYZW, "x, y, z, w")])
def test_the_order_of_a_quaternion_is_told_by_a_floor_or_by_angular_velocity(tmp_path, order, told):
    q, qd = toss(1, height=0.4)
    header = "t,x,y,z,q0,q1,q2,q3"
    log = read_log(written(tmp_path / "toss.csv", q, header, order), brick())
    assert any(told in note and "floor" in note for note in log.notes)
    np.testing.assert_allclose(np.abs(np.sum(log.q[:, 3:] * q[:, 3:], axis=1)), 1, atol=1e-8)
    world = Rotation.from_quat(q[:, 3:], scalar_first=True).apply(qd[:, :3])
    for rates in (qd[:, :3], world):
        path = written(tmp_path / "rates.csv", q[:60], f"{header},wx,wy,wz", order, rates[:60])
        log = read_log(path, brick())
        assert any(told in note and "angular velocity" in note for note in log.notes)


def test_an_order_that_nothing_tells_is_asked_for(tmp_path):
    _, q, _ = flown()
    path = written(tmp_path / "flight.csv", q, "t,x,y,z,q0,q1,q2,q3")
    with pytest.raises(DataError, match=r"'q0', 'q1', 'q2', 'q3' are a rotation.*--quaternion wxyz"):
        read_log(path, brick())
    said = {f"root.position.{part}": f"q{i}" for i, part in enumerate(("qw", "qx", "qy", "qz"))}
    np.testing.assert_allclose(read_log(path, brick(), columns=said).q[:, :3], q[:, :3], atol=1e-8)


def test_logs_that_begin_without_a_rotation_tell_the_order(tmp_path):
    t = 0.01 * np.arange(50)
    turned = Rotation.from_rotvec(np.outer(t, [0.5, 0.3, 1.0])).as_quat(scalar_first=True)
    q = np.concatenate([np.zeros((50, 2)), 1 - 4.905 * t[:, None] ** 2, turned], 1)
    for order in (range(7), XYZW):
        log = read_log(written(tmp_path / "drop.csv", q, "t,x,y,z,q0,q1,q2,q3", order), brick())
        np.testing.assert_allclose(log.q[:, 3:], turned, atol=1e-8)


def test_velocities_are_turned_into_the_axes_of_the_body(tmp_path):
    _, q, velocity = flown()
    turned = Rotation.from_quat(q[:, 3:], scalar_first=True)
    names = f"{COLUMNS},wx,wy,wz,vx,vy,vz"
    world = np.concatenate([turned.apply(velocity[:, :3]), turned.apply(velocity[:, 3:])], 1)
    for given, said in ((velocity, False), (world, True)):
        table = np.concatenate([q, given], 1)
        path = tmp_path / "flight.csv"
        np.savetxt(path, np.column_stack([DT * np.arange(60), table]), "%.9g", ",", header=names, comments="")
        log = read_log(path, brick())
        np.testing.assert_allclose(log.qd, velocity, atol=1e-6)
        assert any("axes of the world" in note for note in log.notes) == said


def test_forces_of_motors_leave_the_root_of_a_floating_robot_alone(tmp_path):
    links = [hs.solid(name, 1.0, "box", (0.1, 0.1, 0.1)) for name in ("trunk", "arm")]
    joints = [hs.Joint("root", "free", "world", "trunk"), hs.Joint("elbow", "revolute", "trunk", "arm")]
    robot = hs.build(links, joints)
    _, q, _ = flown()
    path = written(
        tmp_path / "walk.csv", q, f"{COLUMNS},elbow_pos,elbow_tau", extra=np.random.default_rng(0).random((60, 2))
    )
    log = read_log(path, robot)
    assert log.controls_mask.all()
    assert not log.controls[:, :6].any()
    assert log.controls[:, 6].all()


def test_roll_pitch_and_yaw(tmp_path):
    _, q, _ = flown()
    angles = Rotation.from_quat(q[:, 3:], scalar_first=True).as_euler("xyz")
    for names, factor in (
        ("roll,pitch,yaw", 1.0),
        ("roll_deg,pitch_deg,yaw_deg", 180 / np.pi),
        ("roll,pitch,yaw", 180 / np.pi),
    ):
        table = np.column_stack([DT * np.arange(60), q[:, :3], factor * angles])
        path = tmp_path / "rpy.csv"
        np.savetxt(path, table, "%.9g", ",", header=f"t,x,y,z,{names}", comments="")
        log = read_log(path, brick())
        np.testing.assert_allclose(np.abs(np.sum(log.q[:, 3:] * q[:, 3:], axis=1)), 1, atol=1e-7)


def test_millimetres_are_noticed(tmp_path):
    _, q, _ = flown()
    q[:, :3] *= 1e3
    path = written(tmp_path / "mm.csv", q)
    with pytest.warns(DataWarning, match="if it is in mm"):
        read_log(path, brick())
    log = read_log(path, brick(), units={"position": "mm"})
    np.testing.assert_allclose(log.q[:, :3], q[:, :3] / 1e3, atol=1e-8)
    np.testing.assert_allclose(np.linalg.norm(log.q[:, 3:], axis=1), 1, atol=1e-9)
    named = written(tmp_path / "named.csv", q, "t,x [mm],y [mm],z [mm],qw,qx,qy,qz")
    np.testing.assert_allclose(read_log(named, brick()).q[:, :3], q[:, :3] / 1e3, atol=1e-8)


def test_a_rotation_with_a_number_missing_is_refused(tmp_path):
    _, q, _ = flown()
    path = written(tmp_path / "three.csv", q[:, :6], "t,x,y,z,qx,qy,qz", range(6))
    with pytest.raises(DataError, match=r"'qx', 'qy', 'qz' there is none for root\.position\.qw; add it"):
        read_log(path, brick())


def test_quaternions_of_another_length(tmp_path):
    _, q, _ = flown()
    short = q.copy()
    short[:, 3:] *= 1.01
    log = read_log(written(tmp_path / "near.csv", short), brick())
    np.testing.assert_allclose(np.linalg.norm(log.q[:, 3:], axis=1), 1, atol=1e-12)
    lost = q.copy()
    lost[20:23, 3:] = 0
    with pytest.warns(DataWarning, match=r"'qw', 'qx', 'qy', 'qz' has not length 1 in 3 rows, such as \(0, 0, 0, 0\)"):
        log = read_log(written(tmp_path / "lost.csv", lost), brick())
    assert not log.q_mask[20:23, 3:].any()
    assert log.q_mask[20:23, :3].all()
    assert np.isfinite(log.q).all()
    long = q.copy()
    long[:, 3:] *= 2
    with pytest.raises(
        DataError, match=r"long\.csv, row 2: the quaternion in columns 'qw', .* of length 2, .* 60 of 60 rows"
    ):
        read_log(written(tmp_path / "long.csv", long), brick())


def test_gaps_of_poses_are_masked_and_velocities_stay_finite(tmp_path):
    _, q, velocity = flown()
    q[15:18] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        log = smooth(read_log(written(tmp_path / "gap.csv", q), brick()), window=0.1)
    assert not log.q_mask[15:18].any()
    assert np.isfinite(log.qd).all()
    np.testing.assert_allclose(log.qd[log.qd_mask], velocity[log.qd_mask], atol=1e-4)


def test_floors():
    model = brick()
    for height in (0.0, -0.35):
        logs = [
            Trajectory(DT * np.arange(161), toss(seed, height)[0], quaternions=(3,), poses=(0,)) for seed in range(3)
        ]
        found = floor_of(model, logs)
        assert found is not None
        assert found.runs == 3
        assert found.height == pytest.approx(height, abs=1e-3)
        assert floor_of(model, logs[:1]).height == pytest.approx(height, abs=1e-3)
    in_flight = [log[:15] for log in logs]
    assert floor_of(model, in_flight) is None
    t = DT * np.arange(400)
    waved = np.stack([0 * t, 0 * t, 0.5 + 0.2 * np.sin(5 * t), 0 * t + 1, 0 * t, 0 * t, 0 * t], 1)
    assert floor_of(model, [Trajectory(t, waved, quaternions=(3,), poses=(0,))]) is None
