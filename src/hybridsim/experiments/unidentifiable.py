"""What angles alone cannot tell: the length and the centre of mass of a pendulum mirror each other (Real2Sim, section IV).

A pendulum swings by m c / (I + m c^2), in which its length is hidden in the moment of inertia I: one number for three. Forces
of known size tell a second one; the third no angle can tell.
"""

import warnings
from dataclasses import dataclass

import numpy as np

import hybridsim as hs

DT, STEPS, NOISE = 1e-2, 200, 1e-3
SHAPE = ("link/link1/com.z", "link/link1/inertia.yy")
CASES = (
    ("let go", False, SHAPE),
    ("let go", False, ("link/link1/mass", *SHAPE)),
    ("pushed by known forces", True, SHAPE),
    ("pushed by known forces", True, ("link/link1/mass", *SHAPE)),
)


@dataclass(frozen=True)
class Case:
    motion: str
    determined: dict[str, bool]
    """Of each number, whether the data determine it."""
    words: str
    """What the fit says of it."""


def run(cases: tuple[tuple[str, bool, tuple[str, ...]], ...] = CASES) -> list[Case]:
    found = []
    for motion, driven, free in cases:
        with warnings.catch_warnings():
            # What it warns of is what we want to see.
            warnings.simplefilter("ignore", hs.IdentifiabilityWarning)
            fit = hs.fit(hs.chain(1), recording(driven), free, window=STEPS * DT, contact=None)
        determined = {e.name: bool(np.isfinite(e.deviation)) for e in fit.parameters}
        found.append(Case(motion, determined, fit.identifiability))
    return found


def recording(driven: bool) -> hs.Trajectory:
    """Angles of a rod of 1 m and 1 kg, measured with noise."""
    t = DT * np.arange(STEPS + 1)
    push = driven * 2.0 * np.sin(4.0 * t)[:, None]
    made = hs.rollout(hs.chain(1), (np.array([1.0]), np.zeros(1)), push[:-1], dt=DT, contact=None)
    q = np.asarray(made.q) + NOISE * np.random.default_rng(0).standard_normal(made.q.shape)
    return hs.Trajectory(t, q, controls=push if driven else None, run="pushed" if driven else "let go")
