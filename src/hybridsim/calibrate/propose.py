"""A first fit.toml for a robot and its logs: columns guessed and shown, runs split, what may change chosen."""

import os
import warnings
from collections.abc import Sequence
from dataclasses import replace
from glob import escape
from pathlib import Path
from typing import Literal

import numpy as np

from ..data import DataError
from ..data.log import DataWarning, Floor, Trajectory, column_choices, ordered, read_log, with_velocities
from ..escape import in_toml, on_one_line
from ..load import load
from ..model import Model, prescribed
from .delay import guess_delay
from .horizon import error_growth
from .library import one_freedom_joints
from .menu import CENTRE, EFFECTS, INERTIA, moving_links
from .world import base_of, floor_setting, shown_floor, with_floor

_SHARE = 0.25
"""Of the runs that are held out, or of a single recording its end."""
_WINDOWS = (1.0, 0.5, 0.3, 0.2, 0.1)
"""Lengths to choose from [s]."""
_GROWTH = 12.0
"""How many times an error of the start may have grown at the end of a window."""
_STILL = 0.1
"""Smaller swings are those of noise [rad]."""
_IMPACT_STEP = 2.5e-3
"""Of the simulator, for bodies that fly and land [s]."""
_OF_BODIES = {key: title for key, title in EFFECTS.items() if title in (CENTRE, INERTIA)}
"""What a body without joints that turn or slide may lack."""
_LARGEST = 5.0
"""Masses are sought between a fifth and five times the file's."""


def propose(
    model_file: Path,
    logs: Sequence[Path],
    base: Literal["auto", "fixed", "free"] = "auto",
    folder: Path | None = None,
    joints: Sequence[str] = (),
    quaternion: Literal["wxyz", "xyzw"] | None = None,
) -> str:
    """The text of a commented fit.toml. Paths in it are written as seen from `folder` (the current one).

    `base`: whether the root of a URDF floats; "auto" lets it float where the logs hold its pose. `joints` are prescribed: the
    logs drive them. `quaternion`: the order of the numbers of rotations, where neither columns nor motion tell it.
    """
    if not logs:
        raise DataError("no logs are given; name at least one file: hybridsim init robot.urdf run1.csv run2.csv")
    base = base_of(model_file, logs[0]) if base == "auto" else base
    model = prescribed(load(model_file, base=base), joints)
    options, names = column_choices(logs[0], model)
    columns, missing = _columns(options)
    units = {} if missing else _suspected(logs[0], model, columns)
    read = [] if missing else [_read(path, model, columns, units) for path in logs]
    turned, told = ({}, {}) if missing else ordered(model, names, {}, read, quaternion)
    if any(columns[key] != column for key, column in turned.items()):
        columns |= turned
        read = [_read(path, model, columns, units) for path in logs]
    floor = shown_floor(model, read)
    model = model if floor is None else with_floor(model, floor_setting(model, floor))
    near = Path.cwd() if folder is None else Path(folder)
    training, held_out = _split(list(logs))
    parts = [
        _head(),
        _model(model_file, base, near, joints),
        _logs(training, held_out, near, len(logs) == 1),
        _column_table(columns, options, missing, names, read, units, {k: told[k.split(".")[0]].why for k in turned}),
        *_floor_section(model, base, floor),
        _fit(model, read),
        _discover(model, read),
        _rest(),
    ]
    return "\n\n".join(parts) + "\n"


def _head() -> str:
    return """# What `hybridsim fit` does with these logs. Everything here was guessed; change what is wrong.
# It fits the numbers of fit.free, looks for effects that the model lacks, trains a small network where one is needed, and
# judges all of them on runs that no fit has seen."""


def _columns(options: dict[str, list[str]]) -> tuple[dict[str, str], list[str]]:
    """The likeliest column of each channel that has one, and the positions that have none."""
    chosen: dict[str, str] = {}
    for key, choice in options.items():
        left = [name for name in choice if name not in chosen.values()]
        if left:
            chosen[key] = left[0]
    missing = [key for key in options if ".position" in key and key not in chosen]
    for quantity in (".velocity", ".force", ".command"):
        keys = [key for key in options if quantity in key]
        # Of a quantity that nothing was measured of, nothing is said.
        if not any(key in chosen for key in keys):
            options.update({key: [] for key in keys})
    return chosen, missing


