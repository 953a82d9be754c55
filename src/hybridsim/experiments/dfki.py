"""A torque-driven arm (design C.1 of the DFKI platform): what its authors identified, what we do, and what a network adds.

Judged by leaving whole runs out. Three things in these data decide how well a model does:

- The encoders are set to zero wherever friction happens to hold the arm before a run, within 6 degrees of hanging. A
  model's gravity pulls towards another place than the arm's in every run by up to 3 degrees. Parameters are therefore
  fitted together with the zero of each training run; a held-out run is judged as it is, and also with its zero found
  from its first two seconds.
- The measured torque is that of a current and lacks about 0.0025 kg m^2 times the acceleration, so that the rotor's
  inertia must not be counted twice: the armature is free, down to zero.
- Friction is as large as the torques, and not Coulomb's: the shoulder's takes about 50 ms to come back after a reversal, and
  both joints' grows with torque. This is what the network, a law of three weights for each joint, adds.
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

import hybridsim as hs
import hybridsim.data.dfki as dfki

from .pendulum import Array

WINDOW, STRIDE, SUBSTEPS = 1.0, 0.5, 2
"""[s], [s], and steps of the simulator in each sample of the log."""
TIME_STEP = 2e-3 / SUBSTEPS
"""Of the simulator [s]."""
FRICTION_SPEED = 0.05
"""At which friction is full in the fitted models: slower than in the arm, so that the motion is smooth in the parameters; the
arm's own transition is not seen at this rate [rad/s]."""
NOISE = 0.7
"""For which a window counts as about two measurements with the error of 0.03 rad, for its 1000 numbers go wrong together:
0.03 sqrt(1000 / 2) [rad]."""
ZERO_SPREAD = 0.05
"""Of the encoders' zeros [rad]."""
ZERO_TIME = 2.0
"""How much of a held-out run may be used to find its zero [s]."""
MEMORY_TIME, LOAD = 0.05, 0.2
"""Before training: how long friction remembers the direction of motion [s], and by what part it grows with torque [1/(N m)]."""


class GearFriction(eqx.Module):
    """Friction of a gear that remembers and is loaded: what Coulomb's is scaled by, less one.

    c S (1 - a (1 - z S)/2) (1 + b |tau|), with the direction S = tanh(v/v0) and z, which follows it late: dz/dt = (S - z)/T.
    In steady motion z S = 1; just after a reversal z S = -1, and the part a of friction is missing (frictional lag, as in
    Canudas de Wit and others, "A new model for control of systems with friction", 1995). As |a| < 1, |z S| <= 1 and b > 0,
    no weights make friction drive the arm. In a window the past is not known: z begins at S.
    """

    weights: Float[Array, "3"]
    """arctanh a, and the logarithms of MEMORY_TIME / T and b / LOAD."""

    def memory(self) -> Float[np.ndarray, "2"]:
        """z, and whether there has been a step."""
        return np.zeros(2)

    def __call__(self, x: Float[Array, "2"], memory: Float[Array, "2"]) -> tuple[Array, Array]:
        (velocity, torque), (late, begun) = x, memory
        part, rate = jnp.tanh(self.weights[0]), jnp.exp(self.weights[1]) * TIME_STEP / MEMORY_TIME
        direction = jnp.tanh(velocity / FRICTION_SPEED)
        late = jnp.where(begun > 0, late + jnp.minimum(rate, 1.0) * (direction - late), direction)
        remembered = 1 - part / 2 * (1 - late * direction)
        loaded = 1 + LOAD * jnp.exp(self.weights[2]) * jnp.abs(torque)
        return (remembered * loaded - 1)[None], jnp.stack([late, jnp.ones_like(late)])


NETWORK = hs.Blueprint(
    hs.Augment(
        "joint.friction",
        ("joint.velocity", "joint.command"),
        hs.Custom(GearFriction(np.array([0.1, 0.0, 0.0])), name="gear friction"),
        mode="scale",
    )
)


def arm() -> hs.Model:
    """The authors' model. Friction c arctan(100 qd) has the same plateau and slope here, as a tanh."""
    known = dfki.PUBLISHED_DFKI
    numbers = zip(known.mass, known.centre_of_mass, known.inertia, strict=True)
    about_centre = [(mass, centre, inertia - mass * centre**2) for mass, centre, inertia in numbers]
    links = [
        hs.Link(name, mass, (0, 0, -centre), (inertia, inertia, inertia / 10))
        for name, (mass, centre, inertia) in zip(("upper", "lower"), about_centre, strict=True)
    ]
    places = (("shoulder", "world", "upper", 0.0), ("elbow", "upper", "lower", -known.length[0]))
    joints = [
        hs.Joint(
            name,
            "continuous",
            parent,
            child,
            position=(0, 0, height),
            axis=(0, 1, 0),
            damping=damping,
            friction=np.pi / 2 * coulomb,
            friction_speed=np.pi / 200,
            armature=known.gear_ratio**2 * known.rotor_inertia,
        )
        for (name, parent, child, height), damping, coulomb in zip(
            places, known.damping, known.coulomb_friction, strict=True
        )
    ]
    return hs.build(links, joints)


