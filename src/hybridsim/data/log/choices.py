"""Which columns of a log could be which numbers of a model, before anyone has chosen."""

from pathlib import Path

from ...model import Model
from .channels import QUANTITIES, channels
from .channels import poses as channels_poses
from .euler_angles import with_quaternions
from .guess import candidates
from .notes import Notes
from .pose_choices import pose_choices
from .read_log import open_table
from .words import is_time, tokens

_PREFERRED, _LAST = ("meas", "measured", "actual", "raw"), ("filt", "filtered", "cmd", "command", "commanded")


def column_choices(path: str | Path, model: Model) -> tuple[dict[str, list[str]], list[str]]:
    """Of every channel of the model the columns that its name allows, the likeliest first, and all columns of the file.

    What was measured comes before what was filtered: a filter delays.
    """
    names = column_names(path, model)
    found: dict[str, list[str]] = {}
    every, poses = channels(model), pose_choices(model, names, {}, str(path))
    for quantity in QUANTITIES:
        group = [c for c in every if c.quantity == quantity]
        options = candidates(model, group, names, [])
        found |= {c.key: sorted(options.get(c) or poses.get(c.key, []), key=_rank) for c in group}
    return found, names


def column_names(path: str | Path, model: Model) -> list[str]:
    """All columns of a file but its time; with those of a rotation where it has roll, pitch and yaw of a free body."""
    table = open_table(Path(path), Notes())
    names = with_quaternions(table, table.names, None) if channels_poses(model) else table.names
    return [name for name in names if name and not is_time(name)]


def _rank(name: str) -> int:
    words = tokens(name)
    return 0 if any(w in _PREFERRED for w in words) else 2 if any(w in _LAST for w in words) else 1
