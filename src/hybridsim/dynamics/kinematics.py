"""Where everything is and how it moves: poses, joint motions, velocities.

Spatial vectors of one tree all have the world's axes and refer to one point, the origin of the tree's root
node. So they are added without transforming, and a robot far from the world's origin loses no digits. The
result of no algorithm depends on that point, so it is held fixed in derivatives.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ..model import Model
from ..spatial import Array, Inertia, Transform, angular, cross, cross_motion, linear, motion_to_parent, rotate, spatial
from .layout import KindGroup
from .mechanism import Mechanism, assemble
from .mimic import expand_q
from .traverse import add_up, outward, put_together, rows, sum_outward, take


class Configuration(eqx.Module):
    """All that follows from q."""

    X_WN: Transform
    """Pose of each node in the world."""
    reference: Float[Array, "nodes 3"]
    """The point that each node's spatial vectors refer to, in the world [m]."""
    X_RN: Transform
    """Pose of each node relative to its reference point, with the world's axes."""
    S: Float[Array, "dofs 6"]
    """Motion of each freedom: the columns of the joints' motion subspaces."""
    inertia: Inertia
    """Of each node, about its reference point."""


class Velocities(eqx.Module):
    """All that follows from q and qd."""

    v: Float[Array, "nodes 6"]
    """Spatial velocity of each node."""
    c: Float[Array, "nodes 6"]
    """Velocity-product acceleration of each joint: dS/dt qd (RBDA eq. 3.41)."""


def configuration(mechanism: Mechanism, q: Float[Array, " all_q"]) -> Configuration:
    """Forward kinematics of all nodes, given the coordinates of all joints."""
    tables = mechanism.layout
    X_JN, S_N = _joints(mechanism, q)
    X_PN = mechanism.placement @ X_JN
    world = Transform(np.eye(3, dtype=X_PN.position.dtype)[None], jnp.zeros((1, 3), dtype=X_PN.position.dtype))
    X_WN = outward(tables.nodes, lambda X_WP, X: X_WP @ X, world, X_PN) if tables.nodes.levels else X_PN
    reference = jax.lax.stop_gradient(take(X_WN.position, tables.roots))
    X_RN = Transform(X_WN.rotation, X_WN.position - reference)
    of_dofs = jax.tree.map(lambda x: take(x, tables.dof_nodes), X_RN)
    return Configuration(X_WN, reference, X_RN, motion_to_parent(of_dofs, S_N), mechanism.inertia.seen_from(X_RN))


def velocities(
    mechanism: Mechanism, q: Float[Array, " all_q"], conf: Configuration, qd: Float[Array, " all_v"]
) -> Velocities:
    """Velocities of all nodes and the accelerations that they cause (RBDA eq. 3.34, 3.41)."""
    tables = mechanism.layout
    v_J = joint_motion(mechanism, conf.S, qd)
    v = sum_outward(tables.nodes, v_J)
    c = cross_motion(v, v_J)
    for group in tables.groups:
        bias = jax.vmap(group.kind.bias)(take(mechanism.axis, group.members), rows(q, group.q), rows(qd, group.v))
        if bias is not None:
            bias = _about_anchor(mechanism, group, bias)
            X_RN = jax.tree.map(lambda x, group=group: take(x, group.members), conf.X_RN)
            c = c + add_up(motion_to_parent(X_RN, bias), group.members, len(c))
    return Velocities(v, c)


def joint_motion(mechanism: Mechanism, S: Float[Array, "dofs 6"], x: Float[Array, " dofs"]) -> Float[Array, "nodes 6"]:
    """S x for every joint: the sum over its freedoms."""
    products = S * x[:, None]
    parts = [rows(products, group.v).sum(1) for group in mechanism.layout.groups]
    return put_together(parts, [group.members for group in mechanism.layout.groups]) if parts else products


