"""What is exported is what the engine adds: as a function of JAX, in C and in NumPy."""

import ctypes
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

import hybridsim as hs
from hybridsim.calibrate.export import learned_force, write_augmentation

from .exported import FORMS, friction, hybrid, imported

COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no C compiler on this machine")
CHAIN = hs.chain(2, length=0.4, damping=0.1, friction=0.3, friction_speed=0.5)
DELAY = 0.025


@pytest.fixture(scope="module")
def model() -> hs.Model:
    return hybrid(CHAIN, FORMS["all in one"])


@pytest.fixture(scope="module")
def folder(model, tmp_path_factory):
    folder = tmp_path_factory.mktemp("run") / "new" / "export"
    written = write_augmentation(model, folder, delay=DELAY)
    assert sorted(written) == sorted(path.name for path in folder.iterdir())
    return folder


@pytest.fixture(scope="module")
def expected(model):
    """Random states and commands, with the force that the function gives, compiled."""
    return states(model), hs.native.jit(learned_force(model)[0])


def states(model: hs.Model, count: int = 6):
    return np.random.default_rng(7).normal(size=(count, 3, model.nv))


def compiled_c(folder, target):
    """The function of the C file, which has to compile without a warning."""
    flags = ["-std=c99", "-O1", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror", "-pedantic", "-shared", "-fPIC"]
    subprocess.run([COMPILER, *flags, "-o", target / "a.so", folder / "augmentation.c", "-lm"], check=True)
    library = ctypes.CDLL(str(target / "a.so"))
    pointer = ctypes.POINTER(ctypes.c_double)
    library.augmentation.argtypes, library.augmentation.restype = [pointer] * 4, None

    def call(*given):
        arrays = [np.array(x) for x in given] + [np.full_like(given[1], np.nan)]
        library.augmentation(*(x.ctypes.data_as(pointer) for x in arrays))
        return arrays[-1]

    return library, call


@pytest.mark.parametrize(
    "form", [pytest.param(form, marks=[] if form == "all in one" else pytest.mark.slow) for form in FORMS]
)
def test_plain_model_and_function_move_as_the_hybrid(form):
    model = hybrid(CHAIN, FORMS[form])
    function, plain = learned_force(model)
    assert plain.augmentation is None

    def motions(q, qd, command):
        added = function(q, qd, command)
        wanted = hs.acceleration(model, (q, qd), command)
        return wanted, hs.acceleration(plain, (q, qd), command), hs.acceleration(plain, (q, qd), command + added)

    run = hs.native.jit(motions)
    for q, qd, command in states(model):
        wanted, without, found = run(q, qd, command)
        assert np.abs(without - wanted).max() > 0.01
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12 * np.abs(wanted).max())


def test_python_module_gives_the_same_force(folder, expected):
    module = imported(folder)
    assert module.JOINTS == ("joint1", "joint2")
    for given in expected[0]:
        np.testing.assert_allclose(module.force(*given), expected[1](*given), rtol=1e-12, atol=1e-12)


