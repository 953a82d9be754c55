"""HybridSim: a differentiable simulator of articulated rigid bodies whose parameters and networks are
identified together from measured motion.

    import hybridsim as hs

    model = hs.load("arm.urdf")
    q, qd = model.rest()
    trajectory = hs.rollout(model, (q, qd), dt=1e-3, steps=500)
"""

import sys
import time
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

_IMPORTED_AT = time.time_ns()
"""No module of the package was read before: source files that are older are those in memory."""

# isort: off
if TYPE_CHECKING:
    from . import native as native
    from .augment import (
        GRU as GRU,
        LSTM as LSTM,
        MLP as MLP,
        ActionReaction as ActionReaction,
        Architecture as Architecture,
        Augment as Augment,
        Blueprint as Blueprint,
        Bounded as Bounded,
        Conservative as Conservative,
        Custom as Custom,
        Discovery as Discovery,
        Dissipative as Dissipative,
        Even as Even,
        HybridFileError as HybridFileError,
        Input as Input,
        Invariant as Invariant,
        Linear as Linear,
        Odd as Odd,
        Penalty as Penalty,
        Trained as Trained,
        TrainingError as TrainingError,
        ZeroAtRest as ZeroAtRest,
        blueprint_of as blueprint_of,
        constant as constant,
        cyclic as cyclic,
        discover as discover,
        history as history,
        load_hybrid as load_hybrid,
        normalised as normalised,
        papers_penalty as papers_penalty,
        previous as previous,
        prune as prune,
        save_hybrid as save_hybrid,
        sites_of as sites_of,
        strengths as strengths,
        train as train,
    )
    from .contact import (
        Andersson as Andersson,
        BrownMcPhee as BrownMcPhee,
        Cone as Cone,
        ContactByPair as ContactByPair,
        Coulomb as Coulomb,
        Frictionless as Frictionless,
        Hollars as Hollars,
        HuntCrossley as HuntCrossley,
        Impulses as Impulses,
        Pyramid as Pyramid,
        Springs as Springs,
    )
    from .data import (
        DataError as DataError,
    )
    from .data.log import (
        ColumnMap as ColumnMap,
        DataWarning as DataWarning,
        Delay as Delay,
        Quality as Quality,
        Split as Split,
        Trajectory as Trajectory,
        delayed as delayed,
        estimate_delay as estimate_delay,
        parts as parts,
        quality as quality,
        read_log as read_log,
        smooth as smooth,
        split as split,
        windows as windows,
    )
    from .dynamics import (
        Energy as Energy,
        Momentum as Momentum,
        Poses as Poses,
        bias_force as bias_force,
        centre_of_mass as centre_of_mass,
        configuration_rate as configuration_rate,
        energy as energy,
        forward_dynamics as forward_dynamics,
        forward_kinematics as forward_kinematics,
        inverse_dynamics as inverse_dynamics,
        jacobian as jacobian,
        mass_matrix as mass_matrix,
        momentum as momentum,
    )
    from .identify import (
        LBFGSB as LBFGSB,
        Adam as Adam,
        Apparatus as Apparatus,
        BasinHopping as BasinHopping,
        Errors as Errors,
        Estimate as Estimate,
        Fit as Fit,
        Free as Free,
        Huber as Huber,
        IdentifiabilityWarning as IdentifiabilityWarning,
        LevenbergMarquardt as LevenbergMarquardt,
        MixtureEstimate as MixtureEstimate,
        Population as Population,
        Profile as Profile,
        Samples as Samples,
        Squares as Squares,
        estimate_mixture as estimate_mixture,
        evaluate as evaluate,
        fit as fit,
        load_fit as load_fit,
        processes as processes,
        profile_likelihood as profile_likelihood,
        sample_posterior as sample_posterior,
        threads as threads,
    )
    from .load import (
        load as load,
        save as save,
    )
    from .model import (
        Actuator as Actuator,
        Geom as Geom,
        Joint as Joint,
        Link as Link,
        Mimic as Mimic,
        Model as Model,
        ModelError as ModelError,
        ModelWarning as ModelWarning,
        PrescribedMotion as PrescribedMotion,
        State as State,
        build as build,
        chain as chain,
        contact_grid as contact_grid,
        free_body as free_body,
        ground as ground,
        outline_prisms as outline_prisms,
        prefixed as prefixed,
        prescribed as prescribed,
        solid as solid,
        with_contacts as with_contacts,
        world as world,
    )
    from .simulate import (
        Control as Control,
        ContactError as ContactError,
        DivergedError as DivergedError,
        ImplicitDamping as ImplicitDamping,
        Rollout as Rollout,
        RungeKutta4 as RungeKutta4,
        SemiImplicitEuler as SemiImplicitEuler,
        StepWarning as StepWarning,
        acceleration as acceleration,
        initial_state as initial_state,
        names as names,
        passive_forces as passive_forces,
        prescribed_motion as prescribed_motion,
        rollout as rollout,
        step as step,
    )
    from .spatial import (
        Transform as Transform,
        from_log_cholesky as from_log_cholesky,
        to_log_cholesky as to_log_cholesky,
    )
    from .view.blueprint import (
        draw_blueprint as draw_blueprint,
    )
