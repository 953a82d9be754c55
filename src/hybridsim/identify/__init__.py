"""From measured motion to parameters, weights, and how sure we are of them."""

from .apparatus import Apparatus
from .cautions import IdentifiabilityWarning
from .errors import Errors, evaluate
from .estimates import Estimate
from .executors import processes, threads
from .fit import fit
from .free import Free
from .global_solvers import BasinHopping, Population
from .losses import Huber, Squares
from .online_mixture import MixtureEstimate, estimate_mixture
from .parameters import Parameters
from .place import Place
from .places import places
from .posterior import Samples, profile_likelihood, sample_posterior
from .prepare import prepare
from .problem import Problem
from .profile import Profile
from .result import Fit, load_fit
from .solvers import LBFGSB, Adam, LevenbergMarquardt, Solver

__all__ = [
    "LBFGSB",
    "Adam",
    "Apparatus",
    "BasinHopping",
    "Errors",
    "Estimate",
    "Fit",
    "Free",
    "Huber",
    "IdentifiabilityWarning",
    "LevenbergMarquardt",
    "MixtureEstimate",
    "Parameters",
    "Place",
    "Population",
    "Problem",
    "Profile",
    "Samples",
    "Solver",
    "Squares",
    "estimate_mixture",
    "evaluate",
    "fit",
    "load_fit",
    "places",
    "prepare",
    "processes",
    "profile_likelihood",
    "sample_posterior",
    "threads",
]
