"""Physics does not depend on where the world's origin is, nor on which way its axes point."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from scipy.spatial.transform import Rotation

from hybridsim.dynamics import forward_dynamics
from hybridsim.model import WORLD, Spec, build_spec

from ..evaluate import evaluate
from ..mechanisms import Case, cases, joints_of, layout, thoroughly
from .models import relative


def seen_from_elsewhere(spec: Spec, turn: Rotation, shift: np.ndarray) -> Spec:
    """The same world described in axes that are turned and shifted."""

    def placed(joint):
        if joint.parent != WORLD or joint is not joints_of(spec, joint.child)[0]:
            return joint
        quaternion = (turn * Rotation.from_quat(joint.quaternion, scalar_first=True)).as_quat(scalar_first=True)
        return replace(joint, position=turn.apply(joint.position) + shift, quaternion=quaternion)

    return replace(spec, joints=[placed(joint) for joint in spec.joints], gravity=turn.apply(spec.gravity))


def accelerations(spec: Spec, one: Case) -> np.ndarray:
    return evaluate(forward_dynamics, build_spec(spec), one.q, one.qd, one.tau)


@thoroughly(examples=8)
@given(case=cases(portable=False))
def test_accelerations_do_not_depend_on_the_axes_of_the_world(case):
    turned = seen_from_elsewhere(case.spec, Rotation.random(rng=case.seed), np.zeros(3))
    expected = accelerations(case.spec, case)
    assert relative(accelerations(turned, case) - expected, expected) < 1e-9


@thoroughly(examples=8)
@given(case=cases(portable=False))
def test_mechanism_a_kilometre_away(case):
    shift = 1000 * Rotation.random(rng=case.seed).apply([1.0, 0.0, 0.0])
    expected = accelerations(case.spec, case)
    far = accelerations(seen_from_elsewhere(case.spec, Rotation.identity(), shift), case)
    assert relative(far - expected, expected) < 1e-9


@pytest.mark.parametrize("seed", range(3))
def test_free_body_that_went_a_kilometre_away(seed):
    """By its coordinates, not by the placement of its joint; it carries an arm."""
    here = Case(((-1, ("free",)), (0, ("revolute",)), (1, ("spherical",))), seed)
    far = here.q.copy()
    far[layout(here.spec)[0].q.start :][:3] += [600.0, -700.0, 400.0]
    expected = accelerations(here.spec, here)
    assert relative(accelerations(here.spec, here.but(q=far)) - expected, expected) < 1e-9
