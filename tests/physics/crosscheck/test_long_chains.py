"""Derivatives of long chains, written out turn by turn or as loops, agree with Pinocchio's."""

from dataclasses import replace

import jax
import numpy as np
import pinocchio as pin
import pytest

import hybridsim as hs
from hybridsim import native
from hybridsim.model import build_spec
from hybridsim.native.rules import unrolled

from ..mechanisms import Case
from .oracle_pinocchio import PinocchioOracle
from .quantities import relative_error

LINKS = 30


@pytest.fixture(params=["written out", "loops"])
def how(request, monkeypatch):
    monkeypatch.setenv("HYBRIDSIM_CACHE", "off")
    if request.param == "loops":
        monkeypatch.setattr(unrolled, "WRITTEN_OUT", 0)


def test_derivatives_of_thirty_links(how):
    """Of the accelerations, weighted, by positions, velocities, forces, masses, centres of mass and inertias."""
    case = Case(tuple((k - 1, ("revolute",)) for k in range(LINKS)), seed=3)
    model, weights = build_spec(case.spec), np.random.default_rng(4).normal(size=LINKS)

    def weighted(links, q, qd, tau):
        return weights @ hs.forward_dynamics(replace(model, links=links), q, qd, tau)

    value, slopes = native.jit(jax.value_and_grad(weighted, argnums=(0, 1, 2, 3)), optimise=1)(
        model.links, case.q, case.qd, case.tau
    )
    expected, by_q, by_qd, by_tau, by_mass, by_com, by_inertia = _by_pinocchio(case, weights)
    assert relative_error(value, expected) < 1e-9
    links, *states = slopes
    for found, right in zip(states, (by_q, by_qd, by_tau), strict=True):
        assert relative_error(found, right) < 1e-8
    for found, right in zip((links.mass, links.com, links.inertia), (by_mass, by_com, by_inertia), strict=True):
        assert relative_error(np.asarray(found), right) < 1e-8


def _by_pinocchio(case: Case, weights: np.ndarray) -> tuple:
    """From tau = ID(qdd): the derivative of qdd is M^-1 (dtau - dID)."""
    oracle = PinocchioOracle(case.spec)
    model, data = oracle.model, oracle.data
    q, qd = oracle.configuration(case.q), case.qd
    qdd = oracle.forward_dynamics(case.q, qd, case.tau)
    adjoint = np.linalg.solve(oracle.mass_matrix(case.q), weights)
    by_q, by_qd, _ = pin.computeRNEADerivatives(model, data, q, qd, qdd)  # pyright: ignore[reportAttributeAccessIssue]
    regressor = pin.computeJointTorqueRegressor(model, data, q, qd, qdd)  # pyright: ignore[reportAttributeAccessIssue]
    by_mass, by_com, by_inertia = [], [], []
    links = {link.name: link for link in case.spec.links}
    for link in map(links.get, build_spec(case.spec).link_names):
        assert link is not None
        # Pinocchio's numbers of a body: m, m c, and about the origin of its joint xx, xy, yy, xz, yz, zz.
        frame = model.frames[model.getFrameId(link.name)]
        by_numbers, X = -adjoint @ regressor[:, 10 * frame.parentJoint - 10 :][:, :10], frame.placement
        turn, place = X.rotation, X.rotation @ np.asarray(link.com) + X.translation
        tensor = np.zeros((3, 3))
        for slope, (i, j) in zip(by_numbers[4:], ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2)), strict=True):
            tensor[i, j] = tensor[j, i] = slope if i == j else slope / 2
        # m (c.c 1 - c c^T) is in the tensor about the origin.
        about = np.trace(tensor) * np.eye(3) - tensor
        by_mass.append(by_numbers[0] + by_numbers[1:4] @ place + place @ about @ place)
        by_com.append(link.mass * turn.T @ (by_numbers[1:4] + 2 * about @ place))
        own = turn.T @ tensor @ turn
        by_inertia.append([own[0, 0], own[1, 1], own[2, 2], 2 * own[0, 1], 2 * own[0, 2], 2 * own[1, 2]])
    return weights @ qdd, -adjoint @ by_q, -adjoint @ by_qd, adjoint, np.array(by_mass), np.array(by_com), by_inertia
