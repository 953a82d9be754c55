"""Networks, one file each behind `Architecture` and `Network`."""

from .activations import ACTIVATIONS
from .custom import Custom
from .interface import Architecture, Network
from .layers import InputLayer, Layer, OutputLayer, layers_of
from .linear import Linear
from .mlp import MLP
from .recurrent import GRU, LSTM

__all__ = [
    "ACTIVATIONS",
    "GRU",
    "LSTM",
    "MLP",
    "Architecture",
    "Custom",
    "InputLayer",
    "Layer",
    "Linear",
    "Network",
    "OutputLayer",
    "layers_of",
]
