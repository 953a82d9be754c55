"""Distances against MuJoCo's, against dense samples of the surfaces, and against what can be said in one line."""

import jax
import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from contact.detect.by_mujoco import mujoco_distance
from contact.detect.cases import CONVEX, PAIRS, UPRIGHT, Placed, Transform, at, marked, touches, two
from hybridsim.contact import detect
from hybridsim.contact.detect import how_many
from hybridsim.contact.detect.outline import to_ellipse
from hybridsim.contact.detect.plane import DOME
from hybridsim.model.geometry import SHAPES

CASES = 60
BY_MUJOCO = [pair for pair in PAIRS if "elliptic" not in pair and "patch" not in pair]


@pytest.mark.parametrize("pair", marked(BY_MUJOCO))
def test_shapes_apart_are_as_far_apart_as_in_mujoco(pair):
    rng = np.random.default_rng(0)
    cases = [two(pair, rng, spread=0.6) for _ in range(CASES)]
    ours = np.asarray(touches(pair, cases).distance).min(axis=1)
    theirs = np.array([mujoco_distance(pair, a, b) for a, b in cases])
    apart = theirs > 1e-6
    assert np.sum(apart) > CASES // 6
    dome = pair.count("cylinder") * DOME * 0.3 if pair in CONVEX or pair == ("cylinder", "plane") else 0.0
    assert np.all(ours[apart] > theirs[apart] - 1e-6)
    assert np.all(ours[apart] < theirs[apart] + 1e-6 + dome)
    assert np.all(ours[~apart] < 1e-6)


def surface(kind: str, a: Placed) -> np.ndarray:
    """Points of the shape, in its frame, that include the furthest in every direction up to a few hundredths of a millimetre."""
    turn = np.linspace(0, 2 * np.pi, 361)
    circle = np.stack([np.cos(turn), np.sin(turn), 0 * turn], axis=-1)
    height = np.sin(np.linspace(-np.pi / 2, np.pi / 2, 181))[:, None, None]
    ball = (np.sqrt(1 - height**2) * circle + height * np.array([0.0, 0.0, 1.0])).reshape(-1, 3)
    ends = np.array([[[0.0, 0.0, -1.0]], [[0.0, 0.0, 1.0]]])
    if kind == "sphere":
        return a.size[0] * ball
    if kind == "ellipsoid":
        return a.size * ball
    if kind == "capsule":
        return (a.size[0] * ball + a.size[1] * ends).reshape(-1, 3)
    if kind == "cylinder":
        return (a.size[0] * circle + a.size[1] * ends).reshape(-1, 3)
    if kind == "elliptic":
        return (a.size * (circle + ends)).reshape(-1, 3)
    if kind == "box":
        return a.size * np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    return a.points if kind in ("points", "patch") else (a.points + a.size[0] * ends).reshape(-1, 3)


@pytest.mark.parametrize("kind", [a for a, b in PAIRS if b == "plane"])
def test_height_of_the_lowest_point_above_a_plane(kind):
    """Above it, through it and below it."""
    rng = np.random.default_rng(1)
    cases = [two((kind, "plane"), rng, spread=0.3) for _ in range(CASES)]
    ours = np.asarray(touches((kind, "plane"), cases).distance).min(axis=1)
    points = [a.pose.apply(surface(kind, a)) - b.pose.position for a, b in cases]
    lowest = np.array([np.min(x @ b.pose.rotation[:, 2]) for x, (_, b) in zip(points, cases, strict=True)])
    assert np.any(lowest > 0)
    assert np.any(lowest < -0.2)
    dome = DOME * 0.3 if kind in ("cylinder", "elliptic") else 0.0
    assert np.all(ours < lowest + 1e-9 + dome)
    assert np.all(ours > lowest - 3e-5)


def test_every_pair_is_ordered_and_says_how_many_points_it_has():
    for kind_a, kind_b in (*detect.PAIRS, *detect.UPRIGHT):
        assert SHAPES.index(kind_a) <= SHAPES.index(kind_b)
    counts = [how_many(PAIRS[kind, "plane"], 4) for kind in SHAPES[:-1]]
    assert counts == [1, 2, 10, 8, 1, 4, 8, 10, 4]
    assert [how_many(PAIRS[pair]) for pair in (("capsule", "capsule"), ("capsule", "box"), ("box", "box"))] == [
        5,
        5,
        13,
    ]
    assert how_many(detect.UPRIGHT["cylinder", "prism"], 0, 5) == 1


