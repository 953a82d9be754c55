"""Arrangements in which textbook formulas divide zero by zero: aligned, touching, coinciding, degenerate shapes."""

from itertools import product

import numpy as np
from scipy.spatial.transform import Rotation

from contact.detect.cases import UPRIGHT, Placed, Transform

TURNS = {
    "aligned": np.eye(3),
    "lying along x": np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]),
    "lying along y": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]),
    "upside down": np.diag([1.0, -1.0, -1.0]),
    "an eighth of a turn": Rotation.from_euler("z", 45, degrees=True).as_matrix(),
    "on a corner": Rotation.from_rotvec([np.arctan(np.sqrt(2)) * np.sqrt(0.5), np.pi / 4, 0]).as_matrix(),
    "tilted by rounding error": Rotation.from_rotvec([1e-16, 0, 0]).as_matrix(),
    "tilted by a little": Rotation.from_rotvec([1e-9, 2e-9, 0]).as_matrix(),
}

# In units of 0.1 m, with shapes of half sizes 1 and 2: coinciding, on a face, edge and corner, touching at a face, edge
# and corner, past the end, on the diagonal of a corner inside and outside, and all but coinciding.
PLACES = [
    *[(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 0, -1), (1, 1, 0), (1, 1, 1), (0.5, 0.5, 0), (0.5, 0.5, 0.5)],
    *[(2, 0, 0), (0, 2, 0), (0, 0, 2), (0, 0, -2), (2, 2, 0), (2, 2, 2), (3, 0, 0), (0, 0, 3), (3, 3, 3), (2, 0, 4)],
    *[(0, 0, 4), (1.5, 1.5, 0), (3, 3, 0), (1e-300, 0, 0), (1e-160, 0, 0), (0, 1e-40, 0), (1e-20, 1e-20, 0)],
    *[(0, 0, 1e-9), (1e-10, 0, 2), (1e-8, 0, 0), (1 + 1e-12, 1, 0)],
]

SIZES = [(0.1, 0.1, 0.1), (0.1, 0.2, 0.2), (0.1, 0.0, 0.0)]

# A square, one of whose corners is given twice.
SQUARE = np.array([[0.1, -0.1, 0], [0.1, 0.1, 0], [0.1, 0.1, 0], [-0.1, 0.1, 0], [-0.1, -0.1, 0]])
CUBE = 0.1 * np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])[:7]


def arrangements(pair: tuple[str, str]) -> tuple[Placed, Placed]:
    """All of them for one pair, along a leading axis; b is at the origin."""
    turns = [TURNS[name] for name in TURNS if pair not in UPRIGHT or not name.startswith(("lying", "on a"))]
    turn, place, size_a, size_b = zip(*product(turns, PLACES, SIZES, SIZES), strict=True)
    n = len(turn)
    pose_a = Transform(np.array(turn), 0.1 * np.array(place))
    pose_b = Transform(np.tile(np.eye(3), (n, 1, 1)), np.zeros((n, 3)))
    return Placed(pose_a, *shape(pair[0], size_a)), Placed(pose_b, *shape(pair[1], size_b))


def shape(kind: str, sizes) -> tuple[np.ndarray, np.ndarray]:
    # The radii of an ellipse and an ellipsoid are positive.
    thick = {"elliptic": (0.05, 0.05, 0.0), "ellipsoid": (0.05, 0.05, 0.05)}.get(kind, (0.0, 0.0, 0.0))
    points = {"prism": SQUARE, "points": CUBE, "patch": SQUARE}.get(kind, np.zeros((0, 3)))
    return np.maximum(sizes, thick), np.tile(points, (len(sizes), 1, 1))
