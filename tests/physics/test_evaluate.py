"""The NumPy evaluation used in these tests gives what the compiled functions give."""

import jax
import numpy as np

from hybridsim import dynamics
from hybridsim.model import build_spec

from .evaluate import evaluate
from .mechanisms import Case

SHAPE = ((-1, ("free",)), (0, ("spherical", "prismatic")), (0, ("planar", "fixed")), (-1, ("continuous",)))


def everything(model, q, qd, qdd):
    """Every operation that the tests trace: the dynamics, and derivatives in forward mode."""
    tau = dynamics.inverse_dynamics(model, q, qd, qdd)
    return {
        "force": tau,
        "acceleration": dynamics.forward_dynamics(model, q, qd, tau, {"link2": np.arange(6.0)}),
        "mass matrix": dynamics.mass_matrix(model, q),
        "energy and its rate": jax.jvp(lambda q: dynamics.energy(model, q, qd).total, (q,), (q,)),
        "derivative of force": jax.jacfwd(lambda qdd: dynamics.inverse_dynamics(model, q, qd, qdd))(qdd),
        "poses": dynamics.forward_kinematics(model, q),
    }


def test_numpy_does_what_xla_does():
    one = Case(SHAPE, seed=1)
    arguments = build_spec(one.spec), one.q, one.qd, one.qdd
    found, expected = evaluate(everything, *arguments), jax.jit(everything)(*arguments)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-11), found, expected)
