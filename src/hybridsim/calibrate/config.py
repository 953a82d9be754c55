"""What a run is to do: fit.toml, read and checked."""

import os
import re
import tomllib
from collections import Counter
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ..contact import Contact
from ..data import DataError
from ..escape import shortened
from ..identify import Free
from ..model.checks import AT_LEAST_ONE, FRACTION, NOT_NEGATIVE, POSITIVE, Range
from ..reading import check_file
from .contact_rules import MODELS, contact_from
from .menu import EFFECTS
from .world import FloorSetting

Number = (int, float)
_KEYS: dict[str, dict[str, Any]] = {
    "model": {"file": str, "base": str, "prescribed": list},
    "logs": {
        "training": list,
        "held_out": list,
        "held_out_part": Number,
        "columns": dict,
        "units": dict,
        "controls": str,
    },
    "fit": {
        "free": list,
        "window": Number,
        "dt": Number,
        "substeps": int,
        "integrator": str,
        "friction_speed": Number,
        "iterations": int,
    },
    "floor": {"height": Number, "friction": Number, "restitution": Number},
    "contact": {"model": str, "pairs": list},
    "discover": {"effects": list, "least": Number, "longest_delay": Number},
    "network": {"train": bool, "hidden": list, "weight_spread": Number},
    "validate": {"start": (str, *Number)},
}
_FREE = {
    "path": str, "lower": Number, "upper": Number, "prior": list, "start": Number, "scale": str, "tied": bool,
    "per_run": bool,
}  # fmt: skip


def _up_to(most: int) -> Range:
    return Range(f"a whole number from 1 to {most}", lambda x: (x >= 1) & (x <= most))


_RANGES = {
    ("fit", "window"): POSITIVE,
    ("fit", "dt"): POSITIVE,
    ("fit", "substeps"): _up_to(1000),  # beyond that a step is shorter than any mechanism needs
    ("fit", "friction_speed"): POSITIVE,
    ("fit", "iterations"): _up_to(100_000),  # fits converge within hundreds
    ("floor", "friction"): NOT_NEGATIVE,
    ("floor", "restitution"): FRACTION,
    ("discover", "least"): FRACTION,
    ("discover", "longest_delay"): Range("a time from 0 to 10 s", lambda x: (x >= 0) & (x <= 10)),
    ("network", "weight_spread"): POSITIVE,
}
_CHOICES = {
    ("model", "base"): ("fixed", "free"),
    ("logs", "controls"): ("command", "force"),
    ("fit", "integrator"): ("auto", "rk4", "euler", "implicit"),
    ("contact", "model"): ("auto", *MODELS),
}


LARGEST_CONFIG = 2**20
"""Of fit.toml [bytes]: one with ten thousand logs is smaller."""
MOST_LOGS = 10_000
"""Each is read whole before anything is fitted."""
DEEPEST_KEY = 16
"""Parts of a dotted key: the time in which Python reads one grows with their square."""
_DEEP_KEY = re.compile(rf"(?<![\w\"'-])(?:(?:[\w-]++|\"[^\"\n]*+\"|'[^'\n]*+')[ \t]*+\.[ \t]*+){{{DEEPEST_KEY}}}")
MOST_WEIGHTS = 10_000
"""Of one network, between hidden layers. Each is a column in the matrix of a least-squares fit; discovery uses 20 to 100."""


@dataclass(frozen=True)
class Config:
    """fit.toml. Paths are as the file gives them, from the folder in which it lies."""

    folder: Path
    model_file: Path
    training: tuple[Path, ...]
    held_out: tuple[Path, ...] = ()
    held_out_part: float = 0.0
    """Of one recording: the end of it that no fit sees."""
    base: Literal["fixed", "free"] = "fixed"
    columns: tuple[tuple[str, str | float | None], ...] = ()
    units: tuple[tuple[str, str], ...] = ()
    controls: Literal["command", "force"] | None = None
    free: tuple[Free, ...] = ()
    window: float = 1.0
    dt: float | None = None
    substeps: int | None = None
    integrator: Literal["auto", "rk4", "euler", "implicit"] = "auto"
    friction_speed: float | None = 0.05
    iterations: int = 60
    contact: Contact | Literal["auto"] | None = "auto"
    effects: tuple[str, ...] = tuple(EFFECTS)
    """Words of the menu."""
    least: float = 0.05
    longest_delay: float = 0.05
    network: bool = True
    hidden: tuple[int, ...] = (6,)
    weight_spread: float = 1.0
    start: float | Literal["measured"] = 0.1
    """How much of a window may be used to find where it starts [s]."""
    prescribed: tuple[str, ...] = ()
    """Joints, or patterns of their names, that the logs' positions drive."""
    floor: FloorSetting | None = None
    """Under the robot, where its own file has none."""
    text: str = ""
    """Of the file itself."""


