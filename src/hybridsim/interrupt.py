"""How the command line ends on Ctrl-C and on SIGTERM: with one sentence, within two seconds, at once if asked twice.

Python's own way, a KeyboardInterrupt wherever the main thread happens to be, fails here in three ways. One that is raised
in a callback from C (LLVM's object cache, a weak reference of JAX) is printed and forgotten. One that is raised between a
C function and the Python code that records its result leaks or corrupts memory. And while native code runs, none is raised.

So the signal raises nothing. It wakes a thread, which ends the process: immediately, or, inside `safe_points`, when the main
thread has not ended by itself `GRACE` seconds later. Inside, the main thread calls `check` where it can stop, which then
raises KeyboardInterrupt. Ending abruptly is safe because every file is written whole or not at all.

Only the command line does this. Where HybridSim is used as a library, signals belong to its user.
"""

import _thread
import atexit
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NoReturn

GRACE = 1.0
"""Seconds that the main thread has to stop and to write what it has."""
_PATIENCE = 0.2
"""Seconds that a reader of our output has to take the last sentence."""
_ENDS = {signal.SIGINT: (130, "interrupted"), signal.SIGTERM: (143, "terminated")}
"""Exit code, as shells count it, and the word for it."""
_SHOW_CURSOR = "\r\x1b[2K\x1b[?25h"
"""Clears the line of a progress bar, and shows the cursor that it had hidden."""


class _Interruption:
    def __init__(self) -> None:
        self.signal: signal.Signals | None = None
        """The first one that arrived."""
        self.stoppable = False
        """Whether the main thread passes points at which it can stop."""
        self.raised = False
        self.advice = ""
        self.speaking, self.said = threading.Lock(), threading.Event()
        """The lock is taken, once, by the thread that says the sentence."""


_now = _Interruption()


def install() -> None:
    """Answer Ctrl-C and SIGTERM from now on, for the rest of the process. A signal that is ignored, as after nohup, stays so."""
    if os.name != "posix" or threading.current_thread() is not threading.main_thread():
        return
    wanted = [number for number in _ENDS if signal.getsignal(number) is not signal.SIG_IGN]
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    threading.Thread(target=_watch, args=(reading,), name="hybridsim.interrupt", daemon=True).start()
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    for number in wanted:
        signal.signal(number, _leave_it_to_the_thread)


def advise(advice: str) -> None:
    """Add this to the sentence that is said at an interruption: what is left, and how to continue."""
    _now.advice = advice


@contextmanager
def safe_points() -> Iterator[None]:
    """Inside, the main thread promises to call `check` often, and to end soon after it has raised KeyboardInterrupt."""
    _now.raised, _now.stoppable = False, True
    try:
        yield
        check()
    finally:
        # After a KeyboardInterrupt there is still time to write what was found.
        _now.stoppable = _now.raised


def check() -> None:
    """Raise KeyboardInterrupt, once, if a signal has arrived."""
    if _now.signal is not None and not _now.raised:
        _now.raised = True
        raise KeyboardInterrupt


def say() -> None:
    """Say the sentence. Of a signal it is said once: if the other thread is doing so, wait until it is done."""
    if _now.signal is None or _now.speaking.acquire(blocking=False):
        sys.stderr.write(_sentence())
        sys.stderr.flush()
        _now.said.set()
    else:
        _now.said.wait(_PATIENCE)


def end(code: int) -> NoReturn:
    """End the process with this exit code, or with that of the signal that has arrived.

    What Python does at its end is left out: it restores the default of each signal first, takes a second, and waits for
    native code in other threads.
    """
    if _now.signal is None:
        atexit._run_exitfuncs()
        _flush(threading.Event())
        os._exit(code)
    say()
    _exit()


def _leave_it_to_the_thread(*_: object) -> None:
    pass


def _watch(pipe: int) -> None:
    """Wait for a signal, then for the main thread to end, for a second signal or for the time to be over; then exit."""
    while _now.signal is None:
        _now.signal = _read_signal(pipe)
    end = time.monotonic() + GRACE
    while _now.stoppable and select.select([pipe], [], [], max(0.0, end - time.monotonic()))[0]:
        if _read_signal(pipe) is not None:
            break
    # Output may be locked by the main thread, or blocked by a reader that does not read.
    flushed = threading.Event()
    _thread.start_new_thread(_flush, (flushed,))
    _last_words()
    flushed.wait(_PATIENCE)
    _exit()


def _read_signal(pipe: int) -> signal.Signals | None:
    """The next signal that arrives; None if somebody else handles it."""
    number = os.read(pipe, 1)[0]
    return signal.Signals(number) if number in _ENDS else None


def _last_words() -> None:
    if _now.speaking.acquire(blocking=False):
        clear = _SHOW_CURSOR if os.isatty(2) else ""
        with suppress(OSError, ValueError):
            if select.select([], [2], [], _PATIENCE)[1]:
                os.write(2, (clear + _sentence()).encode())
        _now.said.set()


def _sentence() -> str:
    word = _ENDS[_now.signal or signal.SIGINT][1]
    return f"hybridsim: {word}{'; ' if _now.advice else ''}{_now.advice}\n"


def _flush(flushed: threading.Event) -> None:
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):
            stream.flush()
    flushed.set()


def _exit() -> NoReturn:
    os._exit(_ENDS[_now.signal or signal.SIGINT][0])