@pytest.mark.parametrize(
    ("pair", "position", "distance", "normal"),
    [
        (("sphere", "sphere"), (0.3, 0, 0), 0.1, (1, 0, 0)),
        (("sphere", "sphere"), (0, 0, 0), -0.2, (0, 0, 1)),
        (("sphere", "capsule"), (0, 0.2, 0.05), 0.0, (0, 1, 0)),
        (("sphere", "capsule"), (0, 0, 0.05), -0.2, (1, 0, 0)),
        (("sphere", "capsule"), (0, 0, 0.5), 0.2, (0, 0, 1)),
        (("sphere", "box"), (0.05, 0.02, 0), -0.15, (1, 0, 0)),
        (("sphere", "box"), (0, -0.1, 0), -0.1, (0, -1, 0)),
        (("sphere", "box"), (0, 0, 0), -0.2, (1, 0, 0)),
        (("sphere", "box"), (0.4, 0.5, 0), 0.4, (0.6, 0.8, 0)),
        (("sphere", "cylinder"), (0, 0.03, 0.09), -0.11, (0, 0, 1)),
        (("sphere", "cylinder"), (0.4, 0, -0.5), 0.4, (0.6, 0, -0.8)),
        (("sphere", "elliptic"), (0, -0.05, 0), -0.15, (0, -1, 0)),
        (("upright", "elliptic"), (0.3, 0, 0.1), 0.1, (1, 0, 0)),
        (("upright", "elliptic"), (0, 0, 0.25), 0.05, (0, 0, 1)),
        (("upright", "elliptic"), (0.5, 0, 0.6), 0.5, (0.6, 0, 0.8)),
    ],
)
def test_simple_arrangements(pair, position, distance, normal):
    touch = touches(pair, [(at(pair[0], position), at(pair[1], (0, 0, 0)))])
    np.testing.assert_allclose(touch.distance[0, 0], distance, atol=1e-12)
    np.testing.assert_allclose(touch.normal[0, 0], normal, atol=1e-12)


def test_parallel_capsules_are_held_at_both_ends_of_their_overlap():
    across = (0, np.pi / 2, 0)
    a, b = at("capsule", (0.1, 0, 0.19), (0.1, 0.3, 0), across), at("capsule", (0, 0, 0), (0.1, 0.3, 0), across)
    touch = touches(("capsule", "capsule"), [(a, b)])
    held = touch.on_a[0][touch.distance[0] < 0]
    np.testing.assert_allclose([held[:, 0].min(), held[:, 0].max()], [-0.2, 0.3], atol=1e-9)
    np.testing.assert_allclose(touch.distance[0].min(), -0.01, atol=1e-12)


def test_a_capsule_across_a_box_is_held_at_both_sides_of_the_box_and_a_short_one_at_its_ends():
    pair, across, box = ("capsule", "box"), (0, np.pi / 2, 0), at("box", (0, 0, 0))
    long, short = (at("capsule", (0.02, 0, 0.149), (0.05, half, 0), across) for half in (0.3, 0.06))
    over, on_edge = at("capsule", (0.06, 0, 0.149), (0.05, 0.06, 0), across), at("capsule", (0.2, 0, 0.2), (0.05, 1, 0))
    touch = touches(pair, [(long, box), (short, box), (over, box), (on_edge, box)])
    for i, (first, last) in enumerate([(-0.1, 0.1), (-0.04, 0.08), (0.0, 0.1)]):
        held = np.asarray(touch.on_a[i][touch.distance[i] < 0])
        np.testing.assert_allclose(np.sort(held[:, 0]), [first, last], atol=1e-9)
        np.testing.assert_allclose(touch.distance[i].min(), -0.001, atol=1e-12)
        np.testing.assert_allclose(touch.normal[i][touch.distance[i] < 0], np.tile([0, 0, 1], (2, 1)), atol=1e-12)
    np.testing.assert_allclose(touch.distance[3].min(), 0.05, atol=1e-12)


@pytest.mark.parametrize("turn", [(0, 0.5, 0.2), (0.3, 0.8, 0.1), (0, 0, 0)])
def test_a_capsule_is_as_deep_as_the_deepest_of_its_balls(turn):
    """Its axis beside the box, crossing it near an edge, or passing through it; against densely sampled balls."""
    rng = np.random.default_rng(4)
    cases = [
        (at("capsule", rng.uniform(-0.25, 0.25, 3), (0.05, 0.3, 0), turn), at("box", (0, 0, 0), (0.1, 0.2, 0.15)))
        for _ in range(CASES)
    ]
    ours = np.min(touches(("capsule", "box"), cases).distance, axis=1)
    for distance, (a, b) in zip(ours, cases, strict=True):
        axis = a.pose.position + np.linspace(-0.3, 0.3, 4001)[:, None] * a.pose.rotation[:, 2]
        beyond = np.linalg.norm(np.maximum(np.abs(axis) - b.size, 0), axis=-1).min()
        if beyond > 0:
            np.testing.assert_allclose(distance, beyond - 0.05, atol=1e-6)
        else:
            assert distance < -0.05 + 1e-9


