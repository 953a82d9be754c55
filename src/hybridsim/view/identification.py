"""Tables and figures of the experiments on identification."""

import time
from pathlib import Path

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from rich.console import Console

from ..experiments import coverage, global_search, three_link, unidentifiable
from ..identify.online_mixture import MixtureEstimate
from .style import HYBRID, INK, PRUNED, RIVAL, empty_table, finish

KERNELS = (HYBRID, RIVAL, PRUNED, "#7a9e2a", "#8e5aa8")


def draw_landscape(found: global_search.Landscape) -> Figure:
    """Where searches ended, by where they began; the truth is a star."""
    figure = Figure(figsize=(1.5 + 3.3 * len(found.methods), 4), layout="compressed")
    half = (found.starts[1] - found.starts[0]) / 2
    ends = found.starts[0] - half, found.starts[-1] + half
    # Rounding is as good as nothing: all that is nearer than a tenth of the goal has one colour.
    norm, picture = LogNorm(global_search.NEAR / 10, global_search.UPPER), None
    panels = np.atleast_1d(figure.subplots(1, len(found.methods), sharey=True))
    for axes, method in zip(panels, found.methods, strict=True):
        shown = np.maximum(method.distance, global_search.NEAR / 10).T
        picture = axes.imshow(shown, origin="lower", extent=(*ends, *ends), norm=norm, cmap="Blues_r")
        axes.plot(*global_search.TRUTH, "*", color="#e0b020", markeredgecolor=INK, markersize=16)
        axes.set_title(f"{method.name}\n{100 * method.share:.3g} % of {method.distance.size} starts", fontsize=9)
        axes.set_xlabel("start: length of link 1 [m]")
    panels[0].set_ylabel("start: length of link 2 [m]")
    if picture is not None:
        figure.colorbar(picture, ax=list(panels), label="distance of the end from the truth [m]")
    return figure


def draw_mixture(
    found: MixtureEstimate, truth: Float[np.ndarray, " size"], labels: tuple[str, ...], sign: float = 1.0
) -> Figure:
    """Loss, kernels in three dimensions, and mean and deviation of each over epochs. `sign` is that of the numbers."""
    size = len(truth)
    figure = Figure(figsize=(10, 3 + 1.9 * size), layout="constrained")
    grid = figure.add_gridspec(size + 1, 2, height_ratios=(1.6, *size * (1,)))
    axes = figure.add_subplot(grid[0, 0])
    axes.plot(np.arange(len(found.losses)), found.losses, color=INK)
    axes.set(xlabel="epoch", ylabel="loss", yscale="symlog")
    _stripes(axes, found.observed, numbers=True)
    if size == 3:
        space = figure.add_subplot(grid[0, 1], projection="3d")
        for k in range(found.means.shape[1]):
            space.plot(*(sign * found.means[:, k]).T, color=KERNELS[k % len(KERNELS)])
        space.plot(*truth[:, None], marker="*", color="#e0b020", markersize=12)
        space.set(**{f"{axis}label": label for axis, label in zip("xyz", labels, strict=True)})
    for i in range(size):
        axes = figure.add_subplot(grid[i + 1, :])
        _stripes(axes, found.observed, numbers=i == 0)
        for k in range(found.means.shape[1]):
            mean, deviation = sign * found.means[:, k, i], found.deviations[:, k, i]
            epochs, colour = np.arange(len(mean)), KERNELS[k % len(KERNELS)]
            axes.fill_between(epochs, mean - deviation, mean + deviation, color=colour, alpha=0.2, linewidth=0)
            axes.plot(epochs, mean, color=colour, label=f"kernel {k + 1}, weight {found.weights[-1, k]:.2f}")
        axes.axhline(truth[i], color=INK, linestyle=":", label="truth")
        axes.set(ylabel=labels[i], xlim=(0, len(found.losses)))
        if i == 0:
            axes.legend(frameon=False, fontsize=7, ncols=4, loc="upper right")
        if i == size - 1:
            axes.set_xlabel("epoch")
    return figure


