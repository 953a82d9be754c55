"""Whole motions with many impacts: the derivative of the state where they end, against differences of the whole motion.

PYTHONPATH=benchmarks python -m gradient_table.tosses [--count 240] [--kinds cube] [--seed 0]
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass

import jax
import numpy as np
import tyro
from rich.console import Console

import hybridsim as hs

from .compare import Block, compare
from .differences import differences
from .jacobians import Map, Programs
from .motions import KINDS, STEPS, motion, random_numbers
from .scenes import Scene
from .single_steps import ENOUGH, PRECISE, REASONS
from .walk import Walk, walk

SHORTEST = 100
"""Steps of the shortest toss; the longest is as long as a walk."""
WRONG = 0.01
"""Relative error of an entry beyond which it is wrong: impacts amplify the tolerance of the solver."""


@dataclass(frozen=True)
class Toss:
    """What was found."""

    kind: str
    seed: int
    steps: int
    touching: int
    """Steps with an impulse."""
    blocks: list[Block]

    def count(self, name: str) -> int:
        return sum(getattr(block, name) for block in self.blocks)

    @property
    def error(self) -> float:
        """Of the worst smooth entry, in either mode; infinite where a number is not finite."""
        if self.count("nan"):
            return float("inf")
        return max(max(block.forward, block.reverse) for block in self.blocks)

    @property
    def wrong(self) -> bool:
        return not self.error <= WRONG

    @property
    def left_out(self) -> int:
        """Entries that were not compared."""
        return sum(self.count(name) for name in REASONS.values())

    @property
    def tested(self) -> bool:
        return self.left_out <= (1 - ENOUGH) * self.count("entries")

    @property
    def where(self) -> str:
        worst = max(self.blocks, key=lambda block: max(block.forward, block.reverse))
        place = f'--kinds "{self.kind}" --seed {self.seed}: {self.steps} steps'
        return f"{place}; worst error {self.error:.1e} of {worst.output} by {worst.group}"


class Tosses:
    """Programs that are shared by all motions of the same build."""

    def __init__(self):
        self._programs = Programs(hs.Impulses(), PRECISE)

    def toss(self, along: Walk) -> Toss | None:
        """The motion until a random step; None if it becomes too fast before."""
        of, rng = along.motion, random_numbers(along.motion.kind, along.motion.seed)
        steps = int(rng.integers(SHORTEST, STEPS + 1))
        if along.too_fast < steps:
            return None
        scene = Scene(f"{of.kind} {of.seed}", of.model, of.q, of.qd, of.control, STEPS, of.dt, end=steps)
        f = Map(self._programs, scene)
        blocks = compare(f.groups, of.model.nq, f.forward(), f.reverse(), differences(f, f.zero))
        touching = np.any(along.values["contact.impulse"][:steps, :, 0] > 0, axis=1)
        return Toss(of.kind, of.seed, steps, int(touching.sum()), blocks)

    def tosses(self, count: int, kinds: tuple[str, ...] = (), seed: int = 0) -> Iterator[Toss]:
        """As many of each kind; motions that touch nothing or become too fast are left out."""
        kinds = kinds or tuple(KINDS)
        for i, kind in enumerate(kinds):
            left, number = count // len(kinds) + (i < count % len(kinds)), seed
            while left:
                toss = self.toss(walk(motion(kind, number)))
                number += 1
                if toss is not None and toss.touching:
                    yield toss
                    left -= 1


def main(count: int = 240, kinds: tuple[str, ...] = (), seed: int = 0) -> None:
    """Print what was found, and every toss with a wrong derivative."""
    from .survey_tables import of_tosses, terminal

    jax.config.update("jax_enable_x64", True)
    console, started, found = Console(width=180), time.perf_counter(), []
    for toss in Tosses().tosses(count, kinds, seed):
        found.append(toss)
        if toss.wrong:
            console.print(toss.where, highlight=False, soft_wrap=True)
    console.print(terminal("Tosses", of_tosses(found)))
    console.print(f"{time.perf_counter() - started:.0f} s")
    raise SystemExit(any(toss.wrong for toss in found))


if __name__ == "__main__":
    tyro.cli(main)
