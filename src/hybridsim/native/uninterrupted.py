"""Calls into LLVM that no KeyboardInterrupt can split."""

import functools
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def uninterrupted(function: Callable[P, R]) -> Callable[P, R]:
    """Run the function in a thread of its own: Python raises KeyboardInterrupt in the main thread only.

    Raised inside, it could be lost in a callback from C, or come between LLVM taking an object over and llvmlite recording
    that. The caller, who waits, is interrupted as usual; the function then runs to its end, and its result is dropped.
    """

    @functools.wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> R:
        if threading.current_thread() is not threading.main_thread():
            return function(*args, **kwargs)
        done: Future[R] = Future()

        def call() -> None:
            try:
                done.set_result(function(*args, **kwargs))
            except BaseException as problem:
                done.set_exception(problem)

        threading.Thread(target=call, name="hybridsim.native.llvm").start()
        return done.result()

    return called
