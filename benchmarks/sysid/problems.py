"""Two identification problems, the same for every program: what is known, what was measured, and who did well.

The measurements are made by MuJoCo from seeds: joint angles with noise, and the applied torques, so that a rollout
driven by these torques repeats the motion. MuJoCo takes semi-implicit Euler steps with explicit damping here
(`eulerdamp` off), which are hybridsim's steps too, so that the true numbers are the best answer for both engines.

Friction is viscous damping only: MuJoCo's `frictionloss` is a soft constraint whose force depends on its solver's
settings, hybridsim's dry friction is a smooth law; no number would be true for both.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import mujoco
import numpy as np

DT = 1e-3
NOISE = 1e-4
"""Standard deviation of the measured angles [rad]."""
START, LOG = "start.xml", "log.npz"
"""What a program is given, in one folder: the model with wrong numbers, and the log."""


@dataclass(frozen=True)
class Numbers:
    """What is identified, or known, of each link and of the joint that moves it."""

    damping: np.ndarray
    """Of shape (links,) [N m s/rad]."""
    mass: np.ndarray
    """Of shape (links,) [kg]."""
    com: np.ndarray
    """Centre of mass in the link's frame, of shape (links, 3) [m]."""
    inertia: np.ndarray
    """About the centre of mass in the axes of the link's frame, of shape (links, 3, 3) [kg m^2]."""


@dataclass(frozen=True)
class Problem:
    name: str
    text: Callable[[Numbers], str]
    """The MJCF model with these numbers."""
    true: Numbers
    start: Numbers
    steps: int
    q0: np.ndarray
    """Start angles, known exactly; the motion starts at rest [rad]."""
    amplitude: np.ndarray
    """Of the sines of each joint's torque [N m]."""
    inertial: bool
    """Whether the numbers of the links are to be found too, or only the damping."""

    def model(self, numbers: Numbers) -> mujoco.MjModel:
        return mujoco.MjModel.from_xml_string(self.text(numbers))

    def torques(self, seed: int) -> np.ndarray:
        """Three sines of 0.3 to 2 Hz for each joint, of shape (steps, joints)."""
        rng = np.random.default_rng(seed)
        frequency, phase = rng.uniform(0.3, 2.0, (3, len(self.q0))), rng.uniform(0, 2 * np.pi, (3, len(self.q0)))
        t = DT * np.arange(self.steps)[:, None, None]
        return self.amplitude / 3 * np.sum(np.sin(2 * np.pi * frequency * t + phase), axis=1)

    def angles(self, numbers: Numbers, torques: np.ndarray) -> np.ndarray:
        """At the start and after each step, of shape (steps + 1, joints)."""
        model = self.model(numbers)
        data = mujoco.MjData(model)
        data.qpos[:] = self.q0
        angles = [self.q0]
        for torque in torques:
            data.ctrl[:] = torque
            mujoco.mj_step(model, data)
            angles.append(data.qpos.copy())
        return np.array(angles)

    def measured(self) -> np.ndarray:
        exact = self.angles(self.true, self.torques(seed=1))
        return exact + NOISE * np.random.default_rng(2).standard_normal(exact.shape)

    def write(self, folder: Path) -> None:
        """The two files that a program is given. The log holds t, q (steps + 1), torque (steps), q0 and qd0."""
        folder.joinpath(START).write_text(self.text(self.start))
        t, still = DT * np.arange(self.steps + 1), np.zeros_like(self.q0)
        np.savez(folder / LOG, t=t, q=self.measured(), torque=self.torques(seed=1), q0=self.q0, qd0=still)

    def score(self, found: Numbers) -> dict[str, float]:
        """How good an answer is, judged by MuJoCo in plain units whoever found it."""
        fresh = self.torques(seed=3)
        held_out = self.angles(found, fresh) - self.angles(self.true, fresh)
        true_torque, found_torque = (_inverse_dynamics(self.model(n)) for n in (self.true, found))
        return {
            "training RMSE [rad]": rms((self.angles(found, self.torques(seed=1)) - self.measured())[1:]),
            "RMSE on torques never seen [rad]": rms(held_out[1:]),
            # Only combinations of inertial numbers that change a torque can be found, so the torques are compared.
            "relative error of torques": rms(found_torque - true_torque) / rms(true_torque),
            "worst relative error of damping": float(np.max(np.abs(found.damping / self.true.damping - 1))),
        }


def rms(x: np.ndarray) -> float:
    return float(np.sqrt(np.mean(x**2)))


def _inverse_dynamics(model: mujoco.MjModel, samples: int = 200) -> np.ndarray:
    """Torques at random angles, velocities [1 rad/s] and accelerations [10 rad/s^2]."""
    rng, data, torques = np.random.default_rng(4), mujoco.MjData(model), []
    for _ in range(samples):
        data.qpos[:], data.qvel[:] = rng.uniform(-np.pi, np.pi, model.nv), rng.standard_normal(model.nv)
        data.qacc[:] = 10 * rng.standard_normal(model.nv)
        mujoco.mj_inverse(model, data)
        torques.append(data.qfrc_inverse.copy())
    return np.array(torques)


