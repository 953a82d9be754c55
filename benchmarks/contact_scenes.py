"""Mechanisms that touch the floor, as MJCF that MuJoCo and we read alike, and what a step of each costs MuJoCo.

python benchmarks/contact_scenes.py

Only the floor touches: its `conaffinity` meets the `contype` of those shapes that may. Solver settings are MuJoCo's own.
"""

import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np
from measure import Effort, in_rounds
from rivals import MuJoCo
from tables import machine, table

import hybridsim as hs

CONES = ("pyramidal", "elliptic")
"""MuJoCo's own choice first."""


@dataclass(frozen=True)
class Scene:
    """A mechanism over a floor, how it starts and what it is told."""

    name: str
    body: str
    """MJCF between the outermost tags, without <option>."""
    q: np.ndarray
    qd: np.ndarray
    """As ours: of a free joint angular, then linear, in the body."""
    dt: float
    steps: int
    controls: np.ndarray | None = None
    """Commands of the actuators, one row a step; None where there is no actuator."""

    def mjcf(self, cone: str = CONES[0]) -> str:
        option = f'<option timestep="{self.dt!r}" cone="{cone}" integrator="Euler"/>'
        return f'<mujoco><compiler angle="radian" autolimits="true"/>{option}{self.body}</mujoco>'

    def load(self) -> hs.Model:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "scene.xml"
            path.write_text(self.mjcf())
            return hs.load(path, self_collision=False)

    def mujoco(self, cone: str = CONES[0]) -> Callable[[], np.ndarray]:
        """A whole rollout by MuJoCo's C loop on one thread: positions after each step."""
        return MuJoCo(self.mjcf(cone)).rollout(self.q, self.qd, self.steps, controls=self.controls)

    def contacts(self, cone: str = CONES[0]) -> tuple[float, float]:
        """Means over the rollout: how many contacts MuJoCo finds, and how many iterations its solver takes."""
        engine = MuJoCo(self.mjcf(cone))
        model, data = engine.model, engine.data
        engine.set_state(self.q, self.qd, np.zeros(model.nv))
        found = np.zeros((self.steps, 2))
        for i in range(self.steps):
            if self.controls is not None:
                data.ctrl[:] = self.controls[i]
            mujoco.mj_step(model, data)
            found[i] = data.ncon, data.solver_niter[0]
        return tuple(found.mean(axis=0))


def _floor(friction: float) -> str:
    return f'<geom name="floor" type="plane" size="20 20 1" contype="0" conaffinity="1" friction="{friction}"/>'


def _defaults(friction: float) -> str:
    """Shapes touch nothing unless their class is "touching", and then the floor only."""
    return (
        f'<default><geom contype="0" conaffinity="0" friction="{friction}"/>'
        '<default class="touching"><geom contype="1"/></default></default>'
    )


def thrown_cube(dt: float = 1e-3, steps: int = 1000) -> Scene:
    """A box of 0.1 m that is thrown spinning, lands, slides and comes to rest."""
    body = (
        f'{_defaults(0.4)}<worldbody>{_floor(0.4)}<body name="cube" pos="0 0 0.25"><freejoint name="root"/>'
        '<geom name="box" class="touching" type="box" size="0.05 0.05 0.05" mass="0.37"/></body></worldbody>'
    )
    orientation = np.array([0.9, 0.3, -0.2, 0.25])
    q = np.concatenate([[0.0, 0.0, 0.25], orientation / np.linalg.norm(orientation)])
    return Scene("thrown cube", body, q, np.array([4.0, -3.0, 2.0, 1.0, 0.3, 0.0]), dt, steps)


def pendulum_on_floor(dt: float = 1e-3, steps: int = 5000) -> Scene:
    """P5 of the papers: five links that fall from the horizontal onto a floor 1 m below their hinge."""
    links, tail = "", ""
    for i in range(5):
        mass, inertia = (1.0, 0.00494875) if i == 0 else (2.16, 0.00539427)
        links += (
            f'<body name="link{i + 1}" pos="{"0 0 1" if i == 0 else "0 0.5 0"}">'
            f'<joint name="joint{i + 1}" type="hinge" axis="1 0 0"/>'
            f'<inertial pos="0 0.5 0" mass="{mass}" diaginertia="{inertia} {inertia} {inertia}"/>'
            f'<geom name="ball{i + 1}" class="touching" type="sphere" size="0.05" pos="0 0.5 0"/>'
        )
        tail += "</body>"
    body = f"{_defaults(0.5)}<worldbody>{_floor(0.5)}{links}{tail}</worldbody>"
    return Scene("pendulum of 5 on a floor (P5)", body, np.zeros(5), np.arange(1, 6) / 10, dt, steps)


