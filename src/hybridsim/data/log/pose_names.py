"""Which columns of a log hold the pose of a body, by the many ways in which people name them.

x, px, tx, pos_x, pose.position.x; qw, orientation.w, quat_w; quat_0 to quat_3 and q0 to q3, whose order the name does not
tell; vx, twist.linear.x; wx, omega_x, twist.angular.x. What else is in the name, such as that of the body, has to be the
same for all columns of one pose.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass, field

from ...model import Model
from ..folder import DataError
from .channels import Channel, channels
from .units import split_unit
from .words import is_time, stamp_part, tokens

PLACE, TURN, LINEAR, ANGULAR = ("x", "y", "z"), ("qw", "qx", "qy", "qz"), ("vx", "vy", "vz"), ("wx", "wy", "wz")
UNORDERED = ("q0", "q1", "q2", "q3")
_KINDS = {
    "place": "position pos p translation trans t location loc xyz",
    "turn": "orientation orient ori quaternion quat quaternions q rotation rot attitude att",
    "linear": "linear lin vel velocity v speed",
    "angular": "angular ang omega gyro angvel w",
}
_KIND = {word: kind for kind, words in _KINDS.items() for word in words.split()}
_SHORT = re.compile(
    r"(?:(?P<place>p|pos|t)?|(?P<turn>q|quat|rot|ori)|(?P<linear>v|vel)|(?P<angular>w|omega|om|gyro))(?P<axis>[wxyz])"
)
_OTHER_WORDS = (
    "ref reference des desired target setpoint goal err error cmd command ctrl control acc accel acceleration a force f "
    "torque tau moment wrench effort cov covariance std var variance dot ddot rate scale size"
)
_NO_POSE = frozenset(_OTHER_WORDS.split())
_COMMON_WORDS = (
    "pose poses field msg data state states meas measured measurement raw filt filtered value world frame body rigid "
    "rigidbody object obj rpy base root link com mocap vicon optitrack tracker twist odom odometry transform tf m"
)
_SAID_OFTEN = frozenset(_COMMON_WORDS.split())


@dataclass
class PoseColumns:
    """What a log has of the pose of one free joint."""

    joint: str
    words: tuple[str, ...] = ()
    """What else their names say, such as the body's name."""
    columns: dict[str, list[str]] = field(default_factory=dict)
    """Of each part (x, qw, vx, ...) the columns that it may be."""

    @property
    def unordered(self) -> tuple[str, ...]:
        """Four columns of a quaternion of which the names do not tell which is w; empty where that is clear."""
        if any(part in self.columns for part in TURN):
            return ()
        found = [self.columns.get(part, []) for part in UNORDERED]
        return tuple(names[0] for names in found) if all(len(names) == 1 for names in found) else ()

    @property
    def whole(self) -> bool:
        """Whether place and rotation are both there."""
        turned = all(part in self.columns for part in TURN) or bool(self.unordered)
        return turned and all(part in self.columns for part in PLACE)

    @property
    def begun(self) -> bool:
        """Whether something of a rotation is there beside the place: a pose, if a damaged one."""
        turned = any(part in self.columns for part in (*TURN, *UNORDERED))
        return turned and all(part in self.columns for part in PLACE)


def part_of(words: tuple[str, ...]) -> tuple[str, tuple[str, ...]] | None:
    """The part of a pose or twist that a column's words name, and the words that say something else; None for neither."""
    if not words or any(word in _NO_POSE for word in words):
        return None
    *before, last = words
    kinds = [_KIND[word] for word in before if word in _KIND]
    rest = tuple(word for word in before if word not in _KIND and word not in _SAID_OFTEN)
    if last in ("0", "1", "2", "3", "4"):
        return (f"q{last}", rest) if kinds == ["turn"] else None
    short = _SHORT.fullmatch(last)
    if short is None:
        return None
    own = [kind for kind in _KINDS if short[kind] is not None]
    # "angular velocity" is angular, "pose.orientation" an orientation.
    said = [kind for kind in ("angular", "linear", "turn", "place") if kind in (*own, *kinds)]
    kind = said[0] if said else "place"
    if len(set(said) - {"angular", "linear"}) > 1 or (kind != "turn" and short["axis"] == "w"):
        return None
    prefix = {"place": "", "turn": "q", "linear": "v", "angular": "w"}[kind]
    return prefix + short["axis"], rest


def pose_columns(model: Model, names: list[str], given: Collection[str] = ()) -> dict[str, PoseColumns]:
    """Of every free joint what the columns hold of its pose, where they hold something of it beside what is `given`."""
    free = {c.owner: c for c in channels(model) if c.joint == "free" and c.part == "x"}
    if not free:
        return {}
    groups = _groups(names, [tokens(name) for name in _others(model, free)])
    found: dict[str, PoseColumns] = {}
    for joint in free:
        own = {tokens(joint), *(tokens(link) for link in _links(model, joint))} - {()}
        named = [rest for rest in groups if any(_within(words, rest) for words in own)]
        fitting = named if named or len(free) > 1 else list(groups)
        options = [PoseColumns(joint, rest, _counted(groups[rest])) for rest in fitting]
        whole = [option for option in options if option.whole] or [option for option in options if option.begun]
        if not whole and any(key.startswith(f"{joint}.position.") for key in given):
            whole = [option for option in options if set(option.columns) & {*PLACE, *TURN}]
        if len(whole) > 1:
            first = [next(iter(option.columns.values()))[0] for option in whole]
            raise DataError(
                f"the pose of joint {joint!r} may be any of those that begin with the columns {', '.join(map(repr, first))}; "
                f"say which: columns={{'{joint}.position.x': {first[0]!r}, ...}}, or name the columns like the joint"
            )
        if whole:
            found[joint] = whole[0]
    return found


def _groups(names: list[str], taken: list[tuple[str, ...]]) -> dict[tuple[str, ...], dict[str, list[str]]]:
    """Columns by the words that say something else, and by their part."""
    groups: dict[tuple[str, ...], dict[str, list[str]]] = {}
    for name in names:
        words = tokens(split_unit(name)[0])
        if is_time(name) or stamp_part(name) or any(words == own for own in taken):
            continue
        if (said := part_of(words)) is not None:
            groups.setdefault(said[1], {}).setdefault(said[0], []).append(name)
    return groups


def _counted(columns: dict[str, list[str]]) -> dict[str, list[str]]:
    """With unordered numbers from 0; other numbers than four in a row are no quaternion."""
    numbered = sorted(part for part in columns if part[1:].isdigit())
    kept = {part: names for part, names in columns.items() if part not in numbered}
    if numbered in (["q0", "q1", "q2", "q3"], ["q1", "q2", "q3", "q4"]):
        kept |= {new: columns[old] for new, old in zip(UNORDERED, numbered, strict=True)}
    return kept


def _others(model: Model, free: dict[str, Channel]) -> list[str]:
    """Joints and actuators that a column may speak of instead."""
    return [name for name in (*model.joint_names, *model.actuators.names) if name not in free]


def _links(model: Model, joint: str) -> list[str]:
    topology = model.topology
    place = topology.joint_names.index(joint)
    return [name for name, own in zip(topology.link_names, topology.link_joints, strict=True) if own == place]


def _within(words: tuple[str, ...], rest: tuple[str, ...]) -> bool:
    said = [word for word in words if word not in _SAID_OFTEN]
    return bool(said) and all(word in rest for word in said)
