"""A log for a model, read as the run read its own logs where the model comes from a run."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from .runs import CONFIG, is_run, read_summary

if TYPE_CHECKING:
    from ..data.log import Trajectory
    from ..model import Model


def read_log_for(source: Path, model: "Model", log: Path) -> "Trajectory":
    """The log for the model that was read from `source`."""
    from ..calibrate import read_config
    from ..data.log import read_log

    if not is_run(source):
        return read_log(log, model)
    if not (source / CONFIG).is_file():
        return _as_found(read_log(log, model), source)
    config = read_config(source / CONFIG)
    found = read_log(log, model, dict(config.columns), dict(config.units), controls=config.controls)
    return _as_found(found, source)


def _as_found(log: "Trajectory", run: Path) -> "Trajectory":
    """With controls as the mechanism gets them: delay, gains and offsets belong to the run, not to its model."""
    import numpy as np

    from ..data.log import delayed
    from ..identify import load_fit

    fit = run / "fits" / str(read_summary(run).get("best"))
    if log.controls is None or not fit.is_dir():
        return log
    apparatus = load_fit(fit).apparatus
    later = delayed(log, float(apparatus.delay))
    gain, offset = np.asarray(apparatus.control_gain), np.asarray(apparatus.control_bias)
    return replace(later, controls=gain * np.asarray(later.controls) + offset)
