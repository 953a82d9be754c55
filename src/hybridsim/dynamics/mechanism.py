"""A model as the algorithms see it: fixed joints merged, axes of unit length.

All of it depends on parameters only, so a rollout does it once and not in every step.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ..model import Model, Topology
from ..spatial import Array, Inertia, Transform, matrix_from_quaternion, unit
from .layout import Layout, layout
from .traverse import add_up, take


class Mechanism(eqx.Module):
    """Numbers of the nodes (joints that move), in the order of joints."""

    placement: Transform
    """Child frame at rest in the parent node's frame."""
    anchor: Float[Array, "nodes 3"] | None
    axis: Float[Array, "nodes 3"]
    """Of unit length."""
    inertia: Inertia
    """Of all links that a node carries, about the node's origin."""
    armature: Float[Array, " dofs"]
    gravity: Float[Array, "3"]
    link_pose: Transform
    """Of each link, in the frame of the node that carries it."""
    mimic_ratio: Float[Array, " joints"] | None
    mimic_offset: Float[Array, " joints"] | None
    topology: Topology = eqx.field(static=True)

    @property
    def layout(self) -> Layout:
        return layout(self.topology)

    @property
    def link_nodes(self) -> np.ndarray:
        """Of each link, the node that carries it; -1 for the world."""
        return self.layout.joint_nodes[np.array(self.topology.link_joints, dtype=int)]


def assemble(model: Model) -> Mechanism:
    """Merge what is fixed. Links that are fixed to the world drop out of the dynamics."""
    topology, joints = model.topology, model.joints
    tables = layout(topology)
    placement = _placements(
        topology, Transform(matrix_from_quaternion(joints.quaternion), jnp.asarray(joints.position))
    )
    link_joints = np.array(topology.link_joints, dtype=int)
    link_pose = _link_poses(topology, placement, link_joints)
    inertia = Inertia.about_centre(*(jnp.asarray(x) for x in (model.links.mass, model.links.com, model.links.inertia)))
    if any(topology.kinds[j].nv == 0 for j in link_joints):
        inertia = inertia.seen_from(link_pose)
    carried = np.flatnonzero(tables.joint_nodes[link_joints] >= 0)
    carriers, size = tables.joint_nodes[link_joints][carried], len(tables.node_joints)
    return Mechanism(
        placement=jax.tree.map(lambda x: take(x, tables.node_joints), placement),
        anchor=None if joints.anchor is None else take(jnp.asarray(joints.anchor), tables.node_joints),
        axis=unit(take(jnp.asarray(joints.axis), tables.node_joints)),
        inertia=jax.tree.map(lambda x: add_up(take(x, carried), carriers, size), inertia),
        armature=joints.armature,
        gravity=model.gravity,
        link_pose=link_pose,
        mimic_ratio=joints.mimic_ratio,
        mimic_offset=joints.mimic_offset,
        topology=topology,
    )


def _placements(topology: Topology, placement: Transform) -> Transform:
    """Every joint's child frame at rest, in the frame of the node that carries its parent."""
    kinds, parents = topology.kinds, topology.parents
    depth = np.zeros(len(parents), dtype=int)
    for j, parent in enumerate(parents):
        # Only a parent that does not move is passed over.
        depth[j] = depth[parent] + 1 if parent >= 0 and kinds[parent].nv == 0 else 0
    for d in range(1, depth.max(initial=0) + 1):
        here = np.flatnonzero(depth == d)
        above = np.array(parents)[here]
        composed = placement[above] @ placement[here]
        placement = jax.tree.map(lambda x, new, here=here: x.at[here].set(new), placement, composed)
    return placement


def _link_poses(topology: Topology, placement: Transform, link_joints: np.ndarray) -> Transform:
    fixed = np.array([topology.kinds[j].nv == 0 for j in link_joints], dtype=bool)
    pose = jax.tree.map(lambda x: take(x, link_joints), placement)
    rotation = jnp.where(fixed[:, None, None], pose.rotation, np.eye(3, dtype=pose.rotation.dtype))
    return Transform(rotation, jnp.where(fixed[:, None], pose.position, 0.0))
