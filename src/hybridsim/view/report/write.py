"""Writes the report and its figures."""

from pathlib import Path

from ...calibrate.result import Calibration
from ...escape import for_people
from ...identify.atomic_write import write_text
from .page import page


def write_report(calibration: Calibration, folder: Path, files: dict[str, str] | None = None) -> Path:
    """`folder`/report.html, which stands by itself, and its figures as folder/figures/*.svg; the path of the page.

    `files`: what else is in the folder, by name, in one line each.
    """
    made = page(calibration, files or {})
    figures = folder / "figures"
    figures.mkdir(parents=True, exist_ok=True)
    for picture in made.pictures:
        write_text(figures / f"{picture.name}.svg", picture.svg)
    path = folder / "report.html"
    write_text(path, for_people(made.html))
    return path
