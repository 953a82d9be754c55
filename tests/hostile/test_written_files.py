"""Names from files come back from URDF, MJCF, TOML, CSV and hybrid models as they were, or are refused in a sentence."""

import io
import tomllib
import zipfile
from dataclasses import replace
from xml.sax.saxutils import quoteattr

import numpy as np
import pytest

import hybridsim as hs
from hybridsim.augment.entities import exactly, matching
from hybridsim.calibrate import config_of, propose
from hybridsim.escape import in_toml
from hybridsim.identify.apparatus import Setup, perfect
from hybridsim.identify.places import matching as numbers_matching
from hybridsim.identify.places import places
from hybridsim.view.simulate import from_rest, motion_csv

from .names import CANARY, hostile_names

CONTROLS = "".join(map(chr, [*range(32), 0xFFFE, 0xFFFF])).translate({9: None, 10: None, 13: None})
"""No XML document can hold these."""
NAMES = hostile_names(1000, without=CONTROLS)


def quoted(name: str) -> str:
    return quoteattr(name, {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})


def urdf(names: list[str]) -> str:
    """Links and joints of these names, all on one base."""
    inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    parts = [
        f"<link name={quoted(name)}>{inertial}</link>"
        f'<joint type="revolute" name={quoted(name)}><parent link="base"/><child link={quoted(name)}/>'
        f'<axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>'
        for name in names
    ]
    return f'<robot name={quoted(names[0])}><link name="base"/>{"".join(parts)}</robot>'


def mjcf(names: list[str]) -> str:
    parts = [
        f"<body name={quoted(name)}><inertial pos='0 0 0' mass='1' fullinertia='1 1 1 0.1 0 0'/>"
        f"<joint name={quoted(name)} range='-1 1'/></body>"
        for name in names
    ]
    return f"<mujoco model={quoted(names[0])}><worldbody>{''.join(parts)}</worldbody></mujoco>"


