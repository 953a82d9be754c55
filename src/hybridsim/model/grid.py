"""Contact points on a grid under a flat object, as in the papers' planar pushing."""

import numpy as np

from . import validate
from .checks import POSITIVE
from .errors import ModelError
from .spec import Geom, Numbers

# More points than any contact problem can have: the outline is in other units than the spacing.
MOST = 1_000_000


def contact_grid(outline: Numbers, height: float = 0.0, spacing: float = 0.02, friction: float = 0.5) -> Geom:
    """Points of a square grid inside a polygon (corners x, y [m], convex or not), all at one height of the link's frame.

    The grid is centred on the polygon's bounding box. An object narrower than the spacing gets points at its middle.
    """
    corners = validate.rows("contact_grid: the outline", outline, 2, 3, "at least three corners (x, y)")
    validate.finite("contact_grid", "the outline", corners)
    validate.finite("contact_grid", "the height", np.asarray(height, dtype=float))
    POSITIVE.check("contact_grid: the spacing [m]", spacing, ModelError)
    low, high = corners.min(0), corners.max(0)
    axes = [_centred(a, b, spacing) for a, b in zip(low, high, strict=True)]
    if (count := len(axes[0]) * len(axes[1])) > MOST:
        raise ModelError(
            f"contact_grid: a spacing of {spacing:g} m would give {count} points; are the corners in metres? If so, take a "
            "wider spacing"
        )
    candidates = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)
    inside = candidates[_inside(corners, candidates)]
    if len(inside) == 0:
        raise ModelError(
            "contact_grid: no point of the grid lies inside; has the outline an area? If so, the spacing of "
            f"{spacing:g} m is too wide"
        )
    points = np.column_stack([inside, np.full(len(inside), float(height))])
    return Geom("points", friction=friction, points=points, name="grid")


def _centred(low: float, high: float, spacing: float) -> np.ndarray:
    count = int(np.floor((high - low) / spacing)) + 1
    return (low + high) / 2 + spacing * (np.arange(count) - (count - 1) / 2)


def _inside(corners: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Even-odd rule: a ray to the right crosses the outline an odd number of times."""
    start, end = corners, np.roll(corners, -1, axis=0)
    x, y = points[:, None, 0], points[:, None, 1]
    spans = (start[:, 1] > y) != (end[:, 1] > y)
    slope = np.where(end[:, 1] == start[:, 1], 1.0, end[:, 1] - start[:, 1])
    crossing = start[:, 0] + (y - start[:, 1]) * (end[:, 0] - start[:, 0]) / slope
    return (np.sum(spans & (x < crossing), axis=1) % 2).astype(bool)