@needs_compiler
def test_c_code_gives_the_same_force(folder, expected, tmp_path):
    _, in_c = compiled_c(folder, tmp_path)
    for given in expected[0]:
        np.testing.assert_allclose(in_c(*given), expected[1](*given), rtol=1e-12, atol=1e-12)


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("form", FORMS)
def test_every_form_in_c_and_python(form, tmp_path):
    model = hybrid(CHAIN, FORMS[form])
    write_augmentation(model, tmp_path)
    function, module, (_, in_c) = (
        hs.native.jit(learned_force(model)[0]),
        imported(tmp_path),
        compiled_c(tmp_path, tmp_path),
    )
    for given in states(model):
        np.testing.assert_allclose(module.force(*given), function(*given), rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(in_c(*given), function(*given), rtol=1e-12, atol=1e-12)


def test_friction_is_taken_out_of_the_plain_model_where_it_is_learned(model, expected):
    plain, without = (learned_force(model, whole_friction)[1] for whole_friction in (False, True))
    np.testing.assert_array_equal(model.joints.friction, [0.3, 0.3])
    np.testing.assert_array_equal(plain.joints.friction, [0.0, 0.3])
    np.testing.assert_array_equal(without.joints.friction, [0.0, 0.0])
    whole = hs.native.jit(learned_force(model, whole_friction=True)[0])
    for given in expected[0]:
        at_second = [0.0, -0.3 * np.tanh(given[1, 1] / 0.5)]
        np.testing.assert_allclose(whole(*given), expected[1](*given) + at_second, atol=1e-13)


def test_header_says_order_and_delay(folder):
    header = (folder / "augmentation.h").read_text()
    assert re.findall(r"^ +(\d)  (\w+)", header, re.M) == [("0", "joint1"), ("1", "joint2")]
    assert "#define AUGMENTATION_DELAY 0.025" in header
    assert "alloc" not in (folder / "augmentation.c").read_text()


def test_the_module_needs_numpy_alone(folder):
    code = (
        "import sys, augmentation; print(*augmentation.force([1, 2], [3, 4], [5, 6]));"
        "assert not {'jax', 'mujoco', 'hybridsim'} & set(sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    found = np.array(run.stdout.split(), dtype=float)
    np.testing.assert_allclose(found, imported(folder).force([1, 2], [3, 4], [5, 6]), rtol=1e-14)


def test_delayed_commands(folder):
    module = imported(folder)
    assert module.DELAY == DELAY
    late, at_once = module.Delayed(), module.Delayed(0.0)
    times = 0.01 * np.arange(40)
    commands = np.stack([np.sin(20 * times), times], axis=1)
    given = [(late(t, u), at_once(t, u)) for t, u in zip(times, commands, strict=True)]
    wanted = np.stack([np.interp(times - DELAY, times, column) for column in commands.T], axis=1)
    np.testing.assert_allclose([x for x, _ in given], wanted, atol=1e-14)
    np.testing.assert_array_equal([x for _, x in given], commands)
    # After a reset of the simulation nothing of the last run is left.
    np.testing.assert_array_equal(late(0.0, [5.0, 6.0]), [5.0, 6.0])


@needs_compiler
def test_joints_may_have_any_names(tmp_path):
    name = "a  \"b\" 'c' */ $delay"
    joint = hs.Joint(name, "revolute", "world", "arm", axis=(0, 1, 0), friction=0.2)
    model = hybrid(hs.build([hs.solid("arm", 1.0, "box", (0.1, 0.1, 0.1))], [joint]), [friction("joint.velocity")])
    write_augmentation(model, tmp_path)
    library, _ = compiled_c(tmp_path, tmp_path)
    assert (ctypes.c_char_p * 1).in_dll(library, "augmentation_joints")[0].decode() == name
    assert list(imported(tmp_path).JOINTS) == [name]


@pytest.mark.slow
def test_only_single_joints_of_a_free_robot_are_exported(tmp_path):
    links = [hs.solid(name, mass, "box", (0.1, 0.1, 0.1)) for name, mass in (("body", 2.0), ("leg", 0.5))]
    joints = [
        hs.Joint("root", "free", "world", "body"),
        hs.Joint("hip", "revolute", "body", "leg", axis=(0, 1, 0), friction=0.2),
    ]
    model = hybrid(hs.build(links, joints), [friction("joint.velocity", entities="hip")])
    write_augmentation(model, tmp_path)
    module = imported(tmp_path)
    assert module.JOINTS == ("hip",)
    wanted = learned_force(model)[0](model.rest()[0], np.array([0.0, 0, 0, 0, 0, 0, 1.3]), np.zeros(7))
    np.testing.assert_array_equal(wanted[:6], 0.0)
    assert abs(wanted[6]) > 0.01
    np.testing.assert_allclose(module.force([0.0], [1.3], [0.0]), wanted[6:], atol=1e-13)
