"""HYBRIDSIM_TARGET: code for other processors, with the same results to the last bit."""

import jax
import jax.numpy as jnp
import llvmlite.binding as llvm
import numpy as np
import pytest

from hybridsim import native
from hybridsim.native import compile as compiling
from hybridsim.native import target as targets

TARGETS = targets.levels()
IS_X86 = "x86-64" in TARGETS
x86_only = pytest.mark.skipif(not IS_X86, reason="these are levels of x86-64")


@pytest.fixture(params=TARGETS)
def level(request, monkeypatch) -> str:
    monkeypatch.setenv("HYBRIDSIM_TARGET", request.param)
    try:
        targets.target()
    except ValueError as error:
        pytest.skip(str(error))
    return request.param


def test_lanes_are_those_of_the_target(level):
    assert compiling.host_lanes() == {"x86-64-v3": 4, "x86-64-v4": 8}.get(level, 2)


def test_without_a_name_it_is_this_machine(monkeypatch):
    found = []
    for name in ("", "native"):
        monkeypatch.setenv("HYBRIDSIM_TARGET", name)
        found.append(targets.target())
    monkeypatch.delenv("HYBRIDSIM_TARGET")
    assert found == [targets.target()] * 2
    assert found[0].cpu == llvm.get_host_cpu_name()


def test_code_of_one_target_is_not_taken_for_another(level, monkeypatch):
    key = compiling.object_key("text", 2)
    assert key == compiling.object_key("text", 2)
    monkeypatch.setenv("HYBRIDSIM_TARGET", "native")
    assert key != compiling.object_key("text", 2)


PRODUCT_AND_SUM = """
declare double @llvm.fma.f64(double, double, double)
define double @f(double %x, double %y, double %z) {
  %r = call double @llvm.fma.f64(double %x, double %y, double %z)
  ret double %r
}
"""


@x86_only
def test_code_uses_the_instructions_of_its_target(level):
    """A level without fused products calls the C library for them."""
    text = compiling._machine(2).emit_assembly(llvm.parse_assembly(PRODUCT_AND_SUM))
    has_instruction = level in ("x86-64-v3", "x86-64-v4")
    assert ("vfmadd" in text) == has_instruction


def program(W, x):
    """With sums, elementary functions and a loop; its rows are packed into vectors where these are wide enough."""
    return jax.lax.scan(lambda x, _: (jnp.tanh(W @ x) + 0.1 * jnp.sin(x), jnp.exp(x).sum()), x, None, length=5)


def test_results_do_not_depend_on_the_target(level, monkeypatch):
    rng = np.random.default_rng(0)
    W, x = rng.normal(size=(4, 4)), rng.normal(size=(11, 4))
    found = []
    for name in (level, "native"):
        monkeypatch.setenv("HYBRIDSIM_TARGET", name)
        found.append((native.jit(program)(W, x[0]), native.batch(program, (None, 0))(W, x)))
    np.testing.assert_equal(*found)


@pytest.mark.parametrize("name", ["x86-64-v5", "haswell", "off"])
def test_an_unknown_target_is_an_error(name, monkeypatch):
    monkeypatch.setenv("HYBRIDSIM_TARGET", name)
    with pytest.raises(ValueError, match=f"HYBRIDSIM_TARGET is '{name}'.* it may be native, {', '.join(TARGETS)}"):
        native.jit(lambda x: x + 1)(np.ones(()))


@x86_only
def test_a_target_that_this_processor_cannot_run_is_an_error(monkeypatch):
    """No machine may be without AVX-512 here, so it is hidden."""
    features = llvm.get_host_cpu_features()
    for feature in ("avx2", "avx512f"):
        features[feature] = False
    monkeypatch.setattr(llvm, "get_host_cpu_features", lambda: features)
    targets._named.cache_clear()
    monkeypatch.setenv("HYBRIDSIM_TARGET", "x86-64-v4")
    with pytest.raises(ValueError, match=r"cannot run: it lacks .*avx2.*avx512f.*; choose a lower level"):
        native.jit(lambda x: x + 1)(np.ones(()))
    targets._named.cache_clear()


def test_other_machines_have_a_plain_target(monkeypatch):
    monkeypatch.setattr(llvm, "get_default_triple", lambda: "aarch64-unknown-linux-gnu")
    targets._named.cache_clear()
    monkeypatch.setenv("HYBRIDSIM_TARGET", "generic")
    assert targets.target() == targets.Target("generic", "", 2)
    monkeypatch.setenv("HYBRIDSIM_TARGET", "x86-64-v3")
    with pytest.raises(ValueError, match=r"it may be native, generic$"):
        targets.target()
    targets._named.cache_clear()
