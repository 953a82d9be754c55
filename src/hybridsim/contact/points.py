"""All points where a model touches or may touch, at one configuration."""

from dataclasses import dataclass
from functools import lru_cache

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ..dynamics import link_poses
from ..model import Model
from ..model.names import Marks
from ..spatial import Array, Transform, for_each, matrix_from_quaternion, pick, row
from .detect import PAIRS, UPRIGHT, Pair, Placed, each, how_many
from .interface import Moment, Points


@dataclass(frozen=True)
class Sort:
    """Which function finds the points of a pair."""

    kinds: tuple[str, str]
    upright: bool

    @property
    def pair(self) -> Pair:
        return (UPRIGHT if self.upright else PAIRS)[self.kinds]


@dataclass(frozen=True, eq=False)
class PointTable:
    """What of the points is static."""

    groups: tuple[tuple["Sort", np.ndarray], ...]
    """Pairs of one sort with one number of points, and their indices."""
    pairs: np.ndarray
    """Of each point, its pair."""
    nodes_a: np.ndarray
    """Of each point, the node that carries shape a; -1 for the world."""
    nodes_b: np.ndarray


def point_table(now: Moment) -> PointTable:
    """Points are in the order of groups, pairs in a group, points of a pair."""
    geometry, link_nodes = now.model.geometry, now.mechanism.link_nodes
    sizes = tuple(len(points) for points in geometry.points)
    nodes = tuple(int(link_nodes[link]) if link >= 0 else -1 for link in geometry.links)
    return _table(now.model.contacts.pairs, now.model.contacts.upright, geometry.shapes, sizes, nodes)


def count_points(model: Model) -> int:
    """How many points all pairs have."""
    return len(pairs_of_points(model))


def pairs_of_points(model: Model) -> np.ndarray:
    """Of each point the index of its pair."""
    return table_of_pairs(model).pairs


def table_of_pairs(model: Model) -> PointTable:
    """The table of a model whose mechanism is not assembled: without nodes."""
    geometry = model.geometry
    sizes = tuple(len(points) for points in geometry.points)
    return _table(model.contacts.pairs, model.contacts.upright, geometry.shapes, sizes, (-1,) * len(sizes))


@lru_cache(maxsize=64)
def _table(pairs: tuple, upright: frozenset, shapes: tuple, sizes: tuple, nodes: tuple) -> PointTable:
    members: dict[tuple[Sort, int, int], list[int]] = {}
    for i, (a, b) in enumerate(pairs):
        sort = Sort((shapes[a], shapes[b]), (a, b) in upright)
        members.setdefault((sort, sizes[a], sizes[b]), []).append(i)
    groups, owners = [], []
    for (sort, size_a, size_b), group in members.items():
        count = how_many(sort.pair, size_a, size_b)
        groups.append((sort, np.array(group)))
        owners.append(np.repeat(group, count))
    owner = np.concatenate([np.zeros(0, dtype=int), *owners]).astype(int)
    of_a, of_b = (np.array([nodes[pair[i]] for pair in pairs], dtype=int)[owner] for i in (0, 1))
    return PointTable(tuple(groups), owner, of_a, of_b)


def marked_points(points: Points, named: Marks) -> Points:
    """Points as the marks leave them."""
    return Points(
        named("contact.distance", points.distance),
        named("contact.normal", points.normal),
        named("contact.point", points.position),
    )


def contact_points(now: Moment) -> Points:
    """All points of all pairs."""
    if now.touching is not None:
        return now.touching.points
    table, geometry, pairs = point_table(now), now.model.geometry, now.model.contacts.pairs
    if not pairs:
        return Points(jnp.zeros(0), jnp.zeros((0, 3)), jnp.zeros((0, 3)))
    poses = _shape_poses(now)

    def placed(shapes: np.ndarray) -> Placed:
        pose = jax.tree.map(lambda x: pick(x, shapes), poses)
        return Placed(pose, pick(geometry.size, shapes), jnp.stack([jnp.asarray(geometry.points[i]) for i in shapes]))

    found = []
    for sort, group in table.groups:
        a, b = (np.array([pairs[i][side] for i in group]) for side in (0, 1))
        touch = each(sort.pair, len(group))
        if len(group) > 1 and np.all(b == b[0]):  # a floor, for instance
            floor = jax.tree.map(lambda x: x[0], placed(b[:1]))
            points = touch(lambda pair, one, floor=floor: pair(one, floor), placed(a))
        else:
            points = touch(lambda pair, both: pair(*both), (placed(a), placed(b)))
        found.append(jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), points))
    touch = jax.tree.map(lambda *parts: jnp.concatenate(parts), *found)
    return Points(touch.distance, touch.normal, _acting_point(table, touch))


def _acting_point(table: PointTable, touch) -> Float[Array, "points 3"]:
    # The same point for both bodies, or action and reaction would make a couple.
    share = np.where(table.nodes_b < 0, 1.0, np.where(table.nodes_a < 0, 0.0, 0.5))
    if np.all(share == 1):
        return touch.on_a
    entries = touch.on_a, touch.on_b, share.astype(touch.on_b.dtype)
    return for_each(lambda x: x[1] + x[2] * (x[0] - x[1]), len(share), entries)


def _shape_poses(now: Moment) -> Transform:
    geometry = now.model.geometry
    links = np.array(geometry.links)
    own = Transform(matrix_from_quaternion(geometry.quaternion), jnp.asarray(geometry.position))
    moving = np.flatnonzero(links >= 0)
    if not len(moving):
        return own
    poses = link_poses(now.mechanism, now.conf)

    def placed(entry):
        shape, link = entry
        return jax.tree.map(lambda x: row(x, link), poses) @ jax.tree.map(lambda x: row(x, shape), own)

    moved = for_each(placed, len(moving), (moving.astype(np.int32), links[moving].astype(np.int32)))
    if len(moving) == len(links):
        return moved
    order = np.argsort(np.concatenate([moving, np.flatnonzero(links < 0)]))
    fixed = jax.tree.map(lambda x: pick(x, np.flatnonzero(links < 0)), own)
    return jax.tree.map(lambda a, b: pick(jnp.concatenate([a, b]), order), moved, fixed)
