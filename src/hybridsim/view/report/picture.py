"""Figures as SVG: the same colours and letters in all, and the page's own where they stand in it."""

import io
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape

import matplotlib as mpl
from matplotlib.figure import Figure

from ..style import with_visible_names
from .markup import Html, tag

INK, MUTED, LINE, SOFT, PAPER = "#1f2933", "#66717d", "#e3e7ec", "#f1f4f7", "#fefefe"
STAGES = {"original": "#c9510c", "calibrated": "#0b6fb3", "explained": "#0a8a66", "hybrid": "#9b3f94"}
"""Apart for colour-blind people too, and the same in all figures, cards and tables."""
_IN_PAGE = {INK: "ink", MUTED: "muted", LINE: "line", SOFT: "soft", PAPER: "paper"} | {c: n for n, c in STAGES.items()}
"""Variables of the page's style, which differ in the dark."""

_COLOUR = re.compile("|".join(_IN_PAGE))

_STYLE: dict = {
    "svg.fonttype": "none",
    "svg.hashsalt": "hybridsim",
    # Names come from people: a dollar is a dollar.
    "text.parse_math": False,
    "font.family": "DejaVu Sans",
    "font.size": 8.5,
    "text.color": INK,
    "figure.facecolor": PAPER,
    "axes.facecolor": "none",
    "axes.edgecolor": MUTED,
    "axes.linewidth": 0.6,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.titlelocation": "left",
    "axes.titlesize": 9,
    "axes.titleweight": "bold",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.unicode_minus": True,
    "grid.color": LINE,
    "grid.linewidth": 0.6,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "legend.frameon": False,
    "lines.solid_capstyle": "round",
}


@dataclass(frozen=True)
class Picture:
    """A figure that is drawn."""

    name: str
    """Of its file, without the ending."""
    svg: str
    alt: str
    """What it shows, for those who do not see it."""
    caption: str
    half: bool = False
    """Whether two stand side by side."""

    def in_page(self) -> Html:
        """The figure as an element: without what only a file needs, in the colours of the page."""
        svg = self.svg[self.svg.index("<svg") :]
        svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
        svg = re.sub(r'<g id="[^"]*"', "<g", svg)
        svg = re.sub("<[^>]*>", lambda tag: _COLOUR.sub(_variable, tag.group()), svg)
        svg = svg.replace("<svg ", f'<svg role="img" aria-label="{escape(self.alt)}" ', 1)
        return tag(
            "figure",
            Html(svg),
            tag("figcaption", self.caption),
            id=f"figure-{self.name}",
            class_="half" if self.half else "",
        )


def _variable(colour: re.Match[str]) -> str:
    return f"var(--{_IN_PAGE[colour.group()]})"


@contextmanager
def drawing() -> Iterator[None]:
    """Make and save figures in here."""
    with mpl.rc_context(_STYLE), warnings.catch_warnings():
        # The reader's own letters draw the text, which have more signs than those that measure it here.
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        yield


def picture(name: str, figure: Figure, alt: str, caption: str, half: bool = False) -> Picture:
    """Draw it; the same figure gives the same bytes."""
    # Identifiers are made from content and salt: figures in one page must not share them.
    with io.StringIO() as file, mpl.rc_context({"svg.hashsalt": name}):
        with_visible_names(figure).savefig(file, format="svg", metadata={"Date": None, "Creator": None})
        return Picture(name, file.getvalue(), alt, caption, half)


def stage_colour(name: str) -> str:
    return STAGES.get(name, MUTED)
