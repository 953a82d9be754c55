"""MuJoCo's finite differences of single steps, `mjd_transitionFD`, beside carefully chosen differences of the same steps.

MuJoCo has no derivative of its contact; this is what its users differentiate with. One step size for all inputs meets
kinks near by, and the noise of a solver that stops at its tolerance.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass

import mujoco
import numpy as np

from .compare import compare
from .differences import differences
from .parameters import Group

EPSILON = 1e-6
"""The step that MuJoCo's documentation proposes."""
WRONG = 1e-3
SHAPES = {
    "cube": 'type="box" size=".05 .05 .05"',
    "flat box": 'type="box" size=".08 .05 .02"',
    "sphere": 'type="sphere" size=".06"',
    "capsule": 'type="capsule" size=".03 .06"',
    "cylinder": 'type="cylinder" size=".04 .04"',
}


@dataclass(frozen=True)
class Rival:
    """What was found for one kind of body."""

    body: str
    steps: int
    agree: int
    """Steps in which every smooth entry is right to `WRONG`."""
    worst: float
    seconds: float
    """For one Jacobian."""


def rivals(each: int = 40, tolerance: float = 1e-8, seed: int = 0) -> Iterator[Rival]:
    """Of each body `each` steps in contact; the solver stops at `tolerance`, which is MuJoCo's by default."""
    for body, geom in SHAPES.items():
        rng = np.random.default_rng(seed)
        errors, took = [], []
        while len(errors) < each:
            stepper = _Stepper(geom, tolerance, rng)
            for state in stepper.in_contact(rng, min(8, each - len(errors))):
                started = time.perf_counter()
                jacobian = stepper.jacobian(state)
                took.append(time.perf_counter() - started)
                found = differences(lambda x, f=stepper, s=state: f.moved(s, x), np.zeros(18))
                groups = (Group("q", 6), Group("qd", 6), Group("control", 6))
                blocks = compare(groups, 6, jacobian, jacobian, found)
                errors.append(max(block.forward for block in blocks))
        yield Rival(body, each, int(np.sum(np.array(errors) <= WRONG)), max(errors), float(np.median(took)))


class _Stepper:
    """A thrown body: one step of it as a function of q, qd and force, all in their tangent spaces."""

    def __init__(self, geom: str, tolerance: float, rng: np.random.Generator):
        motors = "".join(f'<motor joint="free" gear="{" ".join("01"[i == k] for i in range(6))}"/>' for k in range(6))
        friction = rng.uniform(0.1, 0.9)
        self.model = mujoco.MjModel.from_xml_string(
            f'<mujoco><option timestep="0.001" cone="elliptic" tolerance="{tolerance}"/><worldbody>'
            f'<geom type="plane" size="5 5 1" friction="{friction}"/><body pos="0 0 .12"><freejoint name="free"/>'
            f'<geom {geom} mass="{rng.uniform(0.2, 2)}" friction="{friction}"/></body></worldbody>'
            f"<actuator>{motors}</actuator></mujoco>"
        )
        self.data, self.scratch = mujoco.MjData(self.model), mujoco.MjData(self.model)
        turn = rng.standard_normal(4)
        self.data.qpos[3:] = turn / np.linalg.norm(turn)
        self.data.qvel[:] = [*rng.uniform(-1, 1, 2), rng.uniform(-1.5, 0), *rng.uniform(-8, 8, 3)]

    def in_contact(self, rng: np.random.Generator, count: int) -> list[mujoco.MjData]:
        """States of some steps, before them."""
        states = []
        for _ in range(400):
            before = mujoco.MjData(self.model)
            mujoco.mj_copyData(before, self.model, self.data)
            mujoco.mj_step(self.model, self.data)
            if self.data.ncon:
                states.append(before)
        return [states[i] for i in sorted(rng.permutation(len(states))[:count])]

    def jacobian(self, state: mujoco.MjData) -> np.ndarray:
        """(next q and qd, inputs)"""
        mujoco.mj_copyData(self.scratch, self.model, state)
        A, B = np.zeros((12, 12)), np.zeros((12, 6))
        mujoco.mjd_transitionFD(self.model, self.scratch, EPSILON, True, A, B, None, None)
        return np.concatenate([A, B], axis=1)

    def moved(self, state: mujoco.MjData, x: np.ndarray) -> np.ndarray:
        """The next state for each row of x, as a change of the first one's."""
        ends = []
        first = None
        for row in x:
            mujoco.mj_copyData(self.scratch, self.model, state)
            mujoco.mj_integratePos(self.model, self.scratch.qpos, row[:6], 1.0)
            self.scratch.qvel[:] += row[6:12]
            self.scratch.ctrl[:] += row[12:]
            mujoco.mj_step(self.model, self.scratch)
            first = self.scratch.qpos.copy() if first is None else first
            change = np.zeros(6)
            mujoco.mj_differentiatePos(self.model, change, 1.0, first, self.scratch.qpos)
            ends.append(np.concatenate([change, self.scratch.qvel]))
        return np.stack(ends)
