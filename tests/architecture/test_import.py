"""`import hybridsim` is light and leaves JAX's settings alone."""

import json
import subprocess
import sys

PROGRAM = """
import json, sys
import jax

before = dict(jax.config.values)
import hybridsim
import hybridsim as hs

model = hs.chain(2)
hs.step(model, model.rest())
after = dict(jax.config.values)
changed = sorted(name for name in after if before.get(name) != after[name])
print(json.dumps({"modules": sorted({name.split(".")[0] for name in sys.modules}), "changed": changed}))
"""

HEAVY = {"llvmlite", "lxml", "matplotlib", "mujoco", "pandas", "rich", "trimesh", "tyro", "viser", "yourdfpy"}


def test_import_is_light_and_changes_no_global_setting():
    run = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    seen = json.loads(run.stdout)
    assert HEAVY & set(seen["modules"]) == set()
    assert seen["changed"] == []
    assert run.stderr == ""
