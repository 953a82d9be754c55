"""Outlines that are not convex, cut into convex polygons: they fill the outline, once."""

import numpy as np
import pytest

import hybridsim as hs
from hybridsim.model.outline import convex_polygons


def area(corners: np.ndarray) -> float:
    x, y = corners.T
    return float(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))) / 2


def star(rng: np.random.Generator, corners: int) -> np.ndarray:
    """A polygon around the origin that turns left and right."""
    turn = 2 * np.pi * (np.arange(corners) + rng.uniform(0, 0.9, corners)) / corners
    return rng.uniform(0.2, 1, corners)[:, None] * np.stack([np.cos(turn), np.sin(turn)], axis=-1)


@pytest.mark.parametrize("corners", [4, 7, 12, 40])
@pytest.mark.parametrize("clockwise", [False, True])
def test_convex_parts_fill_the_outline(corners, clockwise):
    rng = np.random.default_rng(corners)
    for _ in range(10):
        outline = star(rng, corners)
        parts = convex_polygons(outline[::-1] if clockwise else outline)
        assert sum(map(area, parts)) == pytest.approx(area(outline))
        for part in parts:
            before, after = part - np.roll(part, 1, axis=0), np.roll(part, -1, axis=0) - part
            assert np.all(before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0] > 0)


def test_an_l_is_two_rectangles_and_a_convex_outline_one_part():
    ell = [(0, 0), (0.3, 0), (0.3, 0.1), (0.1, 0.1), (0.1, 0.3), (0, 0.3)]
    parts = hs.outline_prisms(ell, 0.02, name="ell", friction=0.2)
    assert [(part.shape, part.name, part.friction, len(part.points)) for part in parts] == [
        ("prism", "ell/part1", 0.2, 4),
        ("prism", "ell/part2", 0.2, 4),
    ]
    square = hs.outline_prisms([(0, 0), (0.5, 0), (1, 0), (1, 1), (0, 1)], 0.02)
    assert len(square) == 1
    assert len(square[0].points) == 4
    hs.build([hs.Link("flat", 1.0, inertia=0.1, geoms=parts)], [hs.Joint("j", "free", "world", "flat")])


@pytest.mark.parametrize("closed", ["by its first corner", "with every corner twice"])
def test_corners_that_are_repeated_count_once(closed):
    """As outlines of other programs are: they close a polygon by its first corner."""
    ell = [(0, 0), (0.3, 0), (0.3, 0.1), (0.1, 0.1), (0.1, 0.3), (0, 0.3)]
    again = [*ell, ell[0]] if "first" in closed else [corner for corner in ell for _ in range(2)]
    for one, other in zip(hs.outline_prisms(ell, 0.02), hs.outline_prisms(again, 0.02), strict=True):
        assert np.array_equal(one.points, other.points)
