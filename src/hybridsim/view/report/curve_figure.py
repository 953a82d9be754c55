"""A learned force: a line over one variable, a map over two."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from ...calibrate.result import Curve
from .numbers import sentence_of
from .picture import MUTED, STAGES, Picture, drawing, picture


def curve_figure(curve: Curve, file: str) -> Picture:
    with drawing():
        single = len(curve.axes) == 1
        if single:
            figure = Figure(figsize=(4.6, 3.0), layout="constrained")
            _line(figure.subplots(), curve)
        else:
            figure = Figure(figsize=(9.4, 3.4), layout="constrained")
            _maps(figure, curve)
        over = " and ".join(curve.labels)
        return picture(
            file, figure, f"Learned force at {curve.joint} over {over}", sentence_of(curve.words), half=single
        )


def _line(axes: Axes, curve: Curve) -> None:
    x = curve.axes[0]
    axes.axhline(0, color=MUTED, lw=0.8)
    axes.plot(x, _finite(curve.force), color=STAGES["hybrid"], lw=2, label="laws and network")
    if np.isfinite(curve.law).any():
        axes.plot(x, _finite(curve.law), "--", color=STAGES["explained"], lw=1.8, label="laws alone")
    axes.margins(x=0)
    axes.set_title(curve.joint)
    axes.set_xlabel(curve.labels[0])
    axes.set_ylabel(f"force [{curve.unit}]")
    axes.legend(loc="best")


def _maps(figure: Figure, curve: Curve) -> None:
    """The force and, beside it, what the laws say, in the same colours."""
    parts = [("laws and network", _finite(curve.force))]
    if np.isfinite(curve.law).any() and np.any(curve.law != 0):
        parts.append(("laws alone", _finite(curve.law)))
    largest = max((float(np.nanmax(np.abs(f))) for _, f in parts if np.isfinite(f).any()), default=0.0) or 1.0
    levels = MaxNLocator(nbins=14, symmetric=True).tick_values(-largest, largest)
    panels = figure.subplots(1, len(parts), sharey=True, squeeze=False)[0]
    drawn = []
    for axes, (title, force) in zip(panels, parts, strict=True):
        drawn.append(axes.contourf(*curve.axes, np.ma.masked_invalid(force).T, levels=levels, cmap="PuOr_r"))
        if np.nanmin(force, initial=np.inf) < 0 < np.nanmax(force, initial=-np.inf):
            axes.contour(*curve.axes, np.ma.masked_invalid(force).T, levels=[0.0], colors=MUTED, linewidths=0.8)
        axes.set_title(f"{curve.joint}, {title}")
        axes.set_xlabel(curve.labels[0])
        axes.grid(visible=False)
    panels[0].set_ylabel(curve.labels[1])
    bar = figure.colorbar(drawn[0], ax=list(panels), pad=0.02)
    bar.set_label(f"force [{curve.unit}]")
    bar.outline.set_visible(False)


def _finite(values: np.ndarray) -> np.ndarray:
    return np.where(np.isfinite(values), values, np.nan)
