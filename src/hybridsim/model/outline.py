"""A flat object with any outline as prisms: the outline is cut into convex polygons.

Ears are cut off one after the other (Meisters 1975), and triangles are joined again as long as the result stays convex
(Hertel and Mehlhorn 1983): at most four times as many parts as the best decomposition has.
"""

from collections.abc import Iterator

import numpy as np

from . import validate
from .checks import POSITIVE
from .errors import ModelError
from .spec import Geom, Numbers

# Sines of turns below this are no turns.
STRAIGHT = 1e-9


def outline_prisms(
    outline: Numbers,
    half_length: float,
    position: Numbers = (0.0, 0.0, 0.0),
    quaternion: Numbers = (1.0, 0.0, 0.0, 0.0),
    friction: float = 0.5,
    name: str = "",
) -> list[Geom]:
    """Prisms that fill a polygon (corners x, y [m], convex or not, either way round), extruded along z.

    They reach `half_length` up and down. Position and quaternion are those of the polygon's frame in the link.
    """
    corners = validate.rows("outline_prisms: the outline", outline, 2, 3, "at least three corners (x, y)")
    validate.finite("outline_prisms", "the outline", corners)
    POSITIVE.check("outline_prisms: half_length [m]", half_length, ModelError)
    parts = convex_polygons(corners)
    flat = [np.column_stack([part, np.zeros(len(part))]) for part in parts]
    names = [name if len(parts) == 1 or not name else f"{name}/part{k + 1}" for k in range(len(parts))]
    return [
        Geom("prism", half_length, position, quaternion, friction, points=points, name=own)
        for points, own in zip(flat, names, strict=True)
    ]


def convex_polygons(corners: np.ndarray) -> list[np.ndarray]:
    """Convex polygons, counter-clockwise, that fill a polygon without holes."""
    corners = _without_repeated(corners)
    if _area(corners) < 0:
        corners = corners[::-1]
    around = _without_straight(corners, list(range(len(corners))))
    if len(around) < 3:
        raise ModelError("outline_prisms: the outline has no area inside; give corners that enclose one")
    if crossing := _crossing(corners, around):
        raise ModelError(
            f"outline_prisms: the edges of the outline at corners {crossing[0] + 1} and {crossing[1] + 1} cross each other; "
            "exchange the order of corners"
        )
    parts = _joined(corners, _triangles(corners, around))
    return [corners[_without_straight(corners, part)] for part in parts]


def _area(corners: np.ndarray) -> float:
    x, y = corners.T
    return float(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))) / 2


def _without_repeated(corners: np.ndarray) -> np.ndarray:
    """Corners that are not where the one before is; a polygon may be closed by its first corner."""
    return corners[(corners != np.roll(corners, 1, axis=0)).any(axis=1)]


def _turn(corners: np.ndarray, a: int, b: int, c: int) -> float:
    """Sine of the left turn at b, on the way from a to c."""
    u, v = corners[b] - corners[a], corners[c] - corners[b]
    lengths = np.hypot(*u) * np.hypot(*v)
    return float(u[0] * v[1] - u[1] * v[0]) / lengths if lengths > 0 else 0.0


def _threes(around: list[int]) -> Iterator[tuple[int, int, int]]:
    """Every corner between the one before and the one after it."""
    return zip([*around[-1:], *around[:-1]], around, [*around[1:], *around[:1]], strict=True)


def _without_straight(corners: np.ndarray, around: list[int]) -> list[int]:
    """Corners at which there is a turn."""
    while len(around) > 2:
        kept = [b for a, b, c in _threes(around) if abs(_turn(corners, a, b, c)) > STRAIGHT]
        if len(kept) == len(around):
            break
        around = kept
    return around


def _crossing(corners: np.ndarray, around: list[int]) -> tuple[int, int] | None:
    """Two edges that cross or touch, by the corners that they begin at; None if there are none."""
    edges = list(zip(around, [*around[1:], around[0]], strict=True))
    for i, (a, b) in enumerate(edges):
        for c, d in edges[i + 1 :]:
            if len({a, b, c, d}) < 4:
                continue
            apart = [np.sign(_side(corners, *line)) for line in ((a, b, c), (a, b, d), (c, d, a), (c, d, b))]
            if apart[0] * apart[1] <= 0 and apart[2] * apart[3] <= 0 and any(apart):
                return a, c
    return None


def _side(corners: np.ndarray, a: int, b: int, point: int) -> float:
    u, v = corners[b] - corners[a], corners[point] - corners[a]
    return float(u[0] * v[1] - u[1] * v[0])


def _triangles(corners: np.ndarray, around: list[int]) -> list[list[int]]:
    """Ears of a polygon, cut off one after the other; the roundest of those that may be cut comes first."""
    left, found = list(around), []
    while len(left) > 3:
        ears = []
        for k, b in enumerate(left):
            a, c = left[k - 1], left[(k + 1) % len(left)]
            turn = _turn(corners, a, b, c)
            if turn > STRAIGHT and not any(_inside(corners, a, b, c, p) for p in left if p not in (a, b, c)):
                ears.append((-min(turn, _turn(corners, b, c, a), _turn(corners, c, a, b)), k))
        if not ears:  # what is left is a line
            break
        k = min(ears)[1]
        found.append([left[k - 1], left[k], left[(k + 1) % len(left)]])
        del left[k]
    return [*found, left] if len(left) == 3 else found


def _inside(corners: np.ndarray, a: int, b: int, c: int, point: int) -> bool:
    return all(_side(corners, *edge, point) >= 0 for edge in ((a, b), (b, c), (c, a)))


def _joined(corners: np.ndarray, parts: list[list[int]]) -> list[list[int]]:
    """Neighbours made one as long as the result is convex."""
    parts = [list(part) for part in parts]
    i = 0
    while i < len(parts):
        for j in range(len(parts)):
            if j != i and (whole := _union(corners, parts[i], parts[j])) is not None:
                parts[i] = whole
                del parts[j]
                i = -1
                break
        i += 1
    return parts


def _union(corners: np.ndarray, one: list[int], other: list[int]) -> list[int] | None:
    """Two polygons along the edge that they share, if they share one and the result is convex."""
    for k, start in enumerate(one):
        end = one[(k + 1) % len(one)]
        if start in other and end in other and other[(other.index(end) + 1) % len(other)] == start:
            m = other.index(start)
            between = [*other[m + 1 :], *other[:m]]
            whole = [*one[: k + 1], *between[: between.index(end)], *one[k + 1 :]]
            turns = [_turn(corners, *three) for three in _threes(whole)]
            return whole if min(turns) > -STRAIGHT else None
    return None