def _suspected(path: Path, model: Model, columns: dict[str, str]) -> dict[str, str]:
    """Units that the numbers themselves suggest, where columns do not say them: no joint turns by 57 rad within its limits."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DataWarning)
        log = read_log(path, model, columns)
    said = " ".join(str(w.message) for w in caught)
    signs = {"position": ("if it is in degrees", "rad", "deg"), "velocity": ("if it is in deg/s", "rad/s", "deg/s")}
    large = {quantity: units for quantity, (sign, *units) in signs.items() if sign in said}
    found = {quantity: units[0 if _turns_round(log, model) else 1] for quantity, units in large.items()}
    if "if it is in mm" in said:
        # All three, also those in which it hardly moves.
        keys = [key for key in columns if key.split(".")[-1] in ("x", "y", "z") and ".position." in key]
        found |= dict.fromkeys(keys, "mm")
    return found


def _turns_round(log: Trajectory, model: Model) -> bool:
    """Whether angles are large because a joint without limits has turned round several times: its usual swing, from one
    turn back to the next, is then still less than once round. In degrees it would be a large number too."""
    wide = int(np.argmax(np.nanmax(np.abs(log.q), axis=0)))
    joint = next((j for j in one_freedom_joints(model) if model.q_of(j).start == wide), None)
    if joint is None or np.isfinite(np.asarray(model.joints.lower)[model.v_of(joint)]).all():
        return False
    velocity = np.asarray(with_velocities(log).qd)[:, model.v_of(joint).start]
    back = np.flatnonzero(np.diff(np.sign(velocity)) != 0)
    swings = np.abs(np.diff(log.q[back, wide]))
    swings = swings[swings > _STILL]
    return bool(len(swings)) and float(np.median(swings)) < 2 * np.pi


def _read(path: Path, model: Model, columns: dict[str, str], units: dict[str, str]) -> Trajectory:
    return replace(read_log(path, model, columns, units), run=Path(path).stem)


def _split(logs: list[Path]) -> tuple[list[Path], list[Path]]:
    """The last quarter of the runs is held out, at least one if there are two."""
    count = max(1, round(_SHARE * len(logs))) if len(logs) > 1 else 0
    return logs[: len(logs) - count], logs[len(logs) - count :]


def _model(file: Path, base: str, near: Path, joints: Sequence[str]) -> str:
    word = "the root link is fixed to the world" if base == "fixed" else "the root link floats: the logs hold its pose"
    lines = [
        "[model]",
        f"file = {in_toml(_relative(file, near))}",
        f"base = {in_toml(base)}  # {word}",
    ]
    if joints:
        lines.append(f"prescribed = [{', '.join(map(in_toml, joints))}]  # these joints move as the logs say")
    else:
        lines.append(
            '# prescribed = ["pusher"]  # joints that move as the logs say, whatever they touch; not predicted'
        )
    return "\n".join(lines)


def _logs(training: list[Path], held_out: list[Path], near: Path, single: bool) -> str:
    lines = ["[logs]", f"training = {_list(training, near)}"]
    if single:
        lines.append(f"held_out_part = {_SHARE}  # one recording: its end is kept for judging")
    else:
        lines.append(f"held_out = {_list(held_out, near)}  # whole runs that no fit sees")
    return "\n".join(lines)


def _floor_section(model: Model, base: str, floor: Floor | None) -> list[str]:
    if floor is None and base == "fixed":
        return []
    if floor is None:
        said = "what the robot stands on, where its file does not have it; the logs show none"
        return [f"# [floor]  # {said}\n# height = 0.0  # m"]
    setting = floor_setting(model, floor)
    runs = "one run" if floor.runs == 1 else f"{floor.runs} runs"
    return [
        f"""[floor]  # the logs show one: the lowest points of {runs} come down to this height (+- {1e3 * floor.spread:.2g} mm)
