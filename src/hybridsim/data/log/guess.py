"""Candidates among the columns of a log for every channel of a model, by their names alone."""

import numpy as np

from ...model import Model
from .channels import Channel
from .units import split_unit
from .words import Reading, is_time, reading, stamp_part, tokens, without


def candidates(model: Model, group: list[Channel], names: list[str], taken: list[str]) -> dict[Channel, list[str]]:
    """For the channels of ONE quantity: columns that name the joint, else numbered columns in the model's order."""
    owners = _owners(model, group)
    found: dict[Channel, list[str]] = {}
    numbered: dict[tuple, dict[int, list[str]]] = {}
    bare: list[tuple[str, tuple[str, ...]]] = []
    for name in dict.fromkeys(names):
        words = tokens(split_unit(name)[0])
        if is_time(name) or stamp_part(name) or not words:
            continue
        owner, left = _owner(words, _all_owners(model))
        read = reading(left)
        if owner is not None:
            for channel in owners.get(owner, []):
                said = _without_si(left, channel)
                if _fits(model, channel, reading(said), said):
                    found.setdefault(channel, []).append(name)
                elif channel.quantity == "position" and not left and not channel.part:
                    bare.append((name, (channel.owner,)))
        elif not read.rest and _same(model, group, read):
            style = tuple("#" if w.isdigit() else w for w in read.tokens)
            numbered.setdefault(style, {}).setdefault(-1 if read.number is None else read.number, []).append(name)
    for name, (owner,) in bare:
        for channel in owners[owner]:
            if channel not in found:
                found[channel] = [name]
    return _with_numbered(group, found, numbered, taken)


def _with_numbered(group, found, numbered, taken) -> dict[Channel, list[str]]:
    """Columns pos1, pos2, ... go to the joints in order, if there are exactly as many, counted from 0 or 1."""
    single = [c for c in group if not c.part]
    for by_number in numbered.values():
        order = sorted(by_number)
        n = len(single)
        whole = order == [-1] and n == 1
        if not n or not (whole or order == list(range(n)) or order == list(range(1, n + 1))):
            continue
        for channel, k in zip(single, order, strict=True):
            if channel.key not in taken:
                found[channel] = found.get(channel, []) + by_number[k]
    return found


def _all_owners(model: Model) -> list[tuple[str, tuple[str, ...]]]:
    """Joints and actuators with the words of their names, the longest first: "elbow_2" before "elbow"."""
    names = dict.fromkeys((*model.joint_names, *model.actuators.names))
    return sorted(((name, tokens(name)) for name in names), key=lambda pair: -len(pair[1]))


def _owner(words: tuple[str, ...], owners: list[tuple[str, tuple[str, ...]]]) -> tuple[str | None, tuple[str, ...]]:
    for name, parts in owners:
        left = without(words, parts) if parts else None
        # A joint that is called like a quantity and a number (q1) must be the whole name: dq1, tau_q1 are numbered.
        if left is not None and (reading(parts).rest or not left):
            return name, left
    return None, words


def _owners(model: Model, group: list[Channel]) -> dict[str, list[Channel]]:
    """Channels by the names under which columns may speak of them: a command also by the actuator's joint."""
    result: dict[str, list[Channel]] = {}
    for channel in group:
        result.setdefault(channel.owner, []).append(channel)
    if group and group[0].quantity == "command":
        joints = [model.joint_names[j] for j in model.actuators.joints]
        for channel, joint in zip(group, joints, strict=True):
            if joints.count(joint) == 1 and joint not in result:
                result[joint] = [channel]
    return result


_SI = {"position": "m", "force": "n"}


def _without_si(words: tuple[str, ...], channel: Channel) -> tuple[str, ...]:
    """Without the unit of a joint that slides, "slide_pos_m" or "slide_force_N"; elsewhere such a letter may be a name."""
    unit = channel.motion == "length" and len(words) > 1 and words[-1] == _SI.get(channel.quantity)
    return words[:-1] if unit else words


def _fits(model: Model, channel: Channel, read: Reading, left: tuple[str, ...]) -> bool:
    if channel.part:
        words = [w for w in left if reading((w,)).rest or w == channel.part]
        return words == [channel.part] and read.quantity in (None, channel.quantity)
    return not read.rest and read.number is None and _same(model, [channel], read)


def _same(model: Model, group: list[Channel], read: Reading) -> bool:
    """Whether the words for the quantity are those of the group's."""
    if not group:
        return False
    quantity = group[0].quantity
    if quantity == "force" and not model.nu and read.quantities == {"force", "command"}:
        return True
    if quantity != "command":
        return read.quantity == quantity
    others = read.quantities - {"command"}
    return read.quantity == "command" and all(others <= {_servo(model, c.index)} for c in group)


def _servo(model: Model, index: int) -> str:
    """What an actuator's command is: the force of a motor, the position or the velocity of a servo."""
    bias = np.asarray(model.actuators.bias)[index]
    return "position" if bias[1] else "velocity" if bias[2] else "force"
