"""URDF files of a few words, and states to try them in."""

from pathlib import Path

import numpy as np

import hybridsim as hs


def random_state(model: hs.Model):
    """Configuration with unit quaternions, velocity, and a force or acceleration."""
    rng = np.random.default_rng(0)
    q = rng.uniform(-1, 1, model.nq)
    for name, kind in zip(model.joint_names, model.topology.kinds, strict=True):
        if kind.name == "free":
            q[model.q_of(name)][3:] /= np.linalg.norm(q[model.q_of(name)][3:])
    return q, rng.normal(size=model.nv), rng.normal(size=model.nv)


def urdf(tmp_path: Path, body: str) -> Path:
    path = tmp_path / "robot.urdf"
    path.write_text(f'<robot name="r">\n{body}\n</robot>')
    return path


def link(name: str, mass: float = 1.0, inside: str = "") -> str:
    inertia = '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
    return f'<link name="{name}"><inertial><mass value="{mass}"/>{inertia}</inertial>{inside}</link>'


def joint(name: str, parent: str, child: str, kind: str = "continuous", inside: str = "") -> str:
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'<joint name="{name}" type="{kind}">{ends}{inside}</joint>'


PAIR = link("a") + "\n" + link("b") + "\n"
