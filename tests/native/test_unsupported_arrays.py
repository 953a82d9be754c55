"""Arrays that native code cannot hold: masks are refused by name, unsupported number types fall back to XLA if asked."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hybridsim import native

MASKED = np.ma.masked_array([1.0, 2.0, 3.0], mask=[False, True, False])
REFUSED = r"{} is a NumPy masked array.*filled\(value\)"
FALLS_BACK = "XLA compiles this function instead"


class Pair(eqx.Module):
    first: np.ndarray
    second: np.ndarray


MAKERS = {
    "jit": lambda f: native.jit(f),
    "jit with fallback": lambda f: native.jit(f, fallback="xla"),
    "batch": lambda f: native.batch(f, threads=1),
    "value_and_grad": lambda f: native.value_and_grad(lambda *args: jnp.sum(f(*args))),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
class TestMaskedArguments:
    def test_an_argument_is_named(self, make):
        with pytest.raises(TypeError, match=REFUSED.format("argument 1")):
            make(lambda x, y: x * y)(np.ones(3), MASKED)

    def test_a_leaf_of_a_tree_is_named(self, make):
        with pytest.raises(TypeError, match=REFUSED.format(r"argument 0\['mass'\]")):
            make(lambda p: p["mass"] + p["size"])({"mass": MASKED, "size": np.ones(3)})
        with pytest.raises(TypeError, match=REFUSED.format(r"argument 0\.second")):
            make(lambda p: p.first + p.second)(Pair(np.ones(3), MASKED))

    def test_also_where_plain_arrays_of_this_shape_were_compiled_before(self, make):
        f = make(lambda x: 2 * x)
        f(np.ones(3))
        with pytest.raises(TypeError, match=REFUSED.format("argument 0")):
            f(MASKED)

    def test_also_where_nothing_is_masked(self, make):
        """Whether a call is refused depends on the type of an argument, not on its numbers."""
        with pytest.raises(TypeError, match=REFUSED.format("argument 0")):
            make(lambda x: 2 * x)(np.ma.masked_array(np.ones(3)))


def test_masked_keywords_and_lowering():
    f = native.jit(lambda x, *, shift: x + shift)
    with pytest.raises(TypeError, match=REFUSED.format("argument 'shift'")):
        f(np.ones(3), shift=MASKED)
    with pytest.raises(TypeError, match=REFUSED.format("argument 'shift'")):
        f.lower(np.ones(3), shift=MASKED)


@pytest.mark.parametrize("fallback", [None, "xla"])
@pytest.mark.filterwarnings(f"ignore:.*{FALLS_BACK}:RuntimeWarning")
def test_masked_results(fallback):
    """Writing into one would change its numbers and leave its mask."""
    x = np.array([[2.0, 1.0], [1.0, 3.0]])
    f = native.jit(lambda x: {"w": jnp.linalg.eigvalsh(x) if fallback else x[0]}, fallback=fallback)
    for out in (np.ma.zeros(2), np.ma.masked_array(np.zeros(2), mask=[True, False])):
        with pytest.raises(TypeError, match=REFUSED.format(r"out\['w'\]")):
            f(x, out={"w": out})
    many = native.batch(lambda x: 2 * x, threads=1)
    with pytest.raises(TypeError, match=REFUSED.format("out")):
        many(np.ones(3), out=np.ma.zeros(3))


def test_other_kinds_of_numpy_arrays_are_still_read(tmp_path):
    on_disk = np.memmap(tmp_path / "x", np.float64, "w+", shape=(3,))
    on_disk[:] = 1.0, 2.0, 3.0
    np.testing.assert_array_equal(native.jit(lambda x: 2 * x)(on_disk), [2.0, 4.0, 6.0])
    native.jit(lambda x: 3 * x)(np.ones(3), out=on_disk)
    np.testing.assert_array_equal(on_disk, [3.0, 3.0, 3.0])


UNSUPPORTED = {
    "complex128": np.array([1.0 + 2.0j, -0.5j, 3.0]),
    "complex64": np.array([1.0 + 2.0j, -0.5j, 3.0], np.complex64),
    "float16": np.array([1.0, 2.0, 3.0], np.float16),
    "bfloat16": np.array([1.0, 2.0, 3.0], jnp.bfloat16),
    "int4": np.array([1, 2, 3], jnp.int4),
}


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_arguments_of_unsupported_types_fall_back(name):
    def f(x, y):
        return {"product": x * x, "sum": y + 1}

    x, y = UNSUPPORTED[name], np.arange(3.0)
    with pytest.raises(TypeError, match=rf'argument 0 is an array of {name}.*pass fallback="xla"'):
        native.jit(f)(x, y)
    fast = native.jit(f, fallback="xla")
    with pytest.warns(RuntimeWarning, match=f"{name}.*{FALLS_BACK}") as seen:
        found = fast(x, y)
    assert len(seen) == 1
    fast(x, y)  # a second warning would be an error
    for key, expected in jax.jit(f)(x, y).items():
        assert isinstance(found[key], np.ndarray)
        assert found[key].dtype == expected.dtype
        np.testing.assert_array_equal(found[key], expected)


def test_complex_numbers_inside_a_function_fall_back():
    def f(x):
        return jnp.abs(x.astype(jnp.complex128) * (1 + 2j))

    x = np.arange(3.0)
    with pytest.raises(TypeError, match=r"complex128.*test_unsupported_arrays\.py:\d+.*fallback=\"xla\""):
        native.jit(f)(x)
    with pytest.warns(RuntimeWarning, match=rf"complex128.*test_unsupported_arrays\.py:\d+.*{FALLS_BACK}"):
        found = native.jit(f, fallback="xla")(x)
    np.testing.assert_allclose(found, np.sqrt(5) * x)


def test_complex_constants_fall_back():
    phases = np.exp(1j * np.arange(3.0))
    with pytest.warns(RuntimeWarning, match=f"complex128.*{FALLS_BACK}"):
        found = native.jit(lambda x: (phases * x).real, fallback="xla")(np.ones(3))
    np.testing.assert_allclose(found, phases.real)


def test_complex_numbers_in_a_batch_fall_back():
    z = np.array([[1.0 + 1.0j, 2.0], [0.0, -3.0j]])
    with pytest.warns(RuntimeWarning, match=f"complex128.*{FALLS_BACK}"):
        found = native.batch(lambda z: jnp.sum(z * z), fallback="xla")(z)
    np.testing.assert_allclose(found, np.sum(z * z, axis=1))


def test_gradients_with_complex_numbers_fall_back():
    def power(x, z):
        return jnp.sum(jnp.abs(x * z) ** 2)

    x, z = np.array([1.0, 2.0]), np.array([1.0 + 1.0j, 2.0j])
    with pytest.warns(RuntimeWarning, match=f"complex128.*{FALLS_BACK}"):
        value, gradient = native.value_and_grad(power, fallback="xla")(x, z)
    np.testing.assert_allclose(value, 18.0)
    np.testing.assert_allclose(gradient, [4.0, 16.0])


@pytest.mark.parametrize("make", [native.jit, lambda f, **how: native.batch(f, threads=1, **how)], ids=["jit", "batch"])
def test_float0_falls_back(make):
    """The type of gradients with respect to integers: arrays without numbers."""
    nothing = np.zeros((3,), jax.dtypes.float0)
    with pytest.raises(TypeError, match=r'float0.*pass fallback="xla"'):
        make(lambda x, _: 2 * x)(np.arange(3.0), nothing)
    with pytest.warns(RuntimeWarning, match=f"float0.*{FALLS_BACK}"):
        found = make(lambda x, _: 2 * x, fallback="xla")(np.arange(3.0), nothing)
    np.testing.assert_array_equal(found, [0.0, 2.0, 4.0])


def test_results_of_float0_fall_back():
    f = native.jit(jax.grad(lambda n, x: n * x, argnums=(0, 1), allow_int=True), fallback="xla")
    with pytest.warns(RuntimeWarning, match=f"float0.*{FALLS_BACK}"):
        nothing, slope = f(np.int64(3), np.float64(2.0))
    assert nothing.dtype == jax.dtypes.float0
    assert slope == 3.0


def test_inside_jax_unsupported_types_fall_back():
    f = native.jit(lambda z: jnp.abs(z * (1 + 2j)), fallback="xla")
    z = jnp.array([1.0 + 0.0j, 2.0j])
    with pytest.warns(RuntimeWarning, match=f"complex128.*{FALLS_BACK}"):
        found = jax.jit(f)(z)
    np.testing.assert_allclose(found, np.sqrt(5) * np.array([1.0, 2.0]))


def test_arrays_that_jax_cannot_hold_are_refused_even_with_fallback():
    f = native.jit(lambda x: x, fallback="xla")
    for x in (np.array(["2020-01-01"], "datetime64[D]"), np.array(["a"]), np.array([None]), np.zeros(2, "f8,i4")):
        with pytest.raises(TypeError, match=r"argument 0 is an array of"):
            f(x)


def test_random_keys_of_other_kinds_fall_back():
    key = jax.random.key(0, impl="rbg")
    with pytest.warns(RuntimeWarning, match=f"key<rbg>.*{FALLS_BACK}"):
        found = native.jit(lambda key: jax.random.uniform(key, (3,)), fallback="xla")(key)
    np.testing.assert_array_equal(found, jax.random.uniform(key, (3,)))
