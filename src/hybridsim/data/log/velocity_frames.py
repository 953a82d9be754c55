"""Velocities of free joints as a log gives them: in the axes of the body or of the world, or not at all."""

from dataclasses import replace

import numpy as np

from ...model import Model
from .channels import channels
from .manifold import on_the_manifold
from .notes import Notes
from .rotations import rotation_of
from .trajectory import Trajectory

_BETTER = 0.6
"""Velocities are taken as the world's where these leave less than this part of the body's error."""
_UNLIKE = 0.7
"""Part of their size by which measured velocities may differ from the rates of positions."""


def in_the_body(log: Trajectory, model: Model, notes: Notes) -> Trajectory:
    """The log with velocities of free joints in the axes of the body, as the rates of its positions tell; where only other
    joints have measured velocities, those of free joints are these rates."""
    if log.qd is None or not log.poses:
        return log
    qd, mask = log.qd.copy(), np.array(log.qd_mask)
    q, rates, enough, _ = on_the_manifold(log, max(0.05, 8 * log.dt), 3)
    for channel in channels(model):
        if channel.joint != "free" or channel.part != "wx" or channel.quantity != "velocity":
            continue
        start = next(c.index for c in channels(model) if c.owner == channel.owner and c.part == "qw")
        turned = rotation_of(q[:, start : start + 4])
        for first, what in ((channel.index, "angular velocity"), (channel.index + 3, "velocity")):
            own = slice(first, first + 3)
            if not mask[:, own].any():
                qd[:, own], mask[:, own] = rates[:, own], enough[:, own]
                continue
            known = (mask[:, own] & enough[:, own]).all(axis=1)
            if not known.any():
                continue
            size = float(np.linalg.norm(rates[known, own]))
            body = float(np.linalg.norm((qd - rates)[known, own]))
            in_body = turned.inv().apply(qd[:, own])
            world = float(np.linalg.norm((in_body - rates[:, own])[known]))
            if world < _BETTER * body:
                qd[:, own] = in_body
                notes.say(f"the {what} of {channel.owner} is in the axes of the world: turned into those of the body")
            if min(world, body) > _UNLIKE * size and size > 0:
                notes.warn(
                    f"the {what} of {channel.owner} is not the rate of its pose, neither in the axes of the body nor of the "
                    f"world; leave it out: columns={{'{channel.owner}.velocity.{'w' if what[0] == 'a' else 'v'}x': None, ...}}"
                )
    return replace(log, qd=qd, qd_mask=mask)
