"""Whether four numbers of a rotation are w, x, y, z or x, y, z, w, where the columns do not say it: the data tell.

Read in the wrong order a rotation becomes its inverse between two fixed turns, as smooth and as long as before. What is
different: its angular velocity, where the body's lowest point is while a floor carries it, and which rotation is none.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from jaxtyping import Float

from ...model import Model
from .floor import unsteadiness
from .manifold import on_the_manifold
from .rotations import rotation_of
from .trajectory import Trajectory

Order = Literal["wxyz", "xyzw"]
ORDERS: dict[Order, tuple[int, int, int, int]] = {"wxyz": (0, 1, 2, 3), "xyzw": (3, 0, 1, 2)}
"""Where w, x, y and z are among the four numbers."""
_BETTER = 0.6
"""An order is told by motion if it leaves less than this part of the other's error."""
_LEAST = 5e-4
"""Of the heights of a body that rests [m]: smaller differences are noise."""
_UPRIGHT = 0.99
"""The cosine of half the angle below which a first rotation counts as none."""


@dataclass(frozen=True)
class Told:
    """An order, and by what it was told."""

    order: Order
    why: str


def quaternion_order(
    model: Model,
    logs: Sequence[Trajectory],
    start: int,
    angular: Sequence[Float[np.ndarray, "n 3"] | None] = (),
) -> Told | None:
    """The order of the quaternion that begins at q[start] in logs that were read as if it were w, x, y, z.

    `angular`: of each log the measured angular velocity, in the body or in the world [rad/s]. None where nothing tells.
    """
    by_rate: dict[Order, float | None] = {order: _rates(logs, start, order, angular) for order in ORDERS}
    if (told := _least(by_rate)) is not None:
        return Told(told, "by the angular velocity")
    by_floor: dict[Order, float | None] = {order: _heights(model, logs, start, order) for order in ORDERS}
    if (told := _least(by_floor, _LEAST)) is not None:
        return Told(told, "by the height of the body's lowest point on the floor")
    first = np.abs([log.q[0, start : start + 4] for log in logs])
    upright = {order: bool((first[:, places[0]] > _UPRIGHT).all()) for order, places in ORDERS.items()}
    if upright["wxyz"] != upright["xyzw"]:
        return Told("wxyz" if upright["wxyz"] else "xyzw", "as every log then begins without a rotation")
    return None


def reordered(log: Trajectory, start: int, order: Order) -> Trajectory:
    """A log whose quaternion at q[start] was read as w, x, y, z, read in this order."""
    q, places = log.q.copy(), [start + i for i in ORDERS[order]]
    q[:, start : start + 4] = log.q[:, places]
    return replace(log, q=q)


def _least(errors: dict[Order, float | None], least: float = 0.0) -> Order | None:
    a, b = errors["wxyz"], errors["xyzw"]
    if a is None or b is None or abs(a - b) < least:
        return None
    return "wxyz" if a < _BETTER * b else "xyzw" if b < _BETTER * a else None


def _rates(logs, start: int, order: Order, angular) -> float | None:
    """Of the angular velocity that the rotations have, beside the measured one, in whichever frame fits."""
    total = [0.0, 0.0]
    known = [(log, w) for log, w in zip(logs, angular, strict=False) if w is not None]
    for log, measured in known:
        read = reordered(log, start, order)
        own = replace(
            read, q=read.q[:, start : start + 4], q_mask=read.q_mask[:, start : start + 4], quaternions=(0,), poses=()
        )
        q, body, enough, _ = on_the_manifold(own, max(0.05, 8 * log.dt), 3)
        for k, found in enumerate((body, rotation_of(q).apply(body))):
            total[k] += float(np.sum((found - measured)[enough.all(axis=1)] ** 2))
    return float(np.sqrt(min(total))) if known else None


def _heights(model: Model, logs: Sequence[Trajectory], start: int, order: Order) -> float | None:
    found = [unsteadiness(model, reordered(log, start, order)) for log in logs]
    known = [x for x in found if x is not None]
    return float(np.sqrt(np.mean(np.square(known)))) if known else None
