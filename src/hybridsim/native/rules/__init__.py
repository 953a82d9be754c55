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
