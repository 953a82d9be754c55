"""Faces on faces against clipped polygons, edges on edges, depths against separating axes, contact against MuJoCo's."""

import numpy as np
import pytest
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from contact.detect.by_mujoco import mujoco_distance
from contact.detect.cases import Placed, Transform, at, moved, touches, two
from hybridsim.contact.detect.box_box import PREFERENCE, ROCKING

PAIR = ("box", "box")
# One number and 1 are all that is compiled for.
MANY = 1500
UP = np.array([0.0, 0.0, 1.0])
SQUARE = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])


def standing(size_a, size_b, yaw: float, shift=(0.0, 0.0), deep: float = 1e-3) -> tuple[Placed, Placed]:
    """Box a flat on b."""
    height = size_a[2] + size_b[2] - deep
    return at("box", (*shift, height), size_a, (0, 0, yaw)), at("box", (0, 0, 0), size_b)


def clipped(polygon: np.ndarray, half: np.ndarray) -> np.ndarray:
    """The part of a polygon inside a rectangle about the origin (Sutherland and Hodgman)."""
    for axis, sign in ((0, 1), (0, -1), (1, 1), (1, -1)):
        inside = half[axis] - sign * polygon[:, axis]
        kept = []
        for i, p in enumerate(polygon):
            j = (i + 1) % len(polygon)
            if inside[i] >= 0:
                kept.append(p)
            if inside[i] * inside[j] < 0:
                kept.append(p + (polygon[j] - p) * inside[i] / (inside[i] - inside[j]))
        polygon = np.array(kept).reshape(-1, 2)
        if len(polygon) == 0:
            break
    return polygon


def held(touch, i: int = 0, deep: float = 1e-3) -> np.ndarray:
    """The points that touch, each of them once, all as deep and held upwards."""
    acts = np.asarray(touch.distance[i]) < 0
    np.testing.assert_allclose(touch.distance[i][acts], -deep, atol=1e-12)
    np.testing.assert_allclose(touch.normal[i][acts], np.tile(UP, (np.sum(acts), 1)), atol=1e-12)
    points = np.asarray(touch.on_a[i][acts])
    gaps = np.linalg.norm(points[:, None] - points[None], axis=-1) + np.eye(len(points))
    assert gaps.min(initial=1.0) > 1e-7
    return points[:, :2]


SIZE = (0.1, 0.1, 0.1)


@pytest.mark.parametrize(
    ("size_a", "size_b", "yaw", "shift", "count"),
    [
        (SIZE, SIZE, 0.0, (0, 0), 4),
        (SIZE, SIZE, 1e-13, (0, 0), 4),
        (SIZE, SIZE, np.pi / 2, (0, 0), 4),
        (SIZE, SIZE, 1e-3, (0, 0), 8),
        (SIZE, SIZE, 0.3, (0, 0), 8),
        (SIZE, SIZE, np.pi / 4, (0, 0), 8),
        (SIZE, SIZE, 0.0, (0.03, 0.02), 4),
        (SIZE, SIZE, 0.0, (0.03, 0), 4),
        ((0.5, 0.05, 0.01), (0.05, 0.5, 0.01), 0.0, (0.01, 0), 4),
        ((0.5, 0.05, 0.01), (0.05, 0.5, 0.01), 0.2, (0.01, 0), 4),
        ((0.05, 0.04, 0.1), (0.3, 0.4, 0.1), 0.4, (0.1, 0.1), 4),
        ((0.3, 0.4, 0.1), (0.05, 0.04, 0.1), 0.4, (0.1, 0.1), 4),
    ],
)
def test_a_box_stands_on_another(size_a, size_b, yaw, shift, count):
    """Of the same size, boards laid crosswise, small on large, large on small: held all around."""
    a, b = standing(size_a, size_b, yaw, shift)
    points = held(touches(PAIR, [(a, b)]))
    assert len(points) == count
    outline = clipped(shift + (SQUARE * size_a[:2]) @ Rotation.from_euler("z", yaw).as_matrix()[:2, :2].T, size_b[:2])
    assert ConvexHull(points).volume == pytest.approx(ConvexHull(outline).volume, rel=1e-6)


def test_the_points_of_faces_are_the_corners_of_what_they_share():
    rng = np.random.default_rng(0)
    cases = [
        standing(rng.uniform(0.05, 0.3, 3), rng.uniform(0.05, 0.3, 3), rng.uniform(0, 7), rng.uniform(-0.2, 0.2, 2))
        for _ in range(MANY)
    ]
    touch = touches(PAIR, cases)
    corners = [
        clipped((a.pose.position + (np.c_[SQUARE, np.zeros(4)] * a.size) @ a.pose.rotation.T)[:, :2], b.size)
        for a, b in cases
    ]
    wide = [i for i, points in enumerate(corners) if len(points) and np.ptp(points, axis=0).min() > 5e-3]
    assert len(wide) > MANY // 2
    for i in wide:
        points = held(touch, i)
        assert len(points) == len(corners[i])
        gaps = np.linalg.norm(points[:, None] - corners[i][None], axis=-1)
        assert max(gaps.min(axis=0).max(), gaps.min(axis=1).max()) < 1e-6


def test_the_reference_may_be_either_box():
    """Whichever is a, and however the world is turned."""
    rng = np.random.default_rng(1)
    for a, b in [standing(SIZE, SIZE, 0.3), standing((0.3, 0.4, 0.1), (0.05, 0.04, 0.1), 0.4)]:
        by = Transform(Rotation.random(rng=rng).as_matrix(), rng.normal(size=3))
        one, other = (touches(PAIR, [x]) for x in ((moved(a, by), moved(b, by)), (moved(b, by), moved(a, by))))
        for touch, sign in ((one, 1), (other, -1)):
            acts = touch.distance[0] < 0
            np.testing.assert_allclose(touch.distance[0][acts], -1e-3, atol=1e-12)
            np.testing.assert_allclose((sign * touch.normal[0] @ by.rotation)[acts] - UP, 0, atol=1e-9)
        assert np.sum(one.distance < 0) == np.sum(other.distance < 0)


