"""The generated C compiles with a plain C compiler, allocates nothing, and gives the same numbers."""

import ctypes
import shutil
import subprocess

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hybridsim as hs
from hybridsim import native

COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")


def run_c(source: str, name: str, arrays: list, outputs: list, folder) -> None:
    (folder / "program.c").write_text(source)
    flags = [
        "-std=c99",
        "-O2",
        "-ffp-contract=off",
        "-Wall",
        "-Wextra",
        "-Wno-unused-variable",
        "-Werror",
        "-shared",
        "-fPIC",
    ]
    subprocess.run([COMPILER, *flags, "-o", folder / "program.so", folder / "program.c", "-lm"], check=True)
    library = ctypes.CDLL(str(folder / "program.so"))
    size = int(next(line for line in source.splitlines() if "_WORKSPACE" in line).split()[-1])
    workspace = np.zeros(size, dtype=np.uint8)
    pointers = [(ctypes.c_void_p * len(x))(*(a.ctypes.data for a in x)) for x in (arrays, outputs)]
    getattr(library, name)(*pointers, ctypes.c_void_p(workspace.ctypes.data))


@pytest.mark.skipif(COMPILER is None, reason="no C compiler on this machine")
def test_gradient_of_a_rollout_as_c(tmp_path):
    model = hs.chain(2, damping=0.1, friction=0.2)
    gradient = jax.grad(lambda q, m: hs.rollout(m, (q, jnp.zeros(2)), dt=1e-3, steps=50).q[-1].sum())
    compiled = native.jit(gradient)
    q = np.array([0.3, -0.4])
    source = compiled.lower(q, model).c_source("gradient")
    assert "alloc" not in source
    out = np.zeros(2)
    run_c(source, "gradient", [np.asarray(x, dtype=float) for x in jax.tree.leaves((q, model))], [out], tmp_path)
    np.testing.assert_allclose(out, compiled(q, model), rtol=1e-12)


@pytest.mark.skipif(COMPILER is None, reason="no C compiler on this machine")
def test_control_flow_and_integers_as_c(tmp_path):
    def f(x, i):
        y = jax.lax.while_loop(lambda c: c.sum() < 50, lambda c: c * 1.5 + 1, x)
        return jax.lax.switch(i, [jnp.sort, lambda z: z[::-1]], y), jnp.argmax(x) + i // 2, x > 0.5

    x, i = np.array([0.2, 0.9, 0.4]), np.array(-3)
    out = [np.zeros(3), np.zeros((), dtype=np.int64), np.zeros(3, dtype=bool)]
    run_c(native.jit(f).lower(x, i).c_source("f"), "f", [x, i], out, tmp_path)
    for found, expected in zip(out, native.jit(f)(x, i), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-14)
