"""The code under test behind the same methods as the oracles."""

import numpy as np

from hybridsim import dynamics
from hybridsim.model import Spec, build_spec
from hybridsim.simulate import passive_forces

from ..evaluate import evaluate


class HybridSim:
    def __init__(self, spec: Spec):
        self.model = build_spec(spec)

    def forward_kinematics(self, q: np.ndarray) -> dict:
        poses = evaluate(dynamics.forward_kinematics, self.model, q)
        return {name: poses[name] for name in self.model.link_names}

    def jacobian(self, q: np.ndarray, link: str) -> np.ndarray:
        return evaluate(lambda model, q: dynamics.jacobian(model, q, link), self.model, q)

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        return evaluate(dynamics.mass_matrix, self.model, q)

    def inverse_dynamics(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        return evaluate(dynamics.inverse_dynamics, self.model, q, qd, qdd)

    def forward_dynamics(self, q: np.ndarray, qd: np.ndarray, tau: np.ndarray, wrenches=None) -> np.ndarray:
        return evaluate(dynamics.forward_dynamics, self.model, q, qd, tau, wrenches)

    def energy(self, q: np.ndarray, qd: np.ndarray) -> dynamics.Energy:
        return evaluate(dynamics.energy, self.model, q, qd)

    def momentum(self, q: np.ndarray, qd: np.ndarray) -> dynamics.Momentum:
        return evaluate(dynamics.momentum, self.model, q, qd)

    def passive_forces(self, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        return evaluate(passive_forces, self.model, q, qd)
