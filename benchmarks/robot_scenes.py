"""Robots from their makers' own files, falling onto a floor and moving on it.

Five of gymnasium's, as MuJoCo is given them there, and quadrupeds of example-robot-data with the collision shapes of their
URDF. Only the floor touches; no robot touches itself.
"""

import tempfile
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import mujoco
import numpy as np
from model_mjcf import mjcf
from touching_scenes import DT, STEPS, Scene, gymnasium_file, robot_file

import hybridsim as hs

GAP = 0.01
"""Between the lowest shape and the floor at the start [m]."""
GYMNASIUM = {
    "Hopper": ("hopper.xml", 0.2),
    "HalfCheetah": ("half_cheetah.xml", 0.3),
    "Walker2d": ("walker2d_v5.xml", 0.1),
    "Ant": ("ant.xml", 0.1),
    "Humanoid": ("humanoid.xml", 0.1),
}
"""File of the newest version of each environment, and the part of the motors' range that is used."""
ANT = np.array([0, 1, 0, -1, 0, -1, 0, 1])
"""Angles of its joints in gymnasium's start [rad]; all others start with all joints at 0."""
A1 = "a1_description/urdf/a1.urdf"
ANYMAL = "anymal_b_simple_description/robots/anymal.urdf"
A1_STANCE = np.tile([0.0, 0.8, -1.81], 4)
ANYMAL_STANCE = np.array([-0.1, 0.7, -1.0, 0.1, 0.7, -1.0, -0.1, -0.7, 1.0, 0.1, -0.7, 1.0])
"""Joint angles of "standing" in the SRDF files [rad]."""


def makers() -> dict[str, Callable[[], Scene]]:
    return {
        **{name: partial(gymnasium_robot, name) for name in GYMNASIUM},
        "Humanoid, Newton": partial(gymnasium_robot, "Humanoid", newton=True),
        "A1": partial(quadruped, "A1", A1, A1_STANCE, 100.0),
        "ANYmal": partial(quadruped, "ANYmal", ANYMAL, ANYMAL_STANCE, 300.0),
        "A1, feet only": partial(quadruped, "A1, feet only", A1, A1_STANCE, 100.0, touching="*foot*"),
    }


def gymnasium_robot(name: str, newton: bool = False) -> Scene:
    """The file with Euler's method, our step, and contact with the floor only; both engines read the same text.

    With `newton` MuJoCo solves by its default method, which is faster than the one that the Humanoid's file asks for.
    """
    file, effort = GYMNASIUM[name]
    spec = mujoco.MjSpec.from_file(str(gymnasium_file(file)))
    if newton:
        spec.option.solver, spec.option.iterations = mujoco.mjtSolver.mjSOL_NEWTON, 100
    text = _floor_only(spec)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", hs.ModelWarning)  # of tendons that do nothing
        path = Path(folder) / file
        path.write_text(text)
        model = hs.load(path, self_collision=False)
    engine = mujoco.MjModel.from_xml_string(text)
    q = engine.qpos0.copy()
    if name == "Ant":
        q[7:] = ANT
    title = f"{name}, Newton" if newton else name
    scene = Scene(title, model, text, q, np.zeros(engine.nv), _controls(engine, effort))
    return replace(scene, q=scene.lifted(GAP - _lowest(engine, q)))


def quadruped(name: str, file: str, stance: np.ndarray, stiffness: float, touching: str = "*") -> Scene:
    """A robot of a URDF that falls in its stance, tilted, its joints held there by springs and dampers.

    `touching`: a pattern of the links whose shapes touch the floor.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hs.ModelWarning)  # of inertias that no body has
        robot = hs.load(robot_file(file), base="free")
    joints = robot.joints
    legs = np.arange(robot.nv) >= 6
    spring_rest = joints.spring_rest.copy()
    spring_rest[7:] = stance
    held = replace(joints, stiffness=stiffness * legs, damping=0.02 * stiffness * legs, spring_rest=spring_rest)
    model = hs.with_contacts(hs.world(replace(robot, joints=held), hs.ground(friction=0.8)), [(touching, "ground")])
    q, qd = model.rest()
    q[3:7] = np.array([1.0, 0.1, 0.05, 0.0]) / np.linalg.norm([1.0, 0.1, 0.05, 0.0])
    q[7:] = stance
    text = mjcf(model, DT, contact=True)
    scene = Scene(name, model, text, q, qd)
    return replace(scene, q=scene.lifted(GAP - _lowest(scene.mujoco.model, q)))


def _floor_only(spec: mujoco.MjSpec) -> str:
    spec.option.timestep, spec.option.integrator = DT, mujoco.mjtIntegrator.mjINT_EULER
    for geom in spec.geoms:
        is_floor = geom.type == mujoco.mjtGeom.mjGEOM_PLANE
        geom.contype, geom.conaffinity = (0, 1) if is_floor else (1, 0)
    if (total := spec.compiler.settotalmass) > 0:
        # MuJoCo warns of this option, so densities say the same.
        spec.compiler.settotalmass = -1
        scale = total / spec.compile().body_mass.sum()
        for geom in spec.geoms:
            geom.density *= scale
    return spec.to_xml()


def _lowest(model: mujoco.MjModel, q: np.ndarray) -> float:
    """Distance of the lowest shape from the floor [m]."""
    data = mujoco.MjData(model)
    data.qpos[:] = q
    mujoco.mj_forward(model, data)
    planes = model.geom_type == mujoco.mjtGeom.mjGEOM_PLANE
    floor, shapes = np.flatnonzero(planes)[0], np.flatnonzero(~planes)
    return min(mujoco.mj_geomDistance(model, data, shape, floor, 100.0, None) for shape in shapes)


def _controls(model: mujoco.MjModel, effort: float) -> np.ndarray:
    """Every motor swings by this part of its range, each with its own phase."""
    t = DT * np.arange(STEPS)[:, None]
    return effort * model.actuator_ctrlrange[:, 1] * np.sin(2 * np.pi * 1.5 * t + 0.8 * np.arange(model.nu))
