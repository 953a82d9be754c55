"""Meshes as corners of convex hulls: of the whole mesh, or of the convex parts that it is decomposed into."""

from functools import lru_cache
from pathlib import Path

import numpy as np
import trimesh
from scipy.spatial import ConvexHull, QhullError

from .decomposition import convex_parts

MOST_CORNERS = 128
"""A hull with more corners is simplified: contact looks at all of them in every step. Parts of arms have a few dozen that
matter; the hull of a ball with this many is nowhere further than a twentieth of its radius from the ball."""


def mesh_parts(path: Path, concavity: float | None = None) -> tuple[np.ndarray, ...]:
    """Corners of the convex hull of a mesh file [m], or of its convex parts if a `concavity` is given.

    Raises ValueError where it holds no points, or cannot be decomposed.
    """
    return _parts(path, path.stat().st_mtime_ns, concavity)


@lru_cache(maxsize=256)
def _parts(path: Path, changed: int, concavity: float | None) -> tuple[np.ndarray, ...]:
    """Remembered, as many shapes use one mesh; `changed` makes an edited file a new one."""
    try:
        scene = trimesh.load_scene(path)
        mesh = scene.to_mesh()
        points = mesh.vertices * _metres(scene)
    except Exception as error:  # trimesh and the readers behind it raise whatever they meet
        raise ValueError(f"{type(error).__name__}: {error}") from error
    if len(points) == 0 or not np.all(np.isfinite(points)):
        raise ValueError("no finite vertices")
    if concavity is None:
        return (hull_corners(points),)
    return tuple(hull_corners(part) for part in convex_parts(points, mesh.faces, concavity))


def hull_corners(points: np.ndarray) -> np.ndarray:
    """Corners of the convex hull of points, at most `MOST_CORNERS`; of points in a plane, all of them."""
    points = np.unique(points, axis=0)
    try:
        corners = points[ConvexHull(points).vertices]
    except QhullError:  # flat: every point may be a corner
        return points
    return corners if len(corners) <= MOST_CORNERS else _simplified(corners)


def _simplified(corners: np.ndarray) -> np.ndarray:
    """So many of a hull's corners that what is furthest outside of their hull is as near as can be.

    First the outermost along the axes and diagonals, then always the one that is furthest outside.
    """
    axes = np.array([[x, y, z] for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1)])
    kept = set(np.argmax(corners @ axes.T, axis=0))
    while len(kept) < MOST_CORNERS:
        planes = ConvexHull(corners[sorted(kept)]).equations
        outside = np.max(corners @ planes[:, :3].T + planes[:, 3], axis=1)
        kept.add(np.argmax(outside))
    return corners[sorted(kept)]


def _metres(scene: trimesh.Scene) -> float:
    """Only COLLADA files say their unit; others are taken as they are, as URDF does."""
    words = str(scene.units or "").split()
    return float(words[0]) if words[1:] == ["*", "meters"] else 1.0