def ant(dt: float = 2e-3, steps: int = 1000) -> Scene:
    """The well-known Ant: a ball of 0.25 m with four legs of two limited hinges, driven by swinging torques."""
    legs, motors = "", ""
    for i, (x, y) in enumerate(((1, 1), (-1, 1), (-1, -1), (1, -1)), start=1):
        # All ankle axes point to +y, so that a leg in front bends down by a positive angle, one behind by a negative.
        axis = f"{-x * y} 1 0"
        low, high = sorted((0.5236 * x, 1.2217 * x))
        near, far = f"{0.2 * x} {0.2 * y} 0", f"{0.4 * x} {0.4 * y} 0"
        legs += (
            f'<body name="leg{i}"><geom class="limb" fromto="0 0 0 {near}"/><body name="aux{i}" pos="{near}">'
            f'<joint name="hip{i}" type="hinge" axis="0 0 1" range="-0.6981 0.6981"/>'
            f'<geom class="limb" fromto="0 0 0 {near}"/><body name="foot{i}" pos="{near}">'
            f'<joint name="ankle{i}" type="hinge" axis="{axis}" range="{low} {high}"/>'
            f'<geom class="limb" fromto="0 0 0 {far}"/></body></body></body>'
        )
        motors += "".join(f'<motor name="{part}{i}" joint="{part}{i}" gear="150"/>' for part in ("hip", "ankle"))
    body = (
        '<default><geom contype="0" conaffinity="0" density="5" friction="1"/><joint armature="1" damping="1"/>'
        '<default class="touching"><geom contype="1"/></default>'
        '<default class="limb"><geom type="capsule" size="0.08" contype="1"/></default>'
        '<motor ctrlrange="-1 1"/></default>'
        f'<worldbody>{_floor(1)}<body name="torso" pos="0 0 0.75">'
        '<joint name="root" type="free" armature="0" damping="0"/>'
        f'<geom name="ball" class="touching" type="sphere" size="0.25"/>{legs}</body></worldbody>'
        f"<actuator>{motors}</actuator>"
    )
    model = mujoco.MjModel.from_xml_string(f'<mujoco><compiler angle="radian"/>{body}</mujoco>')
    q = model.qpos0.copy()
    q[2] = 0.55  # just above the floor, so that most of the rollout is contact
    for i in range(1, 5):
        ankle = model.joint(f"ankle{i}")
        q[ankle.qposadr[0]] = ankle.range.mean()
    t = dt * np.arange(steps)[:, None]
    controls = 0.05 * np.sin(2 * np.pi * 1.5 * t + np.arange(model.nu) * 0.8)
    return Scene("Ant", body, q, np.zeros(model.nv), dt, steps, controls)


THIGH, SHANK, FOOT = 0.2, 0.2, 0.02
"""Lengths of the quadruped's legs and radius of its feet [m]."""
STANCE = (0.0, 0.8, -1.6)
"""Angles of abduction, hip and knee in which it stands [rad]."""
LEGS = {"fl": (0.19, 0.05, 1), "fr": (0.19, -0.05, -1), "rl": (-0.19, 0.05, 1), "rr": (-0.19, -0.05, -1)}
"""Where each leg begins, and on which side."""


def standing_quadruped(dt: float = 1e-3, steps: int = 2000) -> Scene:
    """12 kg on four feet, held by servos."""
    return _quadruped("quadruped, standing", np.tile(STANCE, (steps, 4)), dt)


def trotting_quadruped(dt: float = 1e-3, steps: int = 2000) -> Scene:
    """The same, trotting by targets that only know the time."""
    return _quadruped("quadruped, trotting", trot(dt * np.arange(steps)), dt)