def _stripes(axes: Axes, observed: np.ndarray, numbers: bool) -> None:
    """Where more samples have arrived, with how many there are."""
    for i, epoch in enumerate([0, *(np.flatnonzero(np.diff(observed)) + 1).tolist()]):
        last = epoch + int(np.count_nonzero(observed == observed[epoch]))
        axes.axvspan(epoch, last, color=INK, alpha=0.06 * (i % 2), linewidth=0)
        if numbers:
            axes.text(epoch, 1.0, f" {observed[epoch]}", transform=axes.get_xaxis_transform(), va="bottom", fontsize=7)


def show_global_search(out: Path, quick: bool) -> None:
    """Figure 4 of NeuralSim."""
    console, began = Console(), time.perf_counter()
    found = global_search.run(3 if quick else 20)
    rows = empty_table("Lengths of a double pendulum, from a grid of starts", "", "within 1 mm", "farthest, m")
    for method in found.methods:
        rows.add_row(method.name, f"{100 * method.share:.4g} %", f"{method.distance.max():.2g}")
    console.print(rows)
    finish(console, draw_landscape(found), out / "global_search.png", began)


def show_three_link(out: Path, quick: bool) -> None:
    """Figure 2 of Real2Sim."""
    console, began = Console(), time.perf_counter()
    labels = tuple(f"length {i + 1} [m]" for i in range(3))
    columns = ("samples", *labels)
    for objective in ("evidence", "paper"):
        found = three_link.run(objective, epochs=5 if quick else 80)
        rows = empty_table(f"Three links by a Gaussian mixture, objective: {objective}", *columns)
        for count in dict.fromkeys(found.observed.tolist()):
            mean, deviation = found.moments(int(np.flatnonzero(found.observed == count)[-1]) + 1)
            pairs = zip(-mean, deviation, strict=True)
            rows.add_row(str(count), *(f"{m:.4f} ± {d:.4f}" for m, d in pairs))
        rows.add_row("truth", *(f"{x:.4f}" for x in three_link.TRUTH))
        console.print(rows)
        figure = draw_mixture(found, three_link.TRUTH, labels, sign=-1.0)
        finish(console, figure, out / f"three_link_{objective}.png", began)


def show_coverage(out: Path, quick: bool) -> None:
    """How often intervals of 95 % contain the truth."""
    console, began = Console(), time.perf_counter()
    found = coverage.run(*((3, 0) if quick else (100, 15)))
    for system in dict.fromkeys(case.system for case in found):
        cases = [case for case in found if case.system == system]
        rows = empty_table(f"Intervals of 95 % that contain the truth: {system}", "", *(case.how for case in cases))
        for i, name in enumerate(cases[0].names):
            rows.add_row(name, *(f"{case.inside[:, i].sum()} of {len(case.inside)}" for case in cases))
        rows.add_row("all", *(f"{case.inside.sum()} of {case.inside.size}, {100 * case.share:.1f} %" for case in cases))
        console.print(rows)
    figure = Figure(figsize=(7, 0.6 + 0.3 * sum(len(case.names) + 1 for case in found)), layout="constrained")
    axes = figure.subplots()
    _bars(axes, found)
    finish(console, figure, out / "coverage.png", began)


def _bars(axes: Axes, found: list[coverage.Coverage]) -> None:
    """The share of each number, with what chance allows: twice the standard deviation of so many draws."""
    names, row = [], 0
    for case in found:
        allowed = 200 * np.sqrt(0.95 * 0.05 / len(case.inside))
        for name, share in zip(("all", *case.names), (case.share, *case.each), strict=True):
            axes.plot([95 - allowed, min(95 + allowed, 100)], [row, row], color="#cccccc", linewidth=6)
            axes.plot(100 * share, row, "o", color=PRUNED if name == "all" else HYBRID)
            names.append(f"{case.system}, {case.how}: {name}")
            row += 1
    axes.axvline(95, color=INK, linewidth=0.8)
    axes.set_yticks(range(row), names, fontsize=6)
    axes.invert_yaxis()
    axes.set_xlabel("intervals with the truth [%]; grey: by chance")


def show_unidentifiable(out: Path, quick: bool) -> None:
    """What angles cannot tell, in words."""
    console = Console()
    lines = []
    for case in unidentifiable.run():
        lines += [f"A pendulum, {case.motion}; free: {', '.join(case.determined)}", case.words, ""]
    console.print("\n".join(lines), markup=False, highlight=False)
    (out / "unidentifiable.txt").write_text("\n".join(lines))
