"""A model from whatever the user names: URDF, MJCF, a hybrid model, or the folder of a run."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from .runs import BEST, CONFIG, is_run

if TYPE_CHECKING:
    from ..contact import Contact
    from ..model import Model


def read_model(path: Path, free: bool = False, log: Path | None = None) -> "Model":
    """Of a run folder the best model. `free` lets the root link of a URDF float; so does a `log` that holds its pose, which may
    also show a floor."""
    from ..augment import load_hybrid
    from ..load import load
    from ..model import ModelError

    if is_run(path):
        path = path / BEST
        if not path.exists():
            raise ModelError(f"the run has no {path}; run `hybridsim fit` again, or name a model's file")
    if path.suffix == ".hybrid" or (path / "model.json").is_file():
        if free:
            raise ModelError(f"{path}: --free is for URDF; a hybrid model says itself how it stands in the world")
        return load_hybrid(path)
    if path.is_dir():
        raise ModelError(f"{path} is a folder, but neither a run of `hybridsim fit` nor a model; name a model's file")
    if log is None:
        return load(path, base="free" if free else "fixed")
    from ..calibrate.world import world_along

    found, floor = world_along(path, log, free)
    if floor is not None:
        sys.stderr.write(
            f"hybridsim: {log} shows a floor at a height of {1e3 * floor.height:.1f} mm: it is added, with a friction of "
            f"{floor.friction:g} and a restitution of {floor.restitution:g}\n"
        )
    return found


def contact_of_run(path: Path) -> "Contact | Literal['auto'] | None":
    """How shapes touch in a run, as its fit.toml says; "auto" for any other model."""
    from ..calibrate import read_config

    return read_config(path / CONFIG).contact if is_run(path) and (path / CONFIG).is_file() else "auto"