def trot(
    t: np.ndarray, frequency: float = 2.5, stride: float = 0.15, lift: float = 0.35, start: float = 0.4
) -> np.ndarray:
    """Targets (time, 12): diagonal legs swing together; the motion grows to its full size within `start` seconds."""
    grown = np.minimum(t / start, 1.0)
    targets = np.tile(STANCE, (len(t), len(LEGS), 1)).astype(float)
    for leg, name in enumerate(LEGS):
        phase = 2 * np.pi * frequency * t + (0.0 if name in ("fl", "rr") else np.pi)
        raised = grown * lift * np.maximum(np.sin(phase), 0.0)
        # A knee bent by twice what the hip turns raises the foot straight up.
        targets[:, leg, 1] += grown * stride * np.cos(phase) + raised
        targets[:, leg, 2] -= 2 * raised
    return targets.reshape(len(t), -1)


def _quadruped(name: str, targets: np.ndarray, dt: float) -> Scene:
    legs, servos = "", ""
    for leg, (x, y, side) in LEGS.items():
        legs += (
            f'<body name="{leg}_hip" pos="{x} {y} 0"><joint name="{leg}_abduction" axis="1 0 0" range="-0.8 0.8"/>'
            '<geom type="sphere" size="0.04" mass="0.6"/>'
            f'<body name="{leg}_thigh" pos="0 {0.08 * side} 0"><joint name="{leg}_hip" axis="0 1 0" range="-1 3"/>'
            f'<geom type="capsule" size="0.02" fromto="0 0 0 0 0 {-THIGH}" mass="0.95"/>'
            f'<body name="{leg}_shank" pos="0 0 {-THIGH}"><joint name="{leg}_knee" axis="0 1 0" range="-2.7 -0.6"/>'
            f'<geom type="capsule" size="0.015" fromto="0 0 0 0 0 {-SHANK}" mass="0.15"/>'
            f'<geom name="{leg}_foot" class="touching" type="sphere" size="{FOOT}" pos="0 0 {-SHANK}" mass="0.05"/>'
            "</body></body></body>"
        )
        servos += "".join(
            f'<position name="{leg}_{part}" joint="{leg}_{part}" kp="100" kv="2"/>'
            for part in ("abduction", "hip", "knee")
        )
    body = (
        '<default><geom contype="0" conaffinity="0" friction="0.8"/><joint type="hinge" armature="0.01"/>'
        '<default class="touching"><geom contype="1"/></default></default>'
        f'<worldbody>{_floor(0.8)}<body name="trunk" pos="0 0 0.3"><joint name="root" type="free" armature="0"/>'
        f'<geom type="box" size="0.19 0.05 0.06" mass="5"/>{legs}</body></worldbody>'
        f"<actuator>{servos}</actuator>"
    )
    height = THIGH * np.cos(STANCE[1]) + SHANK * np.cos(STANCE[1] + STANCE[2]) + FOOT
    q = np.concatenate([[0.0, 0.0, height, 1.0, 0.0, 0.0, 0.0], np.tile(STANCE, len(LEGS))])
    return Scene(name, body, q, np.zeros(18), dt, len(targets), targets)


def scenes() -> list[Scene]:
    return [thrown_cube(), pendulum_on_floor(), ant(), standing_quadruped(), trotting_quadruped()]


def main(effort: Effort = Effort(5, 0.3)) -> None:
    """Print what a step costs MuJoCo, and what we read of each scene."""
    rows = []
    where = machine()
    for scene in scenes():
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            model = scene.load()
        assert (model.nq, model.nv) == (len(scene.q), len(scene.qd)), scene.name
        timings = in_rounds({cone: scene.mujoco(cone) for cone in CONES}, effort)
        for cone in CONES:
            contacts, iterations = scene.contacts(cone)
            rows.append(
                [
                    scene.name if cone == CONES[0] else "",
                    str(model.nv),
                    f"{scene.dt * 1e3:g}",
                    str(scene.steps),
                    cone,
                    f"{timings.time(cone) / scene.steps * 1e6:.2f}",
                    f"{contacts:.1f}",
                    f"{iterations:.1f}",
                ]
            )
        for warning in said:
            print(f"{scene.name}: {warning.message}")
    head = ["scene", "nv", "dt [ms]", "steps", "cone", "MuJoCo [us/step]", "contacts", "iterations"]
    print(f"{where}; MuJoCo {mujoco.__version__}, one thread; contacts and iterations are means over the rollout\n")
    print(table(head, rows))


if __name__ == "__main__":
    main()