@pytest.mark.parametrize("ratio", [1.0, 0.1, 0.01])
def test_a_thin_ellipse_is_as_far_away_as_its_nearest_point(ratio):
    """Half axes up to 1 : 100, inside and outside: the distance by minimising over the angle, and its rate."""
    rng = np.random.default_rng(5)
    radii = np.array([1.0, ratio])
    points = np.concatenate([rng.uniform(-1.5, 1.5, (60, 2)), rng.uniform(-1, 1, (60, 2)) * radii])
    ours, normals = jax.jit(jax.vmap(to_ellipse, (0, None)))(points, radii)
    slopes = jax.jit(jax.vmap(jax.grad(lambda x, y: to_ellipse(x, y)[0]), (0, None)))(points, radii)
    turn = np.linspace(0, 2 * np.pi, 20001)
    for point, distance in zip(points, ours, strict=True):

        def gap(t, point=point):
            return np.hypot(point[0] - np.cos(t), point[1] - ratio * np.sin(t))

        guess = turn[np.argmin(gap(turn))]
        best = minimize_scalar(gap, bounds=(guess - 1e-3, guess + 1e-3), method="bounded", options={"xatol": 1e-12}).fun
        sign = -1 if np.sum((point / radii) ** 2) < 1 else 1
        np.testing.assert_allclose(distance, sign * best, atol=1e-9)
    np.testing.assert_allclose(slopes, normals, atol=1e-6)


def test_a_flat_coin_is_held_all_around_and_a_rolling_coin_at_one_point_of_its_rim():
    plane = at("plane", (0, 0, 0))
    flat, rolling = at("cylinder", (0, 0, 0.01), (0.1, 0.01, 0)), at("cylinder", (0, 0, 0.1), turn=(np.pi / 2, 0, 0.0))
    touch = touches(("cylinder", "plane"), [(flat, plane), (rolling, plane)])
    held = touch.on_a[0][np.abs(touch.distance[0]) < 1e-12]
    assert held[:, 0].max() == pytest.approx(0.095)
    assert held[:, 1].min() == pytest.approx(-0.095)
    assert len(held) == 5
    assert np.sum(np.abs(touch.distance[1]) < 1e-9) == 2


def level(pair, a: Placed, b: Placed) -> tuple[Placed, Placed]:
    """The same shapes at one height, b so thick that they part sideways."""
    axis = b.pose.rotation[:, 2]
    position = a.pose.position - ((a.pose.position - b.pose.position) @ axis) * axis
    size = np.array([1.0, 0.0, 0.0]) if pair[1] == "prism" else np.append(b.size[:2], 1.0)
    return Placed(Transform(a.pose.rotation, position), a.size, a.points), Placed(b.pose, size, b.points)


@pytest.mark.parametrize("pair", [*UPRIGHT, ("sphere", "prism"), ("sphere", "elliptic")], ids="-".join)
def test_round_things_beside_an_extruded_outline(pair):
    """Seen from above: the distance of a disc from a densely sampled outline, negative inside."""
    rng = np.random.default_rng(3)
    cases = [two(pair, rng) for _ in range(CASES)]
    a, b = zip(*(level(pair, *case) for case in cases), strict=True)
    touch = touches(pair, list(zip(a, b, strict=True)))
    for i, (a_i, b_i) in enumerate(zip(a, b, strict=True)):
        point = (b_i.pose.rotation.T @ (a_i.pose.position - b_i.pose.position))[:2]
        if pair[1] == "prism":
            corners = b_i.points[:, :2]
            share = np.linspace(0, 1, 2000)[:, None, None]
            outline = (share * np.roll(corners, -1, axis=0) + (1 - share) * corners).transpose(1, 0, 2).reshape(-1, 2)
        else:
            turn = np.linspace(0, 2 * np.pi, 10001)
            outline = b_i.size[:2] * np.stack([np.cos(turn), np.sin(turn)], axis=-1)
        ahead = np.roll(outline, -1, axis=0) - outline
        inside = np.all(ahead[:, 0] * (point - outline)[:, 1] - ahead[:, 1] * (point - outline)[:, 0] >= -1e-15)
        expected = np.min(np.linalg.norm(point - outline, axis=-1)) * (-1 if inside else 1) - a_i.size[0]
        np.testing.assert_allclose(touch.distance[i, 0], expected, atol=2e-5)


@pytest.mark.parametrize("kind", [a for a, b in PAIRS if b == "patch"])
def test_a_point_of_a_patch_is_as_far_away_as_a_ball_less_its_radius(kind):
    rng = np.random.default_rng(6)
    cases = [two((kind, "patch"), rng) for _ in range(10)]
    touch = touches((kind, "patch"), cases)
    for i, (a, b) in enumerate(cases):
        balls = [Placed(Transform(np.eye(3), p), np.full(3, 1e-3), np.zeros((0, 3))) for p in b.pose.apply(b.points)]
        other = touches(("sphere", kind), [(ball, a) for ball in balls])
        np.testing.assert_allclose(touch.distance[i], other.distance[:, 0] + 1e-3, atol=1e-12)
        np.testing.assert_allclose(touch.normal[i], -other.normal[:, 0], atol=1e-9)
