"""Real double pendulums that nobody drives: one filmed while it tumbles, one with encoders while its swing decays.

Nothing but angles was measured. Whole runs are held out; on them a fitted model is rolled out over windows whose start
state is fitted as well, to the whole window (the sensitive test of a model) or to its first moments (a prediction).

Motion without drive shows no force, so one mass is a choice of ours; and of a planar link it shows the centre of mass
and one moment of inertia. Link 2 therefore is a point, and the inertia of link 1 beyond that of a point is an armature.
With gravity known, the time step sets the scale of all lengths: the film is taken at 500 frames a second, and the length
that is found for link 1 says which rate would be right (`frame_rate`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

import hybridsim as hs

from .pendulum import Array

FREE = (
    "link/*/com.[xz]",
    "joint/elbow/position.[xz]",
    "joint/shoulder/armature",
    "joint/*/damping",
    "joint/*/friction",
)
"""Across a link, centres of mass and elbow also hold how far zero of an angle is from hanging: camera, encoders."""
INTEGRATOR = hs.RungeKutta4()
STARTS: dict[str, Literal["fitted"] | float] = {"whole window": "fitted", "first 40 ms": 0.04}
"""How the start of a held-out window is found."""
FRAME_RATE = 500.0
"""Of the film, as assumed [1/s]."""
PUBLISHED_LENGTH = 0.091
"""Of link 1 of the filmed pendulum [m]."""
ENCODER_STEP = 2e-3
"""Every second sample of the encoders is enough [s]."""


class Case(NamedTuple):
    """What a held-out error is an error of."""

    model: str
    window: float
    """[s]"""
    start: str
    """One of `STARTS`."""


@dataclass(frozen=True)
class Result:
    fits: dict[str, hs.Fit]
    """Of each model: friction in the joints, and drag of the air too."""
    held_out: tuple[str, ...]
    """Names of runs."""
    errors: dict[Case, Float[np.ndarray, " windows"]]
    """Of windows of the held-out runs: see `angle_errors`."""

    def table(self) -> str:
        """Held-out errors in degrees."""
        lines = ["model     window  start fitted to  median    90 %  windows"]
        for case, rmse in self.errors.items():
            median, ninth = np.degrees(np.quantile(rmse, (0.5, 0.9)))
            name = f"{case.model:8s}  {case.window:4.2g} s  {case.start:15s}"
            lines.append(f"{name}  {median:6.3f}  {ninth:6.3f}  {len(rmse):7d}")
        return "\n".join(lines)


def pendulum(length: float, point: float, inertia: float, friction: float) -> hs.Model:
    """A first guess: length of link 1 [m], distance of link 2's point from the elbow [m], armature, friction [N m].

    With link 1 heavy and its centre of mass near the pivot, an armature can make any moment of inertia of it.
    """
    upper = hs.Link("upper", 1.0, (0.0, 0.0, -length / 2), 1e-6)
    lower = hs.Link("lower", 0.1, (0.0, 0.0, -point), 1e-6)
    # Coulomb friction is friction * tanh(speed / friction_speed): steps of 2 ms can follow this slope.
    both = {"axis": (0.0, -1.0, 0.0), "damping": friction / 10, "friction": friction, "friction_speed": 0.5}
    shoulder = hs.Joint("shoulder", "revolute", "world", "upper", armature=inertia, **both)
    elbow = hs.Joint("elbow", "revolute", "upper", "lower", position=(0.0, 0.0, -length), **both)
    return hs.build([upper, lower], [shoulder, elbow])


class Drag(eqx.Module):
    """Air against both links, by the square of their absolute angular velocities w: torques -c |w| w."""

    c: Float[Array, " 2"]
    """[1e-6 N m s^2], so that weights are of ordinary size."""

    def __call__(self, qd: Float[Array, " 2"]) -> Float[Array, " 2"]:
        w = jnp.cumsum(qd)
        torque = -1e-6 * self.c * jnp.abs(w) * w
        # What acts on link 2 goes through both joints.
        return jnp.array([torque[0] + torque[1], torque[1]])


def with_drag(model: hs.Model) -> hs.Model:
    """Drag has no place among the numbers of a joint, so it is put there as a network of two weights, at first zero."""
    drag = hs.Augment("joint.force", "joint.velocity[*]", hs.Custom(Drag(np.zeros(2)), name="drag"), apply="together")
    return hs.Blueprint(drag).graft(model, contact=None)


def drag_of(model: hs.Model) -> Float[np.ndarray, " 2"]:
    """Of both links [N m s^2]."""
    parts = jax.tree.leaves(model.augmentation, is_leaf=lambda part: isinstance(part, Drag))
    (drag,) = (part for part in parts if isinstance(part, Drag))
    return 1e-6 * np.asarray(drag.c)


def angle_errors(errors: hs.Errors) -> Float[np.ndarray, " windows"]:
    """Root mean square over both links' absolute angles, which is what was measured [rad]."""
    absolute = np.cumsum(errors.differences, axis=2)
    return np.sqrt(np.mean(absolute**2, axis=(1, 2)))


