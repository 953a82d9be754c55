"""What is compared. Each function asks one witness (our code, MuJoCo or Pinocchio) about one mechanism."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ..mechanisms import Case, layout


def poses(witness: Callable, case: Case) -> np.ndarray:
    """Rotation and position of every link."""
    found = witness(case.spec).forward_kinematics(case.q)
    return np.array([[*np.ravel(found[link.name].rotation), *found[link.name].position] for link in case.spec.links])


def jacobian(witness: Callable, case: Case) -> np.ndarray:
    """Of the last link, which has the most ancestors on average."""
    return witness(case.spec).jacobian(case.q, f"link{len(case.shape) - 1}")


def mass_matrix(witness: Callable, case: Case) -> np.ndarray:
    return witness(case.spec).mass_matrix(case.q)


def inverse_dynamics(witness: Callable, case: Case) -> np.ndarray:
    return witness(case.spec).inverse_dynamics(case.q, case.qd, case.qdd)


def forward_dynamics(witness: Callable, case: Case) -> np.ndarray:
    return witness(case.spec).forward_dynamics(case.q, case.qd, case.tau)


def forward_dynamics_with_wrenches(witness: Callable, case: Case) -> np.ndarray:
    rng = np.random.default_rng(case.seed)
    wrenches = {link.name: rng.normal(scale=5.0, size=6) for link in case.spec.links}
    return witness(case.spec).forward_dynamics(case.q, case.qd, case.tau, wrenches)


def kinetic_energy(witness: Callable, case: Case) -> np.ndarray:
    return np.asarray(witness(case.spec).energy(case.q, case.qd).kinetic)


def gravity_potential(witness: Callable, case: Case) -> np.ndarray:
    """Without springs."""
    slack = replace(case.spec, joints=[replace(joint, stiffness=0 * joint.stiffness) for joint in case.spec.joints])
    return _potential(witness(slack), case)


def potential(witness: Callable, case: Case) -> np.ndarray:
    """With springs; Pinocchio has none."""
    return _potential(witness(case.spec), case)


def _potential(witness, case: Case) -> np.ndarray:
    """Relative to the joints' rest: links that never move add a constant that not all of the witnesses count."""
    rest = np.concatenate([np.zeros(0), *(slot.joint.rest for slot in layout(case.spec))])
    return np.asarray(witness.energy(case.q, case.qd).potential - witness.energy(rest, case.qd).potential)


def momentum(witness: Callable, case: Case) -> np.ndarray:
    found = witness(case.spec).momentum(case.q, case.qd)
    return np.concatenate([found.angular, found.linear])


def passive_forces(witness: Callable, case: Case) -> np.ndarray:
    """Of springs and dampers; Pinocchio has none."""
    return witness(case.spec).passive_forces(case.q, case.qd)


QUANTITIES = (
    poses,
    jacobian,
    mass_matrix,
    inverse_dynamics,
    forward_dynamics,
    forward_dynamics_with_wrenches,
    kinetic_energy,
    gravity_potential,
    momentum,
)
MUJOCO_QUANTITIES = (*QUANTITIES, potential, passive_forces)


def relative_error(value: np.ndarray, expected: np.ndarray) -> float:
    """Norm of the difference over that of the value; 1e-3, in SI units, is where a value counts as zero."""
    value, expected = np.asarray(value), np.asarray(expected)
    assert value.shape == expected.shape
    return float(np.linalg.norm(value - expected) / (np.linalg.norm(expected) + 1e-3))
