"""Random changes to the numbers of a model, such that its MJCF file can hold the result."""

import equinox as eqx
import numpy as np

import hybridsim as hs
from hybridsim.model import default_numbers


def replaced(model: hs.Model, where, value) -> hs.Model:
    return eqx.tree_at(where, model, value)


class Change:
    """One method for each kind of number."""

    def __init__(self, model: hs.Model, seed: int):
        self.model, self.rng = model, np.random.default_rng(seed)
        t = model.topology
        self.kinds = np.array([kind.name for kind in t.kinds])
        self.scalar = np.isin(self.kinds, ["revolute", "prismatic"])
        self.first = np.array([parent < 0 or parent in t.link_joints for parent in t.parents])
        # A body with several joints has one place: the reference of the later ones must stay, and so what it turns.
        at_zero = np.array([not np.any(model.joints.rest[s]) for s in t.q_slices])
        self.movable = self.first | at_zero

    def scaled(self, values: np.ndarray) -> np.ndarray:
        return values * self.rng.uniform(0.8, 1.2, size=values.shape)

    def scaled_by_joint(self, values: np.ndarray) -> np.ndarray:
        slices = self.model.topology.v_slices
        factors = [np.full(s.stop - s.start, self.rng.uniform(0.8, 1.2)) for s in slices]
        return values * np.concatenate(factors)

    def mass(self, m):
        return replaced(m, lambda m: m.links.mass, self.scaled(m.links.mass))

    def com(self, m):
        com = m.links.com + 0.01 * self.rng.normal(size=m.links.com.shape)
        return replaced(m, lambda m: m.links.com, np.where(m.links.mass[:, None] > 0, com, 0.0))

    def inertia(self, m):
        return replaced(
            m, lambda m: m.links.inertia, m.links.inertia * self.rng.uniform(0.8, 1.2, size=(len(m.links.mass), 1))
        )

    def place(self, m):
        here = (self.first & (self.kinds != "free"))[:, None]
        position = m.joints.position + 0.1 * self.rng.normal(size=m.joints.position.shape)
        quaternion = m.joints.quaternion + 0.2 * self.rng.normal(size=m.joints.quaternion.shape)
        quaternion = quaternion / np.linalg.norm(quaternion, axis=1, keepdims=True)
        m = replaced(m, lambda m: m.joints.position, np.where(here, position, m.joints.position))
        return replaced(m, lambda m: m.joints.quaternion, np.where(here, quaternion, m.joints.quaternion))

    def axis(self, m):
        axis = m.joints.axis + 0.2 * self.rng.normal(size=m.joints.axis.shape)
        axis = axis / np.linalg.norm(axis, axis=1, keepdims=True)
        here = (self.scalar & self.movable)[:, None]
        return replaced(m, lambda m: m.joints.axis, np.where(here, axis, m.joints.axis))

    def anchor(self, m):
        if m.joints.anchor is None:
            return m
        here = (self.movable & (self.scalar | (self.kinds == "spherical")))[:, None]
        anchor = m.joints.anchor + 0.05 * self.rng.normal(size=m.joints.anchor.shape)
        return replaced(m, lambda m: m.joints.anchor, np.where(here, anchor, m.joints.anchor))

    def rest(self, m):
        rest = np.array(m.joints.rest)
        for s, kind, first in zip(m.topology.q_slices, self.kinds, self.first, strict=True):
            if first and kind in ("revolute", "prismatic"):
                rest[s] += 0.3 * self.rng.normal()
        return replaced(m, lambda m: m.joints.rest, rest)

    def spring_rest(self, m):
        rest = np.array(m.joints.spring_rest)
        for s, scalar in zip(m.topology.q_slices, self.scalar, strict=True):
            rest[s] += 0.3 * self.rng.normal() if scalar else 0
        return replaced(m, lambda m: m.joints.spring_rest, rest)

    def coefficients(self, m):
        for field in ("damping", "stiffness", "friction", "armature"):
            m = replaced(m, lambda m, f=field: getattr(m.joints, f), self.scaled_by_joint(getattr(m.joints, field)))
        return m

    def limits(self, m):
        m = replaced(m, lambda m: m.joints.lower, m.joints.lower - self.rng.uniform(0, 0.1))
        return replaced(m, lambda m: m.joints.effort, self.scaled_by_joint(m.joints.effort))

    def actuators(self, m):
        for field in ("gain", "bias", "gear", "command_range", "force_range"):
            m = replaced(m, lambda m, f=field: getattr(m.actuators, f), self.scaled(getattr(m.actuators, field)))
        return m

    def world(self, m):
        m = replaced(m, lambda m: m.gravity, m.gravity + self.rng.normal(size=3))
        return replaced(m, lambda m: m.timestep, self.scaled(m.timestep))

    def shapes(self, m):
        slippery = m.geometry.friction == 0
        m = replaced(m, lambda m: m.geometry.friction, np.where(slippery, 0, self.scaled(m.geometry.friction)))
        return replaced(m, lambda m: m.contacts.friction, default_numbers(m)[0]["friction"])


KINDS = [name for name in vars(Change) if not name.startswith("_") and not name.startswith("scaled")]