# isort: on

_EXPORTS = {
    ".augment": """
        GRU LSTM MLP ActionReaction Architecture Augment Blueprint Bounded Conservative Custom Discovery
        Dissipative Even HybridFileError Input Invariant Linear Odd Penalty Trained TrainingError ZeroAtRest
        blueprint_of constant cyclic discover history load_hybrid normalised papers_penalty previous prune
        save_hybrid sites_of strengths train
    """,
    ".contact": """
        Andersson BrownMcPhee Cone ContactByPair Coulomb Frictionless Hollars HuntCrossley Impulses Pyramid Springs
    """,
    ".data": "DataError",
    ".data.log": """
        ColumnMap DataWarning Delay Quality Split Trajectory delayed estimate_delay parts quality read_log
        smooth split windows
    """,
    ".dynamics": """
        Energy Momentum Poses bias_force centre_of_mass configuration_rate energy forward_dynamics
        forward_kinematics inverse_dynamics jacobian mass_matrix momentum
    """,
    ".identify": """
        LBFGSB Adam Apparatus BasinHopping Errors Estimate Fit Free Huber IdentifiabilityWarning
        LevenbergMarquardt MixtureEstimate Population Profile Samples Squares estimate_mixture
        evaluate fit load_fit processes profile_likelihood sample_posterior threads
    """,
    ".load": "load save",
    ".model": """
        Actuator Geom Joint Link Mimic Model ModelError ModelWarning PrescribedMotion State build chain
        contact_grid free_body ground outline_prisms prefixed prescribed solid with_contacts world
    """,
    ".simulate": """
        ContactError Control DivergedError ImplicitDamping Rollout RungeKutta4 SemiImplicitEuler StepWarning acceleration
        initial_state names passive_forces prescribed_motion rollout step
    """,
    ".spatial": "Transform from_log_cholesky to_log_cholesky",
    ".view.blueprint": "draw_blueprint",
}
"""From each module the names that it gives to the public interface."""

_HOME = {name: module for module, names in _EXPORTS.items() for name in names.split()}
_SUBPACKAGES = {"native", *(module.split(".")[1] for module in _EXPORTS)}

__all__ = sorted([*_HOME, "native"], key=lambda name: (not name.isupper(), name))  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str):
    """Import an exported name or a subpackage when it is first used.

    `import hybridsim` is quick that way: JAX alone takes longer to import than `hybridsim --help` may take.
    """
    if name in _HOME:
        value = getattr(import_module(_HOME[name], __name__), name)
    elif name in _SUBPACKAGES:
        value = import_module(f".{name}", __name__)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _Package(ModuleType):
    """This package, in which `load` is the function although a subpackage has the same name."""

    def __setattr__(self, name: str, value) -> None:
        # Python binds a subpackage to its name here when it is first imported, by whomever.
        if name == "load" and isinstance(value, ModuleType):
            value = value.load
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
