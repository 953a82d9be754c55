"""Contact points on a grid under a flat object, as in the papers' planar pushing.

Every cell of a square grid, cut to the outline, becomes one point: its centroid, which stands for its area. So sums over
points are integrals over the outline whatever the spacing, and a load is shared in the same way by a coarse and a fine grid.
"""

import numpy as np

from . import validate
from .checks import POSITIVE
from .errors import ModelError
from .spec import Geom, Numbers

# More points than any contact problem can have: the outline is in other units than the spacing.
MOST = 1_000_000
# Cells of which less than this part lies inside the outline are left out.
SLIVER = 1e-6


def contact_grid(outline: Numbers, height: float = 0.0, spacing: float = 0.02, friction: float = 0.5) -> Geom:
    """A patch of points inside a polygon (corners x, y [m], convex or not), all at one height of the link's frame.

    The grid is centred on the polygon's bounding box.
    """
    corners = validate.rows("contact_grid: the outline", outline, 2, 3, "at least three corners (x, y)")
    validate.finite("contact_grid", "the outline", corners)
    validate.finite("contact_grid", "the height", np.asarray(height, dtype=float))
    POSITIVE.check("contact_grid: the spacing [m]", spacing, ModelError)
    low, high = corners.min(0), corners.max(0)
    counts = np.maximum(np.ceil((high - low) / spacing - 1e-9), 1).astype(int)
    if counts.prod() > MOST:
        raise ModelError(
            f"contact_grid: a spacing of {spacing:g} m would give {counts.prod()} points; are the corners in metres? If so, "
            "take a wider spacing"
        )
    start = (low + high - counts * spacing) / 2
    cells = []
    for column in range(counts[0]):
        left = start[0] + column * spacing
        strip = _between(corners, 0, left, left + spacing)
        for row in range(counts[1] if len(strip) else 0):
            bottom = start[1] + row * spacing
            area, centre = _area_and_centroid(_between(strip, 1, bottom, bottom + spacing))
            if area > SLIVER * spacing**2:
                cells.append([*centre, height, area])
    if not cells:
        raise ModelError(
            f"contact_grid: the outline {_briefly(corners)} has no area inside; give corners that enclose one"
        )
    table = np.array(cells)
    return Geom("patch", friction=friction, points=table[:, :3], areas=table[:, 3], name="grid")


def _between(corners: np.ndarray, axis: int, low: float, high: float) -> np.ndarray:
    """The part of a polygon between two lines (Sutherland and Hodgman 1974); parts of one that is not convex stay
    connected by edges that lie on each other and so have no area."""
    for sign, bound in ((1.0, low), (-1.0, -high)):
        if len(corners) == 0:
            break
        after = np.roll(corners, -1, axis=0)
        inside, next_inside = (sign * c[:, axis] - bound >= 0 for c in (corners, after))
        ahead = after[:, axis] - corners[:, axis]
        part = (sign * bound - corners[:, axis]) / np.where(ahead == 0, 1.0, ahead)
        crossing = corners + part[:, None] * (after - corners)
        kept: list[np.ndarray] = []
        for i in range(len(corners)):
            kept += [corners[i]] if inside[i] else []
            kept += [crossing[i]] if inside[i] != next_inside[i] else []
        corners = np.array(kept).reshape(-1, 2)
    return corners


def _area_and_centroid(corners: np.ndarray) -> tuple[float, np.ndarray]:
    """Of a polygon, whichever way round it is given."""
    if len(corners) < 3:
        return 0.0, np.zeros(2)
    origin = corners[0]
    here, after = corners - origin, np.roll(corners, -1, axis=0) - origin
    twice = here[:, 0] * after[:, 1] - after[:, 0] * here[:, 1]
    area = float(twice.sum()) / 2
    if area == 0:
        return 0.0, origin
    return abs(area), origin + ((here + after) * twice[:, None]).sum(0) / (6 * area)


def _briefly(corners: np.ndarray) -> str:
    shown = ", ".join(f"({x:g}, {y:g})" for x, y in corners[:3])
    return f"{shown}{', ...' if len(corners) > 3 else ''}"