def log_of(run: str) -> hs.Trajectory:
    """A run with measured torques, and velocities by a filter of 50 ms."""
    made = dfki.read_dfki(run)
    log = hs.Trajectory(made.time - made.time[0], made.position, None, made.torque, "force", run=run)
    return hs.smooth(log, window=0.05)


def errors(model: hs.Model, logs: Sequence[hs.Trajectory]) -> hs.Errors:
    return hs.evaluate(model, logs, WINDOW, STRIDE, substeps=SUBSTEPS)


def zeroed(log: hs.Trajectory, zero: Float[np.ndarray, " 2"]) -> hs.Trajectory:
    """The log with angles from where the arm hangs."""
    return replace(log, q=log.q + zero)


def zero_of(model: hs.Model, log: hs.Trajectory, steps: int = 2) -> Float[np.ndarray, " 2"]:
    """What has to be added to the angles of a run, by Gauss-Newton steps, beside what is known of it beforehand [rad]."""
    zero, small = np.zeros(2), 1e-3
    for _ in range(steps):
        r, *moved = (
            errors(model, [zeroed(log, zero + shift)]).differences.ravel() / NOISE
            for shift in (np.zeros(2), *(small * np.eye(2)))
        )
        J = np.stack([(other - r) / small for other in moved], axis=1)
        prior = np.eye(2) / ZERO_SPREAD**2
        zero = zero - np.linalg.solve(J.T @ J + prior, J.T @ r + prior @ zero)
    return zero


def free_numbers() -> list[hs.Free]:
    """What the authors identified, all but lengths, with what is known of it beforehand: their values.

    The inertia of the upper link is that of the shoulder's armature, the lower link's follows from its centre of mass.
    """
    known, friction = dfki.PUBLISHED_DFKI, np.pi / 2 * np.array(dfki.PUBLISHED_DFKI.coulomb_friction)
    return [
        hs.Free("link/upper/mass", prior=(known.mass[0], 0.1)),
        hs.Free("link/lower/mass", prior=(known.mass[1], 0.03)),
        hs.Free("link/lower/com"),
        hs.Free("joint/*/damping", prior=(0.003, 0.005)),
        hs.Free("joint/shoulder/friction", prior=(float(friction[0]), 0.1)),
        hs.Free("joint/elbow/friction", prior=(float(friction[1]), 0.1)),
        hs.Free("joint/*/armature", prior=(0.002, 0.002)),
    ]


def analytical(logs: Sequence[hs.Trajectory], rounds: int = 2) -> tuple[hs.Fit, list[hs.Trajectory]]:
    """The fit, and the logs with their zeros: each is found for the other, in turns. The authors' model finds the first."""
    start, shifted, found = arm(), list(logs), None
    joints = replace(start.joints, friction_speed=np.full(2, FRICTION_SPEED), damping=np.full(2, 0.003))
    smooth = replace(start, joints=joints)
    for _ in range(rounds):
        shifted = [zeroed(log, zero_of(start if found is None else found.model, log)) for log in logs]
        found = _fit(smooth, shifted, free_numbers())
    assert found is not None
    return found, shifted


def augmented(plain: hs.Model, logs: Sequence[hs.Trajectory]) -> hs.Fit:
    """Network and numbers fitted together, to logs with zeros."""
    return _fit(NETWORK.graft(plain, contact=None), logs, [*free_numbers(), hs.Free("network", prior=(0, 1))])


def _fit(model: hs.Model, logs: Sequence[hs.Trajectory], free: Sequence[hs.Free]) -> hs.Fit:
    solver = hs.LevenbergMarquardt(15, tolerance=1e-3)
    with warnings.catch_warnings():
        # The centre of mass along the joints' axes, which no motion shows, is among three that are chosen at once.
        warnings.simplefilter("ignore", hs.IdentifiabilityWarning)
        return hs.fit(
            model, logs, free, solver, window=WINDOW, start="measured", compare={"position": NOISE}, substeps=SUBSTEPS
        )


@dataclass(frozen=True)
class HeldOut:
    """A model's errors on a run that it has not seen."""

    run: str
    as_logged: Float[np.ndarray, " windows"]
    """Of each window, over both joints [rad]."""
    zero_known: Float[np.ndarray, " later_windows"]
    """After the zero has been found from the first seconds of the run [rad]."""


def held_out(model: hs.Model, log: hs.Trajectory) -> HeldOut:
    beginning = hs.windows(log, ZERO_TIME)[0]
    later = int(np.ceil(ZERO_TIME / STRIDE))
    known = errors(model, [zeroed(log, zero_of(model, beginning))]).rmse[later:]
    return HeldOut(log.run, errors(model, [log]).rmse, known)


def leave_one_out(
    logs: Sequence[hs.Trajectory], seen: Callable[[str, HeldOut], None] = lambda model, found: None
) -> dict[str, list[HeldOut]]:
    """Every run judged by models of all others."""
    results: dict[str, list[HeldOut]] = {"authors": [], "analytical": [], "augmented": []}
    for log in logs:
        plain, shifted = analytical([other for other in logs if other is not log])
        models = {"authors": arm(), "analytical": plain.model, "augmented": augmented(plain.model, shifted).model}
        for name, model in models.items():
            results[name].append(held_out(model, log))
            seen(name, results[name][-1])
    return results
