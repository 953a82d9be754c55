"""The progress of a long fit: shown, and written to checkpoints from which a killed fit continues."""

import hashlib
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from .checkpoint import read_checkpoint, write_checkpoint
from .levenberg_marquardt import Point

_FILE = "progress.npz"
_SECONDS = 1.0
"""Minimum interval between two checkpoints."""
State = Mapping[str, Any]


class Journal:
    """The progress of one fit. Without a folder nothing is written."""

    def __init__(
        self,
        folder: str | os.PathLike | None = None,
        of: str = "",
        resume: bool = False,
        show: Callable[[str, int, float], None] | None = None,
    ):
        """`of`: a fingerprint of the problem, by which the state of another one is refused."""
        self.folder, self.costs, self._show = None if folder is None else Path(folder), [], show
        self._of, self._written, self._begun, self._before = of, -np.inf, time.monotonic(), 0.0
        self._restored: dict[str, np.ndarray] = {}
        self._continued = resume
        self._start: dict[str, Any] = {}
        if self.folder is not None:
            if self.folder.exists() and not self.folder.is_dir():
                raise NotADirectoryError(f"{self.folder} is no folder; give one for the progress of the fit")
            self.folder.mkdir(parents=True, exist_ok=True)
            if resume:
                self._restored = self._read()

    @property
    def seconds(self) -> float:
        """Time spent on the fit by all processes that worked on it."""
        return self._before + time.monotonic() - self._begun

    def restored(self, stage: str) -> dict[str, np.ndarray] | None:
        """The state in which this stage of the search was left; None if it was not begun."""
        if self._restored.get("stage") is None or str(self._restored["stage"]) != stage:
            return None
        return {k.removeprefix("state."): v for k, v in self._restored.items() if k.startswith("state.")}

    @property
    def stage(self) -> str | None:
        """The stage that an earlier process had reached."""
        return str(self._restored["stage"]) if "stage" in self._restored else None

    def start(self, stage: str, point: Point) -> Point:
        """Where a stage begins: at this point, or, if the fit is resumed in this stage, where it began then."""
        kept = {k: v for k, v in self._restored.items() if k.startswith("start.")}
        if self.stage == stage and kept:
            point = Point(kept["start.z"], kept["start.s"], damping=float(kept["start.damping"]))
        self._start = {"start.z": point.z, "start.s": point.s, "start.damping": point.damping}
        return point

    def note(self, stage: str, iteration: int, cost: float, state: Callable[[], State]) -> None:
        """Record an iteration. `state` is called if it is time for a checkpoint."""
        self.costs.append(cost)
        if self._show is not None:
            self._show(stage, iteration, cost)
        if self.folder is not None and time.monotonic() - self._written > _SECONDS:
            self.write(stage, state())

    def write(self, stage: str, state: State) -> None:
        if self.folder is None:
            return
        content: dict[str, Any] = {f"state.{name}": np.asarray(value) for name, value in state.items()}
        target = self.folder / _FILE
        content |= {"stage": stage, "of": self._of, "costs": self.costs, "seconds": self.seconds} | self._start
        try:
            write_checkpoint(target, content, self._continued)
        except OSError as problem:
            raise OSError(f"{target}: the progress of the fit cannot be written: {problem}") from problem
        self._written, self._continued = time.monotonic(), True

    def _read(self) -> dict[str, np.ndarray]:
        target = Path(self.folder or ".") / _FILE
        found = read_checkpoint(target)
        if found is None:
            return {}
        if str(found["of"]) != self._of:
            raise ValueError(
                f"{target} belongs to another fit: model, logs or options differ; give them as they were, delete it, or choose "
                "another folder"
            )
        self.costs, self._before = [float(c) for c in found["costs"]], float(found["seconds"])
        return found


def fingerprint(*parts: Any) -> str:
    """A hash of arrays and of what prints, equal in every process."""
    digest = hashlib.sha256()
    for part in parts:
        array = isinstance(part, np.ndarray) or hasattr(part, "__array__")
        digest.update(np.ascontiguousarray(part).tobytes() if array else repr(part).encode())
        digest.update(b"|")
    return digest.hexdigest()


@contextmanager
def shown(progress: bool) -> Iterator[Callable[[str, int, float], None] | None]:
    """Show a line that tells how a search goes."""
    if not progress:
        yield None
        return
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    with Progress(SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()) as bar:
        task = bar.add_task("compiling", total=None)
        yield lambda stage, iteration, cost: bar.update(task, description=f"{stage}: {iteration}, cost {cost:.6g}")
