"""Meshes that are not convex: their hull by default, their convex parts when asked; hulls with too many corners."""

import sys

import numpy as np
import pytest
import trimesh
from scipy.spatial import ConvexHull

import hybridsim as hs
from hybridsim.load.meshes import MOST_CORNERS, hull_corners

L = np.array([[0, 0], [0.3, 0], [0.3, 0.1], [0.1, 0.1], [0.1, 0.3], [0, 0.3]])
TRIANGLES = np.array([[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 5]])
PEG = '<geom name="peg" type="box" size="0.05 0.025 0.025" mass="1"/>'
SCENE = f"""<mujoco><asset><mesh name="ell" file="ell.stl"/></asset><worldbody>
  <geom name="ell" type="mesh" mesh="ell" euler="90 0 0"/>
  <body name="peg"><freejoint/>{PEG}</body></worldbody></mujoco>"""
ROBOT = """<robot name="ell"><link name="world"><collision name="ell"><origin rpy="1.5707963267948966 0 0"/>
  <geometry><mesh filename="ell.stl"/></geometry></collision></link><link name="peg">
  <inertial><mass value="1"/><inertia ixx="1e-3" iyy="1e-3" izz="1e-3"/></inertial>
  <collision><geometry><box size="0.1 0.05 0.05"/></geometry></collision></link>
  <joint name="free" type="floating"><parent link="world"/><child link="peg"/></joint></robot>"""


@pytest.fixture(params=["scene.xml", "robot.urdf"])
def file(request, tmp_path):
    trimesh.creation.extrude_triangulation(L, TRIANGLES, 0.1).export(tmp_path / "ell.stl")
    path = tmp_path / request.param
    path.write_text(SCENE if request.param.endswith("xml") else ROBOT)
    return path


def fallen(model: hs.Model) -> np.ndarray:
    """Where a peg comes to rest that is let go in the hollow of the L."""
    q, qd = model.rest()
    q[:3] = 0.2, -0.05, 0.16
    return np.asarray(hs.native.jit(lambda q, qd: hs.rollout(model, (q, qd), dt=1e-3, steps=400))(q, qd).q[-1])


@pytest.mark.slow
def test_a_peg_lies_in_the_hollow_of_an_l(file):
    pytest.importorskip("coacd")
    model = hs.load(file, decompose=True)
    names = [name for name in model.geometry.names if name.startswith("ell/part")]
    assert len(names) >= 2
    np.testing.assert_allclose(fallen(model)[:3], [0.2, -0.05, 0.125], atol=1e-3)


def test_parts_fill_the_mesh(file):
    pytest.importorskip("coacd")
    model = hs.load(file, decompose=True)
    assert sum(ConvexHull(p).volume for p in model.geometry.points if len(p)) == pytest.approx(0.005, rel=0.02)


@pytest.mark.slow
def test_without_decomposition_the_hull_has_no_hollow(file):
    model = hs.load(file)
    assert sum(name.startswith("ell") for name in model.geometry.names) == 1
    assert np.linalg.norm(fallen(model)[:3] - [0.2, -0.05, 0.125]) > 0.02


def test_the_missing_package_is_named(file, monkeypatch):
    monkeypatch.setitem(sys.modules, "coacd", None)
    monkeypatch.setattr("hybridsim.native.cache.read", lambda key: None)
    from hybridsim.load import meshes

    meshes._parts.cache_clear()
    with pytest.raises(hs.ModelError, match=r"coacd: pip install 'hybridsim\[shapes\]'"):
        hs.load(file, decompose=True)


@pytest.mark.parametrize("value", [0, -1.0, 2.5, float("nan")])
def test_a_concavity_that_makes_no_sense_is_refused(file, value):
    with pytest.raises(hs.ModelError, match=r"decompose is .*True, False, .*0\.01"):
        hs.load(file, decompose=value)


def test_a_hull_of_many_corners_keeps_those_that_matter():
    rng = np.random.default_rng(0)
    ball = rng.normal(size=(3000, 3))
    ball /= np.linalg.norm(ball, axis=1, keepdims=True)
    kept = hull_corners(ball)
    assert len(kept) == MOST_CORNERS
    planes = ConvexHull(kept).equations
    assert np.max(ball @ planes[:, :3].T + planes[:, 3]) < 1 / 20
    cube = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
    assert len(hull_corners(np.concatenate([cube, 0.5 * ball]))) == 8
