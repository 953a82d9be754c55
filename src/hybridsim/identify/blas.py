"""NumPy's linear algebra in one thread.

Its matrices are small here, and its threads wait for each other by spinning: beside our own threads, or on a busy machine, a
product of 10 ms takes half a second.
"""

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def one_thread(function: Callable[P, R]) -> Callable[P, R]:
    """The function, during which linear algebra keeps to one thread."""

    @functools.wraps(function)
    def limited(*args: P.args, **kwargs: P.kwargs) -> R:
        with _controller().limit(limits=1, user_api="blas"):
            return function(*args, **kwargs)

    return limited


@functools.cache
def _controller():
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
