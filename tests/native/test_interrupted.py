"""Ctrl-C where HybridSim is used as a library: a KeyboardInterrupt is neither lost in a callback nor leaves memory in use."""

import signal
import subprocess
import sys
import threading
import time

import jax.numpy as jnp
import numpy as np
import pytest

import hybridsim as hs
from hybridsim.native import compile as compile_module
from hybridsim.native.batch_executable import Pool


def test_an_interrupted_batch_waits_for_its_threads():
    """Else they would go on to write into memory that is no longer ours."""
    began, ended = threading.Event(), threading.Event()

    def work(begin: int, end: int) -> None:
        if begin == 0:
            began.wait()
            raise KeyboardInterrupt
        began.set()
        time.sleep(0.2)
        ended.set()

    with pytest.raises(KeyboardInterrupt):
        Pool(2).run(work, [(0, 1), (1, 2)])
    assert ended.is_set()


INTERRUPTED_BATCH = """
import threading
import jax, jax.numpy as jnp, numpy as np
import hybridsim as hs
from hybridsim.native import batch_executable

def interrupted_in_main_thread(compiled, *types, pointer=batch_executable.pointer):
    call = pointer(compiled, *types)
    def called(*arguments):
        if threading.current_thread() is threading.main_thread():
            raise KeyboardInterrupt
        call(*arguments)
    return called

batch_executable.pointer = interrupted_in_main_thread
rows = hs.native.batch(lambda x: jax.lax.scan(lambda c, _: (jnp.sin(c), c), x, None, length=2000)[1], threads=2)
for _ in range(3):
    try:
        rows(np.ones((4000, 4)))
    except KeyboardInterrupt:
        print("interrupted")
"""


def test_an_interrupted_batch_does_not_crash():
    """With results so large that the system takes their memory back as soon as they are freed."""
    ended = subprocess.run([sys.executable, "-c", INTERRUPTED_BATCH], capture_output=True, text=True)
    assert (ended.returncode, ended.stdout.split()) == (0, ["interrupted"] * 3), ended.stderr


def test_ctrl_c_while_code_is_written_to_the_cache_is_not_lost(monkeypatch):
    """LLVM hands over the code by a callback from C, in which an exception would be printed and forgotten."""
    write = compile_module.write

    def write_slowly(key: str, code: bytes) -> None:
        signal.raise_signal(signal.SIGINT)
        time.sleep(0.05)
        write(key, code)

    monkeypatch.setattr(compile_module, "write", write_slowly)
    doubled = hs.native.jit(lambda x: jnp.sin(x) * 2)
    with pytest.raises(KeyboardInterrupt):
        doubled(np.ones(3))
    monkeypatch.undo()
    np.testing.assert_allclose(doubled(np.ones(3)), 2 * np.sin(np.ones(3)))
