"""Networks inside a model: blueprints, architectures, physical structure, sparsity."""

from .acting import Networks, Site, sites_of
from .blueprint import Augment, Blueprint
from .discover import Discovery, discover
from .inputs import Constant, Input, constant, cyclic, history, previous
from .networks import GRU, LSTM, MLP, Architecture, Custom, Linear, Network
from .normalise import normalised
from .prune import blueprint_of, prune
from .save import HybridFileError, load_hybrid, save_hybrid
from .sparsity import Penalty, Strength, papers_penalty, strengths
from .structure import ActionReaction, Bounded, Conservative, Dissipative, Even, Invariant, Odd, ZeroAtRest
from .train import Trained, TrainingError, train

__all__ = [
    "GRU",
    "LSTM",
    "MLP",
    "ActionReaction",
    "Architecture",
    "Augment",
    "Blueprint",
    "Bounded",
    "Conservative",
    "Constant",
    "Custom",
    "Discovery",
    "Dissipative",
    "Even",
    "HybridFileError",
    "Input",
    "Invariant",
    "Linear",
    "Network",
    "Networks",
    "Odd",
    "Penalty",
    "Site",
    "Strength",
    "Trained",
    "TrainingError",
    "ZeroAtRest",
    "blueprint_of",
    "constant",
    "cyclic",
    "discover",
    "history",
    "load_hybrid",
    "normalised",
    "papers_penalty",
    "previous",
    "prune",
    "save_hybrid",
    "sites_of",
    "strengths",
    "train",
]
