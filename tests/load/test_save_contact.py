"""Numbers of contact in files: what a format can hold comes back, in our loader and in MuJoCo; what it cannot is named."""

import warnings
from dataclasses import replace

import jax
import mujoco
import numpy as np
import pytest
import trimesh
from lxml import etree

import hybridsim as hs
from hybridsim.identify import Parameters
from hybridsim.load.mjcf_pairs import put_pairs
from hybridsim.load.pair_friction import shape_friction

SCENE = """<mujoco>
  <default><default class="slick"><geom friction="0.7 0.01 0.001"/></default></default>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 0.1" friction="1 0.005 0.0001" contype="3" conaffinity="3"/>
    <geom name="wall" type="plane" size="5 5 0.1" pos="2 0 0" zaxis="-1 0 0" contype="3" conaffinity="3"/>
    <body name="cube" pos="0 0 1">
      <freejoint/>
      <geom name="cube" type="box" size="0.05 0.05 0.05" class="slick"/>
    </body>
    <body name="rod" pos="0 1 1">
      <freejoint/>
      <geom name="rod" type="capsule" fromto="0 0 -0.1 0 0 0.1" size="0.03" condim="1" contype="2" conaffinity="2"/>
    </body>
  </worldbody>
</mujoco>"""


@pytest.fixture
def scene(tmp_path):
    file = tmp_path / "scene.xml"
    file.write_text(SCENE)
    return file


def load(path, **options) -> hs.Model:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="shapes that will pass through each other")
        return hs.load(path, **options)


def frictions(model: hs.Model) -> dict[str, float]:
    names = model.geometry.names
    pairs = (f"{names[a]}/{names[b]}" for a, b in model.contacts.pairs)
    return dict(zip(pairs, map(float, model.contacts.friction), strict=True))


def with_friction(model: hs.Model, **changes: float) -> hs.Model:
    """Pairs by the names of their shapes, joined by an underscore."""
    new = frictions(model) | {name.replace("_", "/"): value for name, value in changes.items()}
    return hs.with_contacts(model, friction=np.array(list(new.values())))


def in_mujoco(path, first: str, second: str) -> float:
    """The sliding friction that MuJoCo gives two geoms that are put into each other."""
    spec = mujoco.MjSpec.from_file(str(path))
    for geom in spec.geoms:
        if geom.name not in (first, second):
            geom.contype = geom.conaffinity = 0
    model = spec.compile()
    data = mujoco.MjData(model)
    for j in range(model.njnt):
        data.qpos[model.jnt_qposadr[j] : model.jnt_qposadr[j] + 3] = 1.98, 0.0, 0.03
    mujoco.mj_forward(model, data)
    assert data.ncon
    assert {model.geom(g).name for c in data.contact for g in c.geom} == {first, second}
    return float(data.contact[0].friction[0])


