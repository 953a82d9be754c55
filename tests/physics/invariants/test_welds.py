"""A link behind a fixed joint is part of its parent: the same as one body composed by hand."""

from dataclasses import replace

import numpy as np
from hypothesis import given
from scipy.spatial.transform import Rotation

from hybridsim.dynamics import forward_dynamics, forward_kinematics, inverse_dynamics, mass_matrix, momentum
from hybridsim.model import WORLD, Link, Spec, build_spec

from ..evaluate import evaluate
from ..mechanisms import cases, joints_of, thoroughly
from .models import model_of, relative


def welded(spec: Spec) -> Spec:
    """The spec in which no link is fixed to another one."""
    for link in spec.links:
        joints = joints_of(spec, link.name)
        if len(joints) == 1 and joints[0].kind == "fixed" and joints[0].parent != WORLD:
            return welded(_weld(spec, link, joints[0]))
    return spec


def _weld(spec: Spec, link: Link, weld) -> Spec:
    turn, shift = Rotation.from_quat(weld.quaternion, scalar_first=True), weld.position
    parent = next(other for other in spec.links if other.name == weld.parent)
    moved = replace(link, com=turn.apply(link.com) + shift, inertia=_turned(turn, link.inertia))
    links = [_together(parent, moved) if other is parent else other for other in spec.links if other is not link]

    def carried(joint):
        if joint.parent != link.name:
            return joint
        joint_first = joint is joints_of(spec, joint.child)[0]
        if not joint_first:
            return replace(joint, parent=parent.name)
        quaternion = (turn * Rotation.from_quat(joint.quaternion, scalar_first=True)).as_quat(scalar_first=True)
        return replace(joint, parent=parent.name, position=turn.apply(joint.position) + shift, quaternion=quaternion)

    return replace(spec, links=links, joints=[carried(joint) for joint in spec.joints if joint is not weld])


def _turned(turn: Rotation, inertia) -> np.ndarray:
    R = turn.as_matrix()
    return R @ (np.eye(3) * inertia if np.ndim(inertia) == 0 else inertia) @ R.T


def _together(a: Link, b: Link) -> Link:
    """Two bodies as one, by Steiner's theorem."""
    mass = a.mass + b.mass
    if mass == 0:
        return a
    com = (a.mass * np.asarray(a.com) + b.mass * np.asarray(b.com)) / mass
    total = np.zeros((3, 3))
    for body in (a, b):
        arm = np.asarray(body.com) - com
        total += _turned(Rotation.identity(), body.inertia) + body.mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    return Link(a.name, mass, com, total)


KINDS = ("fixed", "fixed", "revolute", "prismatic", "spherical", "planar")


@thoroughly(examples=6)
@given(case=cases(max_links=15, portable=False, kinds=KINDS))
def test_fixed_links_merge_into_their_parents(case):
    original, merged = model_of(case), build_spec(welded(case.spec))
    # Merging may change the order of joints, never their number.
    order_q, order_v = (np.concatenate([np.zeros(0, int), *parts]).astype(int) for parts in _places(original, merged))
    q, qd, qdd, tau = case.q[order_q], case.qd[order_v], case.qdd[order_v], case.tau[order_v]

    M = evaluate(mass_matrix, original, case.q)[np.ix_(order_v, order_v)]
    assert relative(evaluate(mass_matrix, merged, q) - M, M) < 1e-9
    force = evaluate(inverse_dynamics, original, case.q, case.qd, case.qdd)[order_v]
    assert relative(evaluate(inverse_dynamics, merged, q, qd, qdd) - force, force) < 1e-9
    acceleration = evaluate(forward_dynamics, original, case.q, case.qd, case.tau)[order_v]
    assert relative(evaluate(forward_dynamics, merged, q, qd, tau) - acceleration, acceleration) < 1e-9
    h, h_merged = evaluate(momentum, original, case.q, case.qd), evaluate(momentum, merged, q, qd)
    assert relative(h_merged.angular - h.angular, h.angular) < 1e-9
    poses, poses_merged = evaluate(forward_kinematics, original, case.q), evaluate(forward_kinematics, merged, q)
    for name in merged.link_names:
        assert relative(poses_merged[name].position - poses[name].position, poses[name].position) < 1e-9


def _places(original, merged) -> tuple[list, list]:
    """Of each joint of the merged model, where its numbers lie in the original's q and qd."""
    in_q, in_v = np.arange(original.nq), np.arange(original.nv)
    return [in_q[original.q_of(j)] for j in merged.joint_names], [in_v[original.v_of(j)] for j in merged.joint_names]
