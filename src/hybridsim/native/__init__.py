"""Any small JAX program as straight-line machine code on the CPU: `jit` for one input, `batch` for many."""

from ..any_length import any_length
from .batch import Batched, batch
from .jit import Jitted, jit
from .lower import UnsupportedPrimitiveError
from .lowered import Lowered
from .value_and_grad import ValueAndGrad, value_and_grad

__all__ = [
    "Batched",
    "Jitted",
    "Lowered",
    "UnsupportedPrimitiveError",
    "ValueAndGrad",
    "any_length",
    "batch",
    "jit",
    "value_and_grad",
]