class TestFrictionInMjcf:
    def test_a_fitted_pair_comes_back(self, scene, tmp_path):
        model = with_friction(load(scene), cube_floor=0.18)
        hs.save(model, tmp_path / "out.xml", like=scene)
        again = load(tmp_path / "out.xml")
        assert frictions(again) == pytest.approx(frictions(model), abs=0)
        assert frictions(again)["cube/floor"] == 0.18
        assert in_mujoco(tmp_path / "out.xml", "cube", "floor") == 0.18
        assert in_mujoco(tmp_path / "out.xml", "cube", "wall") == pytest.approx(frictions(model)["cube/wall"])
        # The other coefficients, of spinning and rolling, stay.
        assert 'friction="0.18 0.005 0.0001"' in (tmp_path / "out.xml").read_text()

    @pytest.mark.parametrize("seed", range(6))
    def test_whatever_shapes_can_say(self, scene, tmp_path, seed):
        """Frictions that are the larger of two, in random order of size, however far from those of the file."""
        model, rng = load(scene), np.random.default_rng(seed)
        own = dict(zip(model.geometry.names, rng.uniform(0.05, 1.5, 4), strict=True))
        model = with_friction(
            model, **{p.replace("/", "_"): max(own[x] for x in p.split("/")) for p in frictions(model)}
        )
        hs.save(model, tmp_path / "out.xml", like=scene)  # a warning would be an error
        again = load(tmp_path / "out.xml")
        assert frictions(again) == frictions(model)
        for pair, value in frictions(model).items():
            if "rod" not in pair:
                assert in_mujoco(tmp_path / "out.xml", *pair.split("/")) == pytest.approx(value, rel=1e-12)

    def test_a_contact_without_friction_gets_one(self, scene, tmp_path):
        """The rod has contact dimension 1; beside a floor without friction it has to be 3 to have any."""
        text = SCENE.replace('size="5 5 0.1"', 'size="5 5 0.1" condim="1"').replace(
            'size="0.03"', 'size="0.03" friction="0"'
        )
        scene.write_text(text)
        model = load(scene)
        assert frictions(model)["rod/floor"] == 0
        model = with_friction(model, rod_floor=0.4)
        hs.save(model, tmp_path / "out.xml", like=scene)
        assert frictions(load(tmp_path / "out.xml")) == frictions(model)
        assert in_mujoco(tmp_path / "out.xml", "rod", "floor") == 0.4

    def test_what_no_shapes_can_say_is_said_of_pairs(self, scene, tmp_path):
        """Each of three shapes would have to be both rough and slick."""
        model = with_friction(load(scene), cube_floor=0.9, rod_floor=0.1, cube_wall=0.2, rod_wall=0.9)
        hs.save(model, tmp_path / "out.xml", like=scene)
        assert frictions(load(tmp_path / "out.xml")) == frictions(model)
        hs.save(load(tmp_path / "out.xml"), tmp_path / "again.xml", like=tmp_path / "out.xml")
        assert (tmp_path / "again.xml").read_text() == (tmp_path / "out.xml").read_text()

    def test_what_no_pair_can_say_is_named(self, scene, tmp_path):
        """A <pair> needs names of geoms, and has no restitution."""
        scene.write_text(scene.read_text().replace('name="rod"', "", 1).replace('name="wall"', "", 1))
        model = load(scene)
        slick = np.array([0.9, 0.1, 0.2, 0.9, 0.3, 0.8][: len(model.contacts.pairs)])
        model = hs.with_contacts(model, friction=slick, restitution=0.3)
        with pytest.warns(hs.ModelWarning, match="MJCF cannot hold") as caught:
            hs.save(model, tmp_path / "out.xml", like=scene)
        said = str(caught[0].message)
        lost = [pair for pair, mu in frictions(load(tmp_path / "out.xml")).items() if mu != frictions(model)[pair]]
        assert lost
        assert said.count("/friction") == len(lost)
        assert said.count("/restitution") == len(model.contacts.pairs)

    def test_a_mesh(self, tmp_path):
        trimesh.creation.box((0.1, 0.1, 0.1)).export(tmp_path / "box.stl")
        (tmp_path / "scene.xml").write_text(
            '<mujoco><asset><mesh name="box" file="box.stl"/></asset><worldbody><geom name="floor" type="plane" '
            'size="1 1 1"/><body name="b" pos="0 0 1"><freejoint/><geom name="mesh" type="mesh" mesh="box"/></body>'
            "</worldbody></mujoco>"
        )
        model = with_friction(hs.load(tmp_path / "scene.xml"), mesh_floor=0.25)
        hs.save(model, tmp_path / "out.xml", like=tmp_path / "scene.xml")
        assert frictions(hs.load(tmp_path / "out.xml")) == {"mesh/floor": 0.25}
        moved = replace(model, geometry=replace(model.geometry, position=model.geometry.position + 0.01))
        with pytest.warns(hs.ModelWarning, match=r"others: shape/mesh/position$"):
            hs.save(moved, tmp_path / "out.xml", like=tmp_path / "scene.xml")

    def test_an_added_ground_is_named(self, scene, tmp_path):
        model = hs.world(load(scene), hs.ground(-1.0))
        with pytest.warns(hs.ModelWarning, match="cannot hold.*shape/ground"):
            hs.save(model, tmp_path / "out.xml", like=scene)


def test_pairs_of_their_own(scene):
    """As MuJoCo reads them; what is there already keeps its other numbers."""
    text = SCENE.replace(
        "</mujoco>", '<contact><pair geom1="rod" geom2="floor" friction="1 1 0.3 0 0"/></contact></mujoco>'
    )
    root, model = etree.fromstring(text), mujoco.MjModel.from_xml_string(text)
    put_pairs(root, model, {("cube", "floor"): 0.18, ("rod", "floor"): 0.4})
    theirs = mujoco.MjModel.from_xml_string(etree.tostring(root).decode())
    friction = {
        frozenset(theirs.geom(g).name for g in (theirs.pair_geom1[i], theirs.pair_geom2[i])): theirs.pair_friction[i]
        for i in range(theirs.npair)
    }
    np.testing.assert_array_equal(friction[frozenset(("rod", "floor"))], [0.4, 0.4, 0.3, 0, 0])
    np.testing.assert_array_equal(friction[frozenset(("cube", "floor"))], [0.18, 0.18, 0.01, 0.001, 0.001])


