"""Collision meshes of a URDF: where they are looked for, and what becomes of them."""

import os

import numpy as np
import pytest
import trimesh

import hybridsim as hs

from .small_urdf import link, urdf


def mesh(filename: str, attributes: str = "") -> str:
    return f'<collision><geometry><mesh filename="{filename}" {attributes}/></geometry></collision>'


def with_mesh(filename: str, attributes: str = "") -> str:
    return link("a", inside=mesh(filename, attributes))


class TestMeshes:
    @pytest.mark.parametrize("extension", ["stl", "obj", "dae"])
    def test_a_mesh_is_the_corners_of_its_hull(self, tmp_path, extension):
        box = trimesh.creation.box((2, 4, 6))
        inner = trimesh.creation.icosphere(radius=0.5)
        trimesh.util.concatenate([box, inner]).export(tmp_path / f"shape.{extension}")
        geometry = hs.load(urdf(tmp_path, with_mesh(f"shape.{extension}", 'scale="0.1 -0.1 0.2"'))).geometry
        assert geometry.shapes == ("points",)
        corners = {tuple(row) for row in np.round(geometry.points[0], 9)}
        assert corners == {(x, y, z) for x in (-0.1, 0.1) for y in (-0.2, 0.2) for z in (-0.6, 0.6)}

    def test_collada_units(self, tmp_path):
        text = trimesh.creation.box((100, 100, 100)).export(file_type="dae").decode()
        assert "<unit" not in text or 'meter="1' in text
        unit = '<unit name="centimeter" meter="0.01"/>'
        asset = text.index("</asset>")
        (tmp_path / "cube.dae").write_text(text[:asset] + unit + text[asset:])
        points = hs.load(urdf(tmp_path, with_mesh("cube.dae"))).geometry.points[0]
        np.testing.assert_allclose(np.abs(points), 0.5)

    def test_a_flat_mesh_keeps_its_points(self, tmp_path):
        square = trimesh.Trimesh([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], [[0, 1, 2], [0, 2, 3]])
        square.export(tmp_path / "flat.stl")
        assert hs.load(urdf(tmp_path, with_mesh("flat.stl"))).geometry.points[0].shape == (4, 3)

    def test_an_edited_mesh_is_read_again(self, tmp_path):
        path = urdf(tmp_path, with_mesh("shape.stl"))
        for time, size in ((1, 1.0), (2, 2.0)):
            trimesh.creation.box((size, size, size)).export(tmp_path / "shape.stl")
            os.utime(tmp_path / "shape.stl", (time, time))
            np.testing.assert_allclose(np.abs(hs.load(path).geometry.points[0]), size / 2)

    def test_missing_and_broken_meshes_are_one_warning(self, tmp_path):
        (tmp_path / "broken.stl").write_text("not a mesh")
        path = urdf(tmp_path, link("a", inside=mesh("broken.stl") + mesh("package://far/away.stl")))
        message = r"2 collision meshes are left out: broken.stl .*, package://far/away.stl \(not found\)"
        with pytest.warns(hs.ModelWarning, match=message):
            assert hs.load(path).geometry.shapes == ()

    def test_meshes_can_be_skipped(self, tmp_path):
        assert hs.load(urdf(tmp_path, with_mesh("nowhere.stl")), meshes=False).geometry.shapes == ()

    @pytest.mark.parametrize(
        ("filename", "place", "option"),
        [
            ("package://arm/mesh/cube.stl", "arm/mesh/cube.stl", None),
            ("package://arm/mesh/cube.stl", "renamed/mesh/cube.stl", None),
            ("package://arm/mesh/cube.stl", "elsewhere/arm/mesh/cube.stl", "package_dirs"),
            ("package://arm/mesh/cube.stl", "elsewhere/arm/mesh/cube.stl", "environment"),
            ("model://arm/mesh/cube.stl", "arm/mesh/cube.stl", None),
            ("../mesh/cube.stl", "arm/mesh/cube.stl", None),
            ("..\\mesh\\cube.stl", "arm/mesh/cube.stl", None),
            ("file://{folder}/with%20space/cube.stl", "with space/cube.stl", None),
            ("{folder}/anywhere/cube.stl", "anywhere/cube.stl", None),
        ],
    )
    def test_names_of_files(self, tmp_path, monkeypatch, filename, place, option):
        folder = tmp_path / ("renamed" if place.startswith("renamed") else "arm") / "urdf"
        folder.mkdir(parents=True)
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        trimesh.creation.box((1, 1, 1)).export(tmp_path / place)
        monkeypatch.setenv("ROS_PACKAGE_PATH", str(tmp_path / "elsewhere") if option == "environment" else "")
        options = {"package_dirs": [tmp_path / "elsewhere"]} if option == "package_dirs" else {}
        path = urdf(folder, with_mesh(filename.format(folder=tmp_path)))
        assert hs.load(path, **options).geometry.shapes == ("points",)
