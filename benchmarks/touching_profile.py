"""Where the time of a step goes: without contact, with detection alone, in the air and on the floor."""

from dataclasses import dataclass, replace

import numpy as np
from measure import Effort, Timings, in_rounds
from tables import duration
from touching_report import Part
from touching_rollouts import per_step, positions
from touching_scenes import Scene

import hybridsim as hs

HEIGHT = 100.0
"""So high that nothing falls to the floor [m]."""
WEAK = 1e-9
"""Of springs, in any unit."""
COLUMNS = {
    "no contact": "no contact",
    "detection": "detection",
    "in the air": "in the air",
    "on the floor": "on the floor",
    "MuJoCo, air": "MuJoCo, in the air",
    "MuJoCo, floor": "MuJoCo, on the floor",
}
HEAD = ["", "candidates", "touching", "steps that touch", *COLUMNS.values(), "MuJoCo's iterations"]


@dataclass(frozen=True)
class Profile:
    scene: Scene
    forces: np.ndarray
    """Normal force of every candidate at every step [N]."""
    timings: Timings
    """Of one step, by the columns of the table [s]."""


def run(scene: Scene, effort: Effort) -> Profile:
    floor, air = (scene.q, scene.qd, scene.controls), (scene.lifted(HEIGHT), scene.qd, scene.controls)
    bare = hs.native.jit(positions(scene, scene.steps, None))
    springs = hs.native.jit(positions(scene, scene.steps, hs.Springs(), _limp(scene.model)))
    impulses = hs.native.jit(positions(scene, scene.steps))
    calls = {
        "no contact": lambda: bare(*air),
        "detection": lambda: springs(*air),
        "in the air": lambda: impulses(*air),
        "on the floor": lambda: impulses(*floor),
        "MuJoCo, air": scene.mujoco.rollout(air[0], scene.qd, scene.steps, controls=scene.controls),
        "MuJoCo, floor": scene.mujoco.rollout(scene.q, scene.qd, scene.steps, controls=scene.controls),
    }
    return Profile(scene, _forces(scene), per_step(in_rounds(calls, effort), scene.steps))


def row(p: Profile) -> list[str]:
    pushed = (p.forces > 0).sum(axis=1)
    touching = pushed[pushed > 0].mean() if pushed.any() else 0.0
    return [
        p.scene.name,
        str(p.scene.candidates),
        f"{touching:.1f}",
        f"{np.mean(pushed > 0):.0%}",
        *(duration(p.timings.time(column)) for column in COLUMNS),
        f"{p.scene.contacts()[1]:.1f}",
    ]


def _limp(model: hs.Model) -> hs.Model:
    """Springs of shapes and of joint limits all but without force; with none at all, detection would not be computed."""
    weak = np.full(len(model.limits.freedoms), WEAK)
    limits = replace(model.limits, stiffness=weak, dissipation=weak)
    return replace(hs.with_contacts(model, stiffness=WEAK, dissipation=WEAK), limits=limits)


def _forces(scene: Scene) -> np.ndarray:
    def forces(q, qd, controls):
        options = {"dt": scene.dt, "steps": scene.steps, "integrator": hs.ImplicitDamping()}
        path = hs.rollout(scene.model, (q, qd), controls, record="contact.normal_force", **options)
        return path.values["contact.normal_force"]

    return np.asarray(hs.native.jit(forces, optimise=1)(scene.q, scene.qd, scene.controls))


PART = Part(
    HEAD,
    row,
    "Where the time of a step goes",
    "Detection: a step with springs, which never push, so that every candidate is found and its force computed. In the air: the "
    f"program with impulses, everything {HEIGHT:g} m higher, so that nothing touches. Touching: points with a normal force, of a "
    "step that has any. Iterations: of MuJoCo's solver in a step, on the floor.",
)
