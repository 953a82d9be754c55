"""Where things lie: index tables of a topology, made once and kept.

A *node* is a joint that moves; links behind fixed joints belong to the node that carries them. A *level* holds
all nodes at one depth of the forest, so that an algorithm handles them in one array operation and its traced
size grows with depth, not with the number of links. `all` coordinates include those of mimic joints.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..model import JointKind, Topology


@dataclass(frozen=True, eq=False)
class Level:
    """Nodes at one depth, and where in the level above their parents are."""

    nodes: np.ndarray
    parents: np.ndarray
    """Position of each node's parent within the level above (for the first level: zeros, the world)."""
    above: int
    """Number of nodes in the level above (for the first level: 1, the world)."""


# Shorter runs are written out while JAX traces them: XLA's code of a straight line runs faster, and its length does not hurt yet.
SHORTEST_RUN = 20


@dataclass(frozen=True, eq=False)
class Forest:
    """A forest of parent indices, cut into levels, and these into runs.

    Within a run every node's parent has the same place in the level above; most runs are one level long.
    """

    levels: tuple[Level, ...]
    runs: tuple[tuple[Level, ...], ...]

    @classmethod
    def of(cls, parents: np.ndarray) -> "Forest":
        depth = np.zeros(len(parents), dtype=int)
        slot = np.zeros(len(parents), dtype=int)
        members: list[list[int]] = []
        for i, parent in enumerate(parents):
            depth[i] = depth[parent] + 1 if parent >= 0 else 0
            if depth[i] == len(members):
                members.append([])
            slot[i] = len(members[depth[i]])
            members[depth[i]].append(i)
        levels, above = [], 1
        for nodes in members:
            level_parents = [slot[parents[i]] if parents[i] >= 0 else 0 for i in nodes]
            levels.append(Level(np.array(nodes), np.array(level_parents), above))
            above = len(nodes)
        return cls(tuple(levels), _runs(levels))


def _runs(levels: list[Level]) -> tuple[tuple[Level, ...], ...]:
    straight: list[list[Level]] = []
    for level in levels:
        if straight and level.above == len(level.nodes) and np.array_equal(level.parents, np.arange(level.above)):
            straight[-1].append(level)
        else:
            straight.append([level])
    runs: list[tuple[Level, ...]] = []
    for run in straight:
        runs += [tuple(run)] if len(run) >= SHORTEST_RUN else [(level,) for level in run]
    return tuple(runs)


@dataclass(frozen=True, eq=False)
class KindGroup:
    """All joints of one kind, with the places of their coordinates."""

    kind: JointKind
    members: np.ndarray
    q: np.ndarray
    """(joints, nq)"""
    v: np.ndarray
    """(joints, nv)"""


@dataclass(frozen=True, eq=False)
class Layout:
    node_joints: np.ndarray
    """Of each node, its joint."""
    joint_nodes: np.ndarray
    """Of each joint, the node that carries its child frame: itself, or the nearest moving one below; -1: the world."""
    nodes: Forest
    roots: np.ndarray
    """Of each node, the root of its tree."""
    groups: tuple[KindGroup, ...]
    """Nodes by kind; `members` are nodes, q and v index the coordinates of all joints."""
    dofs: Forest
    """Degrees of freedom in a row: the second freedom of a joint is the child of its first, and so on."""
    dof_nodes: np.ndarray
    """Of each freedom, its node."""
    last_dofs: np.ndarray
    """Of each node, its last freedom, which carries the links."""
    supports: np.ndarray
    """[i, j]: freedom i moves the node of freedom j."""


@lru_cache(maxsize=256)
def layout(topology: Topology) -> Layout:
    kinds, parents = topology.kinds, topology.parents
    node_joints = np.array([j for j, kind in enumerate(kinds) if kind.nv], dtype=int)
    node_of = {int(j): i for i, j in enumerate(node_joints)}
    joint_nodes = np.full(len(kinds), -1)
    node_parents = np.full(len(node_joints), -1)
    for j in range(len(kinds)):
        carrier = joint_nodes[parents[j]] if parents[j] >= 0 else -1
        if j in node_of:
            node_parents[node_of[j]] = carrier
        joint_nodes[j] = node_of.get(j, carrier)
    roots = np.arange(len(node_joints))
    for i, parent in enumerate(node_parents):
        roots[i] = roots[parent] if parent >= 0 else i

    slices = [topology.v_slices[j] for j in node_joints]
    dof_nodes = np.concatenate([[i] * (s.stop - s.start) for i, s in enumerate(slices)] or [[]]).astype(int)
    last_dofs = np.array([s.stop - 1 for s in slices], dtype=int)
    dof_parents = np.arange(-1, len(dof_nodes) - 1)
    for i, s in enumerate(slices):
        dof_parents[s.start] = last_dofs[node_parents[i]] if node_parents[i] >= 0 else -1
    supports = np.zeros((len(dof_nodes), len(dof_nodes)), dtype=bool)
    for j, parent in enumerate(dof_parents):
        if parent >= 0:
            supports[:, j] = supports[:, parent]
        supports[dof_nodes == dof_nodes[j], j] = True
    return Layout(
        node_joints=node_joints,
        joint_nodes=joint_nodes,
        nodes=Forest.of(node_parents),
        roots=roots,
        groups=_groups([kinds[j] for j in node_joints], [topology.q_slices[j] for j in node_joints], slices),
        dofs=Forest.of(dof_parents),
        dof_nodes=dof_nodes,
        last_dofs=last_dofs,
        supports=supports,
    )


@lru_cache(maxsize=256)
def own_groups(topology: Topology) -> tuple[KindGroup, ...]:
    """Joints that have coordinates of their own, by kind; q and v index the model's coordinates."""
    own = [j for j, kind in enumerate(topology.kinds) if kind.nv and topology.mimics[j] < 0]
    return _groups_of(topology, own, topology.own_q, topology.own_v)


@lru_cache(maxsize=256)
def prescribed_groups(topology: Topology) -> tuple[KindGroup, ...]:
    """Prescribed joints by kind; q and v index the coordinates of prescribed joints alone."""
    q, v = topology.own_q[topology.prescribed_q], topology.own_v[topology.prescribed_v]
    return _groups_of(topology, list(topology.prescribed), q, v)


def _groups_of(topology: Topology, joints: list[int], q: np.ndarray, v: np.ndarray) -> tuple[KindGroup, ...]:
    """Some joints by kind, with the places of their numbers in q and v, which say whose numbers there are."""

    def places(slices, owned):
        starts = {j: int(np.searchsorted(owned, slices[j].start)) for j in joints}
        return [slice(starts[j], starts[j] + slices[j].stop - slices[j].start) for j in joints]

    return _groups([topology.kinds[j] for j in joints], places(topology.q_slices, q), places(topology.v_slices, v))


def _groups(kinds: list[JointKind], q: list[slice], v: list[slice]) -> tuple[KindGroup, ...]:
    groups = []
    for kind in dict.fromkeys(kinds):
        members = np.array([i for i, other in enumerate(kinds) if other == kind])
        indices = [np.array([np.arange(s[i].start, s[i].stop) for i in members]) for s in (q, v)]
        groups.append(KindGroup(kind, members, *indices))
    return tuple(groups)
