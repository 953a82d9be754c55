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
from hybridsim.native import scalars

from .test_programs import PROGRAMS

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
    assert "in[0]: double[2]" in source
    assert "out[0]: double[2]" in source
    out = np.zeros(2)
    run_c(source, "gradient", [np.asarray(x, dtype=float) for x in jax.tree.leaves((q, model))], [out], tmp_path)
    np.testing.assert_array_equal(out, compiled(q, model))


@pytest.mark.skipif(COMPILER is None, reason="no C compiler on this machine")
def test_a_step_in_contact_as_c(tmp_path):
    """Which holds memory that is written and never read."""
    box = hs.free_body(hs.solid("box", 0.4, "box", (0.05, 0.05, 0.05)))
    model = hs.world(box, hs.ground())
    compiled = native.jit(lambda q, qd: tuple(hs.step(model, (q, qd), dt=1e-3))[:2])
    q = np.array([0.0, 0.0, 0.0499, 1.0, 0.0, 0.0, 0.0])
    qd = np.array([0.1, 0.2, 0.3, 0.5, 0.0, -1.0])
    found = [np.zeros(7), np.zeros(6)]
    run_c(compiled.lower(q, qd).c_source("step"), "step", [q, qd], found, tmp_path)
    for mine, expected in zip(found, compiled(q, qd), strict=True):
        np.testing.assert_allclose(mine, expected, rtol=1e-12, atol=1e-15)


@pytest.mark.skipif(COMPILER is None, reason="no C compiler on this machine")
def test_control_flow_and_integers_as_c(tmp_path):
    def f(x, i):
        y = jax.lax.while_loop(lambda c: c.sum() < 50, lambda c: c * 1.5 + 1, x)
        return jax.lax.switch(i, [jnp.sort, lambda z: z[::-1]], y), jnp.argmax(x) + i // 2, x > 0.5

    x, i = np.array([0.2, 0.9, 0.4]), np.array(-3)
    out = [np.zeros(3), np.zeros((), dtype=np.int64), np.zeros(3, dtype=bool)]
    run_c(native.jit(f).lower(x, i).c_source("f"), "f", [x, i], out, tmp_path)
    for found, expected in zip(out, native.jit(f)(x, i), strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.skipif(COMPILER is None, reason="no C compiler on this machine")
@pytest.mark.parametrize("name", PROGRAMS)
def test_every_family_of_primitives_as_c(name, tmp_path):
    f, *args = PROGRAMS[name]
    arrays = [np.ascontiguousarray(x) if np.ndim(x) else np.asarray(x) for x in args]
    expected = [np.asarray(x) for x in jax.tree.leaves(native.jit(f)(*arrays))]
    out = [np.zeros_like(x) for x in expected]
    run_c(native.jit(f).lower(*arrays).c_source("f"), "f", arrays, out, tmp_path)
    for found, wanted in zip(out, expected, strict=True):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.skipif(COMPILER is None, reason="no C compiler on this machine")
@pytest.mark.slow
def test_elementary_functions_and_memory_as_c(tmp_path):
    """Everything to the last bit: C computes the same operations in the same order."""

    def f(x, table):
        y = jnp.sin(x) * jnp.exp(-jnp.abs(x)) + jnp.tanh(x) ** 3 / (1 + jnp.sqrt(jnp.abs(x))) + jnp.arctan2(x, 2.0)
        z = jnp.cumsum(table, axis=1) @ jnp.resize(y, 40)
        return y, z, table[jnp.argmax(z)].astype(jnp.float32) * 3, jnp.log1p(jnp.abs(z)) ** 0.3

    rng = np.random.default_rng(1)
    arrays = [rng.normal(size=7), rng.normal(size=(30, 40))]
    expected = native.jit(f)(*arrays)
    out = [np.zeros_like(x) for x in expected]
    run_c(native.jit(f).lower(*arrays).c_source("f"), "f", arrays, out, tmp_path)
    for found, wanted in zip(out, expected, strict=True):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.skipif(COMPILER is None, reason="no C compiler on this machine")
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_called_functions_as_c(monkeypatch, tmp_path, dtype):
    """What a very long program calls instead of writing it out."""
    monkeypatch.setattr(scalars, "WRITTEN_OUT", -1)

    def f(x):
        return jnp.sin(x) + jnp.exp(x) * jnp.sin(2 * x), jnp.arctan2(x, 1 + x)

    x = np.linspace(-2.0, 2.0, 5).astype(dtype)
    compiled = native.jit(f)
    source = compiled.lower(x).c_source("called")
    assert source.count(f"hs_sin_{dtype}(") == 11  # its definition, and ten calls
    out = [np.zeros_like(x), np.zeros_like(x)]
    run_c(source, "called", [x], out, tmp_path)
    for found, expected in zip(out, compiled(x), strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.skipif(COMPILER is None, reason="no C compiler on this machine")
def test_sums_over_time_as_c(tmp_path):
    """Machine code serves rollouts of all lengths and C one, with the same bits; a log is a part of the C file."""
    log = np.random.default_rng(1).normal(size=(301, 2))

    def miss(q, controls):
        made = hs.rollout(hs.chain(2, damping=0.1), (q, jnp.zeros(2)), controls, dt=1e-3)
        return jnp.mean((made.q - log) ** 2) + jnp.std(made.qd) + made.t[-1]

    compiled = native.jit(jax.value_and_grad(miss, (0, 1)))
    q, controls = np.array([0.3, -0.4]), np.random.default_rng(0).normal(size=(300, 2))
    out = [np.zeros(()), np.zeros(2), np.zeros((300, 2))]
    run_c(compiled.lower(q, controls).c_source("miss"), "miss", [q, controls], out, tmp_path)
    for found, expected in zip(out, jax.tree.leaves(compiled(q, controls)), strict=True):
        np.testing.assert_array_equal(found, expected)
