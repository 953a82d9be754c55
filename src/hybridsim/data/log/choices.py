"""Which columns of a log could be which numbers of a model, before anyone has chosen."""

from pathlib import Path

from ...model import Model
from .channels import QUANTITIES, channels
from .guess import candidates
from .notes import Notes
from .read_log import open_table
from .words import is_time, tokens

_PREFERRED, _LAST = ("meas", "measured", "actual", "raw"), ("filt", "filtered", "cmd", "command", "commanded")


def column_choices(path: str | Path, model: Model) -> tuple[dict[str, list[str]], list[str]]:
    """Of every channel of the model the columns that its name allows, the likeliest first, and all columns of the file.

    What was measured comes before what was filtered: a filter delays.
    """
    table = open_table(Path(path), Notes())
    names = [name for name in table.names if name and not is_time(name)]
    found: dict[str, list[str]] = {}
    every = channels(model)
    for quantity in QUANTITIES:
        group = [c for c in every if c.quantity == quantity]
        options = candidates(model, group, names, [])
        found |= {c.key: sorted(options.get(c, []), key=_rank) for c in group}
    return found, names


def _rank(name: str) -> int:
    words = tokens(name)
    return 0 if any(w in _PREFERRED for w in words) else 2 if any(w in _LAST for w in words) else 1
