"""What the name of a column says: words for quantities, joints and numbers.

Strict on purpose: a name with a word that is not known is not guessed at all. A wrong guess would go unseen.
"""

import re
from dataclasses import dataclass

from .units import split_unit

_WORDS = {
    "position": "pos position positions q qs theta th angle angles ang qpos phi qmeas",
    "velocity": "vel velocity velocities v qd dq qdot dtheta thetadot omega qvel speed speeds dphi angvel",
    "acceleration": "acc accel acceleration accelerations qdd ddq qddot qacc ddtheta",
    "force": "tau torque torques effort efforts force forces trq frc eff tq taus",
    "command": "cmd command commands commanded ctrl control controls u us",
    "reference": "ref reference des desired target setpoint goal err error",
}
_QUANTITY = {word: quantity for quantity, words in _WORDS.items() for word in words.split()}
_NOISE = frozenset(
    [
        "joint",
        "joints",
        "j",
        "jnt",
        "axis",
        "state",
        "states",
        "meas",
        "measured",
        "measurement",
        "actual",
        "act",
        "raw",
        "filt",
        "filtered",
        "sensor",
        "value",
        "robot",
        "link",
    ]
)
_TIME = frozenset(
    ["time", "t", "stamp", "timestamp", "times", "stamps", "timestamps", "clock", "elapsed", "sec", "secs", "seconds"]
)


@dataclass(frozen=True)
class Reading:
    """A column's name, taken apart."""

    tokens: tuple[str, ...]
    quantities: frozenset[str]
    number: int | None
    rest: tuple[str, ...]
    """Words that are none of these."""

    @property
    def quantity(self) -> str | None:
        """One of position, velocity, force, command, acceleration, reference; None where it is not said."""
        for strong in ("reference", "command", "acceleration"):
            if strong in self.quantities:
                return strong
        return next(iter(self.quantities)) if len(self.quantities) == 1 else None


def tokens(name: str) -> tuple[str, ...]:
    """Words and numbers: "elbowPos_2" is elbow, pos, 2."""
    name = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", name)
    return tuple(re.findall(r"[^\W\d_]+|\d+", name.lower()))


def reading(words: tuple[str, ...]) -> Reading:
    """Of the words that are left when the joint's own are taken away."""
    quantities, number, rest = set(), None, []
    for word in words:
        if word.isdigit() and number is None:
            number = int(word)
        elif word == "dot" and "position" in quantities:
            quantities = quantities - {"position"} | {"velocity"}
        elif word == "ddot" and "position" in quantities:
            quantities = quantities - {"position"} | {"acceleration"}
        elif word in _QUANTITY:
            quantities.add(_QUANTITY[word])
        elif word not in _NOISE:
            rest.append(word)
    return Reading(words, frozenset(quantities), number, tuple(rest))


def without(words: tuple[str, ...], part: tuple[str, ...]) -> tuple[str, ...] | None:
    """`words` without the run `part`, or None where it does not occur."""
    for i in range(len(words) - len(part) + 1):
        if words[i : i + len(part)] == part:
            return words[:i] + words[i + len(part) :]
    return None


def is_time(name: str) -> bool:
    """Whether a column's name says that it holds stamps."""
    words = tokens(split_unit(name)[0])
    return bool(words) and words[-1] in _TIME and all(w in _TIME or w in ("header", "log", "ros") for w in words)


def stamp_part(name: str) -> str | None:
    """ "sec" or "nsec" where stamps are in two columns, as ROS writes them."""
    words = tokens(name)
    if len(words) >= 2 and words[-2] in ("stamp", "time", "header"):
        if words[-1] in ("nsec", "nsecs", "nanosec", "nanosecs", "nanoseconds"):
            return "nsec"
        if words[-1] in ("sec", "secs", "seconds"):
            return "sec"
    return None
