"""What a run leaves on disk beside its report: models, parameters, ranges, the network for other tools."""

import csv
import io
import json
import os
import warnings
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..augment import HybridFileError, save_hybrid
from ..augment.save.write import check_target
from ..data.log.channels import channels
from ..identify import Estimate
from ..identify.atomic_write import as_json, write_text
from ..identify.checkpoint import set_aside
from ..load import save
from ..model import Model, ModelWarning
from .export import write_augmentation
from .result import Calibration, Stage

_MUCH_BETTER = 0.5
"""Part of the error that is left with a network, below which its numbers are taken rather than those of laws alone."""
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
    found = json.loads(
        as_json(
            {
                "title": c.title,
                "window": c.window,
                "units": list(_units(c)),
                "held_out": [log.run for log in c.held_out],
                "training": [log.run for log in c.training],
                "best": c.best.name,
                "noises": {unit: _noise(c, unit) for unit in _units(c)},
                "stages": [
                    {
                        "name": s.name,
                        "title": s.title,
                        "by_joint": s.held_out.by_joint(),
                        "errors": {unit: _errors(s, unit) for unit in _units(c)},
                    }
                    for s in c.stages
                ],
                "findings": [asdict(f) for f in c.findings],
                "candidates": [asdict(candidate) for candidate in c.candidates],
                "parameters": [asdict(e) for e in estimates(c)],
                "identifiability": "" if fitted is None or fitted.fit is None else fitted.fit.identifiability,
                "warnings": list(c.warnings),
                "seconds": c.seconds,
                "stopped": c.stopped,
            }
        )
    )
    if len(found["units"]) == 1:
        # Where all errors have one unit, each stage has them without naming it.
        (unit,) = found["units"]
        found |= {"unit": unit, "noise": found["noises"][unit]}
        found["stages"] = [stage | stage["errors"][unit] for stage in found["stages"]]
    return found


def _errors(stage: Stage, unit: str) -> dict[str, Any]:
    """Of one stage in one unit, on held-out runs unless it says otherwise."""
    own = stage.held_out.of(unit)
    settled = None if stage.settled is None else stage.settled.of(unit)
    return {
        "median": own.median,
        "ninth": own.ninth,
        "seen": stage.seen.of(unit).median,
        "settled": None if settled is None else [settled.median, settled.ninth],
        "windows": own.rmse.tolist(),
        "settled_windows": None if settled is None else settled.rmse.tolist(),
        "by_run": own.by_run(),
    }


def physical(calibration: Calibration) -> Stage | None:
    """The stage whose numbers go into a file for other tools: that with the laws which were found."""
    return calibration.stage("explained") or calibration.stage("calibrated")


def estimates(calibration: Calibration) -> tuple[Estimate, ...]:
    """What is said of each number. Where a network explains much that no law does, laws alone have made up for it, and the
    numbers beside the network are the right ones; before is always what the file says."""
    plain, hybrid = physical(calibration), calibration.stage("hybrid")
    if plain is None or plain.fit is None:
        return ()
    if hybrid is None or hybrid.fit is None or hybrid.held_out.score > _MUCH_BETTER * plain.held_out.score:
        return plain.fit.parameters
    before = {e.name: e.start for e in plain.fit.parameters}
    return tuple(replace(e, start=before.get(e.name, e.start)) for e in hybrid.fit.parameters)


def write_files(calibration: Calibration, folder: Path) -> None:
    """All files but the report."""
    fitted = physical(calibration)
    if fitted is not None and fitted.fit is not None:
        parameters = [asdict(e) for e in estimates(calibration)]
        write_text(folder / "parameters.json", as_json(parameters))
        write_text(folder / "parameters.csv", _table(parameters))
        ranges = replace(fitted.fit, parameters=estimates(calibration)).ranges()
        write_text(folder / "ranges.json", as_json(ranges))
        name = f"calibrated{calibration.model_file.suffix}"
        save(_as_in_file(fitted.model, calibration), folder / name, like=calibration.model_file)
    make_room(folder / "model.hybrid")
    save_hybrid(calibration.best.model, folder / "model.hybrid")
    hybrid = calibration.stage("hybrid")
    if hybrid is not None:
        delay = 0.0 if hybrid.apparatus is None else max(float(hybrid.apparatus.delay), 0.0)
        with warnings.catch_warnings():
            # What the file cannot hold was said of the calibrated one.
            warnings.simplefilter("ignore", ModelWarning)
            write_augmentation(
                hybrid.model, folder / "augmentation", delay, calibration.model_file, whole_friction=True
            )
    write_text(folder / "summary.json", as_json(summary(calibration)))


def make_room(path: Path) -> None:
    """Set aside what is no model any more in the place of one; `save_hybrid` would refuse to replace it."""
    try:
        check_target(path)
    except HybridFileError as problem:
        if path.parent.is_dir() and os.path.lexists(path):
            place = set_aside(path)
            warnings.warn(
                f"{path} is damaged ({problem.what}) and was renamed to {place.name}", UserWarning, stacklevel=2
            )


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


def _noise(calibration: Calibration, unit: str) -> float:
    """Of measured positions in one unit, the median over runs and channels [rad or m]."""
    model = calibration.stages[0].model
    # A number of a quaternion changes by half the angle.
    factor = {
        c.key: 2.0 if c.motion == "other" else 1.0
        for c in channels(model)
        if c.quantity == "position" and ("m" if c.motion == "length" else "rad") == unit
    }
    found = [factor[x.key] * x.noise for q in calibration.qualities.values() for x in q.channels if x.key in factor]
    return float(np.median(found)) if found else 0.0


def _units(calibration: Calibration) -> tuple[str, ...]:
    """In which errors are, "rad" and "m"."""
    return (calibration.stages[0].held_out.kinds if calibration.stages else ()) or ("rad",)


def _table(parameters: list[dict[str, Any]]) -> str:
    text = io.StringIO()
    columns = ("name", "value", "deviation", "lower", "upper", "start", "unit", "note")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([p[column] for column in columns] for p in parameters)
    return text.getvalue()
