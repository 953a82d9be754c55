"""A torque-driven two-link arm: Wiebe and others, "Open source dual-purpose acrobot and pendubot platform" (2023).

Design C.1 of the platform. A run is a file with a header: time, pos_meas, vel_meas, pos_filt, vel_filt, tau_con,
tau_fric and tau_meas, the latter seven for joints 1 and 2. Link 1 hangs at angle 0; joint 2 is relative to link 1;
torques are positive in the direction of their joint's angle and act on the arm.

Traps:

- Time steps are 2.0001 ms, but the first few of a run are longer (up to 3.7 ms): use the times as given.
- vel_meas is the backward difference of pos_meas over the time step, exact to the last bit (but for the first
  sample), hence late by half a step and in jumps of 0.19 rad/s; the columns "filt" equal "meas" and tau_fric is 0
  in the runs at hand. For velocities smooth the positions.
- Positions are 16 bit over 25 rad (POSITION_STEP, noise of 0.1 mrad), torques 12 bit over 24 Nm (TORQUE_STEP).
- tau_meas is estimated from the motor's current. It follows tau_con later by 10 to 35 ms, has an offset of +0.006
  Nm, and differs from tau_con by about -0.0025 kg m^2 times the joint's acceleration even where tau_con is 0. Its
  noise is 0.01 to 0.04 Nm.
- Friction (plateaus of 0.25 and 0.19 Nm in the authors' model) is as large as the torques. In run 20230629-143906
  joint 2 is not driven and sticks: it moves by 2 mrad.
- Runs 143704 and 143747 drive joint 2 only, 143906 joint 1 only. None exceeds 1 Nm; the platform's other runs do.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float

from .files import csv_numbers, dataset_path, found_runs, in_order, known_run, whole_lines
from .folder import DataError

DATASET = "dfki-double-pendulum"
POSITION_STEP = 25 / 65535
"""Resolution of a measured angle [rad]."""
TORQUE_STEP = 24 / 4095
"""Resolution of a measured torque [N m]."""
_SIGNALS = ("pos_meas", "vel_meas", "pos_filt", "vel_filt", "tau_con", "tau_fric", "tau_meas")
_COLUMNS = ("time", *(f"{signal}{joint}" for signal in _SIGNALS for joint in (1, 2)))
_FASTEST = 200.0
"""Of a joint; a faster change of its angle is damage [rad/s]."""


@dataclass(frozen=True)
class DfkiParameters:
    """Numbers of the arm; pairs are of joints, links or motors 1 and 2."""

    length: tuple[float, float]
    """From joint to joint and from joint 2 to the end [m]."""
    mass: tuple[float, float]
    """[kg]"""
    centre_of_mass: tuple[float, float]
    """Its distance from the joint [m]."""
    inertia: tuple[float, float]
    """Of the link about its joint (not about its centre of mass) [kg m^2]."""
    rotor_inertia: float
    """Of each motor, before the gear [kg m^2]."""
    gear_ratio: float
    damping: tuple[float, float]
    """[N m s/rad]"""
    coulomb_friction: tuple[float, float]
    """c in the friction torque c arctan(100 qd), whose plateau is c pi/2 [N m]."""
    gravity: float
    """[m/s^2]"""

    def mass_matrix(self, q2: Float[np.ndarray, "..."]) -> Float[np.ndarray, "... 2 2"]:
        """By the angle of joint 2 [rad], as the authors write it: motor 2 is at the base of link 2."""
        coupling = self.mass[1] * self.length[0] * self.centre_of_mass[1] * np.cos(q2)
        first, second = self.inertia
        rotor, gear = self.rotor_inertia, self.gear_ratio
        M00 = first + second + self.mass[1] * self.length[0] ** 2 + 2 * coupling + (gear**2 + 1) * rotor
        M01 = second + coupling - gear * rotor
        M11 = np.broadcast_to(second + gear**2 * rotor, M00.shape)
        return np.stack([np.stack([M00, M01], axis=-1), np.stack([M01, M11], axis=-1)], axis=-2)

    def torque(
        self, q: Float[np.ndarray, "*n 2"], qd: Float[np.ndarray, "*n 2"], qdd: Float[np.ndarray, "*n 2"]
    ) -> Float[np.ndarray, "*n 2"]:
        """Of the motors for this motion, by the authors' equations of motion, friction included [N m]."""
        moment = self.mass[1] * self.centre_of_mass[1]
        swing = self.length[0] * moment * np.sin(q[..., 1])
        second = self.gravity * moment * np.sin(q[..., 0] + q[..., 1])
        first = self.mass[0] * self.centre_of_mass[0] + self.mass[1] * self.length[0]
        bias = np.stack(
            [
                -swing * (2 * qd[..., 0] + qd[..., 1]) * qd[..., 1] + self.gravity * first * np.sin(q[..., 0]) + second,
                swing * qd[..., 0] ** 2 + second,
            ],
            axis=-1,
        )
        friction = np.asarray(self.damping) * qd + np.asarray(self.coulomb_friction) * np.arctan(100 * qd)
        return np.einsum("...ij,...j->...i", self.mass_matrix(q[..., 1]), qdd) + bias + friction


