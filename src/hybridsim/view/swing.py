"""An arm swings without friction, so its energy shows how good each integrator is."""

import time
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path

import equinox as eqx
import jax
import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table

from ..dynamics import energy
from ..load import load
from ..model import Model
from ..simulate import Integrator, Rollout, RungeKutta4, SemiImplicitEuler, rollout
from ..spatial import Array

START = (2.1, -0.5)
"""Raised pose: shoulder and elbow [rad]. From here both stay within their limits."""

METHODS: tuple[tuple[str, Integrator], ...] = (
    ("semi-implicit Euler", SemiImplicitEuler()),
    ("Runge-Kutta 4", RungeKutta4()),
)
STEP_SIZES = (4e-3, 1e-3)
"""[s]"""


@dataclass(frozen=True)
class Swing:
    """One rollout, and what it cost."""

    method: str
    dt: float
    motion: Rollout
    energy_error: np.ndarray
    """|E - E(0)| over time, divided by the largest kinetic energy of the swing."""
    compile_seconds: float
    run_seconds: float

    @property
    def steps(self) -> int:
        return len(self.motion.t) - 1


def show_swing(out: Path, quick: bool) -> None:
    """Simulate, print the table, write the picture."""
    console, seconds = Console(), 0.1 if quick else 8.0
    model = frictionless_arm()
    swings = [swing(model, method, name, dt, seconds) for name, method in METHODS for dt in STEP_SIZES]
    console.print(_table(swings, seconds))
    console.print(
        "Energy drift: largest |E - E(0)| divided by the largest kinetic energy. The arm has no friction here.",
        highlight=False,
    )

    from .arm_figure import save_arm_figure

    path = save_arm_figure(model, swings, out / "two_link_arm.png")
    console.print(f"Picture: {path}", highlight=False, markup=False, soft_wrap=True)


def frictionless_arm() -> Model:
    """The shipped two-link arm without damping and friction."""
    with as_file(files("hybridsim") / "assets" / "two_link_arm.urdf") as path:
        model = load(path)
    zeros = np.zeros(model.nv)
    return eqx.tree_at(lambda m: (m.joints.damping, m.joints.friction), model, (zeros, zeros))


def swing(model: Model, integrator: Integrator, name: str, dt: float, seconds: float, repeats: int = 3) -> Swing:
    """Let go at `START` without velocity. The first call compiles; the fastest of the others is the speed."""
    state = (np.array(START), np.zeros(model.nv))

    def run() -> tuple[Rollout, float]:
        begin = time.perf_counter()
        result = jax.block_until_ready(
            rollout(model, state, dt=dt, steps=round(seconds / dt), integrator=integrator, contact=None)
        )
        return result, time.perf_counter() - begin

    motion, first = run()
    fastest = min(run()[1] for _ in range(repeats))
    total, kinetic = jax.vmap(lambda q, qd: _energies(model, q, qd))(motion.q, motion.qd)
    error = np.abs(total - total[0]) / np.max(kinetic)
    return Swing(name, dt, motion, np.asarray(error), max(first - fastest, 0.0), fastest)


def _energies(model: Model, q: Array, qd: Array) -> tuple[Array, Array]:
    """Total and kinetic."""
    e = energy(model, q, qd)
    return e.total, e.kinetic


def _table(swings: list[Swing], seconds: float) -> Table:
    table = Table(title=f"A two-link arm swings for {seconds:g} s", title_justify="left", box=box.SIMPLE_HEAD)
    table.add_column("integrator")
    for column in ("step", "energy drift", "steps/s", "x real time", "compile"):
        table.add_column(column, justify="right")
    for s in swings:
        table.add_row(
            s.method,
            f"{s.dt * 1e3:g} ms",
            f"{s.energy_error.max():.1e}",
            f"{s.steps / s.run_seconds:,.0f}",
            f"{s.steps * s.dt / s.run_seconds:,.0f}",
            f"{s.compile_seconds:.2f} s",
        )
    return table
