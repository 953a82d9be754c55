"""Elementary functions as expansions into the scalar graph: no tables, the same bits for any number of lanes.

A function reduces its argument to a short interval and evaluates a polynomial there; what would be lost in rounding
is carried along as a second float where it matters. How accurate each is, docs/native-functions.md says.
"""

from collections.abc import Callable

from ..scalars import Scalars
from ..types import F32, F64
from . import error, exponential, hyperbolic, inverse, logarithm, power, single, trigonometric
from .terms import Term

_DOUBLE: dict[str, Callable[..., Term]] = {
    "sin": trigonometric.sin,
    "cos": trigonometric.cos,
    "tan": trigonometric.tan,
    "exp": exponential.exp,
    "exp2": exponential.exp2,
    "expm1": exponential.expm1,
    "log": logarithm.log,
    "log1p": logarithm.log1p,
    "sinh": hyperbolic.sinh,
    "cosh": hyperbolic.cosh,
    "tanh": hyperbolic.tanh,
    "logistic": hyperbolic.logistic,
    "asinh": hyperbolic.asinh,
    "acosh": hyperbolic.acosh,
    "atanh": hyperbolic.atanh,
    "asin": inverse.asin,
    "acos": inverse.acos,
    "atan": inverse.atan,
    "atan2": inverse.atan2,
    "pow": power.pow,
    "cbrt": power.cbrt,
    "erf": error.erf,
    "erfc": error.erfc,
    "erf_inv": error.erf_inv,
}


_SINGLE: dict[str, Callable[..., Term]] = {
    "sin": single.sin,
    "cos": single.cos,
    "exp": single.exp,
    "log": single.log,
    "tanh": single.tanh,
    "logistic": single.logistic,
}


def _expansion(name: str) -> Callable[..., int]:
    def value(s: Scalars, *args: int) -> int:
        """Float32 is widened, and the result rounded."""
        type = s.g.types[args[0]]
        function = _SINGLE.get(name, _DOUBLE[name]) if type == F32 else _DOUBLE[name]
        return s.cast(function(*(Term(s, s.cast(a, F64)) for a in args)).id, type)

    return value


FUNCTIONS: dict[str, Callable[..., int]] = {name: _expansion(name) for name in _DOUBLE}
"""From the name of an operation to what makes its value from scalars and the values of its arguments."""

__all__ = ["FUNCTIONS"]