class TestShapesInMjcf:
    def test_sizes_and_poses(self, scene, tmp_path):
        model = load(scene)
        g, rng = model.geometry, np.random.default_rng(0)
        turned = g.quaternion + 0.1 * rng.standard_normal(g.quaternion.shape)
        geometry = replace(
            g,
            size=g.size * rng.uniform(0.8, 1.2, g.size.shape),
            position=g.position + rng.normal(0, 0.1, g.position.shape),
            quaternion=turned / np.linalg.norm(turned, axis=1, keepdims=True),
        )
        hs.save(replace(model, geometry=geometry), tmp_path / "out.xml", like=scene)
        again = load(tmp_path / "out.xml").geometry
        for field in ("size", "position", "quaternion"):
            np.testing.assert_allclose(getattr(again, field), getattr(geometry, field), rtol=1e-12, atol=1e-14)
        theirs = mujoco.MjModel.from_xml_path(str(tmp_path / "out.xml"))
        for i, name in enumerate(geometry.names):
            np.testing.assert_allclose(theirs.geom(name).pos, geometry.position[i], rtol=1e-12, atol=1e-14)
            sizes = np.count_nonzero(geometry.size[i])
            np.testing.assert_allclose(theirs.geom(name).size[:sizes], geometry.size[i, :sizes], rtol=1e-12)

    @pytest.mark.parametrize(("row", "kept"), [((3, 0), True), ((3, 1), False)])
    def test_a_capsule_between_two_points(self, scene, tmp_path, row, kept):
        """A radius leaves the points; a length does not fit them any more."""
        model = load(scene)
        assert model.geometry.names[3] == "rod"
        size = np.array(model.geometry.size)
        size[row] = 0.07
        hs.save(replace(model, geometry=replace(model.geometry, size=size)), tmp_path / "out.xml", like=scene)
        assert ("fromto" in (tmp_path / "out.xml").read_text()) == kept
        np.testing.assert_allclose(load(tmp_path / "out.xml").geometry.size, size, rtol=1e-12)


def test_shapes_change_only_where_they_must():
    """a and b touch the floor, c: a lower value of one pair is that of its own shape and of the floor."""
    before = np.array([0.5, 0.5, 0.5])
    alone = [0, 0, 0]
    assert shape_friction([(0, 2, 0.5), (1, 2, 0.5)], before, (0, 1, 2), alone).tolist() == [0.5, 0.5, 0.5]
    assert shape_friction([(0, 2, 0.8), (1, 2, 0.5)], before, (0, 1, 2), alone).tolist() == [0.8, 0.5, 0.5]
    assert shape_friction([(0, 2, 0.3), (1, 2, 0.5)], before, (0, 1, 2), alone).tolist() == [0.3, 0.5, 0.3]


ROBOT = """<robot name="r">
  <link name="world">
    <collision><geometry><box size="4 4 0.1"/></geometry></collision>
  </link>
  <link name="cube">
    <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>
    <collision><geometry><box size="0.1 0.1 0.1"/></geometry></collision>
    <collision><origin xyz="0 0 0.2"/><geometry><sphere radius="0.1"/></geometry></collision>
  </link>
  <link name="ball">
    <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>
    <contact><lateral_friction value="0.8"/></contact>
    <collision><origin xyz="0 0 0.2"/><geometry><sphere radius="0.1"/></geometry></collision>
  </link>
  <joint name="a" type="floating"><parent link="world"/><child link="cube"/></joint>
  <joint name="b" type="floating"><parent link="world"/><child link="ball"/></joint>
</robot>"""


