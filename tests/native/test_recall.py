"""Programs found on disk without tracing: only where nothing has changed on which they depend."""

import os
import shutil
import subprocess
import sys
import types
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hybridsim
import hybridsim.simulate.step
from hybridsim import native
from hybridsim.native.recall import identity_of
from hybridsim.spatial import quaternion_exp, safe_norm

ROW = [jax.ShapeDtypeStruct((3,), jnp.float64)]
ONE = (jax.tree.structure((0,)), (None,))
"""One argument, which is an array."""


def identity(key="the same", f=quaternion_exp, skeleton=ONE, specs=ROW):
    return identity_of(f, key, skeleton, specs)


@pytest.fixture
def traces(monkeypatch) -> list:
    """Of every function that is traced."""
    calls, recall = [], sys.modules["hybridsim.native.recall"]
    trace = recall.trace
    monkeypatch.setattr(recall, "trace", lambda *arguments: calls.append(1) or trace(*arguments))
    return calls


def exponential(key="exponential", **options):
    return native.batch(quaternion_exp, key=key, **options)


def test_a_known_program_is_not_traced_and_gives_the_same_bits(traces):
    x = np.random.default_rng(0).standard_normal((9, 3))
    first, second, plain = exponential()(x), exponential()(x), native.batch(quaternion_exp)(x)
    assert len(traces) == 2, "the first, and the one without a key"
    np.testing.assert_array_equal(second, first)
    np.testing.assert_array_equal(plain, first)


def test_a_known_program_can_be_transformed_like_any_other(traces):
    x = np.random.default_rng(1).standard_normal((5, 3))
    expected = jax.vmap(jax.jacfwd(quaternion_exp))(x)
    exponential()(x)
    known = exponential()
    known(x)
    assert len(traces) == 1
    slopes = jax.jacfwd(lambda row: known(row[None])[0])
    np.testing.assert_allclose(jax.vmap(slopes)(x), expected, rtol=1e-12, atol=1e-14)


def test_lanes_and_axes_are_programs_of_their_own():
    x = np.random.default_rng(2).standard_normal((5, 3))
    expected = native.batch(quaternion_exp)(x)
    for options in ({}, {"lanes": 1}, {"lanes": 2}, {"optimise": 0}, {"threads": 1}):
        for _ in range(2):
            np.testing.assert_array_equal(exponential(**options)(x), expected)
    np.testing.assert_array_equal(native.batch(quaternion_exp, in_axes=1, key="exponential")(x.T), expected)


def test_the_program_of_a_damaged_note_is_traced(traces):
    x = np.ones((2, 3))
    exponential()(x)
    for file in (folder := native_cache()).iterdir():
        file.write_bytes(file.read_bytes()[:-3])
    assert any(folder.iterdir())
    np.testing.assert_array_equal(exponential()(x), native.batch(quaternion_exp)(x))
    assert len(traces) == 3


def native_cache():
    from hybridsim.native.cache import cache_folder

    return cache_folder()


VALUES = [
    None, 0, 0.0, -0.0, False, "0", b"0", 0j, 1, 1.0, True, (), [], {}, (0,), [0], {0}, frozenset({0}), float("nan"),
    np.float64(1.0), np.float32(1.0), np.array(1.0), np.array([1.0]), np.array([1.0, 2.0]), np.array([2.0, 1.0]),
    np.array([[1.0, 2.0]]), np.array([1, 2]), np.array([1.0, np.nextafter(2.0, 3.0)]), np.array([1.0, 2.0], dtype=">f8"),
    jnp.array([1.0, 2.0]), jnp.asarray(1.0), jnp.float64(1.0), {"a": 1, "b": 2}, {"b": 2, "a": 1}, {"a": 2, "b": 1},
    hybridsim.Huber(1.0), hybridsim.Huber(2.0), hybridsim.Squares(), hybridsim.Squares, hybridsim.SemiImplicitEuler(),
    hybridsim.RungeKutta4(), safe_norm, quaternion_exp, jax.nn.relu, jax.nn.softplus, np.dtype("f4"), np.dtype("f8"),
    ("a", ("b",)), (("a",), "b"), "a\nstr 'b'", ("a", "b"),
]  # fmt: skip


def test_different_values_are_different_programs():
    texts = [identity(value) for value in VALUES]
    assert None not in texts
    assert len(set(texts)) == len(VALUES)
    assert texts == [identity(value) for value in VALUES]


