"""The progress of a long fit: shown, and kept on disk such that a killed one goes on where it was.

Only whole states are written, each to a new file that then takes the name of the old one: whenever the process dies, a
whole state is there. Searches are deterministic, so going on from any state ends where the uninterrupted search ends.
"""

import hashlib
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from .levenberg_marquardt import Point
from .whole_files import write_arrays

_FILE = "progress.npz"
_SECONDS = 1.0
"""Not more often is a state written."""
State = Mapping[str, Any]


class Journal:
    """Of one fit. Without a folder nothing is kept."""

    def __init__(
        self,
        folder: str | os.PathLike | None = None,
        of: str = "",
        resume: bool = False,
        show: Callable[[str, int, float], None] | None = None,
    ):
        """`of`: a fingerprint of the problem, by which a state of another one is refused."""
        self.folder, self.costs, self._show = None if folder is None else Path(folder), [], show
        self._of, self._written, self._begun, self._before = of, -np.inf, time.monotonic(), 0.0
        self._restored: dict[str, np.ndarray] = {}
        self._start: dict[str, Any] = {}
        if self.folder is not None:
            if self.folder.exists() and not self.folder.is_dir():
                raise NotADirectoryError(f"{self.folder} is no folder; give one for the progress of the fit")
            self.folder.mkdir(parents=True, exist_ok=True)
            if resume:
                self._restored = self._read()

    @property
    def seconds(self) -> float:
        """Spent on the fit, by all processes that worked on it."""
        return self._before + time.monotonic() - self._begun

    def restored(self, stage: str) -> dict[str, np.ndarray] | None:
        """The state in which this stage of the search was left; None where it was not begun."""
        if self._restored.get("stage") is None or str(self._restored["stage"]) != stage:
            return None
        return {k.removeprefix("state."): v for k, v in self._restored.items() if k.startswith("state.")}

    @property
    def stage(self) -> str | None:
        """In which an earlier process was."""
        return str(self._restored["stage"]) if "stage" in self._restored else None

    def start(self, stage: str, point: Point) -> Point:
        """Where a stage begins: at this point, or in a fit that is resumed where it began then. Kept with every state."""
        kept = {k: v for k, v in self._restored.items() if k.startswith("start.")}
        if self.stage == stage and kept:
            point = Point(kept["start.z"], kept["start.s"], damping=float(kept["start.damping"]))
        self._start = {"start.z": point.z, "start.s": point.s, "start.damping": point.damping}
        return point

    def note(self, stage: str, iteration: int, cost: float, state: Callable[[], State]) -> None:
        """One more iteration is done; `state` is called where it is time to write."""
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
            write_arrays(target, content)
        except OSError as problem:
            raise OSError(f"{target}: the progress of the fit cannot be written: {problem}") from problem
        self._written = time.monotonic()

    def _read(self) -> dict[str, np.ndarray]:
        target = Path(self.folder or ".") / _FILE
        if not target.exists():
            return {}
        try:
            with np.load(target, allow_pickle=False) as file:
                found = dict(file)
        except (OSError, ValueError, KeyError) as problem:
            raise ValueError(f"{target} is not the progress of a fit ({problem}); delete it to begin anew") from problem
        if str(found["of"]) != self._of:
            raise ValueError(
                f"{target} belongs to another fit: model, logs or options differ; give them as they were, delete it, or choose "
                "another folder"
            )
        self.costs, self._before = [float(c) for c in found["costs"]], float(found["seconds"])
        return found


def fingerprint(*parts: Any) -> str:
    """Of arrays and of what prints: equal in every process."""
    digest = hashlib.sha256()
    for part in parts:
        array = isinstance(part, np.ndarray) or hasattr(part, "__array__")
        digest.update(np.ascontiguousarray(part).tobytes() if array else repr(part).encode())
        digest.update(b"|")
    return digest.hexdigest()


@contextmanager
def shown(progress: bool) -> Iterator[Callable[[str, int, float], None] | None]:
    """A line that tells how a search goes."""
    if not progress:
        yield None
        return
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    with Progress(SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()) as bar:
        task = bar.add_task("compiling", total=None)
        yield lambda stage, iteration, cost: bar.update(task, description=f"{stage}: {iteration}, cost {cost:.6g}")