def filmed(
    held_out: Sequence[str] = ("3", "7", "11", "15"),
    train: Sequence[str] | None = None,
    windows: Sequence[float] = (0.5, 1.0),
    stride: float = 6.0,
    test_stride: float = 1.0,
    progress: bool = False,
) -> Result:
    """The filmed pendulum (Asseman and others 2018), trained on all runs that are not held out or on some of them."""
    train = [run for run in hs.data.ibm_double_pendulum_runs() if run not in held_out] if train is None else train
    learn, test = ([_filmed_log(run) for run in runs] for runs in (train, held_out))
    guess = pendulum(length=PUBLISHED_LENGTH, point=0.066, inertia=1e-3, friction=3e-4)

    def fit(model: hs.Model, free: Sequence[str]) -> hs.Fit:
        # The motion is chaotic: a start that suits the first moments leads to the one that suits the whole window.
        return hs.fit(
            model,
            learn,
            free,
            hs.LevenbergMarquardt(40, 1e-6),
            window=0.5,
            stride=stride,
            horizons=(0.1, 0.25),
            loss=hs.Huber(0.006),
            integrator=INTEGRATOR,
            progress=progress,
        )

    return _compared(guess, fit, test, windows, test_stride, None)


def frame_rate(fit: hs.Fit) -> float:
    """At which link 1 of the filmed pendulum has its published length: lengths go with the square of time [1/s]."""
    x, z = fit["joint/elbow/position.x"].value, fit["joint/elbow/position.z"].value
    return float(FRAME_RATE * np.sqrt(np.hypot(x, z) / PUBLISHED_LENGTH))


def _filmed_log(run: str) -> hs.Trajectory:
    swing = hs.data.read_ibm_double_pendulum(run, frame_rate=FRAME_RATE)
    # Link 2 turns by up to 10 degrees a frame: a filter of the usual 50 ms would flatten its velocity.
    return hs.smooth(hs.Trajectory(swing.time, swing.joint_position, run=run, source=swing.source), window=0.02)


def decaying(
    held_out: Sequence[int] = (6, 7, 13, 14, 20, 21, 22, 23, 24, 25),
    train: Sequence[int] | None = None,
    progress: bool = False,
) -> Result:
    """The pendulum with encoders (Kaheman and others 2022): pieces of one recording, by their place in it."""
    swings = hs.data.read_multi_arm_swings()
    logs = [hs.Trajectory(s.time, s.joint_position, s.joint_velocity, run=s.name, source=s.source) for s in swings]
    learn = [log for i, log in enumerate(logs) if (i not in held_out if train is None else i in train)]
    guess = pendulum(length=0.173, point=0.196, inertia=1e-3, friction=2e-4)

    def fit(model: hs.Model, free: Sequence[str]) -> hs.Fit:
        solver = hs.LevenbergMarquardt(40, 1e-6)
        return hs.fit(model, learn, free, solver, window=1.0, dt=ENCODER_STEP, integrator=INTEGRATOR, progress=progress)

    return _compared(guess, fit, [logs[i] for i in held_out], (1.0,), None, ENCODER_STEP)


def _compared(
    guess: hs.Model,
    fit: Callable[[hs.Model, Sequence[str]], hs.Fit],
    test: Sequence[hs.Trajectory],
    windows: Sequence[float],
    stride: float | None,
    dt: float | None,
) -> Result:
    """Both models on held-out runs, the second fitted from where the first has ended."""
    friction = fit(guess, FREE)
    fits = {"friction": friction, "drag too": fit(with_drag(friction.model), (*FREE, "network"))}
    errors = {
        Case(name, window, start): angle_errors(
            hs.evaluate(found.model, test, window, stride, start=STARTS[start], dt=dt, integrator=INTEGRATOR)
        )
        for name, found in fits.items()
        for window in windows
        for start in STARTS
    }
    return Result(fits, tuple(log.run for log in test), errors)
