"""Messages of joint states (sensor_msgs/JointState) as bytes: CDR of ROS 2, the serialisation of ROS 1, JSON."""

import json
import math
import struct
from dataclasses import dataclass


@dataclass(frozen=True)
class JointState:
    stamp: int
    """[ns]; 0 where the sender set none."""
    names: list[str]
    position: list[float]
    velocity: list[float]
    effort: list[float]


class _Reader:
    """Numbers one after the other; CDR aligns each to its size, counted from after the 4 bytes of the head."""

    def __init__(self, data: bytes, cdr: bool):
        self.data, self.cdr = data, cdr
        self.order = "<" if not cdr or data[1] & 1 else ">"
        self.start = self.at = 4 if cdr else 0

    def take(self, form: str, count: int = 1) -> tuple:
        size = struct.calcsize(self.order + form)
        if self.cdr:
            self.at += -(self.at - self.start) % size if count else 0
        end = self.at + size * count
        if count < 0 or end > len(self.data):
            raise ValueError(f"the message ends at byte {len(self.data)}, but says that it goes on to {end}")
        values = struct.unpack_from(f"{self.order}{count}{form}", self.data, self.at)
        self.at = end
        return values

    def string(self) -> str:
        (size,) = self.take("I")
        text = b"".join(self.take("c", size)).decode()
        return text.rstrip("\0")

    def doubles(self) -> list[float]:
        (count,) = self.take("I")
        return list(self.take("d", count))


def decode(data: bytes, encoding: str) -> JointState:
    """One message; ValueError where it is cut or of another form."""
    if encoding == "json":
        return _from_json(data)
    if encoding not in ("cdr", "ros1"):
        raise ValueError(f"encoding {encoding!r} is not known; known are cdr, ros1 and json")
    if encoding == "cdr" and (len(data) < 4 or data[0] != 0 or data[1] > 1):
        raise ValueError("the message does not begin with the head of plain CDR")
    reader = _Reader(data, encoding == "cdr")
    if encoding == "ros1":
        reader.take("I")
    seconds, nanoseconds = reader.take("i")[0], reader.take("I")[0]
    reader.string()
    (count,) = reader.take("I")
    names = [reader.string() for _ in range(count)]
    return _checked(JointState(seconds * 10**9 + nanoseconds, names, *(reader.doubles() for _ in range(3))))


def _from_json(data: bytes) -> JointState:
    try:
        message = json.loads(data)
        stamp = message.get("header", {}).get("stamp", {})
        whole = stamp.get("sec", stamp.get("secs", 0))
        part = stamp.get("nanosec", stamp.get("nsec", stamp.get("nsecs", 0)))
        lists = [[math.nan if x is None else float(x) for x in message.get(key) or []] for key in _LISTS]
        return _checked(JointState(int(whole) * 10**9 + int(part), [str(n) for n in message["name"]], *lists))
    except (AttributeError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise ValueError(f"no joint state in JSON ({repr(error)[:200]})") from error


_LISTS = ("position", "velocity", "effort")


def _checked(state: JointState) -> JointState:
    if len(set(state.names)) != len(state.names):
        raise ValueError(f"a joint is named twice among {str(state.names)[:200]}")
    for key in _LISTS:
        if len(values := getattr(state, key)) not in (0, len(state.names)):
            raise ValueError(f"{len(values)} numbers of {key} for {len(state.names)} joints")
    return state
