"""`import hybridsim` is light, leaves JAX's settings alone, and gives every export on first use."""

import ast
import json
import pickle
import pydoc
import subprocess
import sys

import pytest

import hybridsim

HEAVY = {"llvmlite", "lxml", "matplotlib", "mujoco", "pandas", "rich", "trimesh", "tyro", "viser", "yourdfpy"}
"""What no simulation needs."""


def in_new_process(program: str):
    """What a program prints as JSON in a Python of its own."""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert run.stderr == ""
    return json.loads(run.stdout)


def test_import_needs_neither_jax_nor_numpy():
    modules = in_new_process("import json, sys, hybridsim; print(json.dumps(sorted(sys.modules)))")
    packages = {name.split(".")[0] for name in modules}
    assert packages & (HEAVY | {"jax", "jaxlib", "equinox", "jaxtyping", "numpy", "optax", "scipy"}) == set()
    assert [name for name in modules if name.startswith("hybridsim.")] == []


SIMULATION = """
import json, sys
import jax

before = dict(jax.config.values)
import hybridsim as hs

model = hs.chain(2)
hs.step(model, model.rest())
after = dict(jax.config.values)
changed = sorted(name for name in after if before.get(name) != after[name])
print(json.dumps({"modules": sorted({name.split(".")[0] for name in sys.modules}), "changed": changed}))
"""


def test_simulation_imports_nothing_heavy_and_changes_no_global_setting():
    seen = in_new_process(SIMULATION)
    assert HEAVY & set(seen["modules"]) == set()
    assert seen["changed"] == []


def test_type_checkers_see_the_exports(repository):
    """The imports under TYPE_CHECKING are those that `__getattr__` makes."""
    tree = ast.parse((repository / "src/hybridsim/__init__.py").read_text())
    block = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {}
    for statement in block.body:
        assert isinstance(statement, ast.ImportFrom)
        for alias in statement.names:
            assert alias.asname == alias.name, f"{alias.name} is no export unless it is imported as itself"
            seen[alias.name] = "." + (statement.module or "")
    assert seen.pop("native") == "."
    assert seen == hybridsim._HOME


def test_every_export_is_made_by_one_module():
    names = [name for names in hybridsim._EXPORTS.values() for name in names.split()]
    assert sorted(names) == sorted(set(names))


def test_exports_are_listed_before_they_are_imported():
    listed, starred = in_new_process(
        "import json, hybridsim as hs; listed = dir(hs); space = {}; exec('from hybridsim import *', space);"
        "print(json.dumps([listed, sorted(space)]))"
    )
    assert set(hybridsim.__all__) <= set(listed)
    assert set(hybridsim.__all__) <= set(starred)


@pytest.mark.parametrize("first", ["hybridsim.load.urdf", "hybridsim.calibrate", "hybridsim.load"])
def test_load_is_the_function_whatever_is_imported_first(first):
    """A subpackage has the same name, and Python binds it to that name when it is imported."""
    kind = in_new_process(f"import json, {first}, hybridsim as hs; print(json.dumps(type(hs.load).__name__))")
    assert kind == "function"
    assert in_new_process(
        f"import json, hybridsim as hs; hs.load; import {first}; print(json.dumps(callable(hs.load)))"
    )


def test_a_submodule_is_imported_as_before():
    assert in_new_process("import json, hybridsim.model; print(json.dumps(hybridsim.model.chain(2).nq))") == 2
    assert (
        in_new_process("import json, hybridsim as hs; print(json.dumps(hs.dynamics.__name__))") == "hybridsim.dynamics"
    )
    assert in_new_process("import json, hybridsim as hs; print(json.dumps(hs.native.__name__))") == "hybridsim.native"


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="module 'hybridsim' has no attribute 'rolout'"):
        hybridsim.rolout  # noqa: B018
    with pytest.raises(ImportError, match="cannot import name 'rolout'"):
        exec("from hybridsim import rolout")


def test_exports_are_pickled_by_name():
    for thing in (hybridsim.Model, hybridsim.load, hybridsim.rollout):
        assert pickle.loads(pickle.dumps(thing)) is thing


def test_help_explains_every_export():
    text = pydoc.plain(pydoc.render_doc(hybridsim))
    assert [name for name in hybridsim.__all__ if name not in text] == []
