"""One rule a primitive, by family."""

from .calls import CALLS
from .control import CONTROL
from .convolution import CONVOLUTION
from .cumulative import CUMULATIVE
from .dot import DOT
from .elementwise import ELEMENTWISE
from .indexing import INDEXING
from .linalg import LINALG
from .random import RANDOM
from .reductions import REDUCTIONS
from .sorting import SORTING
from .structure import STRUCTURE

IN_ROWS = frozenset((
    *ELEMENTWISE, *CALLS, *CONTROL, *REDUCTIONS, *DOT,
    "reshape", "squeeze", "expand_dims", "broadcast_in_dim", "slice", "transpose", "rev",
    "concatenate", "stack", "split", "unstack", "pad", "gather", "dynamic_slice", "scatter", "scatter-add", "scatter_add",
))  # fmt: skip
"""Primitives whose rules know of loops over rows that are open; for all others these are closed."""

RULES = {
    **ELEMENTWISE,
    **STRUCTURE,
    **REDUCTIONS,
    **DOT,
    **INDEXING,
    **CONTROL,
    **CALLS,
    **LINALG,
    **CUMULATIVE,
    **SORTING,
    **RANDOM,
    **CONVOLUTION,
}
