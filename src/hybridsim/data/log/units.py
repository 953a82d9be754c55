"""Units in which logs are written, their spellings, and the factor to SI."""

import math
import re
from dataclasses import dataclass

from ..folder import DataError

_TURN = 2 * math.pi


@dataclass(frozen=True)
class Unit:
    """A unit of a column: value in SI = factor * value in the file."""

    name: str
    dimension: str
    """angle, length, angle/time, length/time, torque, force, time or other."""
    factor: float


def _table(dimension: str, **factors: float) -> dict[str, Unit]:
    return {name: Unit(name, dimension, factor) for name, factor in factors.items()}


_PER_SECOND = {
    f"{name}/s": Unit(f"{name}/s", f"{dimension}/time", factor)
    for name, dimension, factor in (
        ("rad", "angle", 1.0),
        ("mrad", "angle", 1e-3),
        ("deg", "angle", _TURN / 360),
        ("turn", "angle", _TURN),
        ("m", "length", 1.0),
        ("cm", "length", 1e-2),
        ("mm", "length", 1e-3),
    )
}
UNITS: dict[str, Unit] = (
    _table("angle", rad=1.0, mrad=1e-3, deg=_TURN / 360, turn=_TURN)
    | _table("length", m=1.0, cm=1e-2, mm=1e-3)
    | _PER_SECOND
    | {"rpm": Unit("rpm", "angle/time", _TURN / 60)}
    | _table("torque", Nm=1.0, mNm=1e-3, Ncm=1e-2, kNm=1e3)
    | _table("force", N=1.0, mN=1e-3, kN=1e3)
    | _table("time", s=1.0, ms=1e-3, us=1e-6, ns=1e-9, min=60.0)
    | {"1": Unit("1", "other", 1.0), "%": Unit("%", "other", 1e-2)}
    | _table("other", V=1.0, mV=1e-3, A=1.0, mA=1e-3)
)
"""By the one name used in messages."""

_ALSO = {
    "radian": "rad", "radians": "rad", "rads": "rad/s", "rad/sec": "rad/s", "radps": "rad/s", "rad_s": "rad/s",
    "rad/second": "rad/s", "degree": "deg", "degrees": "deg", "°": "deg", "deg/sec": "deg/s", "degps": "deg/s",
    "dps": "deg/s", "deg_s": "deg/s", "°/s": "deg/s", "degs": "deg/s", "turns": "turn", "rev": "turn", "revs": "turn",
    "rev/s": "turn/s", "turns/s": "turn/s", "rps": "turn/s", "rev/min": "rpm", "1/min": "rpm", "r/min": "rpm",
    "m_s": "m/s", "mps": "m/s", "mm_s": "mm/s", "meter": "m", "metre": "m", "meters": "m", "metres": "m",
    "n*m": "Nm", "n.m": "Nm", "n·m": "Nm", "n-m": "Nm", "n_m": "Nm", "newtonmeter": "Nm", "newton": "N",
    "sec": "s", "secs": "s", "second": "s", "seconds": "s", "msec": "ms", "millis": "ms", "milliseconds": "ms",
    "µs": "us", "μs": "us", "usec": "us", "micros": "us", "microseconds": "us", "nsec": "ns", "nanos": "ns",
    "nanosec": "ns", "nanoseconds": "ns", "minutes": "min", "-": "1", "volt": "V", "ampere": "A", "amps": "A",
    "percent": "%",
}  # fmt: skip
_LOWER = {name.lower(): name for name in UNITS} | _ALSO

ACCEPTS = {
    ("position", "angle"): ("angle",),
    ("position", "length"): ("length",),
    ("velocity", "angle"): ("angle/time",),
    ("velocity", "length"): ("length/time",),
    ("force", "angle"): ("torque",),
    ("force", "length"): ("force",),
}
"""Dimensions that a quantity of a joint that turns ("angle") or slides ("length") may have; others take any."""


def find_unit(text: str) -> Unit | None:
    """The unit that `text` spells, or None. Case tells m from M: "MNm" is unknown rather than a thousandth."""
    text = re.sub(r"\s+", "", text.strip())
    if text in UNITS:
        return UNITS[text]
    if re.match(r"M(N|Pa|s|m|V|A|rad)", text):
        return None
    name = _LOWER.get(text.lower())
    return UNITS[name] if name else None


def unit(text: str, where: str) -> Unit:
    """As `find_unit`, but an unknown unit is an error that says where and lists the known ones."""
    found = find_unit(text)
    if found is None:
        raise DataError(f"{where}: unit {text!r} is not known; the units are {', '.join(UNITS)}")
    return found


def split_unit(name: str) -> tuple[str, str | None]:
    """A column's name without its unit, and the unit's text: "q [deg]", "q (deg)", "q_deg", "time_ms".

    Text in brackets is returned even where it is no unit that we know: guessing past it would be silently wrong.
    A trailing word counts only if it can be nothing else: "q_m" is not metres.
    """
    if bracket := re.match(r"^(.*?)\s*[\[(<{]([^\])>}]*)[\])>}]\s*$", name):
        inside = bracket[2].strip()
        if find_unit(inside) or not re.fullmatch(r"\d*", inside):
            return bracket[1].strip(), inside
    for pattern in (r"^(.+?)[_ ./-]((?:rad|deg|mm|m)[_/](?:s|sec))$", r"^(.+?)[_ ./-]([A-Za-z°µμ%]+)$"):
        if (tail := re.match(pattern, name)) and tail[2].lower() not in ("m", "n", "v", "a", "min", "rev", "1"):
            if find_unit(tail[2]):
                return tail[1], tail[2]
    return name, None
