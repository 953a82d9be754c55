"""Real robots, as many as there are on this machine: each loads as Pinocchio reads it, or is refused by name.

Files are looked for in the folder that HYBRIDSIM_ROBOTS names and in installed packages that bring robots,
such as example-robot-data.
"""

import os
import sysconfig
import warnings
from pathlib import Path

import numpy as np
import pytest

import hybridsim as hs
from physics.evaluate import evaluate

from .pinocchio_urdf import PinocchioUrdf
from .small_urdf import random_state

PACKAGES = ("cmeel.prefix/share/example-robot-data", "mani_skill", "robosuite", "pydrake", "rtbdata", "pybullet_data")


def robots() -> list[Path]:
    installed = [Path(sysconfig.get_path("purelib")) / package for package in PACKAGES]
    folders = [Path(named)] if (named := os.environ.get("HYBRIDSIM_ROBOTS")) else installed
    return sorted(path for folder in folders for path in folder.rglob("*.urdf"))


ROBOTS = robots()
every_robot = pytest.mark.parametrize("path", ROBOTS, ids=[path.name for path in ROBOTS])
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not ROBOTS, reason="no robots; pip install example-robot-data, or set HYBRIDSIM_ROBOTS"),
]


def load(path: Path, **options) -> hs.Model:
    """The model, or a skip with the reason of the refusal, which must name the file."""
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always", hs.ModelWarning)
        try:
            model = hs.load(path, massless="fix", **options)
        except hs.ModelError as error:
            refusal = str(error)
        else:
            if options.get("base") == "free" and any("is the fixed world" in str(note.message) for note in notes):
                pytest.skip("a root link called world that has mass floats in Pinocchio, but is the world here")
            return model
    assert refusal.startswith(str(path))
    pytest.skip(refusal)


@every_robot
@pytest.mark.parametrize("base", ["fixed", "free"])
def test_same_equations_of_motion_as_pinocchio(path, base):
    model = load(path, base=base, mimic=False, meshes=False)
    try:
        witness = PinocchioUrdf(path, model, base)
    except ValueError as error:
        pytest.skip(f"Pinocchio refuses it: {error}")
    if not np.any(model.links.mass):
        pytest.skip("nothing in it has mass")
    assert model.nv == witness.model.nv
    if model.nv == 0:
        return
    q, qd, x = random_state(model)
    M = witness.mass_matrix(q)
    assert _error(evaluate(hs.mass_matrix, model, q), M) < 1e-12
    assert _error(evaluate(hs.inverse_dynamics, model, q, qd, x), witness.inverse_dynamics(q, qd, x)) < 1e-12
    # Accelerations lose digits with the condition of M: a few files hang links of 1e-9 kg on big robots.
    conditioning = np.linalg.cond(M) * np.finfo(float).eps
    if conditioning > 1e-3:
        pytest.skip("its mass matrix is singular: massless links in a row turn about the same line")
    ours = evaluate(hs.forward_dynamics, model, q, qd, x)
    assert _error(ours, witness.forward_dynamics(q, qd, x)) < max(1e-9, conditioning)


def _error(ours: np.ndarray, theirs: np.ndarray) -> float:
    return np.max(np.abs(ours - theirs)) / np.max(np.abs(theirs))


@every_robot
def test_shapes_load_and_a_save_without_changes_is_a_copy(path, tmp_path):
    model = load(path)
    sizes = [np.ptp(points, axis=0).max() for points in model.geometry.points if len(points)]
    assert all(0 < size < 10 for size in sizes), "a mesh is not in metres"
    hs.save(model, tmp_path / path.name, like=path)
    assert (tmp_path / path.name).read_bytes() == path.read_bytes()
