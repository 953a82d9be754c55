"""Many local searches at once: on threads, on processes or on a cluster, by any executor of `concurrent.futures`.

Native code frees the interpreter, so threads are the default. `processes(n)` is for searches that hold it. On a cluster,
`dask.distributed.Client(...).get_executor()` is such an executor too (`pip install hybridsim[cluster]`).

A worker may die: out of memory, a machine switched off. Its task is then tried again.
"""

import hashlib
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from typing import Any
from uuid import uuid4

import jax


def threads(n: int | None = None) -> ThreadPoolExecutor:
    """Threads of this process, one for each core unless told."""
    return ThreadPoolExecutor(_number(n), thread_name_prefix="hybridsim")


def processes(n: int | None = None) -> "Processes":
    """Processes on this machine, one for each core unless told. Close it, or use it in a `with` statement.

    A script that uses it needs `if __name__ == "__main__":` around what it does, because each process imports the script.
    """
    return Processes(_number(n))


def _number(n: int | None) -> int:
    if n is not None and n < 1:
        raise ValueError(f"{n} workers cannot work; give at least 1, or None for one for each core")
    return n or os.cpu_count() or 1


class Processes(Executor):
    """A pool of processes that is replaced when one of them has died. They are spawned: JAX does not survive a fork.

    They end with this process, however that ends: each watches a pipe that closes then.
    """

    def __init__(self, n: int):
        self._max_workers = n
        self._pool, self._lifeline = self._fresh()

    def _fresh(self) -> tuple[ProcessPoolExecutor, Connection]:
        context = multiprocessing.get_context("spawn")
        theirs, ours = context.Pipe(duplex=False)
        return ProcessPoolExecutor(self._max_workers, context, _begin_worker, (theirs,)), ours

    def submit(self, fn: Callable, /, *args: Any, **kwargs: Any) -> Future:
        with _ctrl_c_kept_from_new_processes():
            try:
                return self._pool.submit(fn, *args, **kwargs)
            except BrokenExecutor:
                self._pool.shutdown(wait=False)
                self._pool, self._lifeline = self._fresh()
                return self._pool.submit(fn, *args, **kwargs)

    def abandon(self) -> None:
        """End the processes without waiting for their tasks. New ones are started when the next task comes."""
        self._lifeline.close()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._pool.shutdown(wait, cancel_futures=cancel_futures)


def _begin_worker(lifeline: Connection) -> None:
    """A terminal sends Ctrl-C to all; leave it to the process that waits for us, and end with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(lifeline,), name="hybridsim.lifeline", daemon=True).start()


def _end_with(lifeline: Connection) -> None:
    with suppress(EOFError, OSError):
        lifeline.recv_bytes()
    os._exit(1)


@contextmanager
def _ctrl_c_kept_from_new_processes() -> Iterator[None]:
    """A process that is started inside inherits that SIGINT is blocked, until it has said that it ignores it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def run_all(executor: Executor, function: Callable, tasks: Sequence, attempts: int = 3) -> list:
    """`function` of every task, in their order."""
    found = dict(as_they_end(executor, function, tasks, attempts))
    return [found[i] for i in range(len(tasks))]


def as_they_end(
    executor: Executor, function: Callable, tasks: Sequence, attempts: int = 3, seconds: float | None = None
) -> Iterator[tuple[int, Any]]:
    """Number of the task and `function` of it, whichever ends first; none is begun after so many seconds.

    A task whose worker died is tried again, up to so many `attempts`. Where a whole pool dies, it is not known who is to
    blame, so from the second attempt on it runs alone.
    """
    work = function if isinstance(executor, ThreadPoolExecutor) else _Shipped.of(function)
    # No more than can run is handed over where that is known: what waits here does not die with a pool.
    at_once = getattr(executor, "_max_workers", len(tasks))
    fresh, suspects = deque(range(len(tasks))), deque()
    losses = [0] * len(tasks)
    running: dict[Future, int] = {}
    end = None if seconds is None else time.monotonic() + seconds
    try:
        while True:
            left = None if end is None else max(0.0, end - time.monotonic())
            if left == 0:
                fresh, suspects, left = deque(), deque(), None
                running = {future: i for future, i in running.items() if not future.cancel()}
            while fresh and len(running) < at_once:
                _begin(executor, work, tasks, fresh.popleft(), running)
            if suspects and not fresh and not running:
                _begin(executor, work, tasks, suspects.popleft(), running)
            if not running:
                return
            for future in wait(running, left, FIRST_COMPLETED).done:
                i = running.pop(future)
                try:
                    result = future.result()
                except Exception as error:
                    if not _lost(error):
                        raise
                    losses[i] += 1
                    _complain(i, len(tasks), losses[i], attempts, error)
                    suspects.append(i)
                else:
                    yield i, result
    except KeyboardInterrupt:
        if isinstance(executor, Processes):
            executor.abandon()
        raise
    finally:
        for future in running:
            future.cancel()


def _begin(executor: Executor, work: Callable, tasks: Sequence, i: int, running: dict[Future, int]) -> None:
    try:
        running[executor.submit(_call, work, tasks[i], uuid4().hex)] = i
    except BrokenExecutor as error:
        raise RuntimeError(
            f"{type(executor).__name__} has lost a process and takes no more tasks; "
            "use hybridsim.identify.processes(n), which is replaced when that happens"
        ) from error


def _call(work: Callable, task: Any, attempt: str) -> Any:
    """Each attempt has a name of its own: dask takes equal calls for one, and would answer again that its worker died."""
    return work(task)


def _lost(error: Exception) -> bool:
    """Whether the worker died, rather than the task failed."""
    distributed = sys.modules.get("distributed")
    killed = (distributed.KilledWorker,) if distributed else ()
    return isinstance(error, (BrokenExecutor, CancelledError, *killed))


def _complain(i: int, n: int, losses: int, attempts: int, error: Exception) -> None:
    what = f"task {i + 1} of {n} lost its worker in attempt {losses} of {attempts} ({type(error).__name__})"
    if losses >= attempts:
        raise RuntimeError(f"{what}; look whether it needs more memory than there is, or crashes") from error
    warnings.warn(f"{what}; it is tried again", RuntimeWarning, stacklevel=4)


class _Shipped:
    """A function on its way to another process, unpacked there only once: what it compiles stays for its next task.

    It takes along whether JAX counts in double precision, which a new process does not know.
    """

    _unpacked: tuple[str, Callable] | None = None
    """In a worker: the last function with its digest."""

    def __init__(self, packed: bytes, digest: str, x64: bool):
        self.packed, self.digest, self.x64 = packed, digest, x64

    @classmethod
    def of(cls, function: Callable) -> "_Shipped":
        packed = pickle.dumps(function)
        return cls(packed, hashlib.sha256(packed).hexdigest(), bool(jax.config.read("jax_enable_x64")))

    def __call__(self, task: Any) -> Any:
        last = _Shipped._unpacked
        if last is None or last[0] != self.digest:
            jax.config.update("jax_enable_x64", self.x64)
            last = _Shipped._unpacked = (self.digest, pickle.loads(self.packed))
        return last[1](task)
