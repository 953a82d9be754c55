"""Networks inside a model: blueprints, architectures, physical structure, sparsity."""

from .acting import Networks, Site
from .blueprint import Augment, Blueprint
from .inputs import Constant, Input, constant, cyclic, history, previous
from .networks import GRU, LSTM, MLP, Architecture, Custom, Linear, Network

__all__ = [
    "GRU",
    "LSTM",
    "MLP",
    "Architecture",
    "Augment",
    "Blueprint",
    "Constant",
    "Custom",
    "Input",
    "Linear",
    "Network",
    "Networks",
    "Site",
    "constant",
    "cyclic",
    "history",
    "previous",
]
