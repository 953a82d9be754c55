"""Names from files reach generated C and Python as text, whatever they are: they compile, and never run."""

import ast
import ctypes
import shutil
import subprocess

import numpy as np
import pytest

import hybridsim as hs
from calibrate.exported import SMALL, hybrid, imported
from hybridsim.calibrate.export_c import c_files
from hybridsim.calibrate.export_python import python_module
from hybridsim.escape import in_c, in_python

from .names import CANARY, hostile_names

COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no C compiler on this machine")
WARNINGS = ("-Wall", "-Wextra", "-Werror", "-pedantic")
NAMES = hostile_names(1000)
NOT_DEFINED = f"\n#ifdef {CANARY}\n#error defined\n#endif\nstatic int {CANARY}(void) {{ return 0; }}\n"
"""Compiles only if no name has defined the canary, as a macro or else."""


@pytest.fixture(scope="module")
def c_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("c")
    source, header = c_files(lambda q, qd, command: q + 2 * qd + 3 * command, tuple(NAMES), 0.0)
    use = f"int use_{CANARY}(void);\nint use_{CANARY}(void) {{ return {CANARY}(); }}\n"
    (folder / "augmentation.c").write_text(source + NOT_DEFINED + use, encoding="utf-8")
    (folder / "augmentation.h").write_text(header, encoding="utf-8")
    return folder


@needs_compiler
@pytest.mark.parametrize("standard", [("-std=c99",), ("-std=gnu17",), ("-std=gnu17", "-trigraphs")], ids=" ".join)
def test_a_thousand_names_in_c_are_texts(c_folder, standard, tmp_path):
    library = tmp_path / "names.so"
    flags = [*standard, *WARNINGS, "-shared", "-fPIC", "-o", library]
    run = subprocess.run([COMPILER, *flags, c_folder / "augmentation.c", "-lm"], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr[:2000]
    found = (ctypes.c_char_p * len(NAMES)).in_dll(ctypes.CDLL(str(library)), "augmentation_joints")
    assert [name.decode() for name in found] == NAMES


def test_c_files_are_plain_ascii_and_different_names_stay_different(c_folder):
    for file in c_folder.iterdir():
        text = file.read_text(encoding="ascii")
        assert "??" not in text
        assert "\\\n" not in text
    assert len({in_c(name) for name in NAMES}) == len(NAMES)


def test_a_name_that_c_would_cut_short_is_refused():
    with pytest.raises(ValueError, match=r"'a\\x00b' has a null character"):
        in_c("a\0b")


def test_stray_bytes_are_bytes_in_c():
    assert in_c("a\udcff") == r"a\355\263\277"


@pytest.fixture(scope="module")
def module_text() -> str:
    """The Python module of a robot with 300 hostile joint names, whose file has a hostile ending."""
    return python_module(robot(NAMES[:300]), {NAMES[0]: (0.1, 0.2)}, 0.0, f'plain."""+{CANARY}()+"""')


def robot(names: list[str]) -> hs.Model:
    """Links that hang from the world by joints of these names, with one friction network for all."""
    links = [hs.Link(f"link{i}", 1.0, (0, 0, 0), (0.1, 0.1, 0.1)) for i in range(len(names))]
    joints = [hs.Joint(name, "revolute", "world", f"link{i}", axis=(0, 1, 0)) for i, name in enumerate(names)]
    learned = hs.Augment("joint.friction", "joint.velocity", hs.Bounded(SMALL, 0.95), mode="scale", apply="shared")
    return hybrid(hs.build(links, joints), [learned])


def test_names_in_python_are_texts(module_text):
    assert module_text.isascii()
    tree = ast.parse(module_text)
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    assert CANARY not in [call.id for call in calls if isinstance(call, ast.Name)]
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    plain = ast.parse(python_module(robot(["a"]), {"a": (0.1, 0.2)}, 0.0, "plain.xml"))
    assert used == {node.id for node in ast.walk(plain) if isinstance(node, ast.Name)}
    assert [type(node) for node in tree.body] == [type(node) for node in plain.body]


def test_the_module_of_hostile_names_does_only_what_it_should(module_text, tmp_path):
    (tmp_path / "augmentation.py").write_text(module_text)
    module = imported(tmp_path)
    assert list(module.JOINTS) == NAMES[:300]
    assert [network.joint for network in module.NETWORKS] == NAMES[:300]
    assert [network.inputs for network in module.NETWORKS] == [[("velocity", name)] for name in NAMES[:300]]
    assert list(module.FRICTION) == NAMES[:1]


def test_a_thousand_names_as_python_literals():
    for name in [*NAMES, "a\0b", "a\udcff"]:
        literal = in_python(name)
        assert isinstance(ast.parse(literal, mode="eval").body, ast.Constant)
        assert ast.literal_eval(literal) == name


@pytest.mark.parametrize("name", ["int", "main", "a b", "a;", "ä", "1a", "", "f(void){} void g", "_Exit", "a\n"])
def test_native_c_functions_have_names_of_c(name):
    program = hs.native.jit(lambda x: 2 * x).lower(np.ones(2))
    with pytest.raises(ValueError, match="a C function is called by letters"):
        program.c_source(name)
