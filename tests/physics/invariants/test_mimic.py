"""A mimic joint has no coordinate of its own: q = E q_own + offset, so M_own = E^T M E, forces E^T tau."""

from dataclasses import replace

import numpy as np
from hypothesis import assume, given

from hybridsim.dynamics import (
    energy,
    forward_dynamics,
    forward_kinematics,
    inverse_dynamics,
    jacobian,
    mass_matrix,
    momentum,
)
from hybridsim.model import Mimic, Spec, build_spec
from hybridsim.simulate import passive_forces

from ..evaluate import evaluate
from ..mechanisms import SIZES, cases, thoroughly
from .models import model_of, relative


def coupled(spec: Spec, rng: np.random.Generator) -> Spec:
    """The spec in which about half of the joints with one coordinate mimic another one."""
    single = [joint.name for joint in spec.joints if SIZES[joint.kind] == (1, 1)]
    leaders = [name for name in single if rng.uniform() < 0.5] or single[:1]
    mimic = {name: Mimic(rng.choice(leaders), *rng.normal(size=2)) for name in single if name not in leaders}
    assume(mimic)
    return replace(spec, joints=[replace(joint, mimic=mimic.get(joint.name)) for joint in spec.joints])


def expansion(spec: Spec, own, every) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(E for q, offset, E for qd): coordinates of all joints from the coupled model's own."""
    E_q, offset, E_v = np.zeros((every.nq, own.nq)), np.zeros(every.nq), np.zeros((every.nv, own.nv))
    for joint in spec.joints:
        leader, ratio = (joint.mimic.joint, joint.mimic.ratio) if joint.mimic else (joint.name, 1.0)
        E_q[every.q_of(joint.name), own.q_of(leader)] = ratio * np.eye(SIZES[joint.kind][0])
        E_v[every.v_of(joint.name), own.v_of(leader)] = ratio * np.eye(SIZES[joint.kind][1])
        if joint.mimic:
            offset[every.q_of(joint.name)] = joint.mimic.offset
    return E_q, offset, E_v


@thoroughly(examples=6)
@given(case=cases(max_links=8, kinds=("revolute", "continuous", "prismatic", "spherical", "fixed")))
def test_mimic_joints_reduce_the_equation_of_motion(case):
    spec = coupled(case.spec, np.random.default_rng(case.seed))
    own, every = build_spec(spec), model_of(case)
    E_q, offset, E = expansion(spec, own, every)
    # Any values of the leaders' coordinates; the others' come from the case (quaternions).
    q = np.concatenate([np.zeros(0), *(case.q[every.q_of(j.name)] for j in _owners(own, spec))])
    qd, qdd, tau = case.qd[: own.nv], case.qdd[: own.nv], case.tau[: own.nv]
    q_all, qd_all, qdd_all = E_q @ q + offset, E @ qd, E @ qdd

    M = E.T @ evaluate(mass_matrix, every, q_all) @ E
    bias = E.T @ evaluate(inverse_dynamics, every, q_all, qd_all, 0 * qdd_all)
    pairs = {
        "mass matrix": (evaluate(mass_matrix, own, q), M),
        "inverse dynamics": (evaluate(inverse_dynamics, own, q, qd, qdd), M @ qdd + bias),
        "forward dynamics": (evaluate(forward_dynamics, own, q, qd, tau), np.linalg.solve(M, tau - bias)),
        "passive forces": (evaluate(passive_forces, own, q, qd), E.T @ evaluate(passive_forces, every, q_all, qd_all)),
        "kinetic energy": (evaluate(energy, own, q, qd).kinetic, evaluate(energy, every, q_all, qd_all).kinetic),
        "potential energy": (evaluate(energy, own, q, qd).potential, evaluate(energy, every, q_all, qd_all).potential),
        "momentum": (evaluate(momentum, own, q, qd).angular, evaluate(momentum, every, q_all, qd_all).angular),
    }
    link = case.spec.links[0].name
    pairs["jacobian"] = (
        evaluate(lambda q: jacobian(own, q, link), q),
        evaluate(lambda q: jacobian(every, q, link), q_all) @ E,
    )
    pairs["position"] = tuple(
        evaluate(forward_kinematics, model, x)[link].position for model, x in ((own, q), (every, q_all))
    )
    for name, (found, expected) in pairs.items():
        assert relative(found - expected, expected) < 1e-9, name


def _owners(own, spec: Spec) -> list:
    """Joints that have coordinates, in the order of the coupled model's."""
    by_name = {joint.name: joint for joint in spec.joints}
    return [by_name[name] for name in own.joint_names if by_name[name].mimic is None]
