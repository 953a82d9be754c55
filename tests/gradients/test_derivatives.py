"""Forward dynamics, one step and a rollout: derivatives with respect to state, control and every leaf of the model."""

import functools

import numpy as np
import pytest

import hybridsim as hs

from .check import Derivatives, assert_agree, leaves
from .mechanisms import at_rest, everything, gripper, hinge, limited, moving

# Leaves on which no motion depends, unless an actuator or a joint is at its limit. Contact and joint stops read
# the others; here there is none.
WITHOUT_INFLUENCE = (
    "model/geometry",
    "model/contacts",
    "model/limits",
    "model/joints/rest",
    "model/joints/lower",
    "model/joints/upper",
    "model/joints/effort",
    "model/actuators/command_range",
    "model/actuators/force_range",
)
STEPS = 100
FAR = (1000.0, -800.0, 500.0)


def _step(integrator):
    return lambda model, q, qd, control: hs.step(model, (q, qd), control, integrator=integrator)


def _rollout(model, q, qd, control):
    trajectory = hs.rollout(model, (q, qd), control)
    return trajectory.q, trajectory.qd


FUNCTIONS = {
    "acceleration": lambda model, q, qd, control: hs.acceleration(model, (q, qd), control),
    "Euler step": _step(hs.SemiImplicitEuler()),
    "implicit step": _step(hs.ImplicitDamping()),
    "Runge-Kutta step": _step(hs.RungeKutta4()),
    "rollout": _rollout,
}


@functools.cache
def derivatives(name: str) -> Derivatives:
    return Derivatives(FUNCTIONS[name])


def steps_of(name: str) -> int | None:
    return STEPS if name == "rollout" else None


def silent(name: str) -> tuple[str, ...]:
    """What else has no influence on a function: an acceleration does not depend on the time step."""
    return ("model/timestep",) if name == "acceleration" else ()


slow = pytest.mark.slow


def of_everything(*quick: str):
    """All functions; in the default run only those named."""
    return pytest.mark.parametrize(
        "name", [name if name in quick else pytest.param(name, marks=slow) for name in FUNCTIONS]
    )


@of_everything("implicit step")
def test_all_joint_kinds_in_motion(name):
    arguments = moving(everything(), steps=steps_of(name))
    found = derivatives(name).check(arguments, WITHOUT_INFLUENCE)
    assert_agree(found, silent(name))
    tested_or_listed = {leaf for leaf in leaves(arguments) if leaf in found or leaf.startswith(WITHOUT_INFLUENCE)}
    assert tested_or_listed == set(leaves(arguments))


@of_everything("implicit step", "rollout")
def test_leaves_without_influence_have_derivative_zero(name):
    """Zero, and not NaN, though limits are infinite."""
    found = derivatives(name).zeros(moving(everything(), steps=steps_of(name)), WITHOUT_INFLUENCE)
    assert set(found.values()) == {0.0}, found
    assert {leaf.rsplit("/", 1)[0] for leaf in found} >= {"model/geometry", "model/joints", "model/actuators"}


@of_everything("implicit step")
def test_all_joint_kinds_at_rest_with_springs_at_rest(name):
    """q = 0, qd = 0, no force: where norms, angles and friction have their corners."""
    arguments = at_rest(everything(springs_at_rest=True), steps=steps_of(name))
    at_a_corner = ("model/",)  # Many a leaf multiplies a velocity or a displacement, which are zero here.
    assert_agree(derivatives(name).check(arguments, WITHOUT_INFLUENCE), at_a_corner)


@of_everything("implicit step")
def test_all_joint_kinds_a_kilometre_away(name):
    arguments = moving(everything(at=FAR), steps=steps_of(name))
    assert_agree(derivatives(name).check(arguments, WITHOUT_INFLUENCE), silent(name))


@of_everything("implicit step")
def test_mimic_joints(name):
    arguments = moving(gripper(), steps=steps_of(name))
    found = derivatives(name).check(arguments, WITHOUT_INFLUENCE)
    assert {"model/joints/mimic_ratio", "model/joints/mimic_offset"} <= set(found)
    assert_agree(found, silent(name))


def test_four_stages_of_a_runge_kutta_step():
    """On one hinge; on all joint kinds when slow tests are run."""
    found = derivatives("Runge-Kutta step").check(moving(hinge()), WITHOUT_INFLUENCE)
    assert_agree(found, ("model/joints/position",))


def test_limits_have_influence_where_they_are_reached():
    arguments = moving(limited())
    arguments["control"] = np.array([2.0, 3.0, 4.0, 1.0])
    found = derivatives("acceleration").check(arguments, WITHOUT_INFLUENCE[:6])
    of_no_slider = ("model/timestep", "model/links/com", "model/links/inertia", "model/joints/position")
    assert_agree(found, of_no_slider)
    for limit in WITHOUT_INFLUENCE[6:]:
        assert found[limit].slope > 0


def test_forward_dynamics_depends_on_joint_forces_by_the_inverse_mass_matrix():
    model = gripper()
    arguments = moving(model)
    tau = np.random.default_rng(1).normal(size=model.nv)
    function = Derivatives(lambda model, q, qd, tau: hs.forward_dynamics(model, q, qd, tau))
    arguments = {"model": model, "q": arguments["q"], "qd": arguments["qd"], "tau": tau}
    passive = ("stiffness", "spring_rest", "damping", "friction")
    unused = (*WITHOUT_INFLUENCE, "model/actuators", "model/timestep", *(f"model/joints/{name}" for name in passive))
    assert_agree(function.check(arguments, unused))
    assert set(function.zeros(arguments, unused).values()) == {0.0}
    M = hs.mass_matrix(model, arguments["q"])
    for row in np.eye(model.nv):
        by_tau = function.reverse(arguments, row)["tau"]
        np.testing.assert_allclose(M @ by_tau, row, atol=1e-12)
