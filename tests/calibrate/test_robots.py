"""Other mechanisms than the demo: what a first fit.toml says of them, and what networks are given to begin with."""

import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import hybridsim as hs
from hybridsim.calibrate.library import TERMS, terms_of, with_library
from hybridsim.calibrate.menu import FRICTION, Entry
from hybridsim.calibrate.networks import LOADED, network_for
from hybridsim.calibrate.propose import propose
from hybridsim.data.log import Trajectory

ARM = """<robot name="arm"><link name="base"/>
<joint name="hinge" type="revolute"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/>
<limit lower="-3" upper="3" effort="9" velocity="9"/></joint>
<link name="rod"><inertial><origin xyz="0 0 -0.2"/><mass value="0.5"/>
<inertia ixx="0.005" iyy="0.005" izz="0.0005" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""


@pytest.fixture
def arm(tmp_path: Path) -> Path:
    path = tmp_path / "arm.urdf"
    path.write_text(ARM)
    return path


def _cube(folder: Path) -> Path:
    path = folder / "cube.xml"
    path.write_text("""<mujoco><worldbody><body name="cube"><freejoint name="root"/>
    <geom type="box" size="0.1 0.1 0.1" mass="1"/></body></worldbody></mujoco>""")
    return path


def _swing(path: Path, seconds: float, factor: float = 1.0) -> Path:
    t = np.arange(0, seconds, 0.01)
    rows = np.stack([t, factor * np.sin(6 * t)], axis=1)
    np.savetxt(path, rows, delimiter=",", header="time,hinge_position", comments="")
    return path


@pytest.mark.parametrize(("seconds", "window"), [(10.0, 1.0), (2.0, 0.2), (5.0, 0.5)])
def test_a_single_recording_leaves_windows_for_its_end(arm, tmp_path, seconds, window):
    """A quarter of it is held out, and has room for two windows at least."""
    asked = tomllib.loads(propose(arm, [_swing(tmp_path / "run.csv", seconds)], folder=tmp_path))
    assert asked["logs"]["held_out_part"] == 0.25
    assert asked["fit"]["window"] == window
    assert 2 * window <= 0.25 * seconds


def test_several_runs_take_a_third_of_the_shortest_at_most(arm, tmp_path):
    runs = [_swing(tmp_path / f"run{i}.csv", seconds) for i, seconds in enumerate((4.0, 2.0))]
    assert tomllib.loads(propose(arm, runs, folder=tmp_path))["fit"]["window"] == 0.5


def test_degrees_that_no_column_tells_of_are_proposed(arm, tmp_path):
    degrees = propose(arm, [_swing(tmp_path / "run.csv", 4.0, factor=57.0)], folder=tmp_path)
    radians = propose(arm, [_swing(tmp_path / "other.csv", 4.0)], folder=tmp_path)
    assert tomllib.loads(degrees)["logs"]["units"] == {"position": "deg"}
    assert "units" not in tomllib.loads(radians)["logs"]


def test_a_network_for_a_loaded_gear_begins_in_the_middle_of_its_friction(arm):
    """0.05 without a load and 0.15 more for each N m: factors of 0.05 alone could not reach what it is under load."""
    model = hs.load(arm)
    joints = replace(model.joints, friction=np.array([0.05]), friction_speed=np.array([0.05]))
    model = replace(model, joints=joints)
    t = np.linspace(0, 2, 201)
    load = np.linspace(0, 4, 201)[:, None]
    log = Trajectory(t, np.sin(t)[:, None], np.cos(t)[:, None], controls=load, control_kind="force")
    library, places = with_library(model, [log], None)
    terms = terms_of(library)
    weights = np.zeros(terms.weights.shape)
    weights[0, list(places[LOADED, "hinge"])] = -0.15 * terms.scales.force[0]
    terms.weights[...] = weights
    chosen = [Entry(FRICTION, "hinge"), Entry(LOADED, "hinge")]
    assert LOADED in TERMS
    hybrid = network_for(model, chosen, [log], (3,), None, library)
    assert hybrid is not None
    # The middle of loads of 0 to 4 N m.
    np.testing.assert_allclose(np.asarray(hybrid.joints.friction), [0.05 + 0.15 * 2.0], rtol=0.02)


def test_a_body_that_floats_has_no_library(tmp_path):
    """Its one joint turns and slides freely: no term is for it, and the model stays as it is."""
    model = hs.load(_cube(tmp_path))
    q = np.tile(model.rest()[0], (11, 1))
    log = Trajectory(np.arange(11) * 0.1, q, np.zeros((11, 6)))
    same, places = with_library(model, [log], None)
    assert same is model
    assert places == {}


def test_a_model_without_a_library_has_no_terms(arm):
    with pytest.raises(ValueError, match="no library"):
        terms_of(hs.load(arm))
