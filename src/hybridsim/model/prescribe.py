"""Joints whose motion is given as data: which ones, and what that means for contact."""

import dataclasses
from collections.abc import Sequence
from fnmatch import fnmatchcase

import numpy as np

from .errors import ModelError
from .model import Model
from .pairs import immovable


def prescribed(model: Model, joints: str | Sequence[str]) -> Model:
    """The same model with joints that move as data say, infinitely heavy for whatever they touch.

    `joints`: names or patterns, such as ["tip", "conveyor_*"]; of any kind that moves. Where they are and how fast they
    move is given to each step: `hs.Control(prescribed=...)`, made by `hs.prescribed_motion`. Their limits no longer act, and
    neither do contacts between shapes that only prescribed joints, or none, can move.
    """
    if model.augmentation is not None:
        raise ModelError("networks know which contacts there are; mark prescribed joints before they are grafted")
    patterns = [joints] if isinstance(joints, str) else list(joints)
    topology = model.topology
    chosen = set(topology.prescribed)
    for pattern in patterns:
        chosen |= _matching(model, pattern)
    topology = dataclasses.replace(topology, prescribed=tuple(sorted(chosen)))
    marked = dataclasses.replace(model, topology=topology)
    yields = np.ones(topology.nv_all, dtype=bool)
    yields[topology.own_v[topology.prescribed_v]] = False
    links = model.geometry.links
    pairs = [not (immovable(topology, links[a]) and immovable(topology, links[b])) for a, b in model.contacts.pairs]
    return dataclasses.replace(
        marked,
        contacts=_kept(model.contacts, "pairs", np.array(pairs, dtype=bool)),
        limits=_kept(model.limits, "freedoms", yields[np.array(model.limits.freedoms, dtype=int)]),
    )


def _matching(model: Model, pattern: str) -> set[int]:
    topology = model.topology
    if not isinstance(pattern, str):
        raise ModelError(f"prescribed joints: {pattern!r} is no name; give names of joints, such as ['tip']")
    matching = [j for j, name in enumerate(topology.joint_names) if name == pattern or fnmatchcase(name, pattern)]
    able = {j for j in matching if topology.kinds[j].nv and topology.mimics[j] < 0}
    if able:
        return able
    for j in matching:
        name, copied = topology.joint_names[j], topology.mimics[j]
        if copied >= 0:
            raise ModelError(
                f"prescribed joints: {name!r} copies joint {topology.joint_names[copied]!r}; prescribe that one, and this "
                "one follows"
            )
        raise ModelError(
            f"prescribed joints: {name!r} is fixed and cannot move; give it another kind in the robot's file"
        )
    names = [n for j, n in enumerate(topology.joint_names) if topology.kinds[j].nv and topology.mimics[j] < 0]
    raise ModelError(f"prescribed joints: no joint matches {pattern!r}; those that can move are: {', '.join(names)}")


def _kept(numbers, static: str, keep: np.ndarray):
    """Some rows of contacts or limits."""
    if keep.all():
        return numbers
    fields = [f.name for f in dataclasses.fields(numbers) if not f.metadata.get("static")]
    rows = tuple(row for row, kept in zip(getattr(numbers, static), keep, strict=True) if kept)
    return dataclasses.replace(numbers, **{name: getattr(numbers, name)[keep] for name in fields}, **{static: rows})
