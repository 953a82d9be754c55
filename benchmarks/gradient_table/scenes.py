"""The scenes: a model, how it starts, what drives it and for how long; of each regime of contact one.

Those with the same body last equally long, so that they share their machine code.
"""

from dataclasses import dataclass

import numpy as np

import hybridsim as hs
from hybridsim.model import Memory

from .quadruped import FEET, standing

SOLID = (0.05, 0.06, 0.04)
"""Half sizes of the box [m]."""
RADIUS = 0.1
"""Of the ball [m]."""
SLOW = 0.1
"""Transition speed of springs' friction [m/s]: at the default 0.01 friction of a light body is too stiff for a
step of 1 ms, rest becomes a chatter and derivatives grow without bound."""
TURN = (0.3, -0.2, 0.4)
"""A rotation vector that is no symmetry of anything [rad]."""


@dataclass(frozen=True)
class Scene:
    """What is rolled out. `control` is held: actuators' commands, or joint forces where there are none."""

    name: str
    model: hs.Model
    q: np.ndarray
    qd: np.ndarray
    control: np.ndarray
    steps: int
    dt: float = 1e-3
    memory: Memory | None = None
    """What contact remembers of the step before."""
    end: int | None = None
    """The step whose end is looked at; None: the last. Scenes that differ in it share their machine code."""


def flight() -> Scene:
    """A box that is thrown and touches nothing."""
    q = np.concatenate([[0.0, 0.0, 1.0], _quaternion(TURN)])
    return Scene("flight", _free("box", SOLID), q, np.array([2.0, -1.0, 3.0, 1.0, 0.5, 0.3]), _push(), 200)


def sliding() -> Scene:
    """A box that slides on its lower face and does not come to rest."""
    q = np.concatenate([[0.0, 0.0, SOLID[2]], _quaternion((0.0, 0.0, 0.4))])
    qd = np.array([0.0, 0.0, 0.5, 1.2, 0.4, 0.0])
    return Scene("sliding", _free("box", SOLID, friction=0.3), q, qd, _push(), 200)


def sticking() -> Scene:
    """A box on a slope of 17 degrees that friction holds."""
    normal = np.array([0.28, 0.1, 0.95])
    normal /= np.linalg.norm(normal)
    axis = np.cross([0.0, 0.0, 1.0], normal)
    angle = np.arcsin(np.linalg.norm(axis))
    q = np.concatenate([SOLID[2] * normal, _quaternion(angle * axis / np.linalg.norm(axis))])
    return Scene("sticking", _free("box", SOLID, friction=0.8, normal=normal), q, np.zeros(6), _push(), 200)


def rolling() -> Scene:
    """A ball that rolls without sliding, driven by a moment."""
    qd = np.array([2.0, 5.0, 1.0, 5.0 * RADIUS, -2.0 * RADIUS, 0.0])
    q = np.concatenate([[0.0, 0.0, RADIUS], _quaternion((0.0, 0.0, 0.0))])
    return Scene("rolling", _free("sphere", RADIUS), q, qd, _push(), 250)


def bouncing() -> Scene:
    """A ball that falls 0.1 m with some spin and bounces once."""
    q = np.concatenate([[0.0, 0.0, RADIUS + 0.1], _quaternion(TURN)])
    qd = _in_body(TURN, (1.0, -2.0, 3.0), (0.5, 0.2, 0.0))
    return Scene("bouncing", _free("sphere", RADIUS, restitution=0.8, dissipation=1e4), q, qd, _push(), 250)


def resting() -> Scene:
    """A box at rest on the four corners of its lower face."""
    q = np.concatenate([[0.0, 0.0, SOLID[2]], _quaternion((0.0, 0.0, 0.4))])
    return Scene("resting on four points", _free("box", SOLID), q, np.zeros(6), np.zeros(6), 200)


def quadruped(dt: float = 1e-3) -> Scene:
    """Four feet on the ground, held by position servos, for a tenth of a second."""
    robot, q, control = standing()
    model = hs.with_contacts(hs.world(robot, hs.ground(friction=0.8)), FEET, static_friction=0.8, transition_speed=SLOW)
    return Scene("quadruped standing", model, q, np.zeros(model.nv), control, round(0.1 / dt), dt)


def thrown_cube() -> Scene:
    """A cube that is thrown spinning and lands on a corner, then on others."""
    q = np.concatenate([[0.0, 0.0, 0.15], _quaternion(TURN)])
    qd = np.array([4.0, -3.0, 2.0, 1.0, 0.3, 0.0])
    model = _free("box", (0.05, 0.05, 0.05), friction=0.4, restitution=0.3, dissipation=2e4)
    return Scene("thrown cube", model, q, qd, _push(), 200)


def scenes(springs: bool = False) -> list[Scene]:
    """All of them. On springs the light feet of the quadruped need a smaller step to be stable."""
    robot = quadruped(2.5e-4 if springs else 1e-3)
    return [flight(), sliding(), sticking(), rolling(), bouncing(), resting(), robot, thrown_cube()]


def _free(shape: str, size, normal=(0.0, 0.0, 1.0), friction: float = 0.5, **numbers) -> hs.Model:
    """A body of half a kilogram that floats in a little drag over the ground."""
    body = hs.build(
        [hs.solid("body", 0.5, shape, size)], [hs.Joint("root", "free", "world", "body", damping=1e-3)], source="body"
    )
    model = hs.world(body, hs.ground(normal=normal, friction=friction))
    return hs.with_contacts(model, friction=friction, static_friction=friction, transition_speed=SLOW, **numbers)


def _push() -> np.ndarray:
    """A moment and a force on the floating body, in its own axes."""
    return np.array([0.002, 0.003, -0.004, 0.05, -0.08, 0.06])


def _quaternion(turn) -> np.ndarray:
    angle = np.linalg.norm(turn)
    axis = np.asarray(turn) / (angle if angle > 0 else 1.0)
    return np.concatenate([[np.cos(angle / 2)], np.sin(angle / 2) * axis])


def _in_body(turn, angular, linear) -> np.ndarray:
    """qd of a floating body that is turned, from velocities in the world's axes."""
    w, *v = _quaternion(turn)
    v = np.array(v)

    def back(x):
        return x + 2 * np.cross(-v, np.cross(-v, x) + w * x)

    return np.concatenate([back(np.asarray(angular)), back(np.asarray(linear))])
