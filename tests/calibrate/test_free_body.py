"""The main job with a body that is tossed: what is proposed for it, and friction and restitution by trying."""

from pathlib import Path

import numpy as np
import pytest

import hybridsim as hs
from data.log.tosses import URDF, toss, written
from hybridsim.calibrate import config_of, propose
from hybridsim.calibrate.contact_search import tried_contact
from hybridsim.calibrate.load import bench_of
from hybridsim.calibrate.world import FloorSetting, world_of
from hybridsim.data import DataError
from hybridsim.identify import prepare

HEIGHT = 0.4


@pytest.fixture(scope="module")
def tosses(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("tosses")
    (folder / "brick.urdf").write_text(URDF)
    rng = np.random.default_rng(0)
    for seed in range(6):
        q = toss(seed, HEIGHT)[0]
        q[:, :3] += 2e-4 * rng.normal(size=(len(q), 3))
        written(folder / f"run{seed}.csv", q)
    return folder


def proposed(folder: Path, **options) -> str:
    return propose(folder / "brick.urdf", sorted(folder.glob("run*.csv")), folder=folder, **options)


def test_a_urdf_whose_logs_are_poses_floats_on_the_floor_that_they_show(tosses):
    text = proposed(tosses)
    config = config_of(text, tosses)
    assert config.base == "free"
    assert config.floor is not None
    assert config.floor.height == pytest.approx(HEIGHT, abs=1e-3)
    assert "the logs show one: the lowest points of 6 runs come down to this height" in text
    assert [str(free.pattern) for free in config.free] == ["contact/*/friction", "contact/*/restitution"]
    assert "link/brick/mass stays 0.5 kg" in text
    assert config.effects == ("centre-of-mass", "link-inertia")
    bench = bench_of(config)
    assert bench.model.contacts.pairs
    assert bench.training[0].poses == (0,)
    np.testing.assert_array_equal(bench.model.contacts.restitution, [config.floor.restitution])


def test_what_is_asked_for_is_not_guessed(tosses):
    with pytest.raises(DataError, match=r"fit\.free is empty"):
        config_of(proposed(tosses, base="fixed"), tosses)  # a fixed brick has nothing to fit
    assert 'base = "free"' in proposed(tosses, base="free")


def test_a_robot_that_stands_stays_fixed_though_its_tool_is_filmed(tmp_path):
    (tmp_path / "arm.urdf").write_text(
        """<robot name="arm"><link name="base"/><link name="fore"><inertial><mass value="1"/>
        <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
        <joint name="elbow" type="continuous"><parent link="base"/><child link="fore"/><axis xyz="0 1 0"/></joint></robot>"""
    )
    q = toss(0)[0]
    names = "t,tool_x,tool_y,tool_z,tool_qw,tool_qx,tool_qy,tool_qz,elbow_pos"
    path = written(tmp_path / "run.csv", q, names, extra=np.sin(np.arange(len(q)) / 20)[:, None])
    assert 'base = "fixed"' in propose(tmp_path / "arm.urdf", [path], folder=tmp_path)
    still = np.tile(q[:1], (len(q), 1))
    path = written(
        tmp_path / "run.csv", still, names.replace("tool", "base"), extra=np.sin(np.arange(len(q)) / 20)[:, None]
    )
    assert 'base = "fixed"' in propose(tmp_path / "arm.urdf", [path], folder=tmp_path)


def test_logs_in_flight_show_no_floor(tosses, tmp_path):
    path = written(tmp_path / "flight.csv", toss(0, HEIGHT)[0][:15])
    text = propose(tosses / "brick.urdf", [path], folder=tmp_path)
    config = config_of(text, tmp_path)
    assert config.floor is None
    assert [free.pattern for free in config.free] == ["link/brick/com"]
    assert "# [floor]" in text
    assert "the logs show none" in text


def test_millimetres_are_proposed(tosses, tmp_path):
    q = toss(0, HEIGHT)[0]
    q[:, :3] *= 1e3
    config = config_of(propose(tosses / "brick.urdf", [written(tmp_path / "mm.csv", q)], folder=tmp_path), tmp_path)
    assert dict(config.units) == {f"root.position.{axis}": "mm" for axis in "xyz"}
    assert config.floor is not None
    assert config.floor.height == pytest.approx(HEIGHT, abs=1e-3)


@pytest.mark.parametrize(
    ("section", "words"),
    [
        ("[floor]\nfriction = 0.3", "has no height"),
        ("[floor]\nheight = 0.1\nfriction = -1", "floor.friction"),
        ("[floor]\nheight = 0.1\nrestitution = 1.5", "floor.restitution"),
        ("[floor]\nheigth = 0.1", "did you mean 'height'"),
    ],
)
def test_floors_that_cannot_be(section, words):
    text = f'[model]\nfile = "a.urdf"\n[logs]\ntraining = ["a.csv"]\n[fit]\nfree = ["link/*/mass"]\n{section}\n'
    with pytest.raises(DataError, match=words):
        config_of(text, Path())


def test_a_floor_gives_its_numbers_to_its_own_pairs_only(tosses):
    model = world_of(tosses / "brick.urdf", "free", FloorSetting(0.2, friction=0.7))
    np.testing.assert_array_equal(model.contacts.friction, [0.7])
    np.testing.assert_array_equal(model.contacts.restitution, [0.0])
    assert model.geometry.position[-1][2] == 0.2


@pytest.mark.slow
def test_friction_and_restitution_are_found_by_trying(tosses):
    config = config_of(proposed(tosses), tosses)
    bench = bench_of(config)
    problem = prepare(
        bench.model, list(bench.training), list(config.free), window=0.2, dt=bench.dt, substeps=bench.substeps,
        integrator=hs.SemiImplicitEuler(), contact=bench.contact,
    )  # fmt: skip
    z = tried_contact(problem, 0.1)
    friction, restitution = problem.parameters.values(z)
    assert friction == pytest.approx(0.3, abs=0.06)
    assert restitution == pytest.approx(0.2, abs=0.12)