PUBLISHED_DFKI = DfkiParameters(
    length=(0.2, 0.3),
    mass=(0.5234602, 0.6255677),
    centre_of_mass=(0.2, 0.2556931),
    inertia=(0.0318872, 0.0508698),
    rotor_inertia=6.287204e-5,
    gear_ratio=6.0,
    damping=(0.001, 0.001),
    coulomb_friction=(0.16, 0.12),
    gravity=9.81,
)
"""As the authors of the platform identified them: model 1.0 of design C.1 in their repository double_pendulum."""


@dataclass(frozen=True)
class DrivenRun:
    """One run of the torque-driven arm; columns are joints 1 and 2."""

    name: str
    source: str
    """The file."""
    time: Float[np.ndarray, " time"]
    """Increasing, in unequal steps [s]."""
    position: Float[np.ndarray, "time 2"]
    """Measured [rad]."""
    velocity: Float[np.ndarray, "time 2"]
    """The backward difference of `position`: noisy, late by half a step [rad/s]."""
    filtered_position: Float[np.ndarray, "time 2"]
    """What the platform's controller used [rad]."""
    filtered_velocity: Float[np.ndarray, "time 2"]
    """What the platform's controller used [rad/s]."""
    command: Float[np.ndarray, "time 2"]
    """Torque that the controller asked for [N m]."""
    friction_compensation: Float[np.ndarray, "time 2"]
    """Torque that the platform says it added against friction [N m]."""
    torque: Float[np.ndarray, "time 2"]
    """Measured by the motors' currents [N m]."""
    repairs: tuple[str, ...]
    """What the reader changed, in words: samples sorted by time or dropped."""

    def __len__(self) -> int:
        return len(self.time)


def dfki_runs(folder: str | Path | None = None) -> dict[str, Path]:
    """Files of all runs by their names; without `folder`, of the dataset in the folder of HYBRIDSIM_DATA."""
    place = dataset_path(DATASET, folder)
    return found_runs(place, ((file.stem, file) for file in sorted(place.glob("*.csv"))), "files *.csv")


def read_dfki(run: str, folder: str | Path | None = None) -> DrivenRun:
    """One run."""
    runs = dfki_runs(folder)
    path = known_run(next(iter(runs.values())).parent, runs, run)
    header, *lines = whole_lines(path)
    names = [name.strip() for name in header.split(",")]
    missing = [name for name in _COLUMNS if name not in names]
    if missing:
        raise DataError(f"{path} has no columns {', '.join(missing)}; its header is {header[:200]!r}")
    table = csv_numbers(path, lines, len(names), first=2)[:, [names.index(name) for name in _COLUMNS]]
    table, repairs = in_order(str(path), table)
    if len(table) < 2:
        raise DataError(f"{path}: all samples have the same time {table[0, 0]:g} s; fetch it again")
    time, signals = table[:, 0], np.split(table[:, 1:], len(_SIGNALS), axis=1)
    position, velocity, filtered_position, filtered_velocity, command, compensation, torque = signals
    speed = np.abs(np.diff(position, axis=0) / np.diff(time)[:, None]).max(axis=1)
    if speed.max() > _FASTEST:
        raise DataError(
            f"{path}: at {time[np.argmax(speed)]:.4f} s an angle changes at {speed.max():.0f} rad/s; an encoder jumped, "
            "or the time is not in seconds: cut the run there"
        )
    return DrivenRun(
        name=run,
        source=str(path),
        time=time,
        position=position,
        velocity=velocity,
        filtered_position=filtered_position,
        filtered_velocity=filtered_velocity,
        command=command,
        friction_compensation=compensation,
        torque=torque,
        repairs=repairs,
    )
