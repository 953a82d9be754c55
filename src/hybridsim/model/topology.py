"""What of a model is not a number: names, parents, kinds. Static and hashable.

Frames are joints: joint i carries a child frame whose parent is the child frame of `parents[i]` (-1 is the
world), and joints are sorted so that parents come first. A link sits in the child frame of one joint; a
joint without a link lies between two joints of one body. A mimic joint has no coordinates of its own.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, pairwise

import numpy as np

from .joints import JointKind


@dataclass(frozen=True)
class Topology:
    joint_names: tuple[str, ...]
    kinds: tuple[JointKind, ...]
    parents: tuple[int, ...]
    """Of each joint, the joint that carries its parent frame; -1 for the world."""
    link_names: tuple[str, ...]
    link_joints: tuple[int, ...]
    """Of each link, the joint whose child frame is the link's frame."""
    mimics: tuple[int, ...]
    """Of each joint, the joint whose motion it copies; -1 for none."""
    prescribed: tuple[int, ...] = ()
    """Joints whose motion is given as data, in rising order. Joints that copy them follow."""

    @cached_property
    def _hash(self) -> int:
        joints = self.joint_names, self.kinds, self.parents, self.mimics, self.prescribed
        return hash((*joints, self.link_names, self.link_joints))

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def q_slices(self) -> tuple[slice, ...]:
        """Where each joint's configuration lies among those of ALL joints, mimics included."""
        return _slices(kind.nq for kind in self.kinds)

    @cached_property
    def v_slices(self) -> tuple[slice, ...]:
        """Where each joint's velocity lies among those of ALL joints, mimics included."""
        return _slices(kind.nv for kind in self.kinds)

    @property
    def nq_all(self) -> int:
        """Configuration numbers of all joints, mimics included."""
        return sum(kind.nq for kind in self.kinds)

    @property
    def nv_all(self) -> int:
        """Degrees of freedom of all joints, mimics included."""
        return sum(kind.nv for kind in self.kinds)

    @cached_property
    def own_q(self) -> np.ndarray:
        """Of all joints' configuration numbers, those that are coordinates of the model."""
        return _owned(self.q_slices, self.mimics)

    @cached_property
    def own_v(self) -> np.ndarray:
        return _owned(self.v_slices, self.mimics)

    @cached_property
    def prescribed_q(self) -> np.ndarray:
        """Of the model's coordinates, those of prescribed joints."""
        return _places(self.q_slices, self.own_q, self.prescribed)

    @cached_property
    def prescribed_v(self) -> np.ndarray:
        """Of the model's freedoms, those of prescribed joints."""
        return _places(self.v_slices, self.own_v, self.prescribed)

    @cached_property
    def yields(self) -> np.ndarray | None:
        """Of each of the model's freedoms whether forces move it; None where all do, because no joint is prescribed."""
        if not self.prescribed:
            return None
        yields = np.ones(len(self.own_v), dtype=bool)
        yields[self.prescribed_v] = False
        return yields

    @property
    def unprescribed(self) -> "Topology":
        """The mechanism as URDF and MJCF describe it, which know no prescribed joints."""
        return replace(self, prescribed=())

    @property
    def has_mimics(self) -> bool:
        return any(mimic >= 0 for mimic in self.mimics)

    @cached_property
    def joint_index(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.joint_names)}

    @cached_property
    def link_index(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.link_names)}

    def link(self, name: str) -> int:
        """Index of a link, or an error that lists the names there are."""
        return _find(self.link_index, name, "link")

    def joint(self, name: str) -> int:
        return _find(self.joint_index, name, "joint")


def _find(index: dict[str, int], name: str, what: str) -> int:
    if name not in index:
        known = ", ".join(sorted(index)) or "none"
        raise KeyError(f"no {what} is called {name!r}; the {what}s of this model are: {known}")
    return index[name]


def _slices(sizes) -> tuple[slice, ...]:
    ends = list(accumulate(sizes, initial=0))
    return tuple(slice(a, b) for a, b in pairwise(ends))


def _owned(slices: tuple[slice, ...], mimics: tuple[int, ...]) -> np.ndarray:
    own = [np.arange(s.start, s.stop) for s, mimic in zip(slices, mimics, strict=True) if mimic < 0]
    return np.concatenate(own) if own else np.zeros(0, dtype=int)


def _places(slices: tuple[slice, ...], own: np.ndarray, joints: tuple[int, ...]) -> np.ndarray:
    """Where in `own` the numbers of some joints lie."""
    numbers = [np.arange(slices[j].start, slices[j].stop) for j in joints]
    return np.searchsorted(own, np.concatenate([np.zeros(0, dtype=int), *numbers]))
