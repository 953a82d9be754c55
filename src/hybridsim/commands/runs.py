"""Run folders: what `hybridsim fit` leaves, and where the next one goes."""

import re
import shutil
from pathlib import Path
from typing import Any

from ..reading import read_json

SUMMARY = "summary.json"
"""A folder with this is a run folder."""
BEST = "model.hybrid"
"""The best model of a run."""
CONFIG = "fit.toml"
_DRAFT = re.compile(r"\..+\.(\d+|[0-9a-f]{8}\.(tmp|old))")
"""Names of files before they are complete, by `identify/atomic_write.py` and `augment/save/write.py`."""
LARGEST_SUMMARY = 256 * 10**6
"""[bytes] The errors of all windows are in it: an hour in windows of 0.1 s takes some megabytes."""


def is_run(path: Path) -> bool:
    return (path / SUMMARY).is_file()


def read_summary(folder: Path) -> dict[str, Any]:
    """What the run found, as `hybridsim fit --json` prints it."""
    if not folder.exists():
        raise FileNotFoundError(f"there is no folder {folder}; give one that `hybridsim fit` wrote")
    if not is_run(folder):
        raise FileNotFoundError(f"{folder} is no finished run: it has no {SUMMARY}; give a folder of `hybridsim fit`")
    path = folder / SUMMARY
    try:
        found = read_json(path, LARGEST_SUMMARY)
    except ValueError as problem:
        raise ValueError(f"{path} is damaged ({problem}); run `hybridsim fit` again") from problem
    missing = [key for key in ("stages", "findings", "parameters") if not isinstance(found, dict) or key not in found]
    if missing:
        raise ValueError(f"{path} has no {', '.join(missing)}; run `hybridsim fit` again")
    return found


def prepare_folder(folder: Path, resume: bool, force: bool) -> Path | None:
    """Make the folder of a run. With `force`, what is in it moves aside: the new place is returned.

    A configuration and empty folders are no run yet: wrong input leaves no more.
    """
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"{folder} is a file; give a folder for the run by --out")
    inside = folder.is_dir() and any(folder.iterdir())
    used = inside and any(path.is_file() and path != folder / CONFIG for path in folder.rglob("*"))
    if resume and force:
        raise ValueError("--resume goes on and --force begins anew; give one of them")
    if resume and not inside:
        raise FileNotFoundError(f"there is no run to resume in {folder}; leave --resume out, or name the run by --out")
    if used and not (resume or force):
        raise FileExistsError(
            f"{folder} is not empty; give --resume to go on with this run, --force to begin anew, or another --out"
        )
    aside = _move_aside(folder) if inside and force else None
    folder.mkdir(parents=True, exist_ok=True)
    _remove_drafts(folder)
    return aside


def _remove_drafts(folder: Path) -> None:
    """Remove what a process that was ended in the middle of writing has left: files of ours that never got their name."""
    for path in [path for path in folder.rglob(".*") if _DRAFT.fullmatch(path.name)]:
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def _move_aside(folder: Path) -> Path:
    """Nothing is deleted: results that took hours may be in it."""
    folder = folder.resolve()
    number = 1
    while (place := folder.with_name(f"{folder.name}.{number}")).exists():
        number += 1
    return folder.rename(place)