def chain(mount: str, offsets: np.ndarray, axes: list[str], armature: np.ndarray) -> Callable[[Numbers], str]:
    """A chain of links, each `offsets` [m] further along z of the one before; `mount` places the first."""

    def text(numbers: Numbers) -> str:
        bodies = ""
        for i, axis in enumerate(axes):
            I = numbers.inertia[i]
            six = (I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2])
            place = mount if i == 0 else f'pos="0 0 {offsets[i]}"'
            bodies += f"""<body name="link{i + 1}" {place}>
            <joint name="joint{i + 1}" axis="{axis}" armature="{armature[i]}" damping="{float(numbers.damping[i])!r}"/>
            <inertial mass="{float(numbers.mass[i])!r}" pos="{_words(numbers.com[i])}" fullinertia="{_words(six)}"/>\n"""
        names = [f"joint{i + 1}" for i in range(len(axes))]
        return f"""<mujoco>
        <compiler angle="radian"/>
        <option timestep="{DT}" integrator="Euler"><flag eulerdamp="disable" contact="disable"/></option>
        <worldbody>{bodies}{"</body>" * len(axes)}</worldbody>
        <actuator>{"".join(f'<motor name="{name}" joint="{name}"/>' for name in names)}</actuator>
        <sensor>{"".join(f'<jointpos name="{name}" joint="{name}"/>' for name in names)}</sensor>
        </mujoco>"""

    return text


def _words(numbers) -> str:
    return " ".join(repr(float(x)) for x in numbers)


def _rods(mass: np.ndarray, com: np.ndarray, radius: np.ndarray, length: np.ndarray) -> np.ndarray:
    """Inertia of solid cylinders along the line from the joint to the centre of mass."""
    along = com / np.linalg.norm(com, axis=1, keepdims=True)
    lines = along[:, :, None] * along[:, None, :]
    axial, across = mass * radius**2 / 2, mass * (3 * radius**2 + length**2) / 12
    return across[:, None, None] * np.eye(3) + (axial - across)[:, None, None] * lines


def perturbed(numbers: Numbers, seed: int) -> Numbers:
    """Each body is stretched and sheared by about 5 %, moved by 5 mm and made heavier or lighter by 5 %: physical for sure,
    as a linear map A takes the second moment of mass S to A S A'. Damping changes by about 20 %."""
    rng = np.random.default_rng(seed)
    count = len(numbers.mass)
    heavier = np.exp(0.05 * rng.standard_normal(count))
    A = np.eye(3) + 0.05 * rng.standard_normal((count, 3, 3))
    trace = np.trace(numbers.inertia, axis1=1, axis2=2)[:, None, None]
    S = heavier[:, None, None] * A @ (trace * np.eye(3) / 2 - numbers.inertia) @ np.swapaxes(A, 1, 2)
    inertia = np.trace(S, axis1=1, axis2=2)[:, None, None] * np.eye(3) - S
    com = numbers.com + 0.005 * rng.standard_normal((count, 3))
    damping = numbers.damping * np.exp(0.2 * rng.standard_normal(count))
    return Numbers(damping, heavier * numbers.mass, com, inertia)


def double_pendulum() -> Problem:
    """Two rods of 1 kg and 0.5 m that fall from the side; the damping starts at ten and a tenth of the true values."""
    mass, com = np.ones(2), np.tile([0.0, 0.0, 0.25], (2, 1))
    inertia = _rods(mass, com, np.full(2, 0.02), np.full(2, 0.5))
    true, start = (Numbers(np.array(d), mass, com, inertia) for d in ((0.1, 0.05), (1.0, 0.005)))
    text = chain('pos="0 0 1" quat="0 1 0 0"', np.array([0, 0.5]), ["0 1 0"] * 2, np.zeros(2))
    return Problem("small", text, true, start, 500, np.array([1.2, -0.5]), np.array([1.0, 0.5]), inertial=False)


def arm() -> Problem:
    """Seven joints with the lengths and masses of a 14 kg-payload arm, hung from a ceiling: torques alone then keep the motion
    bounded, for 5 s, for the wrong numbers too."""
    offsets = np.array([0, 0.20, 0.20, 0.22, 0.18, 0.22, 0.08])
    mass = np.array([5.8, 6.4, 4.0, 3.5, 2.6, 2.0, 1.0])
    com = np.array([[1, -3, 12], [-1, 6, 8], [2, 3, 13], [1, -6, 7], [-2, 2, 8], [1, 4, 3], [3, 2, 7]]) / 100
    inertia = _rods(mass, com, np.array([7, 7, 7, 6, 6, 5, 4]) / 100, np.array([30, 30, 28, 28, 25, 15, 12]) / 100)
    damping, armature = np.array([8, 8, 4, 4, 1, 1, 0.5]), np.array([0.3, 0.3, 0.2, 0.2, 0.05, 0.05, 0.03])
    true = Numbers(damping, mass, com, inertia)
    axes = ["0 0 1", "0 1 0", "0 0 1", "0 -1 0", "0 0 1", "0 1 0", "0 0 1"]
    text = chain('pos="0 0 2" quat="0 1 0 0"', offsets, axes, armature)
    q0 = np.array([0.2, 0.5, -0.3, 0.8, 0.4, -0.6, 0.3])
    amplitude = np.array([30, 60, 20, 25, 4, 4, 2])
    return Problem("large", text, true, perturbed(true, seed=5), 5000, q0, amplitude, inertial=True)


PROBLEMS = {"small": double_pendulum, "large": arm}


def as_lists(numbers: Numbers) -> dict[str, list]:
    """For JSON; `from_lists` reads it."""
    return {name: np.asarray(value).tolist() for name, value in asdict(numbers).items()}


def from_lists(lists: dict[str, list]) -> Numbers:
    return Numbers(**{name: np.array(value) for name, value in lists.items()})
