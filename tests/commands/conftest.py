"""A main job that takes no time, and small files to run the commands on."""

import sys
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

import hybridsim.calibrate
import hybridsim.view.report
from hybridsim.commands.files import write_text

from .summaries import summary_of


@dataclass
class StandIn:
    """What the command asked the main job for, and what is to come of it."""

    calls: list[tuple] = field(default_factory=list)
    problem: BaseException | None = None
    stopped: bool = False
    summary: dict = field(default_factory=summary_of)

    def calibrate(self, config, folder: Path, resume: bool = False, progress: bool = True) -> "StandIn":
        self.calls.append((config, folder, resume))
        sys.stdout.write("someone prints\n")
        if self.problem is not None:
            raise self.problem
        write_text(folder / "summary.json", "{}")
        return self

    def write_report(self, calibration, folder: Path, files=None) -> Path:
        assert calibration is self
        return folder / "report.html"


@pytest.fixture
def main_job(monkeypatch) -> StandIn:
    """In place of `hybridsim.calibrate`: all but fitting."""
    job = StandIn()
    put = monkeypatch.setattr
    put(hybridsim.calibrate, "calibrate", job.calibrate)
    put(hybridsim.calibrate, "summary", lambda calibration: calibration.summary)
    put(hybridsim.calibrate, "listed", lambda calibration, folder: {"report.html": "this report"})
    put(hybridsim.view.report, "write_report", job.write_report)
    return job


@pytest.fixture
def swing(tmp_path) -> Path:
    """A log with the columns of the shipped arm; no arm would move so."""
    return write_swing(tmp_path / "swing.csv")


def write_swing(path: Path, position: str = "pos") -> Path:
    time = 0.01 * np.arange(101)
    names = [f"{joint}_{what}" for what in (position, "vel", "torque") for joint in ("shoulder", "elbow")]
    columns = [np.sin((2 + k) * time + k) for k in range(len(names))]
    table = np.column_stack([time, *columns])
    np.savetxt(path, table, "%.12g", ",", header=",".join(["time", *names]), comments="")
    return path
