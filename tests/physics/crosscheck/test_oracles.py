"""The oracles are worth believing: they agree with one another, and notice every number of a mechanism."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from ..mechanisms import Case, cases, thoroughly
from .oracle_mujoco import MujocoOracle
from .oracle_pinocchio import PinocchioOracle
from .quantities import QUANTITIES, forward_dynamics, poses, relative_error


@pytest.mark.parametrize("quantity", QUANTITIES, ids=lambda f: f.__name__)
@thoroughly(examples=20)
@given(case=cases())
def test_mujoco_and_pinocchio_agree(quantity, case):
    assert relative_error(quantity(MujocoOracle, case), quantity(PinocchioOracle, case)) < 1e-9


PORTABLE = ((-1, ("revolute", "planar")), (0, ("prismatic", "spherical")), (1, ("fixed",)), (2, ("continuous",)))
GENERAL = ((-1, ("revolute",)), (0, ("free",)), (1, ("revolute", "planar")), (2, ("spherical",)), (3, ("prismatic",)))
TURNING = {"revolute", "continuous", "spherical", "planar"}
DIRECTED = {"revolute", "continuous", "prismatic", "planar"}
MATTERS = {"anchor": TURNING, "axis": DIRECTED, "armature": TURNING | DIRECTED | {"free"}}
"""Kinds of joints whose motion depends on a field; a placement always matters."""


def _nudges(original: Case, kind: str, field: str):
    """The case with a millionth added to one field of one link or joint, for each that it matters to."""
    rng = np.random.default_rng(0)
    records = getattr(original.spec, kind)
    for i, record in enumerate(records):
        if kind == "joints" and record.kind not in MATTERS.get(field, {record.kind}):
            continue
        if kind == "links" and not record.mass:
            continue
        value = np.asarray(getattr(record, field), dtype=float)
        nudge = 1e-6 * rng.uniform(0.5, 1.0, size=value.shape)
        changed = value + (nudge + nudge.T) / 2
        nudged = replace(record, **{field: changed if changed.ndim else float(changed)})
        yield original.but(spec=replace(original.spec, **{kind: [*records[:i], nudged, *records[i + 1 :]]}))


@pytest.mark.parametrize(
    ("kind", "field"),
    [
        ("links", "mass"),
        ("links", "com"),
        ("links", "inertia"),
        ("joints", "position"),
        ("joints", "quaternion"),
        ("joints", "axis"),
        ("joints", "anchor"),
        ("joints", "armature"),
    ],
)
@pytest.mark.parametrize(("oracle", "shape"), [(MujocoOracle, PORTABLE), (PinocchioOracle, GENERAL)])
def test_every_number_matters(oracle, shape, kind, field):
    """A millionth more of one number changes poses or accelerations by more than the cross-checks tolerate."""
    original = Case(shape, seed=3, portable=oracle is MujocoOracle)
    nudges = list(_nudges(original, kind, field))
    assert len(nudges) >= 3
    for nudged in nudges:
        errors = [relative_error(ask(oracle, nudged), ask(oracle, original)) for ask in (poses, forward_dynamics)]
        assert max(errors) > 1e-9
