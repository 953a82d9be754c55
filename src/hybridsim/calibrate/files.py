"""What a run leaves on disk beside its report: models, parameters, ranges, the network for other tools."""

import csv
import io
import json
import warnings
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..augment import save_hybrid
from ..identify.whole_files import write_text
from ..load import save
from ..model import Model, ModelWarning
from ..model.joints import Prismatic
from .export import write_augmentation
from .result import Calibration, Stage

FILES = {
    "report.html": "this report",
    "fit.toml": "what was asked for",
    "summary.json": "errors, findings and parameters, for scripts",
    "parameters.csv": "the fitted numbers with their intervals",
    "parameters.json": "the same",
    "ranges.json": "mean, deviation and interval of each number, for domain randomisation",
    "model.hybrid": "the best model, for HybridSim: hs.load_hybrid(...)",
    "figures/": "all figures of this report",
    "fits/": "every fit whole, for hs.load_fit(...)",
    "progress/": "by which --resume goes on; may be deleted",
}


def summary(calibration: Calibration) -> dict[str, Any]:
    """Everything of a run that scripts want; infinite numbers are null, as JSON wants it."""
    c = calibration
    fitted = physical(c)
    return _plain(
        {
            "title": c.title,
            "window": c.window,
            "unit": _unit(c),
            "held_out": [log.run for log in c.held_out],
            "training": [log.run for log in c.training],
            "best": c.best.name,
            "stages": [
                {
                    "name": s.name,
                    "title": s.title,
                    "median": s.held_out.median,
                    "ninth": s.held_out.ninth,
                    "seen": s.seen.median,
                    "settled": None if s.settled is None else [s.settled.median, s.settled.ninth],
                    "windows": s.held_out.rmse.tolist(),
                    "settled_windows": None if s.settled is None else s.settled.rmse.tolist(),
                    "by_joint": s.held_out.by_joint(),
                    "by_run": s.held_out.by_run(),
                }
                for s in c.stages
            ],
            "findings": [asdict(f) for f in c.findings],
            "candidates": [asdict(candidate) for candidate in c.candidates],
            "parameters": [] if fitted is None or fitted.fit is None else [asdict(e) for e in fitted.fit.parameters],
            "identifiability": "" if fitted is None or fitted.fit is None else fitted.fit.identifiability,
            "warnings": list(c.warnings),
            "seconds": c.seconds,
            "stopped": c.stopped,
        }
    )


def physical(calibration: Calibration) -> Stage | None:
    """The stage whose numbers are taken back to other tools: that with the laws which were found."""
    return calibration.stage("explained") or calibration.stage("calibrated")


def write_files(calibration: Calibration, folder: Path) -> dict[str, str]:
    """All files but the report; returns their names and what they are."""
    written: dict[str, str] = {}
    fitted = physical(calibration)
    if fitted is not None and fitted.fit is not None:
        parameters = [asdict(e) for e in fitted.fit.parameters]
        write_text(folder / "parameters.json", json.dumps(_plain(parameters), indent=1))
        write_text(folder / "parameters.csv", _table(parameters))
        write_text(folder / "ranges.json", json.dumps(_plain(fitted.fit.ranges()), indent=1))
        name = f"calibrated{calibration.model_file.suffix}"
        save(_as_in_file(fitted.model, calibration), folder / name, like=calibration.model_file)
        written[name] = "the robot's file with the fitted numbers in it, for any tool"
    save_hybrid(calibration.best.model, folder / "model.hybrid")
    hybrid = calibration.stage("hybrid")
    if hybrid is not None:
        delay = 0.0 if hybrid.apparatus is None else max(float(hybrid.apparatus.delay), 0.0)
        with warnings.catch_warnings():
            # What the file cannot hold was said of the calibrated one.
            warnings.simplefilter("ignore", ModelWarning)
            files = write_augmentation(
                hybrid.model, folder / "augmentation", delay, calibration.model_file, whole_friction=True
            )
        written |= {f"augmentation/{name}": words for name, words in files.items()}
    write_text(folder / "summary.json", json.dumps(summary(calibration), indent=1))
    return written


def _as_in_file(model: Model, calibration: Calibration) -> Model:
    """With the numbers that are the simulator's, not the robot's: its time step, and the speed at which friction fades."""
    original = calibration.stages[0].model
    joints = replace(model.joints, friction_speed=original.joints.friction_speed)
    return replace(model, timestep=original.timestep, joints=joints)


def listed(calibration: Calibration, folder: Path) -> dict[str, str]:
    """Of the files that are there, what they are."""
    name = f"calibrated{calibration.model_file.suffix}"
    known = {name: "the robot's file with the fitted numbers in it, for any tool", **FILES}
    known |= {
        "augmentation/augmentation.py": "the learned force as a Python module, with a callback for MuJoCo",
        "augmentation/augmentation.c": "the learned force as C code that allocates nothing",
        f"augmentation/plain{calibration.model_file.suffix}": "the robot to which the learned force is added",
    }
    return {name: words for name, words in known.items() if name == "report.html" or (folder / name).exists()}


def _unit(calibration: Calibration) -> str:
    kinds = [k for k in calibration.stages[0].model.topology.kinds if k.nv] if calibration.stages else []
    return "m" if kinds and all(isinstance(k, Prismatic) for k in kinds) else "rad"


def _table(parameters: list[dict[str, Any]]) -> str:
    text = io.StringIO()
    columns = ("name", "value", "deviation", "lower", "upper", "start", "unit", "note")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([p[column] for column in columns] for p in parameters)
    return text.getvalue()


def _plain(value: Any) -> Any:
    """As JSON has it."""
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if isinstance(value, float | np.floating):
        return float(value) if np.isfinite(value) else None
    if isinstance(value, np.integer):
        return int(value)
    return value
