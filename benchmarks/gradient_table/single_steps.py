"""Single steps of random motions in contact: the derivative of each step against differences of that step.

PYTHONPATH=benchmarks python -m gradient_table.single_steps [--count 1040] [--kinds cube "tall box"] [--seed 0]
PYTHONPATH=benchmarks python -m gradient_table.single_steps --detail --kinds "tall box" --seed 3 --step 120
"""

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import jax
import numpy as np
import tyro
from rich.console import Console

import hybridsim as hs

from .compare import Block, compare
from .differences import Differences, differences
from .jacobians import PRECISE, Map, Programs
from .motions import KINDS, motion
from .regimes import Regime, choose
from .scenes import Scene
from .walk import Walk, walk

WRONG = 1e-3
"""Relative error of an entry that makes a step count as wrong."""
SOLVED = 1e-5
"""Residual of the contact problem beyond which a step counts as unsolved. Bodies of very different mass leave 1e-6: the
tolerance of the solver is relative to the heaviest."""
SAME = 1e-6
"""The same of the distance from the precise solution."""
ENOUGH = 0.5
"""A step counts as tested if at least this part of its Jacobian was compared."""


@dataclass(frozen=True)
class Case:
    """What was found in one step."""

    kind: str
    seed: int
    step: int
    regime: Regime
    blocks: list[Block]
    off: float
    """How far the state after the step is from that of the precise solution, beside the largest change of a velocity."""
    residual: float
    """Of the problem of momentum (`residual.py`)."""

    @property
    def error(self) -> float:
        """Of the worst smooth entry, in either mode; infinite where a number is not finite."""
        if self.count("nan"):
            return float("inf")
        return max(max(block.forward, block.reverse) for block in self.blocks)

    def count(self, name: str) -> int:
        return sum(getattr(block, name) for block in self.blocks)

    @property
    def left_out(self) -> int:
        """Entries that were not compared."""
        return sum(self.count(name) for name in REASONS.values())

    @property
    def tested(self) -> bool:
        return self.left_out <= (1 - ENOUGH) * self.count("entries")

    @property
    def wrong(self) -> bool:
        return not self.error <= WRONG

    @property
    def unsolved(self) -> bool:
        return self.residual > SOLVED or not self.off <= SAME

    @property
    def where(self) -> str:
        worst = max(self.blocks, key=lambda block: max(block.forward, block.reverse))
        return (
            f'--kinds "{self.kind}" --seed {self.seed} --step {self.step}: {self.regime.name}; worst error {self.error:.1e} '
            f"of {worst.output} by {worst.group}; residual {self.residual:.0e}, off the precise solution by {self.off:.0e}"
        )


REASONS = {"kink": "kinks", "near a kink": "rough", "jump": "jumps", "noise": "noisy"}
"""Why entries are left out, and what counts them in a `Block`."""


class Survey:
    """Looks at single steps of random motions; motions of one build share their programs."""

    def __init__(self):
        self._programs = Programs(hs.Impulses(), PRECISE)
        self.walked: dict[str, list[int]] = {}
        """By kind of motion: steps in contact of all motions so far, and how many of these have a residual."""

    def map(self, scene: Scene) -> Map:
        return Map(self._programs, scene)

    def jacobians(self, scene: Scene) -> tuple[Map, np.ndarray, np.ndarray, Differences]:
        """The map, its Jacobian by forward and by reverse mode, and differences."""
        f = self.map(scene)
        return f, f.forward(), f.reverse(), differences(f, f.zero)

    def case(self, along: Walk, step: int) -> Case:
        scene, of = along.scene(step), along.motion
        f, forward, reverse, found = self.jacobians(scene)
        blocks = compare(f.groups, scene.model.nq, forward, reverse, found)
        default, precise = f.default(), f(f.zero[None])[0]
        moved = np.max(np.abs(precise[scene.model.nq :] - scene.qd)) + 9.81 * scene.dt
        off = float(np.max(np.abs(default - precise)) / moved)
        regime = along.regimes[step] or Regime("flies", 0)
        return Case(of.kind, of.seed, step, regime, blocks, off, float(along.residuals[step]))

    def cases(self, count: int, kinds: tuple[str, ...] = (), each: int = 8, seed: int = 0) -> Iterator[Case]:
        """`count` steps, `each` of one motion: regimes of contact take turns as far as there are steps of them.

        Of a motion with unsolved steps the one with the largest residual is among them; of a motion that is lost, only
        the step that loses it is looked at.
        """
        kinds = kinds or tuple(KINDS)
        for i, kind in enumerate(kinds):
            seen, left, number = Counter(), count // len(kinds) + (i < count % len(kinds)), seed
            while left > 0:
                along = walk(motion(kind, number))
                rng = np.random.default_rng([number, sorted(KINDS).index(kind)])
                steps = choose(along.regimes, min(each, left), seen, rng)
                unsolved = along.residuals > SOLVED
                touching = np.array([regime is not None for regime in along.regimes])
                if np.any(unsolved & touching):
                    worst = int(np.argmax(np.where(touching, along.residuals, 0.0)))
                    steps = sorted({worst, *steps[1:]})
                if along.lost is not None:
                    steps = [along.lost]
                before = self.walked.setdefault(kind, [0, 0])
                self.walked[kind] = [before[0] + along.in_contact, before[1] + int(unsolved.sum())]
                for step in steps:
                    yield self.case(along, step)
                left, number = left - len(steps), number + 1


def main(
    count: int = 1040, kinds: tuple[str, ...] = (), seed: int = 0, each: int = 8, detail: bool = False, step: int = 0
) -> None:
    """Print what was found in `count` steps, and every step that failed; or, with `detail`, all about one step."""
    from .detail import show
    from .survey_tables import by_kind, by_regime, terminal

    jax.config.update("jax_enable_x64", True)
    console, survey = Console(width=180), Survey()
    if detail:
        show(survey, walk(motion(kinds[0], seed)), step, console)
        return
    started, found = time.perf_counter(), []
    for case in survey.cases(count, kinds, each, seed):
        found.append(case)
        if case.wrong or case.unsolved:
            console.print(case.where, highlight=False, soft_wrap=True)
    console.print(terminal("Steps by what moves", by_kind(found)))
    console.print(terminal("Steps by what happens", by_regime(found)))
    walked, unsolved = np.sum(list(survey.walked.values()), axis=0)
    console.print(f"{unsolved} of {walked} steps in contact of these motions are unsolved: {survey.walked}")
    console.print(f"{time.perf_counter() - started:.0f} s")
    raise SystemExit(any(case.wrong or case.unsolved for case in found))


if __name__ == "__main__":
    tyro.cli(main)
