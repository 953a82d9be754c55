"""Our dynamics agree with MuJoCo's and Pinocchio's on random mechanisms, to 1e-9 relative."""

import jax
import numpy as np
import pytest
from hypothesis import given

from hybridsim.model import build_spec

from ..mechanisms import KINDS, Case, cases, layout, random_case, thoroughly
from .oracle_mujoco import MujocoOracle
from .oracle_pinocchio import PinocchioOracle
from .ours import HybridSim
from .quantities import MUJOCO_QUANTITIES, QUANTITIES, relative_error


def names(function) -> str:
    return function.__name__


@pytest.mark.parametrize("quantity", MUJOCO_QUANTITIES, ids=names)
@thoroughly(examples=8)
@given(case=cases())
def test_agrees_with_mujoco_and_pinocchio(quantity, case):
    ours = quantity(HybridSim, case)
    assert relative_error(ours, quantity(MujocoOracle, case)) < 1e-9
    if quantity in QUANTITIES:
        assert relative_error(ours, quantity(PinocchioOracle, case)) < 1e-9


@pytest.mark.parametrize("quantity", QUANTITIES, ids=names)
@thoroughly(examples=8)
@given(case=cases(portable=False))
def test_agrees_with_pinocchio_on_all_mechanisms(quantity, case):
    """Also on those that MuJoCo cannot express: free joints anywhere, any joints in a row."""
    assert relative_error(quantity(HybridSim, case), quantity(PinocchioOracle, case)) < 1e-9


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("quantity", MUJOCO_QUANTITIES, ids=names)
def test_each_kind_alone_and_in_a_row(quantity, kind):
    """Where a failure names its cause: one link on one joint, then two such links."""
    beyond = ("spherical",) if kind == "free" else (kind,)
    for shape in (((-1, (kind,)),), ((-1, (kind,)), (0, beyond))):
        one = Case(shape, seed=7)
        assert relative_error(quantity(HybridSim, one), quantity(MujocoOracle, one)) < 1e-9


@pytest.mark.parametrize("quantity", MUJOCO_QUANTITIES, ids=names)
def test_chain_of_a_hundred_links(quantity):
    chain = hundred_links()
    ours = quantity(HybridSim, chain)
    assert relative_error(ours, quantity(MujocoOracle, chain)) < 1e-9
    if quantity in QUANTITIES:
        assert relative_error(ours, quantity(PinocchioOracle, chain)) < 1e-9


def hundred_links():
    kinds = np.random.default_rng(0).choice(["revolute", "continuous", "prismatic", "spherical", "planar"], size=99)
    shape = ((-1, ("free",)), *((i, (str(kind),)) for i, kind in enumerate(kinds)))
    return Case(shape, seed=0)


@thoroughly(examples=20)
@given(case=cases(portable=False))
def test_order_of_coordinates(case):
    """Depth first, children in the order in which the spec names them."""
    model = build_spec(case.spec)
    assert (model.nq, model.nv) == (len(case.q), len(case.qd))
    for joint, q, v in layout(case.spec):
        assert model.q_of(joint.name) == q
        assert model.v_of(joint.name) == v


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(200))
def test_two_hundred_more(seed):
    portable = seed % 2 == 0
    one = random_case(seed, portable=portable)
    for quantity in MUJOCO_QUANTITIES if portable else QUANTITIES:
        ours = quantity(HybridSim, one)
        if quantity in QUANTITIES:
            assert relative_error(ours, quantity(PinocchioOracle, one)) < 1e-9, quantity.__name__
        if portable:
            assert relative_error(ours, quantity(MujocoOracle, one)) < 1e-9, quantity.__name__
    jax.clear_caches()  # JAX keeps the trace of every topology, a dozen megabytes each.
