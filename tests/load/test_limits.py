"""Robot files that would fill the memory, or never end, are refused in a sentence."""

import os
import zipfile
from pathlib import Path

import pytest

import hybridsim as hs
from hybridsim.load import limits

BODY = "<body><joint/><geom size='1'/></body>"


def mjcf(path: Path, inside: str, head: str = "") -> Path:
    path.write_text(f"<mujoco>{head}<worldbody>{inside}</worldbody></mujoco>")
    return path


def refused(path: Path, words: str) -> None:
    with pytest.raises(hs.ModelError, match=words):
        hs.load(path)


@pytest.mark.parametrize(
    "inside",
    [
        f"<replicate count='1000000000' offset='0 0 1'>{BODY}</replicate>",
        f"<replicate count='1000'><replicate count='1000'>{BODY}</replicate></replicate>",
        "<body><flexcomp name='f' type='grid' count='1000 1000 1000' spacing='1 1 1' mass='1' dim='3'/></body>",
        "<composite type='particle' count='1000 1000 1000' spacing='1'><geom size='1'/></composite>",
    ],
)
def test_copies_without_end(inside, tmp_path):
    refused(mjcf(tmp_path / "robot.xml", inside), r"robot\.xml, line 1: <.*> makes \d+ elements or more")


def test_copies_of_included_files_count(tmp_path):
    (tmp_path / "part.xml").write_text(f"<mujoco>{BODY * 500}</mujoco>")
    refused(
        mjcf(tmp_path / "robot.xml", "<replicate count='1000'><include file='part.xml'/></replicate>"),
        "<include> makes .* elements or more",
    )


@pytest.mark.parametrize(
    "head",
    [
        "<asset><hfield name='h' nrow='100000' ncol='100000' size='1 1 1 1'/></asset>",
        "<custom><numeric name='n' size='2000000000'/></custom>",
        "<size nuser_body='2000000000'/>",
        "<size nuserdata='99999999999999999999999999'/>",
    ],
)
def test_arrays_of_which_only_the_size_is_given(head, tmp_path):
    refused(mjcf(tmp_path / "robot.xml", BODY, head), r"robot\.xml, line 1: <\w+> asks for \d+ numbers")


def test_too_many_links_and_shapes(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "MOST_LINKS", 3)
    refused(mjcf(tmp_path / "robot.xml", BODY * 4), "it has 4 links, and at most 3")
    monkeypatch.setattr(limits, "MOST_SHAPES", 1)
    refused(mjcf(tmp_path / "robot.xml", BODY * 2), "it has 2 collision shapes, and at most 1")


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/dev/zero"), Path.mkdir])
def test_what_is_no_file(make, tmp_path):
    make(tmp_path / "robot.urdf")
    refused(tmp_path / "robot.urdf", r"robot\.urdf: it cannot be read, as it is a (pipe|device|folder)")


def test_a_large_file(tmp_path):
    with (tmp_path / "robot.urdf").open("wb") as file:
        file.truncate(limits.LARGEST_XML + 1)
    refused(tmp_path / "robot.urdf", "has 33.6 MB; at most 33.6 MB are read")


def test_deep_xml(tmp_path):
    refused(mjcf(tmp_path / "robot.xml", "<body>" * 100_000 + "</body>" * 100_000), "broken XML: .*depth")


LAUGHS = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 10))


def test_entities_that_multiply(tmp_path):
    path = tmp_path / "robot.urdf"
    path.write_text(f'<!DOCTYPE r [<!ENTITY l0 "ha">{LAUGHS}]><robot name="&l9;"><link name="a"/></robot>')
    refused(path, "entit")


def urdf_with(mesh: str) -> str:
    shape = f'<collision><geometry><mesh filename="{mesh}"/></geometry></collision>'
    inertia = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    return f'<robot name="r"><link name="a"><inertial><mass value="1"/>{inertia}</inertial>{shape}</link></robot>'


def zip_bomb(path: Path) -> None:
    """268 MB in 0.3 MB."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file, file.open("mesh.stl", "w") as entry:
        for _ in range(256):
            entry.write(bytes(2**20))


def large(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(limits.LARGEST_MESH + 1)


def empty_arrays(path: Path) -> None:
    path.write_text('{"asset": {"version": "2.0"}, "accessors": [{"count": 10000000000, "type": "VEC3"}]}')


@pytest.mark.parametrize(
    ("name", "make", "words"),
    [
        ("mesh.zip", zip_bomb, "has 268 MB when unpacked, at most 200 MB"),
        ("mesh.3mf", zip_bomb, "has 268 MB when unpacked"),
        ("mesh.stl", large, "has 200 MB; at most"),
        ("mesh.gltf", empty_arrays, "its arrays have 10000000000 rows"),
        ("mesh.tar.gz", lambda path: path.write_bytes(b"\x1f\x8b"), "is compressed"),
    ],
)
def test_meshes(name, make, words, tmp_path):
    make(tmp_path / name)
    (tmp_path / "robot.urdf").write_text(urdf_with(name))
    refused(tmp_path / "robot.urdf", words)


@pytest.mark.parametrize(("make", "words"), [(large, "has 200 MB"), (os.mkfifo, "is a pipe")])
def test_meshes_of_mjcf(make, words, tmp_path):
    (tmp_path / "meshes").mkdir()
    make(tmp_path / "meshes" / "a.stl")
    head = "<compiler meshdir='meshes'/><asset><mesh name='a' file='a.stl'/></asset>"
    refused(mjcf(tmp_path / "robot.xml", "<body><joint/><geom type='mesh' mesh='a'/></body>", head), words)


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/dev/zero")])
def test_a_mesh_that_is_no_file_is_left_out(make, tmp_path):
    make(tmp_path / "mesh.stl")
    (tmp_path / "robot.urdf").write_text(urdf_with("mesh.stl"))
    with pytest.warns(hs.ModelWarning, match="not found"):
        hs.load(tmp_path / "robot.urdf")


def test_a_mesh_whose_header_lies_is_left_out(tmp_path):
    (tmp_path / "mesh.stl").write_bytes(bytes(80) + (2**32 - 1).to_bytes(4, "little") + bytes(100))
    (tmp_path / "robot.urdf").write_text(urdf_with("mesh.stl"))
    with pytest.warns(hs.ModelWarning, match="1 collision meshes are left out"):
        hs.load(tmp_path / "robot.urdf")
