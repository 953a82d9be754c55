"""Before a fit.toml is there: which files are meant, and what was made of their columns."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..calibrate import Config

UNKNOWN = "?"
"""Stands in a proposal for a column that nobody but the user knows."""
_CONFIG, _ROBOTS = ".toml", (".urdf", ".xml", ".mjcf")


def check_files(model: Path, logs: Sequence[Path]) -> None:
    """That these may be a model and logs of it."""
    if model.suffix.lower() == _CONFIG:
        raise ValueError(f"{model} is a configuration; `hybridsim fit {model}` runs it")
    for path in (model, *logs):
        if path.is_dir():
            raise IsADirectoryError(f"{path} is a folder; name files, such as {path}/*.csv")
        if not path.exists():
            raise FileNotFoundError(f"there is no file {path}; check the path (the current folder is {Path.cwd()})")
    for log in logs:
        if log.suffix.lower() in _ROBOTS:
            raise ValueError(f"{log} looks like a robot, not like a log; give one model first, then its logs")
    if not logs:
        raise ValueError(f"{model} needs logs of its motion: name one file a run after it")


def show_columns(config: "Config") -> None:
    """Print which column of the logs is which number of the model, and which are still to be named."""
    from ..view.tables import terminal

    width = max((len(channel) for channel, _ in config.columns), default=0)
    rows = [f"  {channel:<{width}}  {_words(column)}" for channel, column in config.columns]
    terminal().print("\n".join(["columns:", *rows]), markup=False, highlight=False, soft_wrap=True)


def show_world(config: "Config") -> None:
    """Print whether the robot floats, and on which floor."""
    from ..view.tables import terminal

    lines = ["The root link floats: the logs hold its pose."] if config.base == "free" else []
    if config.floor is not None:
        lines.append(f"The logs show a floor at a height of {1e3 * config.floor.height:.1f} mm; it is in [floor].")
    if lines:
        terminal().print("\n".join(lines), markup=False, highlight=False, soft_wrap=True)


def unnamed(config: "Config") -> list[str]:
    """Channels that need a column, but none was recognised."""
    return [channel for channel, column in config.columns if column == UNKNOWN]


def _words(column: str | float | None) -> str:
    if column == UNKNOWN:
        return "not recognised"
    return column if isinstance(column, str) else "not measured" if column is None else f"always {column:g}"