height = {setting.height:g}  # m
friction = {setting.friction:g}  # where the fit begins, as is the next
restitution = {setting.restitution:g}"""
    ]


def _column_table(
    columns, options, missing, names, read: list[Trajectory], suspected: dict[str, str], told: dict[str, str]
) -> str:
    lines = ["[logs.columns]  # channel of the model = column of the log"]
    units = read[0].columns.units if read and read[0].columns is not None else {}
    for key in options:
        others = [name for name in options[key] if name != columns.get(key)]
        said = [f"or {', '.join(map(repr, others))}"] if others else []
        if key in told:
            said.insert(0, f"told {told[key]}")
        if units.get(key) and "SI" not in units[key]:
            said.insert(0, f"in {units[key]}")
        if key in columns:
            lines.append(
                f"{in_toml(key)} = {in_toml(columns[key])}" + (f"  # {on_one_line('; '.join(said))}" if said else "")
            )
        elif key in missing:
            known = on_one_line(", ".join(names))
            lines.append(f'{in_toml(key)} = "?"  # PUT ONE HERE: {known}; or "none" if it was not measured')
    head = '[logs.units]  # where the log does not say it: time = "ms", position = "deg", velocity = "rpm"'
    lines.append(f"\n{head}" if suspected else f"# {head}")
    reasons = {
        "rad": "a joint turns round many times",
        "mm": "it would be too fast in m",
        "deg": "its numbers are too large for rad",
    }
    lines += [
        f"{in_toml(what) if '.' in what else what} = {in_toml(unit)}  # {reasons[unit.split('/')[0]]}"
        for what, unit in suspected.items()
    ]
    return "\n".join(lines)


def _fit(model: Model, read: list[Trajectory]) -> str:
    lines = [
        "[fit]",
        _window(model, read),
        *_substeps(model, read),
        "friction_speed = 0.05  # below this speed dry friction fades, so that motion depends smoothly on it [rad/s or m/s]",
        "free = [  # what may change beside what is discovered; all paths: docs/identification.md",
    ]
    masses = {link: float(np.asarray(model.links.mass)[model.link_names.index(link)]) for link in moving_links(model)}
    heaviest = max(masses, key=lambda link: masses[link], default="")
    for link, mass in masses.items():
        if link == heaviest and _only_ratios(model, read):
            lines.append(
                f"  # {on_one_line(f'link/{link}/mass')} stays {mass:.5g} kg: where no force is known, motion tells only "
                "ratios of masses"
            )
        elif mass > 0:
            lower, upper = mass / _LARGEST, mass * _LARGEST
            lines.append(
                f"  {{ path = {in_toml(f'link/{escape(link)}/mass')}, lower = {lower:.4g}, upper = {upper:.4g} }},"
                f"  # {mass:.5g} kg in the file"
            )
    for name, kind, v, mimic in zip(
        model.joint_names, model.topology.kinds, model.topology.v_slices, model.topology.mimics, strict=True
    ):
        if kind.nv == 1 and mimic < 0 and name not in model.prescribed_names:
            damping = float(np.asarray(model.joints.damping)[v][0])
            lines.append(
                f"  {{ path = {in_toml(f'joint/{escape(name)}/damping')}, lower = 0 }},  # {damping:.5g} in the file"
            )
    if model.contacts.pairs:
        lines.append('  { path = "contact/*/friction", lower = 0, upper = 2, tied = true },')
        lines.append('  { path = "contact/*/restitution", lower = 0, upper = 1, tied = true },')
    if masses and not any(line.lstrip().startswith("{") for line in lines):
        where = in_toml(f"link/{escape(heaviest)}/com")
        lines.append(
            f"  {where},  # of a body in flight, only where its centre of mass is, and ratios of inertia, show"
        )
    return "\n".join([*lines, "]"])


def _substeps(model: Model, read: list[Trajectory]) -> list[str]:
    """Bodies without joints fly exactly in any step, so that only impacts need short ones."""
    if one_freedom_joints(model) or not model.contacts.pairs or not read:
        return []
    count = max(1, int(np.ceil(float(np.median([log.dt for log in read])) / _IMPACT_STEP - 1e-9)))
    return [f"substeps = {count}  # steps of the simulator from one sample to the next"]


def _only_ratios(model: Model, read: list[Trajectory]) -> bool:
    """Whether all masses and forces could be twice as large, and nothing that was measured would change.

    Contact by impulses knows ratios of masses only, too.
    """
    stiff = np.any(np.asarray(model.joints.stiffness))
    return bool(read) and all(log.controls is None for log in read) and not stiff


def _window(model: Model, read: list[Trajectory]) -> str:
    """A second, or less where runs are short: each should have several windows, and so should what is held out of one. Less
    also where a small error of the start would be a large one by the end."""
    said = "seconds that are simulated from each start"
    if not read:
        return f"window = 1  # {said}"
    shortest = min(log.duration for log in read)
    longest = min(shortest / 3, _SHARE * shortest / 2) if len(read) == 1 else shortest / 3
    possible = [window for window in _WINDOWS if window <= longest + 1e-9] or [_WINDOWS[-1]]
    growth = error_growth(model, read, possible[0])
    if growth is None:
        return f"window = {possible[0]:g}  # {said}"
    times = {window: float(np.interp(window, *growth.T)) for window in possible}
    window = next((window for window in possible if times[window] <= _GROWTH), possible[-1])
    if window < possible[0]:
        said += (
            f"; within {possible[0]:g} s small errors grow {times[possible[0]]:.2g} times, which would mislead a fit"
        )
    return f"window = {window:g}  # {said}"


def _discover(model: Model, read: list[Trajectory]) -> str:
    lines = ["[discover]", "effects = [  # what the model may lack; take out what it cannot be"]
    possible = EFFECTS.items() if one_freedom_joints(model) else _OF_BODIES.items()
    lines += [f"  {in_toml(key)},".ljust(26) + f"# {title}" for key, title in possible]
    lines.append("]")
    delay = guess_delay(model, read)
    if delay is not None:
        lines.append(f"longest_delay = {max(0.05, 2.5 * delay):.2g}  # s; the logs look like {1e3 * delay:.2g} ms")
    else:
        lines.append("longest_delay = 0.05  # s; the logs alone do not show how long it is")
    return "\n".join(lines)


def _rest() -> str:
    return """[network]
train = true  # a small network for what was found: friction as a curve, forces of position
hidden = [6]

[validate]
start = 0.1  # of each window so many seconds may be used to find its start; or "measured\""""


def _relative(path: Path, near: Path) -> str:
    path, near = Path(path).expanduser().resolve(), near.resolve()
    inside = os.path.relpath(path, near)
    return Path(inside).as_posix() if not inside.startswith(".." + os.sep + "..") else path.as_posix()


def _list(paths: list[Path], near: Path) -> str:
    return "[" + ", ".join(in_toml(_relative(path, near)) for path in paths) + "]"
