"""Distances of two shapes by MuJoCo."""

import mujoco
import numpy as np
from scipy.spatial.transform import Rotation

from contact.detect.cases import Placed


def geom(kind: str, a: Placed) -> tuple[str, str]:
    """MuJoCo's mesh, if any, and shape."""
    w = " ".join(map(repr, map(float, Rotation.from_matrix(a.pose.rotation).as_quat(scalar_first=True))))
    place = f'pos="{" ".join(map(repr, map(float, a.pose.position)))}" quat="{w}"'
    if kind in ("points", "prism"):
        ends = [[0, 0, -a.size[0]], [0, 0, a.size[0]]] if kind == "prism" else [[0, 0, 0]]
        vertices = (a.points + np.array(ends)[:, None]).ravel()
        name = f"mesh{id(a)}"
        mesh = f'<mesh name="{name}" vertex="{" ".join(map(repr, map(float, vertices)))}"/>'
        return mesh, f'<geom type="mesh" mesh="{name}" {place}/>'
    kind = "cylinder" if kind == "upright" else kind
    size = "1 1 1" if kind == "plane" else " ".join(map(repr, map(float, a.size)))
    return "", f'<geom type="{kind}" size="{size}" {place}/>'


def mujoco_distance(pair: tuple[str, str], a: Placed, b: Placed) -> float:
    (mesh_a, geom_a), (mesh_b, geom_b) = geom(pair[0], a), geom(pair[1], b)
    option = '<option ccd_tolerance="1e-12" ccd_iterations="500"/>'
    world = f"<worldbody>{geom_a}{geom_b}</worldbody>"
    model = mujoco.MjModel.from_xml_string(f"<mujoco>{option}<asset>{mesh_a}{mesh_b}</asset>{world}</mujoco>")
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return mujoco.mj_geomDistance(model, data, 0, 1, 10.0, None)
