"""Real double pendulums that nobody drives: one filmed while it tumbles, one with encoders while its swing decays.

Nothing but angles was measured. Whole runs are held out; on them a fitted model is rolled out over windows whose start
state is fitted as well, to the whole window (the sensitive test of a model) or to its first moments (a prediction).

Motion without drive shows no force, so one mass is a choice of ours; and of a planar link it shows the centre of mass
and one moment of inertia. Link 2 therefore is a point, and the inertia of link 1 beyond that of a point is an armature.
With gravity known, the time step sets the scale of all lengths.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

import hybridsim as hs

from .pendulum import Array

FREE = (
    "link/*/com",
    "joint/elbow/position",
    "joint/shoulder/armature",
    "joint/*/damping",
    "joint/*/friction",
)
"""Across a link, centres of mass and elbow also hold how far zero of an angle is from hanging: camera, encoders."""
INTEGRATOR = hs.RungeKutta4()
Starts = dict[str, str | float]
STARTS: Starts = {"whole window": "fitted", "first 40 ms": 0.04}
"""How the start of a held-out window is found."""


@dataclass(frozen=True)
class Result:
    fit: hs.Fit
    held_out: tuple[str, ...]
    """Names of runs."""
    errors: dict[tuple[float, str], Float[np.ndarray, " windows"]]
    """By length of the windows [s] and by how their starts are found (`STARTS`): see `angle_errors`."""

    def table(self) -> str:
        """Held-out errors in degrees."""
        lines = ["window  start fitted to  median  90 %    of windows"]
        for (window, start), rmse in self.errors.items():
            median, ninth = np.degrees(np.quantile(rmse, (0.5, 0.9)))
            lines.append(f"{window:4.2g} s  {start:15s}  {median:6.3f}  {ninth:6.3f}  {len(rmse):10d}")
        return "\n".join(lines)


def pendulum(length: float, point: float, inertia: float, friction: float) -> hs.Model:
    """A first guess: length of link 1 [m], distance of link 2's point from the elbow [m], armature, friction [N m].

    A heavy link 1 near its pivot can have any pair of first and second moment once armature is added.
    """
    upper = hs.Link("upper", 1.0, (0.0, 0.0, -length / 2), 1e-6)
    lower = hs.Link("lower", 0.1, (0.0, 0.0, -point), 1e-6)
    about_y = {"axis": (0.0, -1.0, 0.0), "damping": friction / 10, "friction": friction}
    # Coulomb friction as friction * tanh(speed / friction_speed), whose slope steps of milliseconds can follow.
    shoulder = hs.Joint("shoulder", "revolute", "world", "upper", armature=inertia, friction_speed=0.5, **about_y)
    elbow = hs.Joint("elbow", "revolute", "upper", "lower", position=(0.0, 0.0, -length), friction_speed=0.5, **about_y)
    return hs.build([upper, lower], [shoulder, elbow])


class Drag(eqx.Module):
    """Air against both links, by the square of their absolute angular velocities w: torques -c |w| w with c = root^2."""

    root: Float[Array, " 2"]

    def __call__(self, qd: Float[Array, " 2"]) -> Float[Array, " 2"]:
        w = jnp.cumsum(qd)
        torque = -(self.root**2) * jnp.abs(w) * w
        # What acts on link 2 goes through both joints.
        return jnp.array([torque[0] + torque[1], torque[1]])


def with_drag(model: hs.Model, coefficient: float) -> hs.Model:
    """Both coefficients start at this [N m s^2]."""
    drag = hs.Custom(Drag(jnp.full(2, jnp.sqrt(coefficient))), name="drag")
    return hs.Blueprint(hs.Augment("joint.force", "joint.velocity[*]", drag, apply="together")).graft(
        model, contact=None
    )


def angle_errors(errors: hs.Errors) -> Float[np.ndarray, " windows"]:
    """Root mean square over both links' absolute angles, which is what was measured [rad]."""
    absolute = np.cumsum(errors.differences, axis=2)
    return np.sqrt(np.mean(absolute**2, axis=(1, 2)))


def filmed(
    held_out: Sequence[str] = ("3", "7", "11", "15"),
    train: Sequence[str] | None = None,
    stride: float = 6.0,
    lengths: Sequence[float] = (0.5, 1.0),
    test_stride: float = 2.0,
    starts: Starts = STARTS,
    progress: bool = False,
) -> Result:
    """The filmed pendulum (Asseman and others 2018), by default trained on all runs that are not held out.

    At 500 frames a second, as its reader assumes; so the length that is found says by how much the rate is another.
    """
    train = [run for run in hs.data.ibm_double_pendulum_runs() if run not in held_out] if train is None else train
    model = pendulum(length=0.091, point=0.066, inertia=1e-3, friction=3e-4)
    # A start that is good for a moment leads to one that is good for the whole chaotic window.
    fit = hs.fit(
        model,
        [_filmed_log(run) for run in train],
        FREE,
        hs.LevenbergMarquardt(40, 1e-6),
        window=0.5,
        stride=stride,
        horizons=(0.1, 0.25),
        loss=hs.Huber(0.006),
        integrator=INTEGRATOR,
        progress=progress,
    )
    errors = _errors(fit, [_filmed_log(run) for run in held_out], lengths, test_stride, starts)
    return Result(fit, tuple(held_out), errors)


def frame_rate(fit: hs.Fit) -> float:
    """At which link 1 of the filmed pendulum has its published length: lengths grow as the square of time [1/s]."""
    x, z = fit["joint/elbow/position.x"].value, fit["joint/elbow/position.z"].value
    return float(500.0 * np.sqrt(np.hypot(x, z) / 0.091))


def _filmed_log(run: str) -> hs.Trajectory:
    swing = hs.data.read_ibm_double_pendulum(run, frame_rate=500.0)
    # Link 2 turns by up to 10 degrees a frame: a filter of the usual 50 ms would flatten its velocity.
    return hs.smooth(hs.Trajectory(swing.time, swing.joint_position, run=run, source=swing.source), window=0.02)


def decaying(
    held_out: Sequence[int] = (6, 7, 13, 14, 20, 21, 22, 23, 24, 25),
    train: Sequence[int] | None = None,
    starts: Starts = STARTS,
    progress: bool = False,
) -> Result:
    """The pendulum with encoders (Kaheman and others 2022): pieces of one recording, by their place in it."""
    swings = hs.data.read_multi_arm_swings()
    logs = [hs.Trajectory(s.time, s.joint_position, s.joint_velocity, run=s.name, source=s.source) for s in swings]
    train = [i for i in range(len(logs)) if i not in held_out] if train is None else train
    model = with_drag(pendulum(length=0.173, point=0.196, inertia=1e-3, friction=2e-4), 1e-5)
    fit = hs.fit(
        model,
        [logs[i] for i in train],
        (*FREE, "network"),
        hs.LevenbergMarquardt(40, 1e-6),
        window=1.0,
        dt=2e-3,
        integrator=INTEGRATOR,
        progress=progress,
    )
    errors = _errors(fit, [logs[i] for i in held_out], (1.0,), None, starts, dt=2e-3)
    return Result(fit, tuple(swings[i].name for i in held_out), errors)


def _errors(
    fit: hs.Fit,
    logs: Sequence[hs.Trajectory],
    lengths: Sequence[float],
    stride: float | None,
    starts: Starts,
    dt: float | None = None,
) -> dict[tuple[float, str], np.ndarray]:
    return {
        (window, name): angle_errors(
            hs.evaluate(fit.model, logs, window, stride, start=start, dt=dt, integrator=INTEGRATOR)
        )
        for window in lengths
        for name, start in starts.items()
    }
