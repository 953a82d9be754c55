"""Meshes as the corners of their convex hull: all that contact needs of them."""

from functools import lru_cache
from pathlib import Path

import numpy as np
import trimesh
from scipy.spatial import ConvexHull, QhullError


def hull_points(path: Path) -> np.ndarray:
    """Corners of the convex hull of a mesh file [m]. Raises ValueError where it holds no points."""
    return _hull(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=256)
def _hull(path: Path, changed: int) -> np.ndarray:
    """Remembered, as many shapes use one mesh; `changed` makes an edited file a new one."""
    try:
        scene = trimesh.load_scene(path)
        points = scene.to_mesh().vertices * _metres(scene)
    except Exception as error:  # trimesh and the readers behind it raise whatever they meet
        raise ValueError(f"{type(error).__name__}: {error}") from error
    if len(points) == 0 or not np.all(np.isfinite(points)):
        raise ValueError("no finite vertices")
    points = np.unique(points, axis=0)
    try:
        return points[ConvexHull(points).vertices]
    except QhullError:  # flat: every point may be a corner
        return points


def _metres(scene: trimesh.Scene) -> float:
    """Only COLLADA files say their unit; others are taken as they are, as URDF does."""
    words = str(scene.units or "").split()
    return float(words[0]) if words[1:] == ["*", "meters"] else 1.0
