"""Which column of a log is which number of the model: guessed from names, or said by the user; always shown."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ...model import Model
from ..folder import DataError
from .channels import QUANTITIES, Channel, channels
from .guess import candidates
from .notes import Notes, listed
from .pose_choices import pose_choices

Given = Mapping[str, str | float | None]


@dataclass(frozen=True)
class ColumnMap:
    """What `read_log` took from where; print it."""

    chosen: dict[str, str | float | None]
    """Of every channel of the model that the log has: its column, a constant, or None for "not measured"."""
    guessed: frozenset[str]
    """Channels whose column was guessed from its name."""
    units: dict[str, str]
    """Of channels, the unit in the file."""
    unused: tuple[str, ...]
    """Columns that were not used."""
    values: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def __str__(self) -> str:
        rows = [("channel", "column", "unit", "")]
        for key, column in self.chosen.items():
            shown = (
                "not measured" if column is None else repr(column) if isinstance(column, str) else f"always {column:g}"
            )
            rows.append((key, shown, self.units.get(key, ""), "guessed" if key in self.guessed else "given"))
        rows += [(name, ", ".join(map(repr, columns)), "", "given") for name, columns in self.values.items()]
        widths = [max(len(row[k]) for row in rows) for k in range(4)]
        lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]
        return "\n".join([*lines, "not used: " + (", ".join(self.unused) or "none")])


def match(
    path: str, names: list[str], model: Model, given: Given, notes: Notes, order: Mapping[str, str] | None = None
) -> dict[Channel, str | float | None]:
    """The column of every channel that has one; positions of all joints are needed, the rest may be absent.

    `order`: columns of rotations whose names do not tell which is w.
    """
    every = channels(model)
    _check_given(path, names, every, given)
    found: dict[Channel, str | float | None] = {c: given[c.key] for c in every if c.key in given}
    free = [name for name in names if name not in [v for v in given.values() if isinstance(v, str)]]
    poses = pose_choices(model, names, given, path) | {key: [column] for key, column in (order or {}).items()}
    for quantity in QUANTITIES:
        group = [c for c in every if c.quantity == quantity]
        options = candidates(model, group, free, [c.key for c in found])
        options |= {c: poses[c.key] for c in group if c.key in poses and c not in options}
        for channel in group:
            if channel in found:
                continue
            choice = options.get(channel, [])
            if len(choice) > 1:
                raise DataError(
                    f"{path}: {channel.key} may be any of the columns {', '.join(map(repr, choice))}; "
                    f"say which: columns={{{channel.key!r}: {choice[0]!r}}}"
                )
            if choice:
                found[channel] = choice[0]
    forces = [c for c in every if c.quantity == "force"]
    if any(isinstance(found.get(c), str) for c in forces):
        # Motors act between links: nothing pushes the root of a floating robot but the world.
        found |= {c: 0.0 for c in forces if c.joint == "free" and c not in found}
    _check_used_once(path, found)
    _check_complete(path, names, every, found, notes)
    return found


def _check_given(path: str, names: list[str], every: list[Channel], given: Given) -> None:
    keys = [c.key for c in every]
    for key, value in given.items():
        if key not in keys and key != "time":
            raise DataError(
                f"{path}: columns= names {key!r}, which this model does not have; it has: time, {', '.join(keys)}"
            )
        if isinstance(value, str) and value not in names:
            raise DataError(
                f"{path} has no column {value!r} (for {key}); its columns are: {', '.join(map(repr, names))}"
            )


def _check_used_once(path: str, found: dict[Channel, str | float | None]) -> None:
    used: dict[str, str] = {}
    for channel, column in found.items():
        if isinstance(column, str) and column in used:
            raise DataError(
                f"{path}: column {column!r} would be both {used[column]} and {channel.key}; say which: "
                f"columns={{{channel.key!r}: ...}}"
            )
        if isinstance(column, str):
            used[column] = channel.key


def _check_complete(path, names, every, found, notes: Notes) -> None:
    needed = [c for c in every if c.quantity == "position"]
    if missing := [c.key for c in needed if c not in found]:
        raise DataError(
            f"{path}: no column was recognised as {listed(missing)}; its columns are: {', '.join(map(repr, names))}. "
            f"Say which it is: columns={{{missing[0]!r}: {_likely(names)!r}}}, or columns={{{missing[0]!r}: None}} if it "
            "was not measured"
        )
    for quantity in QUANTITIES[1:]:
        group = [c for c in every if c.quantity == quantity and c.joint != "free"]
        absent = [c.key for c in group if c not in found]
        if absent and len(absent) < len(group):
            notes.warn(
                f"no column for {listed(absent)}: taken as not measured (a constant can be given: columns={{{absent[0]!r}: 0.0}})"
            )


def _likely(names: list[str]) -> str:
    return names[-1] if names else "column"