class TestFrictionInUrdf:
    @pytest.fixture
    def robot(self, tmp_path):
        file = tmp_path / "robot.urdf"
        file.write_text(ROBOT)
        return file

    def test_it_is_read(self, robot):
        model = hs.load(robot)
        assert dict(zip(model.geometry.names, model.geometry.friction, strict=True)) == {
            "world/box": 0.5,
            "cube/box": 0.5,
            "cube/sphere": 0.5,
            "ball/sphere": 0.8,
        }

    def test_a_fitted_pair_comes_back(self, robot, tmp_path):
        model = hs.load(robot)
        wanted = {name: 0.9 if "ball" in name else 0.3 for name in frictions(model)}
        model = hs.with_contacts(model, friction=np.array(list(wanted.values())))
        hs.save(model, tmp_path / "out.urdf", like=robot)
        assert frictions(hs.load(tmp_path / "out.urdf")) == wanted
        text = (tmp_path / "out.urdf").read_text()
        assert '<contact><lateral_friction value="0.9"/></contact>' in text
        assert text.count("lateral_friction") == 3

    def test_what_it_cannot_hold_is_named(self, robot, tmp_path):
        """Two shapes of one link have one friction."""
        model = hs.load(robot)
        wanted = {name: 0.2 if "cube/box" in name else 0.6 for name in frictions(model)}
        model = hs.with_contacts(model, friction=np.array(list(wanted.values())), restitution=0.4)
        with pytest.warns(hs.ModelWarning, match="URDF cannot hold") as caught:
            hs.save(model, tmp_path / "out.urdf", like=robot)
        said, again = str(caught[0].message), frictions(hs.load(tmp_path / "out.urdf"))
        a_b = [tuple(model.geometry.names[i] for i in pair) for pair in model.contacts.pairs]
        for (a, b), value in zip(a_b, wanted.values(), strict=True):
            assert (f"contact/{a} with {b}/friction" in said) == (again[f"{a}/{b}"] != value)
            assert f"contact/{a} with {b}/restitution" in said

    def test_with_an_added_ground(self, tmp_path):
        """The cube's friction is in the file; the ground is not, and that is said."""
        text = ROBOT.replace('<link name="world">', '<link name="table">').replace(
            'parent link="world"', 'parent link="table"'
        )
        (tmp_path / "robot.urdf").write_text(text)
        model = hs.world(hs.load(tmp_path / "robot.urdf"), hs.ground(-1.0))
        model = hs.with_contacts(model, friction=np.full(len(model.contacts.pairs), 0.9))
        with pytest.warns(hs.ModelWarning, match="others: shape/ground$"):
            hs.save(model, tmp_path / "out.urdf", like=tmp_path / "robot.urdf")
        again = hs.world(hs.load(tmp_path / "out.urdf"), hs.ground(-1.0))
        assert set(frictions(again).values()) == {0.9}

    def test_a_link_of_a_mesh(self, tmp_path):
        trimesh.creation.box((0.1, 0.1, 0.1)).export(tmp_path / "box.stl")
        mesh = '<geometry><mesh filename="box.stl"/></geometry>'
        text = ROBOT.replace('<geometry><sphere radius="0.1"/></geometry>', mesh)
        (tmp_path / "robot.urdf").write_text(text)
        model = load(tmp_path / "robot.urdf")
        geometry = replace(model.geometry, friction=np.array([0.5, 0.5, 0.5, 0.7]))
        model = hs.with_contacts(model, friction=np.where(model.contacts.friction == 0.8, 0.7, model.contacts.friction))
        hs.save(replace(model, geometry=geometry), tmp_path / "out.urdf", like=tmp_path / "robot.urdf")
        assert load(tmp_path / "out.urdf").geometry.friction[3] == 0.7
        geometry = replace(geometry, points=tuple(1.1 * points for points in geometry.points))
        with pytest.warns(hs.ModelWarning, match="shape/cube/points/points, shape/ball/points/points$"):
            hs.save(replace(model, geometry=geometry), tmp_path / "out.urdf", like=tmp_path / "robot.urdf")

    def test_a_broken_number(self, robot):
        robot.write_text(ROBOT.replace('value="0.8"', 'value="rough"'))
        with pytest.raises(hs.ModelError, match=r"link ball: value of <lateral_friction> is 'rough'; give 1 number"):
            hs.load(robot)


@pytest.mark.filterwarnings("ignore:shapes that will pass through each other")
def test_a_hybrid_file_holds_everything(tmp_path):
    """Whatever a fit may change: shapes, planes, pairs, limits, rotations of joints."""
    arm = hs.chain(2, length=0.4, lower=-0.5, upper=0.6)
    geom = hs.Geom("prism", 0.02, points=[[0.05, -0.03, 0], [0.04, 0.04, 0], [-0.05, 0.02, 0]], name="wedge")
    wedge = hs.free_body(hs.Link("wedge", 0.4, (0, 0, 0), 8e-4, (geom,)))
    model = hs.world(arm, wedge, hs.ground(0.1, normal=(0.6, 0, 0.8)))
    patterns = ["shape/*", "contact/*", "limit/*", "joint/*/position", "joint/*/rotation", "shape/wedge/outline_factor"]
    chosen = Parameters(model, patterns)
    rng = np.random.default_rng(0)
    lower, upper = (np.clip(bound, -0.5, 0.5) for bound in chosen.bounds())
    changed = chosen.model(rng.uniform(lower, upper))
    hs.save_hybrid(changed, tmp_path / "model.hybrid")
    again = hs.load_hybrid(tmp_path / "model.hybrid")
    assert jax.tree.structure(again) == jax.tree.structure(changed)
    for ours, theirs in zip(jax.tree.leaves(changed), jax.tree.leaves(again), strict=True):
        np.testing.assert_array_equal(ours, theirs)
