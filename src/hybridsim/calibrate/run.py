"""The main job as a whole: all stages with their progress shown, and the folder that they leave."""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from .. import interrupt
from ..escape import for_people
from .config import Config
from .files import write_files
from .job import PARTS, work_through
from .result import Calibration

_SHARES = dict(zip(PARTS, (1.0, 1.0, 10.0, 3.0, 3.0, 2.0, 8.0, 1.0), strict=True))
"""Of the whole time, roughly, for the time that is left."""
_WRITING, _LAST = "writing models and parameters", 2.0


def calibrate(config: Config, folder: Path, resume: bool = False, progress: bool = False) -> Calibration:
    """Do all that a config asks for, and write the run folder. With `resume`, continue what was begun in it.

    A KeyboardInterrupt ends it with what there is (`stopped`), unless no model has been judged yet: then it is passed on.
    Warnings are kept in the result, and given when all is done.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with _shown(progress) as show:

        def say(words: str) -> None:
            show(words)
            interrupt.check()

        found = work_through(config, folder, resume, say)
        show(_WRITING)
        write_files(found, folder)
    for words in found.warnings:
        warnings.warn(words, UserWarning, stacklevel=2)
    return found


@contextmanager
def _shown(progress: bool) -> Iterator[Callable[[str], None]]:
    """A bar with the part of the work, what happens in it, and the time that is left."""
    if not progress:
        yield lambda words: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    shares = _SHARES | {_WRITING: _LAST}
    columns = (
        SpinnerColumn(), BarColumn(24), TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn(),
        TextColumn("{task.description}", markup=False),
    )  # fmt: skip
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=sum(shares.values()))
        done, part = 0.0, ""

        def say(words: str) -> None:
            nonlocal done, part
            words = for_people(words)  # joints in it may be called anything
            if words in shares:
                done, part = done + shares.get(part, 0.0), words
                bar.update(task, completed=done, description=words)
            else:
                bar.update(task, description=f"{part}: {words}")
                if words.startswith("found"):
                    bar.console.print(f"  {words}", markup=False, emoji=False, highlight=False)

        yield say
