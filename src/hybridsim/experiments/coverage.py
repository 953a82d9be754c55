"""Do intervals of 95 % contain the truth in 95 % of all cases? Hundreds of problems of which the truth is known.

In each the true numbers, the motion and the noise are drawn anew, and everything is fitted from the same first guess.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from jaxtyping import Bool, Float

import hybridsim as hs

DT, STEPS, RUNS = 1e-2, 100, 3
"""Three recordings of one second for each problem."""


@dataclass(frozen=True)
class System:
    """A mechanism, and between which numbers the truth of what is unknown is drawn."""

    name: str
    model: hs.Model
    """The first guess."""
    unknown: dict[str, tuple[float, float]]
    driven: bool
    """By joint forces; else it is only let go."""

    def free(self) -> list[hs.Free]:
        return [hs.Free(path) for path in self.unknown]


SYSTEMS = (
    System(
        "double pendulum, let go",
        hs.chain(2, length=0.5, damping=0.03),
        {
            "joint/joint1/damping": (0.02, 0.05),
            "joint/joint2/damping": (0.02, 0.05),
            "link/link2/mass": (0.7, 1.4),
            "joint/joint2/position.z": (-0.6, -0.4),
            "sensor/joint2/bias": (-0.1, 0.1),
        },
        driven=False,
    ),
    System(
        "driven arm",
        hs.chain(2, length=0.5, friction=0.15, friction_speed=0.3, damping=0.05),
        {
            "link/link1/mass": (0.7, 1.4),
            "link/link2/mass": (0.7, 1.4),
            "joint/joint1/friction": (0.1, 0.3),
            "joint/joint2/friction": (0.1, 0.3),
            "control/delay": (0.01, 0.04),
        },
        driven=True,
    ),
)


@dataclass(frozen=True)
class Coverage:
    """How often the stated intervals contained the truth."""

    system: str
    how: str
    """How intervals were found."""
    names: tuple[str, ...]
    inside: Bool[np.ndarray, "problems size"]

    @property
    def share(self) -> float:
        """Of all intervals."""
        return float(self.inside.mean())

    @property
    def each(self) -> Float[np.ndarray, " size"]:
        """Of the intervals of each number."""
        return self.inside.mean(axis=0)


def run(problems: int = 100, sampled: int = 0, systems: tuple[System, ...] = SYSTEMS, seed: int = 0) -> list[Coverage]:
    """So many problems of each system: with noise of unknown and of known level; of some also posterior samples."""
    found = []
    for which, system in enumerate(systems):
        kinds = {"level of noise unknown": [], "level of noise known": [], "posterior samples": []}
        for i in range(problems):
            rng = np.random.default_rng([seed, which, i])
            truth = np.array([rng.uniform(*ends) for ends in system.unknown.values()])
            noise = 10 ** rng.uniform(-3, -2)
            logs = recordings(system, truth, noise, rng)
            unknown, known = (fitted(system, logs, compare) for compare in ("position", {"position": noise}))
            kinds["level of noise unknown"].append(contained(unknown, truth))
            kinds["level of noise known"].append(contained(known, truth))
            if i < sampled:
                draws = hs.sample_posterior(known, draws=250, warmup=150, seed=i)
                ends = np.array(list(draws.intervals().values()))
                kinds["posterior samples"].append((ends[:, 0] <= truth) & (truth <= ends[:, 1]))
        found += [Coverage(system.name, k, tuple(system.unknown), np.array(v)) for k, v in kinds.items() if v]
    return found


def fitted(system: System, logs: list[hs.Trajectory], compare: str | dict[str, float]) -> hs.Fit:
    return hs.fit(system.model, logs, system.free(), window=STEPS * DT, compare=compare, contact=None)


def contained(fit: hs.Fit, truth: np.ndarray) -> np.ndarray:
    return np.array([e.lower <= x <= e.upper for e, x in zip(fit.parameters, truth, strict=True)])


def recordings(system: System, truth: np.ndarray, noise: float, rng: np.random.Generator) -> list[hs.Trajectory]:
    """Motions with these numbers, as noisy sensors show them: positions only."""
    wide = (0.5, 0.5) if system.driven else (1.5, 1.0)
    q, qd = (rng.uniform(-size, size, (RUNS, 2)) for size in wide)
    t = DT * np.arange(STEPS + 1)
    push = _pushes(t, rng) if system.driven else np.zeros((RUNS, STEPS + 1, 2))
    delay = dict(zip(system.unknown, truth, strict=True)).get("control/delay", 0.0)
    felt = np.stack([[np.interp(t - delay, t, u) for u in run.T] for run in push]).transpose(0, 2, 1)
    shown = np.asarray(_sensors(system.name)(truth, q, qd, felt[:, :-1]))
    shown = shown + noise * rng.standard_normal(shown.shape)
    given = push if system.driven else RUNS * [None]
    return [hs.Trajectory(t, x, controls=u, run=f"run {i}") for i, (x, u) in enumerate(zip(shown, given, strict=True))]


def _pushes(t: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Three sines of up to 2 Hz for each joint and run [N m]; the first joint carries more."""
    size, speed, phase = (
        rng.uniform(low, high, (3, RUNS, 1, 2)) for low, high in ((0.2, 1.0), (2.0, 12.0), (0.0, 6.3))
    )
    return np.array([3.0, 1.0]) * np.sum(size * np.sin(speed * t[:, None] + phase), axis=0)


@cache
def _sensors(name: str) -> Callable:
    """What the sensors of a system show, in native code, for many runs at once."""
    system = next(s for s in SYSTEMS if s.name == name)
    numbers = hs.identify.Parameters(system.model, system.free(), 2 if system.driven else 0)

    def shown(truth, q, qd, felt):
        setup = numbers.setup(truth)
        made = hs.rollout(setup.model, (q, qd), felt, dt=DT, contact=None)
        return setup.apparatus.position_gain * made.q + setup.apparatus.position_bias

    return hs.native.batch(shown, in_axes=(None, 0, 0, 0))
