"""HybridSim: a differentiable simulator of articulated rigid bodies whose parameters and networks are
identified together from measured motion.

    import hybridsim as hs

    model = hs.load("arm.urdf")
    q, qd = model.rest()
    trajectory = hs.rollout(model, (q, qd), dt=1e-3, steps=500)
"""

from typing import TYPE_CHECKING

from .augment import (
    GRU,
    LSTM,
    MLP,
    Augment,
    Blueprint,
    Custom,
    Discovery,
    Linear,
    Penalty,
    Trained,
    TrainingError,
    blueprint_of,
    constant,
    cyclic,
    discover,
    history,
    normalised,
    papers_penalty,
    previous,
    prune,
    strengths,
    train,
)
from .contact import (
    Andersson,
    BrownMcPhee,
    Cone,
    Coulomb,
    Frictionless,
    Hollars,
    HuntCrossley,
    Impulses,
    Pyramid,
    Springs,
)
from .dynamics import (
    Energy,
    Momentum,
    Poses,
    bias_force,
    centre_of_mass,
    configuration_rate,
    energy,
    forward_dynamics,
    forward_kinematics,
    inverse_dynamics,
    jacobian,
    mass_matrix,
    momentum,
)
from .load import load, save
from .model import (
    Actuator,
    Geom,
    Joint,
    Link,
    Mimic,
    Model,
    ModelError,
    ModelWarning,
    State,
    build,
    chain,
    contact_grid,
    free_body,
    ground,
    prefixed,
    solid,
    with_contacts,
    world,
)
from .simulate import (
    Control,
    DivergedError,
    ImplicitDamping,
    Rollout,
    RungeKutta4,
    SemiImplicitEuler,
    acceleration,
    initial_state,
    names,
    passive_forces,
    rollout,
    step,
)
from .spatial import Transform, from_log_cholesky, to_log_cholesky

if TYPE_CHECKING:
    from . import native

__all__ = [
    "GRU",
    "LSTM",
    "MLP",
    "Actuator",
    "Andersson",
    "Augment",
    "Blueprint",
    "BrownMcPhee",
    "Cone",
    "Control",
    "Coulomb",
    "Custom",
    "Discovery",
    "DivergedError",
    "Energy",
    "Frictionless",
    "Geom",
    "Hollars",
    "HuntCrossley",
    "ImplicitDamping",
    "Impulses",
    "Joint",
    "Linear",
    "Link",
    "Mimic",
    "Model",
    "ModelError",
    "ModelWarning",
    "Momentum",
    "Penalty",
    "Poses",
    "Pyramid",
    "Rollout",
    "RungeKutta4",
    "SemiImplicitEuler",
    "Springs",
    "State",
    "Trained",
    "TrainingError",
    "Transform",
    "acceleration",
    "bias_force",
    "blueprint_of",
    "build",
    "centre_of_mass",
    "chain",
    "configuration_rate",
    "constant",
    "contact_grid",
    "cyclic",
    "discover",
    "energy",
    "forward_dynamics",
    "forward_kinematics",
    "free_body",
    "from_log_cholesky",
    "ground",
    "history",
    "initial_state",
    "inverse_dynamics",
    "jacobian",
    "load",
    "mass_matrix",
    "momentum",
    "names",
    "native",
    "normalised",
    "papers_penalty",
    "passive_forces",
    "prefixed",
    "previous",
    "prune",
    "rollout",
    "save",
    "solid",
    "step",
    "strengths",
    "to_log_cholesky",
    "train",
    "with_contacts",
    "world",
]


def __getattr__(name: str):
    """The compiler is imported when it is first used: LLVM takes a tenth of a second."""
    if name == "native":
        from importlib import import_module

        return import_module(".native", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