@pytest.mark.parametrize("gap", [1e-9, 1e-3, 0.05, 1.0])
def test_faces_apart_are_as_far_apart_as_they_are(gap):
    for yaw in (0.0, 1e-3, 0.3, np.pi / 4):
        touch = touches(PAIR, [standing(SIZE, SIZE, yaw, deep=-gap)])
        np.testing.assert_allclose(np.min(touch.distance), gap, atol=1e-12)


def test_a_box_that_rocks_on_another_stays_on_it():
    """Faces that lie on each other remain so when one is tilted by less than it is deep."""
    a, b = standing(SIZE, SIZE, 0.3)
    for turn in ((1e-5, 0, 0), (0, 1e-3, 0), (1e-3, 2e-3, 0)):
        tilted = moved(a, Transform(Rotation.from_rotvec(turn).as_matrix(), np.zeros(3)))
        touch = touches(PAIR, [(tilted, b)])
        assert np.sum(touch.distance[0] < 0) >= 8
        np.testing.assert_allclose(touch.normal[0][touch.distance[0] < 0] @ UP, 1, atol=1e-4)


@pytest.mark.parametrize("sizes", [((0.1, 0.1, 0.05), (0.1, 0.1, 0.05)), ((0.05, 0.04, 0.1), (0.3, 0.4, 0.1))])
def test_the_normal_of_parallel_faces_follows_both(sizes):
    """The face of which box is the reference may change with the smallest tilt; the derivative of the normal must not."""
    for size_a, size_b in (sizes, sizes[::-1]):
        a, b = standing(size_a, size_b, 0.0, (0.01, 0.02), deep=1e-6)
        for turn in np.eye(3)[:2]:
            slopes = []
            for angle in (-1e-4, -1e-7, 1e-7, 1e-4):
                touch = touches(
                    PAIR, [(moved(a, Transform(Rotation.from_rotvec(angle * turn).as_matrix(), np.zeros(3))), b)]
                )
                acts = touch.distance[0] < 1e-3
                slopes.append((touch.normal[0][acts][0] - UP) / angle)
            # Half of the way along with the tilted box.
            np.testing.assert_allclose(slopes, np.tile(np.cross(turn, UP) / 2, (4, 1)), atol=1e-3)


def test_edges_that_cross_touch_in_one_point():
    """Two long bars, each on its edge, at a right angle."""
    long, eighth = (0.1, 0.1, 1.0), np.pi / 4
    lower = Rotation.from_euler("xz", [eighth * 2, 0]) * Rotation.from_euler("z", eighth)
    upper = Rotation.from_euler("z", eighth * 2) * lower
    gap = 0.01
    for sign in (1, -1):
        height = 0.2 * np.sqrt(2) + sign * gap
        a, b = at("box", (0.1, 0.2, height), long, upper.as_rotvec()), at("box", (0, 0, 0), long, lower.as_rotvec())
        touch = touches(PAIR, [(a, b)])
        np.testing.assert_allclose(touch.distance[0, 12], sign * gap, atol=1e-12)
        np.testing.assert_allclose(touch.normal[0, 12], [0, 0, 1], atol=1e-9)
        assert np.all(touch.distance[0, :12] > gap)


def separation(a: Placed, b: Placed) -> float:
    """The largest one along the fifteen axes."""
    p, q = a.pose.rotation, b.pose.rotation
    products = np.cross(p.T[:, None], q.T[None]).reshape(9, 3)
    axes = np.concatenate([p.T, q.T, products / np.linalg.norm(products, axis=-1, keepdims=True)])
    between = np.abs(axes @ (a.pose.position - b.pose.position))
    return np.max(between - np.abs(axes @ p) @ a.size - np.abs(axes @ q) @ b.size)


def test_random_boxes_touch_if_and_only_if_they_overlap_and_are_as_deep():
    rng = np.random.default_rng(2)
    cases = [two(PAIR, rng, spread=rng.uniform(0.1, 0.5)) for _ in range(MANY)]
    ours = np.asarray(touches(PAIR, cases).distance)
    expected = np.array([separation(a, b) for a, b in cases])
    deep = expected < 0
    assert min(np.sum(deep), np.sum(~deep)) > MANY // 4
    assert np.all(ours[~deep] > expected[~deep, None] - 1e-12)
    depth = -expected[deep]
    assert np.all(np.min(np.abs(ours[deep] + depth[:, None]), axis=1) < 1e-12 + (1 - PREFERENCE) * depth)
    assert np.all(np.max(-ours[deep], axis=1) < depth / ROCKING + 1e-12)


def test_random_boxes_apart_are_as_far_apart_as_in_mujoco():
    """Or, for a few whose corners come closest, said to be a little further; never less."""
    rng = np.random.default_rng(3)
    cases = [case for case in (two(PAIR, rng, spread=0.5) for _ in range(2500)) if separation(*case) > 0][:MANY]
    assert len(cases) == MANY
    ours = np.min(touches(PAIR, cases).distance, axis=1)
    theirs = np.array([mujoco_distance(PAIR, a, b) for a, b in cases])
    apart = theirs > 0
    assert np.mean(apart) > 0.99
    assert np.all(ours > 0)
    error = (ours - theirs)[apart]
    assert np.all(error > -1e-9)
    assert np.mean(error < 1e-9) > 0.98
    assert np.max(error / theirs[apart]) < 0.05
