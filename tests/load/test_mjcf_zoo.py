"""Real MJCF files, as many as there are on this machine: each loads as MuJoCo reads it, or is refused by name.

Files are looked for in the folder that HYBRIDSIM_ROBOTS names and in installed packages that bring robots,
such as dm-control and gymnasium.
"""

import os
import sysconfig
import warnings
from pathlib import Path

import equinox as eqx
import mujoco
import numpy as np
import pytest

import hybridsim as hs
from hybridsim.load.differences import differences, named_numbers
from physics.evaluate import evaluate

from .mujoco_mjcf import FREE, MujocoFile, error

PACKAGES = (
    *("brax", "dm_control", "gymnasium", "gymnasium_robotics", "mani_skill", "metaworld", "mujoco/mjx"),
    *("mujoco_menagerie", "mujoco_playground", "myosuite", "robopal", "robosuite"),
)


def robots() -> list[Path]:
    installed = [Path(sysconfig.get_path("purelib")) / package for package in PACKAGES]
    folders = [Path(named)] if (named := os.environ.get("HYBRIDSIM_ROBOTS")) else installed
    files = (path for folder in folders for path in folder.rglob("*.xml"))
    return sorted(path for path in files if b"<mujoco" in path.read_bytes())


ROBOTS = robots()
every_robot = pytest.mark.parametrize("path", ROBOTS, ids=[path.name for path in ROBOTS])
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not ROBOTS, reason="no MJCF files; pip install dm-control, or set HYBRIDSIM_ROBOTS"),
]


def mujoco_reads(path: Path) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            mujoco.MjModel.from_xml_path(str(path))
        except ValueError:
            return False
    return True


def load(path: Path) -> hs.Model:
    """The model, or a skip with the reason of the refusal, which must name a file and be shared by MuJoCo."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hs.ModelWarning)
        try:
            return hs.load(path)
        except hs.ModelError as refusal:
            message = str(refusal)
    assert Path(message.partition(".xml")[0] + ".xml").is_file()
    assert not mujoco_reads(path), message
    pytest.skip(message)


@every_robot
def test_same_equations_of_motion_as_mujoco(path):
    model = load(path)
    witness = MujocoFile(path)
    assert (model.nq, model.nv) == (witness.model.nq, witness.model.nv)
    np.testing.assert_allclose(np.sum(model.links.mass), np.sum(witness.model.body_mass[1:]), rtol=1e-13)
    np.testing.assert_allclose(model.rest()[0], witness.model.qpos0, rtol=1e-15)
    if model.nv == 0:
        return
    if np.any(getattr(witness.model, "tendon_armature", 0)):
        pytest.skip("its tendons have inertia, which is not simulated")
    q, qd, tau = witness.random_state(0)
    _stop_free_joints_with_armature(witness.model, qd)
    M = witness.mass_matrix(q)
    assert error(evaluate(hs.mass_matrix, model, q), M) < 1e-12
    if np.linalg.cond(M) > 1e14:
        pytest.skip("its mass matrix is singular")
    ours, theirs = evaluate(hs.forward_dynamics, model, q, qd, tau), witness.forward_dynamics(q, qd, tau)
    # Accelerations lose digits with the condition of M: some files hang grams on robots of a hundred kilograms.
    assert error(ours, theirs) < max(1e-9, np.linalg.cond(M) * np.finfo(float).eps)


def _stop_free_joints_with_armature(m: mujoco.MjModel, qd: np.ndarray) -> None:
    """Ours acts in the axes of the body, MuJoCo's in those of the world: the same only while nothing turns."""
    for joint in np.flatnonzero(m.jnt_type == FREE):
        dof = m.jnt_dofadr[joint]
        if m.dof_armature[dof]:
            qd[dof : dof + 6] = 0


@every_robot
def test_a_changed_mass_is_written_and_read_back(path, tmp_path):
    model = load(path)
    if not np.any(model.links.mass):
        pytest.skip("nothing in it has mass")
    scaled = _with_masses(model, 1.25)
    copy = tmp_path / "copy.xml"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        hs.save(scaled, copy, like=path)
        again = hs.load(copy)
    lost = [str(w.message) for w in caught if "cannot hold" in str(w.message)]
    wrong = differences(named_numbers(scaled), named_numbers(again), 1e-12)
    assert bool(wrong) == bool(lost)
    assert all(str(name) in lost[0] for name in wrong)
    # Copies of one element cannot be told apart, nor changed in the file that they are attached from.
    if not any(word in path.read_text(errors="replace") for word in ("replicate", "attach", "alignfree", "composite")):
        assert not wrong


def _with_masses(model: hs.Model, factor: float) -> hs.Model:
    links = model.links
    return eqx.tree_at(lambda m: (m.links.mass, m.links.inertia), model, (factor * links.mass, factor * links.inertia))