def read_config(path: Path) -> Config:
    """A fit.toml; what is wrong in it is an error that says where."""
    path = Path(path)
    if not path.exists():
        raise DataError(f"there is no file {path}; `hybridsim init MODEL LOGS` writes one")
    check_file(path, LARGEST_CONFIG, DataError)
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as problem:
        raise DataError(f"{path} is not text in UTF-8 ({problem.reason} at byte {problem.start})") from problem
    return config_of(text, path.parent, str(path))


def config_of(text: str, folder: Path, name: str = "fit.toml") -> Config:
    """The same from its text; paths in it are taken from the folder."""
    if _DEEP_KEY.search(text):
        raise DataError(f"{name} has a key of more than {DEEPEST_KEY} parts; fit.toml has keys such as fit.window")
    try:
        given = tomllib.loads(text)
    except ValueError as problem:
        raise DataError(f"{name} is not valid TOML: {problem}") from problem
    except RecursionError:
        raise DataError(
            f"{name} has lists or tables inside each other without end; fit.toml needs two levels"
        ) from None
    _check(name, given)
    model, logs, fit = given["model"], given["logs"], given.get("fit", {})
    discover, network = given.get("discover", {}), given.get("network", {})
    training = _paths(name, "logs.training", logs.get("training", []), folder)
    if not training:
        raise DataError(f"{name}: logs.training names no file; give at least one log")
    held_out = _paths(name, "logs.held_out", logs.get("held_out", []), folder)
    both = sorted({str(p) for p in training} & {str(p) for p in held_out})
    if both:
        raise DataError(f"{name}: {both[0]} is in logs.training and in logs.held_out; a run can only be one of them")
    for what, paths in (("training", training), ("held_out", held_out)):
        if twice := [p for p, count in Counter(paths).items() if count > 1]:
            raise DataError(f"{name}: {twice[0]} is twice in logs.{what}; a run counts once")
    for joint in model.get("prescribed", []):
        _kind(f"{name}: an entry of model.prescribed", joint, str)
    free = tuple(_free(name, entry) for entry in fit.get("free", []))
    if not free:
        raise DataError(f'{name}: fit.free is empty, so nothing can be fitted; give paths such as "link/*/mass"')
    known = {
        "window": 1.0,
        "dt": None,
        "substeps": None,
        "integrator": "auto",
        "friction_speed": 0.05,
        "iterations": 60,
    }
    options = {key: fit.get(key, default) for key, default in known.items()}
    hidden = network.get("hidden", [6])
    for width in hidden:
        _kind(f"{name}: an entry of network.hidden", width, int)
        AT_LEAST_ONE.check(f"{name}: an entry of network.hidden", width, DataError)
    weights = sum(a * b for a, b in zip([1, *hidden], [*hidden, 1], strict=True))
    if weights > MOST_WEIGHTS:
        raise DataError(
            f"{name}: network.hidden is {shortened(hidden)}, {weights} weights or more for each joint; a network may have "
            f"{MOST_WEIGHTS}, so give smaller numbers, such as [6] or [16, 16]"
        )
    start = given.get("validate", {}).get("start", 0.1)
    if isinstance(start, str) and start != "measured":
        raise DataError(f'{name}: validate.start is {start!r}; it must be a time in seconds, or "measured"')
    if not isinstance(start, str):
        NOT_NEGATIVE.check(f"{name}: validate.start", start, DataError)
    part = float(logs.get("held_out_part", 0.0))
    if not 0 <= part < 0.9:
        raise DataError(f"{name}: logs.held_out_part is {part}; it must lie between 0 and 0.9")
    return Config(
        folder,
        _path(model["file"], folder),
        training,
        held_out,
        part,
        model.get("base", "fixed"),
        tuple((key, _column(name, key, value)) for key, value in logs.get("columns", {}).items()),
        tuple((key, _unit(name, key, value)) for key, value in logs.get("units", {}).items()),
        logs.get("controls"),
        free,
        **options,
        contact=contact_from(name, given.get("contact", {})),
        effects=tuple(_effects(name, discover.get("effects", list(EFFECTS)))),
        least=float(discover.get("least", 0.05)),
        longest_delay=float(discover.get("longest_delay", 0.05)),
        network=network.get("train", True),
        hidden=tuple(hidden),
        weight_spread=float(network.get("weight_spread", 1.0)),
        start="measured" if isinstance(start, str) else float(start),
        prescribed=tuple(model.get("prescribed", [])),
        floor=_floor(name, given.get("floor")),
        text=text,
    )


