"""From measured motion to parameters, weights, and how sure we are of them."""

from .apparatus import Apparatus
from .errors import Errors, evaluate
from .estimates import Estimate
from .fit import IdentifiabilityWarning, fit
from .losses import Huber, Squares
from .parameters import Free, Parameters
from .places import Place, places
from .result import Fit, load_fit
from .solvers import LBFGSB, Adam, LevenbergMarquardt, Solver

__all__ = [
    "LBFGSB",
    "Adam",
    "Apparatus",
    "Errors",
    "Estimate",
    "Fit",
    "Free",
    "Huber",
    "IdentifiabilityWarning",
    "LevenbergMarquardt",
    "Parameters",
    "Place",
    "Solver",
    "Squares",
    "evaluate",
    "fit",
    "load_fit",
    "places",
]
