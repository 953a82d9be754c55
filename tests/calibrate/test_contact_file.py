"""Friction of contact that was fitted is in the files of a run: in the MJCF for other tools, and in the table of parameters."""

import csv

import mujoco
import numpy as np
import pytest

import hybridsim as hs
from hybridsim.calibrate import calibrate, config_of, write_augmentation

from .exported import force, hybrid

BLOCK = """<mujoco>
  <option timestep="0.002"/>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 0.1"/>
    <body name="block" pos="0 0 0.05">
      <joint name="x" type="slide" axis="1 0 0"/>
      <joint name="z" type="slide" axis="0 0 1"/>
      <geom name="block" type="box" size="0.05 0.05 0.05" mass="0.4"/>
    </body>
  </worldbody>
</mujoco>"""
CONFIG = """
[model]
file = "block.xml"
[logs]
training = ["a.csv", "b.csv"]
held_out = ["c.csv"]
[fit]
window = 0.2
free = [{ path = "contact/*/friction", upper = 2 }]
[discover]
effects = []
[network]
train = false
"""
FRICTION = 0.23


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "block.xml").write_text(BLOCK)
    (tmp_path / "fit.toml").write_text(CONFIG)
    slick = hs.with_contacts(hs.load(tmp_path / "block.xml"), friction=FRICTION)
    run = hs.native.jit(lambda q, qd: hs.rollout(slick, (q, qd), dt=2e-3, steps=250))
    rng = np.random.default_rng(0)
    for name in "abc":
        made = run(np.zeros(2), np.array([rng.uniform(1.5, 3), 0.0]))
        q = np.asarray(made.q)[::5] + 1e-5 * rng.standard_normal((51, 2))
        table = np.column_stack([0.01 * np.arange(51), q, np.asarray(made.qd)[::5]])
        names = "time,x_position,z_position,x_velocity,z_velocity"
        np.savetxt(tmp_path / f"{name}.csv", table, "%.17g", ",", header=names, comments="")
    return tmp_path


def test_the_plain_file_beside_a_network_has_it_too(tmp_path):
    (tmp_path / "block.xml").write_text(BLOCK)
    slick = hs.with_contacts(hs.load(tmp_path / "block.xml"), friction=FRICTION)
    model = hybrid(slick, [force("joint.velocity", entities="x")])
    with pytest.warns(hs.ModelWarning, match="networks are not in it"):
        hs.save(model, tmp_path / "other.xml", like=tmp_path / "block.xml")
    write_augmentation(model, tmp_path / "augmentation", like=tmp_path / "block.xml")
    for path in ("other.xml", "augmentation/plain.xml"):
        np.testing.assert_array_equal(hs.load(tmp_path / path).contacts.friction, FRICTION)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_the_calibrated_file_has_the_fitted_friction(folder):
    found = calibrate(config_of(CONFIG, folder), folder / "run")
    fitted = found.stage("calibrated").model.contacts.friction[0]
    assert fitted == pytest.approx(FRICTION, abs=2e-3)
    again = hs.load(folder / "run" / "calibrated.xml")
    np.testing.assert_array_equal(again.contacts.friction, fitted)
    theirs = mujoco.MjModel.from_xml_path(str(folder / "run" / "calibrated.xml"))
    assert max(theirs.geom(name).friction[0] for name in ("floor", "block")) == fitted
    np.testing.assert_array_equal(hs.load_hybrid(folder / "run" / "model.hybrid").contacts.friction, fitted)
    (row,) = csv.DictReader((folder / "run" / "parameters.csv").open())
    assert (row["name"], row["unit"]) == ("contact/block/floor/friction", "1")
    assert float(row["lower"]) < FRICTION < float(row["upper"])