def test_arguments_and_settings_are_parts_of_the_identity():
    specs = [
        ROW,
        [jax.ShapeDtypeStruct((4,), jnp.float64)],
        [jax.ShapeDtypeStruct((3,), jnp.float32)],
        [jax.ShapeDtypeStruct((3,), jnp.float64, weak_type=True)],
        [*ROW, *ROW],
    ]
    skeletons = [
        (jax.tree.structure(tree), static)
        for tree, static in (
            (([0],), (None,)),
            (({"a": 0},), (None,)),
            (({"b": 0},), (None,)),
            ((0, 0), (None, 1)),
            ((0, 0), (None, 2)),
        )
    ]
    texts = [identity(specs=s) for s in specs] + [identity(skeleton=s) for s in skeletons]
    with jax.enable_x64(False):
        texts.append(identity())
    with jax.default_matmul_precision("float32"):
        texts.append(identity())
    with jax.numpy_dtype_promotion("strict"):
        texts.append(identity())
    texts.append(identity(f=safe_norm))
    assert None not in texts
    assert len(set(texts)) == len(texts)


class OfTheUser:
    """Nobody but the user knows when it changes."""


def test_what_only_the_user_knows_is_traced():
    unknown = [
        lambda x: x,
        OfTheUser,
        OfTheUser(),
        partial(quaternion_exp),
        np.array([OfTheUser()]),
        jax.random.key(0),
        types.SimpleNamespace(a=1),
        object(),
        {"a": {"b": lambda x: x}},
        VALUES.append,
    ]
    assert [identity(value) for value in unknown] == [None] * len(unknown)
    assert identity(f=lambda x: x) is None
    seen = []
    jax.jit(lambda x: seen.append(identity(x)) or x)(1.0)
    assert seen == [None], "a tracer is no number"


STEP = "hybridsim.simulate.step"


@pytest.mark.parametrize("place", ["function", "imported function", "method", "table"])
def test_replaced_code_is_traced(place, monkeypatch):
    from hybridsim.contact.detect import PAIRS
    from hybridsim.simulate import Integrator

    step = sys.modules[STEP]
    assert identity(f=step.advance) is not None
    if place == "function":
        monkeypatch.setattr(step, "_accelerate", lambda *arguments: None)
    elif place == "imported function":
        name = next(
            name for name, value in vars(step).items() if getattr(value, "__module__", "") == "hybridsim.dynamics.aba"
        )
        monkeypatch.setattr(step, name, lambda *arguments: None)
    elif place == "method":
        monkeypatch.setattr(Integrator, "__call__", lambda *arguments: None)
    else:
        monkeypatch.setitem(PAIRS, ("sphere", "sphere"), lambda *arguments: None)
    assert identity(f=step.advance) is None


def test_a_changed_global_number_is_another_program(monkeypatch):
    numerics = sys.modules[safe_norm.__module__]
    before = identity(f=safe_norm)
    monkeypatch.setattr(numerics, "SOMETHING_NEW", 1.0, raising=False)
    after = identity(f=safe_norm)
    monkeypatch.setattr(numerics, "SOMETHING_NEW", 2.0)
    assert len({before, after, identity(f=safe_norm), None}) == 4


def test_a_file_that_may_be_newer_than_the_code_in_memory_is_traced(monkeypatch):
    assert identity() is not None
    monkeypatch.setattr(hybridsim, "_IMPORTED_AT", 0)
    assert identity() is None


PROGRAM = """
import sys
from pathlib import Path
import numpy as np
from hybridsim import native
from hybridsim.spatial import quaternion_exp
import hybridsim.spatial.rotation as rotation

if len(sys.argv) > 1:  # someone edits the code while it runs
    path = Path(rotation.__file__)
    path.write_text(path.read_text() + "\\n# " + sys.argv[1] + "\\n")
traces, recall = [], sys.modules["hybridsim.native.recall"]
trace = recall.trace
recall.trace = lambda *arguments: traces.append(1) or trace(*arguments)
print(len(traces), native.batch(quaternion_exp, key="exponential")(np.ones((1, 3), np.float32)).ravel(), len(traces))
"""


def test_edited_source_is_traced(tmp_path, repository):
    """Also where the file keeps its length and its time, and where it is edited by someone while the program runs."""
    package = shutil.copytree(
        repository / "src/hybridsim", tmp_path / "copy/hybridsim", ignore=shutil.ignore_patterns("__pycache__")
    )
    environment = {
        **os.environ,
        "PYTHONPATH": str(package.parent),
        "PYTHONDONTWRITEBYTECODE": "1",
        "HYBRIDSIM_CACHE": str(tmp_path / "cache"),
    }

    def run(*arguments) -> tuple[str, bool]:
        found = subprocess.run(
            [sys.executable, "-c", PROGRAM, *arguments], env=environment, capture_output=True, text=True, check=True
        ).stdout.strip()
        return found[2:-2], found.endswith("1")

    first, traced = run()
    assert traced
    assert run() == (first, False)
    assert run("edited while it runs") == (first, True)
    assert run() == (first, True), "nothing was kept of a process whose code is not certain"
    assert run() == (first, False)

    file = package / "spatial/numerics.py"
    status, text = file.stat(), file.read_text()
    changed = text.replace("jnp.sin(a) / a", "jnp.cos(a) / a")
    assert changed != text
    file.write_text(changed)
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    second, traced = run()
    assert traced
    assert second != first