@pytest.mark.parametrize("count", [200, pytest.param(1000, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("ending", "text"), [("urdf", urdf), ("xml", mjcf)])
def test_names_survive_loading_and_saving(ending, text, count, tmp_path):
    path = tmp_path / f"robot.{ending}"
    path.write_text(text(NAMES[:count]), encoding="utf-8")
    model = hs.load(path)
    assert set(NAMES[:count]) <= set(model.joint_names)
    assert set(NAMES[:count]) <= set(model.link_names)
    heavier = scaled(model)
    hs.save(heavier, tmp_path / f"again.{ending}", like=path)
    again = hs.load(tmp_path / f"again.{ending}")
    assert again.joint_names == model.joint_names
    assert again.link_names == model.link_names
    np.testing.assert_allclose(again.links.inertia, heavier.links.inertia, rtol=1e-12, atol=1e-14)


def scaled(model: hs.Model) -> hs.Model:
    """All masses and inertias doubled, which rewrites the start tags of all links."""
    links = replace(model.links, mass=2 * model.links.mass, inertia=2 * model.links.inertia)
    return replace(model, links=links)


@pytest.mark.parametrize("name", ["", "\x01", "a\x1bb", "\x00"])
def test_names_that_no_xml_can_hold_are_refused(name, tmp_path):
    path = tmp_path / "robot.urdf"
    path.write_text(urdf([name]), encoding="utf-8")
    with pytest.raises(hs.ModelError, match=r"robot\.urdf.*line|no name"):
        hs.load(path)


def test_a_name_that_looks_like_an_attribute_is_left_alone(tmp_path):
    name = "a fullinertia='9 9 9 0 0 0' quat='0 1 0 0' mass='7'"
    path = tmp_path / "robot.xml"
    inertial = "<inertial pos='0 0 0' mass='1' quat='1 1 0 0' diaginertia='1 1 1'/>"
    body = f'<body name="{name}">{inertial}<joint name="{name}"/></body>'
    path.write_text(f"<mujoco><worldbody>{body}</worldbody></mujoco>")
    model = scaled(hs.load(path))
    hs.save(model, tmp_path / "again.xml", like=path)
    again = hs.load(tmp_path / "again.xml")
    assert again.joint_names == (name,)
    np.testing.assert_allclose(again.links.mass, [2.0])


def test_a_thousand_names_in_toml():
    text = "\n".join(f"{in_toml(name)} = {in_toml(name)}" for name in NAMES)
    assert tomllib.loads(text) == {name: name for name in NAMES}
    for name in hostile_names(1000):
        assert tomllib.loads(f"x = {in_toml(name)}") == {"x": name}
    with pytest.raises(ValueError, match="not valid Unicode"):
        in_toml("run\udcff.csv")


@pytest.fixture
def robot(tmp_path):
    names = [name for name in NAMES if len(name) < 50][:60]
    path = tmp_path / 'robot"\n.urdf'
    path.write_text(urdf(names), encoding="utf-8")
    return path, names


@pytest.mark.parametrize("known", [True, False])
def test_a_proposal_for_hostile_names_says_no_more_than_it_should(robot, known, tmp_path):
    """Whether or not columns are recognised: names of columns, links, joints and files stand in strings and comments."""
    path, names = robot
    t = np.linspace(0, 4, 401)
    columns = {
        f"{name}.position" if known else f"{name}\n{CANARY} = {i}": np.sin(t + i) for i, name in enumerate(names)
    }
    log = tmp_path / "run\n[network].npz"
    write_npz(log, {"time": t} | columns)
    text = propose(path, [log], folder=tmp_path)
    given = tomllib.loads(text)
    assert list(given) == ["model", "logs", "fit", "discover", "network", "validate"]
    assert given["model"] == {"file": 'robot"\n.urdf', "base": "fixed"}
    assert given["logs"]["training"] == ["run\n[network].npz"]
    assert set(given["logs"]["columns"]) == {f"{name}.position" for name in names}
    assert set(given["network"]) == {"train", "hidden"}
    assert set(given["logs"]["columns"].values()) <= {*columns, "?"}
    config = config_of(text, tmp_path)
    assert config.model_file == path


def test_proposed_paths_name_one_link_each(robot, tmp_path):
    path, names = robot
    log = tmp_path / "run.npz"
    write_npz(log, {"time": np.arange(300) / 100.0} | {f"{name}.position": np.zeros(300) for name in names})
    free = [entry["path"] for entry in tomllib.loads(propose(path, [log], folder=tmp_path))["fit"]["free"]]
    model = hs.load(path)
    known = places(Setup(model, perfect(model, model.nv)))
    found = [place.path for entry in free for place in numbers_matching(known, entry)]
    assert len(found) == len(free)
    assert set(found) >= {f"joint/{name}/damping" for name in names}


def write_npz(path, arrays) -> None:
    """np.savez takes names as keyword arguments and makes paths of them; any name is allowed in a zip."""
    with zipfile.ZipFile(path, "w") as file:
        for name, array in arrays.items():
            content = io.BytesIO()
            np.save(content, array)
            file.writestr(zipfile.ZipInfo(f"{name}.npy"), content.getvalue())


def test_entities_can_be_named_exactly():
    for name in [*NAMES, "a, b", " a", "a ", "[x]", "*", "a[,]b"]:
        others = [other for other in NAMES[:50] if other != name]
        assert matching([*others, name], exactly([name])) == [name]
    assert matching(NAMES, exactly(NAMES)) == NAMES
    assert exactly(["joint1", "joint2"]) == "joint1,joint2"


def test_a_motion_is_read_again_by_its_columns(tmp_path):
    names = ["a, b", "with blank", "p=1;q"]
    links = [hs.Link(f"link{i}", 1.0, (0, 0, 0), (0.1, 0.1, 0.1)) for i in range(len(names))]
    joints = [hs.Joint(name, "revolute", "world", f"link{i}", axis=(0, 1, 0)) for i, name in enumerate(names)]
    model = hs.build(links, joints)
    path = tmp_path / "motion.csv"
    path.write_text(motion_csv(from_rest(model, (0.1, 0.2, 0.3), 0.05, 0.01, False)))
    with pytest.warns(hs.DataWarning, match="a dead channel"):
        log = hs.read_log(path, model)
    np.testing.assert_allclose(log.q[0], [0.1, 0.2, 0.3])


def test_a_motion_whose_names_have_line_breaks_is_refused():
    link = hs.Link("link", 1.0, (0, 0, 0), (0.1, 0.1, 0.1))
    model = hs.build([link], [hs.Joint("a\nb", "revolute", "world", "link", axis=(0, 1, 0))])
    with pytest.raises(hs.ModelError, match=r"'a\\nb.position' has a line break"):
        motion_csv(from_rest(model, (), 0.05, 0.01, False))


def test_hybrid_models_keep_hostile_names(tmp_path):
    names = hostile_names(1000)
    links = [hs.Link(name, 1.0, (0, 0, 0), (0.1, 0.1, 0.1)) for name in names]
    joints = [hs.Joint(name, "revolute", "world", name, axis=(0, 1, 0)) for name in names]
    model = hs.build(links, joints)
    hs.save_hybrid(model, tmp_path / "model.hybrid")
    again = hs.load_hybrid(tmp_path / "model.hybrid")
    assert again.joint_names == model.joint_names
