"""One report that several tests read."""

from pathlib import Path

import pytest

from hybridsim.view.report import write_report

from .synthetic import FILES, calibration


@pytest.fixture(scope="session")
def full(tmp_path_factory) -> Path:
    """The page of a calibration with all stages."""
    folder = tmp_path_factory.mktemp("full")
    path = write_report(calibration(), folder, FILES)
    assert path == folder / "report.html"
    return path