def _check(name: str, given: dict[str, Any]) -> None:
    for section, values in given.items():
        _known(name, "section", section, _KEYS)
        if not isinstance(values, dict):
            raise DataError(f"{name}: {section} must be a section, [{section}]")
        for key, value in values.items():
            _known(name, f"key in [{section}]", key, _KEYS[section])
            _kind(f"{name}: {section}.{key}", value, _KEYS[section][key])
            if (section, key) in _CHOICES and value not in _CHOICES[section, key]:
                allowed = " or ".join(map(repr, _CHOICES[section, key]))
                raise DataError(f"{name}: {section}.{key} is {shortened(value)}; it must be {allowed}")
            if (section, key) in _RANGES:
                _RANGES[section, key].check(f"{name}: {section}.{key}", value, DataError)
    for section, key in (("model", "file"), ("logs", "training")):
        if key not in given.get(section, {}):
            raise DataError(f"{name} has no {key} in [{section}]; `hybridsim init MODEL LOGS` writes a whole one")


def _known(name: str, what: str, key: str, known: Any) -> None:
    if key not in known:
        close = get_close_matches(key[:100], known, 1, 0.5)
        hint = f"did you mean {close[0]!r}?" if close else f"known are: {', '.join(known)}"
        raise DataError(f"{name}: there is no {what} called {shortened(key)}; {hint}")


def _kind(what: str, value: Any, kind: Any) -> None:
    if isinstance(value, int) and abs(value) >= 2**63:
        raise DataError(f"{what} is a number of {value.bit_length()} bits; TOML has whole numbers of 64 bits")
    wrong_bool = isinstance(value, bool) and kind is not bool
    if wrong_bool or not isinstance(value, kind):
        words = {str: "a text", int: "a whole number", bool: "true or false", list: "a list", dict: "a table"}
        wanted = words.get(kind, "a number" if kind is Number else "a number or a text")
        raise DataError(f"{what} is {shortened(value)}; it must be {wanted}")
    if isinstance(value, float) and not np.isfinite(value):
        raise DataError(f"{what} is {value}; it must be finite")


def _free(name: str, entry: Any) -> Free:
    if isinstance(entry, str):
        return Free(entry)
    if not isinstance(entry, dict) or "path" not in entry:
        raise DataError(
            f'{name}: fit.free has {shortened(entry)}; give a path in quotes, or {{ path = "link/arm/mass", ... }}'
        )
    for key, value in entry.items():
        _known(name, "key of a free number", key, _FREE)
        _kind(f"{name}: {key} of {entry['path']}", value, _FREE[key])
    if entry.get("scale", "auto") not in ("linear", "log", "auto"):
        raise DataError(f"{name}: scale is {entry['scale']!r}; it must be 'linear' or 'log' or 'auto'")
    options: dict[str, Any] = {k: v for k, v in entry.items() if k != "path"}
    if "prior" in options:
        if len(options["prior"]) != 2:
            raise DataError(f"{name}: prior of {entry['path']} is {options['prior']}; give [mean, standard deviation]")
        for number in options["prior"]:
            _kind(f"{name}: prior of {entry['path']}", number, Number)
        options["prior"] = (float(options["prior"][0]), float(options["prior"][1]))
    try:
        numbers = {k: float(options.pop(k)) for k in ("lower", "upper", "start") if k in options}
        return Free(entry["path"], **numbers, **options)
    except ValueError as problem:
        raise DataError(f"{name}: {problem}") from problem


def _floor(name: str, given: dict[str, Any] | None) -> FloorSetting | None:
    if given is None:
        return None
    if "height" not in given:
        raise DataError(f"{name}: [floor] has no height; give it in metres, such as height = 0.0, or leave [floor] out")
    return FloorSetting(**{key: float(value) for key, value in given.items()})


def _effects(name: str, words: list[Any]) -> list[str]:
    for word in words:
        _known(name, "effect", str(word), EFFECTS)
    return [str(word) for word in words]


def _unit(name: str, key: str, value: Any) -> str:
    _kind(f"{name}: logs.units.{key}", value, str)
    return value


def _column(name: str, key: str, value: Any) -> str | float | None:
    """ "none" stands for what was not measured: TOML has no word for it."""
    _kind(f"{name}: logs.columns: {key}", value, (str, *Number))
    return None if value == "none" else value if isinstance(value, str) else float(value)


def _path(given: str, folder: Path) -> Path:
    path = Path(given).expanduser()
    # "out/x/../run.csv" in a message would puzzle.
    return Path(os.path.normpath(path if path.is_absolute() else folder / path))


def _paths(name: str, what: str, given: list[Any], folder: Path) -> tuple[Path, ...]:
    if len(given) > MOST_LOGS:
        raise DataError(f"{name}: {what} names {len(given)} files; at most {MOST_LOGS} are read, so leave some out")
    for entry in given:
        _kind(f"{name}: an entry of {what}", entry, str)
    return tuple(_path(entry, folder) for entry in given)