def _joints(mechanism: Mechanism, q: Float[Array, " all_q"]) -> tuple[Transform, Float[Array, "dofs 6"]]:
    """Of every node: its pose relative to its rest pose, and its freedoms in its own coordinates."""
    tables = mechanism.layout
    poses, motions = [], []
    for group in tables.groups:
        pose, motion = _group(mechanism, group, q)
        poses.append(pose)
        motions.append(motion.reshape(-1, 6))
    if not poses:
        return mechanism.placement, jnp.zeros((0, 6))
    X_JN = put_together(poses, [group.members for group in tables.groups])
    return X_JN, put_together(motions, [group.v.ravel() for group in tables.groups])


def _group(mechanism: Mechanism, group: KindGroup, q: Float[Array, " all_q"]) -> tuple[Transform, Array]:
    """Poses and motions of all joints of one kind, moved from the origin to their anchors."""
    axis = take(mechanism.axis, group.members)
    coordinates = rows(q, group.q)
    pose = jax.vmap(group.kind.transform)(axis, coordinates)
    motion = jax.vmap(group.kind.subspace)(axis, coordinates)
    if mechanism.anchor is None or group.kind.name == "free":
        return pose, motion
    anchor = take(mechanism.anchor, group.members)
    moved = Transform(pose.rotation, anchor + pose.position - rotate(pose.rotation, anchor))
    return moved, jax.vmap(lambda m: _about_anchor(mechanism, group, m), 1, 1)(motion)


def _about_anchor(mechanism: Mechanism, group: KindGroup, motion: Float[Array, "joints 6"]) -> Float[Array, "joints 6"]:
    """Motions that a kind describes at the origin, when they happen at the joints' anchors."""
    if mechanism.anchor is None or group.kind.name == "free":
        return motion
    anchor = take(mechanism.anchor, group.members)
    return spatial(angular(motion), linear(motion) + cross(anchor, angular(motion)))


class Poses(eqx.Module):
    """Poses of links in the world, by name: `poses["hand"].position`."""

    X_WL: Transform
    """One row a link."""
    names: tuple[str, ...] = eqx.field(static=True)

    def __getitem__(self, name: str) -> Transform:
        if name not in self.names:
            raise KeyError(f"no link is called {name!r}; the links are: {', '.join(self.names)}")
        return self.X_WL[self.names.index(name)]


def link_poses(mechanism: Mechanism, conf: Configuration) -> Transform:
    """Pose of every link in the world, those fixed to the world included."""
    nodes = mechanism.link_nodes
    if np.all(nodes < 0):
        return mechanism.link_pose
    # A link that is fixed to the world is carried by no node: its own pose is the answer.
    carrier = jax.tree.map(lambda x: take(x, np.maximum(nodes, 0)), conf.X_WN)
    moved = carrier @ mechanism.link_pose
    return jax.tree.map(
        lambda own, x: jnp.where((nodes < 0).reshape(-1, *[1] * (x.ndim - 1)), own, x) if np.any(nodes < 0) else x,
        mechanism.link_pose,
        moved,
    )


def link_velocities(mechanism: Mechanism, conf: Configuration, vel: Velocities) -> Float[Array, "links 6"]:
    """Angular velocity, and linear velocity of the origin, of every link, with the world's axes."""
    nodes = mechanism.link_nodes
    if np.all(nodes < 0):
        return jnp.zeros((len(nodes), 6), dtype=conf.S.dtype)
    v = take(vel.v, np.maximum(nodes, 0))
    lever = link_poses(mechanism, conf).position - take(conf.reference, np.maximum(nodes, 0))
    moved = spatial(angular(v), linear(v) + cross(angular(v), lever))
    return jnp.where((nodes < 0)[:, None], 0.0, moved) if np.any(nodes < 0) else moved


@eqx.filter_jit
def forward_kinematics(model: Model, q: Float[Array, " nq"]) -> Poses:
    """Pose of every link in the world."""
    mechanism = assemble(model)
    conf = configuration(mechanism, expand_q(mechanism, jnp.asarray(q)))
    return Poses(link_poses(mechanism, conf), model.link_names)
