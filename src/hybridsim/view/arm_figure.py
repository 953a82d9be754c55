"""The demo's picture: the arm's motion as a strobe photograph, its angles, and the energy error."""

from pathlib import Path
from typing import TYPE_CHECKING

import jax
import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MultipleLocator

from ..dynamics import forward_kinematics
from ..model import Model

if TYPE_CHECKING:
    from .swing import Swing

INK = "#1f2933"
GREY = "#8a94a0"
GRID = "#e6e9ed"
COLOURS = {"semi-implicit Euler": ("#f2a65a", "#c2571a"), "Runge-Kutta 4": ("#7fb2e5", "#1f5fa8")}
"""Of each integrator: at the coarse step and at the fine one."""
DUSK = ("#1d3557", "#6a4c93", "#e4572e", "#ffb703")
"""From early to late."""

STYLE: dict = {
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "axes.edgecolor": GREY,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.titlelocation": "left",
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": GRID,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "legend.frameon": False,
}


def save_arm_figure(model: Model, swings: "list[Swing]", path: Path) -> Path:
    """Draw the swings and write them to `path`."""
    best = swings[-1]
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(12, 5.6), layout="constrained")
        grid = figure.add_gridspec(2, 2, width_ratios=(1.3, 1))
        _strobe(figure, figure.add_subplot(grid[:, 0]), model, best)
        angles = figure.add_subplot(grid[0, 1])
        _angles(angles, best)
        _energy(figure.add_subplot(grid[1, 1], sharex=angles), swings)
        figure.savefig(path, dpi=150)
    return path


def _points(model: Model, swing: "Swing") -> np.ndarray:
    """Shoulder, elbow, wrist and finger tip over time, in the plane of motion: (time, 4, 2)."""

    def in_plane(q):
        poses = forward_kinematics(model, q)
        tip = poses["hand"].apply(np.array([0.0, 0.0, -0.09]))
        joints = [poses[link].position for link in ("upper_arm", "forearm", "hand")]
        return jax.numpy.stack([*joints, tip])[:, [0, 2]]

    return np.asarray(jax.jit(jax.vmap(in_plane))(swing.motion.q))


def _strobe(figure: Figure, axes: Axes, model: Model, swing: "Swing", flash: float = 0.032, last: float = 0.96) -> None:
    """The arm every `flash` seconds until `last`, from the dark start to the bright end, and the tip's whole path."""
    points = _points(model, swing)
    until = min(last, swing.steps * swing.dt)
    every = max(round(flash / swing.dt), 1)
    shown = range(0, round(until / swing.dt) + 1, every)
    colour = ScalarMappable(Normalize(0, until), LinearSegmentedColormap.from_list("dusk", DUSK))

    axes.plot(*points[:, -1].T, color=GREY, lw=0.7, alpha=0.6, zorder=1)
    for i in shown:
        tone = colour.to_rgba(np.asarray(i * swing.dt))
        ends = dict.fromkeys((shown[0], shown[-1]), 1.0)
        look = {"color": tone, "alpha": ends.get(i, 0.55), "solid_capstyle": "round", "zorder": 3 if i in ends else 2}
        axes.plot(*points[i, :2].T, lw=5, **look)
        axes.plot(*points[i, 1:].T, lw=3, **look)
        axes.plot(*points[i, 1], "o", color="white", ms=3.4, mec=tone, mew=1.2, zorder=look["zorder"])
        axes.plot(*points[i, 3], "o", color=tone, ms=4, zorder=look["zorder"])
    axes.plot(*points[0, 0], "o", color="white", ms=9, mec=INK, mew=2.2, zorder=4)
    axes.set_aspect("equal")
    axes.margins(0.05)
    axes.set_title(
        f"First {until:g} s, a pose every {every * swing.dt * 1e3:g} ms; path of the tip over {swing.motion.t[-1]:g} s"
    )
    axes.set_xlabel("x [m]")
    axes.set_ylabel("z [m]")
    bar = figure.colorbar(colour, ax=axes, location="bottom", shrink=0.45, aspect=45, pad=0.02)
    bar.set_label("time [s]")
    bar.outline.set_visible(False)


def _angles(axes: Axes, swing: "Swing") -> None:
    degrees = np.degrees(np.asarray(swing.motion.q))
    for angle, name, colour in zip(degrees.T, ("shoulder", "elbow"), (DUSK[0], DUSK[2]), strict=True):
        axes.plot(swing.motion.t, angle, color=colour, lw=1.8, label=name)
    axes.set_title("Joint angles [deg]")
    axes.yaxis.set_major_locator(MultipleLocator(60))
    axes.legend(loc="lower right", bbox_to_anchor=(1.0, 0.98), ncols=2, borderaxespad=0)
    axes.tick_params(labelbottom=False)


def _energy(axes: Axes, swings: "list[Swing]") -> None:
    """Each curve carries its name at its end, outside of the axes."""
    steps = sorted({s.dt for s in swings}, reverse=True)
    for s in swings:
        colour = COLOURS[s.method][steps.index(s.dt)]
        error = np.maximum(s.energy_error[1:], np.finfo(float).eps)
        axes.semilogy(s.motion.t[1:], error, color=colour, lw=1.3)
        label = f"{s.method}\n{s.dt * 1e3:g} ms"
        # The typical error at the end: the last tenth's median, for the error passes through zero now and then.
        height = float(np.median(error[-max(len(error) // 10, 1) :]))
        nudge = {0: 8, 1: -8}[steps.index(s.dt)] if "Euler" in s.method else 0
        axes.annotate(
            label,
            (1, height),
            xycoords=axes.get_yaxis_transform(),
            xytext=(6, nudge),
            textcoords="offset points",
            color=colour,
            fontsize=8.5,
            va="center",
        )
    axes.set_title("Energy error / largest kinetic energy")
    axes.set_xlabel("time [s]")
    axes.set_xlim(0, swings[0].steps * swings[0].dt)
    axes.yaxis.set_major_locator(LogLocator(numticks=6))
    axes.minorticks_off()
