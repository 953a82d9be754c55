"""Tables and figures of the experiments."""

import time
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from rich.console import Console

from ..augment import blueprint_of
from ..experiments import discovery, energy, motor
from .blueprint import draw_blueprint
from .style import HYBRID, INK, PRUNED, RIVAL, empty_table, finish


def _found(effect: str, quick: bool) -> tuple[Figure, Figure]:
    """The networks before and after, and a table on the way."""
    console = Console()
    dense, found = discovery.find(effect, *((3, 20, 20) if quick else (10, 300, 300)), progress=console.is_terminal)
    rows = empty_table(
        f"A double pendulum whose model lacks {effect}", "inputs of", "joint 1", "joint 2", "held-out error"
    )
    for point in found.points:
        counts = dict.fromkeys(("joint.force[joint1]", "joint.force[joint2]"), "-")
        counts |= {site: str(len(inputs)) for site, inputs in point.inputs}
        rows.add_row("chosen" if point is found.chosen else "", *counts.values(), f"{point.error:.2g}")
    console.print(rows)
    console.print("Held-out error: mean squared, of positions and velocities, over 0.1 s. Found:")
    for augment in blueprint_of(found.model).augments:
        console.print(f"  {augment}", markup=False)
    return draw_blueprint(dense), draw_blueprint(found.model)


def _paste(axes: Axes, figure: Figure, title: str) -> None:
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    axes.imshow(np.asarray(canvas.buffer_rgba()))
    axes.set_title(title, loc="left", fontsize=9)
    axes.set_axis_off()


def show_discovery(out: Path, quick: bool) -> None:
    """Figure 10 of NeuralSim."""
    console, began = Console(), time.perf_counter()
    before, after = _found("damping", quick)
    curve = discovery.learning_curve((1, 2), 20) if quick else discovery.learning_curve(progress=console.is_terminal)
    rows = empty_table("Held-out error over 1 s, by the number of training trajectories", "", *map(str, curve.counts))
    figure = Figure(figsize=(12, 4.2), layout="constrained")
    grid = figure.add_gridspec(2, 2, width_ratios=(1.5, 1))
    _paste(figure.add_subplot(grid[0, 0]), before, "all inputs")
    _paste(figure.add_subplot(grid[1, 0]), after, "what the sparse-group lasso leaves")
    axes = figure.add_subplot(grid[:, 1])
    for name, values, colour in (
        ("hybrid, inputs pruned", curve.pruned, PRUNED),
        ("hybrid, all inputs", curve.dense, HYBRID),
        ("network of the next state", curve.learned, RIVAL),
    ):
        rows.add_row(name, *(f"{value:.2g}" for value in values))
        axes.loglog(curve.counts, values, "o-", color=colour, label=name)
    axes.axhline(curve.plain, color=INK, linestyle=":", label="the model without friction")
    axes.set(xlabel="training trajectories of 1 s", ylabel="mean squared error, held out")
    axes.grid(alpha=0.3)
    figure.legend(frameon=False, fontsize=8, loc="outside upper right", ncols=4)
    rows.add_row("the model alone", *len(curve.counts) * [f"{curve.plain:.2g}"])
    console.print(rows)
    finish(console, figure, out / "discovery.png", began)


def show_friction(out: Path, quick: bool) -> None:
    """The same with springs and Coulomb friction."""
    began = time.perf_counter()
    for stage, figure in zip(("before", "after"), _found("springs and Coulomb friction", quick), strict=True):
        finish(Console(), figure, out / f"friction_{stage}.png", began)


def show_motor(out: Path, quick: bool) -> None:
    """A driven arm whose motors answer late and saturate."""
    console, began = Console(), time.perf_counter()
    result = motor.run(2, 20) if quick else motor.run(progress=console.is_terminal)
    rows = empty_table("An arm whose motors answer 50 ms late and saturate: held-out error over 2 s", "", "error")
    for name, error in result.errors.items():
        rows.add_row(name, f"{error:.2g}")
    console.print(rows)
    figure = Figure(figsize=(7, 4), layout="constrained")
    upper, lower = figure.subplots(2, sharex=True)
    t = motor.DT * np.arange(motor.STEPS + 1)
    upper.plot(t, result.measured.q[:, 1], color=INK, linewidth=3, alpha=0.3, label="measured")
    for name, colour in zip(result.motions, (RIVAL, "#999999", HYBRID, PRUNED), strict=True):
        upper.plot(t, result.motions[name].q[:, 1], color=colour, label=name)
        lower.plot(t, result.motions[name].q[:, 1] - result.measured.q[:, 1], color=colour)
    upper.set_ylabel("elbow [rad]")
    lower.set(xlabel="time [s]", ylabel="error [rad]")
    upper.legend(frameon=False, fontsize=7, ncols=2)
    finish(console, figure, out / "motor.png", began)


def show_energy(out: Path, quick: bool) -> None:
    """Physical structures over a minute."""
    console, began = Console(), time.perf_counter()
    cases = energy.run(2, 20, 20) if quick else energy.run(progress=console.is_terminal)
    rows = empty_table(
        f"{energy.STARTS} rollouts of {energy.SECONDS} s after training on motions of 1 s",
        "network",
        "held-out error",
        "gain energy",
        "most gained [J]",
        "worst drift [J]",
    )
    figure = Figure(figsize=(8, 5), layout="constrained")
    for axes, case in zip(figure.subplots(2, 2).ravel(), cases, strict=True):
        gained = case.gained
        share = f"{np.sum(gained > 1e-3):d} of {len(gained)}"
        drift = np.abs(case.drift).max()
        numbers = f"{case.error:.2g}", share, f"{gained.max():.2g}", f"{drift:.2g}" if case.effect == "springs" else ""
        rows.add_row(f"{case.effect}: {case.network}", *numbers)
        t = np.linspace(0, energy.SECONDS, case.energies.shape[1])
        colour = RIVAL if case.network == "plain" else HYBRID
        axes.plot(t, np.minimum(case.energies, 1e3).T, color=colour, alpha=0.4, linewidth=0.7)
        axes.axhline(0, color=INK, linewidth=0.8)
        axes.set(title=f"{case.effect}: {case.network}", xlabel="time [s]", ylabel="energy above start [J]")
        axes.set_yscale("symlog", linthresh=1e-1)
    console.print(rows)
    console.print(
        "Gain energy: more than 1 mJ above the start, at any time; where a potential was learned, it counts, else the springs of "
        "the reference. Drift: mean of the last 10 s above that of the first, always as the reference counts."
    )
    finish(console, figure, out / "energy.png", began)
