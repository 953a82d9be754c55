"""Errors of configurations in rad and m, on the manifold."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import hybridsim as hs
from hybridsim.identify.parts import angles_between, part_differences, parts_of, shown_names, shown_numbers


def mixed() -> hs.Model:
    """A body that floats, with a joint that turns and one that slides on it."""
    links = [hs.solid(name, 1.0, "box", (0.1, 0.1, 0.1)) for name in ("trunk", "arm", "slide")]
    joints = [
        hs.Joint("root", "free", "world", "trunk"),
        hs.Joint("elbow", "revolute", "trunk", "arm"),
        hs.Joint("rail", "prismatic", "arm", "slide"),
    ]
    return hs.build(links, joints)


def test_parts_have_units_of_their_own():
    assert [(part.name, part.unit) for part in parts_of(mixed())] == [
        ("root.position", "m"),
        ("root.rotation", "rad"),
        ("elbow", "rad"),
        ("rail", "m"),
    ]
    assert [name for name, _ in shown_names(mixed())] == [
        *("root.x", "root.y", "root.z", "root.rx", "root.ry", "root.rz"),
        *("elbow", "rail"),
    ]


def test_a_rotation_is_off_by_the_angle_between_orientations():
    rng = np.random.default_rng(0)
    a = Rotation.random(50, random_state=1)
    vectors = rng.normal(size=(50, 3))
    vectors *= rng.uniform(0, np.pi, (50, 1)) / np.linalg.norm(vectors, axis=1, keepdims=True)
    b = a * Rotation.from_rotvec(vectors)
    signs = np.where(rng.random((50, 1)) < 0.5, -1.0, 1.0)
    found = angles_between(a.as_quat(scalar_first=True), signs * b.as_quat(scalar_first=True))
    np.testing.assert_allclose(found, np.linalg.norm(vectors, axis=1), atol=1e-7)


def test_differences_by_part():
    model = mixed()
    measured = np.zeros((2, 3, model.nq))
    measured[..., 3] = 1.0
    simulated = measured.copy()
    simulated[0, 1, :3] = [0.03, 0.0, 0.04]
    simulated[0, 1, 3:7] = -np.array([np.cos(0.1), 0, np.sin(0.1), 0])
    simulated[0, 2, 7:] = [-0.2, 0.3]
    simulated[1, 1] = np.nan
    known = np.ones(measured.shape, bool)
    known[1, 2, 4] = False
    found = part_differences(parts_of(model), simulated, measured, known)
    np.testing.assert_allclose(found[0], [[0, 0, 0, 0], [0.05, 0.2, 0, 0], [0, 0, -0.2, 0.3]], atol=1e-12)
    assert np.isinf(found[1, 1]).all()
    assert np.isnan(found[1, 2, 1])
    assert found[1, 2, 0] == 0


def test_errors_in_each_unit():
    differences = np.zeros((2, 4, 3))
    differences[0], differences[1] = [0.1, 0.2, 0.2], [0.3, 0.4, 0.4]
    errors = hs.Errors(0.1, ("a", "b"), ("root.position", "root.rotation", "elbow"), differences, ("m", "rad", "rad"))
    assert errors.kinds == ("m", "rad")
    assert errors.of("m").median == pytest.approx(0.2)
    assert errors.of("rad").median == pytest.approx(0.3)
    assert errors.score == pytest.approx(np.sqrt(0.2 * 0.3))
    np.testing.assert_allclose(errors.scores, [np.sqrt(0.02), np.sqrt(0.12)])
    assert errors.of("rad").by_joint() == pytest.approx({"root.rotation": np.sqrt(0.1), "elbow": np.sqrt(0.1)})
    with pytest.raises(KeyError, match="no part of this mechanism has an error in 'mm'"):
        errors.of("mm")
    alone = hs.Errors(0.1, ("a", "b"), ("elbow",), differences[..., 2:])
    assert alone.of("rad") is alone
    assert alone.score == alone.median


def test_rotations_are_shown_from_where_a_window_begins_and_past_half_a_turn():
    angle = np.linspace(0, 5, 60)
    start = Rotation.from_rotvec([0.3, 0.2, -0.7])
    turned = start * Rotation.from_rotvec(np.outer(angle, [0, 0.6, 0.8]))
    q = np.zeros((60, mixed().nq))
    q[:, 3:7] = turned.as_quat(scalar_first=True)
    found = shown_numbers(mixed(), q, q[0])
    np.testing.assert_allclose(found[:, 3:6], np.outer(angle, [0, 0.6, 0.8]), atol=1e-9)


def test_evaluate_tells_metres_and_radians_apart():
    body = hs.free_body(hs.solid("brick", 0.5, "box", (0.05, 0.04, 0.03)))
    q, qd = body.rest()
    qd[:] = [1.0, 2.0, -1.0, 0.5, 0.0, 3.0]
    made = hs.rollout(body, (q, qd), dt=0.01, steps=100, contact=None)
    log = hs.Trajectory(0.01 * np.arange(101), np.array(made.q), np.array(made.qd), run="flight")
    flipped = log.q.copy()
    flipped[50:, 3:] *= -1
    for other in (log, replace(log, q=flipped)):
        errors = hs.evaluate(body, other, 0.5, contact=None)
        assert errors.joints == ("root.position", "root.rotation")
        assert errors.of("m").rmse.max() < 1e-9
        assert errors.of("rad").rmse.max() < 1e-7
    turned = Rotation.from_quat(log.q[:, 3:], scalar_first=True) * Rotation.from_rotvec([0.1, 0, 0])
    off = replace(log, q=np.concatenate([log.q[:, :3] + [0.02, 0, 0], turned.as_quat(scalar_first=True)], 1))
    off.q[0] = log.q[0]
    found = hs.evaluate(body, off, 1.0, contact=None)
    np.testing.assert_allclose(found.of("m").rmse, 0.02, rtol=0.01)
    np.testing.assert_allclose(found.of("rad").rmse, 0.1, rtol=0.01)
